/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_pair_ends.c - refuse two folders, of which one has a name of pairs, whose file
 * names differ only at their begin and end: hazy/01_hazy.jpg and GT/01_GT.jpg.
 *
 * The comparison removes from each name the beginning that all names of its folder
 * share, and the end, without digits. The files are pairs if both folders have the same
 * remainders, of which a few may be missing. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_pairs.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/source/shard.h"

enum {
    MAX_FILES = 65536 /* of a folder that are compared */
};

struct ended_folder {
    char        first[FBY_PATH_SIZE]; /* the name of the first file */
    size_t      size;                 /* of it up to the first dot */
    size_t      begin, end; /* bytes that all names begin and end with */
    uint64_t    n_files;
    bool        has_others; /* folders, or too many files */
    uint64_t   *rests;      /* the hashes of the rests of the names; sorted */
    uint32_t    n_rests;
    uint64_t    lone; /* that of a file without a partner */
    const char *path; /* for a search for its name */
    char       *lone_name;
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

/* The number in a name differs, also where its first or last digit does not. */
static void leave_digits(struct ended_folder *self)
{
    while (self->begin > 0 &&
           isdigit((unsigned char)self->first[self->begin - 1])) {
        self->begin--;
    }
    while (self->end > 0 &&
           isdigit((unsigned char)self->first[self->size - self->end])) {
        self->end--;
    }
}

/* Hash the rest of a name. Returns false for one that is no member. */
static bool hash_rest(const struct ended_folder *self,
    const struct fby_entry *entry, uint64_t *out)
{
    struct fby_name_parts parts;
    bool is_one = !entry->is_dir && fby_name_split(entry->name, &parts) &&
                  parts.key_size >= self->begin + self->end;
    *out = is_one ? fby_xxh3_64(entry->name + self->begin,
                        parts.key_size - self->begin - self->end)
                  : 0;
    return is_one;
}

static fby_err add_rest(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct ended_folder *self = arg;
    uint64_t             hash;
    (void)why;
    if (hash_rest(self, entry, &hash)) {
        self->rests =
            fby_array_grow(self->rests, self->n_rests, sizeof(*self->rests));
        self->rests[self->n_rests++] = hash;
    }
    return FBY_OK;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool read_folder(struct fby_search *search, const char *path,
    const char *name, struct ended_folder *out)
{
    char below[FBY_PATH_SIZE];
    if (fby_path_join(path, name, below, NULL) != FBY_OK ||
        fby_guess_visit_dir(
            search, below, NULL, compare_name, out, NULL, NULL) != FBY_OK ||
        out->has_others || out->n_files < 2) {
        return false;
    }
    leave_digits(out);
    bool is_read = fby_guess_visit_dir(search, below, NULL, add_rest, out, NULL,
                       NULL) == FBY_OK &&
                   out->n_rests > 0;
    if (is_read) {
        qsort(out->rests, out->n_rests, sizeof(*out->rests), compare_hashes);
    }
    return is_read;
}

/* The number of rests that the other folder has, too. Keeps one that it lacks. */
static uint32_t count_shared(
    struct ended_folder *self, const struct ended_folder *other)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < self->n_rests; i++) {
        bool is_shared = bsearch(&self->rests[i], other->rests, other->n_rests,
                             sizeof(*other->rests), compare_hashes) != NULL;
        self->lone     = is_shared ? self->lone : self->rests[i];
        n += is_shared ? 1 : 0;
    }
    return n;
}

static fby_err match_lone(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    const struct ended_folder *self = arg;
    uint64_t                   hash;
    (void)why;
    if (!hash_rest(self, entry, &hash) || hash != self->lone) {
        return FBY_OK;
    }
    fby_err err = fby_path_join(self->path, entry->name, self->lone_name, NULL);
    return err == FBY_OK ? FBY_GONE : err;
}

/* Have the folders nearly the same rests? Of a few files none may be missing. */
static bool compare_rests(struct fby_search *search, const char *path,
    const char *const names[2], struct ended_folder folders[2],
    char lone[FBY_PATH_SIZE])
{
    uint32_t shared    = count_shared(&folders[0], &folders[1]);
    uint32_t of_second = count_shared(&folders[1], &folders[0]);
    uint32_t most      = folders[0].n_rests > folders[1].n_rests
                             ? folders[0].n_rests
                             : folders[1].n_rests;
    if (shared != most &&
        (most < FBY_FEW_FILES || UINT64_C(4) * shared < UINT64_C(3) * most)) {
        return false;
    }
    uint32_t k = shared < folders[0].n_rests ? 0 : 1;
    char     below[FBY_PATH_SIZE];
    folders[k].path      = names[k];
    folders[k].lone_name = lone;
    if ((k == 0 || of_second < folders[1].n_rests) &&
        fby_path_join(path, names[k], below, NULL) == FBY_OK) {
        (void)!fby_guess_visit_dir(
            search, below, NULL, match_lone, &folders[k], NULL, NULL);
    }
    return true;
}

bool fby_guess_are_pair_ends(struct fby_search *search, const char *path,
    const char *const names[2], char lone[FBY_PATH_SIZE])
{
    struct ended_folder *folders = fby_zalloc(2 * sizeof(*folders));
    lone[0]                      = '\0';
    bool found = read_folder(search, path, names[0], &folders[0]) &&
                 read_folder(search, path, names[1], &folders[1]) &&
                 compare_rests(search, path, names, folders, lone);
    free(folders[0].rests);
    free(folders[1].rests);
    free(folders);
    return found;
}

fby_err fby_refuse_pair_ends(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char *names[FBY_FEW_FOLDERS];
    const char *pair[2];
    char        lone[FBY_PATH_SIZE];
    char        told[100] = "";
    uint32_t    n         = fby_guess_name_folders(listing, names);
    bool        found     = false;
    for (uint32_t i = 0; i < n && !found; i++) {
        for (uint32_t k = i + 1; k < n && !found; k++) {
            pair[0] = names[i];
            pair[1] = names[k];
            found   = fby_guess_have_role(pair, 2) &&
                    fby_guess_are_pair_ends(search, path, pair, lone);
        }
    }
    if (!found) {
        return FBY_OK;
    }
    if (lone[0] != '\0') {
        snprintf(told, sizeof(told), " (%s has no partner)",
            fby_text_show_begin(lone, 80).text);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s and %s have file names that differ only at their ends, so they "
        "look like pairs, not classes%s: give the files of a pair one name, as "
        "images/7.jpg and masks/7.png, and name the folders images and masks; "
        "if they are classes, add --class-depth 1",
        fby_text_show_begin(pair[0], 60).text,
        fby_text_show_begin(pair[1], 60).text, told);
}
