/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard.h"
#include "tests/worker/transform/pictures.h"

#include "worker/transform/resize/resize.h"

static struct fby_resizer resizer;

static fby_err resize(const struct fby_image *in, const struct fby_image *out)
{
    struct fby_resize_spec spec = fby_resize_spec_whole(in, out);
    return fby_resize(&resizer, in, &spec, out);
}

static int give_back(void **state)
{
    (void)state;
    fby_resizer_fini(&resizer);
    return 0;
}

static void the_same_size_is_the_same_picture(void **state)
{
    (void)state;
    struct fby_image in  = new_picture(37, 23);
    struct fby_image out = new_picture(37, 23);
    memset(out.pixels, 0, out.stride * out.height);
    assert_ok(resize(&in, &out));
    assert_same_picture(&in, &out);
    free(in.pixels);
    free(out.pixels);
}

static void one_colour_stays_one_colour_at_any_size(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 2, 3, 16, 97, 1021};
    for (size_t i = 0; i < 36; i++) {
        struct fby_image in    = new_picture(sides[i % 6], sides[5 - i / 6]);
        struct fby_image out   = new_picture(sides[i / 6], sides[i % 6]);
        uint8_t          value = (uint8_t)(i * 51);
        memset(in.pixels, value, in.stride * in.height);
        assert_ok(resize(&in, &out));
        for (size_t k = 0; k < out.stride * out.height; k++) {
            assert_int_equal(out.pixels[k], value);
        }
        free(in.pixels);
        free(out.pixels);
    }
}

static void the_longest_side_shrinks_to_a_pixel_without_overflow(void **state)
{
    (void)state;
    struct fby_image in  = new_picture(FBY_RESIZE_MAX_SIDE, 1);
    struct fby_image out = new_picture(1, 1);
    memset(in.pixels, 255, in.stride);
    assert_ok(resize(&in, &out));
    assert_memory_equal(out.pixels, "\xff\xff\xff", 3);
    free(in.pixels);
    free(out.pixels);
}

static void a_view_reads_no_pixel_around_it(void **state)
{
    (void)state;
    struct fby_image whole = new_picture(40, 30);
    struct fby_image view  = part_of(whole, 7, 5, 20, 11);
    struct fby_image a     = new_picture(9, 24);
    struct fby_image b     = new_picture(9, 24);
    assert_ok(resize(&view, &a));
    for (uint32_t y = 0; y < whole.height; y++) {
        for (uint32_t x = 0; x < whole.width; x++) {
            bool inside = x >= 7 && x < 27 && y >= 5 && y < 16;
            if (!inside) {
                whole.pixels[y * whole.stride + (size_t)x * FBY_RGB] ^= 0xff;
            }
        }
    }
    assert_ok(resize(&view, &b));
    assert_same_picture(&a, &b);
    free(whole.pixels);
    free(a.pixels);
    free(b.pixels);
}

/* The picture's bytes end where nothing may be read, those of the result where
 * nothing may be written. `gap` bytes are between rows. */
static void resizes_beside_guards(
    struct fby_size size, size_t gap, struct fby_size to)
{
    size_t           row    = (size_t)size.w * FBY_RGB;
    size_t           stride = row + gap;
    struct fby_image in     = new_picture(size.w, size.h);
    struct fby_image out    = new_picture(to.w, to.h);

    struct fby_guarded from =
        fby_guarded_copy(NULL, stride * (size.h - 1) + row);
    struct fby_guarded into  = fby_guarded_copy(NULL, out.stride * to.h);
    struct fby_image   edge  = {from.bytes, stride, size.w, size.h};
    struct fby_image   right = {into.bytes, out.stride, to.w, to.h};
    for (uint32_t y = 0; y < size.h; y++) {
        memcpy(from.bytes + y * stride, in.pixels + y * in.stride, row);
    }
    assert_ok(resize(&edge, &right));
    assert_ok(resize(&in, &out));
    assert_same_picture(&out, &right);
    fby_guarded_free(&from);
    fby_guarded_free(&into);
    free(in.pixels);
    free(out.pixels);
}

