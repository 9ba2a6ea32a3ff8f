/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of photo format 1 in portable C: the reference for the others. */
#include <string.h>

#include "codec/photo_kernel.h"
#include "common/bytes.h"

/* The functions have the contracts of struct photo_kernel. */

static void split(const uint8_t *pixels, uint32_t width, uint8_t *const row[3])
{
    for (size_t x = 0; x < width; x++) {
        uint8_t green = pixels[3 * x + 1];
        row[0][x]     = green;
        row[1][x]     = (uint8_t)(pixels[3 * x] - green);
        row[2][x]     = (uint8_t)(pixels[3 * x + 2] - green);
    }
}

static void join(uint8_t *const row[3], uint32_t width, uint8_t *pixels)
{
    for (size_t x = 0; x < width; x++) {
        uint8_t green     = row[0][x];
        pixels[3 * x]     = (uint8_t)(row[1][x] + green);
        pixels[3 * x + 1] = green;
        pixels[3 * x + 2] = (uint8_t)(row[2][x] + green);
    }
}

static void join_planar(
    uint8_t *const row[3], uint32_t width, uint8_t *red, size_t plane_bytes)
{
    for (size_t x = 0; x < width; x++) {
        uint8_t green            = row[0][x];
        red[x]                   = (uint8_t)(row[1][x] + green);
        red[plane_bytes + x]     = green;
        red[2 * plane_bytes + x] = (uint8_t)(row[2][x] + green);
    }
}

static void fence(void)
{
    /* This kernel has no streaming stores. */
}

/* ---- residues ------------------------------------------------------------ */

/* Zigzag encoding: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static uint8_t zigzag(uint8_t residue)
{
    bool is_negative = residue >> 7 != 0;
    return (uint8_t)((residue << 1) ^ (is_negative ? 0xff : 0));
}

static uint8_t unzigzag(uint8_t number)
{
    return (uint8_t)((number >> 1) ^ ((number & 1) != 0 ? 0xff : 0));
}

/* Encode the eight values at `value`: subtract from each value its prediction,
 * left + up - above left, and zigzag-encode the residue. */
static void encode_eight(const uint8_t *value, uint8_t number[8])
{
    const uint8_t *up = value - PHOTO_STRIDE;
    for (int i = 0; i < 8; i++) {
        number[i] =
            zigzag((uint8_t)(value[i] - value[i - 1] - up[i] + up[i - 1]));
    }
}

/* The inverse of encode_eight. */
static void decode_eight(const uint8_t number[8], uint8_t *value)
{
    const uint8_t *up = value - PHOTO_STRIDE;
    for (int i = 0; i < 8; i++) {
        value[i] =
            (uint8_t)(unzigzag(number[i]) + value[i - 1] + up[i] - up[i - 1]);
    }
}

/* ---- groups: two rows of eight numbers ----------------------------------- */

/* The upper left value of group `g` of a plane. */
static uint8_t *group_at(
    struct photo_plane *plane, uint32_t g, uint32_t per_row)
{
    return photo_row(plane, g / per_row * 2) + (size_t)(g % per_row) * 8;
}

/* The bit width of a group: the bits that its largest number needs. */
static uint32_t group_bits(const uint8_t number[16])
{
    uint32_t used_bits = 0;
    for (int i = 0; i < 16; i++) {
        used_bits |= number[i];
    }
    return used_bits != 0 ? 32 - (uint32_t)__builtin_clz(used_bits) : 0;
}

/* Write eight numbers of `bits` bits each. They fill exactly `bits` bytes. */
static void pack_eight(const uint8_t number[8], uint32_t bits, uint8_t *out)
{
    uint64_t packed = 0;
    for (uint32_t i = 0; i < 8; i++) {
        packed |= (uint64_t)number[i] << (i * bits);
    }
    fby_store_le(out, packed, bits);
}

/* The inverse of pack_eight. */
static void unpack_eight(const uint8_t *in, uint32_t bits, uint8_t number[8])
{
    uint64_t packed = fby_load_le(in, bits);
    for (uint32_t i = 0; i < 8; i++) {
        number[i] = (uint8_t)(packed >> (i * bits) & ((1U << bits) - 1));
    }
}

/* The bit width of group `g` of the packed plane at `in`. */
static uint32_t read_bits(const uint8_t *in, uint32_t g)
{
    return in[g / 2] >> (4 * (g % 2)) & 15;
}

static size_t pack(
    struct photo_size size, struct photo_plane *plane, uint8_t *out)
{
    uint32_t per_row = photo_groups_per_row(size);
    size_t   end     = photo_bit_widths_bytes(photo_groups(size));
    memset(out, 0, end);
    for (uint32_t g = 0; g < photo_groups(size); g++) {
        uint8_t  number[16];
        uint8_t *value = group_at(plane, g, per_row);
        encode_eight(value, number);
        encode_eight(value + PHOTO_STRIDE, number + 8);
        uint32_t bits = group_bits(number);
        out[g / 2]    = (uint8_t)(out[g / 2] | bits << (4 * (g % 2)));
        pack_eight(number, bits, out + end);
        pack_eight(number + 8, bits, out + end + bits);
        end += 2 * (size_t)bits; /* two rows of `bits` bytes */
    }
    return end;
}

static size_t unpack(
    struct photo_size size, const uint8_t *in, struct photo_plane *plane)
{
    uint32_t per_row = photo_groups_per_row(size);
    size_t   end     = photo_bit_widths_bytes(photo_groups(size));
    for (uint32_t g = 0; g < photo_groups(size); g++) {
        uint8_t  number[16];
        uint8_t *value = group_at(plane, g, per_row);
        uint32_t bits  = read_bits(in, g);
        unpack_eight(in + end, bits, number);
        unpack_eight(in + end + bits, bits, number + 8);
        decode_eight(number, value);
        decode_eight(number + 8, value + PHOTO_STRIDE);
        end += 2 * (size_t)bits;
    }
    return end;
}

static size_t measure(const uint8_t *in, uint32_t groups)
{
    size_t bytes = photo_bit_widths_bytes(groups);
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t bits = read_bits(in, g);
        if (bits > 8) {
            return SIZE_MAX;
        }
        bytes += 2 * (size_t)bits;
    }
    return bytes;
}

const struct photo_kernel photo_portable = {
    .split          = split,
    .join           = join,
    .join_streaming = join,
    .join_planar    = join_planar,
    .fence          = fence,
    .pack           = pack,
    .unpack         = unpack,
    .measure        = measure,
};
