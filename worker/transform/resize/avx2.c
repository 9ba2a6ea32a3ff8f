/* SPDX-License-Identifier: Apache-2.0 */
/* avx2.c - the resize kernel in AVX2.
 *
 * A tap is a source pixel (or row) that is multiplied by a weight. A weight of
 * 22 bits is split into an upper and a lower half of 11 bits. For each half,
 * one instruction multiplies pairs of 16-bit numbers and adds the two
 * products. The result, (upper sum << 11) + lower sum, is the same integer as
 * in portable C. Taps are processed in pairs; a tap with a weight of 0
 * completes the last pair. */
#include <immintrin.h>
#include <string.h>

#include "worker/transform/image.h"
#include "worker/transform/resize/kernel.h"

enum {
    LOW_BITS  = FBY_WEIGHT_BITS / 2,
    VECTOR    = 32,    /* bytes */
    PLAN_HEAD = VECTOR /* bytes at the start of a plan, for its counts */
};

/* The weights of two adjacent taps, as _mm256_madd_epi16 needs them: the first
 * in bits 0..15, the second in bits 16..31. */
struct weight_pair {
    uint32_t upper, lower; /* the upper and the lower halves of both weights */
};

static struct weight_pair split_pair(uint32_t first, uint32_t second)
{
    const uint32_t mask = (1U << LOW_BITS) - 1;
    return (struct weight_pair){
        .upper = first >> LOW_BITS | second >> LOW_BITS << 16,
        .lower = (first & mask) | (second & mask) << 16,
    };
}

/* (upper << LOW_BITS) + lower, rounded to integers. */
static __m256i sums_to_values(__m256i upper, __m256i lower)
{
    __m256i sum = _mm256_add_epi32(_mm256_slli_epi32(upper, LOW_BITS), lower);
    sum         = _mm256_add_epi32(sum, _mm256_set1_epi32(RESIZE_HALF));
    return _mm256_srli_epi32(sum, FBY_WEIGHT_BITS);
}

/* ---- pixels of a row ----------------------------------------------------- */

/* Four result pixels, which are computed together in two vectors: pixels 0 and
 * 1 in the halves of the first vector, 2 and 3 in those of the second. */
struct quad {
    uint32_t first_tap_offset[4]; /* of each pixel: bytes in the source row */
};

/* The weights of a pair of taps in two result pixels. Each vector has those of
 * the first pixel in its first four lanes, of the second in the others. */
struct pair_vectors {
    __m256i upper, lower;
};

/* The head of the plan for axis x (the weights in the form of this kernel).
 * After the head are quads[n_quads] and pair_vectors[n_quads][n_pairs][2]. The
 * last index is the vector of the quad, 0 or 1. */
struct pair_plan {
    uint32_t n_quads; /* quads of result pixels in a row */
    uint32_t n_pairs; /* pairs of taps of each result pixel, some of weight 0 */
};

static size_t quads_bytes(struct pair_plan plan)
{
    size_t bytes = (size_t)plan.n_quads * sizeof(struct quad);
    return (bytes + VECTOR - 1) / VECTOR * VECTOR; /* aligns what follows */
}

static size_t x_plan_bytes(const struct fby_axis_spec *x)
{
    struct pair_plan plan = {(x->n + 3) / 4, (fby_axis_max_reach(x) + 1) / 2};
    return PLAN_HEAD + quads_bytes(plan) +
           (size_t)plan.n_quads * plan.n_pairs * 2 *
               sizeof(struct pair_vectors);
}

/* Write the plan of result pixel `o`: the offset of its first tap, and each
 * pair of weights in the four lanes (r, g, b, unused) of its half vector. */
static void prepare_pixel(const struct fby_axis *x, uint32_t o,
    struct pair_plan plan, struct quad *quads, struct pair_vectors *weights)
{
    uint32_t first = resize_first_tap(x, o, 2 * plan.n_pairs);
    quads[o / 4].first_tap_offset[o % 4] = first * FBY_RGB;

    uint32_t vector = o % 4 / 2; /* of the quad */
    uint32_t lane   = o % 2 * 4; /* the first of the pixel's half */
    weights += (size_t)(o / 4) * plan.n_pairs * 2 + vector;
    for (uint32_t p = 0; p < plan.n_pairs; p++) {
        uint32_t           i = first + 2 * p;
        struct weight_pair pair =
            split_pair(fby_axis_weight(x, o, i), fby_axis_weight(x, o, i + 1));
        uint32_t *upper = (uint32_t *)&weights[2 * (size_t)p].upper;
        uint32_t *lower = (uint32_t *)&weights[2 * (size_t)p].lower;
        for (uint32_t k = 0; k < 4; k++) {
            upper[lane + k] = pair.upper;
            lower[lane + k] = pair.lower;
        }
    }
}

