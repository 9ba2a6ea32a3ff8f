/* SPDX-License-Identifier: Apache-2.0 */
/* device_ops.c - ops that the trainer's device applies to pictures: the draws,
 * the pairs of rows that are mixed, the rules, and the hashes of the draws. */
#include "pipeline/device_ops.h"

#include "pipeline/derived.h"
#include "pipeline/plan/draw.h"

/* ---- draws ---- */

/* The number in the key of a draw that distinguishes rows: the row's sample.
 * But all rows of a group share the draws of an op that mixes rows. For such an
 * op, the number is made from the step and the first row of the group. */
static uint64_t draw_key_of_row(
    const struct fby_op *op, const struct fby_device_row *row)
{
    uint64_t first_of_group = row->row - row->row % FBY_PAIR_GROUP;
    return op->mixes_rows ? row->step * FBY_MAX_BATCH + first_of_group
                          : row->sample;
}

struct fby_op_plan fby_device_draw_plan(const struct fby_field_content *field,
    uint32_t i, const struct fby_device_row *row)
{
    const struct fby_op_use *use  = &field->device[i];
    struct fby_op_plan       plan = fby_op_plan_identity(field->shape);
    if (use->op->plan != NULL) {
        struct fby_draw draw =
            fby_draw_begin(row->seed, row->epoch, draw_key_of_row(use->op, row),
                field->group, use->op->name, use->occurrence);
        fby_err err = use->op->plan(use, &draw, field->shape, &plan, NULL);
        (void)err; /* no op of the device refuses a picture */
    }
    return plan;
}

/* ---- pairs ---- */

uint32_t fby_pair_partner(uint32_t row, uint32_t unpadded, uint32_t rows)
{
    uint32_t first_row =
        row - row % FBY_PAIR_GROUP; /* first row of the group */
    uint32_t end_row =
        rows - first_row < FBY_PAIR_GROUP ? rows : first_row + FBY_PAIR_GROUP;
    /* If the group is partly padding, keep only the rows of the same kind. */
    if (row < unpadded && unpadded < end_row) {
        end_row = unpadded;
    } else if (row >= unpadded && unpadded > first_row) {
        first_row = unpadded;
    }
    return row > first_row ? row - 1 : end_row - 1;
}

const struct fby_op_use *fby_device_mixing_op(
    const struct fby_field_content *field)
{
    /* In a valid list, only the last op can be one that mixes rows. */
    const struct fby_op_use *last =
        field->n_device > 0 ? &field->device[field->n_device - 1] : NULL;
    return last != NULL && last->op->mixes_rows ? last : NULL;
}

const struct fby_field_content *fby_mixing_field_of_label(
    const struct fby_content *content, uint32_t i)
{
    for (uint32_t k = 0; k < content->n_fields; k++) {
        const struct fby_op_use *mixing_op =
            fby_device_mixing_op(&content->fields[k]);
        if (mixing_op != NULL &&
            mixing_op->params[FBY_MIXING_LABEL].i[0] == i) {
            return &content->fields[k];
        }
    }
    return NULL;
}

fby_err fby_content_check_world(const struct fby_content *content,
    uint32_t world, struct fby_error_detail *why)
{
    uint32_t rank_rows = world > 0 ? content->global_batch / world : 0;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_op_use *mixing_op =
            fby_device_mixing_op(&content->fields[i]);
        if (mixing_op != NULL && world > 1 && rank_rows % FBY_PAIR_GROUP != 0) {
            return fby_error_set(why, FBY_CONFIG,
                "%s mixes rows within groups of %d of the global batch; a "
                "world of %u gives each rank %u rows, which splits a group: "
                "make global_batch (%u) a multiple of %u, or use another "
                "number of ranks",
                mixing_op->op->name, FBY_PAIR_GROUP, world, rank_rows,
                content->global_batch, world * FBY_PAIR_GROUP);
        }
    }
    return FBY_OK;
}

/* ---- rules ----
 * Each op is in the list at most once. Ops that need levels come before
 * normalize. Mixup or cutmix comes last and names a one-hot label. */

/* True if normalize comes before op `i` in the list. */
static bool has_normalize_before(
    const struct fby_field_content *field, uint32_t i)
{
    uint32_t k = 0;
    while (k < i && field->device[k].op->id != FBY_OP_DEVICE_NORMALIZE) {
        k++;
    }
    return k < i;
}

static fby_err check_op_order(const struct fby_field_content *field, uint32_t i,
    struct fby_error_detail *why)
{
    const struct fby_op *op = field->device[i].op;
    for (uint32_t k = 0; k < i; k++) {
        if (field->device[k].op == op) {
            return fby_error_set(why, FBY_CONFIG,
                "%s is given twice under device; write it once", op->name);
        }
    }
    if (op->before_normalize && has_normalize_before(field, i)) {
        return fby_error_set(why, FBY_CONFIG,
            "%s needs levels of 0 to 1: write it before normalize", op->name);
    }
    if (op->mixes_rows && i + 1 < field->n_device) {
        return fby_error_set(why, FBY_CONFIG,
            "%s mixes finished rows: write it last, as the only op that mixes",
            op->name);
    }
    return FBY_OK;
}

/* Before normalize the value of random_erasing must be a level, 0 to 1. */
static fby_err check_erasing(const struct fby_field_content *field, uint32_t i,
    struct fby_error_detail *why)
{
    enum { VALUE = 3 }; /* index of the parameter `value` */
    const struct fby_op_use *use      = &field->device[i];
    const struct fby_value  *value    = &use->params[VALUE];
    bool                     is_level = true;
    if (use->op->id != FBY_OP_DEVICE_RANDOM_ERASING ||
        has_normalize_before(field, i)) {
        return FBY_OK;
    }
    for (uint32_t c = 0; c < value->n; c++) {
        is_level = is_level && value->r[c] >= 0 && value->r[c] <= 1;
    }
    return is_level
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "random_erasing: before normalize a value is a level, 0 "
                     "to 1; write the op after normalize for other values");
}

