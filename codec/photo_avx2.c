/* SPDX-License-Identifier: Apache-2.0 */
/* The AVX2 kernel of photo format 1: 32 pixels, or four groups, at a time. The
 * functions without a comment have the contracts of struct photo_kernel. */
#include <immintrin.h>
#include <string.h>

#include "codec/photo_kernel.h"
#include "common/rgb_avx2.h"

enum { STEP = 32, HALF_VECTOR = STEP / 2 }; /* bytes; a step is a vector */

static __m256i load(const void *in)
{
    return _mm256_loadu_si256(in);
}

static void save(void *out, __m256i value)
{
    _mm256_storeu_si256(out, value);
}

/* ---- interleaved pixels and planes --------------------------------------- */

static void split_step(const uint8_t *pixels, uint8_t *const row[3], uint32_t x)
{
    struct rgb_32 v = rgb_deinterleave(pixels);
    save(row[0] + x, v.g);
    save(row[1] + x, _mm256_sub_epi8(v.r, v.g));
    save(row[2] + x, _mm256_sub_epi8(v.b, v.g));
}

static void split(const uint8_t *pixels, uint32_t width, uint8_t *const row[3])
{
    uint32_t x = 0;
    for (; x + STEP <= width; x += STEP) {
        split_step(pixels + 3 * (size_t)x, row, x);
    }
    if (x < width) {
        uint8_t last_pixels[3 * STEP] = {0};
        memcpy(last_pixels, pixels + 3 * (size_t)x, 3 * (size_t)(width - x));
        split_step(last_pixels, row, x);
    }
}

/* The RGB values of 32 pixels from column `x` on. */
static struct rgb_32 join_step(uint8_t *const row[3], uint32_t x)
{
    __m256i g = load(row[0] + x);
    return (struct rgb_32){_mm256_add_epi8(load(row[1] + x), g), g,
        _mm256_add_epi8(load(row[2] + x), g)};
}

static void join(uint8_t *const row[3], uint32_t width, uint8_t *pixels)
{
    uint32_t x = 0;
    for (; x + STEP <= width; x += STEP) {
        rgb_interleave(join_step(row, x), pixels + 3 * (size_t)x);
    }
    if (x < width) {
        uint8_t last_pixels[3 * STEP];
        rgb_interleave(join_step(row, x), last_pixels);
        memcpy(pixels + 3 * (size_t)x, last_pixels, 3 * (size_t)(width - x));
    }
}

static void join_streaming(
    uint8_t *const row[3], uint32_t width, uint8_t *pixels)
{
    for (uint32_t x = 0; x < width; x += STEP) {
        rgb_interleave_streaming(join_step(row, x), pixels + 3 * (size_t)x);
    }
}

struct rgb_planes {
    uint8_t *r, *g, *b;
};

static void stream(void *out, __m256i value)
{
    _mm256_stream_si256(out, value);
}

/* Join 32 pixels from column `x` on to planes. `store` is save, or stream for
 * addresses that are multiples of STEP; inlined, it is no call. */
static inline void join_planar_step(uint8_t *const row[3], uint32_t x,
    struct rgb_planes to, void (*store)(void *out, __m256i value))
{
    struct rgb_32 p = join_step(row, x);
    store(to.r + x, p.r);
    store(to.g + x, p.g);
    store(to.b + x, p.b);
}

/* Stream 64 pixels. Each pair of stores fills a cache line if the addresses
 * allow; lines that are filled in turn are slower. */
static void stream_planar_line(
    uint8_t *const row[3], uint32_t x, struct rgb_planes to)
{
    struct rgb_32 first  = join_step(row, x);
    struct rgb_32 second = join_step(row, x + STEP);
    stream(to.r + x, first.r);
    stream(to.r + x + STEP, second.r);
    stream(to.g + x, first.g);
    stream(to.g + x + STEP, second.g);
    stream(to.b + x, first.b);
    stream(to.b + x + STEP, second.b);
}

