/* batch.h - one batch of a stream: the definition of `struct forebay_batch`.
 *
 * A batch owns one output slot (`memory`, where its tensors are) and describes
 * it: position, token, samples, digests, tensors. The pool makes it and reuses
 * it (batch_pool.h); a decode thread fills it (make_batch.h); the ready queue
 * hands it to the trainer (ready_queue.h). One thread owns it at a time, except
 * for the members that are marked. */
#ifndef FBY_CLIENT_BATCH_BATCH_H
#define FBY_CLIENT_BATCH_BATCH_H

#include <stdatomic.h>

#include "common/err.h"
#include "common/hash.h"
#include "forebay/forebay.h"
#include "pipeline/token.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

struct fby_batch_pool;
struct fby_gpu_upload_out;

/* A tensor with the memory that its view points into. */
struct fby_tensor {
    char     name[FBY_NAME_SIZE + 16]; /* field and suffix */
    DLTensor view;
    int64_t  shape[FBY_EXPAND_DIMS];
    int64_t  strides[FBY_EXPAND_DIMS]; /* in elements */
};

struct forebay_batch {
    struct fby_batch_pool *batch_pool;
    struct forebay_batch  *next; /* in the pool's or the ready queue's list */
    atomic_uint            refs; /* of the trainer and of exported tensors */
    bool                   overflow;   /* freed when it is released */
    bool                   delivered;  /* pool's lock */
    uint8_t               *memory;     /* the output slot, out_bytes */
    struct fby_gpu_upload_out *out;    /* GPU only: owner of `memory` */
    _Atomic(void *)            stream; /* GPU only: consumer's latest stream */

    uint64_t  epoch, step;
    uint32_t  first_row, rows;
    uint64_t  raw_bytes;
    char      token[FBY_TOKEN_TEXT_SIZE];
    uint64_t *samples; /* one per row */
    uint8_t  *valid;   /* one per row; 0: padding */

    bool            has_digests;
    struct fby_sum *digests; /* one per row */
    struct fby_sum  digest;

    struct forebay_substitution *substituted; /* owns the causes */
    uint32_t                     n_substituted;

    struct fby_ragged_offsets rows_of[FBY_MAX_FIELDS]; /* of ragged fields */
    struct fby_tensor         tensors[FBY_MAX_FIELDS * FBY_TENSORS + 1];
    uint32_t                  n_tensors;

    bool           done; /* ready queue's lock: values or `err` are set */
    fby_err        err;  /* why there are no values */
    struct fby_why why;
};

#endif
