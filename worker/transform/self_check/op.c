/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - self checks of the ops, on the built-in pictures. */
#include "pipeline/plan/draw.h"
#include "worker/transform/apply.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/self_check/self_check.h"

enum { DRAWS = 2 /* random draws for each picture and op */ };

/* The parameters of one check of an op, in the order of its schema. A parameter
 * has `n` numbers; 0: it is not given. */
struct op_case {
    enum fby_op_id   op;
    struct fby_value params[5];
};

static const struct op_case cases[] = {
    {FBY_OP_RANDOM_RESIZED_CROP,
        {{.n = 2, .i = {24, 20}}, {.n = 2, .real = true, .r = {0.08, 1}},
            {.n = 2, .real = true, .r = {0.75, 1.25}}}},
    {FBY_OP_RESIZE, {{.n = 1, .i = {20}}, {.n = 0}}},
    {FBY_OP_RESIZE, {{.n = 0}, {.n = 2, .i = {30, 61}}}},
    {FBY_OP_CENTER_CROP, {{.n = 2, .i = {16, 19}}}},
    {FBY_OP_RANDOM_CROP, {{.n = 2, .i = {16, 19}}}},
    {FBY_OP_HORIZONTAL_FLIP, {{.n = 1, .real = true, .r = {0.5}}}},
    {FBY_OP_VERTICAL_FLIP, {{.n = 1, .real = true, .r = {0.5}}}},
    {FBY_OP_PAD, {{.n = 1, .i = {3}}, {.n = 1, .i = {9}}, {.n = 1}}},
    {FBY_OP_PAD,
        {{.n = 2, .i = {3, 5}}, {.n = 1, .i = {9}}, {.n = 1, .i = {1}}}},
    {FBY_OP_PAD, {{.n = 4, .i = {1, 2, 3, 4}}, {.n = 1}, {.n = 1, .i = {2}}}},
    {FBY_OP_PAD, {{.n = 1, .i = {7}}, {.n = 1}, {.n = 1, .i = {3}}}},
    {FBY_OP_GRAYSCALE, {{0}}},
    {FBY_OP_RANDOM_GRAYSCALE, {{.n = 1, .real = true, .r = {0.5}}}},
    {FBY_OP_COLOUR_JITTER,
        {{.n = 1, .real = true, .r = {0.8}}, {.n = 1, .real = true, .r = {0.8}},
            {.n = 2, .real = true, .r = {0.2, 3}},
            {.n = 1, .real = true, .r = {0.5}}}},
    {FBY_OP_GAUSSIAN_BLUR,
        {{.n = 2, .i = {9, 5}}, {.n = 2, .real = true, .r = {0.1, 4}}}},
    {FBY_OP_RANDOM_ERASING,
        {{.n = 1, .real = true, .r = {1}},
            {.n = 2, .real = true, .r = {0.02, 0.33}},
            {.n = 2, .real = true, .r = {0.3, 3.3}}, {.n = 3, .i = {1, 2, 3}}}},
    {FBY_OP_ROTATE, {{.n = 1, .real = true, .r = {180}}, {.n = 1, .i = {40}}}},
    {FBY_OP_AFFINE,
        {{.n = 2, .real = true, .r = {-30, 60}},
            {.n = 2, .real = true, .r = {0.2, 0.3}},
            {.n = 2, .real = true, .r = {0.5, 2}},
            {.n = 4, .real = true, .r = {-20, 20, -10, 40}}, {.n = 1}}},
    {FBY_OP_TRIVIAL_AUGMENT, {{.n = 1, .i = {31}}, {.n = 1, .i = {7}}}},
    {FBY_OP_RAND_AUGMENT, {{.n = 1, .i = {4}}, {.n = 1, .i = {9}},
                              {.n = 1, .i = {31}}, {.n = 1, .i = {7}}}},
};

static void hash_plan(
    struct fby_self_check *check, const struct fby_op_plan *plan)
{
    const uint32_t numbers[] = {
        plan->x, plan->y, plan->w, plan->h, plan->out_w, plan->out_h};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        fby_digest_add_number(&check->hash, numbers[i], 4);
    }
    fby_digest_add_number(&check->hash, plan->flip, 1);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        fby_digest_add_number(&check->hash, (uint64_t)plan->steps[i].kind, 4);
        for (size_t k = 0; k < FBY_STEP_VALUES; k++) {
            fby_digest_add_number(
                &check->hash, (uint64_t)plan->steps[i].v[k], 8);
        }
    }
}

/* Run the op on a picture. `sample` selects the random draws. */
static void check_on_picture(struct fby_self_check *check,
    const struct fby_op_use *use, uint64_t sample, struct fby_image picture)
{
    struct fby_op_plan plan;
    struct fby_shape   shape = {3, {picture.height, picture.width, FBY_RGB}};
    struct fby_draw    draw =
        fby_draw_begin(1, 0, sample, "fingerprint", use->op->name, 0);
    if (!fby_self_check_add_outcome(
            check, use->op->plan(use, &draw, shape, &plan, NULL))) {
        return;
    }
    hash_plan(check, &plan);
    struct fby_scratch     memory = {0};
    struct fby_image       result = {0};
    struct fby_planned_ops ops    = {use, &plan, 1};
    check->err =
        fby_image_alloc(&memory, fby_op_plan_size(&plan), FBY_RGB, &result);
    if (check->err == FBY_OK) {
        check->err = fby_transform_run_ops(
            check->transform, &ops, picture, result, NULL);
    }
    if (check->err == FBY_OK) {
        fby_self_check_add_picture(check, &result, FBY_RGB);
    }
    fby_scratch_fini(&memory);
}

/* Run the op, with its parameters, on each picture with DRAWS draws. */
static void check_params(
    struct fby_self_check *check, const struct fby_op_use *use)
{
    for (uint64_t sample = 0; sample < fby_n_jpeg_probes * DRAWS; sample++) {
        const struct fby_picture_file *file = &fby_jpeg_probes[sample / DRAWS];
        struct fby_scratch             memory  = {0};
        struct fby_image               picture = {0};

        fby_err err = fby_picture_decode(
            &fby_jpeg_picture, file, &memory, &picture, NULL);
        if (err == FBY_OK) {
            check_on_picture(check, use, sample, picture);
        } else {
            fby_self_check_add_outcome(check, err);
        }
        fby_scratch_fini(&memory);
    }
}

void fby_self_check_op(struct fby_self_check *check, const struct fby_op *op)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fby_op_use use = {.op = op};
        memcpy(use.params, cases[i].params, sizeof(cases[i].params));
        if (cases[i].op == op->id) {
            check_params(check, &use);
        }
    }
}

bool fby_self_check_has_op(uint32_t op_id)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (cases[i].op == op_id) {
            return fby_transform_knows_op(op_id);
        }
    }
    return false;
}