/* Stream a row as far as it has whole steps; returns the number of pixels. */
static uint32_t stream_planar(
    uint8_t *const row[3], uint32_t width, struct rgb_planes to)
{
    uint32_t x = 0;
    if ((uintptr_t)to.r % PHOTO_CACHE_LINE != 0 && width >= STEP) {
        join_planar_step(row, x, to, stream); /* red's lines begin after it */
        x = STEP;
    }
    for (; x + PHOTO_CACHE_LINE <= width; x += PHOTO_CACHE_LINE) {
        stream_planar_line(row, x, to);
    }
    if (x + STEP <= width) {
        join_planar_step(row, x, to, stream);
        x += STEP;
    }
    return x;
}

void photo_avx2_join_planar(
    /* NOLINTNEXTLINE(readability-non-const-parameter): written through `to` */
    uint8_t *const row[3], uint32_t width, uint8_t *red, size_t plane_bytes)
{
    struct rgb_planes to = {red, red + plane_bytes, red + 2 * plane_bytes};

    uint32_t x = 0;
    if (((uintptr_t)red | plane_bytes) % STEP == 0) {
        x = stream_planar(row, width, to);
    }
    for (; x + STEP <= width; x += STEP) {
        join_planar_step(row, x, to, save);
    }
    for (; x < width; x++) {
        to.g[x] = row[0][x];
        to.r[x] = (uint8_t)(row[1][x] + row[0][x]);
        to.b[x] = (uint8_t)(row[2][x] + row[0][x]);
    }
}

void photo_avx2_fence(void)
{
    _mm_sfence();
}

/* ---- packing: four groups, 32 x 2 pixels, at a time ---------------------- */

/* The zigzag-encoded residues of the 32 values at `value`. */
static __m256i encoded_residues(const uint8_t *value)
{
    const uint8_t *up      = value - PHOTO_STRIDE;
    __m256i        left    = _mm256_sub_epi8(load(value - 1), load(up - 1));
    __m256i        residue = _mm256_sub_epi8(load(value), load(up));
    residue                = _mm256_sub_epi8(residue, left);
    __m256i sign           = _mm256_cmpgt_epi8(_mm256_setzero_si256(), residue);
    return _mm256_xor_si256(_mm256_add_epi8(residue, residue), sign);
}

/* Each u64 becomes the number of bits that the largest of its bytes needs. The
 * tables have this number for the low and for the high half of a byte. */
static __m256i needed_bits(__m256i numbers)
{
    static const uint8_t low[16] = {
        0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    static const uint8_t high[16] = {
        0, 5, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8};
    const __m256i nibble = _mm256_set1_epi64x(15);
    __m256i       used   = numbers; /* lowest byte: the OR of all eight */
    used                 = _mm256_or_si256(used, _mm256_srli_epi64(used, 32));
    used                 = _mm256_or_si256(used, _mm256_srli_epi64(used, 16));
    used                 = _mm256_or_si256(used, _mm256_srli_epi64(used, 8));
    return _mm256_max_epu8(
        _mm256_shuffle_epi8(rgb_broadcast(low), _mm256_and_si256(used, nibble)),
        _mm256_shuffle_epi8(rgb_broadcast(high),
            _mm256_and_si256(_mm256_srli_epi64(used, 4), nibble)));
}

/* One step of packing, in each u64: move the bits outside the mask `low` down
 * by `gap`, next to the bits below them. */
static __m256i close_gaps(__m256i numbers, __m256i low, __m256i gap)
{
    __m256i upper = _mm256_andnot_si256(low, numbers);
    return _mm256_or_si256(
        _mm256_and_si256(numbers, low), _mm256_srlv_epi64(upper, gap));
}

/* Pack the eight bytes of each u64 as eight numbers of `bits` bits. The three
 * steps join two numbers, then two pairs, then the two halves of the u64. */
static __m256i pack_numbers(__m256i numbers, __m256i bits)
{
    __m256i gap = _mm256_sub_epi64(_mm256_set1_epi64x(8), bits);
    numbers = close_gaps(numbers, _mm256_set1_epi64x(0x00ff00ff00ff00ff), gap);
    gap     = _mm256_add_epi64(gap, gap);
    numbers = close_gaps(numbers, _mm256_set1_epi64x(0x0000ffff0000ffff), gap);
    gap     = _mm256_add_epi64(gap, gap);
    return close_gaps(numbers, _mm256_set1_epi64x(0x00000000ffffffff), gap);
}

/* Store the high 8 bytes of `value` at any address. */
static void store_high_half(uint8_t *out, __m128i value)
{
    int64_t high = _mm_extract_epi64(value, 1);
    memcpy(out, &high, sizeof(high));
}

/* The lowest byte of each u64, as the four bytes of a u32. */
static uint32_t low_bytes(__m256i v)
{
    __m128i even = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
        v, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)));
    __m128i order =
        _mm_setr_epi8(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    return (uint32_t)_mm_cvtsi128_si32(_mm_shuffle_epi8(even, order));
}

