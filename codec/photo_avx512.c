/* SPDX-License-Identifier: Apache-2.0 */
/* The AVX-512 kernel of photo format 1: 64 pixels, or eight groups, at a time.
 * It is faster than AVX2 mainly because one instruction replaces a whole step.
 * GFNI instructions multiply bytes by a matrix of bits. They do the zigzag
 * encoding and its inverse, and find the bits that eight numbers use. A
 * multishift extracts bit fields from any positions of a u64. A compress
 * instruction moves the used bytes together. The functions without a comment
 * have the contracts of struct photo_kernel. */
#include <immintrin.h>
#include <string.h>

#include "codec/photo_kernel.h"
#include "codec/rgb_avx512.h"
#include "common/rgb_avx2.h"

enum { STEP = 64 /* bytes of a vector */ };

static __m512i load(const void *in)
{
    return _mm512_loadu_si512(in);
}

static __m256i load_half(const void *in)
{
    return _mm256_loadu_si256(in);
}

static void save(void *out, __m512i value)
{
    _mm512_storeu_si512(out, value);
}

/* The same eight bytes in every u64. */
static __m512i repeat_u64(uint64_t bytes)
{
    return _mm512_set1_epi64((long long)bytes);
}

/* ---- interleaved pixels and planes --------------------------------------- */

static void split_step(struct rgb_64 v, uint8_t *const row[3], uint32_t x)
{
    save(row[0] + x, v.g);
    save(row[1] + x, _mm512_sub_epi8(v.r, v.g));
    save(row[2] + x, _mm512_sub_epi8(v.b, v.g));
}

static void split(const uint8_t *pixels, uint32_t width, uint8_t *const row[3])
{
    if (width < STEP) {
        split_step(rgb_deinterleave_some(pixels, width), row, 0);
        return;
    }
    for (uint32_t x = 0; x + STEP <= width; x += STEP) {
        split_step(rgb_deinterleave_64(pixels + 3 * (size_t)x), row, x);
    }
    if (width % STEP != 0) { /* the last 64 pixels, some of them again */
        uint32_t x = width - STEP;
        split_step(rgb_deinterleave_64(pixels + 3 * (size_t)x), row, x);
    }
}

/* The RGB values of 64 pixels from column `x` on. */
static struct rgb_64 join_step(uint8_t *const row[3], uint32_t x)
{
    __m512i g = load(row[0] + x);
    return (struct rgb_64){_mm512_add_epi8(load(row[1] + x), g), g,
        _mm512_add_epi8(load(row[2] + x), g)};
}

static void join(uint8_t *const row[3], uint32_t width, uint8_t *pixels)
{
    if (width < STEP) {
        rgb_interleave_some(join_step(row, 0), width, pixels);
        return;
    }
    for (uint32_t x = 0; x + STEP <= width; x += STEP) {
        rgb_interleave_64(join_step(row, x), pixels + 3 * (size_t)x);
    }
    if (width % STEP != 0) { /* the last 64 pixels, some of them again */
        uint32_t x = width - STEP;
        rgb_interleave_64(join_step(row, x), pixels + 3 * (size_t)x);
    }
}

static void stream(uint8_t *out, __m512i value)
{
    _mm512_stream_si512((void *)out, value);
}

/* Join 32 pixels from column `x` on to a 32-byte aligned address. The row may
 * end after them, so no whole vector is loaded. */
static void join_half_step(uint8_t *const row[3], uint32_t x, uint8_t *pixels)
{
    __m256i g = load_half(row[0] + x);
    rgb_interleave_streaming(
        (struct rgb_32){_mm256_add_epi8(load_half(row[1] + x), g), g,
            _mm256_add_epi8(load_half(row[2] + x), g)},
        pixels);
}

static void join_streaming(
    uint8_t *const row[3], uint32_t width, uint8_t *pixels)
{
    uint32_t x = 0;
    if ((uintptr_t)pixels % STEP != 0) { /* the pixels after it are aligned */
        join_half_step(row, 0, pixels);
        x = STEP / 2;
    }
    for (; x + STEP <= width; x += STEP) {
        struct rgb_64 p   = join_step(row, x);
        uint8_t      *out = pixels + 3 * (size_t)x;
        stream(out, rgb_interleaved(p, 0));
        stream(out + STEP, rgb_interleaved(p, 1));
        stream(out + 2 * (size_t)STEP, rgb_interleaved(p, 2));
    }
    if (x < width) {
        join_half_step(row, x, pixels + 3 * (size_t)x);
    }
}

/* ---- packing: eight groups, 64 x 2 pixels, at a time --------------------- */

