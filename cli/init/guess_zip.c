/* SPDX-License-Identifier: Apache-2.0 */
/* guess_zip.c - look for data in zip archives.
 *
 * A zip archive is read as a folder of pictures: class folders, pictures alone,
 * or parallel folders, perhaps with a folder for each split. Many archives have
 * one folder at the top, which is entered. */
#include "cli/init/guess_zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/mem.h"
#include "pipeline/location.h"
#include "pipeline/text.h"
#include "worker/source/zip/archive.h"

static bool is_zip(const struct fby_entry *entry)
{
    size_t n = strlen(entry->name);
    return !entry->is_dir && fby_location_zip_length(entry->name, 0) == n;
}

bool fby_guess_is_zip_path(const char *path)
{
    return fby_location_zip_length(path, 0) > 0;
}

char *fby_guess_resolve(const char *path, const char **within)
{
    char *real = realpath(path, NULL);
    *within    = "";
    for (size_t end = fby_location_zip_length(path, 0);
         real == NULL && errno == ENOTDIR && end > 0;
         end = fby_location_zip_length(path, end)) {
        char *archive = fby_strdup(path);
        archive[end]  = '\0';
        real          = realpath(archive, NULL);
        *within       = path + end;
        free(archive);
    }
    return real;
}

/* While the folder `path` has only one entry, a folder, add that to the path.
 * A user who gave the depth of the class folders means them from `path` on. */
static fby_err enter_only_folders(const struct fby_search *search,
    char path[FBY_PATH_SIZE], struct fby_error_detail *why)
{
    bool    goes_on = search->class_depth == FBY_GUESS_ANY_DEPTH;
    fby_err err     = FBY_OK;
    while (goes_on && err == FBY_OK) {
        struct fby_listing listing = {0};
        char               below[FBY_PATH_SIZE];
        err = fby_listing_read(search->root, path, NULL, &listing, why);
        goes_on =
            err == FBY_OK && listing.count == 1 && listing.entries[0].is_dir;
        if (goes_on) {
            err = fby_path_join(path, listing.entries[0].name, below, why);
        }
        if (goes_on && err == FBY_OK) {
            memcpy(path, below, sizeof(below));
        }
        fby_listing_fini(&listing);
    }
    return err;
}

fby_err fby_guess_zip(struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    const struct fby_root *root    = search->root;
    struct fby_archive    *archive = NULL;
    char                   folder[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(path, "", folder, why));
    fby_err err = fby_refuse_name(path, why);
    if (err == FBY_OK) {
        err = fby_refuse_zip_parts(search, path, why);
    }
    if (err == FBY_OK) {
        err = fby_archive_open(root, path, NULL, &archive, why);
    }
    if (err == FBY_OK && archive == NULL) {
        err = fby_error_set(
            why, FBY_CONFIG, "%s is no plain file", fby_text_show(path).text);
    }
    if (err == FBY_OK) {
        search->root         = fby_archive_root(archive);
        search->in_zip       = true;
        search->only_file[0] = '\0';
        err                  = enter_only_folders(search, folder, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_splits_below(search, folder, name, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_class_texts(search, why);
    }
    search->root   = root;
    search->in_zip = false;
    fby_archive_destroy(&archive);
    if (search->must_unpack && fby_guess_advise_unzip(search, path, folder)) {
        const struct fby_error_detail said = *why;
        (void)fby_error_set(why, err, "%s:", said.text);
    }
    return err;
}

/* Add the archives whose names have a split word, each word once. */
static fby_err add_named_archives(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        const char *word = is_zip(entry) ? fby_split_word(entry->name) : NULL;
        char        below[FBY_PATH_SIZE];
        if (word != NULL && !fby_guess_has_split(search, word)) {
            err = fby_path_join(path, entry->name, below, why);
            err = err == FBY_OK ? fby_guess_zip(search, below, word, why) : err;
        }
    }
    return err;
}

fby_err fby_guess_zips(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    const struct fby_entry *only      = NULL;
    uint32_t                n         = 0;
    bool                    has_train = false;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (is_zip(entry)) {
            const char *word = fby_split_word(entry->name);
            has_train = has_train || (word != NULL && !strcmp(word, "train"));
            only      = entry;
            n++;
        }
    }
    char below[FBY_PATH_SIZE];
    if (n > 1 && has_train) {
        return add_named_archives(search, path, listing, why);
    }
    if (n != 1) {
        return n == 0 ? FBY_OK : fby_refuse_zips(search, path, listing, why);
    }
    const char *evaluation = fby_evaluation_split_of(only->name);
    if (path[0] == '\0' && evaluation != NULL) {
        search->main_split = name = evaluation;
    }
    FBY_TRY(fby_path_join(path, only->name, below, why));
    return fby_guess_zip(search, below, name, why);
}
