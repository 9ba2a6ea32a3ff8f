/* steps_colour.c - steps that look at the three values of one pixel. */
#include "worker/transform/steps.h"

/* torchvision's weights, which add up to 0.9999; rounded down. */
static uint8_t grey_of(const uint8_t *rgb)
{
    return (
        uint8_t)((2989U * rgb[0] + 5870U * rgb[1] + 1140U * rgb[2]) / 10000U);
}

static uint8_t *row_of(const struct fby_image *image, uint32_t y)
{
    return image->pixels + y * image->stride;
}

void fby_do_grey(const struct fby_step_work *work)
{
    for (uint32_t y = 0; y < work->in.height; y++) {
        uint8_t *at  = row_of(&work->in, y);
        uint8_t *end = at + (size_t)work->in.width * FBY_RGB;
        for (; at < end; at += FBY_RGB) {
            uint8_t grey = grey_of(at);
            at[0]        = grey;
            at[1]        = grey;
            at[2]        = grey;
        }
    }
}
