/* SPDX-License-Identifier: Apache-2.0 */
/* ragged_pack.h - close the gaps between ragged or sparse rows of a chunk.
 *
 * Rows of a ragged field have different numbers of entries. A sparse row has an
 * index for each entry too. While a batch is in work, every row has a fixed
 * offset, with room for the longest possible row. Once all rows of a chunk are
 * written, the chunk gets the form in which it is sent: the lengths of all
 * rows, then the rows without gaps (of sparse rows all indices, then all
 * values). This works in place, because bytes only move to lower addresses. */
#ifndef FBY_WORKER_STAGES_RAGGED_PACK_H
#define FBY_WORKER_STAGES_RAGGED_PACK_H

#include "proto/layout.h"

/* Pack the `rows` rows of `chunk` and return the packed size in bytes. Row i
 * has lengths[i] entries, at most max_length.
 *
 * Before the call, ragged row i is at fby_ragged_lengths_end + i * row_bytes.
 * The indices of sparse rows are at fby_ragged_lengths_end, with room for
 * max_length for each row. Their values are at the fby_sparse_values_offset of
 * `rows` rows of max_length entries. */
uint32_t fby_ragged_pack(const struct fby_raw_field *field,
    const uint32_t *lengths, uint32_t rows, uint8_t *chunk);

#endif
