/* Pictures in yuv420 planes, on the host. A band (some lines, or part of a long
 * one) is converted to RGB, which stays in the cache, and is then expanded like
 * any u8 picture. */
#include "trainer_client/expand/yuv.h"

#include "trainer_client/expand/image.h"

enum { BAND = 8192 }; /* pixels; whole tiles of a long line */
_Static_assert(BAND % FBY_YUV_COLUMNS == 0, "bands end where tiles do");

void fby_yuv_line_portable(const struct fby_yuv_line *line, uint8_t *rgb)
{
    for (uint32_t x = 0; x < line->width; x++) {
        struct fby_rgb pixel   = fby_yuv_pixel(line, x);
        rgb[3 * (size_t)x]     = pixel.r;
        rgb[3 * (size_t)x + 1] = pixel.g;
        rgb[3 * (size_t)x + 2] = pixel.b;
    }
}

/* ---- a picture ---- */

struct yuv_picture {
    const uint8_t   *raw;
    uint32_t         width, height;
    fby_yuv_line_fn *line;
};

/* Convert `n` pixels of line `y` from column `x` on. */
static void to_rgb(const struct yuv_picture *picture, uint32_t y, uint32_t x,
    uint32_t n, uint8_t *rgb)
{
    for (uint32_t end = x + n; x < end; x += FBY_YUV_COLUMNS) {
        struct fby_yuv_line line = fby_yuv_line_at(
            picture->raw, picture->width, picture->height, x, y);
        picture->line(&line, rgb);
        rgb += 3 * (size_t)line.width;
    }
}

/* True if the result is RGB unchanged. */
static bool is_plain(const struct fby_expansion *plan)
{
    bool plain = plan->to == FBY_U8 && plan->layout != FBY_LAYOUT_CHW;
    for (uint32_t c = 0; c < 3; c++) {
        plain = plain && plan->scale[c] == 1 && plan->offset[c] == 0;
    }
    return plain;
}

static void to_rgb_picture(const struct yuv_picture *picture, uint8_t *out)
{
    for (uint32_t y = 0; y < picture->height; y++) {
        to_rgb(picture, y, 0, picture->width, out);
        out += 3 * (size_t)picture->width;
    }
}

/* Offset of pixel `first` in the result, in its first plane if it is planar. */
static size_t byte_offset(const struct fby_expansion *plan, size_t first)
{
    size_t values = plan->layout == FBY_LAYOUT_CHW ? first : 3 * first;
    return values * fby_type_bytes(plan->to);
}

/* Some whole lines, or a part of one. */
struct band {
    uint32_t x, y;
    uint32_t columns, lines;
};

static void expand_band(const struct yuv_picture *picture,
    const struct band *band, struct fby_expansion *plan, bool non_temporal,
    uint8_t *out)
{
    _Alignas(64) uint8_t rgb[3 * BAND];
    for (uint32_t i = 0; i < band->lines; i++) {
        to_rgb(picture, band->y + i, band->x, band->columns,
            rgb + 3 * (size_t)i * band->columns);
    }
    size_t first = (size_t)band->y * picture->width + band->x;
    plan->pixels = band->columns * band->lines;
    fby_expand_image_of(fby_simd())(
        plan, rgb, non_temporal, out + byte_offset(plan, first));
}

static uint32_t min_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void fby_expand_yuv(const struct fby_expansion *plan, const uint8_t *raw,
    bool non_temporal, uint8_t *out)
{
    const struct yuv_picture picture = {raw, plan->shape.dims[1],
        plan->shape.dims[0], fby_yuv_line_of(fby_simd())};
    if (is_plain(plan)) {
        to_rgb_picture(&picture, out);
        return;
    }
    struct fby_expansion part  = *plan;
    uint32_t             lines = BAND / min_of(BAND, picture.width);
    for (uint32_t y = 0; y < picture.height; y += lines) {
        for (uint32_t x = 0; x < picture.width; x += BAND) {
            struct band band = {x, y, min_of(BAND, picture.width - x),
                min_of(lines, picture.height - y)};
            expand_band(&picture, &band, &part, non_temporal, out);
        }
    }
}
