/* SPDX-License-Identifier: Apache-2.0 */
/* npz.h - read members of a .npz file in memory: a zip archive of NumPy files,
 * which are stored uncompressed or deflated.
 *
 * Files are untrusted. A member is refused unless it is inside the file and has
 * the size and CRC-32 of its directory entry. A size that no deflated member
 * can have is refused before anything is inflated. */
#ifndef FBY_WORKER_TRANSFORM_NPZ_H
#define FBY_WORKER_TRANSFORM_NPZ_H

#include "worker/zip/zip.h"

struct fby_npz_member {
    const char           *name;  /* set by the caller, without ".npy" */
    const uint8_t        *data;  /* entry.packed_bytes bytes of the file, maybe
                                    deflated; borrowed; NULL: not found */
    struct fby_zip_member entry; /* from the zip directory */
};

/* Find each of `n` members by name. Of several with one name the last is used.
 * Errors: FBY_BAD_SAMPLE, `why` says what is wrong with the file. */
FBY_CHECKED fby_err fby_npz_find_members(const uint8_t *bytes, size_t size,
    struct fby_npz_member *members, size_t n, struct fby_error_detail *why);

/* Bytes of the buffer that fby_npz_read_member needs for a member. */
static inline uint64_t fby_npz_buffer_bytes(const struct fby_npz_member *member)
{
    return member->data != NULL && member->entry.is_deflated
               ? member->entry.size
               : 0;
}

/* Set *out to the bytes of a member that was found, and verify their CRC-32. A
 * deflated member is inflated to `buffer`; *out points there. Otherwise *out
 * points into the file. There are member->entry.size bytes.
 * Errors: FBY_BAD_SAMPLE when the member is damaged; FBY_FULL when memory is
 *         short. */
FBY_CHECKED fby_err fby_npz_read_member(const struct fby_npz_member *member,
    uint8_t *buffer, const uint8_t **out, struct fby_error_detail *why);

#endif
