/* text.c - UTF-8 texts of any length, to u8 [bytes]. */
#include "pipeline/fields/canon.h"
#include "pipeline/fields/check.h"
#include "pipeline/fields/resolve.h"

static void resolve(const struct draft_field *said,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->as.text   = fby_json_said(said);
    field->wire_type = said->wire.type == 0 ? FBY_U8 : fby_wire_said(said);
    fby_default_dtype(delivery, FBY_U8);
    fby_default_rows(field, delivery, FBY_AS_PADDED);
}

static fby_err check(const struct fby_field_check *check)
{
    return check->field->max_length > 0
               ? FBY_OK
               : fby_field_wrong(check, FBY_FIELD_NAME,
                     "a text needs 'max_length', in bytes");
}

static fby_field_rule *const rules[] = {check, fby_field_check_pick,
    fby_field_check_u8, fby_field_check_rows, NULL};

static const struct fby_field_entry entries[] = {
    {FBY_ENTRY(JSON_KEY, TEXT, as.text.key)},
    {FBY_ENTRY(PICK, U32, as.text.pick), .least = FBY_PICK_RANDOM,
        .most = FBY_PICK_RANDOM},
    {0},
};

const struct fby_field_kind fby_kind_text = {
    .id   = FBY_DECODE_TEXT,
    .name = "text",
    .keys = FBY_FIELD_BIT(FBY_FIELD_KEY) | FBY_FIELD_BIT(FBY_FIELD_PICK) |
            FBY_FIELD_ROW_KEYS,
    .wire_text = "text travels as u8; use type: u8",
    .is_ragged = true,
    .values    = FBY_VALUES_TEXT,
    .entries   = entries,
    .resolve   = resolve,
    .rules     = rules,
};
