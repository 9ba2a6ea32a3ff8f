/* SPDX-License-Identifier: Apache-2.0 */
/* guess_folders.c - recognise a folder of class folders, or of pictures alone.
 *
 * All files are counted. Samples have a picture; other files, such as
 * notes.txt, are counted by their type and left out. */
#include "cli/init/guess_folders.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/count_folders.h"
#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_pairs.h"
#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"
#include "worker/source/folder/folder.h"

enum { MAX_NAMED = 3 }; /* folders that a message names */

struct class_folders { /* also the argument of open_in_folder */
    struct fby_search       *search;
    const char              *path; /* their parent folder */
    struct fby_folder       *classes;
    uint32_t                 n; /* number of classes */
    struct fby_folder_counts counts;
};

static fby_err open_in_folder(const void *arg, const struct fby_shard *shard,
    uint32_t member, struct fby_member_file *out, struct fby_error_detail *why)
{
    const struct class_folders *folders = arg;
    char                        file[FBY_PATH_SIZE];
    char                        path[FBY_PATH_SIZE];

    int n = snprintf(file, sizeof(file), "%s.%s",
        fby_shard_key(shard, fby_shard_sample_of(shard, member)),
        fby_shard_suffix(shard, member));
    if (n < 0 || n >= (int)sizeof(file)) {
        return fby_error_set(
            why, FBY_CONFIG, "the path of a member is too long");
    }
    fby_err err = fby_path_join(folders->path, file, path, why);
    return err == FBY_OK
               ? fby_object_open(folders->search->root, path, &out->object, why)
               : err;
}

/* Read the header of the first PNG file of each extension. */
static fby_err read_pngs(struct class_folders *folders,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    const struct fby_member_opener opener = {open_in_folder, folders};
    struct fby_folder_file         firsts[FBY_GUESS_MEMBERS];
    struct fby_folder              folder = {.files = firsts};
    struct fby_shard              *shards = NULL;
    uint32_t                       n      = 0;
    for (uint32_t i = 0; i < folders->counts.n_types; i++) {
        firsts[folder.count++] =
            (struct fby_folder_file){.path = folders->counts.types[i].first};
    }
    fby_err err = fby_folders_to_shards(&folder, 1, &shards, &n, why);
    for (uint32_t i = 0; i < n; i++) {
        if (err == FBY_OK) {
            err = fby_guess_read_pngs(split, &shards[i], &opener, why);
        }
        fby_shard_fini(&shards[i]);
    }
    free(shards);
    return err;
}

/* Measure the pictures of the first samples of the first class, if the split
 * has masks. */
static fby_err read_sizes(const struct class_folders *folders,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    const struct fby_member_opener opener = {open_in_folder, folders};
    struct fby_folder class               = {.name = folders->classes[0].name};
    struct fby_shard *shards              = NULL;
    uint32_t          n                   = 0;
    atomic_bool       stop                = false;
    if (!fby_guess_has_masks(split)) {
        return FBY_OK;
    }
    fby_err err = fby_folder_find_class_files(
        folders->search->root, folders->path, &stop, &class, why);
    if (err == FBY_OK) {
        err = fby_folders_to_shards(&class, 1, &shards, &n, why);
    }
    if (err == FBY_OK && n > 0) {
        fby_guess_read_sizes(split, &shards[0], &opener);
    }
    for (uint32_t i = 0; i < n; i++) {
        fby_shard_fini(&shards[i]);
    }
    free(shards);
    fby_folders_free_files(&class, 1);
    return err;
}

