/* Pictures, masks, and maps, which are masks in a stack. */
#include <string.h>

#include "common/pipeline/derived.h"
#include "common/pipeline/settle.h"

/* ---- rgb8 ---- */

static fby_err check_picture_files(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    for (size_t i = 0; i < field->n_from; i++) {
        const char *picture = fby_undecoded_picture(field->from[i]);
        if (picture != NULL) {
            return fby_yaml_wrong(yaml->why, yaml->file, field->from_at[i],
                "%s pictures are not in this version; use jpg, jpeg or png",
                picture);
        }
    }
    return FBY_OK;
}

static fby_err check_yuv_ops(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    for (size_t i = 0; i < field->n_ops; i++) {
        const struct draft_op *op = &field->ops[i];
        if (op->use.op->is_colour) {
            return fby_yaml_wrong(yaml->why, yaml->file, op->here,
                "%s needs red, green and blue, which a picture that travels "
                "as yuv420 gets on the device only; %s, or use wire: u8",
                op->use.op->name,
                fby_device_op_named(op->use.op->name) != NULL
                    ? "write it under 'device'"
                    : "leave it out");
        }
    }
    return FBY_OK;
}

static fby_err settle_picture_wire(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->wire.type == DRAFT_YUV420) {
        field->wire.yuv420 = true;
        field->wire.type   = FBY_U8;
        return check_yuv_ops(yaml, field);
    }
    return fby_settle_wire(yaml, field, FBY_U8,
        "rgb8 pictures travel as u8, or as yuv420; use type: u8");
}

fby_err fby_settle_picture(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    bool    normalized = fby_draft_normalizes(field);
    fby_err err        = check_picture_files(yaml, field);
    if (field->dct_scale == 0) {
        field->dct_scale = FBY_DCT_FAITHFUL;
    }
    if (err == FBY_OK) {
        err = settle_picture_wire(yaml, field);
    }
    if (err != FBY_OK) {
        return err;
    }
    if (field->out.dtype == 0) {
        field->out.dtype = normalized ? FBY_F32 : FBY_U8;
    }
    if (normalized && field->out.dtype == FBY_U8) {
        return fby_settle_wrong_dtype(yaml, field->out.at[OUT_DTYPE], FBY_U8,
            "cannot hold normalised values; use f32, f16 or bf16");
    }
    if (field->out.dtype != FBY_U8 && !fby_settle_is_real(field->out.dtype)) {
        return fby_settle_wrong_dtype(yaml, field->out.at[OUT_DTYPE],
            field->out.dtype,
            "is not made of pictures; use u8, f32, f16 or bf16");
    }
    return FBY_OK;
}

/* ---- mask8 and maps ---- */

static fby_err check_mask_files(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    for (size_t i = 0; i < field->n_from; i++) {
        if (strcmp(fby_extension_kind(field->from[i]), "png") != 0) {
            return fby_settle_wrong(yaml, field->from_at[i],
                "a mask comes from png; other formats do not keep its values");
        }
    }
    return FBY_OK;
}

fby_err fby_settle_mask(const struct fby_yaml *yaml, struct draft_field *field)
{
    fby_err err = check_mask_files(yaml, field);
    for (size_t i = 0; err == FBY_OK && i < field->n_device; i++) {
        if (!field->device[i].use.op->masks) {
            err = fby_yaml_wrong(yaml->why, yaml->file, field->device[i].here,
                "%s is not done to a mask8 field; masks have flips only",
                field->device[i].use.op->name);
        }
    }
    if (err == FBY_OK) {
        err = fby_settle_wire(
            yaml, field, FBY_U8, "masks travel as u8; use type: u8");
    }
    if (err == FBY_OK && field->n_device > 0 && field->out.dtype == FBY_I64) {
        return fby_settle_wrong_dtype(yaml, field->out.at[OUT_DTYPE], FBY_I64,
            "is not made by flips on the device; use i32, or flip under ops");
    }
    return err == FBY_OK ? fby_settle_dtype(yaml, field) : err;
}

fby_err fby_settle_maps(const struct fby_yaml *yaml, struct draft_field *field)
{
    fby_err err = check_mask_files(yaml, field);
    if (err == FBY_OK) {
        err = fby_settle_wire(yaml, field, (enum fby_type)DRAFT_BITS,
            "maps travel as bits; use type: bits");
    }
    return err == FBY_OK ? fby_settle_bits(yaml, field, field->n_from) : err;
}
