/* avx512.c - the resize kernel in AVX-512, with VBMI and VNNI.
 *
 * A weight of 22 bits is split into three signed digits of a byte, w = d0 +
 * d1 2^8 + d2 2^16. One instruction multiplies four bytes of pixels with four
 * digits and adds the products to a 32-bit sum. Pixels and rows are taken four
 * at a time, padded by digits of 0. */
#include <immintrin.h>
#include <string.h>

#include "worker/transform/image.h"
#include "worker/transform/resize/kernel.h"

enum {
    TAPS   = 4,  /* pixels or rows that are multiplied at once */
    VECTOR = 64, /* bytes */
    GROUP  = 5,  /* result pixels in a vector of sums: 15 of its 16 */
    REACH  = VECTOR / FBY_RGB - TAPS, /* pixels between a group's first taps */
    HEAD   = VECTOR /* bytes of the plan's head, before its arrays */
};

/* Digits of four weights, one in each byte. */
struct digits {
    uint32_t d[3];
};

/* The three signed digits of a weight, one in each byte. A negative digit is
 * made up for by a carry to the next. */
static uint32_t in_digits(uint32_t weight)
{
    return (weight + 0x8080) ^ 0x8080;
}

/* The digits of taps `first` to `first` + 3 of result pixel, or row, `o`. */
static struct digits digits_of(
    const struct fby_axis *axis, uint32_t o, uint32_t first)
{
    struct digits digits = {{0}};
    for (uint32_t tap = 0; tap < TAPS; tap++) {
        uint32_t own = in_digits(fby_axis_weight(axis, o, first + tap));
        for (uint32_t i = 0; i < 3; i++) {
            digits.d[i] |= (own >> 8 * i & 0xff) << 8 * tap;
        }
    }
    return digits;
}

static uint32_t in_fours(uint32_t n)
{
    return (n + TAPS - 1) / TAPS;
}

static uint32_t most_fours(const struct fby_axis *axis)
{
    uint32_t most = 0;
    for (uint32_t o = 0; o < axis->spec.n; o++) {
        most = axis->reaches[o].n > most ? axis->reaches[o].n : most;
    }
    return in_fours(most);
}

/* 16 sums for each of the three digits. */
struct sums {
    __m512i of[3];
};

static inline struct sums no_sums(void)
{
    const __m512i zero = _mm512_setzero_si512();
    return (struct sums){{_mm512_set1_epi32(RESIZE_HALF), zero, zero}};
}

static inline void add_products(
    struct sums *sums, __m512i pixels, const __m512i digits[3])
{
    for (int i = 0; i < 3; i++) {
        sums->of[i] = _mm512_dpbusd_epi32(sums->of[i], pixels, digits[i]);
    }
}

static inline __m512i values_of(const struct sums *sums)
{
    __m512i upper =
        _mm512_add_epi32(_mm512_slli_epi32(sums->of[2], 8), sums->of[1]);
    __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(upper, 8), sums->of[0]);
    return _mm512_srli_epi32(sum, FBY_WEIGHT_BITS);
}

/* ---- pixels of a row ----------------------------------------------------- */

/* Does a vector hold the source pixels of a group? Otherwise, when the axis
 * shrinks too much, the AVX2 kernel is used. */
static bool fits_vector(const struct fby_axis_spec *x)
{
    return x->from <= (REACH - 1) / (GROUP - 1) * (uint64_t)x->to * x->unit;
}

struct group_plan {
    uint32_t n_groups, n_fours;
};

/* The byte shuffle of a group: the bytes, counted from byte `from` of the row,
 * that go to each lane. The next four taps are 12 bytes further. The struct is
 * loaded as one vector: its last lane, `from`, selects bytes whose digits are
 * 0. The digits follow all groups: three vectors for each of the n_fours. */
struct pixel_group {
    uint32_t at[GROUP * FBY_RGB];
    uint32_t from;
};
_Static_assert(sizeof(struct pixel_group) == VECTOR, "a vector");

static size_t digits_at(struct group_plan plan)
{
    return HEAD + plan.n_groups * sizeof(struct pixel_group);
}

static size_t x_bytes(const struct fby_axis_spec *x)
{
    struct group_plan plan = {
        (x->n + GROUP - 1) / GROUP, in_fours(fby_axis_most(x))};
    size_t bytes =
        digits_at(plan) + (size_t)plan.n_groups * plan.n_fours * 3 * VECTOR;
    return fits_vector(x) ? bytes : resize_avx2.x_bytes(x);
}

