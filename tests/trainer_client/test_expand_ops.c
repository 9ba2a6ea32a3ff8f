/* SPDX-License-Identifier: Apache-2.0 */
/* The device's ops on the host: against torchvision (tests/golden/device), and
 * against one pixel at a time, as a kernel does them. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/op.h"
#include "pipeline/parse.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/ops_draw.h"

enum { RGB = 3, ROWS = 4, HEIGHT = 7, WIDTH = 9, CLASSES = 5 };
#define PIXELS ((size_t)HEIGHT * WIDTH)
#define LABELS ((size_t)ROWS * CLASSES)
#define VALUES (ROWS * PIXELS * RGB)

/* ---- Pictures ------------------------------------------------------------ */

/* As tests/golden/device/make.py has them: some pixels are grey. */
static void make_up(uint8_t *out, size_t pixels)
{
    uint32_t state = 1;
    for (size_t i = 0; i < pixels; i++) {
        for (size_t c = 0; c < RGB; c++) {
            state            = state * 1664525U + 1013904223U;
            out[i * RGB + c] = (uint8_t)(state >> 24);
        }
        if (i % 5 == 0) {
            out[i * RGB + 1] = out[i * RGB];
            out[i * RGB + 2] = out[i * RGB];
        }
    }
}

static struct fby_expansion *new_plan(
    uint32_t height, uint32_t width, enum fby_type to, enum fby_layout layout)
{
    struct fby_expansion *plan = calloc(1, sizeof(*plan));
    plan->name                 = "image";
    plan->kind                 = FBY_EXPAND_OPS;
    plan->from                 = FBY_U8;
    plan->to                   = to;
    plan->layout               = layout;
    plan->shape                = (struct fby_shape){3, {height, width, RGB}};
    plan->pixels               = height * width;
    plan->channels             = RGB;
    plan->raw_bytes            = (uint64_t)plan->pixels * RGB;
    plan->out_bytes            = plan->raw_bytes * fby_type_bytes(to);
    plan->ops                  = (struct fby_ops_plan){
                         .width      = width,
                         .height     = height,
                         .normalized = 1,
                         .mean       = {0.485F, 0.456F, 0.406F},
                         .std        = {0.229F, 0.224F, 0.225F},
    };
    return plan;
}

static void expand(const struct fby_expansion *plan, const uint8_t *raw,
    uint32_t rows, struct fby_ops_row *draws, void *out)
{
    struct fby_expand_job job = {plan, raw, rows, draws, out};
    assert_ok(fby_device_host.expand_ops(&job, NULL));
}

/* ---- As a kernel does it ------------------------------------------------- */

static void load_pixel(const struct fby_expansion *plan, const uint8_t *raw,
    const struct fby_ops_row *row, uint32_t x, uint32_t y, float rgb[RGB])
{
    uint32_t from = fby_ops_source_pixel(&plan->ops, row, x, y);
    for (uint32_t c = 0; c < RGB; c++) {
        rgb[c] = fby_ops_level_of_byte(raw[from * RGB + c]);
    }
}

static float grey_of(const struct fby_expansion *plan, const uint8_t *raw,
    const struct fby_ops_row *row)
{
    uint64_t sum = 0;
    for (uint32_t i = plan->pixels; i-- > 0;) { /* in any order */
        float    rgb[RGB];
        uint32_t x = i % plan->ops.width;
        uint32_t y = i / plan->ops.width;
        load_pixel(plan, raw, row, x, y, rgb);
        fby_ops_apply_stages(
            &plan->ops, row, (struct fby_ops_position){x, y}, 1, rgb);
        sum += fby_ops_grey_q24(rgb);
    }
    return fby_ops_mean_grey(sum, plan->pixels);
}

static void pixel_of(const struct fby_expansion *plan, const uint8_t *raw,
    const struct fby_ops_row *row, uint32_t i, float rgb[RGB])
{
    uint32_t x = i % plan->ops.width;
    uint32_t y = i / plan->ops.width;
    load_pixel(plan, raw, row, x, y, rgb);
    fby_ops_apply_stages(
        &plan->ops, row, (struct fby_ops_position){x, y}, 0, rgb);
}

