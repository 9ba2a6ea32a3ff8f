/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/plan/geometry.h"

#include <math.h>

#include "pipeline/plan/draw.h"

#include "tests/pipeline/plan/chance.h"
#include "tests/pipeline/plan/golden.h"
#include "tests/test.h"

static const double usual_scale[2] = {0.08, 1};
static const double usual_ratio[2] = {0.75, 4.0 / 3};

static struct fby_draw draw_of(uint64_t sample)
{
    return fby_draw_begin(3, 0, sample, "image", "random_resized_crop", 0);
}

static bool inside(struct fby_box box, struct fby_size picture)
{
    return box.w >= 1 && box.h >= 1 && box.w <= picture.w &&
           box.h <= picture.h && box.x <= picture.w - box.w &&
           box.y <= picture.h - box.h;
}

static void assert_box(
    struct fby_box box, uint32_t x, uint32_t y, struct fby_size size)
{
    assert_int_equal(box.x, x);
    assert_int_equal(box.y, y);
    assert_int_equal(box.w, size.w);
    assert_int_equal(box.h, size.h);
}

static void a_resized_crop_lies_in_any_picture(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t        bits    = (uint32_t)(scramble(&random) % 17);
        uint32_t        mask    = (1U << bits) - 1;
        struct fby_size picture = {
            (uint32_t)scramble(&random) & mask,
            (uint32_t)scramble(&random) & mask,
        };
        picture.w += picture.w == 0;
        picture.h += picture.h == 0;
        struct fby_draw draw = draw_of(i);
        struct fby_box  box;
        assert_true(fby_plan_random_resized_crop(
            &draw, picture, usual_scale, usual_ratio, &box));
        assert_true(inside(box, picture));
    }
}

/* Of a large square nearly every first try within 0.08..0.7 fits. */
static void area_and_aspect_are_drawn_evenly(void **state)
{
    (void)state;
    const struct fby_size picture   = {8000, 8000};
    const double          scale[2]  = {0.08, 0.7};
    uint32_t              areas[10] = {0};
    uint32_t              logs[10]  = {0};
    for (uint64_t i = 0; i < 20000; i++) {
        struct fby_draw draw = draw_of(i);
        struct fby_box  box;
        assert_true(fby_plan_random_resized_crop(
            &draw, picture, scale, usual_ratio, &box));
        double area   = (double)box.w * box.h / 64e6;
        double aspect = log((double)box.w / box.h) / log(4.0 / 3);
        assert_true(area > 0.0799 && area < 0.7001 && fabs(aspect) < 1.01);
        areas[(int)fmin(9, fmax(0, (area - 0.08) / 0.062))]++;
        logs[(int)fmin(9, fmax(0, (aspect + 1) * 5))]++;
    }
    assert_true(looks_even(areas, 10, 9));
    assert_true(looks_even(logs, 10, 9));
}

static void the_place_of_a_crop_is_drawn_evenly(void **state)
{
    (void)state;
    uint32_t counts[5 * 7] = {0};
    for (uint64_t i = 0; i < 20000; i++) {
        struct fby_draw draw = draw_of(i);
        struct fby_box  box;
        assert_true(fby_plan_random_crop(
            &draw, (struct fby_size){14, 26}, (struct fby_size){10, 20}, &box));
        assert_int_equal(box.w, 10);
        assert_int_equal(box.h, 20);
        counts[box.y * 5 + box.x]++;
    }
    assert_true(looks_even(counts, 35, 34));
}

static struct fby_box fallback_of(
    struct fby_size picture, double low, double high)
{
    const double    scale[2] = {1, 1};
    const double    ratio[2] = {low, high};
    struct fby_draw draw     = draw_of(0);
    struct fby_box  box;
    assert_true(
        fby_plan_random_resized_crop(&draw, picture, scale, ratio, &box));
    return box;
}

