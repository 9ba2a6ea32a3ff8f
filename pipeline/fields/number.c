/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - the field kind `number`: one number, or with max_length a list of
 * numbers, from JSON or from a column. */
#include "pipeline/fields/kinds.h"
#include "pipeline/sources/traits.h"

static const char *const extensions[] = {"json", NULL};

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->wire_type = fby_wire_type_or(parsed, FBY_F32);
    field->as.number = fby_parsed_json_selector(parsed);
    /* The default of `key` is the name of the field; a column has no key. */
    if (field->as.number.key[0] == '\0' && !fby_parsed_is_column(parsed)) {
        memcpy(field->as.number.key, field->name, FBY_NAME_SIZE);
    }
    fby_set_default_dtype(delivery, field->wire_type);
    fby_set_row_defaults(field, delivery, FBY_AS_PADDED);
}

static fby_err check_key_and_wire(const struct fby_field_check *check)
{
    const struct fby_field_content *field   = check->field;
    bool                            has_key = field->as.number.key[0] != '\0';
    bool is_column = fby_source_traits(check->source)->has_rows;
    FBY_REFUSE_IF(check, has_key == is_column /* both or none */, FBY_FIELD_KEY,
        "a number comes from a key of a JSON member, or from a column");
    FBY_REFUSE_IF(check,
        field->wire_type == FBY_F16 || field->wire_type == FBY_BF16,
        FBY_FIELD_WIRE_TYPE, "%s", fby_field_kind(field)->wire_text);
    return FBY_OK;
}

static fby_field_rule *const rules[] = {
    check_key_and_wire, fby_field_check_rows_or_dtype, NULL};

static const struct fby_canon_entry entries[] = {
    {FBY_ENTRY(JSON_KEY, TEXT, as.number.key)},
    /* Only `pick: random` is written. */
    {FBY_ENTRY(PICK, U32, as.number.pick), .min = FBY_PICK_RANDOM,
        .max = FBY_PICK_RANDOM},
    {0},
};

const struct fby_field_kind fby_kind_number = {
    .id         = FBY_DECODE_NUMBER,
    .name       = "number",
    .extensions = extensions,
    .keys       = FBY_FIELD_BIT(FBY_FIELD_KEY) | FBY_FIELD_BIT(FBY_FIELD_PICK) |
            FBY_FIELD_ROW_KEYS,
    .wire_text     = "a number travels as f32, i32, i64, u8, u16 or u32",
    .can_be_column = true,
    .is_ragged     = true,
    .values        = FBY_VALUES_NUMBERS,
    .entries       = entries,
    .json_offset   = offsetof(struct fby_field_content, as.number),
    .fill_defaults = fill_defaults,
    .rules         = rules,
};