static void kernel_pixel(const struct fby_expansion *plan, const uint8_t *raw,
    const struct fby_ops_row *draws, uint32_t r, uint32_t i, float rgb[RGB])
{
    const struct fby_ops_row *row     = &draws[r];
    const struct fby_ops_row *partner = &draws[row->partner];
    float                     other[RGB];
    pixel_of(plan, raw + r * plan->raw_bytes, row, i, rgb);
    pixel_of(plan, raw + row->partner * plan->raw_bytes, partner, i, other);
    for (uint32_t c = 0; c < RGB; c++) {
        if (row->pair == FBY_OPS_MIXUP) {
            rgb[c] =
                fby_ops_mix(rgb[c], other[c], row->share, row->partner_share);
        } else if (row->pair == FBY_OPS_CUTMIX &&
                   fby_ops_box_contains(
                       &row->cut, i % plan->ops.width, i / plan->ops.width)) {
            rgb[c] = other[c];
        }
        rgb[c] = plan->ops.normalized ? rgb[c] : fby_ops_scale_to_255(rgb[c]);
    }
}

static uint64_t stored(enum fby_type to, float value)
{
    switch ((int)to) {
    case FBY_U8:
        return (uint64_t)fby_f32_to_int(value, 0, 255);
    case FBY_F16:
        return fby_f32_to_f16(value);
    case FBY_BF16:
        return fby_f32_to_bf16(value);
    default:
        return fby_f32_bits(value);
    }
}

static void host_equals_kernel(const struct fby_expansion *plan,
    const uint8_t *raw, uint32_t rows, struct fby_ops_row *draws)
{
    uint8_t *out   = malloc(rows * plan->out_bytes);
    size_t   width = fby_type_bytes(plan->to);
    bool     chw   = plan->layout == FBY_LAYOUT_CHW;
    expand(plan, raw, rows, draws, out);
    for (uint32_t r = 0; r < rows; r++) {
        draws[r].grey = grey_of(plan, raw + r * plan->raw_bytes, &draws[r]);
    }
    for (uint32_t k = 0; k < rows * plan->pixels; k++) {
        uint32_t r = k / plan->pixels;
        uint32_t i = k % plan->pixels;
        float    rgb[RGB];
        kernel_pixel(plan, raw, draws, r, i, rgb);
        for (uint32_t c = 0; c < RGB; c++) {
            size_t   at   = chw ? c * plan->pixels + i : i * RGB + c;
            uint64_t want = stored(plan->to, rgb[c]);
            assert_memory_equal(
                out + r * plan->out_bytes + at * width, &want, width);
        }
    }
    free(out);
}

/* ---- Torchvision --------------------------------------------------------- */

struct golden {
    FILE              *file;
    char               name[64];
    uint32_t           ulp;
    struct fby_ops_row rows[ROWS];
    bool               paired;
    float              want[VALUES];
    float              label[LABELS];
};

/* The next word, as a number. */
static uint32_t next_in(const struct golden *g, int base)
{
    char  word[64];
    char *end = NULL;
    assert_int_equal(fscanf(g->file, "%63s", word), 1);
    long value = strtol(word, &end, base);
    assert_true(end != word && *end == '\0');
    return (uint32_t)value;
}

static uint32_t next(const struct golden *g)
{
    return next_in(g, 10);
}

static struct fby_ops_box next_box(const struct golden *g)
{
    uint32_t v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = next(g);
    }
    return (struct fby_ops_box){v[0], v[1], v[2], v[3]};
}

static void read_row(struct golden *g, uint32_t r)
{
    char                word[8];
    struct fby_ops_row *row = &g->rows[r];
    assert_int_equal(fscanf(g->file, "%7s", word), 1);
    assert_string_equal(word, "row");
    *row          = (struct fby_ops_row){.partner = (r + ROWS - 1) % ROWS};
    row->mirror_x = (uint8_t)next(g);
    row->mirror_y = (uint8_t)next(g);
    row->n_jitter = (uint8_t)next(g);
    for (uint32_t i = 0; i < row->n_jitter; i++) {
        row->jitter[i] = (uint8_t)next(g);
        row->factor[i] = (float)(int32_t)next(g) / 65536.0F;
    }
    row->erase         = next_box(g);
    row->cut           = next_box(g);
    row->pair          = (uint8_t)next(g);
    double lambda      = next(g) / 16777216.0;
    row->share         = (float)lambda;
    row->partner_share = (float)(1.0 - lambda);
    double area        = (double)(row->cut.right - row->cut.left) *
                  (row->cut.bottom - row->cut.top);
    double shown =
        row->pair == FBY_OPS_MIXUP ? lambda : 1 - area / (double)PIXELS;
    row->label_share         = (float)shown;
    row->label_partner_share = (float)(1.0 - shown);
    g->paired                = row->pair != FBY_OPS_ALONE;
}

