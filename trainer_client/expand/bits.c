/* A byte becomes eight values. For values of one byte a product copies the byte
 * eight times and a mask leaves a different bit of each copy. Wider values come
 * from a table, four bits at a time. Planar maps take one byte of each of eight
 * pixels and transpose the bits, so that each byte is eight pixels of one
 * map. */
#include "trainer_client/expand/bits.h"

#include "common/bytes.h"
#include "trainer_client/expand/value.h"

enum { NIBBLE = 4, OCTET = 8, WIDEST = 4 /* bytes of a value */ };
enum { NIBBLE_OF_2 = 8, NIBBLE_OF_4 = 16 /* bytes of four values */ };

struct spread { /* the values of each combination of four bits */
    uint32_t width;
    uint8_t  of_nibble[1 << NIBBLE][NIBBLE * WIDEST];
};

static void put(uint8_t *out, uint32_t width, uint32_t bits)
{
    for (uint32_t i = 0; i < width; i++) {
        out[i] = (uint8_t)(bits >> (8 * i));
    }
}

static struct spread spread_of(const struct fby_expansion *plan)
{
    struct spread spread = {.width = fby_type_bytes(plan->to)};
    for (uint32_t n = 0; n < 1 << NIBBLE; n++) {
        for (uint32_t k = 0; k < NIBBLE; k++) {
            put(&spread.of_nibble[n][(size_t)k * spread.width], spread.width,
                n >> k & 1U ? plan->on : plan->off);
        }
    }
    return spread;
}

/* ---- eight values ---- */

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Byte k of the result is bit k of `bits`. */
static uint64_t bytes_of(uint8_t bits)
{
    uint64_t one_each = bits * EACH_BYTE & UINT64_C(0x8040201008040201);
    return (one_each + 0x7f * EACH_BYTE) >> 7 & EACH_BYTE;
}

static void put_octet(const struct spread *spread, uint8_t bits, uint8_t *out)
{
    const uint8_t *low  = spread->of_nibble[bits & 15];
    const uint8_t *high = spread->of_nibble[bits >> NIBBLE];
    if (spread->width == 1) {
        fby_store_le(out, bytes_of(bits), OCTET);
    } else if (spread->width == 2) {
        memcpy(out, low, NIBBLE_OF_2);
        memcpy(out + NIBBLE_OF_2, high, NIBBLE_OF_2);
    } else {
        memcpy(out, low, NIBBLE_OF_4);
        memcpy(out + NIBBLE_OF_4, high, NIBBLE_OF_4);
    }
}

/* Write the first `n` of the eight values. */
static void put_some(
    const struct spread *spread, uint8_t bits, uint32_t n, uint8_t *out)
{
    uint8_t all[OCTET * WIDEST];
    put_octet(spread, bits, all);
    memcpy(out, all, (size_t)n * spread->width);
}

/* ---- interleaved: all maps of a pixel, then those of the next ---- */

static void interleave(const struct fby_expansion *plan,
    const struct spread *spread, const uint8_t *raw, uint8_t *out)
{
    uint32_t whole = plan->maps / OCTET;
    uint32_t rest  = plan->maps % OCTET;
    size_t   step  = (size_t)OCTET * spread->width;
    for (uint32_t p = 0; p < plan->pixels; p++) {
        for (uint32_t i = 0; i < whole; i++) {
            put_octet(spread, *raw++, out);
            out += step;
        }
        if (rest > 0) {
            put_some(spread, *raw++, rest, out);
            out += (size_t)rest * spread->width;
        }
    }
}

/* ---- planar: all pixels of a map, then those of the next ---- */

/* Bit i of byte k goes to bit k of byte i (Warren, Hacker's Delight, 7-3). */
static uint64_t transpose(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

struct plane { /* up to eight maps: one byte of each pixel */
    const uint8_t *raw;
    size_t         raw_step; /* bytes from a pixel to the next */
    uint32_t       maps;
    size_t         map_bytes;
    uint8_t       *out;
};

/* Write pixels first .. first + n - 1, at most eight. */
static void put_pixels(const struct plane *plane, const struct spread *spread,
    uint32_t first, uint32_t n)
{
    uint64_t pixels = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bits = plane->raw[(first + i) * plane->raw_step];
        pixels |= bits << (8 * i);
    }
    pixels       = transpose(pixels);
    uint8_t *out = plane->out + (size_t)first * spread->width;
    for (uint32_t k = 0; k < plane->maps; k++) {
        uint8_t bits = (uint8_t)(pixels >> (8 * k));
        if (n == OCTET) {
            put_octet(spread, bits, out);
        } else {
            put_some(spread, bits, n, out);
        }
        out += plane->map_bytes;
    }
}

static void separate(const struct fby_expansion *plan,
    const struct spread *spread, const uint8_t *raw, uint8_t *out)
{
    size_t map_bytes = (size_t)plan->pixels * spread->width;
    for (uint32_t k = 0; k < plan->maps; k += OCTET) {
        uint32_t     left  = plan->maps - k;
        struct plane plane = {
            .raw       = raw + k / OCTET,
            .raw_step  = plan->maps / OCTET + (plan->maps % OCTET != 0),
            .maps      = left < OCTET ? left : OCTET,
            .map_bytes = map_bytes,
        };
        uint32_t p = 0;
        plane.out  = out + k * map_bytes;
        for (; p + OCTET <= plan->pixels; p += OCTET) {
            put_pixels(&plane, spread, p, OCTET);
        }
        if (p < plan->pixels) {
            put_pixels(&plane, spread, p, plan->pixels - p);
        }
    }
}

void fby_expand_bits(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out)
{
    struct spread spread = spread_of(plan);
    if (plan->layout == FBY_LAYOUT_CHW) {
        separate(plan, &spread, raw, out);
    } else {
        interleave(plan, &spread, raw, out);
    }
}

/* ---- the definition ---- */

void fby_expand_bits_plain(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out)
{
    bool     planar = plan->layout == FBY_LAYOUT_CHW;
    uint32_t width  = fby_type_bytes(plan->to);
    size_t   step   = plan->maps / OCTET + (plan->maps % OCTET != 0);
    for (uint32_t p = 0; p < plan->pixels; p++) {
        for (uint32_t k = 0; k < plan->maps; k++) {
            size_t at = planar ? (size_t)k * plan->pixels + p
                               : (size_t)p * plan->maps + k;
            put(out + at * width, width,
                fby_bit(raw + p * step, k) != 0 ? plan->on : plan->off);
        }
    }
}
