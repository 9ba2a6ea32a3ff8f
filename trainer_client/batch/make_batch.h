/* SPDX-License-Identifier: Apache-2.0 */
/* make_batch.h - make the values of one batch from the raw bytes of its slot.
 *
 * The host expands each field to its tensors (make_batch.c), or a GPU expands
 * the whole batch (gpu_batch.c). All functions are called on decode threads. */
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
    uint32_t                     slot; /* number of the slot and of its arena */
    const struct fby_raw_layout *layout;      /* of the raw bytes */
    const struct fby_chunk_sent *chunks_sent; /* [chunk]: size as sent */
};

/* A batch to make, and the memory of the decode thread that makes it. All
 * pointers are borrowed. */
struct fby_batch_job {
    const struct fby_setup   *setup;
    struct fby_gpu_upload    *upload;  /* NULL: the host expands */
    struct fby_codec_scratch *scratch; /* memory for decoding */
    /* FBY_CHUNK_RAW bytes for a decoded chunk; NULL: no field expands by chunk.
     * Random parameters, max_rows entries; NULL: no field has device ops. */
    uint8_t                      *chunk_buffer;
    struct fby_ops_row           *params;
    const struct fby_batch_input *input;
};

/* Make the values of the batch and describe its tensors. On the host the
 * values are complete on return. A GPU may still be making them.
 *
 * Errors: FBY_PROTO  the raw bytes hold a value that is not allowed
 *         FBY_SYS    a CUDA call failed */
FBY_CHECKED fby_err fby_make_batch(
    const struct fby_batch_job *job, struct fby_error_detail *why);

/* Expand `field`, whose rows are equally long, from the slot's raw bytes to the
 * tensor at `out`. Errors: FBY_PROTO. */
FBY_CHECKED fby_err fby_batch_expand_field(const struct fby_batch_job *job,
    uint32_t field, uint8_t *out, struct fby_error_detail *why);

/* Draw the random parameters of each row for the ops of `ops_field`. Returns
 * job->params, which the next call overwrites. */
struct fby_ops_row *fby_batch_draw_params(
    const struct fby_batch_job *job, const struct fby_field_content *ops_field);

/* Complete the slot's arena (the bytes for the GPU) and submit the batch. Does
 * not wait for the copy. Errors: as fby_make_batch. */
FBY_CHECKED fby_err fby_gpu_batch_send(
    const struct fby_batch_job *job, struct fby_error_detail *why);

/* Set name, offset, type and shape of all tensors of the batch. Needs the
 * row_offsets of ragged fields. */
void fby_batch_describe_tensors(
    const struct fby_setup *setup, struct forebay_batch *batch);

/* Describe the tensors of every batch, in their order. A dimension that varies
 * is -1, and no tensor has an address. Returns their number. */
uint32_t fby_describe_fields(
    const struct fby_setup *setup, struct fby_tensor out[FBY_MAX_TENSORS]);

#endif
