/* guess_parallel.c - recognise parallel folders, for `forebay init`.
 *
 * Equal names of files do not prove that folders are parallel: class folders
 * may have them, too. So the names of the folders decide: one folder must be
 * named as usual for pictures, and one as usual for partners such as masks. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"
#include "pipeline/text.h"

struct sides {                     /* the parallel folders */
    char     brace[FBY_PATH_SIZE]; /* "{images,masks}" */
    uint32_t n;                    /* number of folders */
    char     first[FBY_NAME_SIZE];
    char     bad_name[FBY_NAME_SIZE]; /* not allowed in a brace; "": none */
    bool     pictures;                /* a folder is named as for pictures */
    bool     partners;                /* a folder is named as for partners */
};

static bool is_side(const struct fby_entry *entry)
{
    return entry->is_dir && strlen(entry->name) < FBY_NAME_SIZE &&
           (fby_init_names_pictures(entry->name) ||
               fby_init_names_partners(entry->name));
}

static void add_side(struct sides *out, const char *name)
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
    bool pictures = fby_init_names_pictures(name);
    out->pictures = out->pictures || pictures;
    out->partners = out->partners || !pictures;
}

static void find_sides(const struct fby_listing *listing, struct sides *out)
{
    for (uint32_t i = 0; i < listing->count && out->n < FBY_MAX_PARALLEL; i++) {
        if (is_side(&listing->entries[i])) {
            add_side(out, listing->entries[i].name);
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

/* Add the splits within the folders, such as images/train and masks/train. */
static fby_err add_inner_splits(struct fby_search *search, const char *path,
    const struct sides *sides, const struct fby_listing *within,
    struct fby_error_detail *why)
{
    char    brace[FBY_PATH_SIZE];
    char    below[FBY_PATH_SIZE];
    fby_err err = fby_path_join(path, sides->brace, brace, why);
    for (uint32_t i = 0; err == FBY_OK && i < within->count; i++) {
        const char *name = within->entries[i].name;
        const char *word = fby_guess_split_word(name);
        if (!within->entries[i].is_dir || word == NULL ||
            strcmp(word, name) != 0) {
            continue;
        }
        err = fby_path_join(brace, name, below, why);
        if (err == FBY_OK) {
            err = add_parallel_split(search, below, name, why);
        }
    }
    return err;
}

fby_err fby_guess_parallel(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct sides       sides  = {.n = 0};
    struct fby_listing within = {0};
    char               below[FBY_PATH_SIZE];
    uint32_t           before = fby_guess_n_splits(search);
    find_sides(listing, &sides);
    if (!sides.pictures || !sides.partners) {
        return FBY_OK;
    }
    if (sides.bad_name[0] != '\0') {
        return fby_error_set(why, FBY_CONFIG,
            "the folder %s seems to be one of parallel folders, whose names "
            "are "
            "lower-case letters, digits, _ and -: rename it",
            fby_text_show(sides.bad_name).text);
    }
    fby_err err = fby_path_join(path, sides.first, below, why);
    if (err == FBY_OK) {
        err = fby_listing_read(search->root, below, NULL, &within, why);
    }
    if (err == FBY_OK) {
        err = add_inner_splits(search, path, &sides, &within, why);
    }
    fby_listing_fini(&within);
    if (err != FBY_OK || fby_guess_n_splits(search) > before) {
        return err;
    }
    err = fby_path_join(path, sides.brace, below, why);
    return err == FBY_OK ? add_parallel_split(search, below, search->name, why)
                         : err;
}
