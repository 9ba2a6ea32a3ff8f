/* SPDX-License-Identifier: Apache-2.0 */
/* Ops with steps on a picture and its mask; check_steps.py tests the values
 * that each step makes. */
#include "tests/worker/transform/pictures.h"
#include "tests/worker/transform/transform.h"

#include "pipeline/plan/draw.h"
#include "worker/transform/apply.h"
#include "worker/transform/steps/steps.h"
#include "worker/transform/transform_private.h"

enum { SIDE = 96, BLOCK = 16 };

/* Blocks of black and white: as an image, or as its mask. */
static struct fby_image blocks(uint32_t channels)
{
    size_t           stride = (size_t)SIDE * channels;
    struct fby_image image  = {malloc(stride * SIDE), stride, SIDE, SIDE};
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            bool white = (x / BLOCK * 5 + y / BLOCK * 3) % 7 < 3;
            memset(image.pixels + y * stride + (size_t)x * channels,
                white ? 255 : 0, channels);
        }
    }
    return image;
}

/* Run the ops on `in`, passing its rows one by one, as a decoder does. */
static struct fby_image run_on(const struct fby_planned_ops *run,
    const struct fby_image *in, uint32_t channels)
{
    struct fby_chain       chain;
    struct fby_size        end = fby_op_plan_size(&run->plans[run->n_ops - 1]);
    size_t                 stride = (size_t)end.w * channels;
    struct fby_image       out = {malloc(stride * end.h), stride, end.w, end.h};
    struct fby_chain_input source = {{in->width, in->height}, channels, false};
    size_t   size = ((size_t)in->width + FBY_RESIZE_ROW_SLACK) * FBY_RGB;
    uint8_t *row  = calloc(1, size);
    assert_ok(fby_chain_plan(run, source, &out, &chain, NULL));
    struct fby_box box = fby_chain_source_box(&chain, &fby_unscaled);
    assert_ok(fby_chain_begin(transform, &chain, &fby_unscaled));
    for (uint32_t y = box.y; y < box.y + box.h; y++) {
        struct fby_image one = {row, size, box.w, 1};
        memcpy(row, in->pixels + y * in->stride + (size_t)box.x * channels,
            (size_t)box.w * channels);
        fby_chain_add_rows(transform, &chain, &one);
    }
    assert_ok(fby_chain_end(transform, &chain));
    free(row);
    return out;
}

static struct fby_image run_as(
    const struct fby_planned_ops *run, uint32_t channels)
{
    struct fby_image in  = blocks(channels);
    struct fby_image out = run_on(run, &in, channels);
    free(in.pixels);
    return out;
}

static struct fby_op_use use_of(const struct fby_op *op)
{
    struct fby_op_use use = {.op = op};
    for (uint32_t i = 0; i < op->n_params; i++) {
        use.params[i] = op->params[i].fallback;
        if (strcmp(op->params[i].name, "p") == 0) {
            use.params[i].r[0] = 1;
        }
    }
    return use;
}

static struct fby_value real_pair(double low, double high)
{
    return (struct fby_value){.n = 2, .real = true, .r = {low, high}};
}

/* Parameters that have no default. */
static struct fby_op_use ready_use(const struct fby_op *op)
{
    struct fby_op_use use = use_of(op);
    switch ((int)op->id) {
    case FBY_OP_RESIZE:
        use.params[1] = (struct fby_value){.n = 2, .i = {61, 140}};
        break;
    case FBY_OP_RANDOM_RESIZED_CROP:
    case FBY_OP_CENTER_CROP:
    case FBY_OP_RANDOM_CROP:
        use.params[0] = (struct fby_value){.n = 2, .i = {80, 70}};
        break;
    case FBY_OP_PAD:
        use.params[0]      = (struct fby_value){.n = 4, .i = {9, 17, 1, 30}};
        use.params[2].i[0] = FBY_PAD_REFLECT;
        break;
    case FBY_OP_COLOUR_JITTER:
        use.params[0] = real_pair(0.5, 1.5);
        use.params[3] = real_pair(-0.5, 0.5);
        break;
    case FBY_OP_GAUSSIAN_BLUR:
        use.params[0] = (struct fby_value){.n = 2, .i = {5, 9}};
        break;
    case FBY_OP_ROTATE:
        use.params[0] = real_pair(-170, 170);
        break;
    case FBY_OP_AFFINE:
        use.params[0] = real_pair(-50, 50);
        use.params[1] = real_pair(0.1, 0.3);
        use.params[2] = real_pair(0.7, 1.4);
        use.params[3] = real_pair(-20, 30);
        break;
    default:
        break;
    }
    return use;
}

