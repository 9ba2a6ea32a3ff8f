/* sparse.h - expand sparse rows to tensors, on the host.
 *
 * entries.h gives the meaning of an index, value.h the conversion of a
 * value. */
#ifndef FBY_CLIENT_EXPAND_SPARSE_H
#define FBY_CLIENT_EXPAND_SPARSE_H

#include "trainer_client/expand/entries.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* Make a field's tensors `out` (dense, csr or coo) from the rows at `raw`,
 * which were checked. */
void fby_expand_sparse(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);

#endif
