/* SPDX-License-Identifier: Apache-2.0 */
/* device_host.c - the device `host`. Its memory is that of the process, and it
 * expands with the functions of host.h and documents.h. */
#include "trainer_client/expand/device.h"

#include <string.h>

#include "common/pages.h"
#include "proto/layout.h"
#include "trainer_client/expand/documents.h"

static void *map_raw(size_t size, bool sparse)
{
    return sparse ? fby_pages_map_sparse(size) : fby_pages_map(size);
}

static fby_err expand(const struct fby_expansion *plan, const void *raw,
    uint32_t rows, void *out, struct fby_error_detail *why)
{
    const uint8_t       *raw_row = raw;
    uint8_t             *out_row = out;
    fby_expand_image_fn *expand_image =
        fby_expand_image_kernel(fby_simd_level());
    fby_err err = FBY_OK;
    /* These kinds keep the order of values, so one call expands all rows. */
    if (plan->kind == FBY_EXPAND_COPY || plan->kind == FBY_EXPAND_CAST ||
        plan->kind == FBY_EXPAND_SCALE) {
        uint64_t values = plan->raw_bytes / fby_type_bytes(plan->from);
        fby_expand_values(plan, raw, rows * values, out);
        return fby_check_labels(plan, raw, rows * values, why);
    }
    for (uint32_t row = 0; row < rows && err == FBY_OK; row++) {
        if (plan->yuv420) {
            fby_expand_yuv(plan, raw_row, plan->bypass_cache, out_row);
        } else if (plan->kind == FBY_EXPAND_AFFINE) {
            expand_image(plan, raw_row, plan->bypass_cache, out_row);
        } else if (plan->kind == FBY_EXPAND_ONE_HOT) {
            err = fby_expand_one_hot(plan, raw_row, out_row, why);
        } else if (plan->kind == FBY_EXPAND_BITS) {
            fby_expand_bits(plan, raw_row, out_row);
        } else {
            fby_expand_planar(plan, raw_row, out_row);
        }
        raw_row += plan->raw_bytes;
        out_row += plan->out_bytes;
    }
    return err;
}

static fby_err expand_ops(
    const struct fby_expand_job *job, struct fby_error_detail *why)
{
    if (job->plan->kind == FBY_EXPAND_MIX) {
        return fby_expand_mix(job, why);
    }
    if (job->plan->ops.plain) {
        fby_expand_flips(job);
    } else {
        fby_expand_level_ops(job);
    }
    return FBY_OK;
}

static fby_err expand_rows(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const void *raw,
    void *const out[FBY_TENSORS], struct fby_error_detail *why)
{
    bool is_for_documents =
        plan->kind >= FBY_EXPAND_CU_SEQLENS; /* the last ones */
    (void)why; /* the rows were checked, so no error is possible */
    if (is_for_documents) {
        fby_expand_documents(plan, rows, raw, out[0]);
    } else {
        fby_expand_rows(plan, rows, raw, out);
    }
    return FBY_OK;
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
    .decode      = fby_codec_decode,
};

const struct fby_device *fby_device_named(const char *name)
{
    return strcmp(name, fby_device_host.name) == 0 ? &fby_device_host : NULL;
}
