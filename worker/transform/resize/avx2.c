/* avx2.c - the resize kernel in AVX2.
 *
 * A weight of 22 bits is split into two parts of 11, so that it fits the
 * instruction that multiplies and adds pairs of 16-bit numbers. The result,
 * (upper sum << 11) + lower sum, is the same integer as in portable C. Pixels
 * and rows are taken two at a time; a weight of 0 makes an odd number even. */
#include <immintrin.h>
#include <string.h>

#include "worker/transform/image.h"
#include "worker/transform/resize/kernel.h"

enum { LOW_BITS = FBY_WEIGHT_BITS / 2, STEP = 32 /* bytes */ };

/* The weights of two neighbours, as _mm256_madd_epi16 needs them. */
struct weight_pair {
    uint32_t upper, lower; /* the first weight in bits 0..15 */
};

static struct weight_pair pair_of(uint32_t first, uint32_t second)
{
    const uint32_t mask = (1U << LOW_BITS) - 1;
    return (struct weight_pair){
        .upper = first >> LOW_BITS | second >> LOW_BITS << 16,
        .lower = (first & mask) | (second & mask) << 16,
    };
}

static uint32_t most_pairs(const struct fby_axis *axis)
{
    uint32_t most = 0;
    for (uint32_t o = 0; o < axis->spec.n; o++) {
        most = axis->reaches[o].n > most ? axis->reaches[o].n : most;
    }
    return (most + 1) / 2;
}

static __m256i sums_to_values(__m256i upper, __m256i lower)
{
    __m256i sum = _mm256_add_epi32(_mm256_slli_epi32(upper, LOW_BITS), lower);
    sum         = _mm256_add_epi32(sum, _mm256_set1_epi32(RESIZE_HALF));
    return _mm256_srli_epi32(sum, FBY_WEIGHT_BITS);
}

/* ---- pixels of a row ----------------------------------------------------- */

/* Four result pixels, two in each vector, one in each half. Result pixel k adds
 * `n_pairs` pairs of source pixels, beginning at from[k]. */
struct quad {
    uint32_t from[4]; /* bytes into the row */
};

struct pair_weights { /* of a pair of source pixels, for two result pixels */
    __m256i upper, lower;
};

struct pair_plan {
    uint32_t n_quads, n_pairs;
};

static struct pair_plan plan_pairs(const struct fby_axis *x)
{
    return (struct pair_plan){(x->spec.n + 3) / 4, most_pairs(x)};
}

static size_t quads_bytes(struct pair_plan plan)
{
    return ((size_t)plan.n_quads * sizeof(struct quad) + 31) / 32 * 32;
}

static size_t x_bytes(const struct fby_axis_spec *x)
{
    struct pair_plan plan = {(x->n + 3) / 4, (fby_axis_most(x) + 1) / 2};
    return STEP + quads_bytes(plan) +
           (size_t)plan.n_quads * plan.n_pairs * 2 *
               sizeof(struct pair_weights);
}

/* The first source pixel of the pairs of result pixel `o`, moved to the left if
 * the pairs would end after the row. */
static uint32_t first_of_pairs(
    const struct fby_axis *x, uint32_t o, uint32_t n_pairs)
{
    uint32_t first  = x->reaches[o].first;
    uint32_t pixels = x->all.n;
    uint32_t last   = pixels > 2 * n_pairs ? pixels - 2 * n_pairs : 0;
    return first < last ? first : last;
}

static void prepare_pixel(const struct fby_axis *x, uint32_t o,
    struct pair_plan plan, struct quad *quads, struct pair_weights *factors)
{
    uint32_t first           = first_of_pairs(x, o, plan.n_pairs);
    quads[o / 4].from[o % 4] = first * FBY_RGB;
    factors += (size_t)(o / 4) * plan.n_pairs * 2 + o % 4 / 2;
    for (uint32_t p = 0; p < plan.n_pairs; p++) {
        uint32_t           i = first + 2 * p;
        struct weight_pair pair =
            pair_of(fby_axis_weight(x, o, i), fby_axis_weight(x, o, i + 1));
        uint32_t *upper = (uint32_t *)&factors[2 * (size_t)p].upper;
        uint32_t *lower = (uint32_t *)&factors[2 * (size_t)p].lower;
        for (uint32_t k = 0; k < 4; k++) {
            upper[o % 2 * 4 + k] = pair.upper;
            lower[o % 2 * 4 + k] = pair.lower;
        }
    }
}

static struct pair_weights *factors_of(
    const struct fby_axis *x, struct pair_plan plan)
{
    return (void *)((uint8_t *)x->kernel_plan + STEP + quads_bytes(plan));
}

static void x_prepare(const struct fby_axis *x)
{
    struct pair_plan plan  = plan_pairs(x);
    struct quad     *quads = (void *)((uint8_t *)x->kernel_plan + STEP);
    memset(x->kernel_plan, 0, x_bytes(&x->spec));
    memcpy(x->kernel_plan, &plan, sizeof(plan));
    for (uint32_t o = 0; o < x->spec.n; o++) {
        prepare_pixel(x, o, plan, quads, factors_of(x, plan));
    }
}

/* Load two pixels each from `a` and `b`, as pairs of u16: r r g g b b 0 0. */
static __m256i two_pairs(const uint8_t *a, const uint8_t *b)
{
    const __m256i spread =
        _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1,
            -1, 0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    __m256i both = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadl_epi64((const void *)a)),
        _mm_loadl_epi64((const void *)b), 1);
    return _mm256_shuffle_epi8(both, spread);
}

