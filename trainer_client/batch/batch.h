/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - one batch of a stream: the definition of `struct forebay_batch`.
 *
 * A batch owns one output slot, the memory that holds its tensors. The pool
 * allocates and reuses batches (batch_pool.h), a decode thread makes their
 * values (make_batch.h), and the trainer takes them from the ready queue
 * (ready_queue.h). One thread owns a batch at a time. A lock guards the members
 * whose comment names it. */
#ifndef FBY_CLIENT_BATCH_BATCH_H
#define FBY_CLIENT_BATCH_BATCH_H

#include <stdatomic.h>

#include "common/err.h"
#include "common/hash.h"
#include "forebay/forebay.h"
#include "pipeline/token.h"
#include "proto/messages.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

struct fby_batch_pool;
struct fby_gpu_output;

/* A tensor as handed out: `view` points to `shape` and `strides`. */
struct fby_tensor {
    char     name[FBY_NAME_SIZE + 16]; /* field's name and suffix */
    uint32_t field;           /* index of the selected field; FBY_NO_FIELD */
    bool     is_first;        /* of the tensors of its field */
    bool     has_row_lengths; /* the first, of a field whose rows vary */
    uint64_t offset;          /* in the output slot, bytes */
    DLTensor view;
    int64_t  shape[FBY_EXPAND_DIMS];
    int64_t  strides[FBY_EXPAND_DIMS]; /* in elements */
};
enum {
    FBY_MAX_TENSORS = FBY_MAX_FIELDS * FBY_TENSORS + 1 /* 1: `valid` */
};
#define FBY_NO_FIELD UINT32_MAX /* the field of the tensor `valid` */

struct forebay_batch {
    struct fby_batch_pool *batch_pool;
    struct forebay_batch  *next; /* in the pool's list of free batches */
    atomic_uint            refs; /* references: trainer, exported tensors */
    bool                   has_extra_slot; /* release frees the slot */
    bool                   delivered;      /* to the trainer (pool's lock) */
    uint8_t               *memory;         /* the output slot: the tensors */
    struct fby_gpu_output *output;         /* GPU only: owner of `memory` */
    _Atomic(void *)        stream; /* GPU only: the trainer's last stream */

    uint64_t epoch, step;
    uint32_t first_row; /* index of row 0 in the batch of all ranks */
    uint32_t rows;      /* of this rank */
    uint64_t raw_bytes; /* sum over all chunks as received */
    struct fby_stage_times worker_times; /* from END */
    char                   token[FBY_TOKEN_TEXT_SIZE];
    uint64_t              *samples; /* sample number of each row */
    uint8_t               *valid;   /* for each row: 1, or 0 if it is padding */

    bool                 has_digests;
    struct fby_checksum *digests; /* of each row */
    struct fby_checksum  digest;  /* of the step */

    struct forebay_substitution *substituted; /* owns its texts */
    uint32_t                     n_substituted;

    struct fby_ragged_offsets row_offsets[FBY_MAX_FIELDS]; /* if ragged */
    struct fby_tensor         tensors[FBY_MAX_TENSORS];
    uint32_t                  n_tensors;

    bool done; /* making the values succeeded or failed (ready queue's lock) */
    bool dropped; /* before it was done: the thread that makes it drops it
                     (ready queue's lock) */
    fby_err                 err; /* result of making the values */
    struct fby_error_detail why; /* text of `err` */
};

#endif
