/* steps.h - run the steps of pipeline/step.h on pixels.
 *
 * Each step equals torchvision's op of that name with the same numbers, to
 * within one level, and uses integer arithmetic only. */
#ifndef FBY_WORKER_TRANSFORM_STEPS_H
#define FBY_WORKER_TRANSFORM_STEPS_H

#include "pipeline/step.h"
#include "worker/transform/image.h"

/* The input and output of one step. */
struct fby_step_work {
    const struct fby_step *step;
    struct fby_image       in, out; /* the same, unless the step moves */
    uint32_t channels;              /* 3; 1: a mask, for geometric steps only */
    bool     ycbcr;  /* channels are Y, Cb, Cr: no steps of colour ops */
    void    *memory; /* fby_step_bytes, 4-byte aligned */
};

/* A pixel that a step paints, in the channels of the picture. */
struct fby_paint {
    uint8_t level[FBY_RGB];
};

/* Convert an RGB colour to the channels of the picture. */
struct fby_paint fby_step_paint(
    const struct fby_step_work *work, const int64_t rgb[FBY_RGB]);

/* Convert a grey of that level to the channels of the picture. */
struct fby_paint fby_step_fill(const struct fby_step_work *work, int64_t level);

/* Does the step write another picture than it reads (not in place)? */
bool fby_step_moves(enum fby_step_kind kind);

/* Bytes of working memory that the step needs for a picture of that size. */
uint64_t fby_step_bytes(const struct fby_step *step, struct fby_size in);

/* Is the step implemented here? */
bool fby_step_is_known(enum fby_step_kind kind);

/* Run a step. Its numbers must fit the picture, which an op's plan ensures:
 * boxes are inside it, mirrors and kernels no larger. `out` has the size of
 * fby_step_size and overlaps `in` only if both are the same. Any thread. */
void fby_step_do(const struct fby_step_work *work);

/* The function of each step kind, as fby_step_do. */
typedef void fby_step_fn(const struct fby_step_work *work);
fby_step_fn  fby_do_vertical_flip, fby_do_pad, fby_do_erase, fby_do_affine;
fby_step_fn  fby_do_grey, fby_do_saturation, fby_do_hue;
fby_step_fn  fby_do_brightness, fby_do_contrast, fby_do_posterize;
fby_step_fn  fby_do_solarize, fby_do_autocontrast, fby_do_equalize;
fby_step_fn  fby_do_blur, fby_do_sharpness;

/* Bytes of working memory of a blur. */
uint64_t fby_blur_bytes(const struct fby_step *step, struct fby_size in);

static inline uint8_t *fby_image_row(const struct fby_image *image, uint32_t y)
{
    return image->pixels + y * image->stride;
}

/* floor(x / 65536), not below 0 nor above 255. */
static inline uint8_t fby_level_of_q16(int64_t x)
{
    x = x < 0 ? 0 : x >> 16;
    return (uint8_t)(x > 255 ? 255 : x);
}

/* Grey as in torchvision: the weights add up to 0.9999; rounded down. */
static inline uint32_t fby_grey_of(const uint8_t *rgb)
{
    return (2989U * rgb[0] + 5870U * rgb[1] + 1140U * rgb[2]) / 10000U;
}

#endif
