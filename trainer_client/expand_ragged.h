/* expand_ragged.h - rows of several lengths to tensors.
 *
 * Where a value goes is in expand_places.h; what it becomes, in expand.h. */
#ifndef FBY_CLIENT_EXPAND_RAGGED_H
#define FBY_CLIENT_EXPAND_RAGGED_H

#include "trainer_client/expand_places.h"
#include "trainer_client/expansion.h"
#include "trainer_client/extents.h"

/* On the host: a field's tensors `out` from the rows at `raw`. */
void fby_expand_padded(const struct fby_expansion *plan,
    const struct fby_extents *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);
void fby_expand_ragged(const struct fby_expansion *plan,
    const struct fby_extents *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);

#endif
