/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of pictures: the pixels, the plan, the memory that is reserved to the
 * byte, and how much a picture is scaled down while it is decoded. */
#include "tests/says.h"
#include "tests/worker/transform/pictures.h"
#include "tests/worker/transform/transform.h"

#include <stdio.h>

#include "worker/transform/field.h"
#include "worker/transform/transform_private.h"

/* A field of `width` x `height` pixels, without ops. */
static struct fby_field_content plain_field(uint32_t width, uint32_t height)
{
    return (struct fby_field_content){.name = "f",
        .group                              = "f",
        .decode                             = FBY_DECODE_RGB8,
        .as.rgb8.dct_scale                  = FBY_DCT_OFF,
        .wire_type                          = FBY_U8,
        .shape                              = {3, {height, width, FBY_RGB}}};
}

static struct fby_op_use resize_to(uint32_t height, uint32_t width)
{
    return (struct fby_op_use){.op = fby_op_named("resize"),
        .params                    = {{0}, {.n = 2, .i = {height, width}}}};
}

static struct fby_op_use crop_to(uint32_t height, uint32_t width)
{
    return (struct fby_op_use){.op = fby_op_named("center_crop"),
        .params                    = {{.n = 2, .i = {height, width}}}};
}

static struct fby_field_job job_of(
    const struct fby_field_content *field, const struct fby_buffer *file)
{
    return (struct fby_field_job){
        .field = field, .bytes = file->data, .size = file->size};
}

/* ---- pixels ---------------------------------------------------------------- */

static struct fby_field_content crop_field(uint32_t side)
{
    struct fby_field_content field = plain_field(side, side);
    field.n_ops                    = 2;
    field.ops[0]                   = (struct fby_op_use){
                          .op     = fby_op_named("random_resized_crop"),
                          .params = {{.n = 2, .i = {side, side}},
                              {.n = 2, .real = true, .r = {0.08, 1}},
                              {.n = 2, .real = true, .r = {0.75, 1.3333333333333333}}},
    };
    field.ops[1] = (struct fby_op_use){.op = fby_op_named("horizontal_flip"),
        .params = {{.n = 1, .real = true, .r = {0.5}}}};
    return field;
}

static void every_crop_shows_the_label_of_its_picture(void **state)
{
    (void)state;
    static uint8_t           pixels[224 * 224 * 3];
    struct fby_field_content field = crop_field(224);
    for (uint32_t n = 0; n < 60; n++) {
        struct fby_buffer file = photo_file(
            (struct fby_photo){.number = n, .label = n % FBY_PHOTO_LABELS});
        struct fby_field_job job   = {.field = &field,
              .bytes                         = file.data,
              .size                          = file.size,
              .seed                          = 42,
              .sample                        = n};
        uint32_t             label = 99;
        struct fby_image     image = {pixels, sizeof(pixels) / 224, 224, 224};
        assert_ok(fby_field_write(transform, &job, pixels, NULL));
        assert_true(fby_photo_read_label(&image, &label));
        assert_int_equal(label, n % FBY_PHOTO_LABELS);
        fby_buffer_fini(&file);
    }
}

static void values_depend_on_seed_epoch_and_sample_alone(void **state)
{
    (void)state;
    uint8_t                  first[32 * 32 * 3];
    uint8_t                  other[32 * 32 * 3];
    struct fby_field_content field = crop_field(32);
    struct fby_buffer        file = photo_file((struct fby_photo){.number = 3});
    struct fby_field_job     job  = {.field = &field,
             .bytes                         = file.data,
             .size                          = file.size,
             .seed                          = 1,
             .epoch                         = 2,
             .sample                        = 3};
    struct fby_field_job     jobs[3] = {job, job, job};
    assert_ok(fby_field_write(transform, &job, first, NULL));
    jobs[0].seed++;
    jobs[1].epoch++;
    jobs[2].sample++;
    for (int i = 0; i < 3; i++) {
        assert_ok(fby_field_write(transform, &jobs[i], other, NULL));
        assert_memory_not_equal(first, other, sizeof(first));
    }
    assert_ok(fby_field_write(transform, &job, other, NULL));
    assert_memory_equal(first, other, sizeof(first));
    fby_buffer_fini(&file);
}

