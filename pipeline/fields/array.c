/* array.c - the field kind `array`: NumPy arrays of one or of several
 * lengths. */
#include "pipeline/fields/kinds.h"

/* The last dimension; 1 if there is none. */
static uint32_t last_dim(const struct fby_field_content *field)
{
    uint32_t n = field->as.array.shape.n_dims;
    return n > 0 ? field->as.array.shape.dims[n - 1] : 1;
}

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->as.array.shape = parsed->shape;
    field->wire_type      = fby_wire_type(parsed, 0);
    if (parsed->wire.type == PARSED_BITS) {
        field->wire_type     = FBY_U8;
        field->as.array.maps = last_dim(field);
    }
    fby_default_dtype(delivery, delivery->scaled ? FBY_F32 : field->wire_type);
    fby_default_rows(field, delivery, FBY_AS_PADDED);
}

static fby_err check_keys(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    FBY_REFUSE_IF(check,
        check->delivery != NULL && !fby_field_has_key(check, FBY_FIELD_SHAPE),
        FBY_FIELD_NAME,
        "an array needs the 'shape' of its files, such as [240, 320], or "
        "[] for one number");
    FBY_REFUSE_IF(check, field->wire_type == 0, FBY_FIELD_NAME,
        "an array needs the 'wire' type that its values travel as: bits, "
        "u8, u16, u32, i32, i64, f16, bf16 or f32");
    FBY_REFUSE_IF(check,
        field->max_length > 0 && field->as.array.shape.n_dims >= FBY_MAX_DIMS,
        FBY_FIELD_SHAPE,
        "with max_length the shape is that of one entry: at most %d "
        "dimensions, [] for a number",
        FBY_MAX_DIMS - 1);
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
        "bits are of one shape; say a wire type of numbers");
    FBY_REFUSE_IF(check, field->as.array.shape.n_dims == 0, FBY_FIELD_SHAPE,
        "bits are packed along the last dimension: say at least one");
    FBY_REFUSE_IF(check,
        field->wire_type != FBY_U8 || field->as.array.maps != last_dim(field),
        FBY_FIELD_WIRE_TYPE,
        "bits are packed along the last dimension of an array, as u8");
    return fby_field_check_bits(check);
}

static bool all_equal(const double *factors, uint32_t n)
{
    for (uint32_t c = 1; c < n; c++) {
        if (factors[c] != factors[0]) {
            return false;
        }
    }
    return true;
}

/* The key that has a list of factors. A single number has been repeated for all
 * channels, so a key whose factors differ has a list. */
static enum fby_field_key list_of_factors(const struct fby_field_check *check)
{
    const struct fby_field_delivery *out = check->delivery;
    bool by_scale = !all_equal(out->scale, out->channels) ||
                    !fby_field_has_key(check, FBY_FIELD_OUT_OFFSET);
    return by_scale ? FBY_FIELD_OUT_SCALE : FBY_FIELD_OUT_OFFSET;
}

/* Check the dtype of scaled values, and the count of factors: one for all
 * values, or one for each channel of the last dimension. */
static fby_err check_scale(const struct fby_field_check *check)
{
    const struct fby_field_delivery *out  = check->delivery;
    uint32_t                         last = last_dim(check->field);
    if (!fby_type_is_float(out->dtype)) {
        return fby_field_error_dtype(
            check, "cannot hold scaled values; use f32, f16 or bf16");
    }
    FBY_REFUSE_IF(check, out->channels > 1 && out->channels != last,
        list_of_factors(check),
        "%u numbers, but the last dimension is %u: say one, or "
        "one for each of its channels",
        out->channels, last);
    return FBY_OK;
}

static fby_err check_values(const struct fby_field_check *check)
{
    if (check->field->as.array.maps > 0) {
        return check_packed_bits(check);
    }
    fby_err err = FBY_OK;
    if (check->delivery != NULL && check->delivery->scaled) {
        err = check_scale(check);
    }
    return err == FBY_OK ? fby_field_check_rows_or_dtype(check) : err;
}

static fby_field_rule *const rules[] = {check_keys, check_values, NULL};

/* With packed bits the last dimension is counted in bytes. */
static struct fby_shape shape(const struct fby_field_content *field)
{
    struct fby_shape shape = field->as.array.shape;
    if (field->as.array.maps > 0 && shape.n_dims > 0) {
        shape.dims[shape.n_dims - 1] = fby_bits_bytes(field->as.array.maps);
    }
    return shape;
}

static const struct fby_field_entry entries[] = {
    {FBY_ENTRY(SHAPE, DIMS, as.array.shape)},
    {FBY_ENTRY(MAPS, U32, as.array.maps), .least = 1, .most = FBY_MAX_LENGTH},
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
    .is_column      = true,
    .is_ragged      = true,
    .has_bits       = true,
    .has_layout     = true,
    .has_scale      = true,
    .is_counted     = true,
    .values         = FBY_VALUES_NUMBERS,
    .entries        = entries,
    .maps           = offsetof(struct fby_field_content, as.array.maps),
    .entry_shape    = offsetof(struct fby_field_content, as.array.shape),
    .fill_defaults  = fill_defaults,
    .rules          = rules,
    .shape          = shape,
};
