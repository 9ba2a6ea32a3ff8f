/* SPDX-License-Identifier: Apache-2.0 */
/* guess_parallel.c - recognise parallel folders in a directory.
 *
 * In these, files of one name are one sample: images/1.jpg and masks/1.png.
 * Class folders may also have files of one name. Therefore one folder must
 * have a usual name for pictures ("images"), and one for partners ("masks"),
 * unless a split before this one has no classes. */
#include <stdio.h>
#include <string.h>

#include "cli/init/count_folders.h"
#include "cli/init/guess_columns.h"
#include "cli/init/guess_folders.h"
#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/plural.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

struct parallel_folders { /* those found in a directory */
    const char               *names[FBY_MAX_PARALLEL]; /* borrowed */
    uint32_t                  n;                       /* number of folders */
    struct fby_unused_folders unused;                  /* the others */
    const char               *pictures; /* a name for pictures; NULL: none */
    const char               *partner;  /* a name for partners; NULL: none */
    const char               *boxes; /* a folder of text or XML; NULL: none */
    enum fby_boxes_kind       boxes_kind; /* of its files */
};

/* Files of boxes are no partners. */
static bool is_parallel_folder(struct fby_search *search, const char *path,
    const struct fby_entry *entry, struct parallel_folders *out)
{
    char below[FBY_PATH_SIZE];
    bool is_partner = fby_init_is_partner_name(entry->name);
    if (!entry->is_dir || strlen(entry->name) >= FBY_NAME_SIZE ||
        (!is_partner && !fby_init_is_picture_name(entry->name))) {
        return false;
    }
    enum fby_boxes_kind kind = FBY_BOXES_NONE;
    if (is_partner && fby_path_join(path, entry->name, below, NULL) == FBY_OK) {
        kind = fby_guess_find_boxes(search, below, false);
    }
    if (kind != FBY_BOXES_NONE) {
        out->boxes      = entry->name;
        out->boxes_kind = kind;
    }
    return kind == FBY_BOXES_NONE;
}

static void find_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct parallel_folders *out)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (out->n == FBY_MAX_PARALLEL ||
            !is_parallel_folder(search, path, entry, out)) {
            if (entry->name != out->boxes) {
                fby_guess_add_unused(&out->unused, entry);
            }
            continue;
        }
        out->names[out->n++] = entry->name;
        if (fby_init_is_picture_name(entry->name)) {
            out->pictures = entry->name;
        } else {
            out->partner = entry->name;
        }
    }
}

/* Write the pattern of the folders: "{images,masks}", or "images". */
static void write_pattern(
    const struct parallel_folders *folders, char out[FBY_PATH_SIZE])
{
    size_t used = 0;
    for (uint32_t i = 0; i < folders->n; i++) {
        used += (size_t)snprintf(out + used, FBY_PATH_SIZE - used, "%s%s",
            folders->n == 1 ? ""
            : i > 0         ? ","
                            : "{",
            folders->names[i]);
    }
    snprintf(out + used, FBY_PATH_SIZE - used, "%s", folders->n > 1 ? "}" : "");
}

static bool is_valid_name(const char *name)
{
    return fby_text_is_extension(name) && strchr(name, '.') == NULL;
}

/* Write the command that gives the folders names that can be read: "mv -n Images
 * images" for each. Returns false if a name needs quotes. */
static bool write_renames(
    const struct parallel_folders *folders, char *out, size_t size)
{
    size_t used = 0;
    for (uint32_t i = 0; i < folders->n; i++) {
        char        name[FBY_NAME_SIZE];
        char        word[FBY_OPERAND_SIZE];
        const char *before = folders->names[i];
        if (is_valid_name(before)) {
            continue;
        }
        fby_init_propose_name(before, name);
        if (!fby_shell_quote(before, word, sizeof(word)) || word[0] == '-') {
            return false;
        }
        used += (size_t)snprintf(out + used, used < size ? size - used : 0,
            "%s[ ! -e %s ] && mv -n %s %s", used > 0 ? " && " : "", name, word,
            name);
    }
    return used < size;
}

