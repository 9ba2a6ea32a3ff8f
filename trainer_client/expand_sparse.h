/* expand_sparse.h - rows of which few values are not 0, to tensors.
 *
 * Which place an index means, inline, so that every device is compiled from the
 * same lines; the values themselves are cast as in expand.h. */
#ifndef FBY_CLIENT_EXPAND_SPARSE_H
#define FBY_CLIENT_EXPAND_SPARSE_H

#include "trainer_client/expand.h"
#include "trainer_client/expansion.h"
#include "trainer_client/extents.h"

/* Index `i` of those that lie at `at`, of `width` bytes each: 1, 2 or 4. They
 * begin at a multiple of 16 in their chunk. */
FBY_DEVICE_INLINE uint32_t fby_sparse_index(
    const uint8_t *at, uint32_t width, uint64_t i)
{
    uint32_t index = 0;
    for (uint32_t b = 0; b < width; b++) {
        index |= (uint32_t)at[i * width + b] << (8 * b);
    }
    return index;
}

/* Value `index` of row i among the values of all dense rows. */
FBY_DEVICE_INLINE uint64_t fby_dense_place(
    uint64_t i, uint64_t dense, uint32_t index)
{
    return i * dense + index;
}

/* Coordinate `d` of an index into a shape of `n_dims`. */
FBY_DEVICE_INLINE uint32_t fby_coordinate(
    uint32_t index, const uint32_t *dims, uint32_t n_dims, uint32_t d)
{
    for (uint32_t k = n_dims; k-- > d + 1;) {
        index /= dims[k];
    }
    return index % dims[d];
}

/* Coordinate `d` of value j in coo's indices, of `total` values in all; 0 is
 * the row's. */
FBY_DEVICE_INLINE uint64_t fby_coo_place(uint64_t d, uint64_t total, uint64_t j)
{
    return d * total + j;
}

/* On the host: a field's tensors `out` from the rows at `raw`, which were
 * checked. */
void fby_expand_sparse(const struct fby_expansion *plan,
    const struct fby_extents *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);

#endif
