/* entries.h - the indices of ragged, sparse and document entries in tensors.
 *
 * Plain inline arithmetic on indices and lengths, so that every device is
 * compiled from the same lines. Values are converted as in value.h. */
#ifndef FBY_CLIENT_EXPAND_ENTRIES_H
#define FBY_CLIENT_EXPAND_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/device_inline.h"

/* ---- padded and ragged --------------------------------------------------- */

/* Index of entry j of row i in a padded tensor whose rows have `to` entries. */
FBY_DEVICE_INLINE uint64_t fby_padded_index(uint64_t i, uint64_t to, uint64_t j)
{
    return i * to + j;
}

/* Index of entry j of a row in the values of all rows; `first` is the row's
 * offset. */
FBY_DEVICE_INLINE uint64_t fby_ragged_index(uint64_t first, uint64_t j)
{
    return first + j;
}

/* ---- sparse -------------------------------------------------------------- */

/* Load index `i` of the array at `at`; an index has `width` bytes: 1, 2 or 4.
 * The array begins at a multiple of 16 in its chunk. */
FBY_DEVICE_INLINE uint32_t fby_sparse_index(
    const uint8_t *at, uint32_t width, uint64_t i)
{
    uint32_t index = 0;
    for (uint32_t b = 0; b < width; b++) {
        index |= (uint32_t)at[i * width + b] << (8 * b);
    }
    return index;
}

/* Index of value `index` of row i in the values of all dense rows. */
FBY_DEVICE_INLINE uint64_t fby_dense_index(
    uint64_t i, uint64_t dense, uint32_t index)
{
    return i * dense + index;
}

/* Coordinate `d` of an index into a shape of `n_dims` dimensions. */
FBY_DEVICE_INLINE uint32_t fby_coordinate(
    uint32_t index, const uint32_t *dims, uint32_t n_dims, uint32_t d)
{
    for (uint32_t k = n_dims; k-- > d + 1;) {
        index /= dims[k];
    }
    return index % dims[d];
}

/* Index of coordinate `d` of value j in the indices of COO, which has `total`
 * values. Coordinate 0 is the row. */
FBY_DEVICE_INLINE uint64_t fby_coo_index(uint64_t d, uint64_t total, uint64_t j)
{
    return d * total + j;
}

/* ---- documents ----------------------------------------------------------- */

/* The first token of a document, counted over all rows. */
FBY_DEVICE_INLINE uint64_t fby_document_offset(
    uint64_t row, uint64_t length, uint64_t first)
{
    return row * length + first;
}

/* The position of a token in its document, from 0. */
FBY_DEVICE_INLINE uint64_t fby_document_position(uint64_t at, uint64_t first)
{
    return at - first;
}

/* True if a token counts in the loss. With `shift` 1 the last token of a
 * document has no target. Padding, whose `end` is 0, never counts. */
FBY_DEVICE_INLINE bool fby_document_counts(
    uint64_t at, uint64_t end, uint64_t shift)
{
    return at + shift < end;
}

#endif
