/* SPDX-License-Identifier: Apache-2.0 */
/* portable.c - the resize kernel in portable C, which defines the result. */
#include "worker/transform/image.h"
#include "worker/transform/resize/kernel.h"

/* Bytes of a result row that are computed at a time, so that their sums stay in
 * the L1 cache. */
enum { STRIPE = 512 };

/* This kernel uses the weights of the axis as they are, and needs no plan. */
static size_t no_plan_bytes(const struct fby_axis_spec *axis)
{
    (void)axis;
    return 0;
}

static void write_no_plan(const struct fby_axis *axis)
{
    (void)axis;
}

static const uint32_t *weights_of(const struct fby_axis *axis, uint32_t o)
{
    return axis->weights + (size_t)o * axis->max_reach;
}

/* Shift the fraction out of a sum, which includes one half for rounding. */
static uint8_t to_byte(uint32_t sum)
{
    uint32_t value = sum >> FBY_WEIGHT_BITS;
    return (uint8_t)(value > 255 ? 255 : value);
}

static void scale_x(const struct fby_axis *x, const uint8_t *in, uint8_t *out)
{
    for (uint32_t o = 0; o < x->spec.n; o++) {
        const uint32_t *weight = weights_of(x, o);
        const uint8_t  *pixel  = in + (size_t)x->reaches[o].first * FBY_RGB;

        uint32_t sum[FBY_RGB] = {RESIZE_HALF, RESIZE_HALF, RESIZE_HALF};
        for (uint32_t i = 0; i < x->reaches[o].n; i++) {
            sum[0] += pixel[0] * weight[i];
            sum[1] += pixel[1] * weight[i];
            sum[2] += pixel[2] * weight[i];
            pixel += FBY_RGB;
        }
        out[0] = to_byte(sum[0]);
        out[1] = to_byte(sum[1]);
        out[2] = to_byte(sum[2]);
        out += FBY_RGB;
    }
}

/* Write bytes [offset, offset + size) of result row `o` to `out`. */
static void scale_stripe(const struct fby_axis *y, uint32_t o,
    const uint8_t *const *rows, size_t offset, size_t size, uint8_t *out)
{
    const uint32_t *weights = weights_of(y, o);
    uint32_t        sums[STRIPE];
    for (size_t i = 0; i < size; i++) {
        sums[i] = RESIZE_HALF;
    }
    for (uint32_t r = 0; r < y->reaches[o].n; r++) {
        const uint8_t *row    = rows[r] + offset;
        uint32_t       weight = weights[r];
        for (size_t i = 0; i < size; i++) {
            sums[i] += row[i] * weight;
        }
    }
    for (size_t i = 0; i < size; i++) {
        out[i] = to_byte(sums[i]);
    }
}

static void scale_y(const struct fby_axis *y, uint32_t o,
    const uint8_t *const *rows, size_t size, uint8_t *out)
{
    for (size_t offset = 0; offset < size; offset += STRIPE) {
        size_t left = size - offset;
        scale_stripe(
            y, o, rows, offset, left < STRIPE ? left : STRIPE, out + offset);
    }
}

const struct resize_kernel resize_portable = {
    .x_plan_bytes = no_plan_bytes,
    .x_write_plan = write_no_plan,
    .y_plan_bytes = no_plan_bytes,
    .y_write_plan = write_no_plan,
    .scale_x      = scale_x,
    .scale_y      = scale_y,
};
