/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "common/bytes.h"
#include "worker/npy/convert.h"

/* ---- a plain reference, in long doubles, which hold all values exactly --- */

struct real_form {
    int digits; /* binary ones, the implied one included; 0: whole numbers */
    int least;  /* exponent of the smallest step */
    int most;   /* numbers below 2^most; what is rounded to it is infinite */
};

static struct real_form form_of(enum fby_type type)
{
    static const struct real_form forms[] = {
        [FBY_F16]  = {11, -24, 16},
        [FBY_BF16] = {8, -133, 128},
        [FBY_F32]  = {24, -149, 128},
        [FBY_U32]  = {0},
    };
    return forms[type];
}

static long double real_value(uint64_t bits, int fraction, int exponents)
{
    int         bias     = (1 << (exponents - 1)) - 1;
    uint64_t    exponent = bits >> fraction & ((UINT64_C(1) << exponents) - 1);
    uint64_t    rest     = bits & ((UINT64_C(1) << fraction) - 1);
    uint64_t    sign     = bits >> (fraction + exponents) & 1;
    long double size;
    if (exponent == (UINT64_C(1) << exponents) - 1) {
        size = rest != 0 ? (long double)NAN : (long double)INFINITY;
    } else if (exponent == 0) {
        size = ldexpl((long double)rest, 1 - bias - fraction);
    } else {
        size = ldexpl((long double)(rest + (UINT64_C(1) << fraction)),
            (int)exponent - bias - fraction);
    }
    return sign != 0 ? -size : size;
}

static long double wire_value(enum fby_type type, uint64_t bits)
{
    if (form_of(type).digits > 0) {
        return real_value(
            bits, form_of(type).digits - 1, type == FBY_F16 ? 5 : 8);
    }
    return type == FBY_I32   ? (long double)(int32_t)(uint32_t)bits
           : type == FBY_I64 ? (long double)(int64_t)bits
                             : (long double)bits;
}

static long double file_value(enum fby_npy_type type, uint64_t bits)
{
    unsigned unused = 64 - 8 * (unsigned)fby_npy_type_bytes(type);
    if (type >= FBY_NPY_F2) {
        return type == FBY_NPY_F2   ? real_value(bits, 10, 5)
               : type == FBY_NPY_F4 ? real_value(bits, 23, 8)
                                    : real_value(bits, 52, 11);
    }
    bool is_signed = type == FBY_NPY_I1 || type == FBY_NPY_I2 ||
                     type == FBY_NPY_I4 || type == FBY_NPY_I8;
    return is_signed ? (long double)((int64_t)(bits << unused) >> unused)
                     : (long double)bits;
}

static bool whole_fits(long double value, enum fby_type type)
{
    static const struct {
        long double least, most;
    } ranges[] = {
        [FBY_U8]  = {0, UINT8_MAX},
        [FBY_U16] = {0, UINT16_MAX},
        [FBY_U32] = {0, UINT32_MAX},
        [FBY_I32] = {INT32_MIN, INT32_MAX},
        [FBY_I64] = {INT64_MIN, INT64_MAX},
    };
    return value >= ranges[type].least && value <= ranges[type].most &&
           value == rintl(value);
}

/* To nearest, ties to even, which is what rintl does. */
static long double rounded(long double value, struct real_form form)
{
    int exponent = 0;
    if (value == 0 || !isfinite(value)) {
        return value;
    }
    frexpl(value, &exponent);
    int step = exponent - form.digits;
    step     = step > form.least ? step : form.least;

    long double near = ldexpl(rintl(ldexpl(value, -step)), step);
    return fabsl(near) < ldexpl(1, form.most) ? near
                                              : copysignl(INFINITY, value);
}

/* Does the value fit, and what is the result? */
static bool expected(enum fby_npy_type from, long double value,
    enum fby_type to, long double *out)
{
    struct real_form form = form_of(to);
    *out                  = value;
    if (form.digits == 0) {
        return whole_fits(value, to);
    }
    *out = rounded(value, form);
    return from >= FBY_NPY_F2 ? isinf(*out) == isinf(value) : *out == value;
}