static struct pair_vectors *weights_of(
    const struct fby_axis *x, struct pair_plan plan)
{
    return (void *)((uint8_t *)x->kernel_plan + PLAN_HEAD + quads_bytes(plan));
}

static void x_write_plan(const struct fby_axis *x)
{
    struct pair_plan plan  = {(x->spec.n + 3) / 4, resize_max_tap_groups(x, 2)};
    struct quad     *quads = (void *)((uint8_t *)x->kernel_plan + PLAN_HEAD);
    memset(x->kernel_plan, 0, x_plan_bytes(&x->spec));
    memcpy(x->kernel_plan, &plan, sizeof(plan));
    for (uint32_t o = 0; o < x->spec.n; o++) {
        prepare_pixel(x, o, plan, quads, weights_of(x, plan));
    }
}

/* Load two pixels from `a` and two from `b`, as 16-bit numbers in the order
 * r r g g b b 0 0 for `a`, then for `b`. */
static __m256i load_two_pairs(const uint8_t *a, const uint8_t *b)
{
    const __m256i spread =
        _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1,
            -1, 0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    __m256i both = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadl_epi64((const void *)a)),
        _mm_loadl_epi64((const void *)b), 1);
    return _mm256_shuffle_epi8(both, spread);
}

/* Compute two result pixels, as four 32-bit numbers each. Their first taps are
 * at `a` and `b`. */
static __m256i scale_two_pixels(const uint8_t *a, const uint8_t *b,
    const struct pair_vectors *weights, uint32_t n_pairs)
{
    __m256i upper = _mm256_setzero_si256();
    __m256i lower = _mm256_setzero_si256();
    for (uint32_t p = 0; p < n_pairs; p++) {
        __m256i pixels = load_two_pairs(a, b);
        upper =
            _mm256_add_epi32(upper, _mm256_madd_epi16(pixels, weights->upper));
        lower =
            _mm256_add_epi32(lower, _mm256_madd_epi16(pixels, weights->lower));
        a += (size_t)2 * FBY_RGB;
        b += (size_t)2 * FBY_RGB;
        weights += 2; /* skip those of the quad's other vector */
    }
    return sums_to_values(upper, lower);
}

/* Store four pixels, each of four 32-bit numbers r g b 0, as 12 bytes. Another
 * 4 bytes are written after them. */
