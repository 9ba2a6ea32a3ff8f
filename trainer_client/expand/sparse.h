/* sparse.h - rows of which few values are not 0, to tensors.
 *
 * Which place an index means is in entries.h; what a value becomes, in
 * value.h. */
#ifndef FBY_CLIENT_EXPAND_SPARSE_H
#define FBY_CLIENT_EXPAND_SPARSE_H

#include "trainer_client/expand/entries.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* On the host: a field's tensors `out` from the rows at `raw`, which were
 * checked. */
void fby_expand_sparse(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);

#endif
