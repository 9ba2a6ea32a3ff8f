/* Arrays, sparse rows, and what any field asks whose rows vary in length. */
#include <string.h>

#include "common/pipeline/derived.h"
#include "common/pipeline/settle.h"

/* ---- what varies in length ---- */

static bool is_sparse(const struct draft_field *field)
{
    return field->decode == FBY_DECODE_SPARSE;
}

static fby_err check_as(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    int64_t as     = field->out.as;
    bool    sparse = as != FBY_AS_PADDED && as != FBY_AS_RAGGED;
    if (sparse != is_sparse(field)) {
        return fby_settle_wrong(yaml, field->out.at[OUT_AS],
            sparse ? "only decode: sparse is handed out as dense, csr or coo; "
                     "use padded or ragged"
                   : "sparse rows are handed out as dense, csr or coo");
    }
    return as != FBY_AS_CSR || field->shape.n_dims == 1
               ? FBY_OK
               : fby_settle_wrong(yaml, field->out.at[OUT_AS],
                     "csr goes with a shape of one dimension; use coo, or "
                     "dense");
}

fby_err fby_settle_pad(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    const struct draft_out *out    = &field->out;
    static const char      *goes[] = {"to", "pad"};
    for (size_t key = OUT_TO; key <= OUT_PAD; key++) {
        if (fby_is_given(out->at[key]) && out->as != FBY_AS_PADDED) {
            return fby_yaml_wrong(yaml->why, yaml->file, out->at[key],
                "%s goes with as: padded", goes[key - OUT_TO]);
        }
    }
    if (fby_is_given(out->at[OUT_OFFSETS]) && out->as != FBY_AS_RAGGED &&
        out->as != FBY_AS_CSR) {
        return fby_settle_wrong(
            yaml, out->at[OUT_OFFSETS], "offsets go with as: ragged, or csr");
    }
    if (out->pad.n > 0 &&
        !fby_type_takes((enum fby_type)out->dtype, out->pad.r[0])) {
        return fby_yaml_wrong(yaml->why, yaml->file, out->at[OUT_PAD],
            "pad %g is no value of dtype %s", out->pad.r[0],
            fby_draft_type_name(out->dtype));
    }
    return FBY_OK;
}

/* Bytes of one entry; of a sparse row of a value and its index. */
static uint64_t entry_bytes(const struct draft_field *field)
{
    enum fby_type type = (enum fby_type)field->wire.type;
    return is_sparse(field)
               ? fby_type_bytes(type) + fby_index_bytes(&field->shape)
               : fby_array_bytes(&field->shape, type);
}

fby_err fby_settle_varying(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    uint64_t entry = entry_bytes(field);
    if (field->too_long == 0) {
        field->too_long = FBY_TOO_LONG_REFUSE;
    }
    if (entry * (uint64_t)field->max_length > FBY_MAX_VARYING) {
        return fby_yaml_wrong(yaml->why, yaml->file,
            field->at[FIELD_MAX_LENGTH],
            "%lld entries of %llu bytes are more than %d; lower max_length",
            (long long)field->max_length, (unsigned long long)entry,
            FBY_MAX_VARYING);
    }
    if (field->out.as == 0) {
        field->out.as = is_sparse(field) ? FBY_AS_DENSE : FBY_AS_PADDED;
    }
    if (field->out.offsets == 0) {
        field->out.offsets = FBY_I32;
    }
    if (field->out.as >= FBY_AS_CU_SEQLENS) {
        return fby_settle_wrong(yaml, field->out.at[OUT_AS],
            "cu_seqlens, positions and mask are made of from: documents; use "
            "padded or ragged");
    }
    fby_err err = check_as(yaml, field);
    if (err == FBY_OK) {
        err = fby_settle_dtype(yaml, field);
    }
    return err == FBY_OK ? fby_settle_pad(yaml, field) : err;
}

/* ---- array ---- */

static fby_err check_array_files(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    for (size_t i = 0; i < field->n_from; i++) {
        if (!fby_draft_is_column(field) &&
            strcmp(fby_extension_kind(field->from[i]), "npy") != 0) {
            return fby_settle_wrong(yaml, field->from_at[i],
                "an array comes from npy; no other files hold one here");
        }
    }
    return FBY_OK;
}

static fby_err check_bits_shape(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (field->shape.n_dims == 0) {
        return fby_settle_wrong(yaml, field->at[FIELD_SHAPE],
            "bits are packed along the last dimension: say at least one");
    }
    return fby_array_bytes(&field->shape, FBY_U8) > 0
               ? FBY_OK
               : fby_yaml_wrong(yaml->why, yaml->file, field->at[FIELD_SHAPE],
                     "an array of this shape has more than %d values",
                     FBY_MAX_LENGTH);
}

