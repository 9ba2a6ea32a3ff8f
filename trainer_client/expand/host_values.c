/* SPDX-License-Identifier: Apache-2.0 */
/* host_values.c - expand casts, scales, planar arrays and labels.
 *
 * Casts to floating-point types convert blocks of up to 768 values to f32,
 * scale the block, and store it. Each step is a loop over one type. */
#include "trainer_client/expand/host.h"

#include <string.h>

#include "common/bytes.h"
#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/value.h"

enum { BLOCK = 768 /* values */, MAX_WIDTH = 8 /* bytes of a value */ };
_Static_assert(
    (int)FBY_MAX_FACTORS <= BLOCK, "a block holds a value of each channel");

/* ---- floating-point types ------------------------------------------------ */

struct block_factors { /* the factors of each value of a block */
    float scale[BLOCK];
    float offset[BLOCK];
};

#define LOAD(name, type, convert)                                       \
    static void name(const uint8_t *raw, size_t n, float values[BLOCK]) \
    {                                                                   \
        for (size_t k = 0; k < n; k++) {                                \
            type value;                                                 \
            memcpy(&value, raw + k * sizeof(value), sizeof(value));     \
            values[k] = convert(value);                                 \
        }                                                               \
    }
LOAD(load_u8, uint8_t, (float))
LOAD(load_u16, uint16_t, (float))
LOAD(load_u32, uint32_t, (float))
LOAD(load_i32, int32_t, (float))
LOAD(load_i64, int64_t, (float))
LOAD(load_f16, uint16_t, fby_f16_to_f32)
LOAD(load_bf16, uint16_t, fby_bf16_to_f32)
LOAD(load_f32, uint32_t, fby_f32_from_bits)
#undef LOAD

typedef void load_fn(const uint8_t *raw, size_t n, float values[BLOCK]);

static load_fn *const load_fns[] = {
    [FBY_U8]   = load_u8,
    [FBY_U16]  = load_u16,
    [FBY_U32]  = load_u32,
    [FBY_I32]  = load_i32,
    [FBY_I64]  = load_i64,
    [FBY_F16]  = load_f16,
    [FBY_BF16] = load_bf16,
    [FBY_F32]  = load_f32,
    [FBY_BOOL] = load_u8,
};

#define STORE(name, type, convert)                                      \
    static void name(const float values[BLOCK], size_t n, uint8_t *out) \
    {                                                                   \
        for (size_t k = 0; k < n; k++) {                                \
            type value = convert(values[k]);                            \
            memcpy(out + k * sizeof(value), &value, sizeof(value));     \
        }                                                               \
    }
STORE(store_f32, uint32_t, fby_f32_bits)
STORE(store_f16, uint16_t, fby_f32_to_f16)
STORE(store_bf16, uint16_t, fby_f32_to_bf16)
#undef STORE

static void store_values(
    enum fby_type to, const float values[BLOCK], size_t n, uint8_t *out)
{
    if (to == FBY_F32) {
        store_f32(values, n, out);
    } else if (to == FBY_F16) {
        store_f16(values, n, out);
    } else {
        store_bf16(values, n, out);
    }
}

static void repeat_factors(
    const struct fby_expansion *plan, struct block_factors *out)
{
    for (size_t k = 0; k < BLOCK; k++) {
        out->scale[k]  = plan->scale[k % plan->channels];
        out->offset[k] = plan->offset[k % plan->channels];
    }
}

static void scale_values(
    const struct block_factors *factors, size_t n, float values[BLOCK])
{
    for (size_t k = 0; k < n; k++) {
        values[k] =
            fby_affine_any(values[k], factors->scale[k], factors->offset[k]);
    }
}

/* The number of values of a block. It is a multiple of the number of channels,
 * so that each block begins with the first channel. */
static uint32_t values_per_block(const struct fby_expansion *plan)
{
    return plan->scaled ? BLOCK - BLOCK % plan->channels : BLOCK;
}

static void cast_to_float(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out)
{
    struct block_factors factors;
    float                values[BLOCK];
    size_t               in_width  = fby_type_bytes(plan->from);
    size_t               out_width = fby_type_bytes(plan->to);
    uint32_t             block     = values_per_block(plan);
    if (plan->scaled) {
        repeat_factors(plan, &factors);
    }
    for (uint64_t first = 0; first < n; first += block) {
        size_t count = n - first < block ? (size_t)(n - first) : block;
        load_fns[plan->from](raw + first * in_width, count, values);
        if (plan->scaled) {
            scale_values(&factors, count, values);
        }
        store_values(plan->to, values, count, out + first * out_width);
    }
}

/* ---- any type ------------------------------------------------------------ */

static struct fby_number load_number(
    enum fby_type type, const uint8_t *raw, uint64_t i)
{
    return fby_number_from_bits(
        type, fby_element_le(raw, fby_type_bytes(type), i));
}

