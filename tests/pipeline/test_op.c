/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/op.h"
#include "pipeline/plan/draw.h"

static struct fby_op_use use_of(const char *name)
{
    struct fby_op_use use = {.op = fby_op_named(name)};
    assert_non_null(use.op);
    for (size_t i = 0; i < use.op->n_params; i++) {
        use.params[i] = use.op->params[i].fallback;
    }
    return use;
}

static struct fby_op_use sized(const char *name, int64_t h, int64_t w)
{
    struct fby_op_use use = use_of(name);
    size_t            i   = strcmp(name, "resize") == 0 ? 1 : 0;
    use.params[i]         = (struct fby_value){.n = 2, .i = {h, w}};
    return use;
}

static const struct fby_shape picture = {3, {100, 200, 3}};

static struct fby_op_plan plan_of(const struct fby_op_use *use, uint64_t sample)
{
    struct fby_op_plan      plan;
    struct fby_error_detail why = {{0}};
    struct fby_draw         draw =
        fby_draw_begin(1, 0, sample, "image", use->op->name, 0);
    memset(&plan, 0xa5, sizeof(plan));
    if (use->op->plan(use, &draw, picture, &plan, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    return plan;
}

static void every_op_is_found_by_name_and_id(void **state)
{
    (void)state;
    assert_int_equal(fby_n_ops, FBY_OP_RAND_AUGMENT);
    for (size_t i = 0; i < fby_n_ops; i++) {
        assert_ptr_equal(fby_op_named(fby_ops[i]->name), fby_ops[i]);
        assert_ptr_equal(fby_op_by_id(fby_ops[i]->id), fby_ops[i]);
    }
    assert_null(fby_op_named("blur"));
    assert_null(fby_op_by_id(0));
}

static void a_plan_stays_within_the_picture_and_keeps_its_promise(void **state)
{
    (void)state;
    static const char *const names[] = {"random_resized_crop", "resize",
        "center_crop", "random_crop", "horizontal_flip"};
    for (size_t k = 0; k < 5; k++) {
        struct fby_op_use use =
            k == 4 ? use_of(names[k]) : sized(names[k], 64, 48);
        struct fby_shape after = fby_op_shape(&use, picture);
        for (uint64_t sample = 0; sample < 50; sample++) {
            struct fby_op_plan p = plan_of(&use, sample);
            assert_true(p.w > 0 && p.x + p.w <= 200);
            assert_true(p.h > 0 && p.y + p.h <= 100);
            assert_int_equal(p.out_h, after.dims[0]);
            assert_int_equal(p.out_w, after.dims[1]);
        }
    }
}

static void crops_cut_and_resizes_scale(void **state)
{
    (void)state;
    struct fby_op_use  center = sized("center_crop", 50, 60);
    struct fby_op_use  resize = sized("resize", 10, 20);
    struct fby_op_plan a      = plan_of(&center, 0);
    struct fby_op_plan b      = plan_of(&resize, 0);
    assert_int_equal(a.x, 70);
    assert_int_equal(a.y, 25);
    assert_int_equal(a.w, 60);
    assert_int_equal(a.h, 50);
    assert_int_equal(b.w, 200);
    assert_int_equal(b.h, 100);
    assert_int_equal(b.out_h, 10);
    assert_int_equal(b.out_w, 20);
}

/* A plan leaves out what its op does not do. */
static void a_plan_is_0_where_its_op_does_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {
        "random_resized_crop", "resize", "center_crop", "random_crop"};
    for (size_t i = 0; i < 4; i++) {
        struct fby_op_use  use = sized(names[i], 64, 48);
        struct fby_op_plan p   = plan_of(&use, 1);
        assert_int_equal(p.flip, false);
        assert_int_equal(p.n_steps, 0);
        assert_int_equal(p.out_w, 48);
        assert_int_equal(p.out_h, 64);
    }
    struct fby_op_use  resize = sized("resize", 10, 20);
    struct fby_op_plan p      = plan_of(&resize, 0);
    assert_int_equal(p.x + p.y, 0);
    struct fby_op_use flip = use_of("horizontal_flip");
    p                      = plan_of(&flip, 0);
    assert_int_equal(p.x + p.y + p.n_steps, 0);
    assert_int_equal(p.w, 200);
    assert_int_equal(p.h, 100);
}

static void no_resize(
    const struct fby_op_use *use, struct fby_shape in, const char *wanted)
{
    struct fby_op_plan      plan;
    struct fby_error_detail why  = {{0}};
    struct fby_draw         draw = fby_draw_begin(1, 0, 0, "x", "resize", 0);
    assert_int_equal(
        use->op->plan(use, &draw, in, &plan, &why), FBY_BAD_SAMPLE);
    assert_string_equal(why.text, wanted);
}

static void a_picture_without_a_side_cannot_be_resized(void **state)
{
    (void)state;
    struct fby_op_use size    = sized("resize", 10, 20);
    struct fby_op_use shorter = use_of("resize");
    shorter.params[0]         = (struct fby_value){.n = 1, .i = {16384}};
    no_resize(&size, (struct fby_shape){3, {0, 100, 3}},
        "resize cannot use a picture of 100 x 0 pixels (width x height): a "
        "side would not be within 1 to 65535");
    no_resize(&size, (struct fby_shape){3, {100, 0, 3}},
        "resize cannot use a picture of 0 x 100 pixels (width x height): a "
        "side would not be within 1 to 65535");
    no_resize(&shorter, (struct fby_shape){3, {10, 100, 3}},
        "resize cannot use a picture of 100 x 10 pixels (width x height): a "
        "side would not be within 1 to 65535");
}

static void ops_are_counted_by_name(void **state)
{
    (void)state;
    const struct fby_op_use uses[] = {
        use_of("horizontal_flip"), use_of("resize"), use_of("horizontal_flip")};
    assert_int_equal(fby_op_count(uses, 3, "horizontal_flip"), 2);
    assert_int_equal(fby_op_count(uses, 2, "horizontal_flip"), 1);
    assert_int_equal(fby_op_count(uses, 3, "resize"), 1);
    assert_int_equal(fby_op_count(uses, 3, "pad"), 0);
    assert_int_equal(fby_op_count(uses, 0, "resize"), 0);
}

static void resize_of_the_shorter_side_keeps_the_aspect(void **state)
{
    (void)state;
    struct fby_op_use use = use_of("resize");
    use.params[0]         = (struct fby_value){.n = 1, .i = {50}};
    struct fby_op_plan p  = plan_of(&use, 0);
    assert_int_equal(p.out_h, 50);
    assert_int_equal(p.out_w, 100);
    struct fby_shape unknown = {3, {0, 0, 3}};
    struct fby_shape after   = fby_op_shape(&use, unknown);
    assert_int_equal(after.dims[0], 0);
    assert_int_equal(after.dims[1], 0);
}

static void flips_happen_as_often_as_said(void **state)
{
    (void)state;
    struct fby_op_use use   = use_of("horizontal_flip");
    unsigned          flips = 0;
    for (uint64_t sample = 0; sample < 1000; sample++) {
        flips += plan_of(&use, sample).flip ? 1 : 0;
    }
    assert_in_range(flips, 420, 580);
    use.params[0].r[0] = 0;
    assert_false(plan_of(&use, 3).flip);
    use.params[0].r[0] = 1;
    assert_true(plan_of(&use, 3).flip);
}

/* Shapes are asked for before the parameters of a peer are checked. */
static void the_shape_of_a_pad_copes_with_any_parameters(void **state)
{
    (void)state;
    struct fby_op_use use   = use_of("pad");
    struct fby_shape  after = fby_op_shape(&use, picture);
    assert_int_equal(after.dims[1], picture.dims[1]); /* not given */
    use.params[0] =
        (struct fby_value){.n = 4, .i = {INT64_MAX, -1, INT64_MAX, INT64_MIN}};
    after = fby_op_shape(&use, picture);
    assert_int_equal(after.dims[1], picture.dims[1] + 2 * 4096);
    assert_int_equal(after.dims[0], picture.dims[0]);
    use.params[0] = (struct fby_value){.n = 2, .i = {3, 5}};
    after         = fby_op_shape(&use, picture);
    assert_int_equal(after.dims[1], picture.dims[1] + 6);
    assert_int_equal(after.dims[0], picture.dims[0] + 10);
}

static void a_picture_that_is_too_small_is_a_bad_sample(void **state)
{
    (void)state;
    struct fby_op_use       use = sized("random_crop", 101, 10);
    struct fby_op_plan      plan;
    struct fby_error_detail why = {{0}};
    struct fby_draw draw = fby_draw_begin(1, 0, 0, "x", "random_crop", 0);
    assert_int_equal(
        use.op->plan(&use, &draw, picture, &plan, &why), FBY_BAD_SAMPLE);
    assert_string_equal(why.text,
        "random_crop needs a picture of at least 10 x 101 pixels (width x "
        "height), this one has 200 x 100; put a resize before it");
}

/* The reason why `use` refuses a picture; "" if it takes it. */
static const char *said_of(const struct fby_op_use *use, uint32_t h, uint32_t w)
{
    static struct fby_error_detail why;
    struct fby_op_plan             plan;
    struct fby_draw                draw = fby_draw_begin(1, 0, 0, "x", "op", 0);
    why.text[0]                         = '\0';
    fby_err err                         = use->op->plan(
                                use, &draw, (struct fby_shape){3, {h, w, 3}}, &plan, &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_BAD_SAMPLE);
    return why.text;
}

static void a_padded_side_has_at_most_65535_pixels(void **state)
{
    (void)state;
    struct fby_op_use use = use_of("pad");
    use.params[0]         = (struct fby_value){.n = 4, .i = {1, 3, 2, 4}};
    assert_string_equal(said_of(&use, 65528, 65532), "");
    assert_string_equal(said_of(&use, 1, 65533),
        "pad cannot use a picture of 65533 x 1 pixels (width x height): a side "
        "would not be within 1 to 65535");
    assert_string_equal(said_of(&use, 65529, 1),
        "pad cannot use a picture of 1 x 65529 pixels (width x height): a side "
        "would not be within 1 to 65535");
}

static void a_pad_mirrors_no_more_than_there_is(void **state)
{
    (void)state;
    static const char wrong[] =
        "pad cannot use a picture of 20 x 10 pixels (width x height): it is "
        "smaller than the border that mirrors it";
    struct fby_op_use use = use_of("pad");
    for (int64_t mode = FBY_PAD_CONSTANT; mode <= FBY_PAD_SYMMETRIC; mode++) {
        bool    mirrors = mode == FBY_PAD_REFLECT || mode == FBY_PAD_SYMMETRIC;
        int64_t less    = mode == FBY_PAD_REFLECT ? 1 : 0;
        use.params[2]   = (struct fby_value){.n = 1, .i = {mode}};
        for (int side = 0; side < 4; side++) {
            int64_t most  = (side % 2 == 0 ? 20 : 10) - less;
            use.params[0] = (struct fby_value){.n = 4};

            use.params[0].i[side] = most;
            assert_string_equal(said_of(&use, 10, 20), "");
            use.params[0].i[side]++;
            assert_string_equal(said_of(&use, 10, 20), mirrors ? wrong : "");
        }
    }
}

static void a_blur_reaches_no_further_than_the_picture(void **state)
{
    (void)state;
    struct fby_op_use use = use_of("gaussian_blur");
    use.params[0]         = (struct fby_value){.n = 2, .i = {7, 5}};
    assert_string_equal(said_of(&use, 4, 3), "");
    assert_string_equal(said_of(&use, 3, 3),
        "gaussian_blur needs a picture of at least 3 x 4 pixels (width x "
        "height), this one has 3 x 3");
    assert_string_equal(said_of(&use, 4, 2),
        "gaussian_blur needs a picture of at least 3 x 4 pixels (width x "
        "height), this one has 2 x 4");
}

static void crops_and_resizes_say_what_they_need(void **state)
{
    (void)state;
    struct fby_op_use center = sized("center_crop", 5, 6);
    struct fby_op_use any    = sized("random_crop", 5, 6);
    struct fby_op_use rrc    = sized("random_resized_crop", 5, 6);
    assert_string_equal(said_of(&center, 5, 6), "");
    assert_string_equal(said_of(&any, 5, 6), "");
    assert_string_equal(said_of(&any, 5, 5),
        "random_crop needs a picture of at least 6 x 5 pixels (width x "
        "height), this one has 5 x 5; put a resize before it");
    assert_string_equal(said_of(&any, 4, 6),
        "random_crop needs a picture of at least 6 x 5 pixels (width x "
        "height), this one has 6 x 4; put a resize before it");
    assert_string_equal(said_of(&center, 4, 6),
        "center_crop needs a picture of at least 6 x 5 pixels (width x "
        "height), this one has 6 x 4; put a resize before it");
    assert_string_equal(said_of(&rrc, 1, 1), "");
    assert_string_equal(said_of(&rrc, 0, 9),
        "random_resized_crop cannot use a picture of 9 x 0 pixels (width x "
        "height): sides are 1 to 65535");
    assert_string_equal(said_of(&rrc, 9, 65536),
        "random_resized_crop cannot use a picture of 65536 x 9 pixels (width x "
        "height): sides are 1 to 65535");
}

/* ---- the tables themselves ---- */

static const char *const tables[] = {
    "1 random_resized_crop 1; size: 1 to 2 spread, 1 to 16384; scale: 2 "
    "to 2 real ordered, 0.0001 to 1 = 0.08, 1; ratio: 2 to 2 real "
    "ordered, 0.01 to 100 = 0.75, 1.33333",
    "2 resize 1; shorter: 0 to 1, 1 to 16384; size: 0 to 2 spread, 1 to "
    "16384",
    "3 center_crop 1; size: 1 to 2 spread, 1 to 16384",
    "4 random_crop 1; size: 1 to 2 spread, 1 to 16384",
    "5 horizontal_flip 1; p: 1 to 1 real, 0 to 1 = 0.5",
    "6 vertical_flip 1; p: 1 to 1 real, 0 to 1 = 0.5",
    "7 pad 1; padding: 1 to 4, 0 to 4096; fill: 1 to 1, 0 to 255 = 0; "
    "mode: 1 to 1, 0 to 3 = 0 constant edge reflect symmetric",
    "8 grayscale 1 colour",
    "9 random_grayscale 1 colour; p: 1 to 1 real, 0 to 1 = 0.1",
    "10 colour_jitter 1 colour; brightness: 0 to 2 real ordered, 0 to 16;"
    " contrast: 0 to 2 real ordered, 0 to 16; saturation: 0 to 2 real "
    "ordered, 0 to 16; hue: 0 to 2 real ordered, -0.5 to 0.5",
    "11 gaussian_blur 1; kernel: 1 to 2 spread, 1 to 31; sigma: 1 to 2 "
    "real spread ordered, 0.1 to 16 = 0.1, 2",
    "12 random_erasing 1; p: 1 to 1 real, 0 to 1 = 0.5; scale: 2 to 2 "
    "real ordered, 0.0001 to 1 = 0.02, 0.33; ratio: 2 to 2 real ordered, "
    "0.01 to 100 = 0.3, 3.3; value: 1 to 3 spread, 0 to 255 = 0, 0, 0",
    "13 rotate 1; degrees: 1 to 2 real ordered, -360 to 360; fill: 1 to "
    "1, 0 to 255 = 0",
    "14 affine 1; degrees: 1 to 2 real ordered, -360 to 360; translate: 0"
    " to 2 real spread, 0 to 1; scale: 0 to 2 real spread ordered, 0.1 to"
    " 10; shear: 0 to 4 real ordered, -80 to 80; fill: 1 to 1, 0 to 255 ="
    " 0",
    "15 trivial_augment_wide 1 colour; bins: 1 to 1, 2 to 256 = 31; fill:"
    " 1 to 1, 0 to 255 = 0",
    "16 rand_augment 1 colour; ops: 1 to 1, 1 to 4 = 2; magnitude: 1 to "
    "1, 0 to 255 = 9; bins: 1 to 1, 2 to 256 = 31; fill: 1 to 1, 0 to 255"
    " = 0",
    "32 normalize 1; mean: 1 to 3 real spread, -1e+06 to 1e+06; std: 1 to"
    " 3 real spread, 1e-06 to 1e+06",
    "33 horizontal_flip 1 masks; p: 1 to 1 real, 0 to 1 = 0.5",
    "34 vertical_flip 1 masks; p: 1 to 1 real, 0 to 1 = 0.5",
    "35 colour_jitter 1 levels; brightness: 0 to 2 real ordered, 0 to 16;"
    " contrast: 0 to 2 real ordered, 0 to 16; saturation: 0 to 2 real "
    "ordered, 0 to 16; hue: 0 to 2 real ordered, -0.5 to 0.5",
    "36 random_erasing 1; p: 1 to 1 real, 0 to 1 = 0.5; scale: 2 to 2 "
    "real ordered, 0.0001 to 1 = 0.02, 0.33; ratio: 2 to 2 real ordered, "
    "0.01 to 100 = 0.3, 3.3; value: 1 to 3 real spread, -1e+06 to 1e+06 ="
    " 0, 0, 0",
    "37 mixup 1 pairs; alpha: 1 to 1 real, 0.01 to 64 = 1; label: 1 to 1 "
    "field, 0 to 31",
    "38 cutmix 1 pairs; alpha: 1 to 1 real, 0.01 to 64 = 1; label: 1 to 1"
    " field, 0 to 31",
};

static size_t put(char *text, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static size_t put(char *text, size_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text + at, 512 - at, format, args);
    va_end(args);
    return at + (size_t)n;
}

/* "alpha: 1 real, 0.01 to 64 = 1": numbers in a list, limits, the default. */
static size_t put_param(char *text, size_t at, const struct fby_param *p)
{
    at = put(text, at, "; %s: %u to %u%s%s%s%s, %g to %g", p->name, p->min_n,
        p->max_n, p->real ? " real" : "", p->broadcast ? " spread" : "",
        p->ordered ? " ordered" : "", p->is_field ? " field" : "", p->min,
        p->max);
    for (uint32_t i = 0; i < p->fallback.n; i++) {
        at = put(text, at, "%s%g", i == 0 ? " = " : ", ",
            p->fallback.real ? p->fallback.r[i] : (double)p->fallback.i[i]);
    }
    for (size_t i = 0; p->words != NULL && p->words[i] != NULL; i++) {
        at = put(text, at, " %s", p->words[i]);
    }
    return at;
}

static void table_of(const struct fby_op *op, char text[512])
{
    size_t at = put(text, 0, "%u %s %u%s%s%s%s", op->id, op->name, op->version,
        op->is_colour ? " colour" : "", op->allows_masks ? " masks" : "",
        op->before_normalize ? " levels" : "", op->mixes_rows ? " pairs" : "");
    for (uint32_t i = 0; i < op->n_params; i++) {
        at = put_param(text, at, &op->params[i]);
    }
}

static void parameters_have_these_limits_and_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < fby_n_ops + fby_n_device_ops; i++) {
        char text[512];
        table_of(
            i < fby_n_ops ? fby_ops[i] : fby_device_ops[i - fby_n_ops], text);
        assert_string_equal(text, tables[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_is_found_by_name_and_id),
        cmocka_unit_test(a_plan_stays_within_the_picture_and_keeps_its_promise),
        cmocka_unit_test(crops_cut_and_resizes_scale),
        cmocka_unit_test(a_plan_is_0_where_its_op_does_nothing),
        cmocka_unit_test(a_picture_without_a_side_cannot_be_resized),
        cmocka_unit_test(ops_are_counted_by_name),
        cmocka_unit_test(resize_of_the_shorter_side_keeps_the_aspect),
        cmocka_unit_test(flips_happen_as_often_as_said),
        cmocka_unit_test(the_shape_of_a_pad_copes_with_any_parameters),
        cmocka_unit_test(a_padded_side_has_at_most_65535_pixels),
        cmocka_unit_test(a_pad_mirrors_no_more_than_there_is),
        cmocka_unit_test(a_blur_reaches_no_further_than_the_picture),
        cmocka_unit_test(crops_and_resizes_say_what_they_need),
        cmocka_unit_test(a_picture_that_is_too_small_is_a_bad_sample),
        cmocka_unit_test(parameters_have_these_limits_and_defaults),
    };
    return cmocka_run_group_tests_name("pipeline.op", tests, NULL, NULL);
}