static void a_picture_beyond_the_aspects_gives_its_middle(void **state)
{
    (void)state;
    /* 100 / 0.75 = 133.3; 100 * 1.25 = 125 */
    assert_box(fallback_of((struct fby_size){100, 1000}, 0.75, 1.25), 0, 433,
        (struct fby_size){100, 133});
    assert_box(fallback_of((struct fby_size){1000, 100}, 0.75, 1.25), 437, 0,
        (struct fby_size){125, 100});
    assert_box(fallback_of((struct fby_size){1, 9}, 200, 200), 0, 4,
        (struct fby_size){1, 1});
    assert_box(fallback_of((struct fby_size){9, 1}, 0.01, 0.01), 4, 0,
        (struct fby_size){1, 1});
}

static void sides_are_rounded_to_the_nearest(void **state)
{
    (void)state;
    const double   ratio[2] = {1, 1};
    const double   scales[] = {0.42, 0.43, 0.56, 0.57, 0.004};
    const uint32_t sides[]  = {6, 7, 7, 8, 1}; /* 6.48, 6.56, 7.48, 7.55 */
    for (size_t i = 0; i < 5; i++) {
        const double    scale[2] = {scales[i], scales[i]};
        struct fby_draw draw     = draw_of(i);
        struct fby_box  box;
        assert_true(fby_plan_random_resized_crop(
            &draw, (struct fby_size){10, 10}, scale, ratio, &box));
        assert_int_equal(box.w, sides[i]);
        assert_int_equal(box.h, sides[i]);
    }
}

/* The whole area with no aspect that fits, though the picture's own does. */
static void a_picture_within_the_aspects_is_taken_whole(void **state)
{
    (void)state;
    const struct fby_size picture  = {100, 100};
    const double          scale[2] = {1, 1};
    const double          ratio[2] = {0.01, 100};
    for (uint64_t i = 0; i < 20; i++) {
        struct fby_draw draw = draw_of(i);
        struct fby_box  box;
        assert_true(
            fby_plan_random_resized_crop(&draw, picture, scale, ratio, &box));
        assert_box(box, 0, 0, picture);
    }
}

static void parameters_out_of_range_count_as_the_nearest_end(void **state)
{
    (void)state;
    const double inner[2][2] = {{0, 1}, {0x1p-8, 0x1p8}};
    const double outer[2][2] = {{-3, 7}, {0, INFINITY}};
    for (uint64_t i = 0; i < 200; i++) {
        struct fby_size picture = {FBY_MAX_SIDE, FBY_MAX_SIDE};
        struct fby_draw a       = draw_of(i);
        struct fby_draw b       = draw_of(i);
        struct fby_box  box[2];
        assert_true(fby_plan_random_resized_crop(
            &a, picture, inner[0], inner[1], &box[0]));
        assert_true(fby_plan_random_resized_crop(
            &b, picture, outer[0], outer[1], &box[1]));
        assert_memory_equal(&box[0], &box[1], sizeof(box[0]));
        assert_true(inside(box[0], picture));
    }
}

static void a_center_crop_rounds_halves_to_even(void **state)
{
    (void)state;
    const struct fby_size ten    = {10, 10};
    const uint32_t        left[] = {0, 0, 1, 2, 2, 2, 3, 4, 4, 4};
    for (uint32_t gap = 0; gap < 10; gap++) {
        struct fby_size crop = {10 - gap, 10};
        struct fby_box  box;
        assert_true(fby_plan_center_crop(ten, crop, &box));
        assert_box(box, left[gap], 0, crop);
    }
}

static void the_shorter_side_gets_the_size(void **state)
{
    (void)state;
    const uint32_t sizes[][4] = {{500, 375, 309, 232}, {375, 500, 232, 309},
        {7, 7, 232, 232}, {1, 3, 232, 696}, {640, 427, 383, 256}};
    for (size_t i = 0; i < 5; i++) {
        struct fby_size picture = {sizes[i][0], sizes[i][1]};
        struct fby_size out;
        uint32_t        shorter =
            sizes[i][2] < sizes[i][3] ? sizes[i][2] : sizes[i][3];
        assert_true(fby_plan_resize_shorter(picture, shorter, &out));
        assert_int_equal(out.w, sizes[i][2]);
        assert_int_equal(out.h, sizes[i][3]);
    }
}