/* Name the first sample of the class that lacks the picture. */
static fby_err find_lacking_in(const struct class_folders *folders,
    uint32_t class_id, struct fby_init_member *member,
    struct fby_error_detail *why)
{
    struct fby_folder class  = {.name = folders->classes[class_id].name};
    struct fby_shard *shards = NULL;
    uint32_t          n      = 0;
    uint32_t          index;
    atomic_bool       stop = false;
    fby_err           err  = fby_folder_find_class_files(
                   folders->search->root, folders->path, &stop, &class, why);
    if (err == FBY_OK) {
        err = fby_folders_to_shards(&class, 1, &shards, &n, why);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < shards[i].n_samples && err == FBY_OK &&
                             member->lacking[0] == '\0';
             k++) {
            if (!fby_shard_find_member(
                    &shards[i], k, &member->extension, 1, &index)) {
                snprintf(member->lacking, sizeof(member->lacking), "%s",
                    fby_text_show_begin(fby_shard_key(&shards[i], k), 70).text);
            }
        }
        fby_shard_fini(&shards[i]);
    }
    free(shards);
    fby_folders_free_files(&class, 1);
    return err;
}

/* Name a sample that lacks a second picture which others have. */
static fby_err find_lacking(const struct class_folders *folders,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *member = &split->members[i];
        bool                    is_one = fby_init_is_picture(member) &&
                      strchr(member->extension, '.') != NULL &&
                      member->count < split->samples;
        for (uint32_t k = 0;
             k < folders->n && is_one && member->lacking[0] == '\0'; k++) {
            FBY_TRY(find_lacking_in(folders, k, member, why));
        }
    }
    return FBY_OK;
}

static bool reads_suffix(const void *arg, const char *suffix)
{
    (void)arg;
    return fby_init_is_picture_suffix(suffix);
}

/* Refuse class folder `i`, which has no picture. */
static fby_err refuse_class(const struct class_folders *folders, uint32_t i,
    struct fby_error_detail *why)
{
    const struct fby_folder_filter filter = {
        reads_suffix, NULL, "jpg, jpeg, png, webp"};
    struct fby_folder *class = &folders->classes[i];
    atomic_bool stop         = false;
    FBY_TRY(fby_folder_find_class_files(
        folders->search->root, folders->path, &stop, class, why));
    if (class->count > 0) {
        FBY_TRY(fby_refuse_unread(
            folders->search, folders->path, class->files[0].path, why));
    }
    return fby_folder_select_samples(class, &filter, why);
}

/* Set the members and the types left out of the split. */
static void set_types(struct class_folders *folders, bool only_pictures,
    struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < folders->counts.n_types; i++) {
        const struct fby_file_type *type = &folders->counts.types[i];
        char                        extension[FBY_NAME_SIZE];
        uint64_t count = only_pictures ? type->n_with_picture : type->n_files;
        (void)fby_init_to_field_name(
            type->extension, extension); /* lower case */
        if (count > 0) {
            struct fby_init_member *member =
                &split->members[split->n_members++];
            *member = (struct fby_init_member){.count = count};
            memcpy(member->extension, extension, sizeof(extension));
        }
        if (count < type->n_files) {
            struct fby_guess_left_out *out =
                &split->left_out[split->n_left_out++];
            out->count = type->n_files - count;
            memcpy(out->extension, extension, sizeof(extension));
        }
    }
}

/* True for a format of the pictures: no mask, and no depths of all samples. */
static bool is_format(const struct fby_init_member *member)
{
    bool is_mask = member->always && (member->may_be_ids || member->is_grey16);
    return fby_init_is_picture(member) &&
           strchr(member->extension, '.') == NULL && !is_mask;
}

/* The second most frequent format of the pictures; NULL: there is one only.
 * *n_pictures is their number in all formats. */
static const char *find_second_format(
    const struct fby_guess_split *split, uint64_t *n_pictures)
{
    const char *second    = NULL;
    uint32_t    n_formats = 0;
    *n_pictures           = 0;
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *member = &split->members[i];
        if (is_format(member)) {
            *n_pictures += member->count;
            second = n_formats++ == 1 ? member->extension : second;
        }
    }
    return second;
}

#define TWINS                                                                \
    "left out: %" PRIu64 " pictures whose names differ from another's only " \
    "in the extension: files "                                               \
    "of one name are one sample"

