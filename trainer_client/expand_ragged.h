/* expand_ragged.h - rows of several lengths to tensors.
 *
 * Where value j of row i goes, inline, so that every device is compiled from
 * the same lines; the values themselves are cast as in expand.h. */
#ifndef FBY_CLIENT_EXPAND_RAGGED_H
#define FBY_CLIENT_EXPAND_RAGGED_H

#include "trainer_client/expand.h"
#include "trainer_client/expansion.h"
#include "trainer_client/extents.h"

/* Entry j of row i in a padded tensor whose rows have `to` entries. */
FBY_DEVICE_INLINE uint64_t fby_padded_place(uint64_t i, uint64_t to, uint64_t j)
{
    return i * to + j;
}

/* Entry j of a row in the values of all rows; `first` is the row's offset. */
FBY_DEVICE_INLINE uint64_t fby_ragged_place(uint64_t first, uint64_t j)
{
    return first + j;
}

/* On the host: a field's tensors `out` from the rows at `raw`. */
void fby_expand_padded(const struct fby_expansion *plan,
    const struct fby_extents *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);
void fby_expand_ragged(const struct fby_expansion *plan,
    const struct fby_extents *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);

#endif
