/* SPDX-License-Identifier: Apache-2.0 */
/* survey.c - look into a few folders: see survey.h. */
#include "cli/init/survey.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/init/names.h"
#include "cli/init/split_names.h"
#include "common/mem.h"
#include "pipeline/unread.h"

enum { MAX_ENTRIES = 4096 /* of a folder */, MAX_DEPTH = 3 /* below it */ };

struct survey_walk { /* one folder of the survey */
    struct fby_search        *search;
    struct fby_survey_folder *out;
    uint32_t                  n_entries;
};

struct survey_dir { /* the current folder */
    struct survey_walk *walk;
    const char         *path; /* relative to the folder of the survey */
    unsigned            depth;
    struct fby_listing  dirs; /* the folders in it */
};

/* An entry of a folder; FBY_GONE ends the survey of it. */
static fby_err look_at_entry(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct survey_dir        *dir  = arg;
    struct survey_walk       *walk = dir->walk;
    struct fby_survey_folder *out  = walk->out;
    const char               *split;
    char                      path[FBY_PATH_SIZE];
    if (walk->n_entries++ == MAX_ENTRIES) {
        return FBY_GONE;
    }
    if (entry->is_dir) {
        split          = fby_split_of_folder(entry->name);
        bool is_train  = split != NULL && strcmp(split, "train") == 0;
        out->has_train = out->has_train || (is_train && dir->depth == 0);
        out->has_dirs  = out->has_dirs || dir->depth == 0;
        return fby_listing_add(&dir->dirs, entry, why);
    }
    out->has_files = out->has_files || dir->depth == 0;
    if (fby_init_is_any_picture(entry->name) && out->picture == NULL &&
        fby_path_join(dir->path, entry->name, path, NULL) == FBY_OK) {
        out->picture = fby_strdup(path);
    }
    return out->picture != NULL && dir->depth > 0 ? FBY_GONE : FBY_OK;
}

static fby_err look_into(struct survey_walk *walk, const char *parent,
    const char *path, unsigned depth)
{
    struct survey_dir dir = {.walk = walk, .path = path, .depth = depth};
    char              below[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(parent, path, below, NULL));
    fby_err err = fby_guess_visit_dir(
        walk->search, below, NULL, look_at_entry, &dir, NULL, NULL);
    if (err == FBY_OK && depth == MAX_DEPTH && dir.dirs.count > 0) {
        err = FBY_GONE;
    }
    for (uint32_t i = 0;
         err == FBY_OK && walk->out->picture == NULL && i < dir.dirs.count;
         i++) {
        err = fby_path_join(path, dir.dirs.entries[i].name, below, NULL);
        err = err == FBY_OK ? look_into(walk, parent, below, depth + 1) : err;
    }
    fby_listing_fini(&dir.dirs);
    return err;
}

void fby_survey_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_survey *out)
{
    const char *first;
    char        parent[FBY_PATH_SIZE];
    *out = (struct fby_survey){.n = 0};
    if (fby_guess_count_dirs(listing, &first) > FBY_SURVEY_FOLDERS) {
        return;
    }
    for (uint32_t i = 0; i < listing->count; i++) {
        struct fby_survey_folder *folder = &out->folders[out->n];
        struct survey_walk        walk   = {.search = search, .out = folder};
        const char               *name   = listing->entries[i].name;
        if (listing->entries[i].is_dir) {
            folder->name = name;
            fby_err err  = fby_path_join(path, name, parent, NULL);
            err = err == FBY_OK ? look_into(&walk, parent, "", 0) : err;
            folder->is_whole = err == FBY_OK || folder->picture != NULL;
            folder->is_empty = walk.n_entries == 0;
            out->n++;
        }
    }
}

void fby_survey_fini(struct fby_survey *self)
{
    for (uint32_t i = 0; i < self->n; i++) {
        free(self->folders[i].picture);
    }
}
