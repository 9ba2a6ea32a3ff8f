/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/worker/transform/pictures.h"

static struct fby_scratch scratch;

static int give_back(void **state)
{
    (void)state;
    fby_scratch_fini(&scratch);
    return 0;
}

static struct fby_image decoded(struct fby_photo photo)
{
    struct fby_buffer       file  = photo_file(photo);
    struct fby_picture_file jpeg  = as_jpeg(&file);
    struct fby_image        image = {0};
    assert_ok(
        fby_picture_decode(&fby_jpeg_picture, &jpeg, &scratch, &image, NULL));
    fby_buffer_fini(&file);
    return image;
}

static void a_decoded_picture_says_its_number_and_label(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        struct fby_image image =
            decoded((struct fby_photo){.number = i * 400009 % FBY_PHOTO_NUMBERS,
                .label                         = i % FBY_PHOTO_LABELS,
                .progressive                   = i % 3 == 0,
                .quality                       = i % 4 == 0 ? 30 : 0});
        uint32_t number = 0;
        uint32_t label  = 99;
        assert_true(fby_photo_read_number(&image, &number));
        assert_int_equal(number, i * 400009 % FBY_PHOTO_NUMBERS);
        assert_true(fby_photo_read_label(&image, &label));
        assert_int_equal(label, i % FBY_PHOTO_LABELS);
    }
}

static void any_part_of_a_picture_says_its_label(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        struct fby_image image =
            decoded((struct fby_photo){.number = 900 + i, .label = i});
        for (uint32_t y = 0; y + 32 <= image.height; y += 32) {
            for (uint32_t x = 0; x + 32 <= image.width; x += 32) {
                struct fby_image part  = part_of(image, x, y, 32, 32);
                uint32_t         label = 99;
                assert_true(fby_photo_read_label(&part, &label));
                assert_int_equal(label, i);
            }
        }
    }
}

static void the_same_number_is_the_same_file(void **state)
{
    (void)state;
    struct fby_photo  photo = {.number = 5, .label = 2};
    struct fby_buffer a     = photo_file(photo);
    struct fby_buffer b     = photo_file(photo);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    photo.number++;
    struct fby_buffer c = photo_file(photo);
    assert_true(a.size != c.size || memcmp(a.data, c.data, a.size) != 0);
    fby_buffer_fini(&a);
    fby_buffer_fini(&b);
    fby_buffer_fini(&c);
}

static void sizes_differ_among_numbers(void **state)
{
    (void)state;
    uint32_t landscape = 0;
    uint32_t portrait  = 0;
    for (uint32_t i = 0; i < 20; i++) {
        struct fby_image image = decoded((struct fby_photo){.number = i});
        landscape += image.width > image.height;
        portrait += image.width < image.height;
        assert_in_range(image.width, 100, 640);
        assert_in_range(image.height, 100, 640);
    }
    assert_true(landscape > 2);
    assert_true(portrait > 2);
}

static void a_picture_of_something_else_has_no_number_and_no_label(void **state)
{
    (void)state;
    uint32_t         out   = 0;
    struct fby_image noise = new_picture(200, 150);
    assert_false(fby_photo_read_number(&noise, &out));
    assert_false(fby_photo_read_label(&noise, &out));
    struct fby_image small = part_of(noise, 0, 0, 20, 4);
    assert_false(fby_photo_read_number(&small, &out));
    free(noise.pixels);
}

static void what_is_out_of_range_is_refused(void **state)
{
    (void)state;
    static const struct fby_photo wrong[] = {{.number = FBY_PHOTO_NUMBERS},
        {.label = FBY_PHOTO_LABELS}, {.quality = 101}, {.orientation = 9},
        {.width = 10}, {.width = 10, .height = FBY_PHOTO_MAX_SIDE + 1}};
    struct fby_buffer             out     = {0};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(fby_photo_write(&wrong[i], &out), FBY_USAGE);
    }
    assert_int_equal(out.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decoded_picture_says_its_number_and_label),
        cmocka_unit_test(any_part_of_a_picture_says_its_label),
        cmocka_unit_test(the_same_number_is_the_same_file),
        cmocka_unit_test(sizes_differ_among_numbers),
        cmocka_unit_test(
            a_picture_of_something_else_has_no_number_and_no_label),
        cmocka_unit_test(what_is_out_of_range_is_refused),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.photos", tests, NULL, give_back);
}
