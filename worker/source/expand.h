/* expand.h - the shards that a pattern means: braces written out, globs looked
 * up beneath the root; in byte order, each once. */
#ifndef FBY_WORKER_SOURCE_EXPAND_H
#define FBY_WORKER_SOURCE_EXPAND_H

#include <stdint.h>

#include "common/err.h"
#include "pipeline/location.h"
#include "worker/source/roots.h"

enum { FBY_MAX_SHARDS = FBY_MAX_EXPANSION };

struct fby_names {
    char   **at;
    uint32_t count;
};

enum fby_expand_want {
    FBY_EXPAND_FILES,
    FBY_EXPAND_TABLES /* folders and .npz files */
};

/* The names relative to `parts->base`. A name that only braces make is taken
 * as it is (whoever opens it will miss it); each glob must match something.
 * Release `out` with fini, also after an error.
 *
 * Errors: FBY_CONFIG     the pattern, or too many shards
 *         FBY_NOT_FOUND  a glob that matches nothing, a folder that is missing
 *         FBY_USAGE      a link leads out of the root;  FBY_IO */
FBY_CHECKED fby_err fby_expand(const struct fby_root *root,
    const struct fby_location_parts *parts, enum fby_expand_want want,
    struct fby_names *out, struct fby_why *why);
void                fby_names_fini(struct fby_names *self);

#endif
