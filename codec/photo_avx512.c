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

enum { STEP = 64 /* bytes of a vector */ };

static __m512i load(const void *in)
{
    return _mm512_loadu_si512(in);
}

static __m128i load_16(const void *in)
{
    return _mm_loadu_si128(in);
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

/* ---- unpacking: four groups, 32 x 2 pixels, at a time -------------------- */

/* The vectors below have a u64 for each row of a group: the upper and the lower
 * row of group 0, then those of groups 1, 2 and 3. Each byte of `bits` is the
 * bit width of its group. */

/* The numbers of four groups, one in each byte. Each u64 of `rows` begins with
 * the packed bits of one row. With bit width w, number i begins at bit w * i.
 * The bits of a result byte above the bit width are undefined. */
static __m512i unpack_numbers(__m512i rows, __m512i bits)
{
#define FIRST_BITS(w) ((w)*UINT64_C(0x0706050403020100))
    static const _Alignas(64) uint64_t first_bits[8] = BY_WIDTH(FIRST_BITS);
    return _mm512_multishift_epi64_epi8(look_up_bits(first_bits, bits), rows);
}

/* For each bit width w, the bit matrix of the inverse zigzag encoding. The
 * matrix shifts a number right and XORs each bit with the lowest bit. It
 * ignores the bits above w. Byte 7 - j of a matrix selects the input bits that
 * are XORed to output bit j: bit j + 1, which is i of BIT, and bit 0. */
#define BIT(w, i) ((i) < (w) ? UINT64_C(1) << (8 * (8 - (i)) + (i)) : 0)
#define UNZIGZAG(w)                                                     \
    (UINT64_C(0x0101010101010101) | BIT(w, 1) | BIT(w, 2) | BIT(w, 3) | \
        BIT(w, 4) | BIT(w, 5) | BIT(w, 6) | BIT(w, 7))

static const _Alignas(64) uint64_t unzigzag_matrices[16] = {0, UNZIGZAG(1),
    UNZIGZAG(2), UNZIGZAG(3), UNZIGZAG(4), UNZIGZAG(5), UNZIGZAG(6),
    UNZIGZAG(7), UNZIGZAG(8)};

static __m512i unzigzag(__m512i numbers, __m512i bits)
{
    return _mm512_gf2p8affine_epi64_epi8(numbers,
        _mm512_permutex2var_epi64(
            load(unzigzag_matrices), bits, load(unzigzag_matrices + 8)),
        0);
}

/* In each u64, replace each byte by the sum of the bytes up to this one. */
static __m512i prefix_sums(__m512i v)
{
    v = _mm512_add_epi8(v, _mm512_slli_epi64(v, 8));
    v = _mm512_add_epi8(v, _mm512_slli_epi64(v, 16));
    return _mm512_add_epi8(v, _mm512_slli_epi64(v, 32));
}

/* Add to the first residue of each row of a group the sum of all residues to
 * its left in that row. Each u32 of `carry` has the sum of the residues of its
 * row to the left of these four groups, and is updated. */
static __m512i add_left_sums(__m512i v, __m512i *carry)
{
    /* Each u32 gets the four sums of its row; byte g is that of group g. The
     * sum of row r of group g is in byte 16 g + 8 r of the result of SAD. */
    const __m512i by_row = _mm512_set4_epi64(0x3828180838281808,
        0x3020100030201000, 0x3828180838281808, 0x3020100030201000);
    /* The factors of the four sums: 1 for the groups before this one. */
    const __m512i before =
        _mm512_setr_epi64(0, 0, 0x01, 0x01, 0x0101, 0x0101, 0x010101, 0x010101);
    __m512i group_sums = _mm512_permutexvar_epi8(
        by_row, _mm512_sad_epu8(v, _mm512_setzero_si512()));
    __m512i left = _mm512_dpbusd_epi32(*carry, group_sums, before);
    *carry       = _mm512_dpbusd_epi32(*carry, group_sums, _mm512_set1_epi8(1));
    return _mm512_mask_add_epi8(v, 0x0101010101010101, v, left);
}

/* Load a packed group into each quarter of a vector. A group has two rows of as
 * many bytes as its bit width. */
static __m512i load_four(const uint8_t *in, const uint8_t *bit_widths)
{
    __m512i v = _mm512_castsi128_si512(load_16(in));
    in += 2 * (size_t)bit_widths[0];
    v = _mm512_inserti32x4(v, load_16(in), 1);
    in += 2 * (size_t)bit_widths[1];
    v = _mm512_inserti32x4(v, load_16(in), 2);
    in += 2 * (size_t)bit_widths[2];
    return _mm512_inserti32x4(v, load_16(in), 3);
}

/* Write the values of two rows: the prefix sums of their residues, `sum`, plus
 * the row above. */
static void write_values(__m512i sum, uint8_t *row)
{
    /* Reorder the u64: the upper rows of all groups, then the lower rows. */
    const __m512i by_row = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    __m512i       both   = _mm512_permutexvar_epi64(by_row, sum);
    __m256i above = _mm256_loadu_si256((const void *)(row - PHOTO_STRIDE));
    __m256i upper = _mm256_add_epi8(_mm512_castsi512_si256(both), above);
    __m256i lower = _mm256_add_epi8(_mm512_extracti64x4_epi64(both, 1), upper);
    _mm256_storeu_si256((void *)row, upper);
    _mm256_storeu_si256((void *)(row + PHOTO_STRIDE), lower);
}

/* Unpack the four groups at `in` to two rows, the upper one at `row`. Groups
 * after the row end have bit width 0. Returns the end of the packed groups. */
static const uint8_t *unpack_four(
    const uint8_t *in, const uint8_t *bit_widths, uint8_t *row, __m512i *carry)
{
    const __m512i group = _mm512_set_epi64(0x0303030303030303,
        0x0303030303030303, 0x0202020202020202, 0x0202020202020202,
        0x0101010101010101, 0x0101010101010101, 0, 0);
    const __m512i from  = repeat_u64(0x0706050403020100);
    uint32_t      widths; /* bit widths, one in each byte */
    memcpy(&widths, bit_widths, sizeof(widths));
    __m512i bits = _mm512_shuffle_epi8(_mm512_set1_epi32((int)widths), group);
    /* The lower row of a group begins where its upper row ends. */
    __m512i rows = _mm512_shuffle_epi8(load_four(in, bit_widths),
        _mm512_mask_add_epi8(from, 0xff00ff00ff00ff00, from, bits));
    __m512i v    = unzigzag(unpack_numbers(rows, bits), bits);
    write_values(prefix_sums(add_left_sums(v, carry)), row);
    /* The sum of the four, at most 32, is the top byte of the product. */
    return in + 2 * (size_t)(widths * 0x01010101U >> 24);
}

/* Unpack two rows of `groups` groups. Returns the end of the packed groups. */
static const uint8_t *unpack_rows(
    const uint8_t *in, const uint8_t *bit_widths, uint32_t groups, uint8_t *row)
{
    __m512i  carry = _mm512_setzero_si512();
    uint32_t g     = 0;
    for (; g + 4 <= groups; g += 4) {
        in = unpack_four(in, bit_widths + g, row + 8 * (size_t)g, &carry);
    }
    if (g < groups) {
        uint8_t last_widths[4] = {0};
        memcpy(last_widths, bit_widths + g, groups - g);
        in = unpack_four(in, last_widths, row + 8 * (size_t)g, &carry);
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
    for (uint32_t y = 0; y < size.height; y += 2) {
        packed = unpack_rows(packed, row_widths, per_row, photo_row(plane, y));
        row_widths += per_row;
    }
    return (size_t)(packed - in);
}

const struct photo_kernel photo_avx512 = {
    .split       = split,
    .join        = join,
    .join_planar = photo_avx2_join_planar,
    .fence       = photo_avx2_fence,
    .pack        = pack,
    .unpack      = unpack,
    .measure     = photo_avx2_measure,
};
