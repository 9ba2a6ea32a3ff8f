/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - the tables of ops, and functions that op_*.c share. */
#include "pipeline/op_private.h"

#include <math.h>
#include <string.h>

/* ---- plans ---- */

struct fby_op_plan fby_op_plan_identity(struct fby_shape in)
{
    uint32_t h = in.dims[0];
    uint32_t w = in.dims[1];
    return (struct fby_op_plan){.w = w, .h = h, .out_w = w, .out_h = h};
}

struct fby_size fby_op_plan_size(const struct fby_op_plan *plan)
{
    struct fby_size size = {plan->out_w, plan->out_h};
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        size = fby_step_size(&plan->steps[i], size);
    }
    return size;
}

struct fby_shape fby_op_shape(const struct fby_op_use *use, struct fby_shape in)
{
    return use->op->shape != NULL ? use->op->shape(use, in) : in;
}

void fby_op_add_step(struct fby_op_plan *plan, struct fby_step step)
{
    plan->steps[plan->n_steps++] = step;
}

int64_t fby_op_draw_q16(struct fby_draw *draw, const struct fby_value *value)
{
    if (value->n == 2) {
        return fby_draw_uniform_q16(draw, value->r[0], value->r[1]);
    }
    double limit = fabs(value->r[0]);
    return fby_draw_uniform_q16(draw, -limit, limit);
}

uint32_t fby_op_count(
    const struct fby_op_use *ops, uint32_t n, const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        count += strcmp(ops[i].op->name, name) == 0 ? 1 : 0;
    }
    return count;
}

void fby_field_number_repeated_ops(struct fby_field_content *field)
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

fby_err fby_op_check(const struct fby_op_use *use, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < use->op->n_params; i++) {
        const struct fby_param *param = &use->op->params[i];
        const struct fby_value *value = &use->params[i];
        if (param->ordered && value->n == 2 && value->r[0] > value->r[1]) {
            return fby_error_set(why, FBY_CONFIG,
                "%s: [%g, %g] is the wrong way round; write the lower first",
                param->name, value->r[0], value->r[1]);
        }
    }
    return use->op->check != NULL ? use->op->check(use, why) : FBY_OK;
}

/* ---- the tables ---- */

#define X(name) &fby_op_##name,
const struct fby_op *const fby_ops[] = {FBY_EACH_OP(X)};
#undef X
const size_t fby_n_ops = FBY_COUNT(fby_ops);

#define X(name) &fby_device_##name,
const struct fby_op *const fby_device_ops[] = {FBY_EACH_DEVICE_OP(X)};
#undef X
const size_t fby_n_device_ops = FBY_COUNT(fby_device_ops);

/* The op called `name`. If `name` is NULL, the op with this id. */
static const struct fby_op *find_op(
    const struct fby_op *const *ops, size_t n, const char *name, uint32_t id)
{
    for (size_t i = 0; i < n; i++) {
        if (name != NULL ? strcmp(ops[i]->name, name) == 0 : ops[i]->id == id) {
            return ops[i];
        }
    }
    return NULL;
}

const struct fby_op *fby_op_named(const char *name)
{
    return find_op(fby_ops, fby_n_ops, name, /*id=*/0);
}

const struct fby_op *fby_op_by_id(uint32_t id)
{
    return find_op(fby_ops, fby_n_ops, /*name=*/NULL, id);
}

const struct fby_op *fby_device_op_named(const char *name)
{
    return find_op(fby_device_ops, fby_n_device_ops, name, /*id=*/0);
}

const struct fby_op *fby_device_op_by_id(uint32_t id)
{
    return find_op(fby_device_ops, fby_n_device_ops, /*name=*/NULL, id);
}