/* Write two groups of the bit widths `first` and `second`, given their packed
 * upper and lower rows. Returns the end of the packed bytes. */
static uint8_t *write_two_groups(
    uint8_t *out, __m128i upper, __m128i lower, uint32_t first, uint32_t second)
{
    /* A row has as many bytes as the bit width. Each store writes 8 bytes; the
     * next store overwrites those after the row. */
    _mm_storel_epi64((void *)out, upper);
    _mm_storel_epi64((void *)(out + first), lower);
    out += 2 * (size_t)first;
    store_high_half(out, upper);
    store_high_half(out + second, lower);
    return out + 2 * (size_t)second;
}

/* Pack the four groups at `row` to `out`, and write their bit widths to
 * `bit_widths`. Returns the end of the packed bytes. */
static uint8_t *pack_four(const uint8_t *row, uint8_t *bit_widths, uint8_t *out)
{
    __m256i upper   = encoded_residues(row);
    __m256i lower   = encoded_residues(row + PHOTO_STRIDE);
    __m256i bits    = needed_bits(_mm256_or_si256(upper, lower));
    upper           = pack_numbers(upper, bits);
    lower           = pack_numbers(lower, bits);
    uint32_t widths = low_bytes(bits); /* bit widths, one in each byte */
    memcpy(bit_widths, &widths, sizeof(widths));
    out = write_two_groups(out, _mm256_castsi256_si128(upper),
        _mm256_castsi256_si128(lower), widths & 255, widths >> 8 & 255);
    return write_two_groups(out, _mm256_extracti128_si256(upper, 1),
        _mm256_extracti128_si256(lower, 1), widths >> 16 & 255, widths >> 24);
}

static size_t pack(
    struct photo_size size, struct photo_plane *plane, uint8_t *out)
{
    uint8_t  bit_widths[PHOTO_MAX_GROUPS + 8]; /* a step writes up to 3 more */
    uint32_t per_row    = photo_groups_per_row(size);
    uint32_t groups     = photo_groups(size);
    uint8_t *packed     = out + photo_bit_widths_bytes(groups);
    uint8_t *row_widths = bit_widths; /* for the current pair of rows */
    for (uint32_t y = 0; y < size.height; y += 2) {
        const uint8_t *row = photo_row(plane, y);
        for (uint32_t g = 0; g < per_row; g += 4) {
            packed = pack_four(row + 8 * (size_t)g, row_widths + g, packed);
        }
        row_widths += per_row;
    }
    memset(row_widths, 0, 8); /* photo_pack_bit_widths rounds up to 8 groups */
    photo_pack_bit_widths(bit_widths, groups, out);
    return (size_t)(packed - out);
}

/* ---- unpacking: two groups, 16 x 2 pixels, at a time --------------------- */

/* Constants that unpack a group of bit width w, whose 16 numbers become 16 u16.
 * Number i begins at bit w * i of the group; the lower row has numbers 8 to 15.
 * A shuffle puts the two bytes from byte w * i / 8 on into u16 number i. Then a
 * multiplication shifts the number up, until its last bit is the topmost bit.
 * Another multiplication shifts the number down to bit 0. */
struct unpack_table {
    uint8_t  from[32]; /* shuffle indices: the two bytes of each u16 */
    uint16_t up[16];   /* factor: 2^(16 - w - (w * i mod 8)) */
    uint16_t down[16]; /* factor: 2^w; the product is shifted down by 16 */
};

/* The shuffle index of byte 0 or 1 of number i. The index 0x80 gives a 0. It is
 * used if w = 0, and for byte 16, which is beyond the vector. */
#define INDEX(w, i, byte) \
    ((w) == 0 || (w) * (i) / 8 + (byte) > 15 ? 0x80 : (w) * (i) / 8 + (byte))