static void pictures_that_cannot_be_used_are_refused(void **state)
{
    (void)state;
    const struct fby_size bad[] = {{0, 5}, {5, 0}, {65536, 5}, {5, 65536}};
    struct fby_size       one   = {1, 1};
    struct fby_size       size;
    struct fby_box        box;
    struct fby_draw       draw = draw_of(0);
    for (size_t i = 0; i < 4; i++) {
        assert_false(fby_plan_random_resized_crop(
            &draw, bad[i], usual_scale, usual_ratio, &box));
        assert_false(fby_plan_random_crop(&draw, bad[i], one, &box));
        assert_false(fby_plan_center_crop(bad[i], one, &box));
        assert_false(fby_plan_resize_shorter(bad[i], 5, &size));
        assert_false(fby_plan_random_crop(&draw, one, bad[i], &box));
        assert_false(fby_plan_center_crop(one, bad[i], &box));
    }
    assert_false(
        fby_plan_resize_shorter((struct fby_size){1, 300}, 232, &size));
    assert_false(fby_plan_resize_shorter((struct fby_size){9, 9}, 0, &size));
    assert_false(
        fby_plan_resize_shorter((struct fby_size){9, 9}, 65536, &size));
}

static void a_crop_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    const struct fby_size picture = {10, 20};
    struct fby_draw       draw    = draw_of(0);
    struct fby_box        box;
    assert_false(
        fby_plan_random_crop(&draw, picture, (struct fby_size){11, 5}, &box));
    assert_false(fby_plan_center_crop(picture, (struct fby_size){5, 21}, &box));
    assert_true(fby_plan_random_crop(&draw, picture, picture, &box));
    assert_box(box, 0, 0, picture);
    assert_true(fby_plan_center_crop(picture, picture, &box));
    assert_box(box, 0, 0, picture);
}

static void a_flip_comes_as_often_as_asked(void **state)
{
    (void)state;
    const double ps[] = {0, 0.25, 0.5, 1};
    for (size_t k = 0; k < 4; k++) {
        uint32_t flips = 0;
        for (uint64_t i = 0; i < 40000; i++) {
            struct fby_draw draw = draw_of(i);
            flips += fby_draw_bool(&draw, ps[k]);
        }
        double spread = sqrt(40000 * ps[k] * (1 - ps[k]));
        assert_true(fabs(flips - 40000 * ps[k]) <= 4 * spread);
    }
}

static void a_flip_is_a_word_below_its_chance(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        struct fby_draw a    = draw_of(i);
        struct fby_draw b    = draw_of(i);
        struct fby_draw c    = draw_of(i);
        double          word = fby_draw_u32(&a);
        assert_false(fby_draw_bool(&b, word / 0x1p32));
        assert_true(fby_draw_bool(&c, (word + 1) / 0x1p32));
        assert_int_equal(fby_draw_u32(&a), fby_draw_u32(&b));
    }
}

static void any_side_may_be_the_shorter_one(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 2, 65534, 65535};
    for (size_t i = 0; i < 4; i++) {
        struct fby_size out;
        assert_true(
            fby_plan_resize_shorter((struct fby_size){9, 9}, sizes[i], &out));
        assert_int_equal(out.w, sizes[i]);
        assert_int_equal(out.h, sizes[i]);
    }
}

static void what_is_erased_lies_within_and_is_smaller(void **state)
{
    (void)state;
    const double scale[2] = {0.02, 1};
    const double ratio[2] = {0.3, 3.3};
    uint32_t     found    = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        const struct fby_size picture = {
            (uint32_t)(1 + i % 50), (uint32_t)(1 + i / 50)};
        struct fby_draw draw = draw_of(i);
        struct fby_box  box;
        if (fby_plan_random_erasing(&draw, picture, scale, ratio, &box)) {
            assert_true(inside(box, picture));
            assert_true(box.w < picture.w && box.h < picture.h);
            found++;
        }
    }
    assert_in_range(found, 1500, 1999);
}

