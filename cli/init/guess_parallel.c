/* SPDX-License-Identifier: Apache-2.0 */
/* guess_parallel.c - recognise parallel folders in a directory.
 *
 * In these, files of one name are one sample: images/1.jpg and masks/1.png.
 * Class folders may also have files of one name. Therefore one folder must have
 * a usual name for pictures ("images"), and one for partners ("masks"). */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"
#include "pipeline/text.h"

struct parallel_folders {             /* those found in a directory */
    char     brace[FBY_PATH_SIZE];    /* their pattern: "{images,masks}" */
    uint32_t n;                       /* number of folders */
    char     first[FBY_NAME_SIZE];    /* name of the first folder */
    char     bad_name[FBY_NAME_SIZE]; /* not allowed in a brace; "": none */
    bool     has_pictures;            /* a folder has a name for pictures */
    bool     has_partners;            /* a folder has a name for partners */
};

static bool is_parallel_folder(const struct fby_entry *entry)
{
    return entry->is_dir && strlen(entry->name) < FBY_NAME_SIZE &&
           (fby_init_is_picture_name(entry->name) ||
               fby_init_is_partner_name(entry->name));
}

static void add_folder(struct parallel_folders *out, const char *name)
{
    size_t used = strlen(out->brace);
    snprintf(out->brace + used, sizeof(out->brace) - used, "%s%s",
        out->n > 0 ? "," : "{", name);
    if (out->n++ == 0) {
        snprintf(out->first, sizeof(out->first), "%s", name);
    }
    if (!fby_text_is_extension(name) || strchr(name, '.') != NULL) {
        snprintf(out->bad_name, sizeof(out->bad_name), "%s", name);
    }
    bool is_pictures  = fby_init_is_picture_name(name);
    out->has_pictures = out->has_pictures || is_pictures;
    out->has_partners = out->has_partners || !is_pictures;
}

static void find_folders(
    const struct fby_listing *listing, struct parallel_folders *out)
{
    for (uint32_t i = 0; i < listing->count && out->n < FBY_MAX_PARALLEL; i++) {
        if (is_parallel_folder(&listing->entries[i])) {
            add_folder(out, listing->entries[i].name);
        }
    }
    size_t used = strlen(out->brace);
    snprintf(out->brace + used, sizeof(out->brace) - used, "}");
}

static fby_err add_parallel_split(struct fby_search *search, const char *below,
    const char *name, struct fby_error_detail *why)
{
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_PARALLEL};
    if (split == NULL) {
        return FBY_OK;
    }
    search->out->kind = FBY_SOURCE_PARALLEL;
    fby_err err       = fby_guess_check_name(fby_root_dir(search->root), why);
    if (err == FBY_OK) {
        err = fby_guess_index(search, &spec, below, &index, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_count_index(split, &index, why);
    }
    fby_index_fini(&index);
    return err == FBY_OK ? fby_guess_set_pattern(search, below, split, why)
                         : err;
}

/* Add a split for each set of folders such as images/train and masks/train.
 * `within` is the listing of the first parallel folder (images). */
static fby_err add_inner_splits(struct fby_search *search, const char *path,
    const struct parallel_folders *folders, const struct fby_listing *within,
    struct fby_error_detail *why)
{
    char    brace[FBY_PATH_SIZE];
    char    below[FBY_PATH_SIZE];
    fby_err err = fby_path_join(path, folders->brace, brace, why);
    for (uint32_t i = 0; err == FBY_OK && i < within->count; i++) {
        const char *name     = within->entries[i].name;
        const char *word     = fby_guess_split_word(name);
        bool        is_split = within->entries[i].is_dir && word != NULL &&
                        strcmp(word, name) == 0;
        if (is_split) {
            err = fby_path_join(brace, name, below, why);
        }
        if (is_split && err == FBY_OK) {
            err = add_parallel_split(search, below, name, why);
        }
    }
    return err;
}

fby_err fby_guess_parallel(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct parallel_folders folders = {.n = 0};
    struct fby_listing      within  = {0};
    char                    below[FBY_PATH_SIZE];
    uint32_t                before = fby_guess_n_splits(search);
    find_folders(listing, &folders);
    if (!folders.has_pictures || !folders.has_partners) {
        return FBY_OK; /* no parallel folders */
    }
    if (folders.bad_name[0] != '\0') {
        return fby_error_set(why, FBY_CONFIG,
            "the folder %s seems to be one of parallel folders, whose names "
            "are lower-case letters, digits, _ and -: rename it",
            fby_text_show(folders.bad_name).text);
    }
    fby_err err = fby_path_join(path, folders.first, below, why);
    if (err == FBY_OK) {
        err = fby_listing_read(search->root, below, NULL, &within, why);
    }
    if (err == FBY_OK) {
        err = add_inner_splits(search, path, &folders, &within, why);
    }
    fby_listing_fini(&within);
    if (err != FBY_OK || fby_guess_n_splits(search) > before) {
        return err;
    }
    /* Without folders such as images/train, all samples are one split. */
    err = fby_path_join(path, folders.brace, below, why);
    return err == FBY_OK
               ? add_parallel_split(search, below, search->default_name, why)
               : err;
}