/* Each of the 64 values at `value` minus the value to its left. */
static __m512i left_differences(const uint8_t *value)
{
    return _mm512_sub_epi8(load(value), load(value - 1));
}

/* Zigzag-encode the bytes of the mask `valid`: shift left by one bit, and XOR
 * each bit with the sign, as the bit matrix says. Other bytes become 0. */
static __m512i zigzag(__m512i residues, __mmask64 valid)
{
    return _mm512_maskz_gf2p8affine_epi64_epi8(
        valid, residues, repeat_u64(0x808182848890a0c0), 0);
}

/* Byte i of the result is the OR of the eight bytes of the i-th u64. */
static __m128i used_bits(__m512i numbers)
{
    /* Byte k of each u64 of `planes` has bit k of each of the eight bytes. The
     * mask has a bit for each byte of `planes`: 1 if one of them has bit k. */
    __m512i planes = _mm512_gf2p8affine_epi64_epi8(
        repeat_u64(0x8040201008040201), numbers, 0);
    return _mm_cvtsi64_si128((long long)_mm512_test_epi8_mask(planes, planes));
}

/* Look up the low four bits of each index. Indices from 0x80 on give 0. */
static __m128i look_up(const uint8_t table[16], __m128i indices)
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const void *)table), indices);
}

/* For each byte, the number of bits up to its highest set bit. The tables have
 * this number for the low and for the high half of a byte. */
