/* SPDX-License-Identifier: Apache-2.0 */
/* guess_grey16.c - find PNG files of 16 bits in grey among other pictures: most
 * of their pixels turn white. The first files of some folders are looked at. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_members.h"
#include "cli/init/text_state.h"
#include "pipeline/text.h"

enum { MAX_FILES = 512, MAX_FOLDERS = 31 };

struct grey16_search {
    struct fby_search *search;
    const char        *dir;       /* below the root */
    const char        *extension; /* of the files, in any case */
    uint32_t           n_left;    /* files to look at */
    bool               found;
};

/* An entry of the folder; FBY_GONE ends the search. */
static fby_err look_at_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct grey16_search *self = arg;
    char                  path[FBY_PATH_SIZE];
    const char           *dot = strchr(entry->name, '.');
    (void)why;
    if (entry->is_dir || dot == NULL ||
        !fby_equal_ignoring_case(dot + 1, self->extension) ||
        fby_path_join(self->dir, entry->name, path, NULL) != FBY_OK) {
        return FBY_OK;
    }
    self->found = fby_guess_is_grey16(self->search->root, path);
    return self->found || --self->n_left == 0 ? FBY_GONE : FBY_OK;
}

static bool look_into(struct fby_search *search, const char *dir,
    const char *extension, uint32_t n_files)
{
    struct grey16_search self = {.search = search,
        .dir                             = dir,
        .extension                       = extension,
        .n_left                          = n_files};
    fby_err              err =
        fby_guess_visit_dir(search, dir, NULL, look_at_file, &self, NULL, NULL);
    return (err == FBY_OK || err == FBY_GONE) && self.found;
}

bool fby_guess_has_grey16(struct fby_search *search, const char *path,
    const struct fby_folder *folders, uint32_t n, const char *file,
    const char *extension)
{
    char        dir[FBY_PATH_SIZE];
    const char *slash = strrchr(file, '/');
    bool        found = false;
    n                 = n < MAX_FOLDERS ? n : MAX_FOLDERS;
    uint32_t n_files  = MAX_FILES / (n + 1);
    snprintf(dir, sizeof(dir), "%.*s", slash != NULL ? (int)(slash - file) : 0,
        file);
    found = look_into(search, dir, extension, n_files);
    for (uint32_t i = 0; !found && i < n; i++) {
        found = fby_path_join(path, folders[i].name, dir, NULL) == FBY_OK &&
                look_into(search, dir, extension, n_files);
    }
    return found;
}
