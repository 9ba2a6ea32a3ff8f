/* SPDX-License-Identifier: Apache-2.0 */
/* guess_search.c - the splits of a search, and its directories. */
#include "cli/init/guess_search.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/names.h"
#include "cli/init/split_names.h"
#include "pipeline/text.h"

bool fby_guess_has_split(const struct fby_search *search, const char *name)
{
    for (uint32_t i = 0; i < search->out->n_splits; i++) {
        if (strcmp(search->out->splits[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

struct fby_guess_split *fby_guess_add_split(
    struct fby_search *search, const char *name)
{
    if (search->out->n_splits == FBY_GUESS_SPLITS) {
        search->out->n_left_out++;
        return NULL;
    }
    struct fby_guess_split *split =
        &search->out->splits[search->out->n_splits++];
    memset(split, 0, sizeof(*split));
    snprintf(split->name, sizeof(split->name), "%s", name);
    return split;
}

void fby_guess_name_of_split(
    const struct fby_search *search, const char *stem, char out[FBY_NAME_SIZE])
{
    const char *word   = fby_split_word(stem);
    size_t      length = strnlen(stem, FBY_NAME_SIZE - 1);
    while (length > 0 && strchr("-_.", stem[length - 1]) != NULL) {
        length--;
    }
    snprintf(out, FBY_NAME_SIZE, "%s", word != NULL ? word : "");
    if (word == NULL || fby_guess_has_split(search, out)) {
        snprintf(out, FBY_NAME_SIZE, "%.*s", (int)length, stem);
    }
    if (fby_guess_has_split(search, out) || !fby_text_is_name(out)) {
        snprintf(out, FBY_NAME_SIZE, "split%u", search->out->n_splits + 1);
    }
}

fby_err fby_refuse_name(const char *name, struct fby_error_detail *why)
{
    if (strpbrk(name, "{}*?,") == NULL) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "the name of %s has a special character of patterns; rename it",
        fby_text_show(name).text);
}

fby_err fby_guess_set_pattern(const struct fby_search *search,
    const char *below, struct fby_guess_split *split,
    struct fby_error_detail *why)
{
    return fby_path_join(
        fby_root_dir(search->root), below, split->pattern, why);
}

fby_err fby_guess_index(const struct fby_search *search,
    struct fby_dataset_spec *spec, const char *below, struct fby_index *out,
    struct fby_error_detail *why)
{
    char pattern[FBY_PATH_SIZE + 8]; /* "data" is the name of search->root */
    snprintf(pattern, sizeof(pattern), "data:%s", below);
    spec->roots     = search->roots;
    spec->pattern   = pattern;
    spec->cache_dir = ""; /* no cache */
    fby_err err     = fby_index_build(spec, search->progress, out, why);
    spec->pattern   = NULL; /* the array is local */
    return err;
}

/* ---- directories ---- */

/* The types of files of which there may be very many, and no guess needs more
 * than one of each in the listing of a directory. */
static const char *const numerous_types[] = {"jpg", "jpeg", "png", "webp",
    "tif", "tiff", "gif", "bmp", "txt", "json", "xml", "cls"};
enum { NUMEROUS_TYPES = sizeof(numerous_types) / sizeof(numerous_types[0]) };

struct listing_filter {
    struct fby_listing *out;
    bool                is_listed[NUMEROUS_TYPES]; /* one is in the listing */
};

/* The index in numerous_types; NUMEROUS_TYPES: none. */
static size_t find_numerous_type(const char *name)
{
    const char *dot = strrchr(name, '.');
    size_t      i   = dot != NULL ? 0 : NUMEROUS_TYPES;
    while (i < NUMEROUS_TYPES &&
           !fby_equal_ignoring_case(dot + 1, numerous_types[i])) {
        i++;
    }
    return i;
}

static fby_err add_entry(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct listing_filter *filter = arg;
    size_t                 type   = find_numerous_type(entry->name);
    if (!entry->is_dir && type < NUMEROUS_TYPES) {
        if (filter->is_listed[type]) {
            return FBY_OK;
        }
        filter->is_listed[type] = true;
    }
    return fby_listing_add(filter->out, entry, why);
}

fby_err fby_guess_visit_dir(struct fby_search *search, const char *path,
    const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why)
{
    bool     before       = search->ignores_links;
    uint32_t n            = 0;
    search->ignores_links = true;
    fby_err err = fby_listing_visit(search->root, path, glob, visit, arg,
        n_dangling != NULL ? n_dangling : &n, why);
    search->ignores_links = before;
    return err;
}

fby_err fby_guess_list_dir(struct fby_search *search, const char *path,
    const char *glob, struct fby_listing *out, struct fby_error_detail *why)
{
    struct listing_filter filter = {.out = out};
    fby_err               err    = fby_guess_visit_dir(
                         search, path, glob, add_entry, &filter, &out->n_dangling, why);
    fby_listing_sort(out);
    return err;
}

bool fby_guess_has_file(
    const struct fby_root *root, const char *dir, const char *file)
{
    char below[FBY_PATH_SIZE];
    return fby_path_join(dir, file, below, NULL) == FBY_OK &&
           fby_object_exists(root, below);
}

bool fby_guess_read_begin(const struct fby_root *root, const char *dir,
    const char *file, char *out, size_t size)
{
    struct fby_object object;
    char              below[FBY_PATH_SIZE];
    size_t            n = size - 1;
    if (fby_path_join(dir, file, below, NULL) != FBY_OK ||
        fby_object_open(root, below, &object, NULL) != FBY_OK) {
        return false;
    }
    fby_err err = fby_object_read_some(&object, 0, out, &n, NULL);
    fby_object_close(&object);
    out[err == FBY_OK ? n : 0] = '\0';
    return err == FBY_OK;
}

static bool has_picture(const struct fby_root *root, const char *dir,
    const char *stem, size_t size, const char *ending)
{
    char file[FBY_PATH_SIZE];
    snprintf(file, sizeof(file), "%.*s%s", (int)size, stem, ending);
    return fby_guess_has_file(root, dir, file);
}

bool fby_guess_find_picture(const struct fby_root *root, const char *dir,
    const char *stem, size_t size, char ending[FBY_NAME_SIZE])
{
    for (int is_upper = 0; is_upper < 2; is_upper++) {
        for (size_t i = 0; fby_init_pictures[i] != NULL; i++) {
            snprintf(ending, FBY_NAME_SIZE, ".%s", fby_init_pictures[i]);
            for (char *c = ending; is_upper == 1 && *c != '\0'; c++) {
                *c = (char)toupper((unsigned char)*c);
            }
            if (has_picture(root, dir, stem, size, ending)) {
                return true;
            }
        }
    }
    return false;
}

const char *fby_guess_find_file(
    const struct fby_listing *listing, const char *ending)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (!entry->is_dir && fby_text_ends_with(entry->name, ending)) {
            return entry->name;
        }
    }
    return NULL;
}

uint32_t fby_guess_count_dirs(
    const struct fby_listing *listing, const char **first)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        if (listing->entries[i].is_dir && n++ == 0) {
            *first = listing->entries[i].name;
        }
    }
    return n;
}

const char *fby_guess_find_only_dir(const struct fby_listing *listing)
{
    const char *first = NULL;
    return fby_guess_count_dirs(listing, &first) == 1 ? first : NULL;
}
