/* SPDX-License-Identifier: Apache-2.0 */
/* class_folder_samples.c - the members that samples of class folders have, and
 * notes on files that are left out. */
#include "cli/init/class_folders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "common/plural.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

static fby_err open_in_folder(const void *arg, const struct fby_shard *shard,
    uint32_t member, struct fby_member_file *out, struct fby_error_detail *why)
{
    const struct fby_class_folders *folders = arg;
    char                            file[FBY_PATH_SIZE];
    char                            path[FBY_PATH_SIZE];

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
static fby_err read_pngs(struct fby_class_folders *folders,
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
static fby_err read_sizes(const struct fby_class_folders *folders,
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
static fby_err find_lacking_in(const struct fby_class_folders *folders,
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
static fby_err find_lacking(const struct fby_class_folders *folders,
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
static fby_err refuse_class(const struct fby_class_folders *folders, uint32_t i,
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
static void set_types(struct fby_class_folders *folders, bool only_pictures,
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
static void note_twins(const struct fby_class_folders *folders,
    const struct fby_guess_split                      *split)
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
    const struct fby_class_folders *folders, struct fby_guess_split *split)
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
    const struct fby_class_folders *folders, struct fby_guess_split *split)
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
static void note_unread_types(const struct fby_class_folders *folders,
    const struct fby_guess_split                             *split)
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
static void note_unnamed(const struct fby_class_folders *folders)
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
    const struct fby_class_folders *folders, struct fby_guess_split *split)
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

fby_err fby_guess_set_folder_samples(struct fby_class_folders *folders,
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