#define PAIR(w, i, row)                     \
    (uint8_t) INDEX(w, (i) + 8 * (row), 0), \
        (uint8_t)INDEX(w, (i) + 8 * (row), 1)
/* The entries of the eight numbers of one row (0: upper, 1: lower). */
#define EIGHT(MACRO, w, row)                                                \
    MACRO(w, 0, row), MACRO(w, 1, row), MACRO(w, 2, row), MACRO(w, 3, row), \
        MACRO(w, 4, row), MACRO(w, 5, row), MACRO(w, 6, row), MACRO(w, 7, row)
#define UP(w, i, row)   (uint16_t)(1U << (16 - (w) - (w) * (i) % 8))
#define DOWN(w, i, row) (uint16_t)(1U << (w))
#define UNPACK(w)                                   \
    {                                               \
        {EIGHT(PAIR, w, 0), EIGHT(PAIR, w, 1)},     \
            {EIGHT(UP, w, 0), EIGHT(UP, w, 1)},     \
            {EIGHT(DOWN, w, 0), EIGHT(DOWN, w, 1)}, \
    }

static const _Alignas(32) struct unpack_table unpack_tables[9] = {UNPACK(0),
    UNPACK(1), UNPACK(2), UNPACK(3), UNPACK(4), UNPACK(5), UNPACK(6), UNPACK(7),
    UNPACK(8)};

/* Loading a table's address is cheaper than computing it, and then all operands
 * have constant offsets. */
static const struct unpack_table *const table_of[9] = {&unpack_tables[0],
    &unpack_tables[1], &unpack_tables[2], &unpack_tables[3], &unpack_tables[4],
    &unpack_tables[5], &unpack_tables[6], &unpack_tables[7], &unpack_tables[8]};

/* The 16 numbers of the group at `in`, as u16. */
static inline __m256i unpack_group(const uint8_t *in, size_t bits)
{
    const struct unpack_table *table = table_of[bits];
    __m256i number = _mm256_shuffle_epi8(rgb_broadcast(in), load(table->from));
    number         = _mm256_mullo_epi16(number, load(table->up));
    return _mm256_mulhi_epu16(number, load(table->down));
}

/* A number n means n / 2 if it is even, else -(n + 1) / 2: in both cases (n + 1)
 * / 2 rounded down, with the sign that the lowest bit tells. */
static inline __m256i unzigzag(__m256i numbers)
{
    __m256i half = _mm256_avg_epu8(numbers, _mm256_setzero_si256());
    /* The lowest bit of each byte as its sign. The other bits must not all be
     * 0: sign_epi8 would return 0. */
    __m256i sign =
        _mm256_or_si256(_mm256_slli_epi16(numbers, 7), _mm256_set1_epi8(1));
    return _mm256_sign_epi8(half, sign);
}

/* In each half, replace each byte by the sum of the bytes up to this one. */
static inline __m256i prefix_sums(__m256i v)
{
    v = _mm256_add_epi8(v, _mm256_slli_si256(v, 1));
    v = _mm256_add_epi8(v, _mm256_slli_si256(v, 2));
    v = _mm256_add_epi8(v, _mm256_slli_si256(v, 4));
    return _mm256_add_epi8(v, _mm256_slli_si256(v, 8));
}

/* Unpack two groups of the bit widths `first` and `second` at `in` to 16 x 2
 * values at `row`. A value is the value above it plus the sum of the residues
 * up to it in its row. The low half of each vector is the upper row, the high
 * half the lower row. Every byte of `carry` is the sum of the residues of its
 * row to the left of these groups; unpack_two updates it. */
static inline void unpack_two(const uint8_t *in, size_t first, size_t second,
    uint8_t *row, __m256i *carry)
{
    __m256i v = _mm256_packus_epi16(
        unpack_group(in, first), unpack_group(in + 2 * first, second));
    v             = _mm256_add_epi8(prefix_sums(unzigzag(v)), *carry);
    *carry        = _mm256_shuffle_epi8(v, _mm256_set1_epi8(HALF_VECTOR - 1));
    __m128i upper = _mm_add_epi8(_mm256_castsi256_si128(v),
        _mm_loadu_si128((const void *)(row - PHOTO_STRIDE)));
    __m128i lower = _mm_add_epi8(_mm256_extracti128_si256(v, 1), upper);
    rgb_save_half(row, upper);
    rgb_save_half(row + PHOTO_STRIDE, lower);
}