/* ---- values -------------------------------------------------------------- */

enum { MOST = 1 << 16 };

struct values {
    uint64_t at[MOST];
    size_t   n;
};
static struct values all;  /* of a type */
static struct values good; /* those that fit */

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return *seed ^ *seed >> 29;
}

/* Near the limits of all types, as integers and as reals. */
static uint64_t border(uint64_t *seed, enum fby_npy_type type)
{
    static const int powers[] = {0, 1, 2, 7, 8, 11, 15, 16, 24, 31, 32, 53, 63,
        64, 127, 128, -14, -15, -24, -25, -26, -126, -127, -133, -134, -135,
        -149, -150, -151, 1024};
    uint64_t         random   = next(seed);
    int              power    = powers[random % 30];
    if (type < FBY_NPY_F2) {
        uint64_t whole = power >= 0 && power < 64 ? UINT64_C(1) << power : 0;
        whole += (random >> 32 & 7) - 4;
        return (random >> 40 & 1) != 0 ? 0 - whole : whole;
    }
    int      fraction = type == FBY_NPY_F4 ? 23 : 52;
    uint64_t bias     = type == FBY_NPY_F4 ? 127 : 1023;
    uint64_t few      = (random >> 8 & 0x1fff) << (fraction - 13);
    uint64_t exponent = (uint64_t)((int64_t)bias + power) & (2 * bias + 1);
    uint64_t sign     = random >> 40 & 1;
    uint64_t more     = (random >> 41 & 7) - 3;
    return (sign << 63 >> (type == FBY_NPY_F4 ? 32 : 0)) |
           ((exponent << fraction) + few + more);
}

static void take_values(enum fby_npy_type type)
{
    size_t   width = fby_npy_type_bytes(type);
    uint64_t mask  = UINT64_MAX >> (64 - 8 * width);
    uint64_t seed  = 20250101;
    all.n          = type == FBY_NPY_B1 ? 2 : width == 1 ? 256 : MOST;
    for (size_t i = 0; i < all.n; i++) {
        uint64_t other = i % 2 == 0 ? next(&seed) : border(&seed, type);
        all.at[i]      = (width <= 2 ? i : other) & mask;
    }
}

/* ---- files --------------------------------------------------------------- */

static struct fby_npy file_of(enum fby_npy_type type, bool big_endian,
    const struct values *values, uint8_t *bytes)
{
    size_t width = fby_npy_type_bytes(type);
    for (size_t i = 0; i < values->n; i++) {
        for (size_t k = 0; k < width; k++) {
            size_t place             = big_endian ? width - 1 - k : k;
            bytes[i * width + place] = (uint8_t)(values->at[i] >> 8 * k);
        }
    }
    return (struct fby_npy){.type = type,
        .big_endian               = big_endian && width > 1,
        .n_values                 = values->n,
        .data                     = bytes};
}

static uint64_t load(const uint8_t *at, size_t width)
{
    struct fby_reader in = fby_reader(at, width);
    return fby_read_le(&in, width);
}

static bool is_quiet(enum fby_type type, uint64_t bits)
{
    return (bits & 0x7fffffff) == (type == FBY_F32      ? 0x7fc00000U
                                      : type == FBY_F16 ? 0x7e00U
                                                        : 0x7fc0U) ||
           (type != FBY_F32 &&
               (bits & 0x7fff) == (type == FBY_F16 ? 0x7e00U : 0x7fc0U));
}