/* Ten tries take two words each; a box takes two more. */
static void what_cannot_be_smaller_is_not_erased(void **state)
{
    (void)state;
    const struct fby_size square = {10, 10};
    const double          all[2] = {1, 1};
    struct fby_draw       a      = draw_of(0);
    struct fby_draw       b      = draw_of(0);
    struct fby_box        box    = {7, 7, 7, 7};
    assert_false(fby_plan_random_erasing(&a, square, all, all, &box));
    assert_box(box, 7, 7, (struct fby_size){7, 7});
    for (int i = 0; i < 20; i++) {
        fby_draw_u32(&b);
    }
    assert_int_equal(fby_draw_u32(&a), fby_draw_u32(&b));
}

/* The ratio is of height to width. */
static void what_is_erased_is_as_high_as_said(void **state)
{
    (void)state;
    const double scale[2] = {0.125, 0.125};
    const double ratio[2] = {2, 2};
    for (uint64_t i = 0; i < 20; i++) {
        struct fby_draw draw = draw_of(i);
        struct fby_box  box;
        assert_true(fby_plan_random_erasing(
            &draw, (struct fby_size){400, 400}, scale, ratio, &box));
        assert_int_equal(box.w, 100);
        assert_int_equal(box.h, 200);
    }
}

static struct fby_size golden_size(struct golden *g)
{
    uint32_t w = golden_u32(g);
    return (struct fby_size){w, golden_u32(g)};
}

static void check_resized(
    struct golden *g, struct fby_size picture, struct fby_draw *draw)
{
    double         scale[2];
    double         ratio[2];
    struct fby_box box;
    scale[0] = golden_real(g);
    scale[1] = golden_real(g);
    ratio[0] = golden_real(g);
    ratio[1] = golden_real(g);
    assert_true(
        fby_plan_random_resized_crop(draw, picture, scale, ratio, &box));
    uint32_t x = golden_u32(g);
    uint32_t y = golden_u32(g);
    assert_box(box, x, y, golden_size(g));
}

static void check_crops(
    struct golden *g, struct fby_size picture, struct fby_draw *draw)
{
    struct fby_size crop = golden_size(g);
    struct fby_box  box;
    assert_true(fby_plan_random_crop(draw, picture, crop, &box));
    uint32_t x = golden_u32(g);
    assert_box(box, x, golden_u32(g), crop);
    assert_true(fby_plan_center_crop(picture, crop, &box));
    x = golden_u32(g);
    assert_box(box, x, golden_u32(g), crop);
}

static void crops_and_flips_are_those_of_the_model(void **state)
{
    (void)state;
    struct golden g = golden_open("crop.txt");
    while (golden_next(&g)) {
        bool            resized = strcmp(golden_word(&g), "resized") == 0;
        struct fby_draw draw    = draw_of(golden_u64(&g));
        struct fby_size picture = golden_size(&g);
        if (resized) {
            check_resized(&g, picture, &draw);
        } else {
            check_crops(&g, picture, &draw);
        }
        double p = golden_real(&g);
        assert_int_equal(fby_draw_bool(&draw, p), golden_u32(&g));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resized_crop_lies_in_any_picture),
        cmocka_unit_test(area_and_aspect_are_drawn_evenly),
        cmocka_unit_test(the_place_of_a_crop_is_drawn_evenly),
        cmocka_unit_test(a_picture_beyond_the_aspects_gives_its_middle),
        cmocka_unit_test(sides_are_rounded_to_the_nearest),
        cmocka_unit_test(a_picture_within_the_aspects_is_taken_whole),
        cmocka_unit_test(parameters_out_of_range_count_as_the_nearest_end),
        cmocka_unit_test(a_center_crop_rounds_halves_to_even),
        cmocka_unit_test(the_shorter_side_gets_the_size),
        cmocka_unit_test(pictures_that_cannot_be_used_are_refused),
        cmocka_unit_test(a_crop_that_does_not_fit_is_refused),
        cmocka_unit_test(a_flip_comes_as_often_as_asked),
        cmocka_unit_test(a_flip_is_a_word_below_its_chance),
        cmocka_unit_test(any_side_may_be_the_shorter_one),
        cmocka_unit_test(what_is_erased_lies_within_and_is_smaller),
        cmocka_unit_test(what_cannot_be_smaller_is_not_erased),
        cmocka_unit_test(what_is_erased_is_as_high_as_said),
        cmocka_unit_test(crops_and_flips_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
