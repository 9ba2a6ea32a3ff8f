/* SPDX-License-Identifier: Apache-2.0 */
/* zip.h - find the members of a zip file.
 *
 * The directory at the end of the file lists the members. Sizes and offsets may
 * be in zip64 fields, which NumPy always writes. Each member has a header
 * before its bytes; only the length of the header is used. All functions are
 * pure, and all input is untrusted. CRC-32 sums are returned and not verified,
 * because a caller that maps a file does not read all of its bytes. */
#ifndef FBY_WORKER_ZIP_ZIP_H
#define FBY_WORKER_ZIP_ZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"

enum {
    /* Bytes at the end of a file that fby_zip_find_directory needs: the end
     * records, with a comment of at most 65535 bytes. */
    FBY_ZIP_TAIL      = 65536 + 512,
    FBY_ZIP_ENTRY_MAX = 46 + 3 * 65535, /* most bytes of an entry */
    FBY_ZIP_HEAD      = 30,  /* bytes of a member's header before its name */
    FBY_ZIP_NAME_SIZE = 256, /* with NUL; longer names are cut */
    /* A byte inflates to at most so many bytes: deflate needs at least 2 bits
     * for a copy, which makes at most 258 bytes. */
    FBY_ZIP_DEFLATE_RATIO = 8 / 2 * 258
};

struct fby_zip_directory {
    uint64_t offset; /* in the file */
    uint64_t size;   /* bytes */
    uint64_t n_members;
    bool     is_zip64_count; /* false: `n_members` has 16 bits only */
};

/* Find the directory of a file of `file_size` bytes. `tail` has the last `size`
 * bytes of the file: FBY_ZIP_TAIL, or all of a shorter file.
 * Errors: FBY_CONFIG when the file is not a zip file, or has several parts. */
FBY_CHECKED fby_err fby_zip_find_directory(const uint8_t *tail, size_t size,
    uint64_t file_size, struct fby_zip_directory *out,
    struct fby_error_detail *why);

/* Check the number of members in the directory, `n`, against the end record.
 * Some programs write 65536 and more without zip64: then the low 16 bits are
 * compared, and nothing if these are 65535, which means that zip64 has the
 * number.
 * Errors: FBY_CONFIG  the directory is damaged, or was shortened. */
FBY_CHECKED fby_err fby_zip_check_count(const struct fby_zip_directory *self,
    uint64_t n, struct fby_error_detail *why);

/* An entry of the directory. */
struct fby_zip_member {
    char     short_name[FBY_ZIP_NAME_SIZE]; /* cut if it is longer */
    uint16_t method;      /* of compression: 0 stored, 8 deflated, others */
    bool     is_link;     /* a symbolic link of Unix */
    bool     is_stored;   /* neither compressed nor encrypted */
    bool     is_deflated; /* compressed by deflate, and not encrypted */
    bool     is_encrypted;
    uint64_t size;         /* bytes of the content, before compression */
    uint64_t packed_bytes; /* bytes in the file; equal to `size` if is_stored */
    uint64_t head_offset;  /* offset of the member's header in the file */
    uint32_t sum;          /* CRC-32 of the uncompressed bytes */
};

/* The whole name of a member, in the bytes of the directory. */
struct fby_zip_name {
    const char *text; /* without NUL at its end */
    uint16_t    size; /* bytes */
};

/* Is the member NAME.npy, the array that was saved under `name`? */
bool fby_zip_is_array(const struct fby_zip_member *member, const char *name);

/* Read the next member of a directory, until no bytes are left in `directory`.
 * `name`, which may be NULL, gets its whole name.
 * Errors: FBY_CONFIG when the directory is damaged. */
FBY_CHECKED fby_err fby_zip_next_member(struct fby_reader *directory,
    struct fby_zip_member *out, struct fby_zip_name *name,
    struct fby_error_detail *why);

/* Set *out to the offset of a member's bytes in the file. `head` is the header
 * of the member. After FBY_OK all its packed_bytes are within the file.
 * Errors: FBY_CONFIG when the header is damaged. */
FBY_CHECKED fby_err fby_zip_data_offset(const uint8_t head[FBY_ZIP_HEAD],
    const struct fby_zip_member *member, uint64_t file_size, uint64_t *out,
    struct fby_error_detail *why);

#endif
