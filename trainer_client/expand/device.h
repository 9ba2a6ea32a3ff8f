/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - a table of functions that turn raw bytes of a field into tensors.
 *
 * A stream allocates memory once, when it is opened. The only device is `host`.
 * A GPU expands whole batches (gpu/upload.h). Tests replace some functions. */
#ifndef FBY_CLIENT_EXPAND_DEVICE_H
#define FBY_CLIENT_EXPAND_DEVICE_H

#include <stddef.h>

#include "codec/codec.h"
#include "common/err.h"
#include "trainer_client/expand/host.h"

struct fby_device {
    const char *name; /* as in forebay_options: "host" */

    /* Allocate at least `size` bytes of zeroed, page-aligned memory for decoded
     * chunks. Returns NULL if memory is short. `sparse` is true if the caller
     * will use only a small part of the memory. */
    void *(*raw_alloc)(size_t size, bool sparse);
    void (*raw_free)(void *memory, size_t size);

    /* Allocate memory for tensors in the same way. */
    void *(*out_alloc)(size_t size);
    void (*out_free)(void *memory, size_t size);

    /* Expand `rows` samples at `raw` into `out`. The kind of the plan is one of
     * FBY_EXPAND_AFFINE to FBY_EXPAND_BITS. (FBY_EXPAND_COPY uses `decode`.)
     * Thread: any.  Blocks: until the values are written.
     * Errors: FBY_PROTO  a label is not below plan->classes */
    fby_err (*expand)(const struct fby_expansion *plan, const void *raw,
        uint32_t rows, void *out, struct fby_error_detail *why);

    /* Expand all rows of a field of kind FBY_EXPAND_OPS or FBY_EXPAND_MIX. The
     * partner with which a row is mixed is a row of the same job. */
    fby_err (*expand_ops)(
        const struct fby_expand_job *job, struct fby_error_detail *why);

    /* Expand all rows of a ragged field; there may be none. `rows` has their
     * checked lengths and their offsets from `raw`. out[i] is tensor i. */
    fby_err (*expand_rows)(const struct fby_expansion *plan,
        const struct fby_ragged_offsets *rows, const void *raw,
        void *const out[FBY_TENSORS], struct fby_error_detail *why);

    /* Decode a chunk of a field of FBY_EXPAND_COPY to `raw_bytes` bytes at
     * `out`, which is in the tensor. fby_codec_can_decode has accepted it.
     * Thread: any.  Blocks: until the bytes are written.
     * Errors: FBY_PROTO */
    fby_err (*decode)(const struct fby_codec_job *job,
        struct fby_bytes_in payload, uint8_t *out, size_t raw_bytes);
};

/* The device called `name`, or NULL. */
const struct fby_device *fby_device_named(const char *name);

extern const struct fby_device fby_device_host;

#endif
