/* The kernel in portable C: the reference for the others. */
#include <string.h>

#include "codec/photo_kernel.h"
#include "common/bytes.h"

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
    uint8_t *const row[3], uint32_t width, uint8_t *pixels, size_t plane)
{
    for (size_t x = 0; x < width; x++) {
        uint8_t green         = row[0][x];
        pixels[x]             = (uint8_t)(row[1][x] + green);
        pixels[plane + x]     = green;
        pixels[2 * plane + x] = (uint8_t)(row[2][x] + green);
    }
}

static void fence(void)
{
}

/* ---- residues ------------------------------------------------------------ */

/* Zigzag encoding: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static uint8_t zigzag(uint8_t residue)
{
    return (uint8_t)((residue << 1) ^ (residue >> 7 != 0 ? 0xff : 0));
}

static uint8_t unzigzag(uint8_t number)
{
    return (uint8_t)((number >> 1) ^ ((number & 1) != 0 ? 0xff : 0));
}

/* The eight encoded residues at `x` of a row. */
static void predict(const uint8_t *row, uint32_t x, uint8_t out[8])
{
    const uint8_t *here = row + x;
    const uint8_t *up   = here - PHOTO_STRIDE;
    for (int i = 0; i < 8; i++) {
        out[i] = zigzag((uint8_t)(here[i] - here[i - 1] - up[i] + up[i - 1]));
    }
}

/* The inverse: writes the eight pixels at `x`. */
static void rebuild(const uint8_t in[8], uint8_t *row, uint32_t x)
{
    uint8_t       *here = row + x;
    const uint8_t *up   = here - PHOTO_STRIDE;
    for (int i = 0; i < 8; i++) {
        here[i] = (uint8_t)(unzigzag(in[i]) + here[i - 1] + up[i] - up[i - 1]);
    }
}

/* ---- groups -------------------------------------------------------------- */

/* The bits that the largest number of a group needs. */
static uint32_t width_of(const uint8_t number[16])
{
    uint32_t all = 0;
    for (int i = 0; i < 16; i++) {
        all |= number[i];
    }
    uint32_t bits = 0;
    for (; all != 0; all >>= 1) {
        bits++;
    }
    return bits;
}

/* Write eight numbers of `bits` bits: exactly `bits` bytes. */
static void put_eight(const uint8_t number[8], uint32_t bits, uint8_t *out)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < 8; i++) {
        all |= (uint64_t)number[i] << (i * bits);
    }
    fby_store_le(out, all, bits);
}

static void take_eight(const uint8_t *in, uint32_t bits, uint8_t number[8])
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < bits; i++) {
        all |= (uint64_t)in[i] << (8 * i);
    }
    for (uint32_t i = 0; i < 8; i++) {
        number[i] = (uint8_t)(all >> (i * bits) & ((1U << bits) - 1));
    }
}

static uint32_t width_at(const uint8_t *widths, uint32_t group)
{
    return widths[group / 2] >> (4 * (group % 2)) & 15;
}

static size_t pack(
    struct photo_size size, struct photo_plane *plane, uint8_t *out)
{
    uint32_t across = photo_groups_across(size);
    size_t   at     = photo_widths_bytes(photo_groups(size));
    memset(out, 0, at);
    for (uint32_t g = 0; g < photo_groups(size); g++) {
        uint8_t  number[16];
        uint8_t *row = photo_row(plane, g / across * 2);
        predict(row, g % across * 8, number);
        predict(row + PHOTO_STRIDE, g % across * 8, number + 8);
        uint32_t bits = width_of(number);
        out[g / 2]    = (uint8_t)(out[g / 2] | bits << (4 * (g % 2)));
        put_eight(number, bits, out + at);
        put_eight(number + 8, bits, out + at + bits);
        at += 2 * (size_t)bits;
    }
    return at;
}

static size_t unpack(
    struct photo_size size, const uint8_t *in, struct photo_plane *plane)
{
    uint32_t across = photo_groups_across(size);
    size_t   at     = photo_widths_bytes(photo_groups(size));
    for (uint32_t g = 0; g < photo_groups(size); g++) {
        uint8_t  number[16];
        uint8_t *row  = photo_row(plane, g / across * 2);
        uint32_t bits = width_at(in, g);
        take_eight(in + at, bits, number);
        take_eight(in + at + bits, bits, number + 8);
        rebuild(number, row, g % across * 8);
        rebuild(number + 8, row + PHOTO_STRIDE, g % across * 8);
        at += 2 * (size_t)bits;
    }
    return at;
}

static size_t measure(const uint8_t *in, uint32_t groups)
{
    size_t bytes = photo_widths_bytes(groups);
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t bits = width_at(in, g);
        if (bits > 8) {
            return SIZE_MAX;
        }
        bytes += 2 * (size_t)bits;
    }
    return bytes;
}

const struct photo_kernel photo_portable = {
    .split       = split,
    .join        = join,
    .join_planar = join_planar,
    .fence       = fence,
    .pack        = pack,
    .unpack      = unpack,
    .measure     = measure,
};
