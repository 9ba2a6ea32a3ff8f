/* entries.h - where the entries of rows of several lengths go.
 *
 * Plain arithmetic on places and lengths, inline, so that every device is
 * compiled from the same lines; values themselves are cast as in value.h. */
#ifndef FBY_CLIENT_EXPAND_ENTRIES_H
#define FBY_CLIENT_EXPAND_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/device_inline.h"

/* ---- padded and ragged --------------------------------------------------- */

/* Entry j of row i in a padded tensor whose rows have `to` entries. */
FBY_DEVICE_INLINE uint64_t fby_padded_index(uint64_t i, uint64_t to, uint64_t j)
{
    return i * to + j;
}

/* Entry j of a row in the values of all rows; `first` is the row's offset. */
FBY_DEVICE_INLINE uint64_t fby_ragged_index(uint64_t first, uint64_t j)
{
    return first + j;
}

/* ---- sparse -------------------------------------------------------------- */

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
FBY_DEVICE_INLINE uint64_t fby_dense_index(
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
FBY_DEVICE_INLINE uint64_t fby_coo_index(uint64_t d, uint64_t total, uint64_t j)
{
    return d * total + j;
}

/* ---- documents ----------------------------------------------------------- */

/* Where a document begins among the tokens of all rows. */
FBY_DEVICE_INLINE uint64_t fby_document_offset(
    uint64_t row, uint64_t length, uint64_t first)
{
    return row * length + first;
}

/* From 0 in each document. */
FBY_DEVICE_INLINE uint64_t fby_document_position(uint64_t at, uint64_t first)
{
    return at - first;
}

/* Whether a token counts in the loss: with targets (`shift` 1) the last one of
 * a document has none. What fills a row up never does: its `end` is 0. */
FBY_DEVICE_INLINE bool fby_document_counts(
    uint64_t at, uint64_t end, uint64_t shift)
{
    return at + shift < end;
}

#endif
