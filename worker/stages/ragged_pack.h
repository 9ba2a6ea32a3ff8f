/* ragged_pack.h - close the gaps between ragged or sparse rows of a chunk.
 *
 * While a batch is in work, every row has a fixed offset, with room for the
 * longest possible row. A sparse row has two offsets, for indices and for
 * values. Once all rows of a chunk are written, the chunk gets the form in
 * which it is sent: the lengths of all rows, then the rows without gaps. This
 * works in place, because values only move to lower addresses. */
#ifndef FBY_WORKER_STAGES_RAGGED_PACK_H
#define FBY_WORKER_STAGES_RAGGED_PACK_H

#include "proto/layout.h"

/* Pack the `rows` rows of `chunk` and return the packed size in bytes. Row i
 * has lengths[i] entries, at most max_length.
 *
 * Before, a ragged row i is at fby_ragged_values_offset + i * row_bytes. Of sparse
 * rows, the indices begin at fby_ragged_values_offset, max_length for each row. Their
 * values begin at fby_sparse_values_offset, computed as if each row had max_length
 * entries. */
uint32_t fby_ragged_pack(const struct fby_raw_field *field,
    const uint32_t *lengths, uint32_t rows, uint8_t *chunk);

#endif
