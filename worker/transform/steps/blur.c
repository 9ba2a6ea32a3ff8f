/* SPDX-License-Identifier: Apache-2.0 */
/* blur.c - steps that mix a pixel with its neighbours: blur and sharpness. A
 * step (pipeline/step.h) is one change of a picture, with its drawn numbers.
 *
 * A blur computes one row of the result at a time, so that its sums stay in the
 * cache. It first mixes the row with those above and below, and then each pixel
 * with those beside it. Weights are Q15 (15 fraction bits) and sum to one. */
#include <string.h>

#include "pipeline/plan/fixed.h"
#include "worker/transform/steps/steps.h"

enum {
    MAX_SIZE      = 31, /* largest width or height of a kernel, in pixels */
    WEIGHT_BITS   = 15,
    WEIGHT_ONE    = 1 << WEIGHT_BITS,
    FRACTION_BITS = 8 /* of values between mix_rows and mix_pixels */
};

enum { BLUR_WIDTH, BLUR_HEIGHT, BLUR_SIGMA }; /* indices in step->v */

struct blur_kernel {
    int32_t  radius;
    uint32_t weights[MAX_SIZE]; /* Q15 */
};

/* exp(-d^2 / (2 sigma^2)) = 2^(-d^2 / sigma^2 * log2(e) / 2), as Q32. `sigma`
 * is Q16. */
static uint64_t gaussian(int64_t d, int64_t sigma)
{
    const uint64_t    half_log2_e = 3098164009; /* log2(e) / 2, Q32 */
    uint64_t          square      = (uint64_t)(sigma * sigma);
    unsigned __int128 power =
        ((unsigned __int128)(uint64_t)(d * d) * half_log2_e << 32) / square;
    return power >= UINT64_C(33) << 32 /* below 2^-33: 0 in Q32 */
               ? 0
               : fby_exp2_q32(-(int64_t)power);
}

static struct blur_kernel gaussian_kernel(int64_t size, int64_t sigma)
{
    struct blur_kernel kernel      = {.radius = (int32_t)(size / 2)};
    uint64_t           total       = FBY_Q32_ONE; /* the middle weight */
    uint32_t           rounded_sum = 0;
    for (int32_t d = 1; d <= kernel.radius; d++) {
        total += 2 * gaussian(d, sigma);
    }
    for (int32_t i = 0; i < size; i++) {
        uint64_t weight   = gaussian(i - kernel.radius, sigma) * WEIGHT_ONE;
        kernel.weights[i] = (uint32_t)((weight + total / 2) / total);
        rounded_sum += kernel.weights[i];
    }
    /* Correct the middle weight, so that the sum is one. The difference may be
     * negative, but unsigned addition wraps around to the right result. */
    kernel.weights[kernel.radius] += WEIGHT_ONE - rounded_sum;
    return kernel;
}

/* The pixel at `position` of an axis of `n` pixels. Positions outside are
 * reflected at the edge pixel, at most once. */
static uint32_t reflect_position(int64_t position, uint32_t n)
{
    position = position < 0 ? -position : position;
    return (uint32_t)(position < n ? position : 2 * (int64_t)n - 2 - position);
}

/* number / 2^bits, rounded. */
static inline uint32_t shift_rounded(uint32_t number, uint32_t bits)
{
    return (number + (1U << (bits - 1))) >> bits;
}