static fby_err check_mixed_label(
    const struct fby_content *content, uint32_t i, struct fby_error_detail *why)
{
    const struct fby_field_content *field     = &content->fields[i];
    const struct fby_op_use        *mixing_op = fby_device_mixing_op(field);
    if (mixing_op == NULL) {
        return FBY_OK;
    }
    int64_t label_index = mixing_op->params[FBY_MIXING_LABEL].i[0];
    if (label_index >= content->n_fields) {
        return fby_error_set(
            why, FBY_CONFIG, "%s: label names no field", mixing_op->op->name);
    }
    const struct fby_field_content *label = &content->fields[label_index];
    if (!fby_field_is_one_hot(label)) {
        return fby_error_set(why, FBY_CONFIG,
            "%s mixes labels as it mixes pictures: field '%s' must be a label "
            "with one_hot",
            mixing_op->op->name, label->name);
    }
    const struct fby_field_content *mixing_field =
        fby_mixing_field_of_label(content, (uint32_t)label_index);
    return mixing_field == field
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%s: the label '%s' is mixed by field '%s' already",
                     mixing_op->op->name, label->name, mixing_field->name);
}

fby_err fby_device_ops_check(const struct fby_content *content, uint32_t i,
    uint32_t *wrong_op, struct fby_error_detail *why)
{
    const struct fby_field_content *field = &content->fields[i];
    *wrong_op                             = 0;
    for (uint32_t k = 0; k < field->n_device; k++) {
        *wrong_op = k;
        FBY_TRY(check_op_order(field, k, why));
        FBY_TRY(check_erasing(field, k, why));
    }
    return check_mixed_label(content, i, why);
}

/* ---- hashes ---- */

/* An op and its parameters, in the order of the op's table. The plans that it
 * draws are hashed, to detect a build that draws differently. */
struct trial {
    enum fby_op_id   op;
    struct fby_value params[4];
};

/* The value of a parameter of one or two real numbers. */
#define ONE(a)                           \
    {                                    \
        .n = 1, .real = true, .r = { a } \
    }
#define TWO(a, b)                           \
    {                                       \
        .n = 2, .real = true, .r = { a, b } \
    }

/* The label of mixup and cutmix is field 0: {.n = 1}. */
static const struct trial trials[] = {
    {FBY_OP_DEVICE_HORIZONTAL_FLIP, {ONE(0.5)}},
    {FBY_OP_DEVICE_VERTICAL_FLIP, {ONE(0.5)}},
    {FBY_OP_DEVICE_COLOUR_JITTER, {ONE(0.8), ONE(0.8), TWO(0.2, 3), ONE(0.5)}},
    {FBY_OP_DEVICE_RANDOM_ERASING,
        {ONE(1), TWO(0.02, 0.33), TWO(0.3, 3.3), {.n = 3, .real = true}}},
    {FBY_OP_DEVICE_MIXUP, {ONE(0.2), {.n = 1}}},
    {FBY_OP_DEVICE_MIXUP, {ONE(4), {.n = 1}}},
    {FBY_OP_DEVICE_CUTMIX, {ONE(1), {.n = 1}}},
};

/* The numbers below are arbitrary, but a change would change the hashes. */
enum { TRIAL_DRAWS = 16, TRIAL_HEIGHT = 61, TRIAL_WIDTH = 30 };

static void hash_plan(
    struct fby_digest_state *hash, const struct fby_op_plan *plan)
{
    fby_key_add(hash, plan->flip, 1);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        fby_key_add(hash, plan->steps[i].kind, 4);
        for (uint32_t k = 0; k < FBY_STEP_VALUES; k++) {
            fby_key_add(hash, (uint64_t)plan->steps[i].v[k], 8);
        }
    }
}

static void hash_trial(struct fby_digest_state *hash, const struct fby_op *op,
    const struct trial *trial)
{
    struct fby_op_use use   = {.op = op};
    struct fby_shape  shape = {3, {TRIAL_HEIGHT, TRIAL_WIDTH, 3}};
    memcpy(use.params, trial->params, sizeof(trial->params));
    for (uint64_t sample = 0; sample < TRIAL_DRAWS; sample++) {
        struct fby_op_plan plan = {0};
        struct fby_draw draw = fby_draw_begin(/*seed=*/1, /*epoch=*/0, sample,
            "fingerprint", op->name, /*occurrence=*/0);
        fby_err         err  = op->plan(&use, &draw, shape, &plan, NULL);
        (void)err; /* no op of the device refuses a picture */
        hash_plan(hash, &plan);
    }
}

struct fby_digest fby_device_op_hash(const struct fby_op *op)
{
    struct fby_digest_state hash;
    fby_digest_begin(&hash);
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        if (trials[i].op == op->id) {
            hash_trial(&hash, op, &trials[i]);
        }
    }
    return fby_digest_end(&hash);
}

struct fby_digest fby_device_list_hash(const struct fby_field_content *field)
{
    struct fby_digest_state hash;
    fby_digest_begin(&hash);
    for (uint32_t i = 0; i < field->n_device; i++) {
        struct fby_digest op_hash = fby_device_op_hash(field->device[i].op);
        fby_digest_add(&hash, op_hash.bytes, sizeof(op_hash.bytes));
    }
    return fby_digest_end(&hash);
}
