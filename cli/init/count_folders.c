/* SPDX-License-Identifier: Apache-2.0 */
/* count_folders.c - count the files and samples of class folders.
 *
 * A sample is all files of a folder with one key. If all files of a folder have
 * one type, each is a sample, because their names differ. Else the folder is
 * read again, and its files are sorted by the hashes of their keys. Whether the
 * source accepts a name is decided by the source itself: a class folder with
 * anything unusual is read as it reads it. */
#include "cli/init/count_folders.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/source/jobs.h"

/* The type of files of further types, which have no entry. */
enum { OTHER_TYPE = FBY_GUESS_MEMBERS, N_TYPES = OTHER_TYPE + 1 };
enum { REPORT_EVERY = 256 /* files */ };

struct class_counts { /* a class folder that was counted */
    uint64_t             n_samples;
    uint64_t             n_with_picture;
    uint32_t             n_dangling;
    uint64_t             n_unnamed;
    char                *first_unnamed;
    bool                 has_direct_files;
    bool                 has_direct_pictures;
    uint32_t             n_types;
    struct fby_file_type types[]; /* only those with files */
};

struct counting { /* one call; shared by its jobs */
    struct fby_search       *search;
    const char              *path;    /* the parent of the class folders */
    const struct fby_folder *classes; /* one for each job */
    uint32_t                 n_classes;
    atomic_uint_fast64_t     n_files; /* number looked at, for progress */
    pthread_mutex_t          lock;    /* of the members below */
    struct class_counts    **counted; /* per class folder, until it is merged */
    uint32_t                 n_merged;
    struct fby_folder_counts *out; /* of the first n_merged class folders */
};

struct walk_type { /* the files of a class folder with one extension */
    char     extension[FBY_NAME_SIZE]; /* "" for OTHER_TYPE */
    uint64_t n_files;
    uint64_t n_with_picture; /* in samples with a picture */
    char    *first;          /* path of the first file */
    uint64_t n_in_dir;       /* of n_files: in the current folder */
    char     first_in_dir[FBY_PATH_SIZE]; /* name; split_name() limits it */
};

struct class_walk { /* one job: a class folder and the folders in it */
    struct counting            *all;
    const atomic_bool          *stop;
    struct fby_folder_ancestors ancestors; /* of the current folder */
    struct walk_type            types[N_TYPES];
    uint32_t                    n_types; /* without OTHER_TYPE */
    uint64_t                    n_files;
    uint64_t                    n_samples;
    uint64_t                    n_with_picture; /* samples with a picture */
    uint32_t                    n_dangling;
    uint64_t                    n_unnamed;     /* pictures */
    char                       *first_unnamed; /* in byte order of paths */
    uint32_t                    n_reported;    /* of n_files, modulo 2^32 */
    bool                        has_direct_files;
    bool                        has_direct_pictures;
    bool                        needs_check; /* the source may refuse a file */
};

struct dir_member { /* a file of the current folder */
    uint64_t key_hash;
    uint32_t type; /* index in class_walk.types */
    bool     is_picture;
};

struct dir_walk { /* the current folder */
    struct class_walk *walk;
    const char        *path; /* below walk->all->path */
    size_t             path_size;
    struct fby_listing folders; /* those in it */
    struct dir_member *members; /* only on a second reading */
    uint32_t           n_members;
};

static uint32_t find_or_add_type(struct class_walk *walk, const char *extension)
{
    uint32_t i = 0;
    while (
        i < walk->n_types && strcmp(walk->types[i].extension, extension) != 0) {
        i++;
    }
    if (i == walk->n_types && i < OTHER_TYPE) {
        memcpy(walk->types[i].extension, extension, strlen(extension) + 1);
        walk->n_types++;
    }
    return i;
}

