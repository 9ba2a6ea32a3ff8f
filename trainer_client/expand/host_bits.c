/* SPDX-License-Identifier: Apache-2.0 */
/* host_bits.c - expand bits, a byte at a time.
 *
 * A byte becomes eight values. For values of one byte, a multiplication makes
 * eight copies of the byte, and a mask keeps a different bit of each copy.
 * Wider values are looked up in a table, four bits at a time. For planar maps,
 * the bytes of eight pixels are transposed as a matrix of 8 x 8 bits. Then each
 * byte has the bits of one map for eight pixels. */
#include "trainer_client/expand/host.h"

#include "common/bytes.h"
#include "pipeline/derived.h"
#include "trainer_client/expand/value.h"

enum { NIBBLE = 4, OCTET = 8 /* bits */, MAX_WIDTH = 4 /* bytes of a value */ };
/* Bytes of the four values of a nibble, if a value has 2 or 4 bytes. */
enum { BYTES_IF_WIDTH_2 = 8, BYTES_IF_WIDTH_4 = 16 };

struct nibble_table {
    uint32_t width;                                   /* bytes of a value */
    uint8_t  values[1 << NIBBLE][NIBBLE * MAX_WIDTH]; /* [n]: of nibble n */
};

static struct nibble_table make_nibble_table(const struct fby_expansion *plan)
{
    struct nibble_table table = {.width = fby_type_bytes(plan->to)};
    for (uint32_t n = 0; n < 1 << NIBBLE; n++) {
        for (uint32_t k = 0; k < NIBBLE; k++) {
            fby_store_le(&table.values[n][(size_t)k * table.width],
                n >> k & 1U ? plan->on : plan->off, table.width);
        }
    }
    return table;
}

/* ---- eight values -------------------------------------------------------- */

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Byte k of the result is bit k of `bits`. */
static uint64_t bits_to_bytes(uint8_t bits)
{
    /* Of eight copies of `bits`, copy k keeps bit k. Adding 0x7f sets bit 7 of
     * each byte that is not 0. */
    uint64_t one_bit_each = bits * EACH_BYTE & UINT64_C(0x8040201008040201);
    return (one_bit_each + 0x7f * EACH_BYTE) >> 7 & EACH_BYTE;
}

static void write_8(
    const struct nibble_table *table, uint8_t bits, uint8_t *out)
{
    const uint8_t *low  = table->values[bits % (1 << NIBBLE)];
    const uint8_t *high = table->values[bits >> NIBBLE];
    if (table->width == 1) { /* integers: a value is its bit, 0 or 1 */
        fby_store_le(out, bits_to_bytes(bits), OCTET);
    } else if (table->width == 2) {
        memcpy(out, low, BYTES_IF_WIDTH_2);
        memcpy(out + BYTES_IF_WIDTH_2, high, BYTES_IF_WIDTH_2);
    } else {
        memcpy(out, low, BYTES_IF_WIDTH_4);
        memcpy(out + BYTES_IF_WIDTH_4, high, BYTES_IF_WIDTH_4);
    }
}

/* Write the first `n` of the eight values of `bits`. */
static void write_first(
    const struct nibble_table *table, uint8_t bits, uint32_t n, uint8_t *out)
{
    uint8_t values[OCTET * MAX_WIDTH];
    write_8(table, bits, values);
    memcpy(out, values, (size_t)n * table->width);
}

/* ---- interleaved: pixel after pixel -------------------------------------- */

static void expand_interleaved(const struct fby_expansion *plan,
    const struct nibble_table *table, const uint8_t *raw, uint8_t *out)
{
    uint32_t full_bytes  = plan->maps / OCTET;
    uint32_t last_bits   = plan->maps % OCTET;
    size_t   octet_bytes = (size_t)OCTET * table->width;
    for (uint32_t p = 0; p < plan->pixels; p++) {
        for (uint32_t i = 0; i < full_bytes; i++) {
            write_8(table, *raw++, out);
            out += octet_bytes;
        }
        if (last_bits > 0) {
            write_first(table, *raw++, last_bits, out);
            out += (size_t)last_bits * table->width;
        }
    }
}

/* ---- planar: map after map ----------------------------------------------- */

/* Move bit i of byte k to bit k of byte i (Warren, Hacker's Delight, 7-3). */
static uint64_t transpose_8x8(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

struct map_octet {           /* up to eight maps that share a byte per pixel */
    const uint8_t *raw;      /* the shared byte of the first pixel */
    size_t         raw_step; /* bytes from a pixel to the next */
    uint32_t       maps;
    size_t         map_bytes; /* of a whole map in the output */
    uint8_t       *out;       /* the first of these maps in the output */
};

/* Write pixels `first` to first + n - 1 of the maps; n is at most eight. */
static void write_pixels(const struct map_octet *octet,
    const struct nibble_table *table, uint32_t first, uint32_t n)
{
    uint64_t pixels = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bits = octet->raw[(first + i) * octet->raw_step];
        pixels |= bits << (8 * i);
    }
    pixels       = transpose_8x8(pixels);
    uint8_t *out = octet->out + (size_t)first * table->width;
    for (uint32_t k = 0; k < octet->maps; k++) {
        uint8_t bits = (uint8_t)(pixels >> (8 * k));
        if (n == OCTET) {
            write_8(table, bits, out);
        } else {
            write_first(table, bits, n, out);
        }
        out += octet->map_bytes;
    }
}

static void expand_planar(const struct fby_expansion *plan,
    const struct nibble_table *table, const uint8_t *raw, uint8_t *out)
{
    size_t map_bytes = (size_t)plan->pixels * table->width;
    for (uint32_t k = 0; k < plan->maps; k += OCTET) {
        uint32_t         maps_left = plan->maps - k;
        struct map_octet octet     = {
                .raw       = raw + k / OCTET,
                .raw_step  = fby_bytes_of_bits(plan->maps),
                .maps      = maps_left < OCTET ? maps_left : OCTET,
                .map_bytes = map_bytes,
        };
        uint32_t p = 0;
        octet.out  = out + k * map_bytes;
        for (; p + OCTET <= plan->pixels; p += OCTET) {
            write_pixels(&octet, table, p, OCTET);
        }
        if (p < plan->pixels) {
            write_pixels(&octet, table, p, plan->pixels - p);
        }
    }
}

void fby_expand_bits(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out)
{
    struct nibble_table table = make_nibble_table(plan);
    if (plan->layout == FBY_LAYOUT_CHW) {
        expand_planar(plan, &table, raw, out);
    } else {
        expand_interleaved(plan, &table, raw, out);
    }
}

/* ---- bit by bit ---------------------------------------------------------- */

void fby_expand_bits_plain(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out)
{
    bool     planar = plan->layout == FBY_LAYOUT_CHW;
    uint32_t width  = fby_type_bytes(plan->to);
    size_t   step   = fby_bytes_of_bits(plan->maps);
    for (uint32_t p = 0; p < plan->pixels; p++) {
        for (uint32_t k = 0; k < plan->maps; k++) {
            size_t index = planar ? (size_t)k * plan->pixels + p
                                  : (size_t)p * plan->maps + k;
            fby_store_le(out + index * width,
                fby_bit(raw + p * step, k) != 0 ? plan->on : plan->off, width);
        }
    }
}