/* Add a note if samples have pictures in two formats, of which one is read. */
static void note_twins(
    const struct class_folders *folders, const struct fby_guess_split *split)
{
    uint64_t    n;
    const char *format                   = find_second_format(split, &n);
    char        links[FBY_GUESS_COMMAND] = "";
    char        then[FBY_WORD_SIZE];
    if (n <= split->samples) {
        return;
    }
    uint64_t left_out = n - split->samples;
    if (fby_guess_begin_renames(
            folders->search, folders->path, links, sizeof(links), then)) {
        fby_guess_note(folders->search,
            TWINS
            "; to give the .%s files other names: %sfind . -iname '*.%s' "
            "-exec sh -c 'for f; do mv -n \"$f\" \"${f%%.*}_%s.%s\"; done' "
            "sh {} +) && forebay init %s",
            left_out, format, links, format, format, format, then);
    } else {
        fby_guess_note(folders->search,
            TWINS "; unpack the archive to rename them", left_out);
    }
}

/* Remove the member with that extension, which has no field. */
static void remove_member(struct fby_guess_split *split, const char *extension)
{
    struct fby_init_member *member = fby_guess_find_member(split, extension);
    if (member != NULL) {
        size_t n = (size_t)(&split->members[split->n_members] - (member + 1));
        memmove(member, member + 1, n * sizeof(*member));
        split->n_members--;
    }
}

/* Add a note on files of boxes beside the pictures. Lists have no place for the
 * class folders. */
static void note_boxes(
    const struct class_folders *folders, struct fby_guess_split *split)
{
    struct fby_search  *search = folders->search;
    enum fby_boxes_kind kind   = FBY_BOXES_NONE;
    bool                is_any = false;
    for (uint32_t i = 0; i < folders->counts.n_types; i++) {
        const struct fby_file_type *type = &folders->counts.types[i];
        is_any                           = is_any ||
                 (type->n_with_picture > 0 &&
                     (fby_equal_ignoring_case(type->extension, "xml") ||
                         fby_equal_ignoring_case(type->extension, "json") ||
                         fby_equal_ignoring_case(type->extension, "txt")));
    }
    if (is_any && split->class_depth == 0) {
        kind = fby_guess_find_boxes(search, folders->path, true);
    }
    if (kind != FBY_BOXES_NONE) {
        fby_guess_note_boxes_beside(search, folders->path, kind);
        remove_member(split, fby_guess_boxes_type(kind));
    }
}

/* Add a note on the JSON files of samples with pictures, but those with a note. */
static void note_json(
    const struct class_folders *folders, struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < folders->counts.n_types; i++) {
        const struct fby_file_type *type = &folders->counts.types[i];
        char                        path[FBY_PATH_SIZE];
        if (type->n_with_picture > 0 &&
            fby_guess_find_member(split, type->extension) != NULL &&
            fby_equal_ignoring_case(type->extension, "json") &&
            fby_path_join(folders->path, type->first, path, NULL) == FBY_OK) {
            fby_guess_note_json(folders->search, path, "json");
        }
    }
}

static bool is_unread_picture(const char *extension)
{
    char name[FBY_NAME_SIZE + 2];
    snprintf(name, sizeof(name), "*.%s", extension);
    return fby_unread_picture(name) != NULL;
}

/* Add a note on each type of files of the samples that no field reads. */
static void note_unread_types(
    const struct class_folders *folders, const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *member  = &split->members[i];
        bool                          is_read = fby_init_is_picture(member) ||
                       fby_init_is_text(member) || fby_init_is_label(member) ||
                       fby_init_has_type(member->extension, "json") ||
                       fby_init_has_type(member->extension, "npy");
        if (!is_read && folders->counts.n_with_picture > 0) {
            bool is_picture = is_unread_picture(member->extension);
            fby_guess_note(folders->search,
                "left out: the .%s files beside the pictures are not read%s",
                fby_text_show_begin(member->extension, 20).text,
                is_picture ? ", nor converted where a .png of their name is"
                           : "");
        }
    }
}