static void rows_at_the_end_of_memory_are_read_no_further(void **state)
{
    (void)state;
    uint32_t random = 5;
    for (int i = 0; i < 1500; i++) {
        struct fby_size size = {1 + below(&random, 60), 1 + below(&random, 12)};
        struct fby_size to   = {1 + below(&random, 60), 1 + below(&random, 20)};
        size_t          gap  = (size_t)below(&random, 3) * 31;
        to.w                 = i % 4 == 0 ? size.w : to.w;
        to.h                 = i % 8 == 0 ? size.h : to.h;
        resizes_beside_guards(size, gap, to);
    }
}

static void a_result_may_be_a_view_too(void **state)
{
    (void)state;
    struct fby_image in    = new_picture(31, 17);
    struct fby_image whole = new_picture(20, 20);
    struct fby_image alone = new_picture(8, 6);
    struct fby_image view  = part_of(whole, 4, 3, 8, 6);
    uint8_t          before[FBY_RGB];
    memcpy(before, pixel_at(&whole, 12, 3), FBY_RGB);
    assert_ok(resize(&in, &alone));
    assert_ok(resize(&in, &view));
    assert_same_picture(&alone, &view);
    assert_memory_equal(before, pixel_at(&whole, 12, 3), FBY_RGB);
    free(in.pixels);
    free(whole.pixels);
    free(alone.pixels);
}

static void a_warm_resizer_takes_no_more_memory(void **state)
{
    (void)state;
    struct fby_image in  = new_picture(64, 48);
    struct fby_image out = new_picture(30, 30);
    assert_ok(resize(&in, &out));
    struct fby_scratch warm = resizer.memory;
    for (uint32_t w = 30; w > 0; w--) {
        struct fby_image part = part_of(out, 0, 0, w, w);
        struct fby_image from = part_of(in, 0, 0, 2 * w, w);
        assert_ok(resize(&from, &part));
    }
    assert_memory_equal(&warm, &resizer.memory, sizeof(warm));
    free(in.pixels);
    free(out.pixels);
}

static void sides_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct fby_image one   = new_picture(1, 1);
    struct fby_image none  = {one.pixels, 3, 0, 1};
    struct fby_image large = {one.pixels, 3, 1, FBY_RESIZE_MAX_SIDE + 1};
    assert_int_equal(resize(&none, &one), FBY_USAGE);
    assert_int_equal(resize(&one, &none), FBY_USAGE);
    assert_int_equal(resize(&large, &one), FBY_USAGE);
    assert_int_equal(resize(&one, &large), FBY_USAGE);
    free(one.pixels);
}

static void rows_beyond_the_limit_are_not_taken(void **state)
{
    (void)state;
    struct fby_image one  = new_picture(1, 1);
    struct fby_image tall = {one.pixels, 3, 1, 65535};
    struct fby_image wide = {one.pixels, 0, 65535, 1};
    assert_int_equal(resize(&tall, &wide), FBY_FULL);
    assert_int_equal(resizer.memory.size_bytes, 0);
    free(one.pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_same_size_is_the_same_picture, give_back),
        cmocka_unit_test_teardown(
            one_colour_stays_one_colour_at_any_size, give_back),
        cmocka_unit_test_teardown(
            the_longest_side_shrinks_to_a_pixel_without_overflow, give_back),
        cmocka_unit_test_teardown(a_view_reads_no_pixel_around_it, give_back),
        cmocka_unit_test_teardown(
            rows_at_the_end_of_memory_are_read_no_further, give_back),
        cmocka_unit_test_teardown(a_result_may_be_a_view_too, give_back),
        cmocka_unit_test_teardown(
            a_warm_resizer_takes_no_more_memory, give_back),
        cmocka_unit_test_teardown(sides_that_cannot_be_are_refused, give_back),
        cmocka_unit_test_teardown(
            rows_beyond_the_limit_are_not_taken, give_back),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.resize", tests, NULL, NULL);
}
