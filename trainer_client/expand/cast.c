#include "trainer_client/expand/cast.h"

#include <string.h>

#include "trainer_client/expand/real.h"
#include "trainer_client/expand/value.h"

static uint64_t load_le(const uint8_t *at, uint32_t width)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < width; i++) {
        bits |= (uint64_t)at[i] << (8 * i);
    }
    return bits;
}

struct fby_number fby_number_load(enum fby_type type, const uint8_t *at)
{
    return fby_number_of(type, load_le(at, fby_type_bytes(type)));
}

void fby_number_store(uint8_t *at, uint64_t bits, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++) {
        at[i] = (uint8_t)(bits >> (8 * i));
    }
}

static void cast(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out)
{
    uint32_t in_width  = fby_type_bytes(plan->from);
    uint32_t out_width = fby_type_bytes(plan->to);
    for (uint64_t i = 0; i < n; i++) {
        struct fby_number x = fby_number_load(plan->from, raw + i * in_width);
        fby_number_store(
            out + i * out_width, fby_number_bits(x, plan->to), out_width);
    }
}

void fby_expand_values(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out)
{
    if (plan->from == plan->to && !plan->scaled) {
        memcpy(out, raw, n * fby_type_bytes(plan->from));
    } else if (fby_is_real(plan->to)) {
        fby_expand_reals(plan, raw, n, out);
    } else {
        cast(plan, raw, n, out);
    }
}

/* ---- channel after channel ----------------------------------------------- */

struct planar_position { /* of the next value in a planar result */
    uint64_t depth, pixels;
    uint64_t channel, pixel;
};

/* `width` is a constant in each call, so that each width gets its own loop. */
static inline void put_apart(struct planar_position *next,
    const uint8_t *values, uint64_t n, uint32_t width, uint8_t *out)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = next->channel * next->pixels + next->pixel;
        memcpy(out + at * width, values + i * width, width);
        next->channel++;
        if (next->channel == next->depth) {
            next->channel = 0;
            next->pixel++;
        }
    }
}

static void put_values(struct planar_position *next, const uint8_t *values,
    uint64_t n, uint32_t width, uint8_t *out)
{
    if (width == 1) {
        put_apart(next, values, n, 1, out);
    } else if (width == 2) {
        put_apart(next, values, n, 2, out);
    } else if (width == 4) {
        put_apart(next, values, n, 4, out);
    } else {
        put_apart(next, values, n, 8, out);
    }
}

void fby_expand_planar(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out)
{
    enum { WIDEST = 8 };
    uint8_t                values[FBY_REALS_BLOCK * WIDEST];
    uint32_t               in_width = fby_type_bytes(plan->from);
    uint32_t               block    = fby_reals_block(plan);
    uint64_t               n        = plan->raw_bytes / in_width;
    struct planar_position next     = {plan->shape.dims[2], plan->pixels, 0, 0};
    for (uint64_t first = 0; first < n; first += block) {
        uint64_t left  = n - first;
        uint64_t count = left < block ? left : block;
        fby_expand_values(plan, raw + first * in_width, count, values);
        put_values(&next, values, count, fby_type_bytes(plan->to), out);
    }
}

fby_err fby_expand_one_hot(const struct fby_expansion *plan, const uint8_t *raw,
    uint8_t *out, struct fby_why *why)
{
    uint32_t width = fby_type_bytes(plan->to);
    int64_t  id    = fby_number_load(plan->from, raw).i;
    if (id < 0 || id >= (int64_t)plan->classes) {
        return fby_because(why, FBY_PROTO,
            "field %s: label %lld is not one of 0 to %u", plan->name,
            (long long)id, plan->classes - 1);
    }
    for (uint32_t c = 0; c < plan->classes; c++) {
        fby_number_store(out + (size_t)c * width,
            c == (uint32_t)id ? plan->on : plan->off, width);
    }
    return FBY_OK;
}