static void save_four(__m256i first, __m256i second, uint8_t *out)
{
    const __m128i drop_fourth_lane =
        _mm_setr_epi8(0, 1, 2, 8, 9, 10, 4, 5, 6, 12, 13, 14, -1, -1, -1, -1);
    __m256i words = _mm256_packus_epi32(first, second);
    __m128i bytes = _mm_packus_epi16(
        _mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128((void *)out, _mm_shuffle_epi8(bytes, drop_fourth_lane));
}

static inline __attribute__((always_inline)) void scale_x_pairs(
    const struct fby_axis *x, const uint8_t *in, uint8_t *out,
    struct pair_plan plan, uint32_t n_pairs)
{
    const struct quad *quads = (void *)((uint8_t *)x->kernel_plan + PLAN_HEAD);
    const struct pair_vectors *weights = weights_of(x, plan);
    for (uint32_t q = 0; q < plan.n_quads; q++) {
        const uint32_t *offset = quads[q].first_tap_offset;
        __m256i         first =
            scale_two_pixels(in + offset[0], in + offset[1], weights, n_pairs);
        __m256i second = scale_two_pixels(
            in + offset[2], in + offset[3], weights + 1, n_pairs);
        save_four(first, second, out);
        weights += 2 * (size_t)n_pairs;
        out += 4 * (size_t)FBY_RGB;
    }
}

static void scale_x(const struct fby_axis *x, const uint8_t *in, uint8_t *out)
{
    struct pair_plan plan;
    memcpy(&plan, x->kernel_plan, sizeof(plan));
    RESIZE_UNROLLED(plan.n_pairs, scale_x_pairs, x, in, out, plan);
}

/* ---- rows ---------------------------------------------------------------- */

static size_t y_plan_bytes(const struct fby_axis_spec *y)
{
    size_t n_pairs = (fby_axis_max_reach(y) + 1) / 2;
    return PLAN_HEAD + y->n * n_pairs * sizeof(struct weight_pair);
}

static void y_write_plan(const struct fby_axis *y)
{
    uint32_t            n_pairs = resize_max_tap_groups(y, 2);
    struct weight_pair *pairs = (void *)((uint8_t *)y->kernel_plan + PLAN_HEAD);
    memcpy(y->kernel_plan, &n_pairs, sizeof(n_pairs));
    for (uint32_t o = 0; o < y->spec.n; o++) {
        uint32_t first = y->reaches[o].first;
        for (uint32_t p = 0; p < n_pairs; p++) {
            *pairs++ = split_pair(fby_axis_weight(y, o, first + 2 * p),
                fby_axis_weight(y, o, first + 2 * p + 1));
        }
    }
}

/* The sums of 32 columns (bytes of a row), 8 in a vector. Unpacking in add_rows
 * changes their order, and packing in columns_to_bytes restores it. */
struct columns_32 {
    __m256i upper[4], lower[4];
};

/* Add a pair of pixels of each of the 8 columns of vector `i`, with weights. */
static void add_columns(struct columns_32 *sums, int i, __m256i pixels,
    const struct weight_pair *pair)
{
    __m256i upper = _mm256_set1_epi32((int)pair->upper);
    __m256i lower = _mm256_set1_epi32((int)pair->lower);
    sums->upper[i] =
        _mm256_add_epi32(sums->upper[i], _mm256_madd_epi16(pixels, upper));
    sums->lower[i] =
        _mm256_add_epi32(sums->lower[i], _mm256_madd_epi16(pixels, lower));
}

static void add_rows(struct columns_32 *sums, const uint8_t *first,
    const uint8_t *second, const struct weight_pair *pair)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i       a    = _mm256_loadu_si256((const void *)first);
    __m256i       b    = _mm256_loadu_si256((const void *)second);
    __m256i       low  = _mm256_unpacklo_epi8(a, b);
    __m256i       high = _mm256_unpackhi_epi8(a, b);
    add_columns(sums, 0, _mm256_unpacklo_epi8(low, zero), pair);
    add_columns(sums, 1, _mm256_unpackhi_epi8(low, zero), pair);
    add_columns(sums, 2, _mm256_unpacklo_epi8(high, zero), pair);
    add_columns(sums, 3, _mm256_unpackhi_epi8(high, zero), pair);
}

static __m256i columns_to_bytes(const struct columns_32 *sums)
{
    __m256i value[4];
    for (int i = 0; i < 4; i++) {
        value[i] = sums_to_values(sums->upper[i], sums->lower[i]);
    }
    return _mm256_packus_epi16(_mm256_packus_epi32(value[0], value[1]),
        _mm256_packus_epi32(value[2], value[3]));
}

/* Compute bytes [offset, offset + 32) of a result row. */
static __m256i scale_32(const struct weight_pair *pairs, uint32_t n_pairs,
    const uint8_t *const *rows, size_t offset)
{
    struct columns_32 sums;
    for (int i = 0; i < 4; i++) {
        sums.upper[i] = _mm256_setzero_si256();
        sums.lower[i] = _mm256_setzero_si256();
    }
    for (uint32_t p = 0; p < n_pairs; p++) {
        add_rows(&sums, rows[2 * (size_t)p] + offset,
            rows[2 * (size_t)p + 1] + offset, &pairs[p]);
    }
    return columns_to_bytes(&sums);
}

static void scale_y(const struct fby_axis *y, uint32_t o,
    const uint8_t *const *rows, size_t size, uint8_t *out)
{
    uint32_t n_pairs;
    memcpy(&n_pairs, y->kernel_plan, sizeof(n_pairs));
    const struct weight_pair *pairs =
        (void *)((uint8_t *)y->kernel_plan + PLAN_HEAD);
    uint32_t row_pairs = (y->reaches[o].n + 1) / 2; /* of result row `o` */
    pairs += (size_t)o * n_pairs;
    size_t i = 0;
    for (; i + VECTOR <= size; i += VECTOR) {
        _mm256_storeu_si256(
            (void *)(out + i), scale_32(pairs, row_pairs, rows, i));
    }
    if (i < size) {
        uint8_t tail[VECTOR]; /* more than is left of the row */
        _mm256_storeu_si256((void *)tail, scale_32(pairs, row_pairs, rows, i));
        memcpy(out + i, tail, size - i);
    }
}

const struct resize_kernel resize_avx2 = {
    .x_plan_bytes = x_plan_bytes,
    .x_write_plan = x_write_plan,
    .y_plan_bytes = y_plan_bytes,
    .y_write_plan = y_write_plan,
    .scale_x      = scale_x,
    .scale_y      = scale_y,
};
