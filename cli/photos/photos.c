/* SPDX-License-Identifier: Apache-2.0 */
/* photos.c - paint a picture from a number, and encode it as JPEG.
 *
 * The luma is a sum of triangle waves of falling length and height, a few
 * ellipses with sharp edges, and noise. The chroma keeps the hue of the label
 * and varies in strength. All is integer arithmetic, with a few multiplications
 * per pixel. */
#include "cli/photos/photos.h"

#include <stdio.h>
/* jpeglib.h needs stdio.h before it. */
#include <jpeglib.h>
#include <stdlib.h>

#include "cli/photos/photo_code.h"
#include "common/mem.h"
#include "worker/transform/orient.h"

enum { N_WAVES = 6, N_TINTS = 2, N_ELLIPSES = 5 };

/* A triangle wave over the plane. A period is a phase of 65536. */
struct wave {
    int32_t along_x, along_y; /* phase per pixel in x and in y */
    int32_t phase;            /* at pixel (0, 0) */
    int32_t height;           /* largest value, in levels */
};

struct ellipse {
    int64_t x, y, rx, ry; /* centre and radii in pixels */
    int32_t levels;       /* added to the luma inside */
};

struct painter {
    uint64_t       state; /* of next_random() */
    uint32_t       width, height;
    uint32_t       code; /* the 32 bits of the cells (photo_code.h) */
    struct fby_hue hue;
    struct wave    waves[N_WAVES]; /* of the luma */
    struct wave tints[N_TINTS]; /* of the chroma: strength, turn of the hue */
    struct ellipse ellipses[N_ELLIPSES];
};

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A random number from `low` to `high`, both included. */
static int32_t pick(struct painter *p, int32_t low, int32_t high)
{
    uint64_t span = (uint64_t)(high - low) + 1;
    return low + (int32_t)(next_random(&p->state) % span);
}

/* A wave with a period of at least `pixels` in x and in y. */
static struct wave pick_wave(struct painter *p, int32_t pixels, int32_t levels)
{
    int32_t speed = 65536 / pixels;
    return (struct wave){pick(p, -speed, speed), pick(p, -speed, speed),
        pick(p, 0, 65535), levels};
}

static void choose_shapes(struct painter *p)
{
    for (int32_t i = 0; i < N_WAVES; i++) { /* shorter and lower each time */
        p->waves[i] = pick_wave(p, 400 >> i, 24 >> (i / 2));
    }
    p->tints[0] = pick_wave(p, 300, 10);
    p->tints[1] = pick_wave(p, 60, 5);
    int32_t w   = (int32_t)p->width;
    int32_t h   = (int32_t)p->height;
    for (int32_t i = 0; i < N_ELLIPSES; i++) {
        p->ellipses[i] = (struct ellipse){pick(p, 0, w), pick(p, 0, h),
            pick(p, w / 16 + 1, w / 3 + 1), pick(p, h / 16 + 1, h / 3 + 1),
            pick(p, -28, 28)};
    }
}

/* Returns a value from -wave->height to wave->height. */
static int32_t wave_at(const struct wave *wave, int32_t x, int32_t y)
{
    int32_t phase = wave->along_x * x + wave->along_y * y + wave->phase;
    int32_t ramp  = (phase & 0xffff) - 32768;
    return ((ramp < 0 ? -ramp : ramp) - 16384) * wave->height / 16384;
}

static bool is_inside(const struct ellipse *e, int64_t x, int64_t y)
{
    int64_t dx = (x - e->x) * e->ry;
    int64_t dy = (y - e->y) * e->rx;
    return dx * dx + dy * dy < e->rx * e->rx * e->ry * e->ry;
}

static int32_t clamp(int32_t value, int32_t low, int32_t high)
{
    if (value < low) {
        return low;
    }
    return value > high ? high : value;
}

