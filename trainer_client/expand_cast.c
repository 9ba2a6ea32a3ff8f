#include "trainer_client/expand_cast.h"

#include <string.h>

#include "trainer_client/expand.h"
#include "trainer_client/expand_real.h"

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
    if (plan->from == plan->to) {
        memcpy(out, raw, n * fby_type_bytes(plan->from));
    } else if (fby_is_real(plan->to)) {
        fby_expand_reals(plan, raw, n, out);
    } else {
        cast(plan, raw, n, out);
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