static void check_value(
    enum fby_npy_type from, uint64_t in, enum fby_type to, uint64_t out)
{
    long double want;
    long double is = wire_value(to, out);
    expected(from, file_value(from, in), to, &want);
    bool same_type = (from == FBY_NPY_F4 && to == FBY_F32) ||
                     (from == FBY_NPY_F2 && to == FBY_F16);
    bool right =
        isnan(want) ? (same_type ? in == out : is_quiet(to, out)) : is == want;
    bool real = form_of(to).digits > 0;
    if (!right ||
        (real && from >= FBY_NPY_F2 && signbit(is) != signbit(want))) {
        fail_msg("%s %llx -> type %d: %llx, which is %Lg, not %Lg",
            fby_npy_type_name(from), (unsigned long long)in, (int)to,
            (unsigned long long)out, is, want);
    }
}

/* Convert all values that fit at once, at unaligned addresses. */
static void check_good(enum fby_npy_type from, enum fby_type to, bool big)
{
    static uint8_t in[8 * MOST + 1];
    static uint8_t out[8 * MOST + 2];
    size_t         width    = fby_type_bytes(to);
    struct fby_npy npy      = file_of(from, big, &good, in + 1);
    out[1 + good.n * width] = 0xee;
    assert_int_equal(fby_convert(&npy, to, out + 1), good.n);
    assert_int_equal(out[1 + good.n * width], 0xee);
    for (size_t i = 0; i < good.n; i++) {
        check_value(from, good.at[i], to, load(out + 1 + i * width, width));
    }
}

/* Convert a value that does not fit, alone or among `n` that do. */
static void check_bad(
    enum fby_npy_type from, enum fby_type to, uint64_t bad, size_t place)
{
    static uint8_t       in[8 * MOST];
    static uint8_t       out[8 * MOST];
    static struct values file;
    file.n = good.n < 1500 ? good.n : 1500;
    place  = file.n > 0 ? place % file.n : 0;
    memcpy(file.at, good.at, file.n * sizeof(file.at[0]));
    file.at[place]     = bad;
    file.n             = file.n > 0 ? file.n : 1;
    struct fby_npy npy = file_of(from, false, &file, in);
    if (fby_convert(&npy, to, out) != place) {
        fail_msg("%s %llx -> type %d is accepted, or another is refused",
            fby_npy_type_name(from), (unsigned long long)bad, (int)to);
    }
}

static void check_pair(enum fby_npy_type from, enum fby_type to)
{
    long double unused;
    good.n = 0;
    for (size_t i = 0; i < all.n; i++) {
        if (expected(from, file_value(from, all.at[i]), to, &unused)) {
            good.at[good.n++] = all.at[i];
        }
    }
    check_good(from, to, false);
    check_good(from, to, true);
    size_t tried = 0;
    for (size_t i = 0; i < all.n && tried < 300; i++) {
        if (!expected(from, file_value(from, all.at[i]), to, &unused)) {
            check_bad(from, to, all.at[i], 487 * tried++);
        }
    }
}

static void every_type_becomes_every_other_as_the_reference_says(void **state)
{
    (void)state;
    for (int from = 0; from < FBY_NPY_TYPES; from++) {
        take_values((enum fby_npy_type)from);
        for (int to = FBY_U8; to <= FBY_U32; to++) {
            check_pair((enum fby_npy_type)from, (enum fby_type)to);
        }
    }
}

static void every_number_of_values_is_converted(void **state)
{
    (void)state;
    take_values(FBY_NPY_I2);
    for (size_t n = 0; n < 1100; n += n < 20 ? 1 : 61) {
        good   = all;
        good.n = n;
        check_good(FBY_NPY_I2, FBY_I32, n % 2 == 1);
    }
}

static void a_bool_is_0_or_1(void **state)
{
    (void)state;
    uint8_t        bytes[700] = {1, 0, 1};
    uint8_t        out[4 * 700];
    struct fby_npy npy = {
        .type = FBY_NPY_B1, .n_values = sizeof(bytes), .data = bytes};
    assert_int_equal(fby_convert(&npy, FBY_F32, out), 700);
    bytes[611] = 2;
    assert_int_equal(fby_convert(&npy, FBY_F32, out), 611);
    assert_int_equal(fby_convert(&npy, FBY_U8, out), 611);
}

