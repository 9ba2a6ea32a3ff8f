/* make_batch.h - makes the values of one batch from the raw bytes of its slot.
 *
 * The host expands each field to its tensors (make_batch.c), or the whole batch
 * goes to a GPU (gpu_batch.c). This runs on a decode thread. */
#ifndef FBY_CLIENT_BATCH_MAKE_BATCH_H
#define FBY_CLIENT_BATCH_MAKE_BATCH_H

#include "proto/layout.h"
#include "trainer_client/batch/batch.h"
#include "trainer_client/batch/request_slot.h"
#include "trainer_client/setup/setup.h"

/* The raw bytes of a batch, and the batch that will receive the values made
 * from them. All pointers are borrowed. */
struct fby_batch_input {
    struct forebay_batch        *batch; /* receives the values */
    struct fby_request_slot     *request_slot;
    uint32_t                     slot; /* index of request_slot and its arena */
    const struct fby_raw_layout *layout; /* of the raw bytes */
    const struct fby_chunk_sent *sent;   /* sizes as sent, by chunk index */
};

/* One batch that is being made, with the resources of its decode thread; all
 * pointers are borrowed. */
struct fby_batch_job {
    const struct fby_setup       *setup;
    struct fby_gpu_upload        *upload;  /* NULL: the host expands */
    struct fby_codec_scratch     *scratch; /* of this thread */
    struct fby_ops_row           *params;  /* of this thread: room for max_rows;
                                              NULL: no field has device ops */
    const struct fby_batch_input *input;
};

/* Make the values of the batch and describe its tensors. On a GPU the values
 * are still being made on return, on the host they are complete.
 *
 * Errors: FBY_PROTO  the raw bytes hold a value that is not allowed
 *         FBY_SYS    a CUDA call failed */
FBY_CHECKED fby_err fby_make_batch(
    const struct fby_batch_job *job, struct fby_error_detail *why);

/* Expand a field of equally long rows from the slot's raw bytes to its tensor
 * at `out`. Errors: FBY_PROTO. */
FBY_CHECKED fby_err fby_batch_expand_field(const struct fby_batch_job *job,
    uint32_t field, uint8_t *out, struct fby_error_detail *why);

/* Draw the random parameters of each row for the ops of `ops_field`. Returns
 * job->params, which the next call overwrites. */
struct fby_ops_row *fby_batch_draw_params(
    const struct fby_batch_job *job, const struct fby_field_content *ops_field);

/* Complete the slot's arena and submit the batch to the GPU. Does not wait for
 * the copy. Errors: as fby_make_batch. */
FBY_CHECKED fby_err fby_gpu_batch_send(
    const struct fby_batch_job *job, struct fby_error_detail *why);

/* Set address, type and shape of each tensor; `valid` is the last one. Shapes
 * of ragged fields depend on batch->rows_of, which must be set. */
void fby_batch_describe_tensors(
    const struct fby_setup *setup, struct forebay_batch *batch);

#endif
