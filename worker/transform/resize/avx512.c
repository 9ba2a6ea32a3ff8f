/* SPDX-License-Identifier: Apache-2.0 */
/* avx512.c - the resize kernel in AVX-512, with VBMI and VNNI.
 *
 * A weight of 22 bits is split into three signed digits of a byte each: weight
 * = d0 + d1 * 2^8 + d2 * 2^16. One instruction multiplies four bytes of pixels
 * by four digits and adds the products to a 32-bit sum. A tap is a source pixel
 * (or row) that is multiplied by a weight. Taps are processed in fours; digits
 * of 0 complete the last four. */
#include <immintrin.h>
#include <string.h>

#include "worker/transform/image.h"
#include "worker/transform/resize/kernel.h"

enum {
    TAPS   = 4,  /* taps that are multiplied at once: a four */
    VECTOR = 64, /* bytes */
    LANES  = 16, /* 32-bit sums in a vector */
    GROUP  = 5,  /* result pixels that are computed together: with 3 channels
                    they use 15 of the 16 lanes */
    /* In a group, most source pixels from the first tap of the first result
     * pixel to that of the last: one vector has the first four taps of both. */
    GROUP_WIDTH = VECTOR / FBY_RGB - TAPS,
    PLAN_HEAD   = VECTOR /* bytes at the start of a plan, for its counts */
};

/* The digits of four weights: byte k of d[i] is digit i of weight k. */
struct digits {
    uint32_t d[3];
};

/* The three signed digits of a weight, digit i in byte i. Adding 0x80 to a byte
 * of 0x80 or more carries 1 to the next digit. XOR with 0x80 subtracts 0x80. */
static uint32_t digits_of_weight(uint32_t weight)
{
    return (weight + 0x8080) ^ 0x8080;
}

/* The digits of the weights of taps `first` to `first` + 3 in result pixel (or
 * row) `o`. */
static struct digits digits_of_taps(
    const struct fby_axis *axis, uint32_t o, uint32_t first)
{
    struct digits digits = {{0}};
    for (uint32_t tap = 0; tap < TAPS; tap++) {
        uint32_t weight = fby_axis_weight(axis, o, first + tap);
        uint32_t bytes  = digits_of_weight(weight);
        for (uint32_t i = 0; i < 3; i++) {
            digits.d[i] |= (bytes >> 8 * i & 0xff) << 8 * tap;
        }
    }
    return digits;
}

/* The number of fours that `n` taps need. */
static uint32_t count_fours(uint32_t n)
{
    return (n + TAPS - 1) / TAPS;
}

/* 16 sums for each of the three digits. */
struct sums {
    __m512i digit[3];
};

/* Sums before any product: one half, which rounds the result. */
static inline struct sums initial_sums(void)
{
    const __m512i zero = _mm512_setzero_si512();
    return (struct sums){{_mm512_set1_epi32(RESIZE_HALF), zero, zero}};
}

static inline void add_products(
    struct sums *sums, __m512i pixels, const __m512i digits[3])
{
    for (int i = 0; i < 3; i++) {
        sums->digit[i] = _mm512_dpbusd_epi32(sums->digit[i], pixels, digits[i]);
    }
}

/* sum 0 + sum 1 * 2^8 + sum 2 * 2^16, without the fraction. */
static inline __m512i sums_to_values(const struct sums *sums)
{
    __m512i upper =
        _mm512_add_epi32(_mm512_slli_epi32(sums->digit[2], 8), sums->digit[1]);
    __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(upper, 8), sums->digit[0]);
    return _mm512_srli_epi32(sum, FBY_WEIGHT_BITS);
}

/* ---- pixels of a row ----------------------------------------------------- */

/* True if one vector holds the first four taps of all pixels in a group. If the
 * axis shrinks too much for that, the AVX2 kernel is used. */
static bool fits_vector(const struct fby_axis_spec *x)
{
    /* most source pixels from a result pixel's first tap to the next one's */
    const uint64_t max_shrink = (GROUP_WIDTH - 1) / (GROUP - 1);
    return x->from <= max_shrink * x->to * x->unit;
}

/* The head of the plan for axis x (the weights in the form of this kernel).
 * Then come the pixel_groups, then n_fours times three vectors for each. */
struct group_plan {
    uint32_t n_groups; /* groups of result pixels in a row */
    uint32_t n_fours;  /* fours of taps of each result pixel */
};

/* The byte shuffle of a group. Lane k gets four bytes of the source row: one
 * channel of four taps. Byte i of from_bytes[k] is the offset of tap i from
 * byte `from` of the row. For the next four taps 12 is added to `from`. The
 * struct is loaded as one vector. As its last lane, `from` selects arbitrary
 * bytes, which are multiplied by digits of 0. */
struct pixel_group {
    uint32_t from_bytes[GROUP * FBY_RGB];
    uint32_t from; /* bytes */
};
_Static_assert(sizeof(struct pixel_group) == VECTOR, "a vector");

