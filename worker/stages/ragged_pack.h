/* ragged_pack.h - pack a chunk of ragged or sparse rows for sending.
 *
 * While a batch is in work, every row has a fixed offset, with room for the
 * longest possible row; a sparse row has two, for indices and for values. Once
 * all rows of a chunk are written, they are moved together behind their
 * lengths, in place: values only move to lower addresses. */
#ifndef FBY_WORKER_STAGES_RAGGED_PACK_H
#define FBY_WORKER_STAGES_RAGGED_PACK_H

#include "proto/layout.h"

/* Pack `rows` rows of `chunk`, which has the size that the layout gives it, and
 * return the packed size in bytes. Row i has lengths[i] entries, at most
 * max_length.
 *
 * The rows begin at fby_varying_values, at a distance of row_bytes. For sparse
 * rows this is where the indices begin, max_length for each row; the values
 * begin at fby_sparse_values of rows that all have max_length entries. */
uint32_t fby_ragged_pack(const struct fby_raw_field *field,
    const uint32_t *lengths, uint32_t rows, uint8_t *chunk);

#endif
