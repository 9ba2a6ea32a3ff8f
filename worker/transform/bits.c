/* SPDX-License-Identifier: Apache-2.0 */
/* bits.c - pack eight values at a time by one multiplication. */
#include "worker/transform/bits.h"

#include "worker/npy/convert.h"

/* Values that are converted and packed at a time. A multiple of 8, so that
 * each block but the last of a row fills whole bytes. */
enum { BLOCK_VALUES = 4096 };

static size_t packed_bytes(uint64_t n)
{
    return (size_t)(n / 8 + (n % 8 != 0));
}

static uint64_t load_8(const uint8_t *values)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < 8; i++) {
        bytes |= (uint64_t)values[i] << (8 * i);
    }
    return bytes;
}

/* Returns the lowest bits of the 8 bytes as one byte; all others must be 0. The
 * product moves the bit of byte k to bit 56 + k, and no carry reaches it. */
static uint8_t gather_low_bits(uint64_t bytes)
{
    return (uint8_t)(bytes * UINT64_C(0x0102040810204080) >> 56);
}

size_t fby_bits_pack(const uint8_t *values, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t bytes = load_8(values + i);
        if ((bytes & ~UINT64_C(0x0101010101010101)) != 0) {
            break; /* a value is neither 0 nor 1 */
        }
        *out++ = gather_low_bits(bytes);
    }
    unsigned last_byte = 0; /* the other values, or those before a bad one */
    for (size_t k = 0; k < 8 && i < n && values[i] <= 1; i++, k++) {
        last_byte |= (unsigned)values[i] << k;
        *out = (uint8_t)last_byte;
    }
    return i;
}

/* Pack `n` values of the file, from value `first` on. Values of more than one
 * byte are converted to bytes first. Returns as fby_bits_pack. */
static uint64_t pack_block(
    const struct fby_npy *npy, uint64_t first, uint64_t n, uint8_t *out)
{
    uint8_t        block[BLOCK_VALUES];
    size_t         width  = fby_npy_type_bytes(npy->type);
    const uint8_t *values = npy->data + first * width;
    if (width == 1) {
        return fby_bits_pack(values, (size_t)n, out);
    }
    struct fby_npy slice = *npy;
    slice.data           = values;
    slice.n_values       = n;
    uint64_t n_converted = fby_convert(&slice, FBY_U8, block);
    return fby_bits_pack(block, (size_t)n_converted, out);
}

uint64_t fby_bits_pack_npy(const struct fby_npy *npy, uint8_t *out)
{
    uint64_t row_values = npy->dims[npy->n_dims - 1];
    for (uint64_t i = 0; i < npy->n_values; i += row_values) {
        for (uint64_t column = 0; column < row_values; column += BLOCK_VALUES) {
            uint64_t left   = row_values - column;
            uint64_t n      = left < BLOCK_VALUES ? left : BLOCK_VALUES;
            uint64_t n_good = pack_block(npy, i + column, n, out + column / 8);
            if (n_good < n) {
                return i + column + n_good;
            }
        }
        out += packed_bytes(row_values);
    }
    return npy->n_values;
}