static fby_err check_names(const struct fby_search *search, const char *path,
    const struct parallel_folders *folders, struct fby_error_detail *why)
{
    char        renames[FBY_MAX_PARALLEL * 4 * FBY_NAME_SIZE];
    const char *colon = "";
    uint32_t    i     = 0;
    while (i < folders->n && is_valid_name(folders->names[i])) {
        i++;
    }
    if (i == folders->n || folders->n == 1) {
        return FBY_OK;
    }
    if (write_renames(folders, renames, sizeof(renames))) {
        colon = fby_guess_set_renames(search, path, "%s", renames);
    }
    return fby_error_set(why, FBY_CONFIG,
        "the folder %s seems to be one of parallel folders, whose names are "
        "lower-case letters, digits, _ and -: rename it%s",
        fby_text_show(folders->names[i]).text, colon);
}

/* Refuse pictures such as cat.0.jpg in the folder. */
static fby_err check_dots_in(struct fby_search *search, const char *path,
    const char *folder, struct fby_error_detail *why)
{
    char name[FBY_NAME_SIZE];
    const struct fby_folder class   = {.name = name};
    struct fby_folder_counts counts = {.n_types = 0};
    snprintf(name, sizeof(name), "%s", folder);
    fby_err err = fby_count_folders(search, path, &class, 1, &counts, why);
    if (err == FBY_OK) {
        err = fby_refuse_dots(search, path, &counts, why);
    } else if (err == FBY_CONFIG && !counts.has_dots) {
        err = FBY_OK; /* no error of parallel folders */
    }
    fby_folder_counts_fini(&counts);
    return err;
}

static fby_err check_dots(struct fby_search *search, const char *path,
    const struct parallel_folders *folders, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < folders->n; i++) {
        err = check_dots_in(search, path, folders->names[i], why);
    }
    return err;
}

/* The number of pictures whose extension begins with the same folder. */
static uint64_t count_pictures(
    const struct fby_guess_split *split, const char *extension)
{
    size_t   stem = (size_t)(strrchr(extension, '.') - extension) + 1;
    uint64_t n    = 0;
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *member = &split->members[i];
        bool is_same = strncmp(member->extension, extension, stem) == 0;
        n += is_same && fby_init_is_picture(member) ? member->count : 0;
    }
    return n;
}

/* Refuse samples whose picture has no decoder, such as a TIFF. */
static fby_err check_decoders(const struct fby_search *search, const char *path,
    const struct fby_guess_split *split, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        const char *extension = split->members[i].extension;
        const char *dot       = strrchr(extension, '.');
        char        name[2 * FBY_NAME_SIZE];
        if (dot == NULL || fby_unread_picture(dot) == NULL ||
            count_pictures(split, extension) >= split->samples) {
            continue;
        }
        snprintf(name, sizeof(name), "%.*s/*%s", (int)(dot - extension),
            extension, dot);
        FBY_TRY(fby_refuse_unread(search, path, name, why));
    }
    return FBY_OK;
}

/* Add a note on the files of a member: no field reads them. */
static void note_member(struct fby_search *search,
    const struct fby_guess_split *split, const struct fby_init_member *member,
    const char *file)
{
    const char *type   = fby_text_ends_with(member->extension, ".nii.gz")
                             ? strstr(member->extension, ".nii.gz")
                             : strrchr(member->extension, '.');
    int         folder = type != NULL ? (int)(type - member->extension) : 0;
    if (type == NULL || fby_init_is_picture(member) ||
        fby_unread_picture(type) != NULL || fby_init_is_text(member) ||
        fby_init_is_label(member)) {
        return;
    }
    if (member->count < split->samples) {
        fby_guess_note(search, "left out: the %s files in %.*s: of only %s",
            fby_text_show_begin(type, 20).text, folder, member->extension,
            fby_plural(member->count, "sample").text);
    } else if (fby_init_has_type(member->extension, "json")) {
        fby_guess_note_json(search, file, member->extension);
    } else if (fby_init_has_type(member->extension, "npy")) {
        fby_guess_note_npy_in(search, file, member->extension);
    } else {
        fby_guess_note(search,
            "left out: the %s files in %.*s are not read; write what you need "
            "of them into a list with the paths of the pictures",
            fby_text_show_begin(type, 20).text, folder, member->extension);
    }
}