static void read_values(
    const struct golden *g, const char *what, float *out, size_t n)
{
    char word[8];
    assert_int_equal(fscanf(g->file, "%7s", word), 1);
    assert_string_equal(word, what);
    for (size_t i = 0; i < n; i++) {
        out[i] = fby_f32_from_bits(next_in(g, 16));
    }
}

static bool read_case(struct golden *g, struct fby_ops_plan *plan)
{
    static const float values[2][RGB] = {{0.25F, 0, 1}, {0.25F, -1.5F, 3}};
    char               word[8];
    if (fscanf(g->file, "%7s", word) != 1) {
        return false;
    }
    assert_string_equal(word, "case");
    assert_int_equal(fscanf(g->file, "%63s", g->name), 1);
    g->ulp = next(g);
    memcpy(plan->erase_value, values[next(g)], sizeof(plan->erase_value));
    plan->n_stages = next(g);
    for (uint32_t i = 0; i < plan->n_stages; i++) {
        plan->stages[i] = (uint8_t)next(g);
    }
    for (uint32_t r = 0; r < ROWS; r++) {
        read_row(g, r);
    }
    read_values(g, "want", g->want, VALUES);
    if (g->paired) {
        read_values(g, "label", g->label, LABELS);
    }
    return true;
}

/* How many binary32 numbers lie between two levels, counted at 1. */
static double apart(float a, float b)
{
    double size = (double)a - (double)b;
    return (size < 0 ? -size : size) * 0x1p23;
}

static void mixed_labels_equal_those_of_torchvision(struct golden *g)
{
    struct fby_expansion plan      = {.name = "label",
             .kind                          = FBY_EXPAND_MIX,
             .from                          = FBY_U8,
             .to                            = FBY_F32,
             .raw_bytes                     = 1,
             .out_bytes                     = CLASSES * sizeof(float),
             .classes                       = CLASSES,
             .on_value                      = (float)(1 - 0.1 + 0.1 / CLASSES),
             .off_value                     = (float)(0.1 / CLASSES)};
    uint8_t              ids[ROWS] = {0, 3, 1, 4};
    float                out[LABELS];
    expand(&plan, ids, ROWS, g->rows, out);
    assert_memory_equal(out, g->label, sizeof(out));
}

static void ops_equal_those_of_torchvision(void **state)
{
    (void)state;
    struct golden g = {.file = fopen(FBY_TEST_DATA "/device/ops.txt", "r")};
    struct fby_expansion *plan =
        new_plan(HEIGHT, WIDTH, FBY_F32, FBY_LAYOUT_HWC);
    uint8_t raw[VALUES];
    float   out[VALUES];
    int     cases = 0;
    assert_non_null(g.file);
    make_up(raw, ROWS * PIXELS);
    for (; read_case(&g, &plan->ops); cases++) {
        expand(plan, raw, ROWS, g.rows, out);
        for (size_t i = 0; i < VALUES; i++) {
            if (apart(out[i], g.want[i]) > g.ulp) {
                fail_msg("%s, value %zu: %.9g, torchvision %.9g", g.name, i,
                    (double)out[i], (double)g.want[i]);
            }
        }
        if (g.paired) {
            mixed_labels_equal_those_of_torchvision(&g);
        }
        host_equals_kernel(plan, raw, ROWS, g.rows);
    }
    assert_int_equal(cases, 15);
    fclose(g.file);
    free(plan);
}

/* Done in one step with the conversion, as where it stands alone. */
static void normalize_alone_is_close_to_torchvision(void **state)
{
    (void)state;
    static const double mean[] = {0.485, 0.456, 0.406};
    static const double std[]  = {0.229, 0.224, 0.225};
    for (int c = 0; c < RGB; c++) {
        for (int v = 0; v < 256; v++) {
            float there =
                fby_ops_normalize_level(fby_ops_level_of_byte((uint8_t)v),
                    (float)mean[c], (float)std[c]);
            float here = fby_affine((float)v, (float)(1.0 / (255.0 * std[c])),
                (float)(-mean[c] / std[c]));
            assert_true(apart(here, there) * 0x1p-23 < 2e-6);
        }
    }
}

/* ---- Every dtype and layout ---------------------------------------------- */

