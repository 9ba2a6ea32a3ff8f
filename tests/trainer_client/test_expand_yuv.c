/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in planes, against a slow way with its own indices and numbers. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/expand/device.h"
#include "trainer_client/expand/host.h"
#include "trainer_client/expand/segments.h"
#include "trainer_client/expand/yuv.h"

static struct fby_field_content yuv_field(uint32_t height, uint32_t width)
{
    struct fby_field_content field = {.name = "image",
        .decode                             = FBY_DECODE_RGB8,
        .wire_type                          = FBY_U8,
        .as.rgb8.yuv420                     = true,
        .shape                              = {3, {height, width, 3}}};
    for (uint32_t c = 0; c < 3; c++) {
        field.as.rgb8.mean[c] = 0.4 + 0.03 * c;
        field.as.rgb8.std[c]  = 0.2 + 0.01 * c;
    }
    return field;
}

/* ---- The slow way -------------------------------------------------------- */

struct planes {
    const uint8_t *raw;
    uint32_t       width, height;
};

/* The value of a plane at column x, line y of it. */
static int value_at(const struct planes *p, int plane, uint32_t x, uint32_t y)
{
    uint32_t step     = plane == 0 ? 32 : 16;
    uint32_t above    = y / step * 32; /* lines of Y before the strip */
    uint32_t left     = p->height - above;
    uint32_t lines    = left < 32 ? left : 32;
    uint32_t w        = p->width;
    uint32_t half     = (w + 1) / 2;
    size_t   at       = (size_t)above * w + (size_t)above * half;
    size_t   planes[] = {0, (size_t)lines * w,
          (size_t)lines * w + (size_t)((lines + 1) / 2) * half};
    return p->raw[at + planes[plane] +
                  (size_t)(y % step) * (plane == 0 ? w : half) + x];
}

static uint32_t clamped(int64_t at, uint32_t first, uint32_t end)
{
    return at < first ? first : at >= end ? end - 1 : (uint32_t)at;
}

/* Cb or Cr at a pixel: sixteenths of four values of its tile. */
static int chroma(const struct planes *p, int plane, uint32_t x, uint32_t y)
{
    uint32_t w     = (p->width + 1) / 2;
    uint32_t h     = (p->height + 1) / 2;
    uint32_t x0    = x / 256 * 128;
    uint32_t y0    = y / 32 * 16;
    uint32_t x1    = w < x0 + 128 ? w : x0 + 128;
    uint32_t y1    = h < y0 + 16 ? h : y0 + 16;
    uint32_t side  = clamped((int64_t)x / 2 + (x % 2 ? 1 : -1), x0, x1);
    uint32_t other = clamped((int64_t)y / 2 + (y % 2 ? 1 : -1), y0, y1);
    int      sum   = 9 * value_at(p, plane, x / 2, y / 2) +
              3 * value_at(p, plane, side, y / 2) +
              3 * value_at(p, plane, x / 2, other) +
              value_at(p, plane, side, other);
    return (sum + (x % 2 ? 7 : 8)) / 16;
}

static uint8_t rounded(double value)
{
    int64_t whole = (int64_t)(value + 1000.5) - 1000;
    return (uint8_t)(whole < 0 ? 0 : whole > 255 ? 255 : whole);
}

/* The nearest level to what the Q16 numbers say; halves up. */
static void rgb_at(
    const struct planes *p, uint32_t x, uint32_t y, uint8_t rgb[3])
{
    int l  = value_at(p, 0, x, y);
    int u  = chroma(p, 1, x, y) - 128;
    int v  = chroma(p, 2, x, y) - 128;
    rgb[0] = rounded(l + 91881 * v / 65536.0);
    rgb[1] = rounded(l + (-22554 * u - 46802 * v) / 65536.0);
    rgb[2] = rounded(l + 116130 * u / 65536.0);
}

