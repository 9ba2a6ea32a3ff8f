/* SPDX-License-Identifier: Apache-2.0 */
/* photo_read.c - read the number and label that photos.c painted into a picture
 * from its pixels, with integer sums only. */
#include "cli/photos/photo_code.h"
#include "cli/photos/photos.h"

const struct fby_hue fby_hues[FBY_PHOTO_LABELS] = {{256, 0}, {222, 128},
    {128, 222}, {0, 256}, {-128, 222}, {-222, 128}, {-256, 0}, {-222, -128},
    {-128, -222}, {0, -256}, {128, -222}, {222, -128}};

struct pixel_area { /* in pixels */
    uint32_t x, y, w, h;
};

/* Returns the mean over `area` of a weighted sum of R, G and B. The weights and
 * the result are in units of 1/256. */
static int64_t mean_of(const struct fby_image *image, struct pixel_area area,
    const int32_t weights[3])
{
    int64_t sum = 0;
    for (uint32_t y = area.y; y < area.y + area.h; y++) {
        const uint8_t *pixel =
            image->pixels + y * image->stride + (size_t)area.x * FBY_RGB;
        for (uint32_t x = 0; x < area.w; x++) {
            sum += pixel[0] * weights[0] + pixel[1] * weights[1] +
                   pixel[2] * weights[2];
            pixel += FBY_RGB;
        }
    }
    return sum / ((int64_t)area.w * area.h);
}

/* True if the inner part of a cell is light. The edges may be blurred. */
static bool is_cell_light(
    const struct fby_image *image, uint32_t row, uint32_t column)
{
    static const int32_t luma[3] = {77, 150, 29};
    uint32_t             left    = column * image->width / FBY_CELL_COLUMNS;
    uint32_t             right = (column + 1) * image->width / FBY_CELL_COLUMNS;
    uint32_t             inset = (right - left) / 4; /* of rows: 2 */
    struct pixel_area    area  = {left + inset, row * FBY_CELL_HEIGHT + 2,
            right - left - 2 * inset, FBY_CELL_HEIGHT - 4};
    return mean_of(image, area, luma) >
           256 * (FBY_LUMA_DARK + FBY_LUMA_LIGHT) / 2;
}

bool fby_photo_read_number(const struct fby_image *image, uint32_t *out)
{
    uint32_t code = 0;
    if (image->width < FBY_PHOTO_READ_SIDE ||
        image->height < FBY_CELL_ROWS * FBY_CELL_HEIGHT) {
        return false;
    }
    for (uint32_t row = 0; row < FBY_CELL_ROWS; row++) {
        for (uint32_t column = 0; column < FBY_CELL_COLUMNS; column++) {
            code = code << 1 | is_cell_light(image, row, column);
        }
    }
    if (fby_photo_code(code >> 8) != code) { /* wrong check bits */
        return false;
    }
    *out = code >> 8;
    return true;
}

bool fby_photo_read_label(const struct fby_image *image, uint32_t *out)
{
    static const int32_t to_cb[3] = {-43, -85, 128};
    static const int32_t to_cr[3] = {128, -107, -21};
    if (image->width == 0 || image->height == 0) {
        return false;
    }
    struct pixel_area all  = {0, 0, image->width, image->height};
    int64_t           cb   = mean_of(image, all, to_cb);
    int64_t           cr   = mean_of(image, all, to_cr);
    int64_t           best = 0;
    for (uint32_t k = 0; k < FBY_PHOTO_LABELS; k++) {
        int64_t strength = cb * fby_hues[k].cb + cr * fby_hues[k].cr;
        if (strength > best) {
            best = strength;
            *out = k;
        }
    }
    /* In units of 1/65536. Painted hues have a strength of 18 to 38. */
    return best > INT64_C(8) * 65536;
}
