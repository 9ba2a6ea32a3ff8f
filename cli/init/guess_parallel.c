/* guess_parallel.c - recognise parallel folders, for `forebay init`.
 *
 * Class folders may contain files with equal names, too. So folders count as
 * parallel only by their own names: one for pictures, and one for partners such
 * as masks. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_look.h"
#include "pipeline/text.h"

struct sides {
    char     brace[FBY_PATH_SIZE]; /* "{images,masks}" */
    uint32_t n;
    char     first[FBY_NAME_SIZE];
    char     bad_name[FBY_NAME_SIZE]; /* not allowed in a brace; "": none */
    bool     pictures;
    bool     partners;
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
    for (uint32_t i = 0; i < listing->count && out->n < FBY_MAX_SIDES; i++) {
        if (is_side(&listing->entries[i])) {
            add_side(out, listing->entries[i].name);
        }
    }
    size_t used = strlen(out->brace);
    snprintf(out->brace + used, sizeof(out->brace) - used, "}");
}

static fby_err add_parallel_split(struct fby_look *look, const char *below,
    const char *name, struct fby_why *why)
{
    struct fby_guess_split *split = fby_look_add_split(look, name);
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_PARALLEL};
    if (split == NULL) {
        return FBY_OK;
    }
    look->out->kind = FBY_SOURCE_PARALLEL;
    fby_err err     = fby_look_check_name(fby_root_dir(look->root), why);
    if (err == FBY_OK) {
        err = fby_look_index(look, &spec, below, &index, why);
    }
    if (err == FBY_OK) {
        err = fby_look_count_index(split, &index, why);
    }
    fby_index_fini(&index);
    return err == FBY_OK ? fby_look_pattern(look, below, split, why) : err;
}

/* Add the splits within the folders, such as images/train and masks/train. */
static fby_err add_inner_splits(struct fby_look *look, const char *path,
    const struct sides *sides, const struct fby_listing *within,
    struct fby_why *why)
{
    char    brace[FBY_PATH_SIZE];
    char    below[FBY_PATH_SIZE];
    fby_err err = fby_path_join(path, sides->brace, brace, why);
    for (uint32_t i = 0; err == FBY_OK && i < within->count; i++) {
        const char *name = within->entries[i].name;
        const char *word = fby_look_split_word(name);
        if (!within->entries[i].is_dir || word == NULL ||
            strcmp(word, name) != 0) {
            continue;
        }
        err = fby_path_join(brace, name, below, why);
        if (err == FBY_OK) {
            err = add_parallel_split(look, below, name, why);
        }
    }
    return err;
}

fby_err fby_look_at_parallel(struct fby_look *look, const char *path,
    const struct fby_listing *listing, struct fby_why *why)
{
    struct sides       sides  = {.n = 0};
    struct fby_listing within = {0};
    char               below[FBY_PATH_SIZE];
    uint32_t           before = fby_look_n_splits(look);
    find_sides(listing, &sides);
    if (!sides.pictures || !sides.partners) {
        return FBY_OK;
    }
    if (sides.bad_name[0] != '\0') {
        return fby_because(why, FBY_CONFIG,
            "the folder %s seems to be one of parallel folders, whose names "
            "are "
            "lower-case letters, digits, _ and -: rename it",
            fby_text_show(sides.bad_name).text);
    }
    fby_err err = fby_path_join(path, sides.first, below, why);
    if (err == FBY_OK) {
        err = fby_listing_read(look->root, below, NULL, &within, why);
    }
    if (err == FBY_OK) {
        err = add_inner_splits(look, path, &sides, &within, why);
    }
    fby_listing_fini(&within);
    if (err != FBY_OK || fby_look_n_splits(look) > before) {
        return err;
    }
    err = fby_path_join(path, sides.brace, below, why);
    return err == FBY_OK ? add_parallel_split(look, below, look->name, why)
                         : err;
}
