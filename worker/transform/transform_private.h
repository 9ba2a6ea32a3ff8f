/* SPDX-License-Identifier: Apache-2.0 */
/* transform_private.h - the members of a fby_transform, and how its memory is
 * counted. Internal to worker/transform.
 *
 * A thread keeps its buffers for the next picture as long as their total size
 * is within its share. If a picture needs more, the thread takes the excess
 * from a quota that all threads share (shared_quota.h) before it decodes the
 * picture. It returns these bytes when the picture is done. */
#ifndef FBY_WORKER_TRANSFORM_TRANSFORM_PRIVATE_H
#define FBY_WORKER_TRANSFORM_TRANSFORM_PRIVATE_H

#include "worker/transform/resize/nearest.h"
#include "worker/transform/transform.h"

enum { FBY_OP_ID_LIMIT = 64 }; /* all ids of ops are less than this */

struct fby_transform {
    struct fby_transform_limits limits;
    uint64_t                    borrowed;   /* bytes taken from the quota */
    struct fby_scratch          decoded[2]; /* a decoder's scratch buffers */
    struct fby_scratch results[2];     /* of passes and steps, alternately */
    struct fby_scratch before_yuv;     /* a picture to convert to yuv420 */
    struct fby_scratch step_memory;    /* working memory of one step of an op */
    struct fby_scratch mask;           /* one decoded mask of a stack */
    struct fby_resizer resizer;        /* scales pictures */
    struct fby_nearest_resize nearest; /* scales masks */
};

/* Bytes that one sample needs in each buffer of fby_transform. */
struct fby_need {
    uint64_t decoded[2], results[2], before_yuv, step_memory, resizer;
    uint64_t library_bytes; /* most bytes that libraries allocate */
};

/* Count the bytes of `need` as used until fby_transform_release. Bytes beyond
 * the thread's share are taken from the quota. No buffer is allocated.
 *
 * Blocks: until the quota has enough free bytes.
 * Errors: FBY_FULL  `need` is more than share and quota together
 *         FBY_GONE  the quota was closed */
FBY_CHECKED fby_err fby_transform_reserve(struct fby_transform *self,
    const struct fby_need *need, struct fby_error_detail *why);

/* Call after each sample: free the buffers if they exceed the thread's share,
 * and return the bytes taken from the quota. */
void fby_transform_release(struct fby_transform *self);

#endif
