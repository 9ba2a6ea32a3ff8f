/* SPDX-License-Identifier: Apache-2.0 */
/* A crop after scaling: only the pixels that the crop needs are decoded. */
#include "tests/worker/transform/pictures.h"
#include "tests/worker/transform/transform.h"

#include "worker/transform/field.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/transform_private.h"

static struct fby_value side_of(uint32_t height, uint32_t width)
{
    return (struct fby_value){.n = 2, .i = {height, width}};
}

enum { RESIZE, FLIP, CROP, N_OPS, MAX_SIDE = 90 };

/* Scaled to `scaled`, mirrored at random, `kept` of it cropped at random. */
static struct fby_field_content field_of(
    enum fby_decode decode, struct fby_size scaled, struct fby_size kept)
{
    struct fby_field_content field = {.name = "f",
        .group                              = "f",
        .decode                             = decode,
        .wire_type                          = FBY_U8,
        .n_from                             = 1,
        .n_ops                              = N_OPS};
    strcpy(field.from[0], "png");
    field.shape = (struct fby_shape){
        3, {kept.h, kept.w, decode == FBY_DECODE_RGB8 ? FBY_RGB : 1}};
    field.ops[RESIZE] = (struct fby_op_use){.op = fby_op_named("resize"),
        .params = {{.n = 0}, side_of(scaled.h, scaled.w)}};
    field.ops[FLIP] = (struct fby_op_use){.op = fby_op_named("horizontal_flip"),
        .params = {{.n = 1, .real = true, .r = {0.5}}}};
    field.ops[CROP] = (struct fby_op_use){
        .op = fby_op_named("random_crop"), .params = {side_of(kept.h, kept.w)}};
    return field;
}

/* The same without the crop. */
static struct fby_field_content uncropped(
    const struct fby_field_content *field, struct fby_size scaled)
{
    struct fby_field_content all = *field;
    all.n_ops                    = CROP;
    all.shape.dims[0]            = scaled.h;
    all.shape.dims[1]            = scaled.w;
    return all;
}

static struct fby_field_job job_of(const struct fby_field_content *field,
    struct fby_picture_file file, uint64_t sample)
{
    return (struct fby_field_job){.field = field,
        .bytes                           = file.bytes,
        .size                            = file.size,
        .seed                            = 11,
        .sample                          = sample};
}

static void write_ok(const struct fby_field_job *job, uint8_t *pixels)
{
    struct fby_error_detail why = {{0}};
    if (fby_field_write(transform, job, pixels, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

/* The crop's pixels are those of the whole scaled picture in its box. */
static void assert_crop_of_whole(const struct fby_field_content *field,
    struct fby_size scaled, struct fby_picture_file file, uint64_t sample)
{
    static uint8_t           part[MAX_SIDE * MAX_SIDE * FBY_RGB];
    static uint8_t           whole[MAX_SIDE * MAX_SIDE * FBY_RGB];
    struct fby_field_content all      = uncropped(field, scaled);
    struct fby_field_job     job      = job_of(field, file, sample);
    struct fby_field_job     whole_of = job_of(&all, file, sample);
    size_t                   channels = field->shape.dims[2];
    size_t                   row      = field->shape.dims[1] * channels;
    struct fby_field_plan    plan;
    assert_ok(fby_field_plan(&job, &plan, NULL));
    write_ok(&job, part);
    write_ok(&whole_of, whole);
    const struct fby_op_plan *crop = &plan.plans[CROP];
    for (uint32_t y = 0; y < crop->h; y++) {
        size_t at = ((size_t)(crop->y + y) * scaled.w + crop->x) * channels;
        assert_memory_equal(part + y * row, whole + at, row);
    }
}

static struct fby_size random_size(uint32_t *state, struct fby_size most)
{
    return (struct fby_size){
        1 + below(state, most.w), 1 + below(state, most.h)};
}

static void ten_thousand_crops_are_those_of_the_scaled_picture(void **state)
{
    (void)state;
    const struct fby_size most   = {MAX_SIDE, MAX_SIDE};
    struct fby_buffer     file   = {0};
    uint32_t              random = 8;
    for (uint64_t i = 0; i < 10000; i++) {
        if (i % 20 == 0) {
            fby_buffer_fini(&file);
            file = photo_file(random_photo(&random, i % 3 == 0));
        }
        struct fby_size          scaled = random_size(&random, most);
        struct fby_size          kept   = random_size(&random, scaled);
        struct fby_field_content field =
            field_of(FBY_DECODE_RGB8, scaled, kept);
        field.as.rgb8.dct_scale = (enum fby_dct_scale)(1 + below(&random, 3));
        assert_crop_of_whole(&field, scaled, as_jpeg(&file), i);
    }
    fby_buffer_fini(&file);
}

static void crops_of_png_files_and_masks_are_right_too(void **state)
{
    (void)state;
    const struct fby_size most   = {MAX_SIDE, MAX_SIDE};
    uint32_t              random = 9;
    for (uint64_t i = 0; i < 500; i++) {
        struct fby_size         scaled = random_size(&random, most);
        struct fby_size         kept   = random_size(&random, scaled);
        struct fby_picture_file file   = fby_png_probes[i % fby_n_png_probes];
        for (int mask = 0; mask < 2; mask++) {
            struct fby_field_content field = field_of(
                mask ? FBY_DECODE_MASK8 : FBY_DECODE_RGB8, scaled, kept);
            struct fby_field_job  job = job_of(&field, file, i);
            struct fby_field_plan plan;
            if (fby_field_plan(&job, &plan, NULL) == FBY_OK) {
                assert_crop_of_whole(&field, scaled, file, i);
            }
        }
    }
}

/* Crop of 40 x 40 in the middle of 80 x 160 rows; the file's end is lost. */
static fby_err write_cut(struct fby_photo photo, uint8_t *pixels)
{
    struct fby_field_content field = field_of(
        FBY_DECODE_RGB8, (struct fby_size){80, 160}, (struct fby_size){40, 40});
    struct fby_buffer file   = photo_file(photo);
    file.size                = file.size * 17 / 20;
    field.ops[CROP].op       = fby_op_named("center_crop");
    struct fby_field_job job = job_of(&field, as_jpeg(&file), 0);
    fby_err              err = fby_field_write(transform, &job, pixels, NULL);
    fby_buffer_fini(&file);
    return err;
}

static void decoding_ends_after_the_last_row_that_is_needed(void **state)
{
    (void)state;
    uint8_t          pixels[40 * 40 * FBY_RGB];
    struct fby_photo photo = {.number = 1, .width = 160, .height = 320};
    assert_ok(write_cut(photo, pixels));
    photo.progressive = true; /* all scans are needed for any row */
    assert_int_equal(write_cut(photo, pixels), FBY_BAD_SAMPLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_crops_are_those_of_the_scaled_picture),
        cmocka_unit_test(crops_of_png_files_and_masks_are_right_too),
        cmocka_unit_test(decoding_ends_after_the_last_row_that_is_needed),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.window", tests, open_transform, close_transform);
}
