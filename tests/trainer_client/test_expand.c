/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer_client/expand/device.h"
#include "trainer_client/expand/value.h"

/* ---- A plain reference: search instead of bit tricks --------------------- */

static double half_value(uint16_t bits)
{
    int    exponent = bits >> 10 & 31;
    double mantissa = bits & 1023;
    double size     = exponent == 0 ? ldexp(mantissa, -24)
                                    : ldexp(1024 + mantissa, exponent - 25);
    return bits & 0x8000 ? -size : size;
}

static double brain_value(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float    f;
    memcpy(&f, &wide, sizeof(f));
    return f;
}

/* Of two neighbours the nearer one, of two as near the even one. */
static uint16_t nearest(
    double value, double (*of)(uint16_t), uint16_t low, uint16_t high)
{
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (of(middle) <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double below = value - of(low);
    double above = of(high) - value;
    if (below != above) {
        return below < above ? low : high;
    }
    return (low & 1) == 0 ? low : high;
}

static void f16_rounds_to_nearest_even_everywhere(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x47800000U; bits += 977) {
        float f = fby_f32_from_bits(bits);
        /* 0x7c00 continues the scale: 65536 stands for infinity */
        uint16_t want = nearest(f, half_value, 0, 0x7c00);
        assert_int_equal(fby_f32_to_f16(f), want);
        assert_int_equal(fby_f32_to_f16(-f), want | 0x8000);
    }
}

static void bf16_rounds_to_nearest_even_everywhere(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7f000000U; bits += 4999) {
        float f = fby_f32_from_bits(bits);
        assert_int_equal(
            fby_f32_to_bf16(f), nearest(f, brain_value, 0, 0x7f7f));
    }
}

static void ties_and_borders_of_f16_are_exact(void **state)
{
    (void)state;
    assert_int_equal(fby_f32_to_f16(1.0F), 0x3c00);
    assert_int_equal(fby_f32_to_f16(1.0F + 0x1p-11F), 0x3c00);
    assert_int_equal(fby_f32_to_f16(1.0F + 0x3p-11F), 0x3c02);
    assert_int_equal(fby_f32_to_f16(65504.0F), 0x7bff);
    assert_int_equal(fby_f32_to_f16(65519.0F), 0x7bff);
    assert_int_equal(fby_f32_to_f16(65520.0F), 0x7c00);
    assert_int_equal(fby_f32_to_f16(0x1p-25F), 0);
    assert_int_equal(fby_f32_to_f16(0x1.000002p-25F), 1);
    assert_int_equal(fby_f32_to_f16(-0.0F), 0x8000);
    assert_int_equal(fby_f32_to_f16(HUGE_VALF), 0x7c00);
    assert_int_equal(fby_f32_to_f16(NAN) & 0x7e00, 0x7e00);
    assert_int_equal(fby_f32_to_bf16(NAN) & 0x7fc0, 0x7fc0);
    assert_int_equal(fby_f32_to_bf16(HUGE_VALF), 0x7f80);
}

static void every_half_survives_the_way_through_f32(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        assert_true((double)fby_f16_to_f32((uint16_t)bits) ==
                    half_value((uint16_t)bits));
        assert_int_equal(fby_f32_to_f16(fby_f16_to_f32((uint16_t)bits)), bits);
    }
    assert_true(fby_f16_to_f32(0x7c00) == HUGE_VALF);
    assert_true(isnan(fby_f16_to_f32(0x7e00)));
}

