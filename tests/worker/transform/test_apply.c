/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/worker/transform/pictures.h"

#include "worker/transform/apply.h"
#include "worker/transform/transform_private.h"

static int open_transform(void **state)
{
    *state = fby_transform_create(NULL);
    return 0;
}

static int close_transform(void **state)
{
    struct fby_transform *transform = *state;
    fby_transform_destroy(&transform);
    fby_transform_destroy(&transform); /* NULL is accepted */
    return transform != NULL;
}

static struct fby_op_use use_of(const char *name)
{
    struct fby_op_use use = {.op = fby_op_named(name)};
    assert_non_null(use.op);
    return use;
}

static void every_op_of_the_table_has_an_apply(void **state)
{
    (void)state;
    for (size_t i = 0; i < fby_n_ops; i++) {
        assert_true(fby_transform_knows_op(fby_ops[i]->id));
    }
    assert_false(fby_transform_knows_op(0));
    assert_false(fby_transform_knows_op(FBY_OP_ID_LIMIT + 1));
}

static void without_ops_the_picture_is_copied(void **state)
{
    struct fby_image       in  = new_picture(12, 9);
    struct fby_image       out = new_picture(12, 9);
    struct fby_planned_ops run = {NULL, NULL, 0};
    memset(out.pixels, 0, out.stride * out.height);
    assert_ok(fby_transform_run_ops(*state, &run, in, out, NULL));
    assert_same_picture(&in, &out);
    free(in.pixels);
    free(out.pixels);
}

static void a_crop_takes_its_box(void **state)
{
    struct fby_image       in   = new_picture(20, 15);
    struct fby_image       out  = new_picture(8, 7);
    struct fby_image       box  = part_of(in, 5, 4, 8, 7);
    struct fby_op_use      use  = use_of("center_crop");
    struct fby_op_plan     plan = {5, 4, 8, 7, 8, 7, false, 0, {{0}}};
    struct fby_planned_ops run  = {&use, &plan, 1};
    assert_ok(fby_transform_run_ops(*state, &run, in, out, NULL));
    assert_same_picture(&box, &out);
    free(in.pixels);
    free(out.pixels);
}

static void a_mirror_swaps_left_and_right_when_drawn(void **state)
{
    for (uint32_t width = 1; width <= 8; width++) {
        for (int flip = 0; flip <= 1; flip++) {
            struct fby_image   in   = new_picture(width, 3);
            struct fby_image   kept = new_picture(width, 3);
            struct fby_image   out  = new_picture(width, 3);
            struct fby_op_use  use  = use_of("horizontal_flip");
            struct fby_op_plan plan = {
                0, 0, width, 3, width, 3, flip != 0, 0, {{0}}};
            struct fby_planned_ops run = {&use, &plan, 1};
            assert_ok(fby_transform_run_ops(*state, &run, in, out, NULL));
            for (uint32_t x = 0; x < width; x++) {
                assert_memory_equal(
                    pixel_at(&kept, flip ? width - 1 - x : x, 2),
                    pixel_at(&out, x, 2), FBY_RGB);
            }
            free(in.pixels);
            free(kept.pixels);
            free(out.pixels);
        }
    }
}

/* The ops one by one, each on the result of the last: *picture is moved on. */
static void run_step_by_step(struct fby_transform *transform,
    const struct fby_planned_ops *run, struct fby_image *picture)
{
    for (uint32_t i = 0; i < run->n_ops; i++) {
        const struct fby_op_plan *plan = &run->plans[i];
        struct fby_planned_ops    one  = {&run->uses[i], plan, 1};
        struct fby_image          out  = new_picture(plan->out_w, plan->out_h);
        assert_ok(fby_transform_run_ops(transform, &one, *picture, out, NULL));
        free(picture->pixels);
        *picture = out;
    }
}

