/* device_host.c - the device that is always there: ordinary memory. */
#include "trainer_client/device.h"

#include <string.h>

#include "common/pages.h"
#include "proto/layout.h"
#include "trainer_client/expand.h"
#include "trainer_client/expand_bits.h"
#include "trainer_client/expand_image.h"
#include "trainer_client/expand_real.h"

enum { PAST_CACHE = 8 << 20 };

static void *map_raw(size_t size, bool sparse)
{
    return sparse ? fby_pages_map_sparse(size) : fby_pages_map(size);
}

/* ---- other arrays -------------------------------------------------------- */

struct number { /* one value of any type, exactly */
    bool    real;
    int64_t i;
    float   f;
};

static uint64_t load_le(const uint8_t *at, uint32_t width)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < width; i++) {
        bits |= (uint64_t)at[i] << (8 * i);
    }
    return bits;
}

static struct number load(enum fby_type type, const uint8_t *at)
{
    uint64_t bits = load_le(at, fby_type_bytes(type));
    switch (type) {
    case FBY_F16:
        return (struct number){
            .real = true, .f = fby_f16_to_f32((uint16_t)bits)};
    case FBY_BF16:
        return (struct number){
            .real = true, .f = fby_bf16_to_f32((uint16_t)bits)};
    case FBY_F32:
        return (struct number){
            .real = true, .f = fby_f32_from_bits((uint32_t)bits)};
    case FBY_I32:
        return (struct number){.i = (int32_t)(uint32_t)bits};
    case FBY_U8:
    case FBY_U16:
    case FBY_U32:
    case FBY_I64:
    case FBY_BOOL:
        return (struct number){.i = (int64_t)bits};
    }
    return (struct number){0};
}

static uint64_t integer_bits(struct number x, int64_t lo, int64_t hi)
{
    return (uint64_t)(x.real ? fby_f32_to_int(x.f, lo, hi)
                             : fby_clamp_int(x.i, lo, hi));
}

static uint64_t bits_of(struct number x, enum fby_type to)
{
    float real = x.real ? x.f : (float)x.i;
    switch (to) {
    case FBY_F16:
        return fby_f32_to_f16(real);
    case FBY_BF16:
        return fby_f32_to_bf16(real);
    case FBY_F32:
        return fby_f32_bits(real);
    case FBY_U8:
        return integer_bits(x, 0, UINT8_MAX);
    case FBY_U16:
        return integer_bits(x, 0, UINT16_MAX);
    case FBY_U32:
        return integer_bits(x, 0, UINT32_MAX);
    case FBY_I32:
        return integer_bits(x, INT32_MIN, INT32_MAX);
    case FBY_I64:
        return integer_bits(x, INT64_MIN, INT64_MAX);
    case FBY_BOOL:
        return integer_bits(x, 0, 1);
    }
    return 0;
}

static void store_le(uint8_t *at, uint64_t bits, uint32_t width)
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
        struct number x = load(plan->from, raw + i * in_width);
        store_le(out + i * out_width, bits_of(x, plan->to), out_width);
    }
}

static fby_err one_hot(const struct fby_expansion *plan, const uint8_t *raw,
    uint8_t *out, struct fby_why *why)
{
    uint32_t width = fby_type_bytes(plan->to);
    int64_t  id    = load(plan->from, raw).i;
    if (id < 0 || id >= (int64_t)plan->classes) {
        return fby_because(why, FBY_PROTO,
            "field %s: label %lld is not one of 0 to %u", plan->name,
            (long long)id, plan->classes - 1);
    }
    for (uint32_t c = 0; c < plan->classes; c++) {
        store_le(out + (size_t)c * width,
            c == (uint32_t)id ? plan->on : plan->off, width);
    }
    return FBY_OK;
}

/* From this size on a batch's tensor would only push out of the cache what is
 * still needed there. */
static bool is_large(const struct fby_expansion *plan, uint32_t rows)
{
    return rows * plan->out_bytes >= PAST_CACHE;
}

static uint64_t values_of(const struct fby_expansion *plan)
{
    return plan->raw_bytes / fby_type_bytes(plan->from);
}

static fby_err expand(const struct fby_expansion *plan, const void *raw,
    uint32_t rows, void *out, struct fby_why *why)
{
    if (fby_expands_to_reals(plan)) {
        fby_expand_reals(plan, raw, rows * values_of(plan), out);
        return FBY_OK;
    }
    const uint8_t       *from         = raw;
    uint8_t             *to           = out;
    fby_expand_image_fn *expand_image = fby_expand_image_of(fby_simd());
    fby_err              err          = FBY_OK;
    for (uint32_t row = 0; row < rows && err == FBY_OK; row++) {
        if (plan->kind == FBY_EXPAND_AFFINE) {
            expand_image(plan, from, is_large(plan, rows), to);
        } else if (plan->kind == FBY_EXPAND_ONE_HOT) {
            err = one_hot(plan, from, to, why);
        } else if (plan->kind == FBY_EXPAND_BITS) {
            fby_expand_bits(plan, from, to);
        } else {
            cast(plan, from, values_of(plan), to);
        }
        from += plan->raw_bytes;
        to += plan->out_bytes;
    }
    return err;
}

static fby_err decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, void *out, size_t raw_bytes)
{
    return fby_codec_decode(job, payload, out, raw_bytes);
}

const struct fby_device fby_device_host = {
    .name      = "host",
    .dl_type   = 1,
    .raw_alloc = map_raw,
    .raw_free  = fby_pages_unmap,
    .out_alloc = fby_pages_map,
    .out_free  = fby_pages_unmap,
    .expand    = expand,
    .decode    = decode,
};

const struct fby_device *fby_device_named(const char *name)
{
    return strcmp(name, fby_device_host.name) == 0 ? &fby_device_host : NULL;
}
