/* ragged.h - expand ragged rows to tensors, on the host.
 *
 * entries.h computes the index of a value, value.h its conversion. */
#ifndef FBY_CLIENT_EXPAND_RAGGED_H
#define FBY_CLIENT_EXPAND_RAGGED_H

#include "trainer_client/expand/entries.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* Make a field's tensors, padded values and lengths, from the rows at `raw`. */
void fby_expand_padded(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);
/* Make a field's tensors, values without gaps and offsets. */
void fby_expand_ragged(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);

#endif