static size_t digits_offset(struct group_plan plan)
{
    return PLAN_HEAD + plan.n_groups * sizeof(struct pixel_group);
}

static size_t x_plan_bytes(const struct fby_axis_spec *x)
{
    struct group_plan plan = {
        (x->n + GROUP - 1) / GROUP, count_fours(fby_axis_max_reach(x))};
    size_t bytes =
        digits_offset(plan) + (size_t)plan.n_groups * plan.n_fours * 3 * VECTOR;
    return fits_vector(x) ? bytes : resize_avx2.x_plan_bytes(x);
}

/* The leftmost tap of the group of result pixels [first, end): a tap of its
 * first pixel, or of its last pixel if the axis is mirrored. */
static uint32_t leftmost_tap(
    const struct fby_axis *x, uint32_t first, uint32_t end, uint32_t n_fours)
{
    uint32_t a = resize_first_tap(x, first, TAPS * n_fours);
    uint32_t b = resize_first_tap(x, end - 1, TAPS * n_fours);
    return a < b ? a : b;
}

/* Write the plan of result pixel `o`, which has three lanes of its group, one
 * for each channel. A lane has the offset of the first tap in all four bytes,
 * plus 0, 3, 6 and 9, because a pixel has 3 bytes. */
static void prepare_pixel(const struct fby_axis *x, uint32_t o,
    uint32_t n_fours, struct pixel_group *group, uint32_t *digits)
{
    uint32_t first = resize_first_tap(x, o, TAPS * n_fours);
    uint32_t lane  = o % GROUP * FBY_RGB;
    for (uint32_t c = 0; c < FBY_RGB; c++) {
        uint32_t byte               = first * FBY_RGB + c - group->from;
        group->from_bytes[lane + c] = byte * 0x01010101U + 0x09060300U;
    }
    for (uint32_t four = 0; four < n_fours; four++) {
        struct digits tap_digits = digits_of_taps(x, o, first + TAPS * four);
        for (uint32_t i = 0; i < 3; i++, digits += LANES) {
            digits[lane]     = tap_digits.d[i];
            digits[lane + 1] = tap_digits.d[i];
            digits[lane + 2] = tap_digits.d[i];
        }
    }
}

static void x_write_plan(const struct fby_axis *x)
{
    if (!fits_vector(&x->spec)) {
        resize_avx2.x_write_plan(x);
        return;
    }
    struct group_plan plan = {
        (x->spec.n + GROUP - 1) / GROUP, resize_max_tap_groups(x, TAPS)};
    struct pixel_group *groups =
        (void *)((uint8_t *)x->kernel_plan + PLAN_HEAD);
    uint32_t *digits =
        (void *)((uint8_t *)x->kernel_plan + digits_offset(plan));
    memset(x->kernel_plan, 0, x_plan_bytes(&x->spec));
    memcpy(x->kernel_plan, &plan, sizeof(plan));
    for (uint32_t g = 0; g < plan.n_groups; g++) {
        uint32_t first = g * GROUP;
        uint32_t end   = first + GROUP < x->spec.n ? first + GROUP : x->spec.n;
        groups[g].from = leftmost_tap(x, first, end, plan.n_fours) * FBY_RGB;
        for (uint32_t o = first; o < end; o++) {
            prepare_pixel(x, o, plan.n_fours, &groups[g], digits);
        }
        digits += (size_t)plan.n_fours * 3 * LANES;
    }
}

static inline __attribute__((always_inline)) void scale_x_fours(
    const struct fby_axis *x, const uint8_t *in, uint8_t *out,
    struct group_plan plan, uint32_t n_fours)
{
    const uint8_t            *memory = x->kernel_plan;
    const struct pixel_group *groups = (const void *)(memory + PLAN_HEAD);
    const uint8_t            *digits = memory + digits_offset(plan);
    for (uint32_t g = 0; g < plan.n_groups; g++) {
        const uint8_t *from    = in + groups[g].from;
        __m512i        shuffle = _mm512_loadu_si512(&groups[g]);
        struct sums    sums    = initial_sums();
        for (uint32_t four = 0; four < n_fours; four++) {
            __m512i pixels =
                _mm512_permutexvar_epi8(shuffle, _mm512_loadu_si512(from));
            const __m512i d[3] = {_mm512_loadu_si512(digits),
                _mm512_loadu_si512(digits + VECTOR),
                _mm512_loadu_si512(digits + (size_t)2 * VECTOR)};
            add_products(&sums, pixels, d);
            digits += (size_t)3 * VECTOR;
            from += (size_t)TAPS * FBY_RGB;
        }
        _mm_storeu_si128(
            (void *)out, _mm512_cvtepi32_epi8(sums_to_values(&sums)));
        out += (size_t)GROUP * FBY_RGB;
    }
}