static __m128i needed_bits(__m128i used)
{
    static const uint8_t low[16] = {
        0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    static const uint8_t high[16] = {
        0, 5, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8};
    __m128i upper = _mm_and_si128(_mm_srli_epi16(used, 4), _mm_set1_epi8(15));
    return _mm_max_epu8(look_up(low, used), look_up(high, upper));
}

/* Parameters that pack the eight numbers of a u64 without gaps, for the bit
 * width w of their group. A multiplication joins two numbers, another one joins
 * two pairs, and shifts join the two halves of the u64. */
struct pack_params {
    __m512i  pair;   /* factors of the bytes: 1, 2^w, 1, 2^w, ... */
    __m512i  four;   /* factors of the u16: 1, 2^2w, ... */
    __m512i  gap;    /* u64: bits between the joined halves, 32 - 4w */
    __mmask8 narrow; /* the u64 with w < 8; with w = 8 there are no gaps */
};

/* A table with a u64 for each bit width. The lookup uses only three bits, so
 * entry 0 is that of width 8. Width 0 gets this entry, too, which is correct,
 * because its numbers are 0. */
#define BY_WIDTH(MACRO)                                                       \
    {                                                                         \
        MACRO(8), MACRO(1), MACRO(2), MACRO(3), MACRO(4), MACRO(5), MACRO(6), \
            MACRO(7)                                                          \
    }

static __m512i look_up_bits(const uint64_t table[8], __m512i bits)
{
    return _mm512_permutexvar_epi64(bits, load(table));
}

/* `bits` has a byte for each group, and `used` is the OR of its numbers. */
static struct pack_params pack_params_of(__m128i bits, __m128i used)
{
#define PAIR(w) \
    (UINT64_C(0x0001000100010001) + (UINT64_C(0x0100010001000100) << ((w) % 8)))
#define QUAD(w)                     \
    (UINT64_C(0x0000000100000001) + \
        (UINT64_C(0x0001000000010000) << (2 * ((w) % 8))))
#define GAP(w) (32 - 4 * (w))
    static const _Alignas(64) uint64_t pair[8] = BY_WIDTH(PAIR);
    static const _Alignas(64) uint64_t four[8] = BY_WIDTH(QUAD);
    static const _Alignas(64) uint64_t gap[8]  = BY_WIDTH(GAP);
    __m512i                            wide    = _mm512_cvtepu8_epi64(bits);
    return (struct pack_params){
        .pair   = look_up_bits(pair, wide),
        .four   = look_up_bits(four, wide),
        .gap    = look_up_bits(gap, wide),
        .narrow = (__mmask8)~_mm_movepi8_mask(used), /* w = 8 sets bit 7 */
    };
}

static __m512i pack_numbers(__m512i numbers, const struct pack_params *params)
{
    __m512i pairs = _mm512_maddubs_epi16(params->pair, numbers);
    __m512i fours = _mm512_madd_epi16(pairs, params->four);
    /* Move the lower four numbers up to the upper four (the upper half of `gap`
     * is 0), then all eight down. */
    return _mm512_mask_srlv_epi64(numbers, params->narrow,
        _mm512_sllv_epi32(fours, params->gap), params->gap);
}

/* Write the packed rows of four groups: of each u64 only the bytes whose bit in
 * `byte_mask` is set. Returns the end of the written bytes. */
static uint8_t *write_rows(uint8_t *out, __m512i rows, uint64_t byte_mask)
{
    save(out, _mm512_maskz_compress_epi8(byte_mask, rows));
    return out + __builtin_popcountll(byte_mask);
}

/* Pack eight groups, given the numbers of their upper and lower rows, and write
 * their bit widths to `bit_widths`. Returns the end of the packed bytes. */
static uint8_t *pack_eight(
    __m512i upper, __m512i lower, uint8_t *bit_widths, uint8_t *out)
{
    /* For each bit width w, a mask of w bytes: the packed bytes of a row. */
    static const uint8_t masks[16] = {0, 1, 3, 7, 15, 31, 63, 127, 255};
    /* Each group's upper row, then its lower row. */
    const __m512i groups_0_3  = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i groups_4_7  = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    __m128i       used        = used_bits(_mm512_or_si512(upper, lower));
    __m128i       bits        = needed_bits(used);
    __m128i       byte_mask   = look_up(masks, _mm_unpacklo_epi8(bits, bits));
    struct pack_params params = pack_params_of(bits, used);
    upper                     = pack_numbers(upper, &params);
    lower                     = pack_numbers(lower, &params);
    _mm_storel_epi64((void *)bit_widths, bits);
    out = write_rows(out, _mm512_permutex2var_epi64(upper, groups_0_3, lower),
        (uint64_t)_mm_cvtsi128_si64(byte_mask));
    uint64_t last_mask = (uint64_t)_mm_extract_epi64(byte_mask, 1);
    if (last_mask == 0) { /* for example at the end of a row of 224 pixels */
        return out;
    }
    return write_rows(
        out, _mm512_permutex2var_epi64(upper, groups_4_7, lower), last_mask);
}

/* Pack two rows of `width` values, the upper one at `row`. Returns the end of
 * the packed bytes. */
static uint8_t *pack_rows(
    const uint8_t *row, uint32_t width, uint8_t *bit_widths, uint8_t *out)
{
    for (size_t x = 0; x < width; x += STEP) {
        /* All 64 values or, in the last step, the values of whole groups. */
        __mmask64 valid = rgb_first_bytes((width - x + 7) / 8 * 8);
        __m512i   above = left_differences(row + x - PHOTO_STRIDE);
        __m512i   upper = left_differences(row + x);
        __m512i   lower = left_differences(row + x + PHOTO_STRIDE);
        lower           = zigzag(_mm512_sub_epi8(lower, upper), valid);
        upper           = zigzag(_mm512_sub_epi8(upper, above), valid);
        out             = pack_eight(upper, lower, bit_widths + x / 8, out);
    }
    return out;
}

static size_t pack(
    struct photo_size size, struct photo_plane *plane, uint8_t *out)
{
    uint8_t  bit_widths[PHOTO_MAX_GROUPS + 8]; /* a step writes up to 7 more */
    uint32_t groups     = photo_groups(size);
    uint8_t *packed     = out + photo_bit_widths_bytes(groups);
    uint8_t *row_widths = bit_widths; /* for the current pair of rows */
    for (uint32_t y = 0; y < size.height; y += 2) {
        packed = pack_rows(photo_row(plane, y), size.width, row_widths, packed);
        row_widths += photo_groups_per_row(size);
    }
    memset(row_widths, 0, 8); /* photo_pack_bit_widths rounds up to 8 groups */
    photo_pack_bit_widths(bit_widths, groups, out);
    return (size_t)(packed - out);
}

/* ---- unpacking: eight groups, 64 x 2 pixels, at a time ------------------- */

/* The vectors below have four groups, with a u64 for each of their rows: the
 * upper and the lower row of group 0, then those of groups 1, 2 and 3. */

/* For each bit width w, the bit matrix of the inverse zigzag encoding. The
 * matrix shifts a number right and XORs each bit with the lowest bit. It
 * ignores the bits above w. Byte 7 - j of a matrix selects the input bits that
 * are XORed to output bit j: bit j + 1, which is i of BIT, and bit 0. */
#define BIT(w, i) ((i) < (w) ? UINT64_C(1) << (8 * (8 - (i)) + (i)) : 0)
#define LOWEST(w) ((w) > 0 ? UINT64_C(0x0101010101010101) : 0)
#define UNZIGZAG(w)                                                          \
    (LOWEST(w) | BIT(w, 1) | BIT(w, 2) | BIT(w, 3) | BIT(w, 4) | BIT(w, 5) | \
        BIT(w, 6) | BIT(w, 7))

/* Constants that unpack two groups, for each pair of bit widths: a u64 for each
 * of their four rows. A row of bit width w has w bytes. */
struct unpack_pair {
    /* Shuffle indices that fetch the bytes of each row from a vector, if these
     * two groups begin its lower half, or its upper half. */
    _Alignas(64) uint64_t in_lower[4];
    uint64_t in_upper[4];
    uint64_t first_bits[4]; /* number i of a row begins at bit w * i of it */
    uint64_t unzigzag[4];   /* bit matrices */
};

#define BYTES_FROM(byte) \
    (UINT64_C(0x0706050403020100) + (byte)*UINT64_C(0x0101010101010101))
#define ROWS_FROM(byte, v, w)                                                \
    {                                                                        \
        BYTES_FROM(byte), BYTES_FROM((byte) + (v)),                          \
            BYTES_FROM((byte) + 2 * (v)), BYTES_FROM((byte) + 2 * (v) + (w)) \
    }
#define FIRST_BITS(w) ((w)*UINT64_C(0x0706050403020100))
#define TWICE(MACRO, v, w)                     \
    {                                          \
        MACRO(v), MACRO(v), MACRO(w), MACRO(w) \
    }
#define UNPACK_PAIR(v, w)                                  \
    {                                                      \
        ROWS_FROM(0, v, w), ROWS_FROM(STEP / 2, v, w),     \
            TWICE(FIRST_BITS, v, w), TWICE(UNZIGZAG, v, w) \
    }
#define PAIR_BYTES(v, w) (2 * ((v) + (w)))

/* Tables of all pairs (v, w). A pair is a byte of the packed bit widths. */
#define BY_FIRST(MACRO, w)                                           \
    [16 * (w)] = MACRO(0, w), MACRO(1, w), MACRO(2, w), MACRO(3, w), \
          MACRO(4, w), MACRO(5, w), MACRO(6, w), MACRO(7, w), MACRO(8, w)
#define BY_PAIR(MACRO)                                                  \
    {                                                                   \
        BY_FIRST(MACRO, 0), BY_FIRST(MACRO, 1), BY_FIRST(MACRO, 2),     \
            BY_FIRST(MACRO, 3), BY_FIRST(MACRO, 4), BY_FIRST(MACRO, 5), \
            BY_FIRST(MACRO, 6), BY_FIRST(MACRO, 7), BY_FIRST(MACRO, 8)  \
    }

static const struct unpack_pair unpack_pairs[] = BY_PAIR(UNPACK_PAIR);
static const uint8_t            pair_bytes[]   = BY_PAIR(PAIR_BYTES);

/* The vector of these two halves, which need no alignment. */
static __m512i load_halves(const void *lower, const void *upper)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(load_half(lower)), load_half(upper), 1);
}

