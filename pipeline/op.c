/* The table, and what its parts (op_*.c) share. */
#include "pipeline/op_private.h"

#include <string.h>

/* ---- plans ---- */

struct fby_op_plan fby_op_identity(struct fby_shape in)
{
    uint32_t h = in.dims[0];
    uint32_t w = in.dims[1];
    return (struct fby_op_plan){.w = w, .h = h, .out_w = w, .out_h = h};
}

struct fby_shape fby_op_same_shape(
    const struct fby_op_use *use, struct fby_shape in)
{
    (void)use;
    return in;
}

void fby_op_add_step(struct fby_op_plan *plan, struct fby_step step)
{
    plan->steps[plan->n_steps++] = step;
}

int64_t fby_op_draw_around(struct fby_draw *draw, const struct fby_value *value)
{
    double a = value->r[0];
    return value->n == 2
               ? fby_plan_uniform_q16(draw, a, value->r[1])
               : fby_plan_uniform_q16(draw, a < 0 ? a : -a, a < 0 ? -a : a);
}

uint32_t fby_op_count(
    const struct fby_op_use *uses, uint32_t n, const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        count += strcmp(uses[i].op->name, name) == 0 ? 1 : 0;
    }
    return count;
}

void fby_field_number_ops(struct fby_field_content *field)
{
    for (uint32_t i = 0; i < field->n_ops; i++) {
        field->ops[i].occurrence =
            fby_op_count(field->ops, i, field->ops[i].op->name);
    }
    for (uint32_t i = 0; i < field->n_device; i++) {
        const char *name = field->device[i].op->name;
        field->device[i].occurrence =
            fby_op_count(field->ops, field->n_ops, name) +
            fby_op_count(field->device, i, name);
    }
}

/* ---- parameters ---- */

static fby_err check_order(const struct fby_param *param,
    const struct fby_value *value, struct fby_why *why)
{
    if (param->ordered && value->n == 2 && value->r[0] > value->r[1]) {
        return fby_because(why, FBY_CONFIG,
            "%s: [%g, %g] is the wrong way round; write the lower first",
            param->name, value->r[0], value->r[1]);
    }
    return FBY_OK;
}

fby_err fby_op_check(const struct fby_op_use *use, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < use->op->n_params && err == FBY_OK; i++) {
        err = check_order(&use->op->params[i], &use->params[i], why);
    }
    return err == FBY_OK && use->op->check != NULL ? use->op->check(use, why)
                                                   : err;
}

/* ---- the table ---- */

const struct fby_op *const fby_ops[] = {
    &fby_op_random_resized_crop,
    &fby_op_resize,
    &fby_op_center_crop,
    &fby_op_random_crop,
    &fby_op_horizontal_flip,
    &fby_op_vertical_flip,
    &fby_op_pad,
    &fby_op_grayscale,
    &fby_op_random_grayscale,
    &fby_op_colour_jitter,
    &fby_op_gaussian_blur,
    &fby_op_random_erasing,
    &fby_op_rotate,
    &fby_op_affine,
    &fby_op_trivial_augment_wide,
    &fby_op_rand_augment,
};
const size_t fby_n_ops = FBY_COUNT(fby_ops);

struct fby_size fby_op_plan_size(const struct fby_op_plan *plan)
{
    struct fby_size size = {plan->out_w, plan->out_h};
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        size = fby_step_size(&plan->steps[i], size);
    }
    return size;
}

const struct fby_op *const fby_device_ops[] = {
    &fby_device_normalize,
    &fby_device_horizontal_flip,
    &fby_device_vertical_flip,
    &fby_device_colour_jitter,
    &fby_device_random_erasing,
    &fby_device_mixup,
    &fby_device_cutmix,
};
const size_t fby_n_device_ops = FBY_COUNT(fby_device_ops);

static const struct fby_op *named(
    const struct fby_op *const *ops, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(ops[i]->name, name) == 0) {
            return ops[i];
        }
    }
    return NULL;
}

static const struct fby_op *by_id(
    const struct fby_op *const *ops, size_t n, uint32_t id)
{
    for (size_t i = 0; i < n; i++) {
        if (ops[i]->id == id) {
            return ops[i];
        }
    }
    return NULL;
}

const struct fby_op *fby_op_named(const char *name)
{
    return named(fby_ops, fby_n_ops, name);
}

const struct fby_op *fby_op_by_id(uint32_t id)
{
    return by_id(fby_ops, fby_n_ops, id);
}

const struct fby_op *fby_device_op_named(const char *name)
{
    return named(fby_device_ops, fby_n_device_ops, name);
}

const struct fby_op *fby_device_op_by_id(uint32_t id)
{
    return by_id(fby_device_ops, fby_n_device_ops, id);
}