static struct fby_op_plan plan_of(const struct fby_op_use *use, uint64_t sample)
{
    struct fby_op_plan plan;
    struct fby_shape   shape = {3, {SIDE, SIDE, FBY_RGB}};
    struct fby_draw draw = fby_draw_begin(9, 0, sample, "g", use->op->name, 0);
    assert_ok(use->op->plan(use, &draw, shape, &plan, NULL));
    return plan;
}

static bool moves_pixels(const struct fby_op_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        if (fby_step_is_geometric(plan->steps[i].kind)) {
            return true;
        }
    }
    return plan->n_steps == 0;
}

static bool changes_colours(const struct fby_op_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        if (!fby_step_is_geometric(plan->steps[i].kind)) {
            return true;
        }
    }
    return false;
}

/* The mask is black and white where the image is; other levels of the image
 * come from interpolation. */
static void assert_matches(
    const struct fby_image *image, const struct fby_image *mask)
{
    uint32_t pure = 0;
    for (uint32_t y = 0; y < image->height; y++) {
        for (uint32_t x = 0; x < image->width; x++) {
            uint8_t level = *pixel_at(image, x, y);
            uint8_t id    = mask->pixels[y * mask->stride + x];
            assert_true(id == 0 || id == 255);
            assert_true((level != 0 && level != 255) || id == level);
            pure += level == 0 || level == 255;
        }
    }
    assert_true(pure > image->width * image->height / 2);
}

static void assert_mask_follows(const struct fby_op *op, uint64_t sample)
{
    struct fby_op_use      use   = ready_use(op);
    struct fby_op_plan     plan  = plan_of(&use, sample);
    struct fby_planned_ops run   = {&use, &plan, 1};
    struct fby_size        end   = fby_op_plan_size(&plan);
    struct fby_image       image = run_as(&run, FBY_RGB);
    struct fby_image       mask  = run_as(&run, 1);
    struct fby_image       right = blocks(1);
    if (!changes_colours(&plan)) {
        assert_matches(&image, &mask);
    } else if (!moves_pixels(&plan)) {
        assert_int_equal(end.w, SIDE);
        assert_memory_equal(mask.pixels, right.pixels, (size_t)SIDE * SIDE);
    }
    free(image.pixels);
    free(mask.pixels);
    free(right.pixels);
}

static void after_every_op_a_mask_still_matches_its_image(void **state)
{
    (void)state;
    for (size_t i = 0; i < fby_n_ops; i++) {
        for (uint64_t sample = 0; sample < 40; sample++) {
            assert_mask_follows(fby_ops[i], sample);
        }
    }
}

/* Steps in place, steps that move, crops and scalings in one list. */
enum { CHAIN = 9 };
static const char *const chain_ops[CHAIN] = {"grayscale", "rotate",
    "random_crop", "gaussian_blur", "vertical_flip", "pad", "horizontal_flip",
    "resize", "random_erasing"};

static void plan_chain(
    struct fby_op_use uses[CHAIN], struct fby_op_plan plans[CHAIN])
{
    struct fby_shape shape = {3, {SIDE, SIDE, FBY_RGB}};
    for (int i = 0; i < CHAIN; i++) {
        uses[i]              = ready_use(fby_op_named(chain_ops[i]));
        struct fby_draw draw = fby_draw_begin(9, 0, 3, "g", chain_ops[i], 0);
        assert_ok(uses[i].op->plan(&uses[i], &draw, shape, &plans[i], NULL));
        struct fby_size size = fby_op_plan_size(&plans[i]);
        shape                = (struct fby_shape){3, {size.h, size.w, FBY_RGB}};
    }
}

static void a_chain_with_steps_is_its_ops_one_after_the_other(void **state)
{
    (void)state;
    struct fby_op_use  uses[CHAIN];
    struct fby_op_plan plans[CHAIN];
    plan_chain(uses, plans);
    for (uint32_t n = 1; n <= CHAIN; n++) {
        struct fby_image at = blocks(FBY_RGB);
        for (uint32_t i = 0; i < n; i++) {
            struct fby_size        end = fby_op_plan_size(&plans[i]);
            struct fby_image       out = new_picture(end.w, end.h);
            struct fby_planned_ops one = {&uses[i], &plans[i], 1};
            assert_ok(fby_transform_run_ops(transform, &one, at, out, NULL));
            free(at.pixels);
            at = out;
        }
        struct fby_planned_ops all = {uses, plans, n};
        struct fby_image       out = run_as(&all, FBY_RGB);
        assert_same_picture(&at, &out);
        free(at.pixels);
        free(out.pixels);
    }
}

