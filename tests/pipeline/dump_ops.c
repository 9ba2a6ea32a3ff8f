/* SPDX-License-Identifier: Apache-2.0 */
/* dump_ops.c - random plans of ops that have steps, as lines of JSON.
 *
 *     dump_ops SEED CASES | tests/model/check_ops.py
 *
 * Each line has the parameters of an op, its draw and its steps; the Python
 * model computes the steps again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/op.h"
#include "pipeline/plan/draw.h"
#include "tests/pipeline/plan/chance.h"

static uint64_t random_state;

static uint64_t any(uint64_t low, uint64_t high)
{
    return low + scramble(&random_state) % (high - low + 1);
}

static double any_real(double low, double high)
{
    double share = (double)(scramble(&random_state) >> 11) * 0x1p-53;
    return low + (high - low) * share;
}

static struct fby_value any_value(const struct fby_param *param)
{
    uint32_t         least = param->broadcast ? param->max_n : param->min_n;
    struct fby_value value = {
        .n = (uint32_t)any(least, param->max_n), .real = param->real};
    for (uint32_t i = 0; i < value.n; i++) {
        value.r[i] = any_real(param->min, param->max);
        value.i[i] = (int64_t)any((uint64_t)param->min, (uint64_t)param->max);
    }
    return value;
}

/* Parameters that the op's own check lets pass. */
static struct fby_op_use any_use(const struct fby_op *op)
{
    struct fby_op_use use = {.op = op};
    do {
        for (uint32_t i = 0; i < op->n_params; i++) {
            use.params[i] = any_value(&op->params[i]);
        }
    } while (fby_op_check(&use, NULL) != FBY_OK);
    return use;
}

static void print_value(const struct fby_value *value)
{
    putchar('[');
    for (uint32_t i = 0; i < value->n; i++) {
        printf("%s", i > 0 ? ", " : "");
        if (value->real) {
            printf("\"%a\"", value->r[i]);
        } else {
            printf("%" PRId64, value->i[i]);
        }
    }
    putchar(']');
}

static void print_steps(const struct fby_op_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        const struct fby_step *step = &plan->steps[i];
        printf("%s[%d", i > 0 ? ", " : "", (int)step->kind);
        for (int k = 0; k < FBY_STEP_VALUES; k++) {
            printf(", %" PRId64, step->v[k]);
        }
        putchar(']');
    }
}

/* Ops of the device and of workers share names and what they draw, but for a
 * flip, which a worker does with its box. */
static void dump(const struct fby_op *op)
{
    struct fby_op_use use    = any_use(op);
    uint64_t          seed   = scramble(&random_state);
    uint64_t          sample = scramble(&random_state);
    struct fby_shape  in     = {
             3, {(uint32_t)any(20, 3000), (uint32_t)any(20, 3000), 3}};
    struct fby_op_plan plan = {0};
    struct fby_draw    draw = fby_draw_begin(seed, 2, sample, "g", op->name, 1);
    fby_err            err  = op->plan(&use, &draw, in, &plan, NULL);
    printf("{\"op\": \"%s\", \"flip\": %d, \"seed\": %" PRIu64
           ", \"sample\": %" PRIu64 ", \"picture\": [%" PRIu32 ", %" PRIu32
           "], \"refused\": %d, "
           "\"params\": {",
        op->name, plan.flip, seed, sample, in.dims[1], in.dims[0],
        err != FBY_OK);
    for (uint32_t i = 0; i < op->n_params; i++) {
        printf("%s\"%s\": ", i > 0 ? ", " : "", op->params[i].name);
        print_value(&use.params[i]);
    }
    printf("}, \"steps\": [");
    print_steps(&plan);
    printf("]}\n");
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: dump_ops SEED CASES\n");
        return 2;
    }
    random_state   = strtoull(argv[1], NULL, 10);
    uint64_t cases = strtoull(argv[2], NULL, 10);
    for (uint64_t i = 0; i < cases; i++) {
        for (uint32_t id = FBY_OP_VERTICAL_FLIP; id <= FBY_OP_RAND_AUGMENT;
             id++) {
            dump(fby_op_by_id(id));
        }
        for (size_t k = 0; k < fby_n_device_ops; k++) {
            if (fby_device_ops[k]->plan != NULL) {
                dump(fby_device_ops[k]);
            }
        }
    }
    return 0;
}