/* A position in two packed rows. */
struct packed_rows {
    const uint8_t *at;
    /* Each u32 has the sum of all residues of its row before `at`. */
    __m512i sums_before;
};

/* Unpack the residues of the next four groups. `widths` has their packed bit
 * widths: two pairs. */
static inline __m512i unpack_residues(struct packed_rows *in, uint32_t widths)
{
    const struct unpack_pair *lower = &unpack_pairs[widths & 255];
    const struct unpack_pair *upper = &unpack_pairs[widths >> 8];
    const uint8_t            *half  = in->at + pair_bytes[widths & 255];
    __m512i                   rows =
        _mm512_permutexvar_epi8(load_halves(lower->in_lower, upper->in_upper),
            load_halves(in->at, half));
    /* The bits of these bytes above the bit width are undefined; UNZIGZAG
     * ignores them. */
    __m512i numbers = _mm512_multishift_epi64_epi8(
        load_halves(lower->first_bits, upper->first_bits), rows);
    in->at = half + pair_bytes[widths >> 8];
    return _mm512_gf2p8affine_epi64_epi8(
        numbers, load_halves(lower->unzigzag, upper->unzigzag), 0);
}

/* In each u64, replace each byte by the sum of the bytes up to this one. */
static __m512i prefix_sums(__m512i v)
{
    v = _mm512_add_epi8(v, _mm512_slli_epi64(v, 8));
    v = _mm512_add_epi8(v, _mm512_slli_epi64(v, 16));
    return _mm512_add_epi8(v, _mm512_slli_epi64(v, 32));
}

/* The sum of all residues to the left of each group, in each byte of its row.
 * The residues of the groups themselves, `v`, are added to in->sums_before. */