enum { WIDE = 24, HIGH = 12 };

/* A picture or mask in which neighbouring bytes differ. */
static struct fby_image motley(uint32_t channels)
{
    size_t           stride = (size_t)WIDE * channels;
    struct fby_image image  = {malloc(stride * HIGH), stride, WIDE, HIGH};
    for (size_t i = 0; i < stride * HIGH; i++) {
        image.pixels[i] = (uint8_t)(i * 7);
    }
    return image;
}

static void assert_is_its_ops_in_turn(
    const struct fby_planned_ops *run, uint32_t channels)
{
    struct fby_image at = motley(channels);
    for (uint32_t n = 1; n <= run->n_ops; n++) {
        struct fby_planned_ops one = {&run->uses[n - 1], &run->plans[n - 1], 1};
        struct fby_planned_ops all = {run->uses, run->plans, n};
        struct fby_image       in  = motley(channels);
        struct fby_image       out = run_on(&all, &in, channels);
        struct fby_image       was = at;
        at                         = run_on(&one, &was, channels);
        assert_int_equal(out.width, at.width);
        assert_memory_equal(out.pixels, at.pixels, at.stride * at.height);
        free(was.pixels);
        free(in.pixels);
        free(out.pixels);
    }
    free(at.pixels);
}

/* If a centre is between two pixels of a mask, one of them is taken. The order
 * of mirror and scaling decides which one. */
static void what_is_mirrored_first_is_scaled_mirrored(void **state)
{
    (void)state;
    static const struct fby_op_plan plans[4] = {
        {0, 0, WIDE, HIGH, WIDE, HIGH, true, 0, {{0}}},
        {2, 0, 20, 12, 10, 9, false, 0, {{0}}},
        {1, 0, 8, 9, 8, 9, true, 0, {{0}}},
        {0, 0, 8, 9, 4, 18, true, 0, {{0}}}};
    struct fby_op_use      uses[4] = {use_of(fby_op_named("horizontal_flip")),
             use_of(fby_op_named("random_resized_crop")),
             use_of(fby_op_named("center_crop")), use_of(fby_op_named("resize"))};
    struct fby_planned_ops run     = {uses, plans, 4};
    assert_is_its_ops_in_turn(&run, 1);
    assert_is_its_ops_in_turn(&run, FBY_RGB);
}

static uint32_t seed;

/* Any number of [low, high]. */
static uint32_t between(uint32_t low, uint32_t high)
{
    seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return low + (seed >> 12) % (high - low + 1);
}

/* The whole picture or a part, sometimes scaled, mirrored or flipped. */
static struct fby_op_plan any_plan(struct fby_size in)
{
    bool               cuts   = between(0, 1) == 0;
    bool               scales = between(0, 2) == 0;
    struct fby_op_plan plan   = {.w = cuts ? between(1, in.w) : in.w,
          .h                        = cuts ? between(1, in.h) : in.h};
    plan.x                    = between(0, in.w - plan.w);
    plan.y                    = between(0, in.h - plan.h);
    plan.out_w                = scales ? between(1, 30) : plan.w;
    plan.out_h                = scales ? between(1, 30) : plan.h;
    plan.flip                 = between(0, 1) == 0;
    plan.n_steps              = between(0, 4) == 0 ? 1 : 0;
    plan.steps[0].kind        = FBY_STEP_VERTICAL_FLIP;
    return plan;
}

static void any_chain_is_its_ops_one_after_the_other(void **state)
{
    (void)state;
    enum { CASES = 1000, MOST = 6 };
    seed = 1;
    for (int i = 0; i < CASES; i++) {
        struct fby_op_use      uses[MOST];
        struct fby_op_plan     plans[MOST];
        struct fby_size        at  = {WIDE, HIGH};
        struct fby_planned_ops run = {uses, plans, between(1, MOST)};
        for (uint32_t k = 0; k < run.n_ops; k++) {
            uses[k]  = use_of(fby_op_named("random_resized_crop"));
            plans[k] = any_plan(at);
            at       = fby_op_plan_size(&plans[k]);
        }
        assert_is_its_ops_in_turn(&run, i % 2 == 0 ? 1 : FBY_RGB);
    }
}

