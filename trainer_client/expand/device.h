/* device.h - where batches end up, field by field: a table of functions.
 *
 * The stream asks for memory once, at open, and then only has rows expanded
 * from a raw slot into an output slot. This is `host`, which is always there;
 * a GPU takes whole batches (gpu/upload.h). */
#ifndef FBY_CLIENT_EXPAND_DEVICE_H
#define FBY_CLIENT_EXPAND_DEVICE_H

#include <stddef.h>

#include "codec/codec.h"
#include "common/err.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* Rows of a field that the device's ops change, or of the labels they mix. */
struct fby_expand_job {
    const struct fby_expansion *plan;
    const void                 *raw;
    uint32_t                    rows;
    struct fby_ops_row         *draws; /* one a row; the device may fill in */
    void                       *out;
};

struct fby_device {
    const char *name; /* in options: "host" */

    /* Zeroed memory of at least `size` bytes, page-aligned, that the decode
     * threads decode into; `sparse` when little of it will be touched. NULL
     * when there is none. */
    void *(*raw_alloc)(size_t size, bool sparse);
    void (*raw_free)(void *memory, size_t size);

    /* The same for tensors; lies on the device. */
    void *(*out_alloc)(size_t size);
    void (*out_free)(void *memory, size_t size);

    /* Expand `rows` samples at `raw` into `out`; both belong to one batch. Of
     * fields whose bytes change on the way (no FBY_EXPAND_COPY). Any thread;
     * blocks until the values are there.
     * Errors: FBY_PROTO, when a value on the wire is out of its range. */
    fby_err (*expand)(const struct fby_expansion *plan, const void *raw,
        uint32_t rows, void *out, struct fby_why *why);

    /* The same of FBY_EXPAND_OPS and FBY_EXPAND_MIX; partners of rows are rows
     * of the job. */
    fby_err (*expand_ops)(
        const struct fby_expand_job *job, struct fby_why *why);

    /* The same of a field whose rows vary in length: `raw` is its place in the
     * slot, `rows` (there may be none) say where in it each row lies and were
     * checked; out[i] is the field's tensor i. */
    fby_err (*expand_rows)(const struct fby_expansion *plan,
        const struct fby_ragged_offsets *rows, const void *raw,
        void *const out[FBY_TENSORS], struct fby_why *why);

    /* Decode a chunk that fby_codec_check passed straight to its place in the
     * tensor of a field that is handed out as it is; `out` has room for
     * `raw_bytes`. Any thread; blocks until the values are there.
     * Errors: FBY_PROTO. */
    fby_err (*decode)(const struct fby_codec_job *job,
        struct fby_bytes_in payload, void *out, size_t raw_bytes);
};

/* By name; NULL when there is none of that name in this build. */
const struct fby_device *fby_device_named(const char *name);

extern const struct fby_device fby_device_host;

/* FBY_EXPAND_OPS on the host (ops.c). */
void fby_expand_ops_host(const struct fby_expand_job *job);

#endif
