/* zip.h - where the members of a zip file lie.
 *
 * The directory at the end names them (zip64 too, which NumPy writes always);
 * a member's own header, of which only the length matters, stands before its
 * bytes. Pure functions over bytes that nobody vouches for. Sums of members
 * are only told: who maps a file does not read all of it. */
#ifndef FBY_WORKER_NPY_ZIP_H
#define FBY_WORKER_NPY_ZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"

enum {
    FBY_ZIP_TAIL      = 65536 + 512, /* bytes at the end, to find it in */
    FBY_ZIP_DIRECTORY = 16 << 20,    /* bytes, at most */
    FBY_ZIP_HEAD      = 30,          /* bytes of a member's own header */
    FBY_ZIP_NAME_SIZE = 256          /* with NUL; longer names are cut */
};

struct fby_zip_directory {
    uint64_t offset; /* in the file */
    uint64_t size;   /* bytes, at most FBY_ZIP_DIRECTORY */
};

/* Find the directory of a file of `file_size` bytes from its last ones, `size`
 * of them: all, or FBY_ZIP_TAIL.
 * Errors: FBY_CONFIG it is no zip file, or one in several parts. */
FBY_CHECKED fby_err fby_zip_find(const uint8_t *tail, size_t size,
    uint64_t file_size, struct fby_zip_directory *out, struct fby_why *why);

struct fby_zip_member {
    char     name[FBY_ZIP_NAME_SIZE];
    bool     is_stored;   /* neither compressed nor encrypted */
    bool     is_deflated; /* compressed so, and not encrypted */
    bool     is_encrypted;
    uint64_t size;   /* bytes of it, as they were */
    uint64_t packed; /* bytes in the file; stored: the same */
    uint64_t head;   /* offset of its own header */
    uint32_t sum;    /* CRC-32 of its bytes, as they were */
};

/* Is it NAME.npy, the file of an array that was saved as `name`? */
bool fby_zip_is_array(const struct fby_zip_member *member, const char *name);

/* The next member of a directory, until none of its bytes is left.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_zip_next(struct fby_reader *directory,
    struct fby_zip_member *out, struct fby_why *why);

/* Where the bytes of a member begin, as they are in the file; within file_size
 * it also ends.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_zip_begin(const uint8_t head[FBY_ZIP_HEAD],
    const struct fby_zip_member *member, uint64_t file_size, uint64_t *out,
    struct fby_why *why);

#endif
