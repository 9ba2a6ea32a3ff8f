#include "trainer_client/expand/real.h"

#include "trainer_client/expand/value.h"

enum { BLOCK = FBY_REALS_BLOCK };
_Static_assert(
    (int)FBY_MAX_FACTORS <= BLOCK, "a block holds a group of channels");

struct block_factors { /* for each value of a block */
    float scale[BLOCK];
    float offset[BLOCK];
};

bool fby_expands_to_reals(const struct fby_expansion *plan)
{
    return plan->kind == FBY_EXPAND_SCALE ||
           (plan->kind == FBY_EXPAND_CAST && fby_is_real(plan->to));
}

uint32_t fby_reals_block(const struct fby_expansion *plan)
{
    return plan->scaled ? BLOCK - BLOCK % plan->channels : BLOCK;
}

/* ---- any type to binary32 ---- */

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

static load_fn *const loads[] = {
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

/* ---- binary32 to a real type ---- */

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

static void store(
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

/* ---- scale and offset ---- */

static void spread(const struct fby_expansion *plan, struct block_factors *out)
{
    for (size_t k = 0; k < BLOCK; k++) {
        out->scale[k]  = plan->scale[k % plan->channels];
        out->offset[k] = plan->offset[k % plan->channels];
    }
}

static void apply(
    const struct block_factors *factors, size_t n, float values[BLOCK])
{
    for (size_t k = 0; k < n; k++) {
        values[k] =
            fby_affine(values[k], factors->scale[k], factors->offset[k]);
    }
}

void fby_expand_reals(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out)
{
    struct block_factors factors;
    float                values[BLOCK];
    size_t               in_width  = fby_type_bytes(plan->from);
    size_t               out_width = fby_type_bytes(plan->to);
    uint32_t             block     = fby_reals_block(plan);
    if (plan->scaled) {
        spread(plan, &factors);
    }
    for (uint64_t first = 0; first < n; first += block) {
        size_t count = n - first < block ? (size_t)(n - first) : block;
        loads[plan->from](raw + first * in_width, count, values);
        if (plan->scaled) {
            apply(&factors, count, values);
        }
        store(plan->to, values, count, out + first * out_width);
    }
}