static inline __m512i left_sums(struct packed_rows *in, __m512i v)
{
    /* Each u32 gets the four sums of its row; byte g is that of group g. The
     * sum of row r of group g is in byte 16 g + 8 r of the result of SAD. */
    const __m512i by_row = _mm512_set4_epi64(0x3828180838281808,
        0x3020100030201000, 0x3828180838281808, 0x3020100030201000);
    /* The factors of the four sums: 1 for the groups before this one. */
    const __m512i before =
        _mm512_setr_epi64(0, 0, 0x01, 0x01, 0x0101, 0x0101, 0x010101, 0x010101);
    const __m512i first_byte =
        _mm512_set4_epi64(0x0808080808080808, 0, 0x0808080808080808, 0);
    __m512i sums = _mm512_permutexvar_epi8(
        by_row, _mm512_sad_epu8(v, _mm512_setzero_si512()));
    __m512i left = _mm512_dpbusd_epi32(in->sums_before, sums, before);
    in->sums_before =
        _mm512_dpbusd_epi32(in->sums_before, sums, _mm512_set1_epi8(1));
    return _mm512_shuffle_epi8(left, first_byte);
}

/* Unpack the next four groups, each residue added to all those to its left. */
static inline __m512i unpack_four(struct packed_rows *in, uint32_t widths)
{
    __m512i v = unpack_residues(in, widths);
    return _mm512_add_epi8(left_sums(in, v), prefix_sums(v));
}

/* Write the values of two rows of eight groups, the upper one at `row`: the
 * sums of their residues plus the row above. */
static inline void write_values(
    __m512i groups_0_3, __m512i groups_4_7, uint8_t *row)
{
    const __m512i upper_rows = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i lower_rows = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    __m512i       upper =
        _mm512_permutex2var_epi64(groups_0_3, upper_rows, groups_4_7);
    __m512i lower =
        _mm512_permutex2var_epi64(groups_0_3, lower_rows, groups_4_7);
    upper = _mm512_add_epi8(upper, load(row - PHOTO_STRIDE));
    save(row, upper);
    save(row + PHOTO_STRIDE, _mm512_add_epi8(lower, upper));
}

/* The packed bit widths of eight groups, from bit `shift` of *at on. */
static uint32_t widths_at(const uint8_t *at, uint32_t shift)
{
    uint64_t widths;
    memcpy(&widths, at, sizeof(widths));
    return (uint32_t)(widths >> shift);
}

/* Unpack two rows of `groups` groups to `row` and the row after it. Their
 * packed bit widths begin at bit `shift` of *widths. Returns the end of the
 * groups. */
static inline const uint8_t *unpack_rows(const uint8_t *packed,
    const uint8_t *widths, uint32_t shift, uint32_t groups, uint8_t *row)
{
    struct packed_rows in = {packed, _mm512_setzero_si512()};
    for (; groups >= 8; groups -= 8, widths += 4, row += STEP) {
        uint32_t eight = widths_at(widths, shift);
        __m512i  first = unpack_four(&in, eight & 0xffff);
        write_values(first, unpack_four(&in, eight >> 16), row);
    }
    if (groups > 0) {
        /* Groups after the row's end have bit width 0 here. Of four groups or
         * fewer, the values of `second` are not used. */
        uint32_t eight  = widths_at(widths, shift) & ((1U << 4 * groups) - 1);
        __m512i  first  = unpack_four(&in, eight & 0xffff);
        __m512i  second = groups > 4 ? unpack_four(&in, eight >> 16) : first;
        write_values(first, second, row);
    }
    return in.at;
}

static size_t unpack(
    struct photo_size size, const uint8_t *in, struct photo_plane *plane)
{
    uint32_t       per_row = photo_groups_per_row(size);
    const uint8_t *packed  = in + photo_bit_widths_bytes(photo_groups(size));
    uint32_t       first   = 0; /* group of the current pair of rows */
    photo_prefetch_ahead(in, packed);
    for (uint32_t y = 0; y < size.height; y += 2) {
        const uint8_t *end = unpack_rows(packed, in + first / 2,
            4 * (first % 2), per_row, photo_row(plane, y));
        photo_prefetch_ahead(packed, end);
        packed = end;
        first += per_row;
    }
    return (size_t)(packed - in);
}

const struct photo_kernel photo_avx512 = {
    .split          = split,
    .join           = join,
    .join_streaming = join_streaming,
    .join_planar    = photo_avx2_join_planar,
    .fence          = photo_avx2_fence,
    .pack           = pack,
    .unpack         = unpack,
    .measure        = photo_avx2_measure,
};
