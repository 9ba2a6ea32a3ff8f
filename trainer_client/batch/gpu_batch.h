/* gpu_batch.h - a batch packed for a GPU, and sent.
 *
 * Most chunks lie in the arena already, as they came. What the host has to see
 * first (digests), or what no segment can be told of, goes there now: raw, or
 * expanded by the host and only copied over there. Then the list. */
#ifndef FBY_CLIENT_BATCH_GPU_BATCH_H
#define FBY_CLIENT_BATCH_GPU_BATCH_H

#include "trainer_client/batch/batch_input.h"
#include "trainer_client/setup/setup.h"

/* How the host makes a field's tensor from the slot's raw bytes. */
struct fby_gpu_batch_host {
    const struct fby_setup *setup;
    fby_err (*expand)(
        void *context, uint32_t field, uint8_t *out, struct fby_why *why);
    /* What is drawn for each row; until it is asked again. */
    const struct fby_ops_row *(*draw)(
        void *context, const struct fby_field_content *by);
    void *context;
};

/* Of a batch task; returns as soon as it is under way. Errors: FBY_PROTO  an id
 * beyond its classes; FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_batch_send(struct fby_gpu_upload *upload,
    const struct fby_gpu_batch_host *host, const struct fby_batch_input *input,
    struct fby_why *why);

#endif