/* Mix row `y` with the rows above and below. `sums` is working memory. */
static void mix_rows(const struct fby_image *in,
    const struct blur_kernel *kernel, uint32_t y, uint32_t *sums, uint16_t *out)
{
    size_t n = (size_t)in->width * FBY_RGB;
    memset(sums, 0, n * sizeof(*sums));
    for (int32_t k = -kernel->radius; k <= kernel->radius; k++) {
        uint32_t       weight = kernel->weights[k + kernel->radius];
        const uint8_t *row =
            fby_image_row(in, reflect_position((int64_t)y + k, in->height));
        for (size_t i = 0; i < n; i++) {
            sums[i] += weight * row[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint16_t)shift_rounded(sums[i], WEIGHT_BITS - FRACTION_BITS);
    }
}

/* Reflect `radius` pixels of the row beyond its left and its right end. */
static void reflect_ends(uint16_t *row, uint32_t width, int32_t radius)
{
    for (int32_t i = 1; i <= radius; i++) {
        memcpy(row - (ptrdiff_t)i * FBY_RGB,
            row + (size_t)reflect_position(-i, width) * FBY_RGB,
            FBY_RGB * sizeof(*row));
        int64_t right = (int64_t)width - 1 + i;
        memcpy(row + right * FBY_RGB,
            row + (size_t)reflect_position(right, width) * FBY_RGB,
            FBY_RGB * sizeof(*row));
    }
}

/* Mix each pixel of a row with those to its left and right. */
static void mix_pixels(const uint16_t *row, const struct blur_kernel *kernel,
    uint32_t *sums, uint32_t width, uint8_t *out)
{
    size_t n = (size_t)width * FBY_RGB;
    memset(sums, 0, n * sizeof(*sums));
    for (int32_t k = -kernel->radius; k <= kernel->radius; k++) {
        uint32_t        weight  = kernel->weights[k + kernel->radius];
        const uint16_t *shifted = row + (ptrdiff_t)k * FBY_RGB;
        for (size_t i = 0; i < n; i++) {
            sums[i] += weight * shifted[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)shift_rounded(sums[i], WEIGHT_BITS + FRACTION_BITS);
    }
}

uint64_t fby_blur_memory_bytes(const struct fby_step *step, struct fby_size in)
{
    (void)step;
    uint64_t sums = (uint64_t)in.w * FBY_RGB * sizeof(uint32_t);
    uint64_t row  = ((uint64_t)in.w + MAX_SIZE) * FBY_RGB * sizeof(uint16_t);
    return sums + row;
}

void fby_apply_blur(const struct fby_step_work *work)
{
    const int64_t     *v      = work->step->v;
    struct blur_kernel across = gaussian_kernel(v[BLUR_WIDTH], v[BLUR_SIGMA]);
    struct blur_kernel down   = gaussian_kernel(v[BLUR_HEIGHT], v[BLUR_SIGMA]);
    uint32_t           width  = work->in.width;
    /* The row is after the sums, with room for reflected pixels at its ends. */
    uint32_t *sums = work->memory;
    uint16_t *row  = (uint16_t *)(sums + (size_t)width * FBY_RGB) +
                    (size_t)(MAX_SIZE / 2) * FBY_RGB;
    for (uint32_t y = 0; y < work->in.height; y++) {
        mix_rows(&work->in, &down, y, sums, row);
        reflect_ends(row, width, across.radius);
        mix_pixels(row, &across, sums, width, fby_image_row(&work->out, y));
    }
}

/* The rounded mean of one channel of 3 x 3 pixels. The `middle` pixel counts
 * five times (four, and one in the loop), so the weights sum to 13. */
static int64_t smoothed(const uint8_t *middle, size_t stride)
{
    uint32_t sum = 4U * middle[0];
    for (int i = -FBY_RGB; i <= FBY_RGB; i += FBY_RGB) {
        sum += (uint32_t)(*(middle + i - stride) + middle[i] +
                          *(middle + i + stride));
    }
    return (2 * sum + 13) / 26; /* sum / 13, rounded */
}

static void sharpen_row(const struct fby_step_work *work, uint32_t y)
{
    int64_t        factor = work->step->v[0]; /* Q16; FBY_Q16_ONE: no change */
    const uint8_t *in     = fby_image_row(&work->in, y);
    uint8_t       *out    = fby_image_row(&work->out, y);
    for (size_t i = FBY_RGB; i < ((size_t)work->in.width - 1) * FBY_RGB; i++) {
        int64_t smooth = smoothed(in + i, work->in.stride);
        int64_t level  = in[i] * factor + smooth * (FBY_Q16_ONE - factor);
        out[i]         = fby_level_from_q16(level);
    }
}

/* The outermost pixels are copied, because they lack neighbours. */
void fby_apply_sharpness(const struct fby_step_work *work)
{
    const struct fby_image *in   = &work->in;
    size_t                  size = (size_t)in->width * FBY_RGB;
    for (uint32_t y = 0; y < in->height; y++) {
        memcpy(fby_image_row(&work->out, y), fby_image_row(in, y), size);
        if (y > 0 && y + 1 < in->height && in->width > 2) {
            sharpen_row(work, y);
        }
    }
}
