/* SPDX-License-Identifier: Apache-2.0 */
/* tar_header.h - one 512-byte block of a tar file, and pax records.
 *
 * Pure functions over untrusted bytes: no field is read beyond its size in the
 * block, and every number is checked before it is used. */
#ifndef FBY_WORKER_SOURCE_SHARDS_TAR_HEADER_H
#define FBY_WORKER_SOURCE_SHARDS_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { FBY_TAR_BLOCK = 512, FBY_TAR_NAME_SIZE = 4096 }; /* in bytes */

struct fby_tar_header {
    char     type; /* '0' file, '5' directory, 'x' pax, ...; NUL becomes '0' */
    uint64_t size; /* bytes that follow, before padding */
    char     name[FBY_TAR_NAME_SIZE]; /* prefix and name joined */
};

/* Is the block the end mark, which is all zeros? */
bool fby_tar_is_zero(const uint8_t block[FBY_TAR_BLOCK]);

/* Parse a header block.
 * Errors: FBY_CONFIG  a wrong checksum, or a damaged number. */
FBY_CHECKED fby_err fby_tar_header_parse(const uint8_t block[FBY_TAR_BLOCK],
    struct fby_tar_header *out, struct fby_error_detail *why);

/* Properties of the next member from pax records or a GNU long name. */
struct fby_tar_extras {
    bool     has_name;
    bool     has_size;
    bool     sparse; /* GNU: the member's data is stored without its holes */
    uint64_t size;   /* bytes; valid if has_size */
    char     name[FBY_TAR_NAME_SIZE];
};

/* Apply the pax records in `text`, such as "27 path=...\n", to `out`.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_tar_pax_parse(const char *text, size_t size,
    struct fby_tar_extras *out, struct fby_error_detail *why);

/* Set out->name to a GNU long name. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_tar_long_name(const char *text, size_t size,
    struct fby_tar_extras *out, struct fby_error_detail *why);

/* Tell the format ("gzip", "zstd", ...) of a compressed file from its first
 * bytes; NULL if it is not compressed. */
const char *fby_tar_detect_compression(const uint8_t *data, size_t size);

#endif