static void the_plan_tells_what_the_pixels_show(void **state)
{
    (void)state;
    uint8_t                  written[40 * 40 * 3];
    struct fby_image         made  = new_picture(40, 40);
    struct fby_field_content field = crop_field(40);
    struct fby_buffer        file =
        photo_file((struct fby_photo){.number = 8, .orientation = 6});
    struct fby_field_job job = {
        .field = &field, .bytes = file.data, .size = file.size, .sample = 5};
    struct fby_field_plan   plan;
    struct fby_image        picture = {0};
    struct fby_scratch      scratch = {0};
    struct fby_picture_file jpeg    = as_jpeg(&file);
    assert_ok(fby_field_plan(&job, &plan, NULL));
    assert_ok(fby_field_write(transform, &job, written, NULL));
    assert_ok(
        fby_picture_decode(&fby_jpeg_picture, &jpeg, &scratch, &picture, NULL));
    assert_int_equal(plan.width, picture.width);
    assert_int_equal(plan.height, picture.height);
    struct fby_planned_ops run = {field.ops, plan.plans, plan.n_ops};
    assert_ok(fby_transform_run_ops(transform, &run, picture, made, NULL));
    assert_memory_equal(made.pixels, written, sizeof(written));
    free(made.pixels);
    fby_scratch_fini(&scratch);
    fby_buffer_fini(&file);
}

/* The decoder delivers rows one by one, and only some are used. */
static void a_crop_of_a_scaled_picture_is_that_of_the_whole(void **state)
{
    (void)state;
    uint8_t                  written[40 * 40 * 3];
    struct fby_image         made  = new_picture(40, 40);
    struct fby_field_content field = crop_field(40);
    field.ops[0]                   = (struct fby_op_use){
                          .op     = fby_op_named("resize"),
                          .params = {{.n = 1, .i = {90}}},
    };
    field.ops[1] = (struct fby_op_use){
        .op = fby_op_named("center_crop"), .params = {{.n = 2, .i = {40, 40}}}};
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 250, .height = 180});
    struct fby_field_job job = {
        .field = &field, .bytes = file.data, .size = file.size};
    struct fby_picture_file jpeg    = as_jpeg(&file);
    struct fby_image        picture = {0};
    struct fby_scratch      scratch = {0};
    struct fby_field_plan   plan;
    assert_ok(fby_field_plan(&job, &plan, NULL));
    assert_ok(
        fby_picture_decode(&fby_jpeg_picture, &jpeg, &scratch, &picture, NULL));
    struct fby_planned_ops run = {field.ops, plan.plans, plan.n_ops};
    assert_ok(fby_transform_run_ops(transform, &run, picture, made, NULL));
    assert_ok(fby_field_write(transform, &job, written, NULL));
    assert_memory_equal(made.pixels, written, sizeof(written));
    free(made.pixels);
    fby_scratch_fini(&scratch);
    fby_buffer_fini(&file);
}

static void a_picture_too_small_for_its_crop_is_a_bad_sample(void **state)
{
    (void)state;
    static uint8_t           pixels[64 * 64 * 3];
    struct fby_field_content field = crop_field(64);
    field.n_ops                    = 1;
    field.ops[0]                   = (struct fby_op_use){
                          .op     = fby_op_named("center_crop"),
                          .params = {{.n = 2, .i = {64, 64}}},
    };
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 63, .height = 80});
    struct fby_field_job job = {
        .field = &field, .bytes = file.data, .size = file.size};
    struct fby_field_plan   plan;
    struct fby_error_detail why = {0};
    assert_int_equal(
        fby_field_write(transform, &job, pixels, &why), FBY_BAD_SAMPLE);
    assert_says(&why, "63 x 80");
    assert_int_equal(fby_field_plan(&job, &plan, &why), FBY_BAD_SAMPLE);
    fby_buffer_fini(&file);
}

/* ---- memory -------------------------------------------------------------- */

/* Bytes that decoding to the field needs, computed before it. */
static uint64_t needed(
    const struct fby_field_content *field, const struct fby_buffer *file)
{
    struct fby_picture_file jpeg = as_jpeg(file);
    struct fby_picture_head head;
    assert_ok(fby_jpeg_picture.head(&jpeg, &head, NULL));
    struct fby_picture_part part  = {{0, 0, head.width, head.height}, 1, false};
    struct fby_picture_need rows  = fby_jpeg_picture.need(&head, &part);
    struct fby_image        in    = {NULL, 0, head.width, head.height};
    struct fby_resize_spec  spec  = fby_resize_spec_whole(&in, &in);
    uint64_t                whole = fby_image_bytes(head.width, head.height);
    return rows.scratch[0] + rows.scratch[1] + head.library_bytes +
           fby_resize_memory_bytes(&spec) + (field->as.rgb8.yuv420 ? whole : 0);
}