static void assert_chain_is_its_steps(
    struct fby_transform *transform, const struct fby_planned_ops *run)
{
    struct fby_image in   = new_picture(40, 30);
    struct fby_image step = new_picture(40, 30);
    run_step_by_step(transform, run, &step);
    struct fby_image out = new_picture(step.width, step.height);
    assert_ok(fby_transform_run_ops(transform, run, in, out, NULL));
    assert_same_picture(&step, &out);
    free(in.pixels);
    free(step.pixels);
    free(out.pixels);
}

static void a_chain_is_its_ops_one_after_the_other(void **state)
{
    struct fby_op_use uses[5] = {use_of("resize"), use_of("random_crop"),
        use_of("random_resized_crop"), use_of("horizontal_flip"),
        use_of("center_crop")};
    static const struct fby_op_plan plans[5] = {
        {0, 0, 40, 30, 33, 27, false, 0, {{0}}},
        {3, 2, 25, 20, 25, 20, false, 0, {{0}}},
        {1, 4, 20, 15, 22, 18, false, 0, {{0}}},
        {0, 0, 22, 18, 22, 18, true, 0, {{0}}},
        {2, 1, 16, 16, 16, 16, false, 0, {{0}}}};
    struct fby_planned_ops run = {uses, plans, 5};
    assert_chain_is_its_steps(*state, &run);
}

static void resizes_in_a_row_do_not_write_what_they_read(void **state)
{
    struct fby_op_use uses[4] = {use_of("resize"), use_of("resize"),
        use_of("resize"), use_of("center_crop")};
    static const struct fby_op_plan plans[4] = {
        {0, 0, 40, 30, 24, 26, false, 0, {{0}}},
        {2, 3, 20, 20, 60, 50, false, 0, {{0}}},
        {1, 4, 50, 40, 24, 26, false, 0, {{0}}},
        {0, 0, 24, 26, 24, 26, false, 0, {{0}}}};
    for (uint32_t n = 2; n <= 4; n++) {
        struct fby_planned_ops run = {uses, plans, n};
        assert_chain_is_its_steps(*state, &run);
    }
    static const struct fby_op_plan same[2] = {
        {0, 0, 40, 30, 24, 26, false, 0, {{0}}},
        {2, 3, 20, 20, 24, 26, false, 0, {{0}}}};
    struct fby_planned_ops both_of_one_size = {uses, same, 2};
    assert_chain_is_its_steps(*state, &both_of_one_size);
}

static void a_plan_that_does_not_fit_is_refused(void **state)
{
    static const struct fby_op_plan wrong[] = {
        {13, 0, 8, 7, 8, 7, false, 0, {{0}}}, /* to the right of the picture */
        {0, 9, 8, 7, 8, 7, false, 0, {{0}}},  /* below it */
        {0, 0, 21, 7, 8, 7, false, 0, {{0}}}, /* wider */
        {0, 0, 0, 7, 8, 7, false, 0, {{0}}},  /* empty */
        {0, 0, 8, 7, 8, 8, false, 0, {{0}}},  /* a crop that scales */
        {0, 0, 7, 7, 7, 7, false, 0, {{0}}},  /* not the result's size */
    };
    struct fby_image in  = new_picture(20, 15);
    struct fby_image out = new_picture(8, 7);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct fby_op_use       use = use_of("center_crop");
        struct fby_planned_ops  run = {&use, &wrong[i], 1};
        struct fby_error_detail why = {0};
        assert_int_equal(
            fby_transform_run_ops(*state, &run, in, out, &why), FBY_USAGE);
        assert_true(why.text[0] != '\0');
    }
    free(in.pixels);
    free(out.pixels);
}

/* Scratch memory grows by whole lines of 64 bytes. */
static void assert_holds(const struct fby_scratch *scratch, uint64_t needed)
{
    assert_in_range(scratch->size_bytes, needed, needed + 63);
}

