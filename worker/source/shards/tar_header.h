/* tar_header.h - one 512-byte block of a tar file, and pax records.
 *
 * Pure functions over bytes that nobody vouches for: every field is bounded by
 * its place in the block, every number checked before it is used. */
#ifndef FBY_WORKER_SOURCE_SHARDS_TAR_HEADER_H
#define FBY_WORKER_SOURCE_SHARDS_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { FBY_TAR_BLOCK = 512, FBY_TAR_NAME_SIZE = 4096 };

struct fby_tar_header {
    char     type; /* '0' file, '5' directory, 'x' pax, ...; NUL becomes '0' */
    uint64_t size; /* bytes that follow, before padding */
    char     name[FBY_TAR_NAME_SIZE]; /* prefix and name joined */
};

bool fby_tar_is_zero(const uint8_t block[FBY_TAR_BLOCK]);

/* Parse a header block. Errors: FBY_CONFIG: checksum, or a field that is no
 * number. */
FBY_CHECKED fby_err fby_tar_header_parse(const uint8_t block[FBY_TAR_BLOCK],
    struct fby_tar_header *out, struct fby_why *why);

/* What pax records, or a GNU long name, say about the next member. */
struct fby_tar_extras {
    bool     has_name;
    bool     has_size;
    bool     sparse;
    uint64_t size;
    char     name[FBY_TAR_NAME_SIZE];
};

/* Add the pax records ("27 path=...\n" one after another) of `text`. */
FBY_CHECKED fby_err fby_tar_pax_parse(const char *text, size_t size,
    struct fby_tar_extras *out, struct fby_why *why);

/* Add a GNU long name. */
FBY_CHECKED fby_err fby_tar_long_name(const char *text, size_t size,
    struct fby_tar_extras *out, struct fby_why *why);

/* "gzip", "zstd", ... when the first bytes are those of a compressed file;
 * NULL when they are not. */
const char *fby_tar_compression(const uint8_t *data, size_t size);

#endif