static fby_err write_with(const struct fby_field_content *field,
    const struct fby_buffer *file, uint64_t bytes)
{
    static uint8_t              pixels[1 << 16];
    struct fby_transform_limits limits = {
        1, fby_shared_quota_create(bytes - 1)};
    struct fby_transform *own = fby_transform_create(&limits);
    struct fby_field_job  job = job_of(field, file);
    fby_err               err = fby_field_write(own, &job, pixels, NULL);
    assert_int_equal(fby_shared_quota_counts(limits.quota).used, 0);
    assert_int_equal(own->decoded[0].size_bytes, 0);
    fby_transform_destroy(&own);
    fby_shared_quota_destroy(&limits.quota);
    return err;
}

static void exactly_what_is_needed_is_reserved(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 16; i++) {
        struct fby_photo         photo = {.width = 96,
                    .height                      = 64,
                    .orientation                 = 1 + i % 8,
                    .progressive                 = i % 3 == 0};
        struct fby_field_content field = plain_field(96, 64);
        struct fby_buffer        file  = photo_file(photo);
        field.as.rgb8.yuv420           = i >= 8;
        uint64_t bytes                 = needed(&field, &file);
        assert_ok(write_with(&field, &file, bytes));
        assert_int_equal(write_with(&field, &file, bytes - 1), FBY_FULL);
        fby_buffer_fini(&file);
    }
}

/* Decode a photograph of 96 x 64 pixels with limits: the quota is `more`. */
static fby_err write_limited(
    struct fby_photo photo, uint64_t more, struct fby_error_detail *why)
{
    static uint8_t              pixels[32 * 32 * 3];
    struct fby_transform_limits limits  = {1, fby_shared_quota_create(more)};
    struct fby_transform       *limited = fby_transform_create(&limits);
    struct fby_field_content    field   = crop_field(32);
    photo.width                         = 96;
    photo.height                        = 64;
    struct fby_buffer    file           = photo_file(photo);
    struct fby_field_job job            = {
                   .field = &field, .bytes = file.data, .size = file.size};
    fby_err err = fby_field_write(limited, &job, pixels, why);
    assert_int_equal(fby_shared_quota_counts(limits.quota).used, 0);
    assert_int_equal(limited->decoded[0].size_bytes, 0);
    fby_transform_destroy(&limited);
    fby_shared_quota_destroy(&limits.quota);
    fby_buffer_fini(&file);
    return err;
}

static void a_picture_takes_no_more_memory_than_it_may(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    assert_ok(write_limited((struct fby_photo){.number = 1}, 1 << 20, NULL));
    assert_int_equal(write_limited((struct fby_photo){.number = 1},
                         UINT64_C(96) * 64 * 3, &why),
        FBY_FULL);
    assert_says(&why, "--memory");
}

static void bytes_of_fields_are_those_of_their_values(void **state)
{
    (void)state;
    struct fby_field_content field = plain_field(5, 7);
    assert_int_equal(fby_field_bytes(&field), 5 * 7 * 3);
    assert_int_equal(fby_field_index_bytes(&field), 0);
    field.as.rgb8.yuv420 = true;
    assert_int_equal(fby_field_bytes(&field), 5 * 7 + 2 * 3 * 4);
    struct fby_field_content sparse = {.decode = FBY_DECODE_SPARSE,
        .wire_type                             = FBY_F32,
        .max_length                            = 6,
        .shape                                 = {2, {3, 100}}};
    assert_int_equal(fby_field_bytes(&sparse), 6 * 4);
    assert_int_equal(fby_field_index_bytes(&sparse), 6 * 2);
    sparse.shape = (struct fby_shape){4, {16, 16, 16, 17}};
    assert_int_equal(fby_field_index_bytes(&sparse), 6 * 4);
    sparse.shape = (struct fby_shape){1, {256}};
    assert_int_equal(fby_field_index_bytes(&sparse), 6);
    struct fby_field_content array = {.decode = FBY_DECODE_ARRAY,
        .wire_type                            = FBY_I64,
        .shape                                = {4, {2, 3, 5, 7}}};
    assert_int_equal(fby_field_bytes(&array), 8 * 2 * 3 * 5 * 7);
}

/* ---- plans --------------------------------------------------------------- */