/* Split the name of a file. Returns false for a file that is no sample. */
static bool split_name(
    struct dir_walk *dir, const char *name, struct fby_name_parts *parts)
{
    if (!fby_name_split(name, parts)) {
        return false;
    }
    bool is_valid = fby_name_check(name, parts, NULL) == FBY_OK &&
                    dir->path_size + strlen(name) + 1 < FBY_PATH_SIZE;
    dir->walk->needs_check = dir->walk->needs_check || !is_valid;
    return is_valid;
}

static void report_files(struct class_walk *walk)
{
    uint32_t n = (uint32_t)walk->n_files - walk->n_reported;
    atomic_fetch_add_explicit(&walk->all->n_files, n, memory_order_relaxed);
    walk->n_reported += n;
}

/* Count a file without an extension if it is a picture. */
static void count_unnamed(struct dir_walk *dir, const char *name)
{
    struct class_walk     *walk = dir->walk;
    const struct counting *all  = walk->all;
    char                   path[FBY_PATH_SIZE];
    char                   full_path[FBY_PATH_SIZE];
    if (strchr(name, '.') != NULL ||
        fby_path_join(dir->path, name, path, NULL) != FBY_OK ||
        fby_path_join(all->path, path, full_path, NULL) != FBY_OK ||
        !fby_guess_is_picture_file(all->search->root, full_path)) {
        return;
    }
    walk->n_unnamed++;
    if (walk->first_unnamed == NULL || strcmp(path, walk->first_unnamed) < 0) {
        free(walk->first_unnamed);
        walk->first_unnamed = fby_strdup(path);
    }
}

static void count_file(struct dir_walk *dir, const char *name)
{
    struct class_walk    *walk = dir->walk;
    struct fby_name_parts parts;
    if (!split_name(dir, name, &parts)) {
        count_unnamed(dir, name);
        return;
    }
    struct walk_type *type = &walk->types[find_or_add_type(walk, parts.suffix)];
    bool              is_first = type->n_in_dir == 0 ||
                    fby_folder_compare_paths(name, type->first_in_dir) < 0;
    if (is_first) {
        memcpy(type->first_in_dir, name, strlen(name) + 1);
    }
    type->n_in_dir++;
    walk->n_files++;
    if (walk->ancestors.depth == 0) {
        walk->has_direct_files = true;
        walk->has_direct_pictures |= fby_init_is_any_picture(name);
    }
    if (walk->n_files % REPORT_EVERY == 0) {
        report_files(walk);
    }
}

static fby_err count_entry(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct dir_walk *dir = arg;
    if (atomic_load_explicit(dir->walk->stop, memory_order_relaxed)) {
        return FBY_GONE;
    }
    if (entry->is_dir) {
        return fby_listing_add(&dir->folders, entry, why);
    }
    count_file(dir, entry->name);
    return FBY_OK;
}

/* ---- Folders with several types of files --------------------------------- */

static fby_err add_member(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct dir_walk      *dir = arg;
    struct fby_name_parts parts;
    (void)why;
    if (atomic_load_explicit(dir->walk->stop, memory_order_relaxed)) {
        return FBY_GONE;
    }
    if (entry->is_dir || !split_name(dir, entry->name, &parts)) {
        return FBY_OK;
    }
    dir->members =
        fby_array_grow(dir->members, dir->n_members, sizeof(*dir->members));
    dir->members[dir->n_members++] = (struct dir_member){
        .key_hash   = fby_xxh3_64(entry->name, parts.key_size),
        .type       = find_or_add_type(dir->walk, parts.suffix),
        .is_picture = fby_init_is_picture_suffix(parts.suffix)};
    return FBY_OK;
}

static int compare_members(const void *a, const void *b)
{
    uint64_t x = ((const struct dir_member *)a)->key_hash;
    uint64_t y = ((const struct dir_member *)b)->key_hash;
    return (x > y) - (x < y);
}

/* True if a file before member `i` of a sample has its extension, which is
 * refused. */
static bool has_conflict(
    const struct class_walk *walk, const struct dir_member *members, uint32_t i)
{
    const char *extension = walk->types[members[i].type].extension;
    uint32_t    k         = 0;
    while (k < i && !fby_equal_ignoring_case(
                        extension, walk->types[members[k].type].extension)) {
        k++;
    }
    return k < i;
}