void fby_expand_values(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out)
{
    uint32_t width = fby_type_bytes(plan->to);
    if (plan->from == plan->to && !plan->scaled) {
        memcpy(out, raw, n * width);
        return;
    }
    if (fby_type_is_float(plan->to)) {
        cast_to_float(plan, raw, n, out);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        struct fby_number x = load_number(plan->from, raw, i);
        fby_store_le(out + i * width, fby_number_to_bits(x, plan->to), width);
    }
}

/* ---- planar -------------------------------------------------------------- */

struct planar_position {
    uint64_t channels, pixels; /* of the sample */
    uint64_t channel, pixel;   /* of the next value */
};

/* Callers pass constants for `width`, so that each width has its own loop. */
static inline void write_planar_of(struct planar_position *next,
    const uint8_t *values, uint64_t n, uint32_t width, uint8_t *out)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t index = next->channel * next->pixels + next->pixel;
        memcpy(out + index * width, values + i * width, width);
        next->channel++;
        if (next->channel == next->channels) {
            next->channel = 0;
            next->pixel++;
        }
    }
}

static void write_planar(struct planar_position *next, const uint8_t *values,
    uint64_t n, uint32_t width, uint8_t *out)
{
    if (width == 1) {
        write_planar_of(next, values, n, 1, out);
    } else if (width == 2) {
        write_planar_of(next, values, n, 2, out);
    } else if (width == 4) {
        write_planar_of(next, values, n, 4, out);
    } else {
        write_planar_of(next, values, n, 8, out);
    }
}

void fby_expand_planar(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out)
{
    uint8_t                values[BLOCK * MAX_WIDTH];
    uint32_t               in_width = fby_type_bytes(plan->from);
    uint32_t               block    = values_per_block(plan);
    uint64_t               n        = plan->raw_bytes / in_width;
    struct planar_position next     = {
            .channels = plan->shape.dims[2], .pixels = plan->pixels};
    for (uint64_t first = 0; first < n; first += block) {
        uint64_t count = n - first < block ? n - first : block;
        fby_expand_values(plan, raw + first * in_width, count, values);
        write_planar(&next, values, count, fby_type_bytes(plan->to), out);
    }
}

/* ---- labels -------------------------------------------------------------- */

fby_err fby_load_label(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t i, uint32_t *out, struct fby_error_detail *why)
{
    int64_t label = load_number(plan->from, raw, i).i; /* not a float */
    if (label < 0 || label >= (int64_t)plan->classes) {
        return fby_error_set(why, FBY_PROTO,
            "field %s: label %lld is not one of 0 to %u", plan->name,
            (long long)label, plan->classes - 1);
    }
    *out = (uint32_t)label;
    return FBY_OK;
}

fby_err fby_check_labels(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint64_t i = 0; i < n && plan->classes > 0 && err == FBY_OK; i++) {
        uint32_t label = 0;
        err            = fby_load_label(plan, raw, i, &label, why);
    }
    return err;
}

fby_err fby_expand_one_hot(const struct fby_expansion *plan, const uint8_t *raw,
    uint8_t *out, struct fby_error_detail *why)
{
    uint32_t width = fby_type_bytes(plan->to);
    uint32_t label = 0;
    fby_err  err   = fby_load_label(plan, raw, 0, &label, why);
    for (uint32_t c = 0; c < plan->classes && err == FBY_OK; c++) {
        fby_store_le(
            out + (size_t)c * width, c == label ? plan->on : plan->off, width);
    }
    return err;
}

/* Write the weighted sum of the one-hot rows of labels `own` and `other`. */
static void write_mixed(const struct fby_expansion *plan,
    const struct fby_ops_row *row, uint32_t own, uint32_t other, uint8_t *out)
{
    uint32_t width = fby_type_bytes(plan->to);
    float    on    = plan->on_value;
    float    off   = plan->off_value;
    for (uint32_t c = 0; c < plan->classes; c++) {
        struct fby_number value = {.is_float = true,
            .f = fby_ops_mix(c == own ? on : off, c == other ? on : off,
                row->label_share, row->label_partner_share)};
        fby_store_le(out + (size_t)c * width,
            fby_number_to_bits(value, plan->to), width);
    }
}

fby_err fby_expand_mix(
    const struct fby_expand_job *job, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t r = 0; r < job->rows && err == FBY_OK; r++) {
        const struct fby_ops_row *row   = &job->params[r];
        uint32_t                  own   = 0;
        uint32_t                  other = 0;
        err = fby_load_label(job->plan, job->raw, r, &own, why);
        if (err == FBY_OK) {
            err =
                fby_load_label(job->plan, job->raw, row->partner, &other, why);
        }
        if (err == FBY_OK) {
            write_mixed(job->plan, row, own, other,
                (uint8_t *)job->out + r * job->plan->out_bytes);
        }
    }
    return err;
}