static void ops_make_pictures_up_to_the_most_pixels(void **state)
{
    (void)state;
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 16, .height = 16});
    for (uint32_t width = 8191; width <= 8193; width++) {
        struct fby_field_content field = plain_field(8, 8);
        struct fby_field_job     job   = job_of(&field, &file);
        struct fby_field_plan    plan;
        struct fby_error_detail  why = {{0}};
        field.n_ops                  = 2;
        field.ops[0]                 = resize_to(8192, width);
        field.ops[1]                 = crop_to(8, 8);
        assert_int_equal(fby_field_plan(&job, &plan, &why),
            width <= 8192 ? FBY_OK : FBY_BAD_SAMPLE);
        assert_string_equal(why.text,
            width <= 8192
                ? ""
                : "resize makes a picture of 8193 x 8192 pixels; at most "
                  "67108864 are allowed");
        if (width > 8192) {
            uint8_t pixels[8 * 8 * FBY_RGB];
            assert_int_equal(
                fby_field_write(transform, &job, pixels, NULL), FBY_BAD_SAMPLE);
        }
    }
    fby_buffer_fini(&file);
}

/* A border makes the picture larger after the op's own scaling. */
static void steps_make_pictures_up_to_the_most_pixels(void **state)
{
    (void)state;
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 16, .height = 16});
    for (int64_t more = 4088; more <= 4089; more++) {
        struct fby_field_content field = plain_field(8, 8);
        struct fby_field_job     job   = job_of(&field, &file);
        struct fby_field_plan    plan;
        struct fby_error_detail  why = {{0}};
        field.n_ops                  = 2;
        field.ops[0] = (struct fby_op_use){.op = fby_op_named("pad"),
            .params                            = {
                                           {.n = 4, .i = {4088, 4088, more, 4088}}, {.n = 1}, {.n = 1}}};
        field.ops[1] = crop_to(8, 8);
        assert_int_equal(fby_field_plan(&job, &plan, &why),
            more == 4088 ? FBY_OK : FBY_BAD_SAMPLE);
        assert_true(more == 4088 ||
                    strstr(why.text, "pad makes a picture of 8193 x 8192"));
    }
    fby_buffer_fini(&file);
}

static void a_plan_ends_with_the_field_s_size(void **state)
{
    (void)state;
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 40, .height = 30});
    static const uint32_t sizes[][2] = {{40, 30}, {40, 31}, {41, 30}, {30, 40}};
    for (size_t i = 0; i < 4; i++) {
        struct fby_field_content field = plain_field(sizes[i][0], sizes[i][1]);
        struct fby_field_job     job   = job_of(&field, &file);
        struct fby_field_plan    plan;
        char                     text[200] = "";
        struct fby_error_detail  why       = {{0}};
        assert_int_equal(fby_field_plan(&job, &plan, &why),
            i == 0 ? FBY_OK : FBY_BAD_SAMPLE);
        assert_int_equal(plan.width, 40);
        assert_int_equal(plan.height, 30);
        assert_int_equal(plan.n_ops, 0);
        if (i > 0) {
            snprintf(text, sizeof(text),
                "the ops make 40 x 30 pixels of this picture, the field has %u "
                "x %u",
                sizes[i][0], sizes[i][1]);
        }
        assert_string_equal(why.text, text);
    }
    fby_buffer_fini(&file);
}

/* ---- decoded smaller ----------------------------------------------------- */

static uint32_t right_unit(const struct fby_pass *pass, uint32_t times)
{
    for (uint32_t unit = 8; unit > 1; unit /= 2) {
        if (pass->box.w / unit >= times * pass->to.w &&
            pass->box.h / unit >= times * pass->to.h) {
            return unit;
        }
    }
    return 1;
}

static void a_unit_leaves_a_box_so_many_times_as_large(void **state)
{
    (void)state;
    for (uint32_t w = 1; w <= 100; w++) {
        for (uint32_t h = 1; h <= 100; h++) {
            for (uint32_t times = 1; times <= 2; times++) {
                const struct fby_pass pass = {
                    .box = {3, 5, w, h}, .to = {6, 5}};
                assert_int_equal(fby_pass_largest_unit(&pass, times),
                    right_unit(&pass, times));
            }
        }
    }
}