static void assert_text(
    enum fby_npy_type type, uint64_t bits, const char *expected_text)
{
    char          text[FBY_CONVERT_TEXT];
    uint8_t       bytes[16];
    struct values two = {{1, bits}, 2};
    for (int big = 0; big <= 1; big++) {
        struct fby_npy npy = file_of(type, big == 1, &two, bytes);
        assert_string_equal(fby_convert_text(&npy, 1, text), expected_text);
    }
}

static void a_value_is_said_as_it_stands_in_the_file(void **state)
{
    (void)state;
    assert_text(FBY_NPY_I1, 0xff, "-1");
    assert_text(FBY_NPY_U8, UINT64_MAX, "18446744073709551615");
    assert_text(FBY_NPY_I8, UINT64_C(1) << 63, "-9223372036854775808");
    assert_text(FBY_NPY_F2, 0x3555, "0.333251953");
    assert_text(FBY_NPY_F8, UINT64_C(0x7ff0000000000000), "inf");
    assert_text(FBY_NPY_F8, UINT64_C(0xffefffffffffffff), "-1.79769313e+308");
}

/* One value does not fit: those before it are written, and nothing after the
 * end. */
static void values_before_one_that_does_not_fit_are_written(void **state)
{
    (void)state;
    enum { N = 3000 }; /* several blocks */
    static int32_t  values[N];
    static uint16_t out[N + 1];
    for (size_t bad = 0; bad < N; bad += 1 + bad / 3) {
        struct fby_npy npy = {
            .type = FBY_NPY_I4, .n_values = N, .data = (const void *)values};
        memset(out, 0xee, sizeof(out));
        for (size_t i = 0; i < N; i++) {
            values[i] = (int32_t)(7 * i);
        }
        values[bad] = 65536;
        assert_int_equal(fby_convert(&npy, FBY_U16, (uint8_t *)out), bad);
        for (size_t i = 0; i < bad; i++) {
            assert_int_equal(out[i], 7 * i);
        }
        assert_int_equal(out[N], 0xeeee);
    }
}

/* Numbers of values around whole blocks: nothing is read or written after the
 * last value. */
static void arrays_end_with_their_last_value(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 511, 512, 513, 700, 1025};
    for (unsigned i = 0; i < 6 * FBY_NPY_TYPES * FBY_U32 * 2; i++) {
        enum fby_npy_type  from  = (enum fby_npy_type)(i / 6 % FBY_NPY_TYPES);
        enum fby_type      to    = (enum fby_type)(1 + i / 72 % FBY_U32);
        size_t             n     = counts[i % 6];
        size_t             bytes = fby_npy_type_bytes(from);
        struct fby_guarded in    = fby_guarded_copy(NULL, n * bytes);
        struct fby_guarded out = fby_guarded_copy(NULL, n * fby_type_bytes(to));
        struct fby_npy     npy = {.type = from,
                .big_endian             = i / 72 / FBY_U32 == 1 && bytes > 1,
                .n_values               = n,
                .data                   = in.bytes};
        memset(out.bytes, 0xee, out.size);
        assert_int_equal(fby_convert(&npy, to, out.bytes), n);
        for (size_t k = 0; k < out.size; k++) {
            assert_int_equal(out.bytes[k], 0);
        }
        fby_guarded_free(&in);
        fby_guarded_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_end_with_their_last_value),
        cmocka_unit_test(values_before_one_that_does_not_fit_are_written),
        cmocka_unit_test(every_type_becomes_every_other_as_the_reference_says),
        cmocka_unit_test(every_number_of_values_is_converted),
        cmocka_unit_test(a_bool_is_0_or_1),
        cmocka_unit_test(a_value_is_said_as_it_stands_in_the_file),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.convert", tests, NULL, NULL);
}