/* Add notes on the files that no field reads. */
static void note_members(struct fby_search *search,
    const struct fby_guess_split *split, const struct fby_index *index)
{
    for (uint32_t i = 0; i < split->n_members && index->n_shards > 0; i++) {
        const struct fby_shard *shard = &index->shards[0];
        uint32_t                m     = 0;
        char                    path[FBY_PATH_SIZE];
        while (m < shard->n_members && strcmp(fby_shard_suffix(shard, m),
                                           split->members[i].extension) != 0) {
            m++;
        }
        if (m < shard->n_members &&
            fby_index_path(index, shard, m, path, NULL) == FBY_OK) {
            note_member(search, split, &split->members[i], path);
        }
    }
}

/* Add notes on the files that are no samples. */
static void note_left_out(
    struct fby_search *search, const struct fby_index *index)
{
    for (uint32_t i = 0; i < index->n_folders; i++) {
        const struct fby_folder *folder = &index->folders[i];
        if (folder->n_left_out > 0) {
            fby_guess_note(search,
                "left out: %s in %s, of a type that no sample has",
                fby_plural(folder->n_left_out, "file").text,
                fby_text_show(folder->name).text);
        }
    }
}

static fby_err add_parallel_split(struct fby_search *search, const char *path,
    const struct parallel_folders *folders, const char *below, const char *name,
    struct fby_error_detail *why)
{
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_PARALLEL};
    if (split == NULL) {
        return FBY_OK;
    }
    search->out->kind = FBY_SOURCE_PARALLEL;
    fby_err err       = fby_refuse_name(fby_root_dir(search->root), why);
    if (err == FBY_OK) {
        err = fby_guess_index(search, &spec, below, &index, why);
        err = err == FBY_CONFIG && folders->n == 2
                  ? fby_guess_explain_missing(
                        search, path, folders->names, below, why)
                  : err;
    }
    if (err == FBY_OK) {
        err = fby_guess_count_index(split, &index, why);
    }
    if (err == FBY_OK) {
        err = check_decoders(search, path, split, why);
    }
    if (err == FBY_OK) {
        note_members(search, split, &index);
        note_left_out(search, &index);
    }
    fby_index_fini(&index);
    return err == FBY_OK ? fby_guess_set_pattern(search, below, split, why)
                         : err;
}

/* Add a split of parallel folders, or of one folder beside boxes. */
static fby_err add_split(struct fby_search *search, const char *path,
    const struct parallel_folders *folders, const char *below, const char *name,
    struct fby_error_detail *why)
{
    return folders->n > 1
               ? add_parallel_split(search, path, folders, below, name, why)
               : fby_guess_class_folders(search, below, 0, name, why);
}

/* Add a split for each set of folders such as images/train and masks/train.
 * `within` is the listing of `first`, the first parallel folder (images). */
static fby_err add_inner_splits(struct fby_search *search, const char *path,
    const char *pattern, const struct parallel_folders *folders,
    const char *first, const struct fby_listing *within,
    struct fby_error_detail *why)
{
    struct fby_unused_folders unused = {.n = 0};
    uint32_t                  before = fby_guess_n_splits(search);
    char                      below[FBY_PATH_SIZE];
    fby_err                   err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < within->count; i++) {
        const char *name     = within->entries[i].name;
        const char *split    = fby_split_of_folder(name);
        bool        is_split = within->entries[i].is_dir && split != NULL &&
                        !fby_guess_has_split(search, split);
        if (is_split) {
            err = fby_path_join(pattern, name, below, why);
        } else {
            fby_guess_add_unused(&unused, &within->entries[i]);
        }
        if (is_split && err == FBY_OK) {
            err = add_split(search, path, folders, below, split, why);
        }
    }
    if (fby_guess_n_splits(search) > before) {
        fby_guess_note_unused(search, first, &unused, FBY_SPLIT_NAMES);
    }
    return err;
}

