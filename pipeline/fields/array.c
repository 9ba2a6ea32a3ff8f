/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - the field kind `array`: NumPy arrays of one shape or, with
 * max_length, lists of entries of one shape. */
#include "pipeline/fields/kinds.h"

/* The size of the last dimension of the array; 1 for the shape [], a number. */
static uint32_t last_dim_size(const struct fby_field_content *field)
{
    uint32_t n = field->as.array.shape.n_dims;
    return n > 0 ? field->as.array.shape.dims[n - 1] : 1;
}

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->as.array.shape = parsed->shape;
    field->wire_type      = fby_wire_type_or(parsed, /*default_type=*/0);
    if (parsed->wire.type == PARSED_BITS) {
        field->wire_type       = FBY_U8;
        field->as.array.n_bits = last_dim_size(field);
    }
    fby_set_default_dtype(
        delivery, delivery->scaled ? FBY_F32 : field->wire_type);
    fby_set_row_defaults(field, delivery, FBY_AS_PADDED);
}

static fby_err check_keys(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    FBY_REFUSE_IF(check,
        fby_check_is_from_file(check) &&
            !fby_field_has_key(check, FBY_FIELD_SHAPE),
        FBY_FIELD_WHOLE,
        "an array needs the 'shape' of its files, such as [240, 320], or "
        "[] for one number");
    FBY_REFUSE_IF(check, field->wire_type == 0, FBY_FIELD_WHOLE,
        "an array needs the 'wire' type that its values travel as: bits, "
        "u8, u16, u32, i32, i64, f16, bf16 or f32");
    FBY_REFUSE_IF(check,
        field->max_length > 0 && field->as.array.shape.n_dims >= FBY_MAX_DIMS,
        FBY_FIELD_SHAPE,
        "with max_length the shape is that of one entry: at most %d "
        "dimensions, [] for a number",
        FBY_MAX_DIMS - 1);
    /* Here FBY_MAX_LENGTH is in bytes; it is no limit of max_length. */
    FBY_REFUSE_IF(check,
        fby_array_bytes(&field->as.array.shape, field->wire_type) == 0,
        FBY_FIELD_SHAPE, "an array of this shape has more than %d bytes as %s",
        FBY_MAX_LENGTH, fby_type_word(field->wire_type));
    return FBY_OK;
}

static fby_err check_packed_bits(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    FBY_REFUSE_IF(check, field->max_length > 0, FBY_FIELD_MAX_LENGTH,
        "with wire: bits there is no max_length; use another wire type");
    FBY_REFUSE_IF(check, field->as.array.shape.n_dims == 0, FBY_FIELD_SHAPE,
        "bits are packed along the last dimension, so there must be one");
    FBY_REFUSE_IF(check,
        field->wire_type != FBY_U8 ||
            field->as.array.n_bits != last_dim_size(field),
        FBY_FIELD_WIRE_TYPE,
        "bits are packed along the last dimension of an array, as u8");
    return fby_field_check_bits(check);
}

static bool all_equal(const double *numbers, uint32_t n)
{
    for (uint32_t c = 1; c < n; c++) {
        if (numbers[c] != numbers[0]) {
            return false;
        }
    }
    return true;
}

/* The key that has the wrong count of numbers. Equal scales were probably one
 * number, which the parser repeats. Then it is offset, if that is present. */
static enum fby_field_key key_to_blame(const struct fby_field_check *check)
{
    const struct fby_field_delivery *delivery = check->delivery;
    bool blame_scale = !all_equal(delivery->scale, delivery->channels) ||
                       !fby_field_has_key(check, FBY_FIELD_OUT_OFFSET);
    return blame_scale ? FBY_FIELD_OUT_SCALE : FBY_FIELD_OUT_OFFSET;
}

/* Check that the dtype is a floating-point type, and that scale and offset have
 * one number for all values or one for each index of the last dimension. */
static fby_err check_scale(const struct fby_field_check *check)
{
    const struct fby_field_delivery *delivery  = check->delivery;
    uint32_t                         last_size = last_dim_size(check->field);
    if (!fby_type_is_float(delivery->dtype)) {
        return fby_field_error_dtype(
            check, "cannot hold scaled values; use f32, f16 or bf16");
    }
    FBY_REFUSE_IF(check,
        delivery->channels > 1 && delivery->channels != last_size,
        key_to_blame(check),
        "%u numbers, but the last dimension is %u: say one, or "
        "one for each of its channels",
        delivery->channels, last_size);
    return FBY_OK;
}

static fby_err check_values(const struct fby_field_check *check)
{
    if (check->field->as.array.n_bits > 0) {
        return check_packed_bits(check);
    }
    if (fby_check_is_from_file(check) && check->delivery->scaled) {
        FBY_TRY(check_scale(check));
    }
    return fby_field_check_rows_or_dtype(check);
}

static fby_field_rule *const rules[] = {check_keys, check_values, NULL};

/* The shape that is sent. With packed bits the last dimension is in bytes. */
static struct fby_shape shape(const struct fby_field_content *field)
{
    struct fby_shape sent = field->as.array.shape;
    if (field->as.array.n_bits > 0 && sent.n_dims > 0) {
        sent.dims[sent.n_dims - 1] = fby_bytes_of_bits(field->as.array.n_bits);
    }
    return sent;
}

static const struct fby_canon_entry canon_entries[] = {
    {FBY_ENTRY(SHAPE, DIMS, as.array.shape)},
    /* The entry MAPS is the number of packed bits here. Its .max is in bits. */
    {FBY_ENTRY(MAPS, U32, as.array.n_bits), .min = 1, .max = FBY_MAX_LENGTH},
    {0},
};

const struct fby_field_kind fby_kind_array = {
    .id             = FBY_DECODE_ARRAY,
    .name           = "array",
    .keys           = FBY_FIELD_BIT(FBY_FIELD_SHAPE) | FBY_FIELD_ROW_KEYS,
    .only_from      = "npy",
    .only_from_text = "an array comes from npy; no other files hold one here",
    .wire_text      = "an array travels as bits, u8, u16, u32, i32, i64, f16, "
                      "bf16 or f32",
    .can_be_column  = true,
    .is_ragged      = true,
    .has_bits       = true,
    .has_layout     = true,
    .has_scale      = true,
    .header_has_length = true, /* the header of a .npy file */
    .values            = FBY_VALUES_NUMBERS,
    .entries           = canon_entries,
    .bits_offset       = offsetof(struct fby_field_content, as.array.n_bits),
    .shape_offset      = offsetof(struct fby_field_content, as.array.shape),
    .fill_defaults     = fill_defaults,
    .rules             = rules,
    .shape             = shape,
};
