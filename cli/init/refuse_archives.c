/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_archives.c - zip archives that are not read: parts of a split archive,
 * and archives that hold archives. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_zip.h"
#include "common/shell.h"
#include "pipeline/location.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

/* Copy the name of the archive in `path`, without ".zip". */
static void copy_stem(const char *path, char out[FBY_PATH_SIZE])
{
    size_t n = fby_location_zip_length(path, 0);
    snprintf(out, FBY_PATH_SIZE, "%.*s", (int)(n - strlen(".zip")), path);
}

fby_err fby_refuse_zip_parts(const struct fby_search *search, const char *path,
    struct fby_error_detail *why)
{
    char stem[FBY_PATH_SIZE];
    char part[FBY_PATH_SIZE + 8];
    copy_stem(path, stem);
    snprintf(part, sizeof(part), "%s.z01", stem);
    struct fby_unread unread;
    return fby_object_exists(search->root, part) &&
                   fby_unread_file(part, &unread)
               ? fby_error_set(why, FBY_CONFIG, "%s", unread.text)
               : FBY_OK;
}

/* The first archive in a listing; NULL: none. */
static const char *find_archive(const struct fby_listing *listing)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const char       *name = listing->entries[i].name;
        struct fby_unread unread;
        if (!listing->entries[i].is_dir &&
            (fby_text_ends_with(name, ".tar") ||
                fby_unread_file(name, &unread))) {
            return name;
        }
    }
    return NULL;
}

fby_err fby_refuse_zip(const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    char        stem[FBY_PATH_SIZE];
    char        command[160];
    const char *inner = find_archive(listing);
    copy_stem(path, stem);
    int n =
        snprintf(command, sizeof(command), ": unzip %s.zip -d %s", stem, stem);
    bool has_command = n < (int)sizeof(command) && fby_shell_is_plain(stem);
    return fby_error_set(why, FBY_CONFIG,
        "the archive has no pictures (.jpg, .jpeg, .png, .webp)%s%s; a zip "
        "archive is read only as a folder of pictures: unpack it%s",
        inner != NULL ? ", but " : "",
        inner != NULL ? fby_text_show(inner).text : "",
        has_command ? command : "");
}