static void floats_become_integers_rounded_and_clamped(void **state)
{
    (void)state;
    assert_int_equal(fby_f32_to_int(2.5F, 0, 255), 2);
    assert_int_equal(fby_f32_to_int(3.5F, 0, 255), 4);
    assert_int_equal(fby_f32_to_int(-2.5F, -9, 9), -2);
    assert_int_equal(fby_f32_to_int(-3.5F, -9, 9), -4);
    assert_int_equal(fby_f32_to_int(-0.7F, 0, 255), 0);
    assert_int_equal(fby_f32_to_int(300.0F, 0, 255), 255);
    assert_int_equal(fby_f32_to_int(NAN, 7, 255), 0);
    assert_true(fby_f32_to_int(0x1p63F, INT64_MIN, INT64_MAX) == INT64_MAX);
    assert_true(fby_f32_to_int(-0x1p64F, INT64_MIN, INT64_MAX) == INT64_MIN);
}

/* ---- Images -------------------------------------------------------------- */

enum { ROWS = 2, H = 3, W = 5, C = 3, VALUES = ROWS * H * W * C };

static struct fby_field_content image_field(void)
{
    return (struct fby_field_content){
        .name              = "image",
        .decode            = FBY_DECODE_RGB8,
        .wire_type         = FBY_U8,
        .as.rgb8.normalize = true,
        .as.rgb8.mean      = {0.485, 0.456, 0.406},
        .as.rgb8.std       = {0.229, 0.224, 0.225},
        .shape             = {3, {H, W, C}},
    };
}

static void fill_pixels(uint8_t raw[VALUES])
{
    for (uint32_t i = 0; i < VALUES; i++) {
        raw[i] = (uint8_t)(i * 151 + i / 7);
    }
}

