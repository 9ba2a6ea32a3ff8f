/* device_host.c - the device `host`: ordinary memory. */
#include "trainer_client/expand/device.h"

#include <string.h>

#include "common/pages.h"
#include "proto/layout.h"
#include "trainer_client/expand/bits.h"
#include "trainer_client/expand/cast.h"
#include "trainer_client/expand/documents.h"
#include "trainer_client/expand/image.h"
#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/ragged.h"
#include "trainer_client/expand/real.h"
#include "trainer_client/expand/sparse.h"

enum { LARGE = 8 << 20 }; /* bytes */

static void *map_raw(size_t size, bool sparse)
{
    return sparse ? fby_pages_map_sparse(size) : fby_pages_map(size);
}

/* A tensor of this size would only evict from the cache what is still needed.
 */
static bool is_large(const struct fby_expansion *plan, uint32_t rows)
{
    return rows * plan->out_bytes >= LARGE;
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
        if (plan->yuv420) {
            fby_expand_yuv(plan, from, is_large(plan, rows), to);
        } else if (plan->kind == FBY_EXPAND_AFFINE) {
            expand_image(plan, from, is_large(plan, rows), to);
        } else if (plan->kind == FBY_EXPAND_ONE_HOT) {
            err = fby_expand_one_hot(plan, from, to, why);
        } else if (plan->kind == FBY_EXPAND_BITS) {
            fby_expand_bits(plan, from, to);
        } else if (plan->kind == FBY_EXPAND_PLANAR) {
            fby_expand_planar(plan, from, to);
        } else {
            fby_expand_values(plan, from, values_of(plan), to);
        }
        from += plan->raw_bytes;
        to += plan->out_bytes;
    }
    return err;
}

/* Mix the one-hot rows of two labels. */
static fby_err mix(
    const struct fby_expand_job *job, uint32_t r, struct fby_why *why)
{
    const struct fby_expansion *plan  = job->plan;
    const struct fby_ops_row   *row   = &job->draws[r];
    const uint8_t              *raw   = job->raw;
    uint8_t                    *out   = job->out;
    uint32_t                    width = fby_type_bytes(plan->to);
    int64_t own = fby_number_load(plan->from, raw + r * plan->raw_bytes).i;
    int64_t partner =
        fby_number_load(plan->from, raw + row->partner * plan->raw_bytes).i;
    if (own >= plan->classes || partner >= plan->classes) {
        return fby_because(why, FBY_PROTO,
            "field %s: label %lld is not one of 0 to %u", plan->name,
            (long long)(own > partner ? own : partner), plan->classes - 1);
    }
    for (uint32_t c = 0; c < plan->classes; c++) {
        float mixed = fby_ops_mix(c == own ? plan->on_value : plan->off_value,
            c == partner ? plan->on_value : plan->off_value, row->label_share,
            row->label_rest);
        struct fby_number value = {.real = true, .f = mixed};
        fby_number_store(out + r * plan->out_bytes + (size_t)c * width,
            fby_number_bits(value, plan->to), width);
    }
    return FBY_OK;
}

static fby_err expand_rows(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const void *raw,
    void *const out[FBY_TENSORS], struct fby_why *why)
{
    (void)why;
    if (plan->kind == FBY_EXPAND_PADDED) {
        fby_expand_padded(plan, rows, raw, out);
    } else if (plan->kind == FBY_EXPAND_RAGGED) {
        fby_expand_ragged(plan, rows, raw, out);
    } else if (plan->documents) {
        fby_expand_documents(plan, rows, raw, out[0]);
    } else {
        fby_expand_sparse(plan, rows, raw, out);
    }
    return FBY_OK;
}

static fby_err expand_ops(const struct fby_expand_job *job, struct fby_why *why)
{
    fby_err err = FBY_OK;
    if (job->plan->kind == FBY_EXPAND_OPS) {
        fby_expand_ops_host(job);
        return FBY_OK;
    }
    for (uint32_t r = 0; r < job->rows && err == FBY_OK; r++) {
        err = mix(job, r, why);
    }
    return err;
}

static fby_err decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, void *out, size_t raw_bytes)
{
    return fby_codec_decode(job, payload, out, raw_bytes);
}

const struct fby_device fby_device_host = {
    .name        = "host",
    .raw_alloc   = map_raw,
    .raw_free    = fby_pages_unmap,
    .out_alloc   = fby_pages_map,
    .out_free    = fby_pages_unmap,
    .expand      = expand,
    .expand_ops  = expand_ops,
    .expand_rows = expand_rows,
    .decode      = decode,
};

const struct fby_device *fby_device_named(const char *name)
{
    return strcmp(name, fby_device_host.name) == 0 ? &fby_device_host : NULL;
}
