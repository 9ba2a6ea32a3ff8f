/* device_ops.c - draws, pairs and the world; what may stand in a list is in
 * device_rules.c. */
#include "pipeline/device_ops.h"

#include "pipeline/plan/draw.h"

/* ---- draws ---- */

/* Pairs share the draws of their group: keyed by its step and first row. */
static uint64_t key_of(
    const struct fby_op *op, const struct fby_device_place *place)
{
    uint64_t group = place->row / FBY_PAIR_GROUP;
    return op->pairs ? place->step * FBY_MAX_BATCH + group * FBY_PAIR_GROUP
                     : place->sample;
}

struct fby_op_plan fby_device_plan(const struct fby_field_content *field,
    uint32_t i, const struct fby_device_place *place)
{
    const struct fby_op_use *use  = &field->device[i];
    struct fby_op_plan       plan = {.w = field->shape.dims[1],
              .h                        = field->shape.dims[0],
              .out_w                    = field->shape.dims[1],
              .out_h                    = field->shape.dims[0]};
    if (use->op->plan != NULL) {
        struct fby_draw draw =
            fby_draw_begin(place->seed, place->epoch, key_of(use->op, place),
                field->group, use->op->name, use->occurrence);
        fby_err err = use->op->plan(use, &draw, field->shape, &plan, NULL);
        (void)err; /* those of the table use every picture */
    }
    return plan;
}

/* ---- pairs ---- */

uint32_t fby_pair_partner(uint32_t row, uint32_t own, uint32_t rows)
{
    uint32_t first = row - row % FBY_PAIR_GROUP;
    uint32_t end =
        rows - first < FBY_PAIR_GROUP ? rows : first + FBY_PAIR_GROUP;
    if (row < own && own < end) {
        end = own;
    } else if (row >= own && own > first) {
        first = own;
    }
    return row > first ? row - 1 : end - 1;
}

const struct fby_op_use *fby_device_pairing(
    const struct fby_field_content *field)
{
    const struct fby_op_use *last =
        field->n_device > 0 ? &field->device[field->n_device - 1] : NULL;
    return last != NULL && last->op->pairs ? last : NULL;
}

const struct fby_field_content *fby_mixed_by(
    const struct fby_content *content, uint32_t i)
{
    for (uint32_t k = 0; k < content->n_fields; k++) {
        const struct fby_op_use *pairing =
            fby_device_pairing(&content->fields[k]);
        if (pairing != NULL && pairing->params[FBY_PAIR_LABEL].i[0] == i) {
            return &content->fields[k];
        }
    }
    return NULL;
}

static const struct fby_op *any_pairing(const struct fby_content *content)
{
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_op_use *pairing =
            fby_device_pairing(&content->fields[i]);
        if (pairing != NULL) {
            return pairing->op;
        }
    }
    return NULL;
}

fby_err fby_content_check_world(
    const struct fby_content *content, uint32_t world, struct fby_why *why)
{
    const struct fby_op *op   = any_pairing(content);
    uint32_t             rows = world > 0 ? content->global_batch / world : 0;
    return op == NULL || world <= 1 || rows % FBY_PAIR_GROUP == 0
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "%s mixes rows within groups of %d of the global batch; a "
                     "world of %u gives each rank %u rows, which splits a "
                     "group: make global_batch (%u) a multiple of %u, or take "
                     "another world",
                     op->name, FBY_PAIR_GROUP, world, rows,
                     content->global_batch, world * FBY_PAIR_GROUP);
}

/* ---- behaviour ---- */

struct trial { /* parameters an op is tried with, in the order of its schema */
    enum fby_op_id   op;
    struct fby_value params[4];
};

static const struct trial trials[] = {
    {FBY_OP_DEVICE_HORIZONTAL_FLIP, {{.n = 1, .real = true, .r = {0.5}}}},
    {FBY_OP_DEVICE_VERTICAL_FLIP, {{.n = 1, .real = true, .r = {0.5}}}},
    {FBY_OP_DEVICE_COLOUR_JITTER,
        {{.n = 1, .real = true, .r = {0.8}}, {.n = 1, .real = true, .r = {0.8}},
            {.n = 2, .real = true, .r = {0.2, 3}},
            {.n = 1, .real = true, .r = {0.5}}}},
    {FBY_OP_DEVICE_RANDOM_ERASING,
        {{.n = 1, .real = true, .r = {1}},
            {.n = 2, .real = true, .r = {0.02, 0.33}},
            {.n = 2, .real = true, .r = {0.3, 3.3}}, {.n = 3, .real = true}}},
    {FBY_OP_DEVICE_MIXUP, {{.n = 1, .real = true, .r = {0.2}}, {.n = 1}}},
    {FBY_OP_DEVICE_MIXUP, {{.n = 1, .real = true, .r = {4}}, {.n = 1}}},
    {FBY_OP_DEVICE_CUTMIX, {{.n = 1, .real = true, .r = {1}}, {.n = 1}}},
};

enum { TRIAL_DRAWS = 16, TRIAL_HEIGHT = 61, TRIAL_WIDTH = 30 };

static void add(struct fby_digest_state *hash, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    fby_store_le(bytes, value, width);
    fby_digest_add(hash, bytes, width);
}

static void add_plan(
    struct fby_digest_state *hash, const struct fby_op_plan *plan)
{
    add(hash, plan->flip, 1);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        add(hash, plan->steps[i].kind, 4);
        for (uint32_t k = 0; k < FBY_STEP_VALUES; k++) {
            add(hash, (uint64_t)plan->steps[i].v[k], 8);
        }
    }
}

static void add_trial(struct fby_digest_state *hash, const struct fby_op *op,
    const struct trial *trial)
{
    struct fby_op_use use   = {.op = op};
    struct fby_shape  shape = {3, {TRIAL_HEIGHT, TRIAL_WIDTH, 3}};
    memcpy(use.params, trial->params, sizeof(trial->params));
    for (uint64_t sample = 0; sample < TRIAL_DRAWS; sample++) {
        struct fby_op_plan plan = {0};
        struct fby_draw    draw =
            fby_draw_begin(1, 0, sample, "fingerprint", op->name, 0);
        fby_err err = op->plan(&use, &draw, shape, &plan, NULL);
        (void)err;
        add_plan(hash, &plan);
    }
}

struct fby_digest fby_device_behaviour(const struct fby_op *op)
{
    struct fby_digest_state hash;
    fby_digest_begin(&hash);
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        if (trials[i].op == op->id) {
            add_trial(&hash, op, &trials[i]);
        }
    }
    return fby_digest_end(&hash);
}

struct fby_digest fby_device_list_behaviour(
    const struct fby_field_content *field)
{
    struct fby_digest_state hash;
    fby_digest_begin(&hash);
    for (uint32_t i = 0; i < field->n_device; i++) {
        struct fby_digest one = fby_device_behaviour(field->device[i].op);
        fby_digest_add(&hash, one.bytes, sizeof(one.bytes));
    }
    return fby_digest_end(&hash);
}
