/* SPDX-License-Identifier: Apache-2.0 */
/* The sampled parameters of an op as a line of text. */
#include "cli/sampled_params.h"

#include <string.h>

#include "tests/test.h"

static const struct fby_size picture = {640, 480};

static struct fby_op_plan idle(void)
{
    return (struct fby_op_plan){.w = 640, .h = 480, .out_w = 640, .out_h = 480};
}

static struct fby_size assert_line(
    enum fby_decode decode, const struct fby_op_plan *plan, const char *line)
{
    struct fby_field_content field = {.decode = decode, .n_ops = 1};
    char                     text[FBY_SAMPLED_PARAMS_TEXT];
    field.ops[0].op = fby_op_named("colour_jitter");
    struct fby_size size =
        fby_sampled_params_describe_op(&field, 0, plan, picture, text);
    assert_string_equal(text, line);
    return size;
}

static void boxes_sizes_and_mirrors_are_described(void **state)
{
    (void)state;
    struct fby_op_plan plan = idle();
    assert_line(FBY_DECODE_RGB8, &plan, "colour_jitter -");
    plan.flip = true;
    assert_line(FBY_DECODE_RGB8, &plan, "colour_jitter flipped");
    plan = (struct fby_op_plan){3, 4, 50, 60, 20, 10, false, 0, {{0}}};
    struct fby_size size = assert_line(
        FBY_DECODE_RGB8, &plan, "colour_jitter at 3,4 50x60 > 20x10");
    assert_int_equal(size.w, 20);
    assert_int_equal(size.h, 10);
}

static void steps_are_shown_with_their_values(void **state)
{
    (void)state;
    struct fby_op_plan plan = idle();
    plan.n_steps            = 3;
    plan.steps[0]           = (struct fby_step){FBY_STEP_BRIGHTNESS, {98304}};
    plan.steps[1]        = (struct fby_step){FBY_STEP_PAD, {1, 2, 3, 4, 0, 1}};
    plan.steps[2]        = (struct fby_step){FBY_STEP_GREY, {0}};
    struct fby_size size = assert_line(FBY_DECODE_RGB8, &plan,
        "colour_jitter brightness 1.5 pad left 1 top 2 right 3 bottom 4 "
        "fill 0 edge grey");
    assert_int_equal(size.w, 644);
    assert_int_equal(size.h, 486);
}

static void of_a_rotation_only_the_parts_with_effect_are_shown(void **state)
{
    (void)state;
    struct fby_op_plan plan = idle();
    plan.n_steps            = 2;
    plan.steps[0] =
        (struct fby_step){FBY_STEP_AFFINE, {-65536, 0, 0, 65536, 0, 0, 0, 0}};
    plan.steps[1] =
        (struct fby_step){FBY_STEP_AFFINE, {0, 3, 0, 32768, 0, 0, 1, 9}};
    assert_line(FBY_DECODE_RGB8, &plan,
        "colour_jitter affine angle -1 affine right 3 scale 0.5 corner 1 "
        "fill 9");
}

static void a_mask_has_only_the_steps_that_move_pixels(void **state)
{
    (void)state;
    struct fby_op_plan plan = idle();
    plan.n_steps            = 1;
    plan.steps[0]           = (struct fby_step){FBY_STEP_GREY, {0}};
    assert_line(FBY_DECODE_MASK8, &plan, "colour_jitter -");
    plan.steps[0] = (struct fby_step){FBY_STEP_VERTICAL_FLIP, {0}};
    assert_line(FBY_DECODE_MASK8, &plan, "colour_jitter vertical_flip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_sizes_and_mirrors_are_described),
        cmocka_unit_test(steps_are_shown_with_their_values),
        cmocka_unit_test(of_a_rotation_only_the_parts_with_effect_are_shown),
        cmocka_unit_test(a_mask_has_only_the_steps_that_move_pixels),
    };
    return cmocka_run_group_tests_name("cli.sampled_params", tests, NULL, NULL);
}