static void scale_x(const struct fby_axis *x, const uint8_t *in, uint8_t *out)
{
    if (!fits_vector(&x->spec)) {
        resize_avx2.scale_x(x, in, out);
        return;
    }
    struct group_plan plan;
    memcpy(&plan, x->kernel_plan, sizeof(plan));
    RESIZE_UNROLLED(plan.n_fours, scale_x_fours, x, in, out, plan);
}

/* ---- rows ---------------------------------------------------------------- */

static size_t y_plan_bytes(const struct fby_axis_spec *y)
{
    return PLAN_HEAD + (size_t)y->n * count_fours(fby_axis_max_reach(y)) *
                           sizeof(struct digits);
}

static void y_write_plan(const struct fby_axis *y)
{
    uint32_t       n_fours = resize_max_tap_groups(y, TAPS);
    struct digits *digits  = (void *)((uint8_t *)y->kernel_plan + PLAN_HEAD);
    memcpy(y->kernel_plan, &n_fours, sizeof(n_fours));
    for (uint32_t o = 0; o < y->spec.n; o++) {
        for (uint32_t four = 0; four < n_fours; four++) {
            *digits++ = digits_of_taps(y, o, y->reaches[o].first + TAPS * four);
        }
    }
}

/* The sums of 64 columns (bytes of a row), 16 in a quarter. Unpacking in
 * add_rows changes their order, and packing in columns_to_bytes restores it. */
struct columns_64 {
    struct sums quarter[4];
};

static inline void add_rows(struct columns_64 *columns,
    const uint8_t *const rows[TAPS], size_t offset, const struct digits *digits)
{
    const __m512i d[3] = {_mm512_set1_epi32((int)digits->d[0]),
        _mm512_set1_epi32((int)digits->d[1]),
        _mm512_set1_epi32((int)digits->d[2])};

    __m512i row_0   = _mm512_loadu_si512(rows[0] + offset);
    __m512i row_1   = _mm512_loadu_si512(rows[1] + offset);
    __m512i row_2   = _mm512_loadu_si512(rows[2] + offset);
    __m512i row_3   = _mm512_loadu_si512(rows[3] + offset);
    __m512i low_01  = _mm512_unpacklo_epi8(row_0, row_1);
    __m512i high_01 = _mm512_unpackhi_epi8(row_0, row_1);
    __m512i low_23  = _mm512_unpacklo_epi8(row_2, row_3);
    __m512i high_23 = _mm512_unpackhi_epi8(row_2, row_3);
    add_products(
        &columns->quarter[0], _mm512_unpacklo_epi16(low_01, low_23), d);
    add_products(
        &columns->quarter[1], _mm512_unpackhi_epi16(low_01, low_23), d);
    add_products(
        &columns->quarter[2], _mm512_unpacklo_epi16(high_01, high_23), d);
    add_products(
        &columns->quarter[3], _mm512_unpackhi_epi16(high_01, high_23), d);
}

static inline __m512i columns_to_bytes(const struct columns_64 *columns)
{
    return _mm512_packus_epi16(
        _mm512_packus_epi32(sums_to_values(&columns->quarter[0]),
            sums_to_values(&columns->quarter[1])),
        _mm512_packus_epi32(sums_to_values(&columns->quarter[2]),
            sums_to_values(&columns->quarter[3])));
}

/* Compute bytes [offset, offset + 64) of a result row. */
static inline __m512i scale_64(const struct digits *digits, uint32_t n_fours,
    const uint8_t *const *rows, size_t offset)
{
    struct columns_64 columns = {
        {initial_sums(), initial_sums(), initial_sums(), initial_sums()}};
    for (uint32_t four = 0; four < n_fours; four++) {
        add_rows(&columns, rows + (size_t)TAPS * four, offset, &digits[four]);
    }
    return columns_to_bytes(&columns);
}

static void scale_y(const struct fby_axis *y, uint32_t o,
    const uint8_t *const *rows, size_t size, uint8_t *out)
{
    uint32_t n_fours;
    memcpy(&n_fours, y->kernel_plan, sizeof(n_fours));
    const struct digits *digits =
        (void *)((uint8_t *)y->kernel_plan + PLAN_HEAD);
    uint32_t row_fours = count_fours(y->reaches[o].n); /* of result row `o` */
    digits += (size_t)o * n_fours;
    size_t i = 0;
    for (; i + VECTOR <= size; i += VECTOR) {
        _mm512_storeu_si512(out + i, scale_64(digits, row_fours, rows, i));
    }
    if (i < size) {
        __mmask64 tail = UINT64_MAX >> (VECTOR - (size - i));
        _mm512_mask_storeu_epi8(
            out + i, tail, scale_64(digits, row_fours, rows, i));
    }
}

const struct resize_kernel resize_avx512 = {
    .x_plan_bytes = x_plan_bytes,
    .x_write_plan = x_write_plan,
    .y_plan_bytes = y_plan_bytes,
    .y_write_plan = y_write_plan,
    .scale_x      = scale_x,
    .scale_y      = scale_y,
};
