/* cache.h - manifests kept on disk, one file a source.
 *
 * A file holds each shard's canonical bytes and, beside them, the stamps of
 * its files; a checksum stands at the end. What does not check out, or is of
 * another version or source, counts as absent: the next scan replaces it. */
#ifndef FBY_WORKER_SOURCE_CACHE_H
#define FBY_WORKER_SOURCE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/types.h"
#include "worker/source/shard.h"

struct fby_cached {
    struct fby_shard *shards; /* in byte order of names */
    uint32_t          count;
    bool              hashed;
};

void fby_cached_fini(struct fby_cached *self);

/* Decode a cache file's bytes; release `out` with fini, also after an error.
 * Errors: FBY_PROTO      damaged, or another version
 *         FBY_NOT_FOUND  another source */
FBY_CHECKED fby_err fby_cache_decode(const uint8_t *data, size_t size,
    const char *source, struct fby_cached *out, struct fby_why *why);

/* The file for `source` in `dir` (NULL: $FOREBAY_CACHE_DIR, else
 * $XDG_CACHE_HOME/forebay, else ~/.cache/forebay).
 * Errors: FBY_NOT_FOUND when there is no such directory to name. */
FBY_CHECKED fby_err fby_cache_path(
    const char *dir, const char *source, char out[FBY_PATH_SIZE]);

/* Load it. Errors: as decode; FBY_NOT_FOUND, FBY_IO. */
FBY_CHECKED fby_err fby_cache_load(const char *path, const char *source,
    struct fby_cached *out, struct fby_why *why);

/* Write it under another name, then rename it; makes missing directories. What
 * is not hashed never replaces a file that has sums of the same files.
 * Blocks: while another process does the same in this directory.
 * Errors: FBY_IO. */
FBY_CHECKED fby_err fby_cache_store(const char *path, const char *source,
    const struct fby_cached *what, struct fby_why *why);

#endif
