/* resize.h - scale a picture with an antialiased triangle filter.
 *
 * Pillow's BILINEAR by definition (weights.h): rows first, rounded to 8 bits,
 * then columns. A resizer takes the source's rows one by one, as a decoder
 * makes them, and keeps only those that the next result row rests on. A part
 * of the result can be asked for alone, and mirrored on the way. Whichever
 * vector instructions do it, the bytes are the same. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_H
#define FBY_WORKER_TRANSFORM_RESIZE_H

#include "worker/transform/image.h"
#include "worker/transform/resize/weights.h"

enum {
    FBY_RESIZE_MAX_SIDE  = 65535,     /* of source and result */
    FBY_RESIZE_MAX_BYTES = 256 << 20, /* of its memory */
    FBY_RESIZE_ROW_SLACK = 64         /* bytes after a row that are read */
};

struct fby_resize_spec {
    struct fby_axis_spec x, y; /* y is never mirrored */
};

/* All of a picture to all of another. */
struct fby_resize_spec fby_resize_whole(
    const struct fby_image *in, const struct fby_image *out);

struct resize_kernel;

/* Start from {0}, use it for one resize after the other. */
struct fby_resizer {
    struct fby_scratch          memory;
    const struct resize_kernel *kernel;
    struct fby_axis             x, y;
    struct fby_image            out;
    uint8_t                    *ring;      /* source rows scaled in x */
    const uint8_t             **rows;      /* of the ring, twice over */
    uint8_t                    *spare;     /* one source row */
    size_t                      ring_step; /* bytes from one to the next */
    uint32_t                    n_ring;
    uint32_t                    taken; /* source rows, of y.all */
    uint32_t                    made;  /* result rows */
};

/* Bytes of its memory that a resize takes. */
uint64_t fby_resize_bytes(const struct fby_resize_spec *spec);

/* Get ready for the rows `self->y.all` of a source, in order, and of each the
 * pixels `self->x.all`: no others are looked at. The result goes to `out`
 * (spec's x.n by y.n), which overlaps no source row.
 *
 * Thread: any, with its own resizer.   Allocates: only while it grows.
 * Errors: FBY_FULL when memory is short or more than FBY_RESIZE_MAX_BYTES
 *         would be needed; FBY_USAGE for sides that cannot be. */
FBY_CHECKED fby_err fby_resizer_begin(struct fby_resizer *self,
    const struct fby_resize_spec *spec, const struct fby_image *out);

/* The next source row; FBY_RESIZE_ROW_SLACK bytes after its end may be read.
 * After the last one the result is whole. */
void fby_resizer_row(struct fby_resizer *self, const uint8_t *row);

/* Begin, and all rows of a picture in memory; nothing beside it is read.
 * Errors: as begin. */
FBY_CHECKED fby_err fby_resize(struct fby_resizer *self,
    const struct fby_image *in, const struct fby_resize_spec *spec,
    const struct fby_image *out);

/* Give the memory back; it may be used again. */
void fby_resizer_fini(struct fby_resizer *self);

#endif
