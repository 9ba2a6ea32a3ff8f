/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - the field kind `tokens`: sequences of token ids. */
#include "pipeline/fields/kinds.h"

/* split_field.c sets the default of the wire type, from the source. */
static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->wire_type = fby_wire_type_or(parsed, 0);
    fby_set_default_dtype(delivery, FBY_I64);
}

static fby_err check_tokens(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    const char                     *from  = field->from[0];
    if (field->n_from > 1 ||
        (strcmp(from, "input") != 0 && !fby_from_has_targets(from))) {
        return fby_field_error_at_item(check, FBY_FIELD_FROM, 0,
            "tokens come from input, from target (the tokens after those of "
            "input) or from sequence (both in one)");
    }
    FBY_REFUSE_IF(check,
        field->wire_type != FBY_U16 && field->wire_type != FBY_U32,
        FBY_FIELD_WIRE_TYPE, "%s", fby_field_kind(field)->wire_text);
    if (!fby_check_is_from_file(check)) {
        return FBY_OK;
    }
    enum fby_type dtype = check->delivery->dtype;
    return dtype == FBY_I64 || dtype == FBY_I32 || dtype == FBY_U32
               ? FBY_OK
               : fby_field_error_dtype(
                     check, "cannot be made from tokens; use i64, i32 or u32");
}

static fby_field_rule *const rules[] = {check_tokens, NULL};

static struct fby_shape shape(const struct fby_field_content *field)
{
    return (struct fby_shape){.n_dims = 1, .dims = {field->as.tokens.length}};
}

static const struct fby_canon_entry entries[] = {
    {FBY_ENTRY(LENGTH, U32, as.tokens.length), .max = UINT32_MAX},
    {0},
};

const struct fby_field_kind fby_kind_tokens = {
    .id            = FBY_DECODE_TOKENS,
    .name          = "tokens",
    .wire_text     = "tokens travel as u16 or as u32",
    .is_sequence   = true,
    .values        = FBY_VALUES_TOKENS,
    .entries       = entries,
    .fill_defaults = fill_defaults,
    .rules         = rules,
    .shape         = shape,
};
