/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/storage.h"

#include <stdio.h>
#include <strings.h>

#include "pipeline/location.h"

static int64_t nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct fby_stamp fby_stamp_of(const struct stat *st)
{
    return (struct fby_stamp){
        .device   = st->st_dev,
        .inode    = st->st_ino,
        .size     = (uint64_t)st->st_size,
        .mtime_ns = nanoseconds(st->st_mtim),
        .ctime_ns = nanoseconds(st->st_ctim),
    };
}

const char *fby_stamp_change(
    const struct fby_stamp *indexed, const struct fby_stamp *now)
{
    if (now->device != indexed->device || now->inode != indexed->inode) {
        return "was replaced";
    }
    if (now->size > indexed->size) {
        return "was appended to";
    }
    if (now->size < indexed->size) {
        return "was cut short";
    }
    return now->mtime_ns != indexed->mtime_ns
               ? "was written to"
               : "had its links, owner or mode changed";
}

/* Is it an entry that is never data: hidden, or made by a system? */
static bool is_skipped(const char *name)
{
    static const char *const made_by_systems[] = {"Thumbs.db", "ehthumbs.db",
        "desktop.ini", "__MACOSX", "lost+found", "$RECYCLE.BIN",
        "System Volume Information", "@eaDir"};
    size_t n = sizeof(made_by_systems) / sizeof(made_by_systems[0]);
    size_t i = 0;
    while (i < n && strcasecmp(name, made_by_systems[i]) != 0) {
        i++;
    }
    return name[0] == '.' || i < n;
}

bool fby_listing_wants(
    const struct fby_listing_request *request, const char *name)
{
    return !is_skipped(name) &&
           (request->glob == NULL || fby_glob_match(request->glob, name));
}

fby_err fby_path_join(const char *dir, const char *name,
    char out[FBY_PATH_SIZE], struct fby_error_detail *why)
{
    int n = snprintf(out, FBY_PATH_SIZE, "%s%s%s", dir,
        dir[0] != '\0' && name[0] != '\0' ? "/" : "", name);
    if (n >= 0 && n < FBY_PATH_SIZE) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "a path of more than %d bytes, below %.100s", FBY_PATH_SIZE - 1, dir);
}