/* Add a note on pictures that are no samples for lack of an extension. */
static void note_unnamed(const struct class_folders *folders)
{
    const struct fby_folder_counts *counts = &folders->counts;
    if (counts->n_unnamed > 0) {
        fby_guess_note(folders->search,
            "left out: %s without an extension, as %s: give each one, as .jpg",
            fby_plural(counts->n_unnamed, "picture").text,
            fby_text_show_begin(counts->first_unnamed, 60).text);
    }
}

/* Find pictures of 16 bits in grey among those of the split. */
static void find_grey16(
    const struct class_folders *folders, struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < folders->counts.n_types; i++) {
        const struct fby_file_type *type = &folders->counts.types[i];
        struct fby_init_member     *member =
            fby_guess_find_member(split, type->extension);
        char path[FBY_PATH_SIZE];
        if (member != NULL && strcmp(member->extension, "png") == 0 &&
            fby_path_join(folders->path, type->first, path, NULL) == FBY_OK) {
            member->has_grey16 =
                member->is_grey16 ||
                fby_guess_has_grey16(folders->search, folders->path,
                    folders->classes, folders->n, path, type->extension);
        }
    }
}

/* Set what the split is from the counts of its class folders. */
static fby_err set_samples(struct class_folders *folders,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    const struct fby_folder_counts *counts       = &folders->counts;
    bool                            has_pictures = counts->n_with_picture > 0;
    FBY_TRY(fby_refuse_dots(folders->search, folders->path, counts, why));
    if (has_pictures && counts->no_picture < folders->n) {
        return refuse_class(folders, counts->no_picture, why);
    }
    split->samples = has_pictures ? counts->n_with_picture : counts->n_samples;
    split->counted_all = true;
    set_types(folders, has_pictures, split);
    fby_guess_sort_members(split);
    /* The files that read_pngs() has are not those of whole samples. */
    split->sizes_read    = true;
    split->masks_checked = FBY_GUESS_MASKS;
    fby_err err          = read_pngs(folders, split, why);
    split->sizes_read    = false;
    split->masks_checked = 0;
    find_grey16(folders, split);
    note_twins(folders, split);
    note_boxes(folders, split);
    note_json(folders, split);
    note_unread_types(folders, split);
    note_unnamed(folders);
    if (err == FBY_OK) {
        err = find_lacking(folders, split, why);
    }
    return err == FBY_OK ? read_sizes(folders, split, why) : err;
}

/* Write the first names of the folders in a class folder: "cat, dog, ...". */
static fby_err list_inner_folders(const struct class_folders *folders,
    char *out, size_t size, struct fby_error_detail *why)
{
    char               path[FBY_PATH_SIZE];
    struct fby_listing inner = {0};
    uint32_t           n     = 0;
    out[0]                   = '\0';
    FBY_TRY(fby_path_join(folders->path, folders->classes[0].name, path, why));
    fby_err err =
        fby_listing_read(folders->search->root, path, NULL, &inner, why);
    for (uint32_t i = 0; i < inner.count && n <= MAX_NAMED; i++) {
        size_t used = strlen(out);
        if (inner.entries[i].is_dir) {
            snprintf(out + used, size - used, "%s%s", n > 0 ? ", " : "",
                n == MAX_NAMED
                    ? "..."
                    : fby_text_show_begin(inner.entries[i].name, 40).text);
            n++;
        }
    }
    fby_listing_fini(&inner);
    return err;
}

/* Refuse files of which none is a picture, if the format of one is not read. */
static fby_err check_types(
    const struct class_folders *folders, struct fby_error_detail *why)
{
    const struct fby_folder_counts *counts = &folders->counts;
    for (uint32_t i = 0; counts->n_with_picture == 0 && i < counts->n_types;
         i++) {
        FBY_TRY(fby_refuse_unread(
            folders->search, folders->path, counts->types[i].first, why));
    }
    return FBY_OK;
}

/* ---- class folders of texts without an extension ---- */

