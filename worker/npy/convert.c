/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - convert values of a NumPy file to the wire type (the type that is
 * sent), block by block: swap the bytes to the order of this machine, convert
 * to one of three wide types (i64, u64, f64), then to the wire type.
 *
 * 11 loops into the wide types and 24 out of them serve all 96 pairs of types.
 * The loops have no branch, so that the compiler can vectorise them: a flag for
 * values that do not fit is checked once per block. From f64 to a 16-bit type,
 * a value is first converted to f32; round_to_odd() avoids double rounding. */
#include "worker/npy/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 512 /* values in a block, at most */ };

/* A file's type has a wide type that holds all its values exactly. */
enum wide { WIDE_I64, WIDE_U64, WIDE_F64 };

union raw { /* values of the file, in the byte order of this machine */
    int8_t   i1[BLOCK];
    uint8_t  u1[BLOCK];
    int16_t  i2[BLOCK];
    uint16_t u2[BLOCK];
    int32_t  i4[BLOCK];
    uint32_t u4[BLOCK];
    int64_t  i8[BLOCK];
    uint64_t u8[BLOCK];
    float    f4[BLOCK];
    double   f8[BLOCK];
};

union wide_block {
    int64_t  i[BLOCK];
    uint64_t u[BLOCK];
    double   f[BLOCK];
};

union wire_block {
    uint8_t  u8[BLOCK];
    uint16_t u16[BLOCK]; /* f16 and bf16 as bits */
    uint32_t u32[BLOCK]; /* f32 as bits */
    int32_t  i32[BLOCK];
    int64_t  i64[BLOCK];
};

struct blocks { /* one block of values, in three steps */
    union raw        raw;
    union wide_block wide;
    union wire_block wire;
};

static enum wide wide_type_of(enum fby_npy_type type)
{
    if (type == FBY_NPY_U8) {
        return WIDE_U64;
    }
    return type >= FBY_NPY_F2 ? WIDE_F64 : WIDE_I64;
}

/* ---- bits ---- */

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* binary16 -> binary32. The exponent and fraction, moved to their places in a
 * binary32, are 2^-112 times the value, since the biases are 15 and 127. */
static inline float float_of_f16(uint16_t half)
{
    uint32_t sign          = (uint32_t)(half & 0x8000U) << 16;
    uint32_t moved         = (uint32_t)(half & 0x7fffU) << 13;
    uint32_t finite        = bits_of(float_of(moved) * 0x1p112F);
    bool     is_inf_or_nan = moved >= 0x7c00U << 13;
    return float_of(sign | (is_inf_or_nan ? moved | 0x7f800000U : finite));
}

/* binary32 -> binary16, for any value but NaN; ties to even.
 *   normal:    subtract 127 - 15 from the exponent, and round off 13 bits
 *   subnormal: add 0.5, whose last place is 2^-24, to round to this place
 *   infinite:  from 65520 on, the middle of 65504 and 65536 */
static inline uint16_t f16_of(float value)
{
    uint32_t bits         = bits_of(value);
    uint32_t sign         = bits >> 16 & 0x8000U;
    uint32_t magnitude    = bits & 0x7fffffffU;
    uint32_t odd          = magnitude >> 13 & 1U; /* the last bit kept */
    uint32_t normal       = (magnitude - 0x38000000U + 0xfffU + odd) >> 13;
    uint32_t subnormal    = bits_of(float_of(magnitude) + 0.5F) - 0x3f000000U;
    bool     is_subnormal = magnitude < 0x38800000U;  /* below 2^-14 */
    bool     is_infinite  = magnitude >= 0x477ff000U; /* 65520 or more */
    uint32_t finite       = is_subnormal ? subnormal : normal;
    return (uint16_t)(sign | (is_infinite ? 0x7c00U : finite));
}

