/* gpu_batch.h - pack one batch into its arena and send it to a GPU.
 *
 * Most chunks are in the arena already, as they came. Fields that the host must
 * see first (for digests), or that segments cannot express, are added now: raw,
 * or expanded by the host and only copied on the GPU. The list of segments
 * comes last (expand/segments.h). */
#ifndef FBY_CLIENT_BATCH_GPU_BATCH_H
#define FBY_CLIENT_BATCH_GPU_BATCH_H

#include "trainer_client/batch/batch_input.h"
#include "trainer_client/setup/setup.h"

/* Host functions for a batch that goes to a GPU. */
struct fby_gpu_batch_host {
    const struct fby_setup *setup;
    /* Expand a field's raw bytes in the slot to its tensor at `out`. */
    fby_err (*expand)(
        void *context, uint32_t field, uint8_t *out, struct fby_why *why);
    /* The random parameters of each row; valid until the next call. */
    const struct fby_ops_row *(*draw)(
        void *context, const struct fby_field_content *by);
    void *context;
};

/* Pack and submit a batch. Does not wait for the copy.
 * Errors: FBY_PROTO  a value is out of its range, as an id of no class
 *         FBY_SYS    a CUDA call failed */
FBY_CHECKED fby_err fby_gpu_batch_send(struct fby_gpu_upload *upload,
    const struct fby_gpu_batch_host *host, const struct fby_batch_input *input,
    struct fby_why *why);

#endif
