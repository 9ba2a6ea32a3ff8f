/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - manifests stored on disk, one file for each source.
 *
 * A cache file has the canonical bytes of each shard (manifest.h) and the
 * stamps of its data files (identity, size and times: object.h), and a checksum
 * at the end. A cache file that is damaged, of another version or of another
 * source is treated as missing, and the next scan replaces it. */
#ifndef FBY_WORKER_SOURCE_CACHE_H
#define FBY_WORKER_SOURCE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/types.h"
#include "worker/source/shard.h"

struct fby_cached_manifest {  /* the content of a cache file */
    struct fby_shard *shards; /* in byte order of names */
    uint32_t          count;  /* number of shards */
    bool              hashed; /* all shards have checksums */
};

void fby_cached_manifest_fini(struct fby_cached_manifest *self);

/* `source` below is a text that identifies a source: kind, location, settings.
 * Release *out with fby_cached_manifest_fini(), also after an error. */

/* Decode the bytes of a cache file.
 * Errors: FBY_PROTO      damaged, or another version
 *         FBY_NOT_FOUND  another source */
FBY_CHECKED fby_err fby_cache_decode(const uint8_t *data, size_t size,
    const char *source, struct fby_cached_manifest *out,
    struct fby_error_detail *why);

/* Write the path of the cache file of `source` in the directory `dir`; NULL
 * means the user's cache directory (dataset.h).
 * Errors: FBY_NOT_FOUND  there is no such directory. */
FBY_CHECKED fby_err fby_cache_path(
    const char *dir, const char *source, char out[FBY_PATH_SIZE]);

/* Load the cache file at `path`.
 * Errors: those of fby_cache_decode
 *         FBY_NOT_FOUND  there is no such file;  FBY_IO */
FBY_CHECKED fby_err fby_cache_load(const char *path, const char *source,
    struct fby_cached_manifest *out, struct fby_error_detail *why);

/* Write a cache file under another name, then rename it to `path`. Missing
 * directories are made. A manifest without checksums does not replace a stored
 * manifest that has checksums and the same stamps.
 * Blocks: while another process stores a file in this directory.
 * Errors: FBY_IO. */
FBY_CHECKED fby_err fby_cache_store(const char *path, const char *source,
    const struct fby_cached_manifest *manifest, struct fby_error_detail *why);

#endif
