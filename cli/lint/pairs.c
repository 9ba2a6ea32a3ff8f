/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - compare two lists of ops, skipping ops that move no pixels. */
#include "cli/lint/pairs.h"

#include <string.h>

#include "pipeline/fields/kind.h"
#include "pipeline/op.h"

/* True if this parameter decides where pixels go. Fill values do not. The size
 * does so only for random_crop, where it limits the position of the crop. */
static bool affects_geometry(const struct fby_op *op, uint32_t param)
{
    const char *name = op->params[param].name;
    if (strcmp(name, "size") == 0) {
        return op->id == FBY_OP_RANDOM_CROP;
    }
    return strcmp(name, "fill") != 0;
}

static bool is_same_value(const struct fby_value *a, const struct fby_value *b)
{
    bool same = a->n == b->n; /* n numbers: r[] if real, else i[] */
    for (uint32_t k = 0; same && k < a->n; k++) {
        same = a->real ? a->r[k] == b->r[k] : a->i[k] == b->i[k];
    }
    return same;
}

static bool moves_alike(const struct fby_op_use *a, const struct fby_op_use *b)
{
    bool same = a->op == b->op;
    for (uint32_t i = 0; same && i < a->op->n_params; i++) {
        same = !affects_geometry(a->op, i) ||
               is_same_value(&a->params[i], &b->params[i]);
    }
    return same;
}

struct op_list { /* ops of a field that are still to be compared */
    const struct fby_op_use *next;
    uint32_t                 n;
};

/* Remove ops from the list up to the first op that moves pixels. Returns this
 * op, or NULL if there is none. */
static const struct fby_op_use *take_moving_op(struct op_list *list)
{
    while (list->n > 0) {
        const struct fby_op_use *use = list->next++;
        list->n--;
        if (use->op->moves_pixels) {
            return use;
        }
    }
    return NULL;
}

/* True if the ops of both lists that move pixels are alike, in order. */
static bool all_move_alike(struct op_list a, struct op_list b)
{
    const struct fby_op_use *op_a = take_moving_op(&a);
    const struct fby_op_use *op_b = take_moving_op(&b);
    while (op_a != NULL && op_b != NULL && moves_alike(op_a, op_b)) {
        op_a = take_moving_op(&a);
        op_b = take_moving_op(&b);
    }
    return op_a == NULL && op_b == NULL;
}

static bool has_moving_op(const struct fby_field_content *field)
{
    struct op_list ops        = {field->ops, field->n_ops};
    struct op_list device_ops = {field->device, field->n_device};
    return take_moving_op(&ops) != NULL || take_moving_op(&device_ops) != NULL;
}

enum fby_lint_pair fby_lint_compare_ops(const struct fby_field_content *picture,
    const struct fby_field_content                                     *labels)
{
    if (!all_move_alike((struct op_list){picture->ops, picture->n_ops},
            (struct op_list){labels->ops, labels->n_ops})) {
        return FBY_LINT_OTHER_OPS;
    }
    /* field->device: the ops that the device applies */
    if (!all_move_alike((struct op_list){picture->device, picture->n_device},
            (struct op_list){labels->device, labels->n_device})) {
        return FBY_LINT_OTHER_DEVICE;
    }
    return has_moving_op(picture) && strcmp(picture->group, labels->group) != 0
               ? FBY_LINT_OTHER_GROUP
               : FBY_LINT_ALIKE;
}
