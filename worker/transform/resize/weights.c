/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c - weights as fractions of integers.
 *
 * Let n be the number of full-size pixels of the axis, m that of its result
 * pixels, u the unit and k the offset. The centre of source pixel i is at
 * (2i + 1) u / 2 - k full-size pixels. The centre of result pixel o, and of its
 * triangle, is at (2o + 1) n / (2m). The half-width of the triangle is
 * max(u, n/m). Its height over source pixel i, multiplied by 2m, is the integer
 *     2 max(n, um) - |((2i + 1) u - 2k) m - (2o + 1) n|    (0 when negative).
 * So each weight is a quotient of integers, which is then rounded. No weight is
 * negative, and the weights of a pixel sum to 2^22, plus or minus a few. */
#include "worker/transform/resize/weights.h"

/* (2o + 1) n + 2km: to be compared with (2i + 1) um of a source pixel. */
static uint64_t shifted_centre(const struct fby_axis_spec *spec, uint64_t o)
{
    return (2 * o + 1) * spec->from + UINT64_C(2) * spec->offset * spec->to;
}

/* 2m times the distance between the centres of source i and result o. */
static uint64_t scaled_distance(
    const struct fby_axis_spec *spec, uint64_t i, uint64_t o)
{
    uint64_t a = (2 * i + 1) * spec->unit * spec->to;
    uint64_t b = shifted_centre(spec, o);
    return a > b ? a - b : b - a;
}

/* 2m times the half-width of the triangle. */
static uint64_t half_width(const struct fby_axis_spec *spec)
{
    uint64_t narrowest = (uint64_t)spec->unit * spec->to;
    return 2 * (spec->from > narrowest ? spec->from : narrowest);
}

/* The first source pixel under the triangle: the smallest i >= 0 with
 * ((2i + 1) u - 2k) m > (2o + 1) n - half_width. */
static uint64_t first_source_pixel(const struct fby_axis_spec *spec, uint64_t o)
{
    uint64_t centre = shifted_centre(spec, o);
    uint64_t width  = half_width(spec) + (uint64_t)spec->unit * spec->to;
    uint64_t step   = UINT64_C(2) * spec->unit * spec->to;
    return centre < width ? 0 : (centre - width) / step + 1;
}

/* The first source pixel after the triangle, or the end of the axis: the
 * smallest i with ((2i + 1) u - 2k) m >= (2o + 1) n + half_width. */
static uint64_t end_source_pixel(const struct fby_axis_spec *spec, uint64_t o)
{
    uint64_t centre = shifted_centre(spec, o);
    uint64_t step   = UINT64_C(2) * spec->unit * spec->to;
    uint64_t end    = (centre + half_width(spec) + step / 2 - 1) / step;
    uint32_t pixels = fby_axis_pixels(spec);
    return end < pixels ? end : pixels;
}

/* Compute the weights of result pixel `o`, and return its reach. */
static struct fby_reach compute_weights(
    const struct fby_axis_spec *spec, uint64_t o, uint32_t *weights)
{
    uint64_t max_height = half_width(spec); /* the triangle's slope is 1 */
    uint64_t first      = first_source_pixel(spec, o);
    uint64_t end        = end_source_pixel(spec, o);
    uint64_t sum        = 0;
    uint32_t n          = 0;
    for (uint64_t i = first; i < end; i++) {
        uint64_t height = max_height - scaled_distance(spec, i, o);
        weights[n++]    = (uint32_t)height;
        sum += height;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t scaled = (uint64_t)weights[i] << (FBY_WEIGHT_BITS + 1);
        weights[i]      = (uint32_t)((scaled + sum) / (2 * sum)); /* rounded */
    }
    return (struct fby_reach){(uint32_t)first, n};
}

uint32_t fby_axis_max_reach(const struct fby_axis_spec *spec)
{
    uint64_t step = UINT64_C(2) * spec->unit * spec->to;
    /* The width of the triangle in source pixels, rounded up, and one more. */
    uint64_t max    = (2 * half_width(spec) + step - 1) / step + 1;
    uint32_t pixels = fby_axis_pixels(spec);
    return max < pixels ? (uint32_t)max : pixels;
}

size_t fby_axis_memory_bytes(const struct fby_axis_spec *spec)
{
    return spec->n * (sizeof(struct fby_reach) +
                         fby_axis_max_reach(spec) * sizeof(uint32_t));
}

struct fby_reach fby_axis_reach(const struct fby_axis_spec *spec)
{
    uint64_t first = first_source_pixel(spec, spec->first);
    uint64_t end   = end_source_pixel(spec, spec->first + spec->n - 1);
    return (struct fby_reach){(uint32_t)first, (uint32_t)(end - first)};
}

struct fby_axis fby_axis_plan(const struct fby_axis_spec *spec, void *memory)
{
    struct fby_reach *reaches = memory;
    uint32_t         *weights = (uint32_t *)(reaches + spec->n);
    struct fby_reach  used    = fby_axis_reach(spec);
    size_t            max     = fby_axis_max_reach(spec);
    for (uint32_t i = 0; i < spec->n; i++) {
        uint32_t o = spec->first + (spec->mirror ? spec->n - 1 - i : i);
        reaches[i] = compute_weights(spec, o, weights + i * max);
        reaches[i].first -= used.first;
    }
    return (struct fby_axis){
        .spec      = *spec,
        .used      = used,
        .reaches   = reaches,
        .max_reach = (uint32_t)max,
        .weights   = weights,
    };
}
