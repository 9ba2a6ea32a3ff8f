/* ragged.h - rows of several lengths to tensors.
 *
 * Where a value goes is in entries.h; what it becomes, in value.h. */
#ifndef FBY_CLIENT_EXPAND_RAGGED_H
#define FBY_CLIENT_EXPAND_RAGGED_H

#include "trainer_client/expand/entries.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* On the host: a field's tensors `out` from the rows at `raw`. */
void fby_expand_padded(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);
void fby_expand_ragged(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);

#endif