static uint8_t *slow_pixels(const struct planes *p)
{
    uint8_t *rgb = malloc((size_t)3 * p->width * p->height);
    for (uint32_t y = 0; y < p->height; y++) {
        for (uint32_t x = 0; x < p->width; x++) {
            rgb_at(p, x, y, rgb + 3 * ((size_t)y * p->width + x));
        }
    }
    return rgb;
}

/* ---- Comparison ---------------------------------------------------------- */

static uint8_t *random_planes(size_t bytes, uint32_t state)
{
    uint8_t *raw = malloc(bytes); /* exactly, so that a sanitizer sees */
    for (size_t i = 0; i < bytes; i++) {
        state  = state * UINT32_C(1664525) + UINT32_C(1013904223);
        raw[i] = (uint8_t)(state >> (i % 200 < 100 ? 24 : 30));
    }
    return raw;
}

static struct fby_expansion *plan_of(const struct fby_field_content *field,
    enum fby_type dtype, enum fby_layout layout)
{
    struct fby_expansion     *plan     = calloc(1, sizeof(*plan));
    struct fby_field_delivery delivery = {.dtype = dtype, .layout = layout};
    assert_ok(fby_expansion_init(plan, field, &delivery, NULL));
    return plan;
}

/* Two samples in planes become what the slow way's pixels become as u8. */
static void expands_alike(const struct fby_field_content *field,
    enum fby_type dtype, enum fby_layout layout)
{
    struct fby_field_content rgb   = *field;
    rgb.as.rgb8.yuv420             = false;
    struct fby_expansion *plan     = plan_of(field, dtype, layout);
    struct fby_expansion *rgb_plan = plan_of(&rgb, dtype, layout);
    uint64_t              bytes    = plan->out_bytes;
    uint8_t *raw   = random_planes(2 * plan->raw_bytes, field->shape.dims[1]);
    uint8_t *out   = aligned_alloc(64, (2 * bytes + 63) / 64 * 64);
    uint8_t *right = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_ok(fby_device_host.expand(plan, raw, 2, out, NULL));
    for (int i = 0; i < 2; i++) {
        struct planes p      = {raw + (size_t)i * plan->raw_bytes,
                 field->shape.dims[1], field->shape.dims[0]};
        uint8_t      *pixels = slow_pixels(&p);
        if (rgb_plan->kind == FBY_EXPAND_COPY) {
            memcpy(right, pixels, bytes);
        } else {
            fby_expand_image_portable(rgb_plan, pixels, false, right);
        }
        assert_memory_equal(out + (size_t)i * bytes, right, bytes);
        free(pixels);
    }
    free(raw);
    free(out);
    free(right);
    free(plan);
    free(rgb_plan);
}

/* ---- Tests --------------------------------------------------------------- */

static void every_size_becomes_the_pixels_of_the_slow_way(void **state)
{
    (void)state;
    static const uint32_t widths[]  = {1, 2, 3, 15, 31, 32, 33, 34, 63, 64, 65,
         97, 255, 256, 257, 258, 289, 513};
    static const uint32_t heights[] = {1, 2, 3, 31, 32, 33, 34, 65};
    for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
        for (size_t h = 0; h < sizeof(heights) / sizeof(heights[0]); h++) {
            struct fby_field_content field = yuv_field(heights[h], widths[w]);
            expands_alike(&field, FBY_U8, FBY_LAYOUT_HWC);
        }
    }
}

static void every_dtype_and_layout_is_that_of_u8_pictures(void **state)
{
    (void)state;
    static const enum fby_type   dtypes[]  = {FBY_F32, FBY_BF16, FBY_F16};
    static const enum fby_layout layouts[] = {
        FBY_LAYOUT_HWC, FBY_LAYOUT_CHW, FBY_LAYOUT_CHANNELS_LAST};
    static const uint32_t sides[][2] = {
        {1, 1}, {33, 47}, {64, 64}, {90, 300}, {2, 8195}};
    for (size_t s = 0; s < sizeof(sides) / sizeof(sides[0]); s++) {
        for (int i = 0; i < 9; i++) {
            struct fby_field_content field =
                yuv_field(sides[s][0], sides[s][1]);
            field.as.rgb8.normalize = i != 4;
            expands_alike(&field, dtypes[i % 3], layouts[i / 3]);
        }
        struct fby_field_content field = yuv_field(sides[s][0], sides[s][1]);
        expands_alike(&field, FBY_U8, FBY_LAYOUT_CHW);
    }
}

