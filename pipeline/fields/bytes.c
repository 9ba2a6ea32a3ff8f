/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - the field kind `bytes`: a member (a file of a sample) as it is. */
#include "pipeline/fields/kinds.h"

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->as.bytes.length = (uint32_t)parsed->length;
    field->wire_type       = fby_wire_type_or(parsed, FBY_U8);
    fby_set_default_dtype(delivery, FBY_U8);
    fby_set_row_defaults(field, delivery, FBY_AS_PADDED);
}

static fby_err check_length(const struct fby_field_check *check)
{
    const struct fby_field_content *field  = check->field;
    uint32_t                        length = field->as.bytes.length;
    bool is_npy = strcmp(fby_extension_last_part(field->from[0]), "npy") == 0;
    FBY_REFUSE_IF(check, length == 0 && field->max_length == 0, FBY_FIELD_WHOLE,
        "the bytes of %s need a 'length' or a 'max_length'; or say %s",
        field->from[0], is_npy ? "decode: array" : "another decode");
    FBY_REFUSE_IF(check, length != 0 && field->max_length != 0,
        FBY_FIELD_MAX_LENGTH,
        "give length, if all rows have it, or max_length, but not both");
    FBY_REFUSE_IF(check, length > FBY_MAX_LENGTH, FBY_FIELD_LENGTH,
        "length is not within 1 to %d", FBY_MAX_LENGTH);
    return FBY_OK;
}

static fby_field_rule *const rules[] = {
    check_length, fby_field_check_u8, fby_field_check_rows_or_dtype, NULL};

static struct fby_shape shape(const struct fby_field_content *field)
{
    return (struct fby_shape){.n_dims = 1, .dims = {field->as.bytes.length}};
}

static const struct fby_canon_entry entries[] = {
    {FBY_ENTRY(LENGTH, U32, as.bytes.length), .max = UINT32_MAX},
    {0},
};

const struct fby_field_kind fby_kind_bytes = {
    .id            = FBY_DECODE_BYTES,
    .name          = "bytes",
    .keys          = FBY_FIELD_BIT(FBY_FIELD_LENGTH) | FBY_FIELD_ROW_KEYS,
    .wire_text     = "bytes travel as u8; use type: u8",
    .is_ragged     = true,
    .values        = FBY_VALUES_BYTES,
    .entries       = entries,
    .fill_defaults = fill_defaults,
    .rules         = rules,
    .shape         = shape,
};
