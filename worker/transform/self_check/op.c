/* op.c - self checks of the ops, on the built-in pictures. */
#include <string.h>

#include "pipeline/plan/draw.h"
#include "worker/transform/self_check/decoder_hash.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/self_check/self_check.h"

enum { DRAWS = 2 /* a picture and op */ };

/* The parameters of one check of an op, in the order of its schema. */
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

static void add_step(struct fby_digest_state *hash, const struct fby_step *step)
{
    fby_decoder_hash_add(hash, (uint64_t)step->kind, 4);
    for (size_t i = 0; i < FBY_STEP_VALUES; i++) {
        fby_decoder_hash_add(hash, (uint64_t)step->v[i], 8);
    }
}

static void add_plan(
    struct fby_digest_state *hash, const struct fby_op_plan *plan)
{
    const uint32_t numbers[] = {
        plan->x, plan->y, plan->w, plan->h, plan->out_w, plan->out_h};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        fby_decoder_hash_add(hash, numbers[i], 4);
    }
    fby_decoder_hash_add(hash, plan->flip, 1);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        add_step(hash, &plan->steps[i]);
    }
}

/* The buffers of the checks. */
struct op_check {
    struct fby_transform *transform;
    struct fby_scratch    picture;
    struct fby_scratch    result;
};

/* Run the op on one built-in picture; `sample` selects the picture and the
 * draws. */
static fby_err try_op_on(struct op_check *check, struct fby_digest_state *hash,
    const struct fby_op_use *use, uint64_t sample)
{
    struct fby_image picture = {0};

    fby_err err = fby_jpeg_decode(
        &fby_probes[sample / DRAWS], &check->picture, &picture, NULL);
    if (err != FBY_OK) {
        return fby_self_check_outcome(hash, err);
    }
    struct fby_op_plan plan;
    struct fby_shape   shape = {3, {picture.height, picture.width, FBY_RGB}};
    struct fby_draw    draw =
        fby_draw_begin(1, 0, sample, "fingerprint", use->op->name, 0);
    err            = use->op->plan(use, &draw, shape, &plan, NULL);
    fby_err broken = fby_self_check_outcome(hash, err);
    if (err != FBY_OK) {
        return broken;
    }
    add_plan(hash, &plan);
    struct fby_image  result = {0};
    struct fby_op_run run    = {use, &plan, 1};
    err =
        fby_image_of(&check->result, fby_op_plan_size(&plan), FBY_RGB, &result);
    if (err == FBY_OK) {
        err = fby_transform_run(check->transform, &run, picture, result, NULL);
    }
    if (err == FBY_OK) {
        fby_self_check_picture(hash, &result, FBY_RGB);
    }
    return err;
}

static fby_err try_params(struct op_check *check, struct fby_digest_state *hash,
    const struct fby_op *op)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_op_use use = {.op = op};
        memcpy(use.params, cases[i].params, sizeof(cases[i].params));
        uint64_t n = cases[i].op == op->id ? fby_n_probes * DRAWS : 0;
        for (uint64_t sample = 0; sample < n && err == FBY_OK; sample++) {
            err = try_op_on(check, hash, &use, sample);
        }
    }
    return err;
}

fby_err fby_self_check_op(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_op *op)
{
    struct op_check check = {.transform = transform};
    fby_err         err   = try_params(&check, hash, op);
    fby_scratch_fini(&check.picture);
    fby_scratch_fini(&check.result);
    return err;
}

bool fby_has_self_check(uint32_t op_id)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].op == op_id) {
            return fby_transform_knows(op_id);
        }
    }
    return false;
}
