/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lint/random_ops.h"

#include "pipeline/op.h"
#include "pipeline/text.h"

static bool is_random(const struct fby_op *op)
{
    switch ((int)op->id) {
    case FBY_OP_RESIZE:
    case FBY_OP_CENTER_CROP:
    case FBY_OP_PAD:
    case FBY_OP_GRAYSCALE:
    case FBY_OP_DEVICE_NORMALIZE:
        return false;
    default:
        return true;
    }
}

static bool is_moving(const struct fby_op *op)
{
    return op->moves_pixels || op->id == FBY_OP_CENTER_CROP ||
           op->id == FBY_OP_PAD;
}

/* As fby_lint_list_random_ops(), for the ops that `is_listed` returns true for. */
static bool list_ops(const struct fby_field_content *field,
    bool (*is_listed)(const struct fby_op *op), char *out, size_t size,
    uint32_t *first)
{
    out[0] = '\0';
    *first = field->n_ops;
    for (uint32_t i = 0; i < field->n_ops; i++) {
        if (is_listed(field->ops[i].op)) {
            *first = *first < i ? *first : i;
            fby_text_append_name(out, size, field->ops[i].op->name);
        }
    }
    for (uint32_t i = 0; i < field->n_device; i++) {
        if (is_listed(field->device[i].op)) {
            fby_text_append_name(out, size, field->device[i].op->name);
        }
    }
    return out[0] != '\0';
}

bool fby_lint_list_random_ops(const struct fby_field_content *field, char *out,
    size_t size, uint32_t *first)
{
    return list_ops(field, is_random, out, size, first);
}

bool fby_lint_list_moving_ops(const struct fby_field_content *field, char *out,
    size_t size, uint32_t *first)
{
    return list_ops(field, is_moving, out, size, first);
}
