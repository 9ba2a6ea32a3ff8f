/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of Y, Cb and Cr, compared with a reference: the whole file decoded by
 * libjpeg, plane by plane, and sums over 2 x 2 pixels in plain loops. */
#include "tests/worker/transform/pictures.h"
#include "tests/worker/transform/transform.h"

#include <stdio.h>
/* after stdio.h */
#include <jpeglib.h>

#include "common/yuv420.h"
#include "worker/transform/field.h"
#include "worker/transform/orient.h"
#include "worker/transform/picture_format.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/yuv.h"

/* ---- the reference ---- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Level `c` of the pixel, or of the last one before the edge. */
static uint32_t level(
    const struct fby_image *picture, uint32_t x, uint32_t y, uint32_t c)
{
    x = least(x, picture->width - 1);
    y = least(y, picture->height - 1);
    return pixel_at(picture, x, y)[c];
}

static void add_plane(struct fby_buffer *out, const struct fby_image *picture,
    uint32_t from, uint32_t c)
{
    uint32_t step  = c == 0 ? 1 : 2;
    uint32_t lines = least(picture->height - from, 32);
    for (uint32_t y = from; y < from + lines; y += step) {
        for (uint32_t x = 0; x < picture->width; x += step) {
            uint32_t right = x + step / 2;
            uint32_t below = y + step / 2;
            uint32_t sum =
                level(picture, x, y, c) + level(picture, right, y, c) +
                level(picture, x, below, c) + level(picture, right, below, c);
            uint8_t value = (uint8_t)((sum + 2) / 4);
            fby_put_bytes(out, &value, 1);
        }
    }
}

static struct fby_buffer planes_of(const struct fby_image *picture)
{
    struct fby_buffer out = {0};
    for (uint32_t y = 0; y < picture->height; y += 32) {
        for (uint32_t c = 0; c < 3; c++) {
            add_plane(&out, picture, y, c);
        }
    }
    return out;
}

/* All of a JPEG as Y, Cb, Cr. */
static struct fby_image decode(struct fby_picture_file file)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr         errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file.bytes, file.size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space    = JCS_YCbCr;
    jpeg.dct_method         = JDCT_ISLOW;
    jpeg.do_block_smoothing = FALSE;
    jpeg_start_decompress(&jpeg);
    struct fby_image out = new_picture(jpeg.output_width, jpeg.output_height);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = out.pixels + jpeg.output_scanline * out.stride;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return out;
}

/* ---- fields ---- */

static struct fby_field_content yuv_field(uint32_t width, uint32_t height)
{
    struct fby_field_content field = {
        .name = "f", .group = "f", .from = {"png"}, .n_from = 1};
    field.decode            = FBY_DECODE_RGB8;
    field.as.rgb8.dct_scale = FBY_DCT_OFF;
    field.wire_type         = FBY_U8;
    field.as.rgb8.yuv420    = true;
    field.shape             = (struct fby_shape){3, {height, width, 3}};
    return field;
}