static void ops_take_exactly_the_memory_they_need(void **state)
{
    (void)state;
    struct fby_transform *fresh   = fby_transform_create(NULL);
    struct fby_op_use     uses[4] = {use_of("resize"), use_of("resize"),
            use_of("resize"), use_of("center_crop")};
    static const struct fby_op_plan plans[4] = {
        {0, 0, 40, 30, 24, 26, false, 0, {{0}}},
        {0, 0, 24, 26, 50, 20, false, 0, {{0}}},
        {0, 0, 50, 20, 30, 33, false, 0, {{0}}},
        {3, 3, 20, 20, 20, 20, false, 0, {{0}}}};
    struct fby_planned_ops run  = {uses, plans, 4};
    struct fby_image       in   = new_picture(40, 30);
    struct fby_image       out  = new_picture(20, 20);
    struct fby_need        need = {.library_bytes = 0};
    struct fby_chain       chain;
    assert_ok(
        fby_chain_plan(&run, (struct fby_chain_input){{40, 30}, FBY_RGB, false},
            &out, &chain, NULL));
    fby_chain_raise_need(&chain, &fby_unscaled, &need);
    assert_ok(fby_transform_run_ops(fresh, &run, in, out, NULL));
    for (int i = 0; i < 2; i++) {
        assert_holds(&fresh->results[i], need.results[i]);
    }
    assert_holds(&fresh->resizer.memory, need.resizer);
    fby_transform_destroy(&fresh);
    free(in.pixels);
    free(out.pixels);
}

enum { SHARE = 1 << 20 };

static void within_its_share_a_transform_borrows_nothing(void **state)
{
    (void)state;
    struct fby_transform_limits limits    = {SHARE, fby_shared_quota_create(0)};
    struct fby_transform       *transform = fby_transform_create(&limits);
    const struct fby_need       need      = {.decoded = {SHARE / 2, SHARE / 2}};
    const struct fby_need       other     = {.results = {SHARE}};
    assert_ok(fby_transform_reserve(transform, &need, NULL));
    assert_ok(fby_scratch_grow(&transform->decoded[0], SHARE / 2));
    fby_transform_release(transform);
    assert_int_equal(transform->decoded[0].size_bytes, SHARE / 2);
    assert_ok(fby_transform_reserve(transform, &other, NULL));
    assert_int_equal(transform->decoded[0].size_bytes, 0); /* made room */
    fby_transform_destroy(&transform);
    fby_shared_quota_destroy(&limits.quota);
}

static void beyond_its_share_it_borrows_for_one_sample(void **state)
{
    (void)state;
    struct fby_transform_limits limits = {
        SHARE, fby_shared_quota_create(SHARE)};
    struct fby_transform *transform = fby_transform_create(&limits);
    const struct fby_need need      = {.decoded = {SHARE + 5000}};
    assert_ok(fby_transform_reserve(transform, &need, NULL));
    assert_int_equal(fby_shared_quota_counts(limits.quota).used, 5000);
    assert_ok(fby_scratch_grow(&transform->decoded[0], SHARE + 5000));
    fby_transform_release(transform);
    assert_int_equal(transform->decoded[0].size_bytes, 0);
    assert_int_equal(fby_shared_quota_counts(limits.quota).used, 0);
    fby_transform_destroy(&transform);
    fby_shared_quota_destroy(&limits.quota);
}

static void a_need_beyond_all_memory_is_refused_with_both_numbers(void **state)
{
    (void)state;
    struct fby_transform_limits limits = {
        SHARE, fby_shared_quota_create(SHARE)};
    struct fby_transform   *transform = fby_transform_create(&limits);
    const struct fby_need   need      = {.decoded = {2 * SHARE + 1}};
    struct fby_error_detail why       = {{0}};
    assert_int_equal(fby_transform_reserve(transform, &need, &why), FBY_FULL);
    assert_non_null(strstr(why.text, "takes 2097153 bytes"));
    assert_non_null(strstr(why.text, "has 2097152"));
    assert_non_null(strstr(why.text, "--memory"));
    fby_transform_release(transform);
    fby_transform_destroy(&transform);
    fby_shared_quota_destroy(&limits.quota);
}

