/* guess_parallel.c - parallel folders in a directory, for `forebay init`.
 *
 * Class folders may hold files of the same names, too; so what is taken for
 * parallel is called so: pictures, and what goes with them. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_look.h"
#include "pipeline/text.h"

struct sides {
    char     brace[FBY_PATH_SIZE]; /* "{images,masks}" */
    uint32_t n;
    char     first[FBY_NAME_SIZE];
    char     odd[FBY_NAME_SIZE]; /* a name that no brace can hold, or "" */
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
        snprintf(out->odd, sizeof(out->odd), "%s", name);
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

static fby_err look_at_sides(struct fby_look *look, const char *below,
    const char *name, struct fby_why *why)
{
    struct fby_guess_split *split = fby_look_begin(look, name);
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_PARALLEL};
    if (split == NULL) {
        return FBY_OK;
    }
    look->out->kind = FBY_SOURCE_PARALLEL;
    fby_err err     = fby_look_letters(fby_root_dir(look->root), why);
    if (err == FBY_OK) {
        err = fby_look_index(look, &spec, below, &index, why);
    }
    if (err == FBY_OK) {
        err = fby_look_take(split, &index, why);
    }
    fby_index_fini(&index);
    return err == FBY_OK ? fby_look_pattern(look, below, split, why) : err;
}

/* Splits within the folders, images/train beside masks/train. */
static fby_err look_within(struct fby_look *look, const char *path,
    const struct sides *sides, const struct fby_listing *within,
    struct fby_why *why)
{
    char    brace[FBY_PATH_SIZE];
    char    below[FBY_PATH_SIZE];
    fby_err err = fby_path_join(path, sides->brace, brace, why);
    for (uint32_t i = 0; err == FBY_OK && i < within->count; i++) {
        const char *name = within->entries[i].name;
        const char *word = fby_look_word(name);
        if (!within->entries[i].is_dir || word == NULL ||
            strcmp(word, name) != 0) {
            continue;
        }
        err = fby_path_join(brace, name, below, why);
        if (err == FBY_OK) {
            err = look_at_sides(look, below, name, why);
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
    uint32_t           before = fby_look_found(look);
    find_sides(listing, &sides);
    if (!sides.pictures || !sides.partners) {
        return FBY_OK;
    }
    if (sides.odd[0] != '\0') {
        return fby_because(why, FBY_CONFIG,
            "the folder %s is one of parallel ones, as it seems; their names "
            "are lower-case letters, digits, _ and -: rename it",
            fby_text_show(sides.odd).text);
    }
    fby_err err = fby_path_join(path, sides.first, below, why);
    if (err == FBY_OK) {
        err = fby_listing_read(look->root, below, NULL, &within, why);
    }
    if (err == FBY_OK) {
        err = look_within(look, path, &sides, &within, why);
    }
    fby_listing_fini(&within);
    if (err != FBY_OK || fby_look_found(look) > before) {
        return err;
    }
    err = fby_path_join(path, sides.brace, below, why);
    return err == FBY_OK ? look_at_sides(look, below, look->name, why) : err;
}