static struct fby_expansion *planned(const struct fby_field_content *field,
    enum fby_type dtype, enum fby_layout layout)
{
    struct fby_expansion     *plan     = calloc(1, sizeof(*plan));
    struct fby_error_detail   why      = {""};
    struct fby_field_delivery delivery = {.dtype = dtype, .layout = layout};
    if (fby_expansion_init(plan, field, &delivery, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    return plan;
}

/* The definition, element by element, through the tensor's own strides. */
static void check_image(enum fby_type dtype, enum fby_layout layout)
{
    struct fby_field_content field = image_field();
    struct fby_expansion    *plan  = planned(&field, dtype, layout);
    uint8_t                  raw[VALUES];
    uint8_t                 *out = calloc(ROWS, plan->out_bytes);
    int64_t                  shape[FBY_EXPAND_DIMS];
    int64_t                  s[FBY_EXPAND_DIMS];
    fill_pixels(raw);
    assert_ok(fby_device_host.expand(plan, raw, ROWS, out, NULL));
    assert_int_equal(fby_expansion_compute_shape(plan, ROWS, shape, s), 4);
    for (uint32_t i = 0; i < VALUES; i++) {
        uint32_t c     = i % C;
        uint32_t x     = i / C % W;
        uint32_t y     = i / C / W % H;
        uint32_t n     = i / C / W / H;
        int64_t  at    = layout == FBY_LAYOUT_HWC
                             ? n * s[0] + y * s[1] + x * s[2] + c * s[3]
                             : n * s[0] + c * s[1] + y * s[2] + x * s[3];
        float    scale = (float)(1.0 / (255.0 * field.as.rgb8.std[c]));
        float offset   = (float)(-field.as.rgb8.mean[c] / field.as.rgb8.std[c]);
        float scaled   = (float)raw[i] * scale;
        float want     = scaled + offset;
        if (dtype == FBY_F32) {
            assert_memory_equal(out + at * 4, &want, 4);
        } else {
            uint16_t bits =
                dtype == FBY_F16 ? fby_f32_to_f16(want) : fby_f32_to_bf16(want);
            assert_memory_equal(out + at * 2, &bits, 2);
        }
    }
    free(out);
    free(plan);
}

static void images_are_normalised_in_every_dtype_and_layout(void **state)
{
    (void)state;
    const enum fby_type   dtypes[]  = {FBY_F32, FBY_F16, FBY_BF16};
    const enum fby_layout layouts[] = {
        FBY_LAYOUT_HWC, FBY_LAYOUT_CHW, FBY_LAYOUT_CHANNELS_LAST};
    for (int i = 0; i < 9; i++) {
        check_image(dtypes[i / 3], layouts[i % 3]);
    }
}

static void known_pixels_have_known_values(void **state)
{
    (void)state;
    struct fby_field_content field = image_field();
    field.shape                    = (struct fby_shape){3, {1, 1, 3}};
    struct fby_expansion *plan     = planned(&field, FBY_F32, FBY_LAYOUT_CHW);
    const uint8_t         raw[3]   = {0, 128, 255};
    float                 out[3];
    assert_ok(fby_device_host.expand(plan, raw, 1, out, NULL));
    assert_true(fabs(out[0] - (0.0 - 0.485) / 0.229) < 1e-6);
    assert_true(fabs(out[1] - (128 / 255.0 - 0.456) / 0.224) < 1e-6);
    assert_true(fabs(out[2] - (1.0 - 0.406) / 0.225) < 1e-6);
    free(plan);
}

static void u8_planes_are_only_moved(void **state)
{
    (void)state;
    struct fby_field_content field = image_field();
    field.as.rgb8.normalize        = false;
    struct fby_expansion *plan     = planned(&field, FBY_U8, FBY_LAYOUT_CHW);
    uint8_t               raw[VALUES];
    uint8_t               out[VALUES];
    fill_pixels(raw);
    assert_ok(fby_device_host.expand(plan, raw, ROWS, out, NULL));
    for (uint32_t i = 0; i < VALUES; i++) {
        uint32_t n = i / (H * W * C);
        uint32_t p = i / C % (H * W);
        assert_int_equal(out[n * H * W * C + i % C * H * W + p], raw[i]);
    }
    free(plan);
}

/* ---- Labels and numbers -------------------------------------------------- */

static struct fby_field_content label_field(bool one_hot, double smoothing)
{
    return (struct fby_field_content){
        .name               = "label",
        .decode             = FBY_DECODE_LABEL,
        .wire_type          = FBY_U16,
        .as.label.one_hot   = one_hot,
        .as.label.smoothing = smoothing,
        .as.label.classes   = 300,
    };
}

static void labels_become_wide_ids(void **state)
{
    (void)state;
    struct fby_field_content field  = label_field(false, 0);
    struct fby_expansion    *plan   = planned(&field, FBY_I64, FBY_LAYOUT_HWC);
    const uint8_t            raw[4] = {7, 0, 0x2b, 0x01};
    int64_t                  out[2];
    assert_ok(fby_device_host.expand(plan, raw, 2, out, NULL));
    assert_int_equal(out[0], 7);
    assert_int_equal(out[1], 299);
    free(plan);
}

static void one_hot_rows_are_smoothed_and_sum_to_one(void **state)
{
    (void)state;
    struct fby_field_content field  = label_field(true, 0.1);
    struct fby_expansion    *plan   = planned(&field, FBY_F32, FBY_LAYOUT_HWC);
    const uint8_t            raw[2] = {0x2b, 0x01};
    float                    out[300];
    double                   sum = 0;
    assert_int_equal(plan->out_bytes, sizeof(out));
    assert_ok(fby_device_host.expand(plan, raw, 1, out, NULL));
    for (int i = 0; i < 300; i++) {
        sum += out[i];
    }
    assert_true(out[299] == (float)(0.9 + 0.1 / 300));
    assert_true(out[0] == (float)(0.1 / 300));
    assert_true(fabs(sum - 1) < 1e-5);
    free(plan);
}

static void a_label_beyond_the_classes_is_refused(void **state)
{
    (void)state;
    struct fby_field_content field  = label_field(true, 0);
    struct fby_expansion    *plan   = planned(&field, FBY_U8, FBY_LAYOUT_HWC);
    const uint8_t            raw[2] = {0x2c, 0x01};
    uint8_t                  out[300];
    struct fby_error_detail  why = {""};
    assert_int_equal(
        fby_device_host.expand(plan, raw, 1, out, &why), FBY_PROTO);
    assert_non_null(strstr(why.text, "label 300"));
    free(plan);
}

static void a_label_beyond_the_classes_is_refused_without_one_hot(void **state)
{
    (void)state;
    struct fby_field_content field  = label_field(false, 0);
    struct fby_expansion    *plan   = planned(&field, FBY_I64, FBY_LAYOUT_HWC);
    const uint16_t           raw[3] = {5, 299, 300};
    int64_t                  out[3];
    struct fby_error_detail  why = {""};
    assert_ok(fby_device_host.expand(plan, raw, 2, out, &why));
    assert_int_equal(
        fby_device_host.expand(plan, raw, 3, out, &why), FBY_PROTO);
    assert_string_equal(
        why.text, "field label: label 300 is not one of 0 to 299");
    plan->classes = 0; /* the pipeline does not say how many there are */
    assert_ok(fby_device_host.expand(plan, raw, 3, out, &why));
    free(plan);
}

static void numbers_are_cast_between_types(void **state)
{
    (void)state;
    struct fby_field_content field = {
        .name = "n", .decode = FBY_DECODE_NUMBER, .wire_type = FBY_I32};
    const int32_t         raw[3] = {-5, 70000, 3};
    uint8_t               small[3];
    float                 real[3];
    struct fby_expansion *to_u8  = planned(&field, FBY_U8, FBY_LAYOUT_HWC);
    struct fby_expansion *to_f32 = planned(&field, FBY_F32, FBY_LAYOUT_HWC);
    assert_ok(fby_device_host.expand(to_u8, raw, 3, small, NULL));
    assert_ok(fby_device_host.expand(to_f32, raw, 3, real, NULL));
    assert_int_equal(small[0], 0);
    assert_int_equal(small[1], 255);
    assert_int_equal(small[2], 3);
    assert_true(real[0] == -5.0F && real[1] == 70000.0F);
    free(to_u8);
    free(to_f32);
}

/* ---- Arrays, scaled ------------------------------------------------------ */

enum { LONG = 2311 /* values of a sample: some blocks, and a part of one */ };

static struct fby_field_content array_field(
    enum fby_type type, struct fby_shape shape)
{
    return (struct fby_field_content){.name = "array",
        .decode                             = FBY_DECODE_ARRAY,
        .wire_type                          = type,
        .as.array.shape                     = shape,
        .shape                              = shape};
}

/* The value of a bit that the test gives. */
static float real_of(enum fby_type type, const uint8_t *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, fby_type_bytes(type));
    switch (type) {
    case FBY_F16:
        return fby_f16_to_f32((uint16_t)bits);
    case FBY_BF16:
        return fby_bf16_to_f32((uint16_t)bits);
    case FBY_F32:
        return fby_f32_from_bits((uint32_t)bits);
    case FBY_I32:
        return (float)(int32_t)(uint32_t)bits;
    case FBY_I64:
        return (float)(int64_t)bits;
    case FBY_U8:
    case FBY_U16:
    case FBY_U32:
    case FBY_BOOL:
        return (float)bits;
    }
    return 0;
}

static void check_real(enum fby_type dtype, float want, const uint8_t *at)
{
    uint32_t bits = dtype == FBY_F32   ? fby_f32_bits(want)
                    : dtype == FBY_F16 ? fby_f32_to_f16(want)
                                       : fby_f32_to_bf16(want);
    assert_memory_equal(at, &bits, fby_type_bytes(dtype));
}

/* Two samples of LONG values of as many channels as `delivery` says; nothing
 * is aligned. */
static void check_scaled(
    enum fby_type type, const struct fby_field_delivery *delivery)
{
    uint32_t                 c = delivery->scaled ? delivery->channels : 1;
    struct fby_field_content field =
        array_field(type, (struct fby_shape){2, {LONG / c, c}});
    static struct fby_expansion plan;
    static uint8_t              raw[2 * LONG * 8 + 1];
    static uint8_t              out[2 * LONG * 4 + 2];
    size_t                      n     = 2 * (size_t)(LONG / c * c);
    size_t                      width = fby_type_bytes(type);
    size_t                      to    = fby_type_bytes(delivery->dtype);
    for (size_t i = 0; i < sizeof(raw); i++) {
        raw[i] = (uint8_t)(i * 181 + i / 11 + i % 5);
    }
    memset(out, 0xee, sizeof(out));
    assert_ok(fby_expansion_init(&plan, &field, delivery, NULL));
    assert_ok(fby_device_host.expand(&plan, raw + 1, 2, out + 1, NULL));
    assert_int_equal(out[1 + n * to], 0xee);
    for (size_t i = 0; i < n; i++) {
        float value = real_of(type, raw + 1 + i * width);
        if (delivery->scaled) {
            float product = value * (float)delivery->scale[i % c];
            value         = product + (float)delivery->offset[i % c];
            value = isnan(value) ? fby_f32_from_bits(0x7fc00000U) : value;
        }
        check_real(delivery->dtype, value, out + 1 + i * to);
    }
}

static void arrays_become_reals_scaled_by_channel(void **state)
{
    (void)state;
    const enum fby_type dtypes[]   = {FBY_F32, FBY_F16, FBY_BF16};
    const uint32_t      channels[] = {0, 1, 2, 3, 4, 5, 100, FBY_MAX_FACTORS};
    for (int type = FBY_U8; type <= FBY_U32; type++) {
        for (uint32_t i = 0; i < 24; i++) {
            struct fby_field_delivery delivery = {.dtype = dtypes[i % 3],
                .scaled                                  = i >= 3,
                .channels                                = channels[i / 3],
                .scale                                   = {0.001, -3, 7.5, 1},
                .offset = {0, 0.3, -1000, 2e5}};
            for (uint32_t c = 4; c < delivery.channels; c++) {
                delivery.scale[c]  = 1.25 * c;
                delivery.offset[c] = -7.0 * c;
            }
            if (delivery.scaled || (int)delivery.dtype != type) {
                check_scaled((enum fby_type)type, &delivery);
            }
        }
    }
}

/* NaN of any sign and payload becomes one NaN, which no processor's arithmetic
 * decides, infinities stay, and subnormals are neither inputs nor results of
 * zero. `in` and the results are bits. */
static void special_values_are_the_same_on_all_processors(void **state)
{
    (void)state;
    static const struct {
        enum fby_type type;
        double        scale, offset;
        uint32_t      in, f32, f16, bf16;
    } cases[] = {
        {FBY_F32, 2, 1, 0x7fc00000, 0x7fc00000, 0x7e00, 0x7fc0},
        {FBY_F32, 2, 1, 0x7f800001, 0x7fc00000, 0x7e00, 0x7fc0},
        {FBY_F32, 2, 1, 0xffc12345, 0x7fc00000, 0x7e00, 0x7fc0},
        {FBY_F32, 2, 1, 0x7f800000, 0x7f800000, 0x7c00, 0x7f80},
        {FBY_F32, -2, 1, 0x7f800000, 0xff800000, 0xfc00, 0xff80},
        {FBY_F32, 0, 1, 0x7f800000, 0x7fc00000, 0x7e00, 0x7fc0},
        {FBY_F32, 2, 0, 0x00000003, 0x00000006, 0, 0},
        {FBY_F32, 1, 0, 0x80400000, 0x80400000, 0x8000, 0x8040},
        {FBY_F32, 0x1p-2, 0, 0x01000000, 0x00400000, 0, 0x0040},
        {FBY_F16, 2, 1, 0x7c01, 0x7fc00000, 0x7e00, 0x7fc0},
        {FBY_F16, 2, 1, 0xfe55, 0x7fc00000, 0x7e00, 0x7fc0},
        {FBY_F16, 2, 1, 0xfc00, 0xff800000, 0xfc00, 0xff80},
        {FBY_F16, 2, 0, 0x0001, 0x34000000, 0x0002, 0x3400},
        {FBY_BF16, 2, 1, 0x7f81, 0x7fc00000, 0x7e00, 0x7fc0},
        {FBY_BF16, 2, 1, 0xffff, 0x7fc00000, 0x7e00, 0x7fc0},
        {FBY_BF16, 2, 0, 0x0001, 0x00020000, 0, 0x0002},
    };
    static struct fby_expansion plan;
    for (size_t i = 0; i < 3 * sizeof(cases) / sizeof(cases[0]); i++) {
        const enum fby_type to =
            (enum fby_type[]){FBY_F32, FBY_F16, FBY_BF16}[i % 3];
        const uint32_t want = (const uint32_t[]){
            cases[i / 3].f32, cases[i / 3].f16, cases[i / 3].bf16}[i % 3];
        struct fby_field_content field =
            array_field(cases[i / 3].type, (struct fby_shape){1, {7}});
        struct fby_field_delivery delivery = {.dtype = to,
            .scaled                                  = true,
            .channels                                = 1,
            .scale                                   = {cases[i / 3].scale},
            .offset                                  = {cases[i / 3].offset}};
        uint32_t                  width    = fby_type_bytes(to);
        uint32_t                  from     = fby_type_bytes(field.wire_type);
        uint8_t                   raw[7 * 4];
        uint8_t                   out[7 * 4];
        for (uint32_t k = 0; k < 7; k++) {
            memcpy(raw + (size_t)k * from, &cases[i / 3].in, from);
        }
        assert_ok(fby_expansion_init(&plan, &field, &delivery, NULL));
        assert_ok(fby_device_host.expand(&plan, raw, 1, out, NULL));
        for (uint32_t k = 0; k < 7; k++) {
            assert_memory_equal(out + (size_t)k * width, &want, width);
        }
    }
}

/* As in HWC, but for where each value goes. */
static void check_planar(enum fby_type type, struct fby_shape shape,
    struct fby_field_delivery delivery)
{
    static struct fby_expansion hwc;
    static struct fby_expansion chw;
    static uint8_t              raw[2 * LONG * 8];
    static uint8_t              right[2 * LONG * 8];
    static uint8_t              out[2 * LONG * 8 + 2];
    struct fby_field_content    field  = array_field(type, shape);
    size_t                      width  = fby_type_bytes(delivery.dtype);
    size_t                      pixels = (size_t)shape.dims[0] * shape.dims[1];
    size_t                      depth  = shape.dims[2];
    size_t                      values = pixels * depth;
    for (size_t i = 0; i < sizeof(raw); i++) {
        raw[i] = (uint8_t)(i * 181 + i / 11 + i % 5);
    }
    memset(out, 0xee, sizeof(out));
    assert_ok(fby_expansion_init(&hwc, &field, &delivery, NULL));
    delivery.layout = FBY_LAYOUT_CHW;
    assert_ok(fby_expansion_init(&chw, &field, &delivery, NULL));
    assert_int_equal(chw.kind, FBY_EXPAND_PLANAR);
    for (size_t i = 0; i < 2; i++) {
        fby_expand_values(
            &hwc, raw + i * hwc.raw_bytes, values, right + i * hwc.out_bytes);
    }
    assert_ok(fby_device_host.expand(&chw, raw, 2, out + 1, NULL));
    assert_int_equal(out[1 + 2 * hwc.out_bytes], 0xee);
    for (size_t i = 0; i < 2 * values; i++) {
        size_t at =
            i / values * values + i % depth * pixels + i % values / depth;
        assert_memory_equal(out + 1 + at * width, right + i * width, width);
    }
}

static void channels_of_arrays_come_apart(void **state)
{
    (void)state;
    static const struct fby_shape shapes[] = {
        {3, {7, 11, 3}}, {3, {1, 1, 2}}, {3, {40, 19, 3}}, {3, {2, 3, 301}}};
    for (uint32_t from = FBY_U8; from <= FBY_U32; from++) {
        for (uint32_t to = FBY_U8; to <= FBY_U32; to++) {
            if (from != FBY_BOOL && to != FBY_BOOL) {
                check_planar((enum fby_type)from, shapes[(from + to) % 4],
                    (struct fby_field_delivery){.dtype = (enum fby_type)to});
            }
        }
        check_planar((enum fby_type)from, shapes[from % 2 == 0 ? 0 : 2],
            (struct fby_field_delivery){.dtype = FBY_F32,
                .scaled                        = true,
                .channels                      = 3,
                .scale                         = {0.5, -2, 3},
                .offset                        = {1, -2, 300}});
    }
}

static void millimetres_become_metres(void **state)
{
    (void)state;
    struct fby_field_content field =
        array_field(FBY_U16, (struct fby_shape){1, {3}});
    const struct fby_field_delivery metres = {.dtype = FBY_F32,
        .scaled                                      = true,
        .channels                                    = 1,
        .scale                                       = {0.001},
        .offset                                      = {-1}};
    static struct fby_expansion     plan;
    const uint16_t                  raw[3] = {0, 1500, 65535};
    float                           out[3];
    assert_ok(fby_expansion_init(&plan, &field, &metres, NULL));
    assert_ok(fby_device_host.expand(&plan, raw, 1, out, NULL));
    assert_true(out[0] == -1);
    assert_true(fabs(out[1] - 0.5) < 1e-6);
    assert_true(fabs(out[2] - 64.535) < 1e-5);
}

/* ---- Bits ---------------------------------------------------------------- */

static struct fby_field_content bits_field(
    uint32_t height, uint32_t width, uint32_t maps)
{
    struct fby_field_content field =
        array_field(FBY_U8, (struct fby_shape){3, {height, width, maps}});
    field.as.array.n_bits = maps;
    field.shape.dims[2]   = (maps + 7) / 8;
    return field;
}

static void check_bits(const struct fby_field_content *field,
    enum fby_type dtype, enum fby_layout layout)
{
    static struct fby_expansion     plan;
    static uint8_t                  raw[1 << 14];
    static uint8_t                  plain[1 << 18];
    static uint8_t                  fast[1 << 18];
    const struct fby_field_delivery delivery = {
        .dtype = dtype, .layout = layout};
    assert_ok(fby_expansion_init(&plan, field, &delivery, NULL));
    assert_true(plan.raw_bytes < sizeof(raw) && plan.out_bytes < sizeof(fast));
    for (size_t i = 0; i < plan.raw_bytes; i++) {
        raw[i + 1] = (uint8_t)rand(); /* also beyond the last map */
    }
    memset(plain, 0xee, sizeof(plain));
    memset(fast, 0xee, sizeof(fast));
    fby_expand_bits_plain(&plan, raw + 1, plain + 1);
    assert_ok(fby_device_host.expand(&plan, raw + 1, 1, fast + 1, NULL));
    assert_memory_equal(plain, fast, plan.out_bytes + 100);
}

static void bits_are_the_same_one_by_one_and_eight_at_a_time(void **state)
{
    (void)state;
    const enum fby_type dtypes[] = {
        FBY_U8, FBY_BOOL, FBY_F16, FBY_BF16, FBY_F32};
    const enum fby_layout layouts[] = {
        FBY_LAYOUT_HWC, FBY_LAYOUT_CHW, FBY_LAYOUT_CHANNELS_LAST};
    srand(7);
    for (uint32_t i = 0; i < 600; i++) {
        struct fby_field_content field = bits_field(1 + (uint32_t)rand() % 30,
            1 + (uint32_t)rand() % 40, 1 + (uint32_t)rand() % 34);
        check_bits(&field, dtypes[i % 5], layouts[i % 3]);
    }
}

static void two_pixels_of_nine_maps_become_these_bytes(void **state)
{
    (void)state;
    static struct fby_expansion plan;
    struct fby_field_content    field    = bits_field(1, 2, 9);
    const uint8_t               raw[4]   = {0x81, 0x01, 0x06, 0xfe};
    struct fby_field_delivery   delivery = {
          .dtype = FBY_BOOL, .layout = FBY_LAYOUT_HWC};
    static const uint8_t pixels[18] = {
        1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0};
    static const float planes[18] = {
        1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0};
    uint8_t bools[18];
    float   reals[18];
    int64_t shape[FBY_EXPAND_DIMS];
    int64_t strides[FBY_EXPAND_DIMS];
    assert_ok(fby_expansion_init(&plan, &field, &delivery, NULL));
    assert_ok(fby_device_host.expand(&plan, raw, 1, bools, NULL));
    assert_memory_equal(bools, pixels, sizeof(pixels));
    assert_int_equal(fby_expansion_compute_shape(&plan, 5, shape, strides), 4);
    assert_true(shape[0] == 5 && shape[1] == 1 && shape[2] == 2);
    assert_true(shape[3] == 9 && strides[0] == 18 && strides[3] == 1);
    delivery.dtype  = FBY_F32;
    delivery.layout = FBY_LAYOUT_CHW;
    assert_ok(fby_expansion_init(&plan, &field, &delivery, NULL));
    assert_ok(fby_device_host.expand(&plan, raw, 1, reals, NULL));
    assert_memory_equal(reals, planes, sizeof(planes));
    assert_int_equal(fby_expansion_compute_shape(&plan, 5, shape, strides), 4);
    assert_true(shape[1] == 9 && shape[2] == 1 && shape[3] == 2);
    assert_true(strides[1] == 2 && strides[3] == 1);
}

/* ---- Devices ------------------------------------------------------------- */

static void only_the_host_device_is_there(void **state)
{
    (void)state;
    assert_ptr_equal(fby_device_named("host"), &fby_device_host);
    assert_null(fby_device_named("abacus"));
    size_t size   = (4 << 20) + 1;
    char  *memory = fby_device_host.raw_alloc(size, false);
    assert_non_null(memory);
    assert_int_equal(memory[size - 1], 0);
    assert_int_equal((uintptr_t)memory % 4096, 0);
    fby_device_host.raw_free(memory, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f16_rounds_to_nearest_even_everywhere),
        cmocka_unit_test(bf16_rounds_to_nearest_even_everywhere),
        cmocka_unit_test(ties_and_borders_of_f16_are_exact),
        cmocka_unit_test(every_half_survives_the_way_through_f32),
        cmocka_unit_test(floats_become_integers_rounded_and_clamped),
        cmocka_unit_test(images_are_normalised_in_every_dtype_and_layout),
        cmocka_unit_test(known_pixels_have_known_values),
        cmocka_unit_test(u8_planes_are_only_moved),
        cmocka_unit_test(labels_become_wide_ids),
        cmocka_unit_test(one_hot_rows_are_smoothed_and_sum_to_one),
        cmocka_unit_test(a_label_beyond_the_classes_is_refused),
        cmocka_unit_test(a_label_beyond_the_classes_is_refused_without_one_hot),
        cmocka_unit_test(numbers_are_cast_between_types),
        cmocka_unit_test(arrays_become_reals_scaled_by_channel),
        cmocka_unit_test(special_values_are_the_same_on_all_processors),
        cmocka_unit_test(channels_of_arrays_come_apart),
        cmocka_unit_test(millimetres_become_metres),
        cmocka_unit_test(bits_are_the_same_one_by_one_and_eight_at_a_time),
        cmocka_unit_test(two_pixels_of_nine_maps_become_these_bytes),
        cmocka_unit_test(only_the_host_device_is_there),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.expand", tests, NULL, NULL);
}