/* `side` x `side` pixels of the file decoded smaller by `unit`. */
static void write_scaled(const struct fby_buffer *file, uint32_t side,
    enum fby_dct_scale scale, uint8_t *pixels)
{
    struct fby_field_content field = plain_field(side, side);
    struct fby_field_job     job   = job_of(&field, file);
    field.as.rgb8.dct_scale        = scale;
    field.n_ops                    = 1;
    field.ops[0]                   = resize_to(side, side);
    assert_ok(fby_field_write(transform, &job, pixels, NULL));
}

/* 320 pixels to 40: FAITHFUL leaves twice the result and more, FAST exactly it.
 * 79 pixels in one direction may not be halved. */
static void each_scale_decodes_as_small_as_it_may(void **state)
{
    (void)state;
    enum { SIDE = 40 };
    static uint8_t    out[3][SIDE * SIDE * FBY_RGB];
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 320, .height = 320});
    struct fby_buffer small =
        photo_file((struct fby_photo){.width = 2 * SIDE - 1, .height = 320});
    for (int i = 0; i < 3; i++) {
        write_scaled(
            &file, SIDE, (enum fby_dct_scale)(FBY_DCT_OFF + i), out[i]);
    }
    assert_memory_not_equal(out[0], out[1], sizeof(out[0]));
    assert_memory_not_equal(out[0], out[2], sizeof(out[0]));
    assert_memory_not_equal(out[1], out[2], sizeof(out[0]));
    for (int i = 0; i < 3; i++) {
        write_scaled(
            &small, SIDE, (enum fby_dct_scale)(FBY_DCT_OFF + i), out[i]);
    }
    assert_memory_equal(out[0], out[1], sizeof(out[0]));
    assert_memory_equal(out[0], out[2], sizeof(out[0]));
    fby_buffer_fini(&file);
    fby_buffer_fini(&small);
}

/* ---- passes -------------------------------------------------------------- */

static uint32_t passes_of(const struct fby_op_plan *plans, uint32_t n)
{
    struct fby_passes passes;
    uint32_t          bad = 99;
    assert_true(
        fby_passes_plan(plans, n, (struct fby_size){40, 30}, &passes, &bad));
    assert_int_equal(bad, 99);
    return passes.n;
}

/* Crop, scale, mirror, crop; then scale again; then a step and a crop. */
static void ops_are_as_few_passes_as_can_be(void **state)
{
    (void)state;
    static const struct fby_op_plan plans[] = {
        {5, 4, 20, 20, 20, 20, false, 0, {{0}}},
        {0, 0, 20, 20, 33, 31, false, 0, {{0}}},
        {0, 0, 33, 31, 33, 31, true, 0, {{0}}},
        {1, 2, 30, 28, 30, 28, false, 0, {{0}}},
        {0, 0, 30, 28, 10, 10, false, 0, {{0}}},
        {0, 0, 10, 10, 10, 10, false, 1, {{.kind = FBY_STEP_GREY}}},
        {0, 0, 10, 10, 10, 10, false, 0, {{0}}},
        {1, 1, 8, 8, 8, 8, false, 0, {{0}}},
        {0, 0, 8, 8, 16, 16, true, 0, {{0}}},
    };
    static const uint32_t right[] = {1, 1, 1, 1, 2, 2, 2, 3, 3};
    for (uint32_t n = 1; n <= sizeof(plans) / sizeof(*plans); n++) {
        assert_int_equal(passes_of(plans, n), right[n - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_crop_shows_the_label_of_its_picture),
        cmocka_unit_test(values_depend_on_seed_epoch_and_sample_alone),
        cmocka_unit_test(the_plan_tells_what_the_pixels_show),
        cmocka_unit_test(a_crop_of_a_scaled_picture_is_that_of_the_whole),
        cmocka_unit_test(a_picture_too_small_for_its_crop_is_a_bad_sample),
        cmocka_unit_test(a_picture_takes_no_more_memory_than_it_may),
        cmocka_unit_test(exactly_what_is_needed_is_reserved),
        cmocka_unit_test(bytes_of_fields_are_those_of_their_values),
        cmocka_unit_test(ops_make_pictures_up_to_the_most_pixels),
        cmocka_unit_test(steps_make_pictures_up_to_the_most_pixels),
        cmocka_unit_test(a_plan_ends_with_the_field_s_size),
        cmocka_unit_test(a_unit_leaves_a_box_so_many_times_as_large),
        cmocka_unit_test(each_scale_decodes_as_small_as_it_may),
        cmocka_unit_test(ops_are_as_few_passes_as_can_be),
    };
    return cmocka_run_group_tests_name("worker.transform.field_picture", tests,
        open_transform, close_transform);
}