static __m256i two_results(const uint8_t *a, const uint8_t *b,
    const struct pair_weights *factors, uint32_t n_pairs)
{
    __m256i upper = _mm256_setzero_si256();
    __m256i lower = _mm256_setzero_si256();
    for (uint32_t p = 0; p < n_pairs; p++) {
        __m256i pixels = two_pairs(a, b);
        upper =
            _mm256_add_epi32(upper, _mm256_madd_epi16(pixels, factors->upper));
        lower =
            _mm256_add_epi32(lower, _mm256_madd_epi16(pixels, factors->lower));
        a += (size_t)2 * FBY_RGB;
        b += (size_t)2 * FBY_RGB;
        factors += 2;
    }
    return sums_to_values(upper, lower);
}

/* Store four pixels of four u32 each, r g b 0, as 12 bytes; 16 are written. */
static void save_four(__m256i first, __m256i second, uint8_t *out)
{
    const __m128i close =
        _mm_setr_epi8(0, 1, 2, 8, 9, 10, 4, 5, 6, 12, 13, 14, -1, -1, -1, -1);
    __m256i words = _mm256_packus_epi32(first, second);
    __m128i bytes = _mm_packus_epi16(
        _mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128((void *)out, _mm_shuffle_epi8(bytes, close));
}

static inline __attribute__((always_inline)) void across_pairs(
    const struct fby_axis *x, const uint8_t *in, uint8_t *out,
    struct pair_plan plan, uint32_t n_pairs)
{
    const struct quad *quads = (void *)((uint8_t *)x->kernel_plan + STEP);
    const struct pair_weights *factors = factors_of(x, plan);
    for (uint32_t q = 0; q < plan.n_quads; q++) {
        const uint32_t *from = quads[q].from;
        __m256i         first =
            two_results(in + from[0], in + from[1], factors, n_pairs);
        __m256i second =
            two_results(in + from[2], in + from[3], factors + 1, n_pairs);
        save_four(first, second, out);
        factors += 2 * (size_t)n_pairs;
        out += 4 * (size_t)FBY_RGB;
    }
}

static void across(const struct fby_axis *x, const uint8_t *in, uint8_t *out)
{
    struct pair_plan plan;
    memcpy(&plan, x->kernel_plan, sizeof(plan));
    RESIZE_UNROLLED(plan.n_pairs, across_pairs, x, in, out, plan);
}

/* ---- rows ---------------------------------------------------------------- */

static size_t y_bytes(const struct fby_axis_spec *y)
{
    size_t n_pairs = (fby_axis_most(y) + 1) / 2;
    return STEP + y->n * n_pairs * sizeof(struct weight_pair);
}

static void y_prepare(const struct fby_axis *y)
{
    uint32_t            n_pairs = most_pairs(y);
    struct weight_pair *pairs   = (void *)((uint8_t *)y->kernel_plan + STEP);
    memcpy(y->kernel_plan, &n_pairs, sizeof(n_pairs));
    for (uint32_t o = 0; o < y->spec.n; o++) {
        uint32_t first = y->reaches[o].first;
        for (uint32_t p = 0; p < n_pairs; p++) {
            *pairs++ = pair_of(fby_axis_weight(y, o, first + 2 * p),
                fby_axis_weight(y, o, first + 2 * p + 1));
        }
    }
}

/* The sums of 32 columns of bytes, 8 a vector, in the order that unpacking
 * makes and packing reverses. */
struct columns_32 {
    __m256i upper[4], lower[4];
};

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

static __m256i blend_32(const struct weight_pair *pairs, uint32_t n_pairs,
    const uint8_t *const *rows, size_t at)
{
    struct columns_32 sums;
    for (int i = 0; i < 4; i++) {
        sums.upper[i] = _mm256_setzero_si256();
        sums.lower[i] = _mm256_setzero_si256();
    }
    for (uint32_t p = 0; p < n_pairs; p++) {
        add_rows(&sums, rows[2 * (size_t)p] + at, rows[2 * (size_t)p + 1] + at,
            &pairs[p]);
    }
    return columns_to_bytes(&sums);
}

static void down(const struct fby_axis *y, uint32_t o,
    const uint8_t *const *rows, size_t size, uint8_t *out)
{
    uint32_t n_pairs;
    memcpy(&n_pairs, y->kernel_plan, sizeof(n_pairs));
    const struct weight_pair *pairs =
        (void *)((uint8_t *)y->kernel_plan + STEP);
    uint32_t mine = (y->reaches[o].n + 1) / 2;
    pairs += (size_t)o * n_pairs;
    size_t at = 0;
    for (; at + STEP <= size; at += STEP) {
        _mm256_storeu_si256(
            (void *)(out + at), blend_32(pairs, mine, rows, at));
    }
    if (at < size) {
        uint8_t rest[STEP];
        _mm256_storeu_si256((void *)rest, blend_32(pairs, mine, rows, at));
        memcpy(out + at, rest, size - at);
    }
}

const struct resize_kernel resize_avx2 = {
    .x_bytes   = x_bytes,
    .x_prepare = x_prepare,
    .y_bytes   = y_bytes,
    .y_prepare = y_prepare,
    .across    = across,
    .down      = down,
};
