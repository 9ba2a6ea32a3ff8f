/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - the field kind `text`: UTF-8 texts of up to max_length bytes. */
#include "pipeline/fields/kinds.h"

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->as.text   = fby_parsed_json_selector(parsed);
    field->wire_type = fby_wire_type_or(parsed, FBY_U8);
    fby_set_default_dtype(delivery, FBY_U8);
    fby_set_row_defaults(field, delivery, FBY_AS_PADDED);
}

static fby_err check_max_length(const struct fby_field_check *check)
{
    FBY_REFUSE_IF(check, check->field->max_length == 0, FBY_FIELD_WHOLE,
        "a text needs 'max_length', in bytes");
    return FBY_OK;
}

static fby_field_rule *const rules[] = {check_max_length, fby_field_check_pick,
    fby_field_check_u8, fby_field_check_rows, NULL};

static const struct fby_canon_entry entries[] = {
    {FBY_ENTRY(JSON_KEY, TEXT, as.text.key)},
    /* Only `pick: random` is written. */
    {FBY_ENTRY(PICK, U32, as.text.pick), .min = FBY_PICK_RANDOM,
        .max = FBY_PICK_RANDOM},
    {0},
};

const struct fby_field_kind fby_kind_text = {
    .id   = FBY_DECODE_TEXT,
    .name = "text",
    .keys = FBY_FIELD_BIT(FBY_FIELD_KEY) | FBY_FIELD_BIT(FBY_FIELD_PICK) |
            FBY_FIELD_ROW_KEYS,
    .wire_text     = "text travels as u8; use type: u8",
    .is_ragged     = true,
    .values        = FBY_VALUES_TEXT,
    .entries       = entries,
    .json_offset   = offsetof(struct fby_field_content, as.text),
    .fill_defaults = fill_defaults,
    .rules         = rules,
};