static int32_t scene_luma(struct painter *p, int32_t x, int32_t y)
{
    int32_t noise = (int32_t)(next_random(&p->state) & 7) - 3; /* -3 to 4 */
    int32_t luma  = 128 + noise;
    for (int i = 0; i < N_WAVES; i++) {
        luma += wave_at(&p->waves[i], x, y);
    }
    for (int i = 0; i < N_ELLIPSES; i++) {
        luma += is_inside(&p->ellipses[i], x, y) ? p->ellipses[i].levels : 0;
    }
    return clamp(luma, FBY_LUMA_DARK, FBY_LUMA_LIGHT);
}

/* `column` is the last one whose first pixel, column * width / 16, is <= x. */
static int32_t cell_luma(const struct painter *p, int32_t x, int32_t y)
{
    uint32_t column =
        ((uint32_t)x * FBY_CELL_COLUMNS + FBY_CELL_COLUMNS - 1) / p->width;
    uint32_t cell = (uint32_t)y / FBY_CELL_HEIGHT * FBY_CELL_COLUMNS + column;
    return p->code >> (31 - cell) & 1 ? FBY_LUMA_LIGHT : FBY_LUMA_DARK;
}

/* Store a colour of Y, Cb and Cr as RGB, by the formulas of JFIF in 1/256. */
static void store_rgb(uint8_t *pixel, int32_t luma, int32_t cb, int32_t cr)
{
    pixel[0] = (uint8_t)clamp(luma + cr * 359 / 256, 0, 255);
    pixel[1] = (uint8_t)clamp(luma - (cb * 88 + cr * 183) / 256, 0, 255);
    pixel[2] = (uint8_t)clamp(luma + cb * 454 / 256, 0, 255);
}

static void paint_row(struct painter *p, int32_t y, uint8_t *row)
{
    bool in_cells = y < FBY_CELL_ROWS * FBY_CELL_HEIGHT;
    for (int32_t x = 0; x < (int32_t)p->width; x++) {
        int32_t luma     = in_cells ? cell_luma(p, x, y) : scene_luma(p, x, y);
        int32_t strength = 28 + wave_at(&p->tints[0], x, y);
        int32_t turn     = wave_at(&p->tints[1], x, y); /* of the hue */
        store_rgb(row + (size_t)x * FBY_RGB, luma,
            (p->hue.cb * strength - p->hue.cr * turn) / 256,
            (p->hue.cr * strength + p->hue.cb * turn) / 256);
    }
}

static void paint(struct painter *p, const struct fby_image *image)
{
    choose_shapes(p);
    for (uint32_t y = 0; y < image->height; y++) {
        paint_row(p, (int32_t)y, image->pixels + y * image->stride);
    }
}

/* ---- The JPEG file ---- */

/* The sampling factors of luma are relative to those of chroma, which are 1. */
static void set_sampling(
    struct jpeg_compress_struct *jpeg, enum fby_photo_sampling sampling)
{
    bool halves_x = sampling == FBY_PHOTO_420 || sampling == FBY_PHOTO_422;
    bool halves_y = sampling == FBY_PHOTO_420 || sampling == FBY_PHOTO_440;
    jpeg->comp_info[0].h_samp_factor = halves_x ? 2 : 1;
    jpeg->comp_info[0].v_samp_factor = halves_y ? 2 : 1;
}

/* Write an EXIF block: "Exif", a little-endian TIFF header, and a directory of
 * one entry, the orientation (tag 0x0112, type 3: u16). */
static void write_exif(struct jpeg_compress_struct *jpeg, uint32_t orientation)
{
    uint8_t block[] = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1,
        0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, (uint8_t)orientation, 0, 0, 0, 0, 0, 0,
        0};
    jpeg_write_marker(jpeg, JPEG_APP0 + 1, block, sizeof(block));
}

