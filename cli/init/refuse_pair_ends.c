/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_pair_ends.c - refuse two folders, of which one has a name of pairs, whose file
 * names differ only at their begin and end: hazy/01_hazy.jpg and GT/01_GT.jpg.
 *
 * The comparison removes from each name the beginning that all names of its folder
 * share, and the end. The files are pairs if both folders have the same remainders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_pairs.h"
#include "common/hash.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/source/shard.h"

enum {
    MAX_FILES = 65536 /* of a folder that are compared */
};

struct ended_folder {
    char     first[FBY_PATH_SIZE]; /* the name of the first file */
    size_t   size;                 /* of it up to the first dot */
    size_t   begin, end;           /* bytes that all names begin and end with */
    uint64_t n_files;
    uint64_t sum;        /* of the hashes of the rests of the names */
    bool     has_others; /* folders, or too many files */
};

/* Shorten what all names begin and end with. */
static fby_err compare_name(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct ended_folder  *self = arg;
    struct fby_name_parts parts;
    size_t                n = 0;
    (void)why;
    if (entry->is_dir || self->n_files == MAX_FILES) {
        self->has_others = true;
        return FBY_GONE;
    }
    if (!fby_name_split(entry->name, &parts) ||
        parts.key_size >= sizeof(self->first)) {
        return FBY_OK;
    }
    if (self->n_files++ == 0) {
        snprintf(self->first, sizeof(self->first), "%.*s", (int)parts.key_size,
            entry->name);
        self->size = self->begin = self->end = parts.key_size;
    }
    while (n < self->begin && n < parts.key_size &&
           entry->name[n] == self->first[n]) {
        n++;
    }
    self->begin = n;
    n           = 0;
    while (n < self->end && n < parts.key_size &&
           entry->name[parts.key_size - 1 - n] ==
               self->first[self->size - 1 - n]) {
        n++;
    }
    self->end = n;
    return FBY_OK;
}

/* Add the rest of a name. */
static fby_err add_rest(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct ended_folder  *self = arg;
    struct fby_name_parts parts;
    (void)why;
    if (!entry->is_dir && fby_name_split(entry->name, &parts) &&
        parts.key_size >= self->begin + self->end) {
        self->sum += fby_xxh3_64(entry->name + self->begin,
            parts.key_size - self->begin - self->end);
    }
    return FBY_OK;
}

static bool read_folder(struct fby_search *search, const char *path,
    const char *name, struct ended_folder *out)
{
    char below[FBY_PATH_SIZE];
    return fby_path_join(path, name, below, NULL) == FBY_OK &&
           fby_guess_visit_dir(
               search, below, NULL, compare_name, out, NULL, NULL) == FBY_OK &&
           !out->has_others && out->n_files > 1 &&
           fby_guess_visit_dir(
               search, below, NULL, add_rest, out, NULL, NULL) == FBY_OK;
}

/* Have the two folders the same names but for their begins and ends? */
static bool are_pairs(
    struct fby_search *search, const char *path, const char *const names[2])
{
    struct ended_folder *folders = fby_zalloc(2 * sizeof(*folders));
    bool found = read_folder(search, path, names[0], &folders[0]) &&
                 read_folder(search, path, names[1], &folders[1]) &&
                 folders[0].n_files == folders[1].n_files &&
                 folders[0].sum == folders[1].sum;
    free(folders);
    return found;
}

fby_err fby_refuse_pair_ends(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char *names[FBY_FEW_FOLDERS];
    const char *pair[2];
    uint32_t    n     = fby_guess_name_folders(listing, names);
    bool        found = false;
    for (uint32_t i = 0; i < n && !found; i++) {
        for (uint32_t k = i + 1; k < n && !found; k++) {
            pair[0] = names[i];
            pair[1] = names[k];
            found =
                fby_guess_have_role(pair, 2) && are_pairs(search, path, pair);
        }
    }
    if (!found) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s and %s have file names that differ only at their ends, so they "
        "look like pairs, not classes: give the files of a pair one name, as "
        "images/7.jpg and masks/7.png, and name the folders images and masks; "
        "if they are classes, add --class-depth 1",
        fby_text_show_begin(pair[0], 60).text,
        fby_text_show_begin(pair[1], 60).text);
}
