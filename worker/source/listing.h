/* listing.h - the entries of one directory beneath a root, in byte order.
 *
 * Links are followed here, beneath the root or not at all, so that what comes
 * out are plain files and directories with the stamps of what they lead to.
 * Hidden entries, sockets, pipes and devices are passed over. */
#ifndef FBY_WORKER_SOURCE_LISTING_H
#define FBY_WORKER_SOURCE_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/roots.h"
#include "worker/source/shard.h"

struct fby_entry {
    char            *name; /* one component */
    bool             is_dir;
    struct fby_stamp stamp;
};

struct fby_listing {
    struct fby_entry *entries;
    uint32_t          count;
};

/* List `path` ("" is the root itself), all or what `glob` (may be NULL)
 * matches. Release `out` with fini, also after an error.
 *
 * Errors: FBY_NOT_FOUND  no such directory, or a link to nothing
 *         FBY_USAGE      a link leads out of the root
 *         FBY_IO */
FBY_CHECKED fby_err fby_listing_read(const struct fby_root *root,
    const char *path, const char *glob, struct fby_listing *out,
    struct fby_why *why);
void                fby_listing_fini(struct fby_listing *self);

/* Is one of them a directory? */
bool fby_listing_has_dirs(const struct fby_listing *self);

/* Write `dir`/`name` ("" is no directory) to `out`.
 * Errors: FBY_CONFIG when it does not fit. */
FBY_CHECKED fby_err fby_path_join(const char *dir, const char *name,
    char out[FBY_PATH_SIZE], struct fby_why *why);

#endif