static void set_options(
    struct jpeg_compress_struct *jpeg, const struct fby_photo *photo)
{
    jpeg_set_defaults(jpeg);
    if (photo->sampling == FBY_PHOTO_GREY) {
        jpeg_set_colorspace(jpeg, JCS_GRAYSCALE);
    } else {
        set_sampling(jpeg, photo->sampling);
    }
    uint32_t own_quality = 75 + photo->number * 7 % 21;
    jpeg_set_quality(
        jpeg, (int)(photo->quality > 0 ? photo->quality : own_quality), TRUE);
    jpeg->restart_in_rows = (int)photo->restart;
    jpeg->dct_method      = JDCT_ISLOW;
    if (photo->progressive) {
        jpeg_simple_progression(jpeg);
    }
}

static void encode(const struct fby_photo *photo, const struct fby_image *image,
    struct fby_buffer *out)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr       errors;
    unsigned char              *file = NULL;
    unsigned long               size = 0;
    jpeg.err                         = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &file, &size);
    jpeg.image_width      = image->width;
    jpeg.image_height     = image->height;
    jpeg.input_components = FBY_RGB;
    jpeg.in_color_space   = JCS_RGB;
    set_options(&jpeg, photo);
    jpeg_start_compress(&jpeg, TRUE);
    if (photo->orientation != 0) {
        write_exif(&jpeg, photo->orientation);
    }
    while (jpeg.next_scanline < image->height) {
        JSAMPROW row = image->pixels + jpeg.next_scanline * image->stride;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fby_put_bytes(out, file, size);
    free(file);
}

static struct fby_image new_image(uint32_t width, uint32_t height)
{
    size_t stride = (size_t)width * FBY_RGB;
    return (struct fby_image){
        fby_zalloc(stride * height), stride, width, height};
}

/* Turn an upright picture to the pixels that a camera stores for this EXIF
 * orientation. */
static struct fby_image store_turned(
    const struct fby_image *upright, uint32_t orientation)
{
    /* [i]: undoes orientation i. 6 and 8 undo each other. 0 means 1. */
    static const uint32_t inverse[9] = {1, 1, 2, 3, 4, 5, 8, 7, 6};
    bool                  turns      = fby_orientation_turns(orientation);
    struct fby_image      stored =
        new_image(turns ? upright->height : upright->width,
            turns ? upright->width : upright->height);
    fby_orient_rows(upright, 0, inverse[orientation], &stored);
    return stored;
}

static bool is_in_range(const struct fby_photo *photo)
{
    return photo->number < FBY_PHOTO_NUMBERS &&
           photo->label < FBY_PHOTO_LABELS && photo->quality <= 100 &&
           photo->orientation <= 8 && photo->width <= FBY_PHOTO_MAX_SIDE &&
           photo->height <= FBY_PHOTO_MAX_SIDE && photo->restart <= 1000 &&
           (photo->width == 0) == (photo->height == 0); /* both or none */
}

/* Choose landscape, portrait or square, with a longer side of 160 to 640. */
static void choose_size(struct painter *p)
{
    static const uint8_t aspects[5][2] = {
        {4, 3}, {3, 4}, {3, 2}, {2, 3}, {1, 1}};
    int32_t        longer = pick(p, 160, 640);
    const uint8_t *aspect = aspects[pick(p, 0, 4)];
    int32_t        larger = aspect[0] > aspect[1] ? aspect[0] : aspect[1];
    p->width              = (uint32_t)(longer * aspect[0] / larger);
    p->height             = (uint32_t)(longer * aspect[1] / larger);
}

fby_err fby_photo_write(const struct fby_photo *photo, struct fby_buffer *out)
{
    if (!is_in_range(photo)) {
        return FBY_USAGE;
    }
    struct painter painter = {.state = photo->number,
        .width                       = photo->width,
        .height                      = photo->height,
        .code                        = fby_photo_code(photo->number),
        .hue                         = fby_hues[photo->label]};
    if (painter.width == 0) {
        choose_size(&painter);
    }
    struct fby_image upright = new_image(painter.width, painter.height);
    paint(&painter, &upright);
    struct fby_image stored = store_turned(&upright, photo->orientation);
    encode(photo, &stored, out);
    free(upright.pixels);
    free(stored.pixels);
    return FBY_OK;
}