/* ---- the part of a picture that is decoded ------------------------------- */

/* The source pixel that contains step `s`. */
static uint32_t pixel_of(const struct fby_axis_spec *axis, uint32_t s)
{
    return (s + axis->offset) / axis->unit;
}

/* The steps whose pixels the axis reads, found one by one. */
static struct fby_reach steps_reached(
    const struct fby_axis_spec *axis, uint32_t channels)
{
    struct fby_reach pixels = channels == FBY_RGB
                                  ? fby_axis_reach(axis)
                                  : fby_nearest_resize_reach(axis);
    struct fby_reach steps  = {0, 0};
    for (uint32_t s = 0; s < axis->from; s++) {
        uint32_t pixel = pixel_of(axis, s);
        if (pixel >= pixels.first && pixel - pixels.first < pixels.n) {
            steps.first = steps.n == 0 ? s : steps.first;
            steps.n++;
        }
    }
    return steps;
}

/* Any box of a picture, scaled, and a window of the result. */
static struct fby_pass random_pass(uint32_t *state)
{
    struct fby_pass pass = {.box = {below(state, 50), below(state, 50),
                                1 + below(state, 90), 1 + below(state, 90)},
        .to = {1 + below(state, 40), 1 + below(state, 40)}};
    pass.window.w        = 1 + below(state, pass.to.w);
    pass.window.h        = 1 + below(state, pass.to.h);
    pass.window.x        = below(state, pass.to.w - pass.window.w + 1);
    pass.window.y        = below(state, pass.to.h - pass.window.h + 1);
    pass.mirror          = below(state, 2) == 1;
    pass.reversed        = below(state, 2) == 1;
    return pass;
}

static void exactly_the_pixels_that_a_window_needs_are_decoded(void **state)
{
    (void)state;
    static struct fby_chain chain;
    uint32_t                random = 9;
    for (int i = 0; i < 4000; i++) {
        bool     mask = i % 4 == 0; /* has a unit of 1 */
        uint32_t unit = mask ? 1 : UINT32_C(1) << below(&random, 4);
        struct fby_source_scale scale = {
            unit, below(&random, unit), below(&random, unit)};
        chain.channels           = mask ? 1 : FBY_RGB;
        chain.passes.list[0]     = random_pass(&random);
        const struct fby_box  *b = &chain.passes.list[0].box;
        struct fby_resize_spec spec =
            fby_pass_resize_spec(&chain.passes.list[0], &scale);
        struct fby_box   part = fby_chain_source_box(&chain, &scale);
        struct fby_reach x    = steps_reached(&spec.x, chain.channels);
        struct fby_reach y    = steps_reached(&spec.y, chain.channels);
        assert_int_equal(part.x, b->x + x.first);
        assert_int_equal(part.y, b->y + y.first);
        assert_int_equal(part.w, x.n);
        assert_int_equal(part.h, y.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_of_the_table_has_an_apply),
        cmocka_unit_test(without_ops_the_picture_is_copied),
        cmocka_unit_test(a_crop_takes_its_box),
        cmocka_unit_test(a_mirror_swaps_left_and_right_when_drawn),
        cmocka_unit_test(a_chain_is_its_ops_one_after_the_other),
        cmocka_unit_test(resizes_in_a_row_do_not_write_what_they_read),
        cmocka_unit_test(a_plan_that_does_not_fit_is_refused),
        cmocka_unit_test(ops_take_exactly_the_memory_they_need),
        cmocka_unit_test(exactly_the_pixels_that_a_window_needs_are_decoded),
        cmocka_unit_test(within_its_share_a_transform_borrows_nothing),
        cmocka_unit_test(beyond_its_share_it_borrows_for_one_sample),
        cmocka_unit_test(a_need_beyond_all_memory_is_refused_with_both_numbers),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.apply", tests, open_transform, close_transform);
}