/* Unpack the `per_row` groups at `in` to two rows of values, the upper one at
 * `row`. Returns the end of the packed groups. */
static inline const uint8_t *unpack_rows(const uint8_t *in,
    const uint8_t *bit_widths, uint32_t per_row, uint8_t *row)
{
    const uint8_t *end   = bit_widths + (size_t)(per_row / 2 * 2);
    __m256i        carry = _mm256_setzero_si256();
    for (; bit_widths < end; bit_widths += 2, row += HALF_VECTOR) {
        size_t first  = bit_widths[0];
        size_t second = bit_widths[1];
        unpack_two(in, first, second, row, &carry);
        in += 2 * (first + second);
    }
    if (per_row % 2 != 0) {
        unpack_two(in, *end, 0, row, &carry);
        in += 2 * (size_t)*end;
    }
    return in;
}

static size_t unpack(
    struct photo_size size, const uint8_t *in, struct photo_plane *plane)
{
    uint8_t        bit_widths[PHOTO_MAX_GROUPS + 8] = {0};
    uint32_t       per_row    = photo_groups_per_row(size);
    uint32_t       groups     = photo_groups(size);
    const uint8_t *packed     = in + photo_bit_widths_bytes(groups);
    const uint8_t *row_widths = bit_widths; /* for the current pair of rows */
    photo_unpack_bit_widths(in, groups, bit_widths);
    photo_prefetch_ahead(in, packed);
    for (uint32_t y = 0; y < size.height; y += 2) {
        const uint8_t *end =
            unpack_rows(packed, row_widths, per_row, photo_row(plane, y));
        photo_prefetch_ahead(packed, end);
        packed = end;
        row_widths += per_row;
    }
    return (size_t)(packed - in);
}

struct width_stats { /* statistics of all bit widths so far */
    __m256i sum;     /* four u64, whose total is the sum */
    __m256i max;     /* 32 bytes, whose maximum is the largest bit width */
};

/* Add 32 pairs of bit widths, a pair in each byte. */
static void add_widths(struct width_stats *stats, __m256i pairs)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i zero   = _mm256_setzero_si256();
    __m256i       low    = _mm256_and_si256(pairs, nibble);
    __m256i       high = _mm256_and_si256(_mm256_srli_epi16(pairs, 4), nibble);
    __m256i       sums = _mm256_sad_epu8(_mm256_add_epi8(low, high), zero);
    stats->sum         = _mm256_add_epi64(stats->sum, sums);
    stats->max = _mm256_max_epu8(stats->max, _mm256_max_epu8(low, high));
}

size_t photo_avx2_measure(const uint8_t *in, uint32_t groups)
{
    struct width_stats stats = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    size_t             full_bytes = groups / 2; /* with two bit widths each */
    size_t             i          = 0;
    for (; i + STEP <= full_bytes; i += STEP) {
        add_widths(&stats, load(in + i));
    }
    uint8_t last_bytes[STEP] = {0};
    memcpy(last_bytes, in + i, full_bytes - i);
    if (groups % 2 != 0) {
        last_bytes[full_bytes - i] = in[full_bytes] & 15;
    }
    add_widths(&stats, load(last_bytes));
    uint64_t sum[4] = {0};
    save(sum, stats.sum);
    __m256i is_over = _mm256_cmpgt_epi8(stats.max, _mm256_set1_epi8(8));
    /* A group has two rows of as many bytes as its bit width. */
    return _mm256_movemask_epi8(is_over) != 0
               ? SIZE_MAX
               : photo_bit_widths_bytes(groups) +
                     2 * (size_t)(sum[0] + sum[1] + sum[2] + sum[3]);
}

const struct photo_kernel photo_avx2 = {
    .split          = split,
    .join           = join,
    .join_streaming = join_streaming,
    .join_planar    = photo_avx2_join_planar,
    .fence          = photo_avx2_fence,
    .pack           = pack,
    .unpack         = unpack,
    .measure        = photo_avx2_measure,
};
