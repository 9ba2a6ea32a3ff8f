/* sparse.c - sparse rows of SciPy files. */
#include "pipeline/derived.h"
#include "pipeline/fields/canon.h"
#include "pipeline/fields/check.h"
#include "pipeline/fields/resolve.h"

static void resolve(const struct draft_field *said,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    field->as.sparse.shape = said->shape;
    field->wire_type       = fby_wire_said(said);
    fby_default_dtype(delivery, field->wire_type);
    fby_default_rows(field, delivery, FBY_AS_DENSE);
}

static fby_err check(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    uint64_t dense = fby_dense_values(&field->as.sparse.shape);
    if (field->as.sparse.shape.n_dims == 0 || field->max_length == 0 ||
        field->wire_type == 0) {
        return fby_field_wrong(check, FBY_FIELD_NAME,
            "sparse rows need 'shape' (of a dense row, such as [1000]), "
            "'max_length' (of their non-zeros) and the 'wire' type that they "
            "travel as");
    }
    if (field->too_long != FBY_TOO_LONG_REFUSE) {
        return fby_field_wrong(check, FBY_FIELD_TOO_LONG,
            "sparse rows that are too long are refused; raise max_length");
    }
    if (dense == 0) {
        return fby_field_wrong(check, FBY_FIELD_SHAPE,
            "a row of this shape has more than %llu values",
            (unsigned long long)FBY_MAX_DENSE);
    }
    return field->max_length <= dense
               ? fby_field_check_rows(check)
               : fby_field_wrong(check, FBY_FIELD_MAX_LENGTH,
                     "max_length %u is more than the %llu values of the shape",
                     field->max_length, (unsigned long long)dense);
}

static fby_field_rule *const rules[] = {check, NULL};

static struct fby_shape shape(const struct fby_field_content *field)
{
    return field->as.sparse.shape;
}

static const struct fby_field_entry entries[] = {
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
    .is_column      = true,
    .is_ragged      = true,
    .values         = FBY_VALUES_NUMBERS,
    .entries        = entries,
    .resolve        = resolve,
    .rules          = rules,
    .shape          = shape,
};