static void count_sample(
    struct class_walk *walk, const struct dir_member *members, uint32_t n)
{
    bool has_picture = false;
    for (uint32_t i = 0; i < n; i++) {
        has_picture       = has_picture || members[i].is_picture;
        walk->needs_check = walk->needs_check || has_conflict(walk, members, i);
    }
    for (uint32_t i = 0; has_picture && i < n; i++) {
        walk->types[members[i].type].n_with_picture++;
    }
    walk->n_samples++;
    walk->n_with_picture += has_picture ? 1 : 0;
}

static fby_err count_samples_by_key(
    struct dir_walk *dir, const char *full_path, struct fby_error_detail *why)
{
    const struct fby_root *root = dir->walk->all->search->root;
    uint32_t               n_dangling;
    FBY_TRY(fby_listing_visit(
        root, full_path, NULL, add_member, dir, &n_dangling, why));
    if (dir->n_members > 0) {
        qsort(dir->members, dir->n_members, sizeof(*dir->members),
            compare_members);
    }
    for (uint32_t i = 0; i < dir->n_members;) {
        uint32_t end = i + 1;
        while (end < dir->n_members &&
               dir->members[end].key_hash == dir->members[i].key_hash) {
            end++;
        }
        count_sample(dir->walk, &dir->members[i], end - i);
        i = end;
    }
    return FBY_OK;
}

/* ---- A class folder ------------------------------------------------------ */

/* The only type of the files in the current folder; NULL: none or several. */
static struct walk_type *find_only_type(struct class_walk *walk)
{
    struct walk_type *only = NULL;
    for (uint32_t i = 0; i < N_TYPES; i++) {
        if (walk->types[i].n_in_dir > 0 && (only != NULL || i == OTHER_TYPE)) {
            return NULL;
        }
        only = walk->types[i].n_in_dir > 0 ? &walk->types[i] : only;
    }
    return only;
}

static fby_err count_samples(
    struct dir_walk *dir, const char *full_path, struct fby_error_detail *why)
{
    struct class_walk *walk = dir->walk;
    struct walk_type  *only = find_only_type(walk);
    if (only == NULL) {
        return count_samples_by_key(dir, full_path, why);
    }
    walk->n_samples += only->n_in_dir;
    if (fby_init_is_picture_suffix(only->extension)) {
        walk->n_with_picture += only->n_in_dir;
        only->n_with_picture += only->n_in_dir;
    }
    return FBY_OK;
}

/* Add the files of a type in the folder `path` to those of its class folder. */
static fby_err finish_type(
    struct walk_type *type, const char *path, struct fby_error_detail *why)
{
    char first[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(path, type->first_in_dir, first, why));
    if (type->first == NULL ||
        fby_folder_compare_paths(first, type->first) < 0) {
        free(type->first);
        type->first = fby_strdup(first);
    }
    type->n_files += type->n_in_dir;
    type->n_in_dir = 0;
    return FBY_OK;
}

static fby_err finish_dir(
    struct class_walk *walk, const char *path, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < N_TYPES; i++) {
        if (walk->types[i].n_in_dir > 0) {
            err = finish_type(&walk->types[i], path, why);
        }
    }
    return err;
}

static fby_err count_dir(
    struct class_walk *walk, const char *path, struct fby_error_detail *why);

static fby_err count_folders_in(
    struct dir_walk *dir, const char *path, struct fby_error_detail *why)
{
    struct fby_folder_ancestors *ancestors = &dir->walk->ancestors;
    fby_err                      err       = FBY_OK;
    fby_listing_sort(&dir->folders);
    for (uint32_t i = 0; err == FBY_OK && i < dir->folders.count; i++) {
        const struct fby_entry *folder = &dir->folders.entries[i];
        char                    below[FBY_PATH_SIZE];
        FBY_TRY(fby_path_join(path, folder->name, below, why));
        FBY_TRY(fby_folder_enter(ancestors, below, &folder->stamp, why));
        err = count_dir(dir->walk, below, why);
        ancestors->depth--;
    }
    return err;
}