/* The first source pixel of the taps of result pixel `o`, moved to the left if
 * the taps would end after the row. */
static uint32_t first_tap(
    const struct fby_axis *x, uint32_t o, uint32_t n_fours)
{
    uint32_t first  = x->reaches[o].first;
    uint32_t pixels = x->all.n;
    uint32_t last   = pixels > TAPS * n_fours ? pixels - TAPS * n_fours : 0;
    return first < last ? first : last;
}

/* The leftmost tap of a group: of its first pixel, or its last if mirrored. */
static uint32_t leftmost(
    const struct fby_axis *x, uint32_t first, uint32_t end, uint32_t n_fours)
{
    uint32_t a = first_tap(x, first, n_fours);
    uint32_t b = first_tap(x, end - 1, n_fours);
    return a < b ? a : b;
}

/* Pixel `o` has the sums 3 (o % 5) to 3 (o % 5) + 2 of its group, one for each
 * channel. */
static void prepare_pixel(const struct fby_axis *x, uint32_t o,
    uint32_t n_fours, struct pixel_group *group, uint32_t *digits)
{
    uint32_t first = first_tap(x, o, n_fours);
    uint32_t lane  = o % GROUP * FBY_RGB;
    for (uint32_t c = 0; c < FBY_RGB; c++) {
        uint32_t byte       = first * FBY_RGB + c - group->from;
        group->at[lane + c] = byte * 0x01010101U + 0x09060300U;
    }
    for (uint32_t four = 0; four < n_fours; four++) {
        struct digits own = digits_of(x, o, first + TAPS * four);
        for (uint32_t i = 0; i < 3; i++, digits += VECTOR / 4) {
            digits[lane]     = own.d[i];
            digits[lane + 1] = own.d[i];
            digits[lane + 2] = own.d[i];
        }
    }
}

static void x_prepare(const struct fby_axis *x)
{
    if (!fits_vector(&x->spec)) {
        resize_avx2.x_prepare(x);
        return;
    }
    struct group_plan   plan = {(x->spec.n + GROUP - 1) / GROUP, most_fours(x)};
    struct pixel_group *groups = (void *)((uint8_t *)x->kernel_plan + HEAD);
    uint32_t *digits = (void *)((uint8_t *)x->kernel_plan + digits_at(plan));
    memset(x->kernel_plan, 0, x_bytes(&x->spec));
    memcpy(x->kernel_plan, &plan, sizeof(plan));
    for (uint32_t g = 0; g < plan.n_groups; g++) {
        uint32_t first = g * GROUP;
        uint32_t end   = first + GROUP < x->spec.n ? first + GROUP : x->spec.n;
        groups[g].from = leftmost(x, first, end, plan.n_fours) * FBY_RGB;
        for (uint32_t o = first; o < end; o++) {
            prepare_pixel(x, o, plan.n_fours, &groups[g], digits);
        }
        digits += (size_t)plan.n_fours * 3 * VECTOR / 4;
    }
}

static inline __attribute__((always_inline)) void across_fours(
    const struct fby_axis *x, const uint8_t *in, uint8_t *out,
    struct group_plan plan, uint32_t n_fours)
{
    const uint8_t            *own    = x->kernel_plan;
    const struct pixel_group *groups = (const void *)(own + HEAD);
    const uint8_t            *digits = own + digits_at(plan);
    for (uint32_t g = 0; g < plan.n_groups; g++) {
        const uint8_t *from = in + groups[g].from;
        __m512i        at   = _mm512_loadu_si512(&groups[g]);
        struct sums    sums = no_sums();
        for (uint32_t four = 0; four < n_fours; four++) {
            __m512i pixels =
                _mm512_permutexvar_epi8(at, _mm512_loadu_si512(from));
            const __m512i d[3] = {_mm512_loadu_si512(digits),
                _mm512_loadu_si512(digits + VECTOR),
                _mm512_loadu_si512(digits + (size_t)2 * VECTOR)};
            add_products(&sums, pixels, d);
            digits += (size_t)3 * VECTOR;
            from += (size_t)TAPS * FBY_RGB;
        }
        _mm_storeu_si128((void *)out, _mm512_cvtepi32_epi8(values_of(&sums)));
        out += (size_t)GROUP * FBY_RGB;
    }
}