/* Exactly the field's bytes. */
static struct fby_buffer write_field(
    const struct fby_field_content *field, struct fby_picture_file file)
{
    struct fby_field_job job = {
        .field = field, .bytes = file.bytes, .size = file.size};
    struct fby_error_detail why = {0};
    size_t                  n   = fby_field_bytes(field);
    struct fby_buffer       out = {0};
    uint8_t                *raw = malloc(n);
    if (fby_field_write(transform, &job, raw, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    fby_put_bytes(&out, raw, n);
    free(raw);
    return out;
}

static void assert_same_bytes(struct fby_buffer *a, struct fby_buffer *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
    fby_buffer_fini(a);
    fby_buffer_fini(b);
}

/* ---- tests ---- */

static void colours_become_those_of_jfif(void **state)
{
    (void)state;
    static const uint8_t known[][6] = {{0, 0, 0, 0, 128, 128},
        {255, 255, 255, 255, 128, 128}, {255, 0, 0, 76, 85, 255},
        {0, 255, 0, 150, 44, 21}, {0, 0, 255, 29, 255, 107},
        {9, 9, 9, 9, 128, 128}, {200, 30, 90, 88, 129, 208}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint8_t pixel[3] = {known[i][0], known[i][1], known[i][2]};
        fby_yuv_from_rgb(pixel, 1);
        assert_memory_equal(pixel, known[i] + 3, 3);
    }
}

static void planes_of_any_size_are_means_of_their_pixels(void **state)
{
    (void)state;
    for (uint32_t side = 1; side < 75; side++) {
        struct fby_image  picture = new_picture(side, 75 - side);
        size_t            bytes   = (size_t)fby_yuv_bytes(side, 75 - side);
        uint8_t          *raw     = malloc(bytes);
        struct fby_buffer planes  = planes_of(&picture);
        fby_yuv_write_planes(&picture, raw);
        assert_int_equal(planes.size, bytes);
        assert_memory_equal(raw, planes.data, bytes);
        fby_buffer_fini(&planes);
        free(raw);
        free(picture.pixels);
    }
}

static void strips_lie_one_after_another(void **state)
{
    (void)state;
    struct fby_yuv_strip first = fby_yuv_strip_at(7, 35, 31);
    struct fby_yuv_strip last  = fby_yuv_strip_at(7, 35, 34);
    assert_int_equal(first.lines, 32);
    assert_int_equal(first.at[1], 7 * 32);
    assert_int_equal(first.at[2], 7 * 32 + 4 * 16);
    assert_int_equal(last.at[0], 7 * 32 + 2 * 4 * 16);
    assert_int_equal(last.lines, 3);
    assert_int_equal(last.at[2], last.at[0] + 29);
    assert_int_equal(fby_yuv_bytes(7, 35), last.at[2] + 8);
}

/* All of a JPEG as Y, Cb, Cr, upright. */
static struct fby_image upright(
    const struct fby_photo *photo, struct fby_picture_file file)
{
    bool             turns  = fby_orientation_turns(photo->orientation);
    struct fby_image stored = decode(file);
    struct fby_image out    = new_picture(turns ? stored.height : stored.width,
        turns ? stored.width : stored.height);
    fby_orient_rows(&stored, 0, photo->orientation, &out);
    free(stored.pixels);
    return out;
}

/* A photo that stores Y, Cb and Cr, its file, and all of it. */
struct photo {
    struct fby_buffer file;
    struct fby_image  whole;
};

static struct photo next_photo(uint32_t *draw)
{
    struct fby_photo photo = random_photo(draw, true);
    while (photo.sampling == FBY_PHOTO_GREY) {
        photo = random_photo(draw, true);
    }
    struct photo out = {.file = photo_file(photo)};
    out.whole        = upright(&photo, as_jpeg(&out.file));
    return out;
}

static void drop(struct photo *photo)
{
    free(photo->whole.pixels);
    fby_buffer_fini(&photo->file);
}

static void a_jpeg_gives_the_planes_that_it_stores(void **state)
{
    (void)state;
    uint32_t draw = 5;
    for (int i = 0; i < 120; i++) {
        struct photo             photo = next_photo(&draw);
        struct fby_buffer        want  = planes_of(&photo.whole);
        struct fby_field_content field =
            yuv_field(photo.whole.width, photo.whole.height);
        struct fby_buffer got = write_field(&field, as_jpeg(&photo.file));
        assert_same_bytes(&got, &want);
        drop(&photo);
    }
}

static struct fby_op_use crop_of(uint32_t width, uint32_t height)
{
    return (struct fby_op_use){.op = fby_op_by_id(FBY_OP_RANDOM_CROP),
        .params                    = {{.n = 2, .i = {height, width}}}};
}

static void a_part_is_that_of_the_whole_picture_at_any_offset(void **state)
{
    (void)state;
    uint32_t draw = 11;
    for (int i = 0; i < 120; i++) {
        struct photo             photo = next_photo(&draw);
        uint32_t                 w     = 1 + below(&draw, photo.whole.width);
        uint32_t                 h     = 1 + below(&draw, photo.whole.height);
        struct fby_field_plan    plan;
        struct fby_field_content field = yuv_field(w, h);
        struct fby_field_job     job   = {
                  .field = &field,
                  .bytes = photo.file.data,
                  .size  = photo.file.size,
        };
        field.ops[field.n_ops++] = crop_of(w, h);
        assert_ok(fby_field_plan(&job, &plan, NULL));
        struct fby_image part =
            part_of(photo.whole, plan.plans[0].x, plan.plans[0].y, w, h);
        struct fby_buffer want = planes_of(&part);
        struct fby_buffer got  = write_field(&field, as_jpeg(&photo.file));
        assert_same_bytes(&got, &want);
        drop(&photo);
    }
}

static void grey_has_its_levels_in_y_and_no_colour(void **state)
{
    (void)state;
    struct fby_buffer        file   = photo_file((struct fby_photo){
                 .number   = 3,
                 .width    = 37,
                 .height   = 41,
                 .sampling = FBY_PHOTO_GREY,
    });
    struct fby_scratch       memory = {0};
    struct fby_image         rgb    = {0};
    struct fby_field_content field  = yuv_field(37, 41);
    assert_ok(fby_picture_decode(&fby_jpeg_picture,
        &(struct fby_picture_file){file.data, file.size}, &memory, &rgb, NULL));
    for (size_t i = 0; i < (size_t)37 * 41; i++) {
        rgb.pixels[3 * i + 1] = 128;
        rgb.pixels[3 * i + 2] = 128;
    }
    struct fby_buffer want = planes_of(&rgb);
    struct fby_buffer got  = write_field(&field, as_jpeg(&file));
    assert_same_bytes(&got, &want);
    fby_scratch_fini(&memory);
    fby_buffer_fini(&file);
}

/* The planes that a field makes of a picture that is RGB during its ops. */
static void assert_converted(
    const struct fby_field_content *field, struct fby_picture_file file)
{
    struct fby_field_content plain = *field;
    plain.as.rgb8.yuv420           = false;
    struct fby_buffer rgb          = write_field(&plain, file);
    uint32_t          w            = field->shape.dims[1];
    uint32_t          h            = field->shape.dims[0];
    fby_yuv_from_rgb(rgb.data, (size_t)w * h);
    struct fby_image  picture = {rgb.data, (size_t)w * 3, w, h};
    struct fby_buffer want    = planes_of(&picture);
    struct fby_buffer got     = write_field(field, file);
    assert_same_bytes(&got, &want);
    fby_buffer_fini(&rgb);
}

static void add_op(
    struct fby_field_content *field, const struct fby_op_use *use)
{
    field->ops[field->n_ops++] = *use;
}

/* A pad of 3 with `fill`, then an erased part. */
static void add_painting(struct fby_field_content *field, int64_t fill)
{
    const struct fby_value area = {.n = 2, .real = true, .r = {0.02, 0.33}};
    const struct fby_value side = {.n = 2, .real = true, .r = {0.3, 3.3}};
    add_op(field, &(struct fby_op_use){.op = fby_op_by_id(FBY_OP_PAD),
                      .params              = {{.n = 4, .i = {3, 3, 3, 3}},
                                       {.n = 1, .i = {fill}}, {.n = 1}}});
    add_op(
        field, &(struct fby_op_use){.op = fby_op_by_id(FBY_OP_RANDOM_ERASING),
                   .params = {{.n = 1, .real = true, .r = {1}}, area, side,
                       {.n = 3, .i = {200, 30, 90}}}});
    field->shape.dims[0] += 6;
    field->shape.dims[1] += 6;
}

static void a_png_is_converted_when_its_ops_are_done(void **state)
{
    (void)state;
    uint32_t tried = 0;
    for (size_t i = 0; i < fby_n_png_probes; i++) {
        struct fby_picture_head           head;
        const struct fby_picture_decoder *decoder;
        struct fby_field_content          field = yuv_field(1, 1);
        assert_ok(fby_picture_decoder_for(
            &field, &fby_png_probes[i], &decoder, NULL));
        if (decoder->head(&fby_png_probes[i], &head, NULL) == FBY_OK) {
            field = yuv_field(head.width, head.height);
            assert_converted(&field, fby_png_probes[i]);
            add_painting(&field, 40);
            assert_converted(&field, fby_png_probes[i]);
            tried++;
        }
    }
    assert_true(tried > 3);
}

static const uint8_t *y_of(
    const struct fby_field_content *field, const uint8_t *raw, uint32_t y)
{
    uint32_t w = field->shape.dims[1];
    return raw + fby_yuv_strip_at(w, field->shape.dims[0], y).at[0] +
           (size_t)(y % 32) * w;
}

static void what_ops_paint_has_the_colour_of_jfif(void **state)
{
    (void)state;
    struct fby_buffer        file  = photo_file((struct fby_photo){
                .number   = 3,
                .width    = 20,
                .height   = 20,
                .sampling = FBY_PHOTO_444,
    });
    struct fby_field_content field = yuv_field(20, 20);
    add_painting(&field, 40);
    struct fby_buffer raw = write_field(&field, as_jpeg(&file));

    struct fby_yuv_strip strip  = fby_yuv_strip_at(26, 26, 0);
    size_t               erased = 0;
    assert_int_equal(y_of(&field, raw.data, 0)[0], 40);
    assert_int_equal(raw.data[strip.at[1]], 128);
    assert_int_equal(raw.data[strip.at[2]], 128);
    for (size_t i = 0; i < 169; i++) {
        erased += raw.data[strip.at[1] + i] == 129 &&
                  raw.data[strip.at[2] + i] == 208;
    }
    assert_true(erased > 0);
    fby_buffer_fini(&raw);
    fby_buffer_fini(&file);
}

/* A flip of a picture with an even width is the flip of its planes. */
static void mirrors_act_on_each_plane(void **state)
{
    (void)state;
    struct fby_buffer        file  = photo_file((struct fby_photo){
                .number   = 7,
                .width    = 22,
                .height   = 16,
                .sampling = FBY_PHOTO_420,
    });
    struct fby_field_content field = yuv_field(22, 16);
    struct fby_buffer        plain = write_field(&field, as_jpeg(&file));
    add_op(
        &field, &(struct fby_op_use){.op = fby_op_by_id(FBY_OP_HORIZONTAL_FLIP),
                    .params              = {{.n = 1, .real = true, .r = {1}}}});
    struct fby_buffer flipped = write_field(&field, as_jpeg(&file));
    for (uint32_t y = 0; y < 16; y++) {
        for (uint32_t x = 0; x < 22; x++) {
            assert_int_equal(
                flipped.data[y * 22 + x], plain.data[y * 22 + 21 - x]);
        }
    }
    for (uint32_t i = 0; i < 2 * 11 * 8; i++) {
        assert_int_equal(flipped.data[22 * 16 + i],
            plain.data[22 * 16 + i / 11 * 11 + 10 - i % 11]);
    }
    fby_buffer_fini(&plain);
    fby_buffer_fini(&flipped);
    fby_buffer_fini(&file);
}

static void a_damaged_file_is_a_bad_sample(void **state)
{
    (void)state;
    struct fby_field_content field = yuv_field(45, 39);
    uint8_t                  raw[4096];
    struct fby_error_detail  why = {0};
    for (size_t i = 0; i < fby_n_jpeg_probes; i++) {
        struct fby_field_job job = {.field = &field,
            .bytes                         = fby_jpeg_probes[i].bytes,
            .size                          = fby_jpeg_probes[i].size / 2};
        assert_int_equal(
            fby_field_write(transform, &job, raw, &why), FBY_BAD_SAMPLE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_become_those_of_jfif),
        cmocka_unit_test(planes_of_any_size_are_means_of_their_pixels),
        cmocka_unit_test(strips_lie_one_after_another),
        cmocka_unit_test(a_jpeg_gives_the_planes_that_it_stores),
        cmocka_unit_test(a_part_is_that_of_the_whole_picture_at_any_offset),
        cmocka_unit_test(grey_has_its_levels_in_y_and_no_colour),
        cmocka_unit_test(a_png_is_converted_when_its_ops_are_done),
        cmocka_unit_test(what_ops_paint_has_the_colour_of_jfif),
        cmocka_unit_test(mirrors_act_on_each_plane),
        cmocka_unit_test(a_damaged_file_is_a_bad_sample),
    };
    return cmocka_run_group_tests(tests, open_transform, close_transform);
}
