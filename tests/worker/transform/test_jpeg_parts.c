/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/worker/transform/pictures.h"

#include "worker/transform/self_check/jpeg_parts.h"

static void the_installed_library_passes(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    assert_ok(fby_jpeg_parts_check(&why));
    assert_string_equal(why.text, "");
}

/* A library that is wrong in the last column of parts, as one release was. */
static const struct fby_picture_sink *told;

static void one_row_wrong(void *arg, const struct fby_image *rows)
{
    (void)arg;
    uint8_t *last = rows->pixels + (size_t)(rows->width - 1) * FBY_RGB;
    last[0] ^= rows->width < 43 ? 1U : 0U;
    told->rows(told->arg, rows);
}

static fby_err wrong_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_error_detail *why)
{
    struct fby_picture_sink wrong = {sink->head, one_row_wrong, sink->arg};
    told                          = sink;
    return fby_jpeg_picture.stream(file, &wrong, scratch, why);
}

static void a_pixel_that_differs_in_a_part_fails_it(void **state)
{
    (void)state;
    struct fby_error_detail    why    = {{0}};
    struct fby_buffer          file   = photo_file((struct fby_photo){
                   .width = 43, .height = 39, .sampling = FBY_PHOTO_444});
    struct fby_picture_file    jpeg   = as_jpeg(&file);
    struct fby_picture_decoder broken = fby_jpeg_picture;
    broken.stream                     = wrong_stream;
    assert_ok(fby_jpeg_parts_check_file(&jpeg, &fby_jpeg_picture, &why));
    assert_int_equal(
        fby_jpeg_parts_check_file(&jpeg, &broken, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "libjpeg decodes a part"));
    assert_non_null(strstr(why.text, "of 43 x 39"));
    fby_buffer_fini(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_installed_library_passes),
        cmocka_unit_test(a_pixel_that_differs_in_a_part_fails_it),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.self_test", tests, NULL, NULL);
}