static void what_steps_need_is_what_they_take(void **state)
{
    (void)state;
    struct fby_op_use      uses[CHAIN];
    struct fby_op_plan     plans[CHAIN];
    struct fby_planned_ops run   = {uses, plans, CHAIN};
    struct fby_transform  *fresh = fby_transform_create(NULL);
    struct fby_need        need  = {.library_bytes = 0};
    struct fby_chain       chain;
    struct fby_image       in = blocks(FBY_RGB);
    plan_chain(uses, plans);
    struct fby_size  end = fby_op_plan_size(&plans[CHAIN - 1]);
    struct fby_image out = new_picture(end.w, end.h);
    assert_ok(fby_chain_plan(&run,
        (struct fby_chain_input){{SIDE, SIDE}, FBY_RGB, false}, &out, &chain,
        NULL));
    fby_chain_raise_need(&chain, &fby_unscaled, &need);
    assert_ok(fby_transform_run_ops(fresh, &run, in, out, NULL));
    for (int i = 0; i < 2; i++) {
        assert_in_range(fresh->results[i].size_bytes, need.results[i],
            need.results[i] + 63);
    }
    assert_in_range(
        fresh->step_memory.size_bytes, need.step_memory, need.step_memory + 63);
    assert_true(need.step_memory > 0 && need.results[1] > 0);
    fby_transform_destroy(&fresh);
    free(in.pixels);
    free(out.pixels);
}

static void a_step_that_is_not_known_is_refused(void **state)
{
    (void)state;
    struct fby_image       in   = new_picture(8, 8);
    struct fby_image       out  = new_picture(8, 8);
    struct fby_op_use      use  = use_of(fby_op_named("grayscale"));
    struct fby_op_plan     plan = {.w = 8, .h = 8, .out_w = 8, .out_h = 8};
    struct fby_planned_ops run  = {&use, &plan, 1};
    plan.n_steps                = 1;
    plan.steps[0].kind          = FBY_N_STEPS;
    assert_int_equal(
        fby_transform_run_ops(transform, &run, in, out, NULL), FBY_USAGE);
    plan.steps[0].kind = FBY_STEP_GREY;
    plan.n_steps       = FBY_MAX_STEPS + 1;
    assert_int_equal(
        fby_transform_run_ops(transform, &run, in, out, NULL), FBY_USAGE);
    free(in.pixels);
    free(out.pixels);
}

/* Black, white and the levels between them: without contrast all are the mean,
 * with all of it they stay. */
static void contrast_changes_every_level(void **state)
{
    (void)state;
    enum { MEAN = 126 }; /* a grey is 0.9999 of its level, cut */
    struct fby_image   in   = new_picture(16, 16);
    struct fby_image   out  = new_picture(16, 16);
    struct fby_op_use  use  = use_of(fby_op_named("grayscale"));
    struct fby_op_plan plan = {
        .w = 16, .h = 16, .out_w = 16, .out_h = 16, .n_steps = 1};
    struct fby_planned_ops run = {&use, &plan, 1};
    plan.steps[0].kind         = FBY_STEP_CONTRAST;
    for (uint32_t i = 0; i < 256; i++) {
        memset(in.pixels + i / 16 * in.stride + (size_t)(i % 16) * FBY_RGB,
            (int)i, FBY_RGB);
    }
    for (uint32_t whole = 0; whole < 2; whole++) {
        plan.steps[0].v[0] = whole * INT64_C(65536);
        assert_ok(fby_transform_run_ops(transform, &run, in, out, NULL));
        for (uint32_t i = 0; i < 256; i++) {
            const uint8_t *pixel =
                out.pixels + i / 16 * out.stride + (size_t)(i % 16) * FBY_RGB;
            assert_int_equal(pixel[0], whole == 1 ? i : MEAN);
        }
    }
    free(in.pixels);
    free(out.pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_every_op_a_mask_still_matches_its_image),
        cmocka_unit_test(a_chain_with_steps_is_its_ops_one_after_the_other),
        cmocka_unit_test(what_is_mirrored_first_is_scaled_mirrored),
        cmocka_unit_test(any_chain_is_its_ops_one_after_the_other),
        cmocka_unit_test(what_steps_need_is_what_they_take),
        cmocka_unit_test(a_step_that_is_not_known_is_refused),
        cmocka_unit_test(contrast_changes_every_level),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.steps", tests, open_transform, close_transform);
}