/* Keep the first file without an extension in `arg`, a char[FBY_PATH_SIZE]. */
static fby_err keep_unnamed(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    (void)why;
    if (entry->is_dir || strchr(entry->name, '.') != NULL) {
        return FBY_OK;
    }
    snprintf(arg, FBY_PATH_SIZE, "%s", entry->name);
    return FBY_GONE;
}

static bool is_text_file(const struct fby_search *search, const char *path)
{
    struct fby_object object;
    char              begin[1024];
    size_t            size = sizeof(begin);
    if (fby_object_open(search->root, path, &object, NULL) != FBY_OK) {
        return false;
    }
    fby_err err = fby_object_read_some(&object, 0, begin, &size, NULL);
    fby_object_close(&object);
    return err == FBY_OK && size > 0 && memchr(begin, '\0', size) == NULL;
}

/* Is a file without an extension in each class folder, and is it a text, as in the
 * first split? */
static bool have_unnamed_texts(
    const struct class_folders *folders, const struct fby_guess_split *split)
{
    const struct fby_guess_split *first = &folders->search->out->splits[0];
    bool                          is_like_first =
        split == first || (first->n_members == 1 && first->samples == 0);
    bool found =
        is_like_first && folders->n > 0 && folders->counts.n_types == 0;
    for (uint32_t i = 0; i < folders->n && found; i++) {
        char dir[FBY_PATH_SIZE];
        char path[FBY_PATH_SIZE];
        char name[FBY_PATH_SIZE] = "";
        found = fby_path_join(folders->path, folders->classes[i].name, dir,
                    NULL) == FBY_OK &&
                fby_guess_visit_dir(folders->search, dir, NULL, keep_unnamed,
                    name, NULL, NULL) == FBY_GONE &&
                fby_path_join(dir, name, path, NULL) == FBY_OK &&
                is_text_file(folders->search, path);
    }
    return found;
}

/* Refuse several folders of folders if those in the first have names of pairs, as
 * DUTS-TR/Image and DUTS-TR/Mask. */
static fby_err refuse_inner_pairs(const struct class_folders *folders,
    const char *inner, struct fby_error_detail *why)
{
    const char        *names[FBY_FEW_FOLDERS];
    char               operand[FBY_OPERAND_SIZE];
    char               path[FBY_PATH_SIZE];
    struct fby_listing listing = {0};
    FBY_TRY(fby_path_join(folders->path, folders->classes[0].name, path, why));
    FBY_TRY(fby_listing_read(folders->search->root, path, NULL, &listing, why));
    uint32_t n         = fby_guess_name_folders(&listing, names);
    bool     are_pairs = n >= 2 && fby_guess_have_role(names, n);
    fby_listing_fini(&listing);
    if (!are_pairs) {
        return FBY_OK;
    }
    fby_guess_write_operand(folders->search, path, operand);
    return fby_error_set(why, FBY_CONFIG,
        "the class folders hold only folders, which look like pairs (%.160s), "
        "not classes: write a pipeline for each: forebay init %s; if these "
        "are the classes, add --class-depth 2; if the outer ones are, add "
        "--class-depth 1",
        inner, operand);
}

/* Refuse a single folder of folders, which may be a level too high. For several
 * of them, write a note. */
static fby_err check_depth(const struct class_folders *folders,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    const struct fby_search *search = folders->search;
    const char              *name   = folders->classes[0].name;
    char                     inner[160];
    if (search->class_depth != FBY_GUESS_ANY_DEPTH ||
        folders->counts.has_direct_files) {
        return FBY_OK;
    }
    FBY_TRY(check_types(folders, why));
    FBY_TRY(list_inner_folders(folders, inner, sizeof(inner), why));
    split->only_folders = true;
    if (folders->n > 1) {
        FBY_TRY(refuse_inner_pairs(folders, fby_text_show(inner).text, why));
        fby_guess_note(folders->search,
            "note: the class folders hold only folders (%s); if these are the "
            "classes: --class-depth 2",
            fby_text_show(inner).text);
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "the only folder, %.60s, holds no files but folders (%s); if these are "
        "the classes, add %.60s to the path or --class-depth 2; if %.60s is "
        "the class, add --class-depth 1",
        fby_text_show(name).text, fby_text_show(inner).text,
        fby_text_show(name).text, fby_text_show(name).text);
}

