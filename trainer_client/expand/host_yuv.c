/* SPDX-License-Identifier: Apache-2.0 */
/* host_yuv.c - expand pictures in yuv420 planes.
 *
 * A band is some lines, or a part of a long line. Each band is converted to RGB
 * in a buffer that stays in the cache, and then expanded like a u8 picture. */
#include "trainer_client/expand/host.h"
#include "trainer_client/expand/yuv.h"

enum { BAND_PIXELS = 8192 }; /* most pixels of a band */
_Static_assert(BAND_PIXELS % FBY_YUV_COLUMNS == 0, "a band begins at a tile");

void fby_yuv_line_portable(const struct fby_yuv_line *line, uint8_t *rgb)
{
    for (uint32_t x = 0; x < line->width; x++) {
        struct fby_rgb pixel   = fby_yuv_pixel(line, x);
        rgb[3 * (size_t)x]     = pixel.r;
        rgb[3 * (size_t)x + 1] = pixel.g;
        rgb[3 * (size_t)x + 2] = pixel.b;
    }
}

/* ---- a picture ----------------------------------------------------------- */

struct yuv_picture {
    const uint8_t   *raw;
    uint32_t         width, height; /* pixels */
    fby_yuv_line_fn *convert;       /* converts a line of a tile */
};

/* Convert `n` pixels of line `y` to RGB from column `x`, where a tile begins. */
static void convert_pixels(const struct yuv_picture *picture, uint32_t y,
    uint32_t x, uint32_t n, uint8_t *rgb)
{
    for (uint32_t end = x + n; x < end; x += FBY_YUV_COLUMNS) {
        struct fby_yuv_line line = fby_yuv_line_at(
            picture->raw, picture->width, picture->height, x, y);
        picture->convert(&line, rgb);
        rgb += 3 * (size_t)line.width;
    }
}

static void convert_picture(const struct yuv_picture *picture, uint8_t *out)
{
    for (uint32_t y = 0; y < picture->height; y++) {
        convert_pixels(picture, y, 0, picture->width, out);
        out += 3 * (size_t)picture->width;
    }
}

/* The offset in bytes of pixel `first` in the output, or in the first plane of
 * a planar output. */
static size_t byte_offset(const struct fby_expansion *plan, size_t first)
{
    size_t values = plan->layout == FBY_LAYOUT_CHW ? first : 3 * first;
    return values * fby_type_bytes(plan->to);
}

struct band {      /* whole lines of a picture, or a part of one line */
    uint32_t x, y; /* of the first pixel */
    uint32_t columns, lines;
};

/* Expand a band to the picture at `out`. Sets plan->pixels to its pixels. */
static void expand_band(const struct yuv_picture *picture,
    const struct band *band, struct fby_expansion *plan, bool non_temporal,
    uint8_t *out)
{
    _Alignas(64) uint8_t rgb[3 * BAND_PIXELS];
    for (uint32_t i = 0; i < band->lines; i++) {
        convert_pixels(picture, band->y + i, band->x, band->columns,
            rgb + 3 * (size_t)i * band->columns);
    }
    size_t first                = (size_t)band->y * picture->width + band->x;
    plan->pixels                = band->columns * band->lines;
    fby_expand_image_fn *expand = fby_expand_image_kernel(fby_simd_level());
    expand(plan, rgb, non_temporal, out + byte_offset(plan, first));
}

static uint32_t min_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void fby_expand_yuv(const struct fby_expansion *plan, const uint8_t *raw,
    bool non_temporal, uint8_t *out)
{
    const struct yuv_picture picture = {raw, plan->shape.dims[1],
        plan->shape.dims[0], fby_yuv_line_kernel(fby_simd_level())};
    bool out_is_rgb = plan->to == FBY_U8 && plan->layout != FBY_LAYOUT_CHW &&
                      fby_levels_are_unchanged(plan);
    if (out_is_rgb) {
        convert_picture(&picture, out);
        return;
    }
    struct fby_expansion band_plan = *plan;
    uint32_t lines = BAND_PIXELS / min_of(BAND_PIXELS, picture.width);
    for (uint32_t y = 0; y < picture.height; y += lines) {
        for (uint32_t x = 0; x < picture.width; x += BAND_PIXELS) {
            struct band band = {x, y, min_of(BAND_PIXELS, picture.width - x),
                min_of(lines, picture.height - y)};
            expand_band(&picture, &band, &band_plan, non_temporal, out);
        }
    }
}
