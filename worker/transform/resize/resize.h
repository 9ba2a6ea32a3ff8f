/* SPDX-License-Identifier: Apache-2.0 */
/* resize.h - scale a picture with an antialiased triangle filter.
 *
 * The definition is Pillow's BILINEAR (weights.h): scale each row in x and
 * round it to 8 bits, then scale the columns in y. A resizer gets the source
 * rows one by one, as a decoder makes them, and keeps only those that the next
 * result row needs. It can compute a part of the result alone, and mirror it.
 * All vector instruction sets give the same bytes. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_H
#define FBY_WORKER_TRANSFORM_RESIZE_H

#include "worker/transform/image.h"
#include "worker/transform/resize/weights.h"

enum {
    FBY_RESIZE_MAX_SIDE  = 65535,     /* pixels, of source and result */
    FBY_RESIZE_MAX_BYTES = 256 << 20, /* memory of a resizer */
    FBY_RESIZE_ROW_SLACK = 64         /* bytes after a source row that may be
                                         read */
};

/* The resize of both axes. */
struct fby_resize_spec {
    struct fby_axis_spec x, y; /* y is never mirrored */
};

/* The spec of a resize of the whole picture `in` to the whole picture `out`. */
struct fby_resize_spec fby_resize_spec_whole(
    const struct fby_image *in, const struct fby_image *out);

struct resize_kernel;

/* The state of a resize; the next one reuses the memory. Initialise to {0}. */
struct fby_resizer {
    struct fby_scratch          memory;
    const struct resize_kernel *kernel;
    struct fby_axis             x, y;
    struct fby_image            out;
    uint8_t                    *ring;        /* ring buffer of source rows
                                                that are scaled in x */
    const uint8_t             **ring_rows;   /* pointers to its rows, twice */
    uint8_t                    *row_copy;    /* room for one source row */
    size_t                      ring_stride; /* bytes from row to row of ring */
    uint32_t                    n_ring;      /* number of rows of the ring */
    uint32_t                    rows_in;     /* number of source rows so far */
    uint32_t                    rows_out;    /* number of result rows so far */
};

/* Bytes of memory that the resizer needs for `spec`. */
uint64_t fby_resize_memory_bytes(const struct fby_resize_spec *spec);

/* Begin a resize. Afterwards self->y.used are the source rows to pass, in
 * order, and self->x.used are the pixels that each of these rows must have. The
 * result is written to `out` (spec->x.n by spec->y.n pixels), which must not
 * overlap a source row.
 *
 * Thread: any, with its own resizer.   Allocates: only if its memory must grow.
 * Errors: FBY_FULL when memory is short or more than FBY_RESIZE_MAX_BYTES
 *         are needed; FBY_USAGE when `spec` or the sides of `out` are
 *         invalid. */
FBY_CHECKED fby_err fby_resizer_begin(struct fby_resizer *self,
    const struct fby_resize_spec *spec, const struct fby_image *out);

/* Pass the next source row; FBY_RESIZE_ROW_SLACK bytes after its end may be
 * read. After the last row the result is complete. */
void fby_resizer_add_row(struct fby_resizer *self, const uint8_t *row);

/* Resize a picture in memory; no byte outside its rows is read.
 * Errors: as fby_resizer_begin; FBY_USAGE also if `in` has another size than
 *         the source of `spec`. */
FBY_CHECKED fby_err fby_resize(struct fby_resizer *self,
    const struct fby_image *in, const struct fby_resize_spec *spec,
    const struct fby_image *out);

/* Free the memory; the resizer may be used again. */
void fby_resizer_fini(struct fby_resizer *self);

#endif
