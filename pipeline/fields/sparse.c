/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - the field kind `sparse`: rows of sparse matrices, from SciPy. */
#include "pipeline/fields/kinds.h"

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->as.sparse.shape = parsed->shape;
    field->wire_type       = fby_wire_type_or(parsed, 0);
    fby_set_default_dtype(delivery, field->wire_type);
    fby_set_row_defaults(field, delivery, FBY_AS_DENSE);
}

static fby_err check_sparse(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    uint64_t dense_values = fby_dense_values(&field->as.sparse.shape);
    FBY_REFUSE_IF(check,
        field->as.sparse.shape.n_dims == 0 || field->max_length == 0 ||
            field->wire_type == 0,
        FBY_FIELD_WHOLE,
        "sparse rows need 'shape' (of a dense row, such as [1000]), "
        "'max_length' (of their non-zeros) and the 'wire' type that they "
        "travel as");
    FBY_REFUSE_IF(check, field->too_long != FBY_TOO_LONG_REFUSE,
        FBY_FIELD_TOO_LONG,
        "sparse rows that are too long are refused; raise max_length");
    FBY_REFUSE_IF(check, dense_values == 0, FBY_FIELD_SHAPE,
        "a row of this shape has more than %llu values",
        (unsigned long long)FBY_MAX_DENSE);
    FBY_REFUSE_IF(check, field->max_length > dense_values, FBY_FIELD_MAX_LENGTH,
        "max_length %u is more than the %llu values of the shape",
        field->max_length, (unsigned long long)dense_values);
    return fby_field_check_rows(check);
}

static fby_field_rule *const rules[] = {check_sparse, NULL};

static struct fby_shape shape(const struct fby_field_content *field)
{
    return field->as.sparse.shape;
}

static const struct fby_canon_entry entries[] = {
    {FBY_ENTRY(SHAPE, DIMS, as.sparse.shape)},
    {0},
};

const struct fby_field_kind fby_kind_sparse = {
    .id             = FBY_DECODE_SPARSE,
    .name           = "sparse",
    .keys           = FBY_FIELD_BIT(FBY_FIELD_SHAPE) | FBY_FIELD_ROW_KEYS,
    .only_from      = "npz",
    .only_from_text = "sparse rows come from npz, as scipy.sparse.save_npz "
                      "writes them",
    .wire_text      = "sparse values travel as u8, u16, u32, i32, i64, f16, "
                      "bf16 or f32",
    .can_be_column  = true,
    .is_ragged      = true,
    .is_sparse      = true,
    .values         = FBY_VALUES_NUMBERS,
    .entries        = entries,
    .fill_defaults  = fill_defaults,
    .rules          = rules,
    .shape          = shape,
};
