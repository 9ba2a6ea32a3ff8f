/* device.h - a device that expands batches field by field: a table of
 * functions.
 *
 * The stream allocates memory once, at open. Afterwards rows are only expanded
 * from a request slot to an output slot. The one device is `host`; a GPU takes
 * whole batches instead (gpu/upload.h). */
#ifndef FBY_CLIENT_EXPAND_DEVICE_H
#define FBY_CLIENT_EXPAND_DEVICE_H

#include <stddef.h>

#include "codec/codec.h"
#include "common/err.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* Rows of a field with device ops, or of labels that these ops mix. */
struct fby_expand_job {
    const struct fby_expansion *plan;
    const void                 *raw;
    uint32_t                    rows;
    struct fby_ops_row         *draws; /* one per row; `grey` is filled in */
    void                       *out;
};

struct fby_device {
    const char *name; /* in options: "host" */

    /* Zeroed, page-aligned memory of at least `size` bytes for decoded chunks,
     * or NULL. `sparse`: little of it will be touched. */
    void *(*raw_alloc)(size_t size, bool sparse);
    void (*raw_free)(void *memory, size_t size);

    /* The same for tensors, on the device. */
    void *(*out_alloc)(size_t size);
    void (*out_free)(void *memory, size_t size);

    /* Expand `rows` samples at `raw` into `out`. Not for FBY_EXPAND_COPY, whose
     * chunks are decoded to the tensor.
     * Thread: any.  Blocks: until the values are made.
     * Errors: FBY_PROTO  a value on the wire is out of its range */
    fby_err (*expand)(const struct fby_expansion *plan, const void *raw,
        uint32_t rows, void *out, struct fby_why *why);

    /* The same for FBY_EXPAND_OPS and FBY_EXPAND_MIX. A row's partner is a row
     * of the same job. */
    fby_err (*expand_ops)(
        const struct fby_expand_job *job, struct fby_why *why);

    /* The same for a ragged field. `rows` were checked and may be zero rows;
     * their offsets count from `raw`. out[i] is the field's tensor i. */
    fby_err (*expand_rows)(const struct fby_expansion *plan,
        const struct fby_ragged_offsets *rows, const void *raw,
        void *const out[FBY_TENSORS], struct fby_why *why);

    /* Decode a chunk, which fby_codec_check has accepted, straight into the
     * tensor of a field of FBY_EXPAND_COPY; `out` holds `raw_bytes`.
     * Thread: any.  Blocks: until the values are made.
     * Errors: FBY_PROTO */
    fby_err (*decode)(const struct fby_codec_job *job,
        struct fby_bytes_in payload, void *out, size_t raw_bytes);
};

/* The device of that name, or NULL. */
const struct fby_device *fby_device_named(const char *name);

extern const struct fby_device fby_device_host;

/* Expand a job of FBY_EXPAND_OPS on the host (ops.c). */
void fby_expand_ops_host(const struct fby_expand_job *job);

#endif