/* binary32 -> bfloat16 (its upper half), except NaN; ties to even. */
static inline uint16_t bf16_of(float value)
{
    uint32_t bits = bits_of(value);
    return (uint16_t)((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

/* binary64 -> binary32. A value between two binary32 becomes the one whose last
 * bit is set. Rounding the result again, to at least two bits less, then gives
 * the same as rounding `value` once. */
static inline float round_to_odd(double value)
{
    double   nearest   = (double)(float)value;
    uint32_t bits      = bits_of((float)value);
    bool     is_exact  = nearest == value;
    bool     is_above  = fabs(nearest) > fabs(value);
    uint32_t truncated = bits - (is_above ? 1U : 0U);
    return float_of(is_exact ? bits : truncated | 1U);
}

/* ---- into the wide types ---- */

/* Define load_<from>: raw->member[k] becomes out->field[k], of type `to`. */
#define LOAD(from, to, member, field)                          \
    static void load_##from(                                   \
        const union raw *raw, size_t n, union wide_block *out) \
    {                                                          \
        for (size_t k = 0; k < n; k++) {                       \
            out->field[k] = (to)raw->member[k];                \
        }                                                      \
    }
LOAD(i1, int64_t, i1, i)
LOAD(u1, int64_t, u1, i)
LOAD(i2, int64_t, i2, i)
LOAD(u2, int64_t, u2, i)
LOAD(i4, int64_t, i4, i)
LOAD(u4, int64_t, u4, i)
LOAD(i8, int64_t, i8, i)
LOAD(u8, uint64_t, u8, u)
LOAD(f4, double, f4, f)
LOAD(f8, double, f8, f)
#undef LOAD

static void load_f2(const union raw *raw, size_t n, union wide_block *out)
{
    for (size_t k = 0; k < n; k++) {
        out->f[k] = (double)float_of_f16(raw->u2[k]);
    }
}

typedef void load_fn(const union raw *raw, size_t n, union wide_block *out);

static load_fn *const loads[FBY_NPY_TYPES] = {
    [FBY_NPY_B1] = load_u1,
    [FBY_NPY_I1] = load_i1,
    [FBY_NPY_U1] = load_u1,
    [FBY_NPY_I2] = load_i2,
    [FBY_NPY_U2] = load_u2,
    [FBY_NPY_I4] = load_i4,
    [FBY_NPY_U4] = load_u4,
    [FBY_NPY_I8] = load_i8,
    [FBY_NPY_U8] = load_u8,
    [FBY_NPY_F2] = load_f2,
    [FBY_NPY_F4] = load_f4,
    [FBY_NPY_F8] = load_f8,
};

/* ---- out of the wide types: return true if a value does not fit ---- */

/* Integer to integer. A value fits if converting it to the wire type and back,
 * through int64_t, does not change it, and if it has no bit of `forbidden`.
 * This is bit 63 of an unsigned value, which i64 would return unchanged. */
#define STORE_WHOLE(name, field, forbidden, type, member)                      \
    static bool name(                                                          \
        const union wide_block *in, size_t n, union wire_block *out)           \
    {                                                                          \
        uint64_t lost = 0;                                                     \
        for (size_t k = 0; k < n; k++) {                                       \
            uint64_t value = (uint64_t)in->field[k];                           \
            type     kept  = (type)in->field[k];                               \
            lost |= ((uint64_t)(int64_t)kept ^ value) | (value & (forbidden)); \
            out->member[k] = kept;                                             \
        }                                                                      \
        return lost != 0;                                                      \
    }
#define STORES_WHOLE(from, field, forbidden)                    \
    STORE_WHOLE(from##_to_u8, field, forbidden, uint8_t, u8)    \
    STORE_WHOLE(from##_to_u16, field, forbidden, uint16_t, u16) \
    STORE_WHOLE(from##_to_u32, field, forbidden, uint32_t, u32) \
    STORE_WHOLE(from##_to_i32, field, forbidden, int32_t, i32)  \
    STORE_WHOLE(from##_to_i64, field, forbidden, int64_t, i64)
STORES_WHOLE(i64, i, 0)
STORES_WHOLE(u64, u, UINT64_C(1) << 63)
#undef STORES_WHOLE
#undef STORE_WHOLE

/* Real to integer. `beyond` is the smallest number that is too large. NaN is
 * not `inside`, because all comparisons with NaN are false. */
#define STORE_REAL_AS_WHOLE(name, type, member, min, beyond)         \
    static bool name(                                                \
        const union wide_block *in, size_t n, union wire_block *out) \
    {                                                                \
        bool bad = false;                                            \
        for (size_t k = 0; k < n; k++) {                             \
            double value  = in->f[k];                                \
            bool   inside = value >= (min) && value < (beyond);      \
            type   whole  = (type)(inside ? value : 0);              \
            bad |= !inside || (double)whole != value;                \
            out->member[k] = whole;                                  \
        }                                                            \
        return bad;                                                  \
    }
STORE_REAL_AS_WHOLE(f64_to_u8, uint8_t, u8, 0, 0x1p8)
STORE_REAL_AS_WHOLE(f64_to_u16, uint16_t, u16, 0, 0x1p16)
STORE_REAL_AS_WHOLE(f64_to_u32, uint32_t, u32, 0, 0x1p32)
STORE_REAL_AS_WHOLE(f64_to_i32, int32_t, i32, -0x1p31, 0x1p31)
STORE_REAL_AS_WHOLE(f64_to_i64, int64_t, i64, -0x1p63, 0x1p63)
#undef STORE_REAL_AS_WHOLE

/* Does the integer have more than `digits` significant bits? Then it is at
 * least 2^digits times its lowest set bit. */
static inline bool needs_more_digits(uint64_t magnitude, unsigned digits)
{
    uint64_t lowest_bit = magnitude & (0 - magnitude);
    return magnitude >> digits >= lowest_bit && magnitude != 0;
}

static inline uint64_t identity(uint64_t value)
{
    return value;
}

static inline uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Integer to real. A value fits if its magnitude has at most `digits` bits from
 * its highest to its lowest set bit, and is at most `max`. NO_LIMIT is no limit
 * in practice. (Compilers warn of a comparison with UINT64_MAX.) */
#define NO_LIMIT (UINT64_MAX - 1)
#define STORE_WHOLE_AS_REAL(name, field, abs_of, digits, max, member, convert) \
    static bool name(                                                          \
        const union wide_block *in, size_t n, union wire_block *out)           \
    {                                                                          \
        bool bad = false;                                                      \
        for (size_t k = 0; k < n; k++) {                                       \
            uint64_t magnitude = abs_of(in->field[k]);                         \
            bad |= magnitude > (max) || needs_more_digits(magnitude, digits);  \
            out->member[k] = convert((float)in->field[k]);                     \
        }                                                                      \
        return bad;                                                            \
    }
STORE_WHOLE_AS_REAL(i64_to_f16, i, magnitude_of, 11, 65504, u16, f16_of)
STORE_WHOLE_AS_REAL(i64_to_bf16, i, magnitude_of, 8, NO_LIMIT, u16, bf16_of)
STORE_WHOLE_AS_REAL(i64_to_f32, i, magnitude_of, 24, NO_LIMIT, u32, bits_of)
STORE_WHOLE_AS_REAL(u64_to_f16, u, identity, 11, 65504, u16, f16_of)
STORE_WHOLE_AS_REAL(u64_to_bf16, u, identity, 8, NO_LIMIT, u16, bf16_of)
STORE_WHOLE_AS_REAL(u64_to_f32, u, identity, 24, NO_LIMIT, u32, bits_of)
#undef STORE_WHOLE_AS_REAL

static void round_block_to_odd(const double *in, size_t n, float *out)
{
    for (size_t k = 0; k < n; k++) {
        out[k] = round_to_odd(in[k]);
    }
}

/* Real to 16-bit real. A NaN becomes `quiet`, the quiet NaN, with its sign. A
 * finite value that becomes `infinite` does not fit. The bits of an infinite
 * f32, without the sign, are 0x7f800000; finite values are below, NaN above. */
#define STORE_REAL_AS_16(name, convert, infinite, quiet)                    \
    static bool name(                                                       \
        const union wide_block *in, size_t n, union wire_block *out)        \
    {                                                                       \
        float    odd[BLOCK];                                                \
        uint32_t bad = 0;                                                   \
        round_block_to_odd(in->f, n, odd);                                  \
        for (size_t k = 0; k < n; k++) {                                    \
            uint32_t source    = bits_of(odd[k]);                           \
            uint32_t magnitude = source & 0x7fffffffU;                      \
            uint32_t bits      = convert(odd[k]);                           \
            uint32_t nan       = (quiet) | (source >> 16 & 0x8000U);        \
            bad |= (uint32_t)(magnitude < 0x7f800000U) &                    \
                   ((bits & 0x7fffU) == (infinite));                        \
            out->u16[k] = (uint16_t)(magnitude > 0x7f800000U ? nan : bits); \
        }                                                                   \
        return bad != 0;                                                    \
    }
STORE_REAL_AS_16(f64_to_f16, f16_of, 0x7c00U, 0x7e00U)
STORE_REAL_AS_16(f64_to_bf16, bf16_of, 0x7f80U, 0x7fc0U)
#undef STORE_REAL_AS_16

/* Real to f32, like STORE_REAL_AS_16. */
static bool f64_to_f32(
    const union wide_block *in, size_t n, union wire_block *out)
{
    uint32_t bad = 0;
    for (size_t k = 0; k < n; k++) {
        double   value     = in->f[k];
        uint32_t bits      = bits_of((float)value);
        uint32_t nan       = 0x7fc00000U | (bits & 0x80000000U);
        uint32_t magnitude = bits & 0x7fffffffU;
        bad |= (uint32_t)(magnitude == 0x7f800000U) & (fabs(value) < HUGE_VAL);
        out->u32[k] = magnitude > 0x7f800000U ? nan : bits;
    }
    return bad != 0;
}

typedef bool store_fn(
    const union wide_block *in, size_t n, union wire_block *out);

static store_fn *store_of(enum wide from, enum fby_type to)
{
    static store_fn *const stores[][FBY_BOOL + 1] = {
        /* by enum fby_type */
        [WIDE_I64] = {NULL, i64_to_u8, i64_to_u16, i64_to_i32, i64_to_i64,
            i64_to_f16, i64_to_bf16, i64_to_f32, i64_to_u32},
        [WIDE_U64] = {NULL, u64_to_u8, u64_to_u16, u64_to_i32, u64_to_i64,
            u64_to_f16, u64_to_bf16, u64_to_f32, u64_to_u32},
        [WIDE_F64] = {NULL, f64_to_u8, f64_to_u16, f64_to_i32, f64_to_i64,
            f64_to_f16, f64_to_bf16, f64_to_f32, f64_to_u32},
    };
    return stores[from][to];
}

/* ---- blocks ---- */

#define SWAP(raw, member, n, swap)                 \
    for (size_t k = 0; k < (n); k++) {             \
        (raw)->member[k] = swap((raw)->member[k]); \
    }

static void swap_bytes(union raw *raw, size_t n, size_t width)
{
    if (width == 2) {
        SWAP(raw, u2, n, __builtin_bswap16)
    } else if (width == 4) {
        SWAP(raw, u4, n, __builtin_bswap32)
    } else {
        SWAP(raw, u8, n, __builtin_bswap64)
    }
}
#undef SWAP

static void read_block(
    const struct fby_npy *npy, uint64_t first, size_t n, union raw *out)
{
    size_t width = fby_npy_type_bytes(npy->type);
    memcpy(out, npy->data + first * width, n * width);
    if (npy->big_endian) {
        swap_bytes(out, n, width);
    }
}

static bool has_only_bools(const union raw *raw, size_t n)
{
    uint8_t any_bits = 0; /* the bits that are set in at least one value */
    for (size_t k = 0; k < n; k++) {
        any_bits |= raw->u1[k];
    }
    return any_bits <= 1;
}

/* Convert `n` values from blocks->raw to blocks->wire. Returns false if a value
 * does not fit. */
static bool convert_block(const struct fby_npy *npy, enum fby_type to, size_t n,
    struct blocks *blocks)
{
    loads[npy->type](&blocks->raw, n, &blocks->wide);
    store_fn *store = store_of(wide_type_of(npy->type), to);
    bool      bad   = store(&blocks->wide, n, &blocks->wire);
    return !bad && (npy->type != FBY_NPY_B1 || has_only_bools(&blocks->raw, n));
}

/* Count the values of a block before the first that does not fit, by converting
 * 1, 2, 3, ... values. This is slow, but only files with bad values need it. */
static size_t count_good(
    const struct fby_npy *npy, enum fby_type to, struct blocks *blocks)
{
    size_t n = 0;
    while (n < BLOCK && convert_block(npy, to, n + 1, blocks)) {
        n++;
    }
    return n;
}

/* Does a value have the same bits in the file and on the wire, apart from the
 * byte order? */
static bool has_same_bits(enum fby_npy_type type, enum fby_type to)
{
    static const enum fby_type same[FBY_NPY_TYPES] = {
        [FBY_NPY_U1] = FBY_U8,
        [FBY_NPY_U2] = FBY_U16,
        [FBY_NPY_I4] = FBY_I32,
        [FBY_NPY_U4] = FBY_U32,
        [FBY_NPY_I8] = FBY_I64,
        [FBY_NPY_F2] = FBY_F16,
        [FBY_NPY_F4] = FBY_F32,
    };
    return same[type] == to;
}

bool fby_convert_is_copy(const struct fby_npy *npy, enum fby_type to)
{
    return has_same_bits(npy->type, to) && !npy->big_endian;
}

uint64_t fby_convert(const struct fby_npy *npy, enum fby_type to, uint8_t *out)
{
    struct blocks blocks;
    size_t        width  = fby_type_bytes(to);
    bool          same   = has_same_bits(npy->type, to);
    const void   *result = same ? (void *)&blocks.raw : (void *)&blocks.wire;
    if (npy->n_values > 0 && fby_convert_is_copy(npy, to)) {
        memcpy(out, npy->data, npy->n_values * width);
        return npy->n_values;
    }
    for (uint64_t first = 0; first < npy->n_values; first += BLOCK) {
        uint64_t left = npy->n_values - first;
        size_t   n    = left < BLOCK ? (size_t)left : BLOCK;
        size_t   good = n;
        read_block(npy, first, n, &blocks.raw);
        if (!same && !convert_block(npy, to, n, &blocks)) {
            good = count_good(npy, to, &blocks);
        }
        memcpy(out + first * width, result, good * width);
        if (good < n) {
            return first + good;
        }
    }
    return npy->n_values;
}

const char *fby_convert_text(
    const struct fby_npy *npy, uint64_t i, char out[FBY_CONVERT_TEXT])
{
    union raw        raw;
    union wide_block wide;
    read_block(npy, i, 1, &raw);
    loads[npy->type](&raw, 1, &wide);
    switch (wide_type_of(npy->type)) {
    case WIDE_I64:
        snprintf(out, FBY_CONVERT_TEXT, "%" PRId64, wide.i[0]);
        break;
    case WIDE_U64:
        snprintf(out, FBY_CONVERT_TEXT, "%" PRIu64, wide.u[0]);
        break;
    case WIDE_F64:
        snprintf(out, FBY_CONVERT_TEXT, "%.9g", wide.f[0]);
        break;
    }
    return out;
}

fby_err fby_convert_refuse(const struct fby_npy *npy, uint64_t i,
    enum fby_type to, struct fby_error_detail *why)
{
    char text[FBY_CONVERT_TEXT];
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "value %" PRIu64 " is %s (%s), which wire type %s cannot hold", i,
        fby_convert_text(npy, i, text), fby_npy_dtype_name(npy->type),
        fby_type_word(to));
}

fby_err fby_convert_all(const struct fby_npy *npy, enum fby_type to,
    uint8_t *out, struct fby_error_detail *why)
{
    uint64_t good = fby_convert(npy, to, out);
    return good == npy->n_values ? FBY_OK
                                 : fby_convert_refuse(npy, good, to, why);
}