static fby_err add_splits(struct fby_search *search, const char *path,
    const struct parallel_folders *folders, struct fby_error_detail *why)
{
    struct fby_listing within = {0};
    char               names[FBY_PATH_SIZE];
    char               pattern[FBY_PATH_SIZE];
    char               first[FBY_PATH_SIZE];
    uint32_t           before = fby_guess_n_splits(search);
    write_pattern(folders, names);
    FBY_TRY(fby_path_join(path, names, pattern, why));
    FBY_TRY(fby_path_join(path, folders->names[0], first, why));
    fby_err err = fby_listing_read(search->root, first, NULL, &within, why);
    if (err == FBY_OK) {
        err = add_inner_splits(
            search, path, pattern, folders, first, &within, why);
    }
    fby_listing_fini(&within);
    /* Without folders such as images/train, all samples are one split. */
    return err == FBY_OK && fby_guess_n_splits(search) == before
               ? add_split(
                     search, path, folders, pattern, search->default_name, why)
               : err;
}

/* Has the folder of pictures folders of splits, as images/train? */
static bool has_inner_splits(struct fby_search *search, const char *path,
    const struct parallel_folders *folders)
{
    struct fby_listing within = {0};
    char               below[FBY_PATH_SIZE];
    bool               found = false;
    if (fby_path_join(path, folders->pictures, below, NULL) == FBY_OK &&
        fby_guess_list_dir(search, below, NULL, &within, NULL) == FBY_OK) {
        for (uint32_t i = 0; i < within.count; i++) {
            found = found ||
                    (within.entries[i].is_dir &&
                        fby_split_of_folder(within.entries[i].name) != NULL);
        }
    }
    fby_listing_fini(&within);
    return found;
}

/* Refuse the folders if texts beside say which pictures are of which split. */
static fby_err check_split_texts(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const struct parallel_folders *folders,
    struct fby_error_detail *why)
{
    enum { MAX_DIRS = 32 };
    char                 boxes[FBY_GUESS_COMMAND];
    const char          *names[FBY_MAX_PARALLEL + 1] = {folders->pictures};
    const char          *dirs[MAX_DIRS];
    struct fby_pairs_dir at = {.search = search,
        .path                          = path,
        .folders                       = names,
        .n_folders                     = 1,
        .dirs                          = dirs};
    for (uint32_t i = 0; i < folders->n; i++) {
        if (folders->names[i] != folders->pictures) {
            names[at.n_folders++] = folders->names[i];
        }
    }
    if (at.n_folders == 1 &&
        fby_guess_write_boxes_of_pairs(folders->boxes_kind, boxes)) {
        names[at.n_folders++] = folders->boxes;
        at.boxes              = boxes;
    }
    for (uint32_t i = 0; i < listing->count && at.n_dirs < MAX_DIRS; i++) {
        if (listing->entries[i].is_dir) {
            dirs[at.n_dirs++] = listing->entries[i].name;
        }
    }
    return at.n_folders == 1 || has_inner_splits(search, path, folders)
               ? FBY_OK
               : fby_refuse_split_pairs(&at, why);
}

bool fby_guess_has_no_classes(const struct fby_search *search)
{
    const struct fby_guess_split *first = &search->out->splits[0];
    return search->out->n_splits > 0 &&
           (search->out->kind != FBY_SOURCE_FOLDER || first->class_depth == 0);
}

fby_err fby_guess_parallel(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct parallel_folders folders = {.n = 0};
    find_folders(search, path, listing, &folders);
    bool is_alone =
        folders.n == 1 &&
        (folders.boxes != NULL ||
            (folders.unused.n > 0 && fby_guess_has_no_classes(search)));
    if (folders.pictures == NULL || (folders.partner == NULL && !is_alone)) {
        return FBY_OK; /* no parallel folders */
    }
    FBY_TRY(check_names(search, path, &folders, why));
    FBY_TRY(check_dots(search, path, &folders, why));
    FBY_TRY(check_split_texts(search, path, listing, &folders, why));
    FBY_TRY(add_splits(search, path, &folders, why));
    if (folders.boxes != NULL) {
        fby_guess_note_boxes(
            search, folders.pictures, folders.boxes, folders.boxes_kind);
    }
    fby_guess_note_unused(search, path, &folders.unused,
        "parallel folders are called images, masks, labels and so on");
    return FBY_OK;
}
