/* colour.c - steps that change a pixel by its own three values. */
#include "worker/transform/steps/steps.h"

/* Call `change` for every pixel, with the step's first value. */
static inline void each_pixel(const struct fby_step_work *work,
    void (*change)(uint8_t *rgb, int64_t number))
{
    for (uint32_t y = 0; y < work->in.height; y++) {
        uint8_t *at  = fby_image_row(&work->in, y);
        uint8_t *end = at + (size_t)work->in.width * FBY_RGB;
        for (; at < end; at += FBY_RGB) {
            change(at, work->step->v[0]);
        }
    }
}

static inline void make_grey(uint8_t *rgb, int64_t number)
{
    (void)number;
    uint8_t grey = (uint8_t)fby_grey_of(rgb);
    rgb[0]       = grey;
    rgb[1]       = grey;
    rgb[2]       = grey;
}

void fby_do_grey(const struct fby_step_work *work)
{
    each_pixel(work, make_grey);
}

static inline void saturate(uint8_t *rgb, int64_t factor)
{
    int64_t grey = fby_grey_of(rgb) * (65536 - factor);
    for (int c = 0; c < FBY_RGB; c++) {
        rgb[c] = fby_level_of_q16(rgb[c] * factor + grey);
    }
}

void fby_do_saturation(const struct fby_step_work *work)
{
    each_pixel(work, saturate);
}

/* ---- hue ---- */

enum { SIXTHS = 6 << 16 }; /* the circle, Q16 */

static int32_t largest(const uint8_t *rgb)
{
    uint8_t two = rgb[0] > rgb[1] ? rgb[0] : rgb[1];
    return two > rgb[2] ? two : rgb[2];
}

static int32_t smallest(const uint8_t *rgb)
{
    uint8_t two = rgb[0] < rgb[1] ? rgb[0] : rgb[1];
    return two < rgb[2] ? two : rgb[2];
}

/* The hue in sixths of the circle, Q16; 0 for a grey; may be negative. */
static int32_t hue_of(const uint8_t *rgb, int32_t most, int32_t range)
{
    if (range == 0) {
        return 0;
    }
    if (most == rgb[0]) {
        return (rgb[1] - rgb[2]) * 65536 / range;
    }
    return most == rgb[1] ? 2 * 65536 + (rgb[2] - rgb[0]) * 65536 / range
                          : 4 * 65536 + (rgb[0] - rgb[1]) * 65536 / range;
}

/* Round a value of 0..255 in Q16 as torchvision rounds reals of 0..1 to u8:
 * times 255.999, rounded down. */
static uint8_t rounded(int64_t x)
{
    return (uint8_t)(x * 255999 / 255000 >> 16);
}

static inline void turn_hue(uint8_t *rgb, int64_t turn)
{
    static const uint8_t choice[6][3] = {/* of value, rest, falling, rising */
        {0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}};
    int32_t              most         = largest(rgb);
    int32_t              range        = most - smallest(rgb);
    int32_t hue = hue_of(rgb, most, range) + (int32_t)turn * 6 + SIXTHS;
    hue %= SIXTHS;
    int64_t fraction = hue & 65535;
    uint8_t levels[] = {(uint8_t)most, (uint8_t)(most - range),
        rounded(most * INT64_C(65536) - range * fraction),
        rounded(most * INT64_C(65536) - range * (65536 - fraction))};
    for (int c = 0; c < FBY_RGB; c++) {
        rgb[c] = levels[choice[hue >> 16][c]];
    }
}

void fby_do_hue(const struct fby_step_work *work)
{
    each_pixel(work, turn_hue);
}
