/* SPDX-License-Identifier: Apache-2.0 */
/* mask8.c - the field kind `mask8`: PNGs whose pixels are ids, u8 [h, w, 1]. */
#include "pipeline/fields/kinds.h"

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->wire_type = fby_wire_type_or(parsed, FBY_U8);
    fby_set_default_dtype(delivery, FBY_U8);
}

static fby_err check_device(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    FBY_REFUSE_IF(check, fby_field_count_normalize(field) > 0, FBY_FIELD_DEVICE,
        "normalize cannot be applied to a mask8 field; masks allow only flips");
    for (uint32_t i = 0; i < field->n_device; i++) {
        if (!field->device[i].op->allows_masks) {
            return fby_field_error_at_item(check, FBY_FIELD_DEVICE, i,
                "%s cannot be applied to a mask8 field; masks allow only flips",
                field->device[i].op->name);
        }
    }
    return FBY_OK;
}

static fby_err check_dtype(const struct fby_field_check *check)
{
    if (fby_check_is_from_file(check) && check->field->n_device > 0 &&
        check->delivery->dtype == FBY_I64) {
        return fby_field_error_dtype(check,
            "cannot be made by flips on the device; use i32, or flip "
            "under ops");
    }
    return fby_field_check_dtype(check);
}

static fby_field_rule *const rules[] = {
    check_device, fby_field_check_u8, check_dtype, NULL};

static struct fby_shape shape(const struct fby_field_content *field)
{
    (void)field;
    return (struct fby_shape){.n_dims = 3, .dims = {0, 0, 1}};
}

const struct fby_field_kind fby_kind_mask8 = {
    .id   = FBY_DECODE_MASK8,
    .name = "mask8",
    .keys = FBY_FIELD_BIT(FBY_FIELD_GROUP) | FBY_FIELD_BIT(FBY_FIELD_FIT) |
            FBY_FIELD_BIT(FBY_FIELD_OPS) | FBY_FIELD_BIT(FBY_FIELD_DEVICE),
    .only_from = "png",
    .only_from_text =
        "a mask comes from png; other formats do not keep its values",
    .wire_text     = "masks travel as u8; use type: u8",
    .is_picture    = true,
    .has_hw        = true,
    .values        = FBY_VALUES_IDS,
    .fill_defaults = fill_defaults,
    .rules         = rules,
    .shape         = shape,
};