/* The first folder of `names` that `others` lacks; NULL: none. Both are sorted
 * by name. */
static const char *find_missing(const struct fby_folder *names, uint32_t n,
    const struct fby_folder *others, uint32_t n_others)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (k < n_others && strcmp(others[k].name, names[i].name) < 0) {
            k++;
        }
        if (k == n_others || strcmp(others[k].name, names[i].name) != 0) {
            return names[i].name;
        }
    }
    return NULL;
}

/* Set split->mismatch if the split has a class that train lacks, because the
 * folders of train number the classes. */
static void compare_with_train(
    const struct class_folders *folders, struct fby_guess_split *split)
{
    struct fby_search *search = folders->search;
    const char        *extra  = find_missing(
                folders->classes, folders->n, search->train, search->n_train);
    if (search->train == NULL || extra == NULL) {
        return;
    }
    if (folders->n == 1) {
        fby_guess_explain_lone_folder(search, folders->path, extra,
            split->mismatch, sizeof(split->mismatch));
        return;
    }
    snprintf(split->mismatch, sizeof(split->mismatch),
        "it has the class folder '%.60s', which train lacks, so it has no "
        "class id; add it to train, or remove it",
        fby_text_show(extra).text);
}

/* Keep the class folders of split train for compare_with_train(). */
static void keep_train(struct fby_search *search, struct class_folders *folders)
{
    fby_folders_free_files(folders->classes, folders->n);
    search->train    = folders->classes;
    search->n_train  = folders->n;
    folders->classes = NULL;
    folders->n       = 0;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct fby_folder *x = a;
    const struct fby_folder *y = b;
    int order                  = (int)strlen(x->name) - (int)strlen(y->name);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static bool are_numbers(const struct class_folders *folders)
{
    uint32_t i = 0;
    while (i < folders->n && fby_guess_is_digits(folders->classes[i].name,
                                 strlen(folders->classes[i].name))) {
        i++;
    }
    return i == folders->n;
}

/* Write the names: "[0, 1, 10]". */
static void list_folders(
    const struct fby_folder *folders, uint32_t n, char *out, size_t size)
{
    size_t used = 0;
    for (uint32_t i = 0; i < n && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s",
            i > 0 ? ", " : "[", folders[i].name);
    }
    if (used + 2 > size) { /* 2: "]", NUL */
        snprintf(out, size, "[...], in the order that you need");
    } else {
        memcpy(out + used, "]", 2);
    }
}

/* Add a note if class folders whose names are numbers are in another order. */
static void note_numbers(const struct class_folders *folders)
{
    char               list[1024];
    uint32_t           i      = 0;
    size_t             size   = folders->n * sizeof(struct fby_folder);
    struct fby_folder *sorted = fby_realloc(NULL, size + 1); /* + 1: not 0 */
    memcpy(sorted, folders->classes, size);
    qsort(sorted, folders->n, sizeof(*sorted), compare_numbers);
    while (i < folders->n && sorted[i].name == folders->classes[i].name) {
        i++;
    }
    if (i < folders->n && are_numbers(folders)) {
        list_folders(sorted, folders->n, list, sizeof(list));
        fby_guess_note(folders->search,
            "note: the class folders are numbered in byte order of their "
            "names: %s is class %" PRIu32
            "; for the order of their numbers add to label: names: %s",
            folders->classes[i].name, i, list);
    }
    free(sorted);
}

/* Is the folder called after a part of a recording, or a patient, with a number:
 * "video_000"? */
