/* resize.h - scale a picture with an antialiased triangle filter.
 *
 * Pillow's BILINEAR by definition: when an axis shrinks, the triangle is as
 * much wider, so that every source pixel counts; weights are scaled to a sum
 * of one and rounded to 22 bits of fraction; rows first, rounded to 8 bits,
 * then columns. Weights come from whole numbers only, so the result is the
 * same for every compiler and machine. The picture given is all there is: of
 * a view into a larger one, no pixel outside is read. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_H
#define FBY_WORKER_TRANSFORM_RESIZE_H

#include "worker/transform/image.h"

enum {
    FBY_RESIZE_MAX_SIDE       = 65535,    /* of source and result */
    FBY_RESIZE_MAX_RING_BYTES = 256 << 20 /* of rows scaled in x, at a time */
};

/* What a resize needs beside its pictures; start from {0}, use it for one
 * after the other. */
struct fby_resizer {
    struct fby_scratch weights[2]; /* in x, in y */
    struct fby_scratch rows;       /* source rows scaled in x only, a ring */
};

/* Scale `in` to the size of `out` (both at least 1 x 1), whose pixels must
 * not overlap those of `in`.
 *
 * Thread: any, with its own resizer.   Allocates: only while it grows.
 * Errors: FBY_FULL when memory is short or a result row rests on more source
 *         rows than FBY_RESIZE_MAX_RING_BYTES holds; FBY_USAGE when a side is 0
 *         or above FBY_RESIZE_MAX_SIDE. */
FBY_CHECKED fby_err fby_resize(struct fby_resizer *self,
    const struct fby_image *in, const struct fby_image *out);

void fby_resizer_fini(struct fby_resizer *self);

/* Bytes that its scratch memory has to hold for one resize. */
struct fby_resize_need {
    uint64_t weights[2], rows;
};
struct fby_resize_need fby_resize_need(
    const struct fby_image *in, const struct fby_image *out);

#endif