static void across(const struct fby_axis *x, const uint8_t *in, uint8_t *out)
{
    if (!fits_vector(&x->spec)) {
        resize_avx2.across(x, in, out);
        return;
    }
    struct group_plan plan;
    memcpy(&plan, x->kernel_plan, sizeof(plan));
    RESIZE_UNROLLED(plan.n_fours, across_fours, x, in, out, plan);
}

/* ---- rows ---------------------------------------------------------------- */

static size_t y_bytes(const struct fby_axis_spec *y)
{
    return HEAD +
           (size_t)y->n * in_fours(fby_axis_most(y)) * sizeof(struct digits);
}

static void y_prepare(const struct fby_axis *y)
{
    uint32_t       n_fours = most_fours(y);
    struct digits *digits  = (void *)((uint8_t *)y->kernel_plan + HEAD);
    memcpy(y->kernel_plan, &n_fours, sizeof(n_fours));
    for (uint32_t o = 0; o < y->spec.n; o++) {
        for (uint32_t four = 0; four < n_fours; four++) {
            *digits++ = digits_of(y, o, y->reaches[o].first + TAPS * four);
        }
    }
}

/* The sums of 64 columns, in the order that unpacking makes and packing
 * reverses. */
struct columns_64 {
    struct sums part[4];
};

static inline void add_rows(struct columns_64 *columns,
    const uint8_t *const rows[TAPS], size_t at, const struct digits *digits)
{
    const __m512i d[3] = {_mm512_set1_epi32((int)digits->d[0]),
        _mm512_set1_epi32((int)digits->d[1]),
        _mm512_set1_epi32((int)digits->d[2])};

    __m512i a       = _mm512_loadu_si512(rows[0] + at);
    __m512i b       = _mm512_loadu_si512(rows[1] + at);
    __m512i c       = _mm512_loadu_si512(rows[2] + at);
    __m512i e       = _mm512_loadu_si512(rows[3] + at);
    __m512i low_ab  = _mm512_unpacklo_epi8(a, b);
    __m512i high_ab = _mm512_unpackhi_epi8(a, b);
    __m512i low_ce  = _mm512_unpacklo_epi8(c, e);
    __m512i high_ce = _mm512_unpackhi_epi8(c, e);
    add_products(&columns->part[0], _mm512_unpacklo_epi16(low_ab, low_ce), d);
    add_products(&columns->part[1], _mm512_unpackhi_epi16(low_ab, low_ce), d);
    add_products(&columns->part[2], _mm512_unpacklo_epi16(high_ab, high_ce), d);
    add_products(&columns->part[3], _mm512_unpackhi_epi16(high_ab, high_ce), d);
}

static inline __m512i columns_to_bytes(const struct columns_64 *columns)
{
    return _mm512_packus_epi16(_mm512_packus_epi32(values_of(&columns->part[0]),
                                   values_of(&columns->part[1])),
        _mm512_packus_epi32(
            values_of(&columns->part[2]), values_of(&columns->part[3])));
}

static inline __m512i blend_64(const struct digits *digits, uint32_t n_fours,
    const uint8_t *const *rows, size_t at)
{
    struct columns_64 columns = {{no_sums(), no_sums(), no_sums(), no_sums()}};
    for (uint32_t four = 0; four < n_fours; four++) {
        add_rows(&columns, rows + (size_t)TAPS * four, at, &digits[four]);
    }
    return columns_to_bytes(&columns);
}

static void down(const struct fby_axis *y, uint32_t o,
    const uint8_t *const *rows, size_t size, uint8_t *out)
{
    uint32_t n_fours;
    memcpy(&n_fours, y->kernel_plan, sizeof(n_fours));
    const struct digits *digits = (void *)((uint8_t *)y->kernel_plan + HEAD);
    uint32_t             mine   = in_fours(y->reaches[o].n);
    digits += (size_t)o * n_fours;
    size_t at = 0;
    for (; at + VECTOR <= size; at += VECTOR) {
        _mm512_storeu_si512(out + at, blend_64(digits, mine, rows, at));
    }
    if (at < size) {
        __mmask64 rest = UINT64_MAX >> (VECTOR - (size - at));
        _mm512_mask_storeu_epi8(
            out + at, rest, blend_64(digits, mine, rows, at));
    }
}

const struct resize_kernel resize_avx512 = {
    .x_bytes   = x_bytes,
    .x_prepare = x_prepare,
    .y_bytes   = y_bytes,
    .y_prepare = y_prepare,
    .across    = across,
    .down      = down,
};