static fby_err check_array_keys(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (!fby_is_given(field->at[FIELD_SHAPE])) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->here,
            "field '%s' is an array: say the 'shape' of its files, such as "
            "[240, 320], or [] for one number",
            field->name);
    }
    if (field->wire.type == 0) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->here,
            "field '%s' is an array: say as which 'wire' type its values "
            "travel: bits, u8, u16, u32, i32, i64, f16, bf16 or f32",
            field->name);
    }
    if (fby_draft_is_bits(field) && field->max_length > 0) {
        return fby_settle_wrong(yaml, field->at[FIELD_MAX_LENGTH],
            "bits are of one shape; say a wire type of numbers");
    }
    if (fby_draft_is_bits(field)) {
        return check_bits_shape(yaml, field);
    }
    if (field->max_length > 0 && field->shape.n_dims >= FBY_MAX_DIMS) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->at[FIELD_SHAPE],
            "with max_length the shape is that of one entry: at most %d "
            "dimensions, [] for a number",
            FBY_MAX_DIMS - 1);
    }
    if (fby_array_bytes(&field->shape, (enum fby_type)field->wire.type) == 0) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->at[FIELD_SHAPE],
            "an array of this shape has more than %d bytes as %s",
            FBY_MAX_LENGTH, fby_draft_type_name(field->wire.type));
    }
    return FBY_OK;
}

/* One number stands for all; several are those of the last dimension. */
static fby_err check_factor(const struct fby_yaml *yaml,
    const struct draft_field *field, const struct draft_factors *factor,
    size_t key)
{
    const struct fby_shape *shape = &field->shape;
    uint32_t last = shape->n_dims > 0 ? shape->dims[shape->n_dims - 1] : 1;
    if (factor->n <= 1 || factor->n == last) {
        return FBY_OK;
    }
    return fby_yaml_wrong(yaml->why, yaml->file, field->out.at[key],
        "%u numbers, but the last dimension is %u: say one, or one for each of "
        "its channels",
        factor->n, last);
}

static fby_err settle_scale(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    struct draft_out *out = &field->out;
    if (out->scale.n == 0 && out->offset.n == 0) {
        return FBY_OK;
    }
    if (out->dtype == 0) {
        out->dtype = FBY_F32;
    }
    if (!fby_settle_is_real(out->dtype)) {
        return fby_settle_wrong_dtype(yaml, out->at[OUT_DTYPE], out->dtype,
            "cannot hold scaled values; use f32, f16 or bf16");
    }
    fby_err err = check_factor(yaml, field, &out->scale, OUT_SCALE);
    return err == FBY_OK ? check_factor(yaml, field, &out->offset, OUT_OFFSET)
                         : err;
}

fby_err fby_settle_array(const struct fby_yaml *yaml, struct draft_field *field)
{
    const struct fby_shape *shape = &field->shape;
    fby_err                 err   = check_array_files(yaml, field);
    if (err == FBY_OK) {
        err = check_array_keys(yaml, field);
    }
    if (err == FBY_OK && fby_draft_is_bits(field)) {
        return fby_settle_bits(yaml, field, shape->dims[shape->n_dims - 1]);
    }
    if (err == FBY_OK) {
        err = settle_scale(yaml, field);
    }
    if (err != FBY_OK) {
        return err;
    }
    if (field->max_length > 0) {
        return fby_settle_varying(yaml, field);
    }
    return fby_settle_dtype(yaml, field);
}

/* ---- sparse ---- */

static fby_err check_sparse_keys(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (field->shape.n_dims == 0 || field->max_length == 0 ||
        field->wire.type == 0) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->here,
            "field '%s' is sparse: say the 'shape' of a dense row, such as "
            "[1000], the 'max_length' of its non-zeros, and as which 'wire' "
            "type they travel",
            field->name);
    }
    if (fby_draft_is_bits(field)) {
        return fby_settle_wrong(yaml, fby_settle_wire_place(field),
            "sparse values travel as u8, u16, u32, i32, i64, f16, bf16 or f32");
    }
    if (field->too_long == FBY_TOO_LONG_TRUNCATE) {
        return fby_settle_wrong(yaml, field->at[FIELD_TOO_LONG],
            "sparse rows that are too long are refused; raise max_length");
    }
    return FBY_OK;
}

static fby_err check_sparse_size(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    uint64_t dense = fby_dense_values(&field->shape);
    if (dense == 0) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->at[FIELD_SHAPE],
            "a row of this shape has more than %llu values",
            (unsigned long long)FBY_MAX_DENSE);
    }
    return (uint64_t)field->max_length <= dense
               ? FBY_OK
               : fby_yaml_wrong(yaml->why, yaml->file,
                     field->at[FIELD_MAX_LENGTH],
                     "max_length %lld is more than the %llu values of the "
                     "shape",
                     (long long)field->max_length, (unsigned long long)dense);
}

fby_err fby_settle_sparse(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < field->n_from && err == FBY_OK; i++) {
        if (!fby_draft_is_column(field) &&
            strcmp(fby_extension_kind(field->from[i]), "npz") != 0) {
            err = fby_settle_wrong(yaml, field->from_at[i],
                "sparse rows come from npz, as scipy.sparse.save_npz writes "
                "them");
        }
    }
    if (err == FBY_OK) {
        err = check_sparse_keys(yaml, field);
    }
    if (err == FBY_OK) {
        err = check_sparse_size(yaml, field);
    }
    return err == FBY_OK ? fby_settle_varying(yaml, field) : err;
}