/* Count the files of the folder `path`, which is relative to all->path. */
static fby_err count_dir(
    struct class_walk *walk, const char *path, struct fby_error_detail *why)
{
    const struct counting *all = walk->all;
    char                   full_path[FBY_PATH_SIZE];
    uint32_t               n_dangling = 0;
    walk->needs_check = walk->needs_check || !fby_name_is_plain(path);
    FBY_TRY(fby_path_join(all->path, path, full_path, why));
    struct dir_walk dir = {
        .walk = walk, .path = path, .path_size = strlen(full_path)};
    fby_err err = fby_listing_visit(all->search->root, full_path, NULL,
        count_entry, &dir, &n_dangling, why);
    walk->n_dangling += n_dangling;
    if (err == FBY_OK) {
        err = count_samples(&dir, full_path, why);
    }
    free(dir.members);
    if (err == FBY_OK) {
        err = finish_dir(walk, path, why);
    }
    if (err == FBY_OK) {
        err = count_folders_in(&dir, path, why);
    }
    fby_listing_fini(&dir.folders);
    return err;
}

/* Read a class folder as the source does, for the source's error. */
static fby_err check_class(const struct class_walk *walk,
    const struct fby_folder *class, struct fby_error_detail *why)
{
    const struct counting *all    = walk->all;
    struct fby_folder      folder = {.name = class->name};
    struct fby_shard      *shards = NULL;
    uint32_t               n      = 0;
    fby_err                err    = fby_folder_find_class_files(
                          all->search->root, all->path, walk->stop, &folder, why);
    if (err == FBY_OK) {
        err = fby_folders_to_shards(&folder, 1, &shards, &n, why);
    }
    for (uint32_t i = 0; i < n; i++) {
        fby_shard_fini(&shards[i]);
    }
    free(shards);
    fby_folders_free_files(&folder, 1);
    return err;
}

/* ---- All class folders --------------------------------------------------- */

static struct fby_file_type *find_or_add_total(
    struct fby_folder_counts *out, const char *extension)
{
    for (uint32_t i = 0; i < out->n_types; i++) {
        if (fby_equal_ignoring_case(out->types[i].extension, extension)) {
            return &out->types[i];
        }
    }
    return out->n_types < FBY_GUESS_MEMBERS ? &out->types[out->n_types++]
                                            : NULL;
}

/* Add the files of a type in class folder `class_id`. Moves type->first. */
static void merge_type(struct fby_folder_counts *out, uint32_t class_id,
    struct fby_file_type *type)
{
    struct fby_file_type *total = find_or_add_total(out, type->extension);
    if (total == NULL) {
        return;
    }
    bool is_first =
        total->first == NULL ||
        (class_id == total->class_id &&
            fby_folder_compare_paths(type->first, total->first) < 0);
    if (is_first) {
        free(total->first);
        total->first    = type->first;
        total->class_id = class_id;
        type->first     = NULL;
        memcpy(total->extension, type->extension, sizeof(total->extension));
    }
    total->n_files += type->n_files;
    total->n_with_picture += type->n_with_picture;
}

static void free_counts(struct class_counts *counts)
{
    for (uint32_t i = 0; counts != NULL && i < counts->n_types; i++) {
        free(counts->types[i].first);
    }
    if (counts != NULL) {
        free(counts->first_unnamed);
    }
    free(counts);
}

static void merge_class(struct fby_folder_counts *out, uint32_t class_id,
    struct class_counts *counts)
{
    for (uint32_t i = 0; i < counts->n_types; i++) {
        merge_type(out, class_id, &counts->types[i]);
    }
    out->n_samples += counts->n_samples;
    out->n_with_picture += counts->n_with_picture;
    out->n_dangling += counts->n_dangling;
    out->n_unnamed += counts->n_unnamed;
    if (out->first_unnamed == NULL) {
        out->first_unnamed    = counts->first_unnamed;
        counts->first_unnamed = NULL;
    }
    out->has_direct_files |= counts->has_direct_files;
    out->has_direct_pictures |= counts->has_direct_pictures;
    if (counts->n_with_picture == 0 && class_id < out->no_picture) {
        out->no_picture = class_id;
    }
}