static void planes_take_half_the_bytes_of_pixels(void **state)
{
    (void)state;
    struct fby_field_content field = yuv_field(224, 224);
    struct fby_expansion    *plan  = plan_of(&field, FBY_BF16, FBY_LAYOUT_CHW);
    assert_int_equal(plan->raw_bytes, 224 * 224 * 3 / 2);
    assert_int_equal(plan->out_bytes, 224 * 224 * 3 * 2);
    free(plan);
}

/* The last part of the picture has fewer bytes than a line of pixels. */
static void a_device_has_room_for_the_parts_of_a_picture(void **state)
{
    (void)state;
    struct fby_field_content field  = yuv_field(1345, 2000);
    struct fby_expansion    *plan   = plan_of(&field, FBY_F32, FBY_LAYOUT_CHW);
    struct fby_raw_layout    layout = {.rows = 2, .n_fields = 1};
    layout.fields[0].type           = FBY_U8;
    layout.fields[0].shape          = field.shape;
    layout.fields[0].yuv420         = true;
    assert_ok(fby_layout_compute(&layout, NULL));
    assert_int_equal(layout.fields[0].chunks_per_row, 3);
    assert_true(fby_segments_can_expand(plan));
    assert_true(fby_segments_accept_packed(plan));
    assert_true(fby_segments_max_bytes(&layout, plan, 0) > 0);
    free(plan);
}

static void known_colours_come_back(void **state)
{
    (void)state;
    static const int known[][6] = {{0, 128, 128, 0, 0, 0},
        {255, 128, 128, 255, 255, 255}, {76, 85, 255, 254, 0, 0},
        {150, 44, 21, 0, 255, 1}, {29, 255, 107, 0, 0, 254},
        {0, 255, 0, 0, 48, 225}, {255, 0, 255, 255, 208, 28}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const int     *k     = known[i];
        struct fby_rgb pixel = fby_yuv_to_rgb(k[0], k[1] - 128, k[2] - 128);
        assert_int_equal(pixel.r, k[3]);
        assert_int_equal(pixel.g, k[4]);
        assert_int_equal(pixel.b, k[5]);
    }
}

static void every_colour_level_equals_that_of_the_portable_code(void **state)
{
    (void)state;
    for (int cb = 0; cb < 256; cb++) {
        uint8_t y[64];
        uint8_t u[32];
        uint8_t v[32];
        uint8_t right[3 * 64];
        uint8_t out[3 * 64];
        for (int part = 0; part < 8; part++) {
            for (int i = 0; i < 64; i++) {
                y[i]     = (uint8_t)(i * 4 + cb % 4);
                u[i / 2] = (uint8_t)cb;
                v[i / 2] = (uint8_t)(32 * part + i / 2);
            }
            struct fby_yuv_line line = {y, {u, v}, {u, v}, 64};
            fby_yuv_line_portable(&line, right);
            fby_yuv_line_kernel(fby_simd_level())(&line, out);
            assert_memory_equal(out, right, sizeof(right));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_becomes_the_pixels_of_the_slow_way),
        cmocka_unit_test(every_dtype_and_layout_is_that_of_u8_pictures),
        cmocka_unit_test(planes_take_half_the_bytes_of_pixels),
        cmocka_unit_test(a_device_has_room_for_the_parts_of_a_picture),
        cmocka_unit_test(known_colours_come_back),
        cmocka_unit_test(every_colour_level_equals_that_of_the_portable_code),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.expand_yuv", tests, NULL, NULL);
}
