/* The type that a field travels as and the dtype that it becomes: what fields
 * of every kind ask of them. */
#include "common/pipeline/settle.h"

fby_err fby_settle_wrong(
    const struct fby_yaml *yaml, struct fby_place at, const char *text)
{
    return fby_yaml_wrong(yaml->why, yaml->file, at, "%s", text);
}

fby_err fby_settle_wrong_dtype(const struct fby_yaml *yaml, struct fby_place at,
    int64_t dtype, const char *text)
{
    return fby_yaml_wrong(yaml->why, yaml->file, at, "dtype %s %s",
        fby_draft_type_name(dtype), text);
}

bool fby_draft_is_column(const struct draft_field *field)
{
    return field->pipeline->splits[0].kind == FBY_SOURCE_COLUMNS;
}

bool fby_draft_is_bits(const struct draft_field *field)
{
    return field->wire.type == DRAFT_BITS || field->decode == FBY_DECODE_MAPS;
}

/* ---- types ---- */

struct fby_place fby_settle_wire_place(const struct draft_field *field)
{
    return fby_is_given(field->wire.at[WIRE_TYPE]) ? field->wire.at[WIRE_TYPE]
                                                   : field->at[FIELD_WIRE];
}

fby_err fby_settle_wire(const struct fby_yaml *yaml, struct draft_field *field,
    enum fby_type right, const char *text)
{
    if (field->wire.type != 0 && field->wire.type != (int64_t)right) {
        return fby_settle_wrong(yaml, fby_settle_wire_place(field), text);
    }
    field->wire.type = right;
    return FBY_OK;
}

bool fby_settle_is_real(int64_t type)
{
    return fby_is_real((enum fby_type)type);
}

int64_t fby_settle_largest(int64_t type)
{
    switch (type) {
    case FBY_U8:
        return UINT8_MAX;
    case FBY_U16:
        return UINT16_MAX;
    case FBY_I32:
        return INT32_MAX;
    case FBY_U32:
        return UINT32_MAX;
    case FBY_I64:
        return INT64_MAX;
    default:
        return 0;
    }
}

/* Reals hold every value, near enough; whole numbers must hold them all. */
static bool holds(int64_t dtype, int64_t wire)
{
    bool is_signed = wire == FBY_I32 || wire == FBY_I64;
    return fby_settle_is_real(dtype) ||
           (!fby_settle_is_real(wire) &&
               fby_settle_largest(dtype) >= fby_settle_largest(wire) &&
               (!is_signed || dtype == FBY_I32 || dtype == FBY_I64));
}

fby_err fby_settle_dtype(const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->out.dtype == 0) {
        field->out.dtype = field->wire.type;
    }
    return holds(field->out.dtype, field->wire.type)
               ? FBY_OK
               : fby_settle_wrong_dtype(yaml, field->out.at[OUT_DTYPE],
                     field->out.dtype,
                     "cannot hold all values of the wire type");
}

fby_err fby_settle_bits(
    const struct fby_yaml *yaml, struct draft_field *field, uint32_t maps)
{
    struct draft_out *out = &field->out;
    field->wire.type      = FBY_U8;
    field->maps           = maps;
    if (out->dtype == 0) {
        out->dtype = FBY_U8;
    }
    return out->dtype == FBY_U8 || out->dtype == FBY_BOOL ||
                   fby_settle_is_real(out->dtype)
               ? FBY_OK
               : fby_settle_wrong_dtype(yaml, out->at[OUT_DTYPE], out->dtype,
                     "is not made of bits; use u8, bool, f16, bf16 or f32");
}
