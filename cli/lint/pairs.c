#include "cli/lint/pairs.h"

#include <string.h>

#include "pipeline/fields/kind.h"
#include "pipeline/op.h"

/* True for parameters that decide where pixels go. Labels and picture may
 * differ in size and fill value, except in the size of a random_crop, which
 * limits the position of the crop. */
static bool affects_geometry(const struct fby_op *op, uint32_t param)
{
    const char *name = op->params[param].name;
    bool        size = strcmp(name, "size") == 0;
    return strcmp(name, "fill") != 0 && (!size || op->id == FBY_OP_RANDOM_CROP);
}

static bool same_value(const struct fby_value *a, const struct fby_value *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++) {
        same = a->real ? a->r[i] == b->r[i] : a->i[i] == b->i[i];
    }
    return same;
}

static bool same_op(const struct fby_op_use *a, const struct fby_op_use *b)
{
    bool same = a->op == b->op;
    for (uint32_t i = 0; same && i < a->op->n_params; i++) {
        same = !affects_geometry(a->op, i) ||
               same_value(&a->params[i], &b->params[i]);
    }
    return same;
}

struct op_list {
    const struct fby_op_use *at;
    uint32_t                 n;
};

static const struct fby_op_use *next_moving(struct op_list *list)
{
    while (list->n > 0) {
        const struct fby_op_use *use = list->at++;
        list->n--;
        if (use->op->moves_pixels) {
            return use;
        }
    }
    return NULL;
}

static bool same_geometry(struct op_list a, struct op_list b)
{
    const struct fby_op_use *one = next_moving(&a);
    const struct fby_op_use *two = next_moving(&b);
    while (one != NULL && two != NULL && same_op(one, two)) {
        one = next_moving(&a);
        two = next_moving(&b);
    }
    return one == NULL && two == NULL;
}

static bool moves_any(const struct fby_field_content *field)
{
    struct op_list ops    = {field->ops, field->n_ops};
    struct op_list device = {field->device, field->n_device};
    return next_moving(&ops) != NULL || next_moving(&device) != NULL;
}

enum fby_lint_pair fby_lint_pair(const struct fby_field_content *picture,
    const struct fby_field_content                              *labels)
{
    if (!same_geometry((struct op_list){picture->ops, picture->n_ops},
            (struct op_list){labels->ops, labels->n_ops})) {
        return FBY_LINT_OTHER_OPS;
    }
    if (!same_geometry((struct op_list){picture->device, picture->n_device},
            (struct op_list){labels->device, labels->n_device})) {
        return FBY_LINT_OTHER_DEVICE;
    }
    return moves_any(picture) && strcmp(picture->group, labels->group) != 0
               ? FBY_LINT_OTHER_GROUP
               : FBY_LINT_ALIKE;
}
