/* SPDX-License-Identifier: Apache-2.0 */
/* maps.c - the field kind `maps`: several masks of one picture. Each pixel is
 * sent as one bit for each mask: bits [h, w, masks]. */
#include "pipeline/fields/kinds.h"

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    if (parsed->wire.type == 0 || parsed->wire.type == PARSED_BITS) {
        field->wire_type = FBY_U8;
        field->as.maps.n = field->n_from; /* one mask for each extension */
    }
    fby_set_default_dtype(delivery, FBY_U8);
}

static fby_err check_mask_count(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    FBY_REFUSE_IF(check, field->as.maps.n != field->n_from, FBY_FIELD_WIRE_TYPE,
        "%u masks travel as %u bits", field->n_from, field->as.maps.n);
    return FBY_OK;
}

static fby_field_rule *const rules[] = {
    check_mask_count, fby_field_check_u8, fby_field_check_bits, NULL};

static struct fby_shape shape(const struct fby_field_content *field)
{
    return (struct fby_shape){
        .n_dims = 3, .dims = {0, 0, fby_bytes_of_bits(field->as.maps.n)}};
}

static const struct fby_canon_entry entries[] = {
    {FBY_ENTRY(MAPS, U32, as.maps.n), .min = 1, .max = FBY_MAX_LENGTH},
    {0},
};

const struct fby_field_kind fby_kind_maps = {
    .id   = FBY_DECODE_MAPS,
    .name = "maps",
    .keys = FBY_FIELD_BIT(FBY_FIELD_GROUP) | FBY_FIELD_BIT(FBY_FIELD_FIT) |
            FBY_FIELD_BIT(FBY_FIELD_OPS),
    .only_from = "png",
    .only_from_text =
        "a mask comes from png; other formats do not keep its values",
    .wire_text     = "maps travel as bits; use type: bits",
    .is_picture    = true,
    .is_stack      = true,
    .has_bits      = true,
    .has_layout    = true,
    .values        = FBY_VALUES_IDS,
    .entries       = entries,
    .bits_offset   = offsetof(struct fby_field_content, as.maps.n),
    .fill_defaults = fill_defaults,
    .rules         = rules,
    .shape         = shape,
};
