/* npz.h - members of a .npz file in memory: NumPy files in a zip file, each
 * stored or deflated.
 *
 * A file is trusted in nothing: a member lies in it, and has the size and the
 * sum that the directory says, or is refused: before anything is inflated when
 * no deflated member could have that size. */
#ifndef FBY_WORKER_TRANSFORM_NPZ_H
#define FBY_WORKER_TRANSFORM_NPZ_H

#include "worker/npy/zip.h"

struct fby_npz_member {
    const char           *name;   /* without ".npy" */
    const uint8_t        *packed; /* borrowed; NULL: there is none */
    struct fby_zip_member entry;
};

/* Find each of `n` members by its name; of several the last one counts.
 * Errors: FBY_BAD_SAMPLE, `why` says what is wrong with the file. */
FBY_CHECKED fby_err fby_npz_find(const uint8_t *bytes, size_t size,
    struct fby_npz_member *members, size_t n, struct fby_why *why);

/* Bytes that fby_npz_open needs for a member. */
static inline uint64_t fby_npz_room(const struct fby_npz_member *member)
{
    return member->packed != NULL && member->entry.is_deflated
               ? member->entry.size
               : 0;
}

/* The bytes of a member that is there, member->entry.size of them: where they
 * lie, or inflated in `buffer`.
 * Errors: FBY_BAD_SAMPLE as above; FBY_FULL no memory. */
FBY_CHECKED fby_err fby_npz_open(const struct fby_npz_member *member,
    uint8_t *buffer, const uint8_t **out, struct fby_why *why);

#endif