static bool is_sequence(const char *name)
{
    static const char *const words[] = {"video", "vid", "clip", "seq",
        "sequence", "scene", "shot", "take", "episode", "traj", "trajectory",
        "patient", "case", NULL};
    char                     word[16];
    size_t                   n     = strcspn(name, "0123456789");
    const char              *digit = name + n;
    while (n > 0 && strchr("_- ", name[n - 1]) != NULL) {
        n--;
    }
    for (size_t i = 0; i < n && i < sizeof(word) - 1; i++) {
        word[i] = (char)tolower((unsigned char)name[i]);
    }
    word[n < sizeof(word) ? n : 0] = '\0';
    return fby_guess_is_digits(digit, strlen(digit)) &&
           fby_text_is_one_of(word, words);
}

/* Add a note if the class folders are called so, which are probably no classes. */
static void note_sequences(const struct class_folders *folders)
{
    uint32_t i = 0;
    while (i < folders->n && is_sequence(folders->classes[i].name)) {
        i++;
    }
    if (i == folders->n && i > 1 &&
        folders->search->class_depth == FBY_GUESS_ANY_DEPTH) {
        fby_guess_note(folders->search,
            "note: %s and the folders beside it are taken as classes; if they "
            "are none, add --class-depth 0",
            fby_text_show(folders->classes[0].name).text);
    }
}

/* Is the name of one class folder that of a left side, and another's of a right? */
static bool have_sides(const struct class_folders *folders)
{
    struct fby_init_sides sides = {.has_left = false};
    for (uint32_t i = 0; i < folders->n; i++) {
        fby_init_add_side(&sides, folders->classes[i].name);
    }
    return sides.has_left && sides.has_right;
}

/* Refuse a path that no pipeline file can have as `folder`. */
static fby_err check_pattern(
    const struct fby_guess_split *split, struct fby_error_detail *why)
{
    const struct fby_source_traits *traits =
        fby_source_traits(FBY_SOURCE_FOLDER);
    if (traits->check_path_rest("", split->pattern, NULL) == FBY_OK) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s has a comma in braces, which the path of a folder in a pipeline "
        "cannot have: rename the folder",
        fby_text_show(split->pattern).text);
}

fby_err fby_guess_class_folders(struct fby_search *search, const char *path,
    uint32_t depth, const char *name, struct fby_error_detail *why)
{
    struct class_folders    folders = {.search = search, .path = path};
    struct fby_guess_split *split   = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    search->out->kind = FBY_SOURCE_FOLDER;
    fby_err err       = fby_folder_list_classes(
              search->root, path, depth, &folders.classes, &folders.n, why);
    if (err == FBY_OK) {
        err = fby_refuse_unicode_forms(search, folders.classes, folders.n, why);
    }
    if (err == FBY_OK) {
        err = fby_count_folders(
            search, path, folders.classes, folders.n, &folders.counts, why);
        search->out->n_dangling += folders.counts.n_dangling;
    }
    split->classes     = depth > 0 ? folders.n : 0;
    split->class_depth = depth;
    split->has_sides   = depth > 0 && have_sides(&folders);
    bool are_texts =
        err == FBY_CONFIG && depth == 1 && have_unnamed_texts(&folders, split);
    if (are_texts) { /* which fby_refuse_class_texts() refuses */
        split->n_members = 1;
        err              = FBY_OK;
    }
    if (err == FBY_OK && depth > 0 && !are_texts) {
        err = check_depth(&folders, split, why);
    }
    if (err == FBY_OK && !are_texts) {
        err = set_samples(&folders, split, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_set_pattern(search, path, split, why);
    }
    if (err == FBY_OK) {
        err = check_pattern(split, why);
    }
    if (err == FBY_OK && depth == 1) {
        note_numbers(&folders);
        note_sequences(&folders);
    }
    if (depth > 0 && search->train == NULL &&
        strcmp(name, search->main_split) == 0) {
        keep_train(search, &folders);
    } else if (depth > 0) {
        compare_with_train(&folders, split);
    } else if (search->train != NULL) {
        fby_guess_explain_flat_folder(
            search, path, split->mismatch, sizeof(split->mismatch));
    }
    fby_folders_free(folders.classes, folders.n);
    fby_folder_counts_fini(&folders.counts);
    return err;
}