static int compare_types(const void *a, const void *b)
{
    const struct fby_file_type *x = a;
    const struct fby_file_type *y = b;
    return x->class_id != y->class_id
               ? (x->class_id > y->class_id) - (x->class_id < y->class_id)
               : fby_folder_compare_paths(x->first, y->first);
}

/* The counts of a class folder. Moves the paths of first files. A type without
 * files appeared while its folder was read a second time. */
static struct class_counts *take_counts(struct class_walk *walk)
{
    struct class_counts *out =
        fby_zalloc(sizeof(*out) + walk->n_types * sizeof(out->types[0]));
    for (uint32_t i = 0; i < walk->n_types; i++) {
        struct walk_type *type = &walk->types[i];
        if (type->n_files > 0) {
            struct fby_file_type *to = &out->types[out->n_types++];
            *to = (struct fby_file_type){.n_files = type->n_files,
                .n_with_picture                   = type->n_with_picture,
                .first                            = type->first};
            memcpy(to->extension, type->extension, sizeof(to->extension));
            type->first = NULL;
        }
    }
    qsort(out->types, out->n_types, sizeof(out->types[0]), compare_types);
    out->n_samples           = walk->n_samples;
    out->n_with_picture      = walk->n_with_picture;
    out->n_dangling          = walk->n_dangling;
    out->n_unnamed           = walk->n_unnamed;
    out->first_unnamed       = walk->first_unnamed;
    walk->first_unnamed      = NULL;
    out->has_direct_files    = walk->has_direct_files;
    out->has_direct_pictures = walk->has_direct_pictures;
    return out;
}

/* Merge a class folder after those before it: if there are too many types, the
 * kept ones do not depend on the timing of threads. */
static void merge_in_order(
    struct counting *all, uint32_t class_id, struct class_counts *counts)
{
    pthread_mutex_lock(&all->lock);
    all->counted[class_id] = counts;
    while (
        all->n_merged < all->n_classes && all->counted[all->n_merged] != NULL) {
        uint32_t next = all->n_merged++;
        merge_class(all->out, next, all->counted[next]);
        free_counts(all->counted[next]);
        all->counted[next] = NULL;
    }
    pthread_mutex_unlock(&all->lock);
}

/* Explain the error of a class folder by the names of its pictures, if they are
 * such as cat.0.jpg: these have more extensions than the source takes. */
static fby_err explain_by_dots(
    struct class_walk *walk, fby_err err, struct fby_error_detail *why)
{
    struct counting *all            = walk->all;
    struct class_counts *class      = take_counts(walk);
    struct fby_error_detail  dots   = {{0}};
    struct fby_folder_counts counts = {
        .n_types = class->n_types, .n_with_picture = class->n_with_picture};
    for (uint32_t i = 0; i < class->n_types; i++) {
        counts.types[i] = class->types[i];
    }
    if (fby_refuse_dots(all->search, all->path, &counts, &dots) != FBY_OK) {
        pthread_mutex_lock(&all->lock);
        all->out->has_dots = true;
        pthread_mutex_unlock(&all->lock);
        err = fby_error_set(why, err, "%s", dots.text);
    }
    free_counts(class);
    return err;
}

