/* device_rules.c - what may stand in a list of device ops: each op once, those
 * that change levels before normalize, mixup or cutmix at the end, with a
 * label that is one-hot. */
#include "pipeline/derived.h"
#include "pipeline/device_ops.h"

static bool stands_before(const struct fby_field_content *field, uint32_t i)
{
    uint32_t k = 0;
    while (k < i && field->device[k].op != field->device[i].op) {
        k++;
    }
    return k < i;
}

static bool is_normalized_before(
    const struct fby_field_content *field, uint32_t i)
{
    uint32_t k = 0;
    while (k < i && field->device[k].op->id != FBY_OP_DEVICE_NORMALIZE) {
        k++;
    }
    return k < i;
}

static fby_err check_place(
    const struct fby_field_content *field, uint32_t i, struct fby_why *why)
{
    const struct fby_op *op = field->device[i].op;
    if (stands_before(field, i)) {
        return fby_because(why, FBY_CONFIG,
            "%s stands twice under device; each op may once", op->name);
    }
    if (op->levels && is_normalized_before(field, i)) {
        return fby_because(why, FBY_CONFIG,
            "%s needs levels of 0 to 1: write it before normalize", op->name);
    }
    if (op->pairs && i + 1 < field->n_device) {
        return fby_because(why, FBY_CONFIG,
            "%s mixes finished rows: write it last, and no other beside it",
            op->name);
    }
    return FBY_OK;
}

/* What is erased while levels are 0 to 1 must be such a level. */
static fby_err check_erasing(
    const struct fby_field_content *field, uint32_t i, struct fby_why *why)
{
    enum { VALUE = 3 };
    const struct fby_op_use *use      = &field->device[i];
    const struct fby_value  *to       = &use->params[VALUE];
    bool                     is_level = true;
    for (uint32_t c = 0; c < to->n; c++) {
        is_level = is_level && to->r[c] >= 0 && to->r[c] <= 1;
    }
    return use->op->id != FBY_OP_DEVICE_RANDOM_ERASING || is_level ||
                   is_normalized_before(field, i)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "random_erasing: before normalize a value is a level, 0 "
                     "to 1; write the op behind normalize for others");
}

static fby_err check_label(
    const struct fby_content *content, uint32_t i, struct fby_why *why)
{
    const struct fby_field_content *field   = &content->fields[i];
    const struct fby_op_use        *pairing = fby_device_pairing(field);
    if (pairing == NULL) {
        return FBY_OK;
    }
    int64_t at = pairing->params[FBY_PAIR_LABEL].i[0];
    if (at >= content->n_fields) {
        return fby_because(
            why, FBY_CONFIG, "%s: label names no field", pairing->op->name);
    }
    const struct fby_field_content *label = &content->fields[at];
    if (!fby_field_is_one_hot(label)) {
        return fby_because(why, FBY_CONFIG,
            "%s mixes labels as it mixes pictures: field '%s' must be a label "
            "with one_hot",
            pairing->op->name, label->name);
    }
    const struct fby_field_content *first = fby_mixed_by(content, (uint32_t)at);
    return first == field
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "%s: the label '%s' is mixed by field '%s' already",
                     pairing->op->name, label->name, first->name);
}

fby_err fby_device_ops_check(const struct fby_content *content, uint32_t i,
    uint32_t *at, struct fby_why *why)
{
    const struct fby_field_content *field = &content->fields[i];
    fby_err                         err   = FBY_OK;
    *at                                   = 0;
    for (uint32_t k = 0; k < field->n_device && err == FBY_OK; k++) {
        *at = k;
        err = check_place(field, k, why);
        if (err == FBY_OK) {
            err = check_erasing(field, k, why);
        }
    }
    return err == FBY_OK ? check_label(content, i, why) : err;
}
