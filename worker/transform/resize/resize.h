/* resize.h - scale a picture with an antialiased triangle filter.
 *
 * The definition is Pillow's BILINEAR (weights.h): within rows first, rounded
 * to 8 bits, then within columns. A resizer is passed the source rows one by
 * one, as a decoder makes them, and keeps only those that the next result row
 * needs. It can make a part of the result alone, and mirror it. All vector
 * instruction sets give the same bytes. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_H
#define FBY_WORKER_TRANSFORM_RESIZE_H

#include "worker/transform/image.h"
#include "worker/transform/resize/weights.h"

enum {
    FBY_RESIZE_MAX_SIDE  = 65535,     /* of source and result */
    FBY_RESIZE_MAX_BYTES = 256 << 20, /* of its memory */
    FBY_RESIZE_ROW_SLACK = 64         /* bytes after a row that are read */
};

/* A resize in both directions. */
struct fby_resize_spec {
    struct fby_axis_spec x, y; /* y is never mirrored */
};

/* Scale a whole picture to a whole picture. */
struct fby_resize_spec fby_resize_whole(
    const struct fby_image *in, const struct fby_image *out);

struct resize_kernel;

/* The state of a resize, reused for the next. Initialise to {0}. */
struct fby_resizer {
    struct fby_scratch          memory;
    const struct resize_kernel *kernel;
    struct fby_axis             x, y;
    struct fby_image            out;
    uint8_t                    *ring;      /* source rows scaled in x */
    const uint8_t             **rows;      /* rows of the ring, listed twice */
    uint8_t                    *spare;     /* one source row */
    size_t                      ring_step; /* bytes from one row to the next */
    uint32_t                    n_ring;    /* rows of the ring */
    uint32_t                    taken;     /* source rows, of y.all */
    uint32_t                    made;      /* result rows */
};

/* Bytes of memory that the resizer needs for `spec`. */
uint64_t fby_resize_bytes(const struct fby_resize_spec *spec);

/* Begin a resize. Its rows are the source rows `self->y.all`, in order, and
 * each has the pixels `self->x.all`: no others are read. The result is written
 * to `out` (spec's x.n by y.n), which must not overlap a source row.
 *
 * Thread: any, with its own resizer.   Allocates: only to grow its memory.
 * Errors: FBY_FULL when memory is short or more than FBY_RESIZE_MAX_BYTES
 *         are needed; FBY_USAGE when `spec` or the sides of `out` are invalid
 */
FBY_CHECKED fby_err fby_resizer_begin(struct fby_resizer *self,
    const struct fby_resize_spec *spec, const struct fby_image *out);

/* Pass the next source row; FBY_RESIZE_ROW_SLACK bytes after its end may be
 * read. After the last row the result is complete. */
void fby_resizer_row(struct fby_resizer *self, const uint8_t *row);

/* Resize a picture in memory; no byte outside its rows is read.
 * Errors: as fby_resizer_begin. */
FBY_CHECKED fby_err fby_resize(struct fby_resizer *self,
    const struct fby_image *in, const struct fby_resize_spec *spec,
    const struct fby_image *out);

/* Free the memory; the resizer may be used again. */
void fby_resizer_fini(struct fby_resizer *self);

#endif
