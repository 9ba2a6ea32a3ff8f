/* batch.h - one batch of a stream: the definition of `struct forebay_batch`.
 *
 * A batch owns one output slot (`memory`, which holds the tensors) and
 * describes it. The pool allocates and reuses batches (batch_pool.h), a decode
 * thread makes their values (make_batch.h), and the ready queue hands them to
 * the trainer (ready_queue.h). One thread owns a batch at a time; a lock guards
 * the members whose note names it. */
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
    struct forebay_batch  *next; /* in the pool's list of free batches */
    atomic_uint            refs; /* of the trainer and of exported tensors */
    bool                   overflow;   /* an extra slot, freed at release */
    bool                   delivered;  /* to the trainer (pool's lock) */
    uint8_t               *memory;     /* the output slot, out_bytes */
    struct fby_gpu_upload_out *out;    /* GPU only: owner of `memory` */
    _Atomic(void *)            stream; /* GPU only: consumer's latest stream */

    uint64_t  epoch, step;
    uint32_t  first_row, rows; /* rows of the global batch that it has */
    uint64_t  raw_bytes;       /* sum over its chunks, sizes as sent */
    char      token[FBY_TOKEN_TEXT_SIZE];
    uint64_t *samples; /* one per row */
    uint8_t  *valid;   /* one per row; 0: padding */

    bool                 has_digests;
    struct fby_checksum *digests; /* one per row */
    struct fby_checksum  digest;

    struct forebay_substitution *substituted; /* owns the causes */
    uint32_t                     n_substituted;

    struct fby_ragged_offsets rows_of[FBY_MAX_FIELDS]; /* by selected field;
                                                          ragged ones only */
    struct fby_tensor         tensors[FBY_MAX_FIELDS * FBY_TENSORS + 1];
    uint32_t                  n_tensors;

    bool    done; /* the values are made or failed (ready queue's lock) */
    fby_err err;  /* why there are no values; with its text `why` */
    struct fby_error_detail why;
};

#endif
