/* ragged_pack.h - a chunk of rows that vary in length, packed for the way.
 *
 * While a batch is in work every row has its fixed place, as long as the
 * longest may be; sparse ones have two, for indices and for values. Once all
 * rows of a chunk are there, they are moved together behind their lengths, in
 * place: values only ever move down. */
#ifndef FBY_WORKER_STAGES_RAGGED_PACK_H
#define FBY_WORKER_STAGES_RAGGED_PACK_H

#include "proto/layout.h"

/* `chunk` has room for what the layout says of `rows` rows, which lie
 * row_bytes apart from fby_varying_values on; row i has lengths[i] entries, at
 * most max_length. Of sparse rows the indices lie there, max_length of them
 * apart, and the values from fby_sparse_values on, as if all were there.
 * Returns the bytes that travel. */
uint32_t fby_ragged_pack(const struct fby_raw_field *field,
    const uint32_t *lengths, uint32_t rows, uint8_t *chunk);

#endif