static fby_err count_class(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct counting *all           = arg;
    const struct fby_folder *class = &all->classes[i];
    struct class_walk *walk        = fby_zalloc(sizeof(*walk));
    walk->all                      = all;
    walk->stop                     = stop;
    fby_err err                    = count_dir(walk, class->name, why);
    if (err == FBY_OK && (walk->n_files == 0 || walk->needs_check ||
                             walk->types[OTHER_TYPE].n_files > 0)) {
        err = check_class(walk, class, why);
        err = err == FBY_CONFIG ? explain_by_dots(walk, err, why) : err;
    }
    if (err == FBY_OK) {
        report_files(walk);
        merge_in_order(all, i, take_counts(walk));
    }
    for (uint32_t t = 0; t < N_TYPES; t++) {
        free(walk->types[t].first);
    }
    free(walk->first_unnamed);
    free(walk);
    return err;
}

/* Has the class folder not even hidden entries? */
static bool is_empty(
    const struct fby_search *search, const char *path, const char *name)
{
    char below[FBY_PATH_SIZE];
    char full[FBY_PATH_SIZE];
    if (fby_path_join(path, name, below, NULL) != FBY_OK ||
        fby_path_join(fby_root_dir(search->root), below, full, NULL) !=
            FBY_OK) {
        return false;
    }
    DIR     *dir = opendir(full);
    uint32_t n   = 0;
    while (dir != NULL && n < 3 && readdir(dir) != NULL) {
        n++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n == 2; /* . and .. */
}

/* Explain the error of a class folder without files by the first that is empty, with
 * the command that removes such folders. Returns FBY_CONFIG. */
static fby_err explain_empty(
    const struct counting *all, struct fby_error_detail *why)
{
    uint32_t i = 0;
    while (i < all->n_classes && !all->search->in_zip &&
           !is_empty(all->search, all->path, all->classes[i].name)) {
        i++;
    }
    if (i == all->n_classes || all->search->in_zip ||
        all->classes[i].name[0] == '\0' ||
        strstr(why->text, FBY_FOLDER_WITHOUT_FILES) == NULL) {
        return FBY_CONFIG;
    }
    fby_guess_set_command(
        all->search, all->path, "find . -mindepth 1 -type d -empty -delete");
    return fby_error_set(why, FBY_CONFIG,
        "the class folder %s is empty: a class has a number, so add files, or, "
        "to "
        "remove the empty folders:",
        fby_text_show(all->classes[i].name).text);
}

/* Report the number of files instead of that of class folders. */
static bool report_progress(void *arg, uint64_t done, uint64_t total)
{
    struct counting           *all      = arg;
    const struct fby_progress *progress = &all->search->progress;
    (void)done;
    (void)total;
    return progress->fn == NULL ||
           progress->fn(progress->arg, atomic_load(&all->n_files), 0);
}

fby_err fby_count_folders(struct fby_search *search, const char *path,
    const struct fby_folder *classes, uint32_t n_classes,
    struct fby_folder_counts *out, struct fby_error_detail *why)
{
    struct counting       all  = {.search = search,
               .path                      = path,
               .classes                   = classes,
               .n_classes                 = n_classes,
               .lock                      = PTHREAD_MUTEX_INITIALIZER,
               .out                       = out};
    const struct fby_jobs jobs = {.job = count_class,
        .arg                           = &all,
        .n_jobs                        = n_classes,
        .progress                      = {report_progress, &all}};
    *out        = (struct fby_folder_counts){.no_picture = n_classes};
    all.counted = fby_zalloc((n_classes + 1) * sizeof(struct class_counts *));
    fby_err err = fby_jobs_run(&jobs, why);
    for (uint32_t i = all.n_merged; i < n_classes; i++) { /* after an error */
        free_counts(all.counted[i]);
    }
    free((void *)all.counted);
    err = err == FBY_CONFIG ? explain_empty(&all, why) : err;
    if (out->n_types > 0) {
        qsort(out->types, out->n_types, sizeof(*out->types), compare_types);
    }
    out->has_dots =
        out->has_dots || fby_explain_long_extension(search, path, why);
    return err;
}

void fby_folder_counts_fini(struct fby_folder_counts *self)
{
    for (uint32_t i = 0; i < self->n_types; i++) {
        free(self->types[i].first);
    }
    free(self->first_unnamed);
    *self = (struct fby_folder_counts){.n_types = 0};
}
