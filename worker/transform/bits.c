/* bits.c - pack eight values at a time by one multiplication. */
#include "worker/transform/bits.h"

#include "worker/npy/convert.h"

enum { BLOCK = 4096 }; /* values, a multiple of 8 */

static size_t packed_bytes(uint64_t n)
{
    return (size_t)(n / 8 + (n % 8 != 0));
}

static uint64_t load_8(const uint8_t *at)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < 8; i++) {
        bytes |= (uint64_t)at[i] << (8 * i);
    }
    return bytes;
}

/* Gather the lowest bit of each byte, which are the only bits set. The product
 * moves the bit of byte k to bit 56 + k, and no carry reaches those bits. */
static uint8_t gather_bits(uint64_t bytes)
{
    return (uint8_t)(bytes * UINT64_C(0x0102040810204080) >> 56);
}

size_t fby_bits_pack(const uint8_t *values, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t bytes = load_8(values + i);
        if ((bytes & ~UINT64_C(0x0101010101010101)) != 0) {
            break;
        }
        *out++ = gather_bits(bytes);
    }
    unsigned last_byte = 0; /* fewer than 8 values, or those before a bad one */
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
    uint8_t        block[BLOCK];
    size_t         width = fby_npy_type_bytes(npy->type);
    const uint8_t *from  = npy->data + first * width;
    if (width == 1) {
        return fby_bits_pack(from, (size_t)n, out);
    }
    struct fby_npy slice = *npy;
    slice.data           = from;
    slice.values         = n;
    uint64_t fits        = fby_convert(&slice, FBY_U8, block);
    return fby_bits_pack(block, (size_t)fits, out);
}

uint64_t fby_bits_pack_npy(const struct fby_npy *npy, uint8_t *out)
{
    uint64_t row = npy->dims[npy->n_dims - 1];
    for (uint64_t i = 0; i < npy->values; i += row) {
        for (uint64_t k = 0; k < row; k += BLOCK) {
            uint64_t n    = row - k < BLOCK ? row - k : BLOCK;
            uint64_t good = pack_block(npy, i + k, n, out + k / 8);
            if (good < n) {
                return i + k + good;
            }
        }
        out += packed_bytes(row);
    }
    return npy->values;
}