static const char text[] =
    "forebay: 1\n"
    "splits: {train: {folder: photos}}\n"
    "global_batch: 16\n"
    "fields:\n"
    "  image:\n"
    "    from: jpg\n"
    "    ops: [{random_resized_crop: {size: [%u, %u]}}]\n"
    "    device: [%s]\n"
    "    out: {dtype: %s, layout: %s}\n"
    "  label: {from: folder, one_hot: {classes: 10, smoothing: 0.1}}\n";

static struct fby_split *split_of(const char *list, uint32_t height,
    uint32_t width, const char *dtype, const char *layout)
{
    char                    yaml[1024];
    struct fby_error_detail why      = {{0}};
    struct fby_pipeline    *pipeline = NULL;
    struct fby_split       *split    = NULL;
    snprintf(yaml, sizeof(yaml), text, height, width, list, dtype, layout);
    struct fby_pipeline_text in = {yaml, strlen(yaml), "p.yaml", "/data"};
    if (fby_pipeline_parse(&in, &pipeline, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_ok(fby_pipeline_make_split(pipeline, NULL, &split, &why));
    fby_pipeline_destroy(&pipeline);
    return split;
}

static struct fby_expansion *plan_of(const struct fby_split *split)
{
    struct fby_error_detail why  = {{0}};
    struct fby_expansion   *plan = calloc(1, sizeof(*plan));
    if (fby_expansion_init(plan, &split->content.fields[0],
            &split->delivery.fields[0], &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    return plan;
}

static struct fby_ops_batch batch_of(uint32_t rows, const uint64_t *samples)
{
    return (struct fby_ops_batch){.seed = 3,
        .epoch                          = 1,
        .step                           = 5,
        .rows                           = rows,
        .own                            = rows,
        .samples                        = samples};
}

static void try_size(const char *list, const char *dtype, const char *layout,
    uint32_t height, uint32_t width, uint32_t rows)
{
    struct fby_split     *split = split_of(list, height, width, dtype, layout);
    struct fby_expansion *plan  = plan_of(split);
    uint64_t              samples[16];
    struct fby_ops_row    draws[16];
    uint8_t              *raw = malloc(rows * plan->raw_bytes);
    for (uint32_t i = 0; i < rows; i++) {
        samples[i] = 100 + (uint64_t)i * 7;
    }
    struct fby_ops_batch batch = batch_of(rows, samples);
    make_up(raw, (size_t)rows * plan->pixels);
    fby_ops_draw(plan->ops_field, &batch, draws);
    host_equals_kernel(plan, raw, rows, draws);
    free(raw);
    free(plan);
    fby_split_destroy(&split);
}

static void every_dtype_and_layout_is_what_a_kernel_makes(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "horizontal_flip, {colour_jitter: {brightness: 0.4, contrast: 0.4, "
        "saturation: 0.4, hue: 0.1}}, {random_erasing: {p: 1, value: 0.5}}, "
        "{normalize: {mean: 0.5, std: 0.25}}, {mixup: {label: label}}",
        "{random_erasing: {p: 1}}, vertical_flip, {colour_jitter: {contrast: "
        "0.9}}, {cutmix: {label: label}}"};
    static const char *const reals[]   = {"f32", "f16", "bf16"};
    static const char *const layouts[] = {"hwc", "chw", "channels_last"};
    for (uint32_t i = 0; i < 9; i++) {
        try_size(lists[0], reals[i / 3], layouts[i % 3], 5, 11, 1 + i);
        try_size(lists[1], reals[i / 3], layouts[i % 3], 1 + i, 3, 16 - i);
        try_size(lists[1], "u8", layouts[i % 3], 2, 300 + i, 1);
    }
    try_size(lists[0], "f32", "chw", 1, 1, 8);
}

/* ---- Planes -------------------------------------------------------------- */

static uint32_t some(uint32_t n)
{
    static uint32_t state = 7;
    state                 = state * 1664525U + 1013904223U;
    return (state >> 8) % n;
}

/* Some rows in planes, and the pixels that they are without ops. */
struct album {
    uint32_t rows;
    uint8_t *planes, *pixels;
};

static void fill_album(
    struct album *self, const struct fby_field_content *field)
{
    static const struct fby_field_delivery as_u8 = {
        .dtype = FBY_U8, .layout = FBY_LAYOUT_HWC};
    struct fby_expansion    *plan  = calloc(1, sizeof(*plan));
    struct fby_field_content plain = *field;
    plain.n_device                 = 0;
    plain.as.rgb8.normalize        = false;
    assert_ok(fby_expansion_init(plan, &plain, &as_u8, NULL));
    self->planes = malloc(self->rows * plan->raw_bytes);
    self->pixels = malloc(self->rows * plan->out_bytes);
    for (size_t i = 0; i < self->rows * plan->raw_bytes; i++) {
        self->planes[i] = (uint8_t)some(256);
    }
    assert_ok(fby_device_host.expand(
        plan, self->planes, self->rows, self->pixels, NULL));
    free(plan);
}

/* The tensor of `raw`. */
static uint8_t *tensor_of(const struct fby_field_content *field,
    const struct fby_field_delivery                      *delivery,
    const struct fby_ops_batch *batch, const uint8_t *raw, size_t *bytes)
{
    struct fby_ops_row    draws[16];
    struct fby_expansion *plan = calloc(1, sizeof(*plan));
    assert_ok(fby_expansion_init(plan, field, delivery, NULL));
    assert_int_equal(plan->kind, FBY_EXPAND_OPS);
    *bytes       = batch->rows * plan->out_bytes;
    uint8_t *out = malloc(*bytes);
    fby_ops_draw(field, batch, draws);
    expand(plan, raw, batch->rows, draws, out);
    free(plan);
    return out;
}

/* Any rows of any size, as the list makes them of planes and of pixels. */
static void planes_equal_pixels(
    const char *list, const char *dtype, const char *layout)
{
    struct album      album = {.rows = 1 + some(16)};
    uint64_t          samples[16];
    size_t            bytes[2];
    uint32_t          width = 1 + (some(3) == 0 ? some(700) : some(90));
    struct fby_split *split =
        split_of(list, 1 + some(70), width, dtype, layout);
    const struct fby_field_delivery *to     = &split->delivery.fields[0];
    struct fby_field_content         pixels = split->content.fields[0];
    struct fby_field_content         planes = pixels;
    planes.as.rgb8.yuv420                   = true;
    fill_album(&album, &planes);
    for (uint32_t i = 0; i < 16; i++) {
        samples[i] = some(1000);
    }
    struct fby_ops_batch batch = batch_of(album.rows, samples);
    batch.own                  = 1 + some(album.rows);
    batch.step                 = some(1000);
    uint8_t *out   = tensor_of(&planes, to, &batch, album.planes, &bytes[0]);
    uint8_t *right = tensor_of(&pixels, to, &batch, album.pixels, &bytes[1]);
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(out, right, bytes[0]);
    free(out);
    free(right);
    free(album.planes);
    free(album.pixels);
    fby_split_destroy(&split);
}

static void ops_make_of_planes_what_they_make_of_their_pixels(void **state)
{
    (void)state;
    static const char all[] =
        "horizontal_flip, vertical_flip, {colour_jitter: {brightness: 0.4, "
        "contrast: 0.4, saturation: 0.4, hue: 0.1}}, {normalize: {mean: 0.5, "
        "std: 0.25}}, {random_erasing: {p: 0.7}}, {mixup: {label: label}}";
    static const char erased_first[] =
        "{random_erasing: {p: 0.7}}, vertical_flip, horizontal_flip, "
        "{colour_jitter: {contrast: 0.9}}, {cutmix: {label: label}}";
    static const char *const lists[]   = {all, erased_first,
          "horizontal_flip, vertical_flip, {normalize: {mean: 0.5, std: 0.25}}",
          "horizontal_flip, vertical_flip", "{mixup: {label: label}}"};
    static const char *const dtypes[]  = {"f32", "f16", "bf16", "u8"};
    static const char *const layouts[] = {"hwc", "chw", "channels_last"};
    for (uint32_t i = 0; i < 100; i++) {
        bool normal = i % 5 == 0 || i % 5 == 2;
        planes_equal_pixels(
            lists[i % 5], dtypes[some(normal ? 3 : 4)], layouts[some(3)]);
    }
}

/* ---- Flips --------------------------------------------------------------- */

/* The picture that `row` makes of `raw`, in bytes. */
static void mirror(const struct fby_expansion *plan,
    const struct fby_ops_row *row, const uint8_t *raw, uint8_t *out)
{
    uint32_t width = plan->ops.width;
    for (uint32_t i = 0; i < plan->pixels; i++) {
        uint32_t from =
            fby_ops_source_pixel(&plan->ops, row, i % width, i / width);
        memcpy(out + (size_t)i * RGB, raw + (size_t)from * RGB, RGB);
    }
}

/* Mirrored first, then made as if there were no flips. */
static void flip_equals_mirrored(
    uint32_t height, uint32_t width, const char *dtype, const char *layout)
{
    struct fby_split *split = split_of("horizontal_flip, vertical_flip, "
                                       "{normalize: {mean: 0.5, std: 0.25}}",
        height, width, dtype, layout);

    struct fby_expansion *plan   = plan_of(split);
    uint8_t              *raw    = malloc(ROWS * plan->raw_bytes);
    uint8_t              *turned = malloc(plan->raw_bytes);
    uint8_t              *out    = malloc(ROWS * plan->out_bytes);
    uint8_t              *right  = malloc(plan->out_bytes);

    struct fby_ops_row draws[ROWS] = {
        {0}, {.mirror_x = 1}, {.mirror_y = 1}, {.mirror_x = 1, .mirror_y = 1}};
    make_up(raw, (size_t)ROWS * plan->pixels);
    expand(plan, raw, ROWS, draws, out);
    struct fby_expansion *plain = calloc(1, sizeof(*plain));
    memcpy(plain, plan, sizeof(*plain));
    plain->kind = FBY_EXPAND_AFFINE;
    for (uint32_t r = 0; r < ROWS; r++) {
        mirror(plan, &draws[r], raw + r * plan->raw_bytes, turned);
        assert_ok(fby_device_host.expand(plain, turned, 1, right, NULL));
        assert_memory_equal(out + r * plan->out_bytes, right, plan->out_bytes);
    }
    free(raw);
    free(turned);
    free(out);
    free(right);
    free(plain);
    free(plan);
    fby_split_destroy(&split);
}

static void a_flip_only_changes_the_order_of_pixels(void **state)
{
    (void)state;
    static const char *const dtypes[]   = {"f32", "bf16", "f16"};
    static const char *const layouts[]  = {"chw", "channels_last", "hwc"};
    static const uint32_t    sizes[][2] = {{1, 1}, {7, 9}, {1, 5}, {2, 6},
           {90, 61}, {64, 64}, {2, 5000}, {33, 300}};
    for (uint32_t i = 0; i < 9; i++) {
        for (uint32_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            flip_equals_mirrored(
                sizes[k][0], sizes[k][1], dtypes[i / 3], layouts[i % 3]);
        }
    }
}

/* One channel, and bytes that stay bytes. */
static void a_mask_is_flipped_with_its_ids_as_they_are(void **state)
{
    (void)state;
    struct fby_field_content  mask     = {.name = "mask",
             .decode                            = FBY_DECODE_MASK8,
             .wire_type                         = FBY_U8,
             .shape                             = {3, {HEIGHT, WIDTH, 1}},
             .n_device                          = 1};
    struct fby_field_delivery delivery = {
        .dtype = FBY_U8, .layout = FBY_LAYOUT_HWC};
    struct fby_expansion   *plan     = calloc(1, sizeof(*plan));
    struct fby_error_detail why      = {{0}};
    struct fby_ops_row      draws[2] = {
             {.mirror_x = 1, .mirror_y = 1}, {.mirror_x = 0}};
    uint8_t raw[2 * PIXELS];
    uint8_t out[2 * PIXELS];
    mask.device[0].op = fby_device_op_named("horizontal_flip");
    assert_ok(fby_expansion_init(plan, &mask, &delivery, &why));
    for (size_t i = 0; i < sizeof(raw); i++) {
        raw[i] = (uint8_t)(i * 31);
    }
    expand(plan, raw, 2, draws, out);
    for (size_t i = 0; i < PIXELS; i++) {
        assert_int_equal(out[i], raw[PIXELS - 1 - i]);
    }
    assert_memory_equal(out + PIXELS, raw + PIXELS, PIXELS);
    free(plan);
}

/* Division by 255 and back is exact for every level. */
static void levels_that_no_op_changes_become_the_same_bytes(void **state)
{
    (void)state;
    struct fby_split *split =
        split_of("{random_erasing: {p: 0}}", 16, 16, "f32", "hwc");
    struct fby_expansion *plan = plan_of(split);
    uint8_t               raw[256 * RGB];
    float                 out[256 * RGB];
    struct fby_ops_row    draws[1] = {{0}};
    for (size_t i = 0; i < sizeof(raw); i++) {
        raw[i] = (uint8_t)(i / RGB);
    }
    expand(plan, raw, 1, draws, out);
    for (size_t i = 0; i < sizeof(raw); i++) {
        assert_true(out[i] == (float)raw[i]);
    }
    free(plan);
    fby_split_destroy(&split);
}

/* ---- Draws --------------------------------------------------------------- */

static void ranks_draw_what_the_whole_batch_draws(void **state)
{
    (void)state;
    struct fby_split *split =
        split_of("horizontal_flip, random_erasing, {mixup: {label: label}}", 20,
            30, "f32", "hwc");
    const struct fby_field_content *field = &split->content.fields[0];
    uint64_t                        samples[16];
    struct fby_ops_row              all[16];
    struct fby_ops_row              half[8];
    for (uint32_t i = 0; i < 16; i++) {
        samples[i] = (uint64_t)i * i;
    }
    struct fby_ops_batch batch = batch_of(16, samples);
    fby_ops_draw(field, &batch, all);
    batch           = batch_of(8, samples + 8);
    batch.first_row = 8;
    fby_ops_draw(field, &batch, half);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(half[i].partner + 8, all[i + 8].partner);
        half[i].partner = all[i + 8].partner;
        assert_memory_equal(&half[i], &all[i + 8], sizeof(half[i]));
    }
    assert_true(all[0].share == all[7].share);
    assert_true(all[0].share != all[8].share);
    fby_split_destroy(&split);
}

/* A box erased before a flip lies where the flip moves it. */
static void an_erased_box_is_mirrored_with_its_picture(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "{random_erasing: {p: 1}}, {horizontal_flip: {p: 1}}, "
        "{vertical_flip: {p: 1}}",
        "{horizontal_flip: {p: 1}}, {vertical_flip: {p: 1}}, "
        "{random_erasing: {p: 1}}"};
    uint64_t           sample = 4;
    struct fby_ops_row row[2];
    for (int i = 0; i < 2; i++) {
        struct fby_split    *split = split_of(lists[i], 50, 40, "f32", "hwc");
        struct fby_ops_batch batch = batch_of(1, &sample);
        fby_ops_draw(&split->content.fields[0], &batch, &row[i]);
        assert_true(row[i].mirror_x && row[i].mirror_y);
        fby_split_destroy(&split);
    }
    assert_true(row[1].erase.right > row[1].erase.left);
    assert_int_equal(row[0].erase.left, 40 - row[1].erase.right);
    assert_int_equal(row[0].erase.right, 40 - row[1].erase.left);
    assert_int_equal(row[0].erase.top, 50 - row[1].erase.bottom);
    assert_int_equal(row[0].erase.bottom, 50 - row[1].erase.top);
}

static void a_label_beyond_its_classes_is_refused(void **state)
{
    (void)state;
    struct fby_expansion    plan    = {.name = "label",
              .kind                          = FBY_EXPAND_MIX,
              .from                          = FBY_U8,
              .to                            = FBY_F32,
              .raw_bytes                     = 1,
              .out_bytes                     = CLASSES * sizeof(float),
              .classes                       = CLASSES};
    uint8_t                 ids[2]  = {0, CLASSES};
    struct fby_ops_row      rows[2] = {{.partner = 1}, {.partner = 0}};
    struct fby_error_detail why     = {{0}};
    float                   out[2 * CLASSES];
    struct fby_expand_job   job = {&plan, ids, 2, rows, out};
    assert_int_equal(fby_device_host.expand_ops(&job, &why), FBY_PROTO);
    assert_non_null(strstr(why.text, "label 5 is not one of 0 to 4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_equal_those_of_torchvision),
        cmocka_unit_test(normalize_alone_is_close_to_torchvision),
        cmocka_unit_test(every_dtype_and_layout_is_what_a_kernel_makes),
        cmocka_unit_test(ops_make_of_planes_what_they_make_of_their_pixels),
        cmocka_unit_test(a_flip_only_changes_the_order_of_pixels),
        cmocka_unit_test(a_mask_is_flipped_with_its_ids_as_they_are),
        cmocka_unit_test(levels_that_no_op_changes_become_the_same_bytes),
        cmocka_unit_test(ranks_draw_what_the_whole_batch_draws),
        cmocka_unit_test(an_erased_box_is_mirrored_with_its_picture),
        cmocka_unit_test(a_label_beyond_its_classes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
