/* What a member holds as a whole: a label, a number, bytes or a text. */
#include <string.h>

#include "common/pipeline/derived.h"
#include "common/pipeline/settle.h"

/* ---- label ---- */

static fby_err settle_classes(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    struct draft_one_hot *one_hot = &field->one_hot;
    if (!fby_is_given(field->at[FIELD_ONE_HOT])) {
        return FBY_OK;
    }
    if (one_hot->classes == 0 && field->classes > FBY_MAX_ONE_HOT) {
        return fby_settle_wrong(yaml, field->at[FIELD_CLASSES],
            "one_hot has at most 65536 classes");
    }
    if (one_hot->classes == 0 && field->classes == 0) {
        return fby_settle_wrong(yaml, field->at[FIELD_ONE_HOT],
            "one_hot needs 'classes': an integer, 1 to 65536");
    }
    if (one_hot->classes != 0 && field->classes != 0 &&
        one_hot->classes != field->classes) {
        return fby_yaml_wrong(yaml->why, yaml->file,
            one_hot->at[ONE_HOT_CLASSES],
            "one_hot has %lld classes, but the field %lld; say it once",
            (long long)one_hot->classes, (long long)field->classes);
    }
    field->classes = field->classes != 0 ? field->classes : one_hot->classes;
    return FBY_OK;
}

static fby_err check_one_hot(
    const struct fby_yaml *yaml, const struct draft_one_hot *one_hot)
{
    if (one_hot->dtype == FBY_U8 && one_hot->smoothing > 0) {
        return fby_settle_wrong_dtype(yaml, one_hot->at[ONE_HOT_DTYPE], FBY_U8,
            "cannot hold smoothed values; use f32, f16 or bf16");
    }
    return one_hot->dtype == FBY_U8 || fby_settle_is_real(one_hot->dtype)
               ? FBY_OK
               : fby_settle_wrong_dtype(yaml, one_hot->at[ONE_HOT_DTYPE],
                     one_hot->dtype,
                     "is not made by one_hot; use u8, f32, f16 or bf16");
}

static fby_err check_label_dtype(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    int64_t classes = field->classes != 0 ? field->classes : FBY_MAX_CLASSES;
    int64_t most    = fby_settle_largest(field->out.dtype);
    if (most == 0) {
        return fby_settle_wrong_dtype(yaml, field->out.at[OUT_DTYPE],
            field->out.dtype,
            "is not made of labels; use i64, i32, u8, u16 or u32, or one_hot");
    }
    return most >= classes - 1
               ? FBY_OK
               : fby_settle_wrong_dtype(yaml, field->out.at[OUT_DTYPE],
                     field->out.dtype,
                     "is too small for the labels; use i64, or say classes");
}

/* Of what is JSON only where it has a key. */
static fby_err check_pick(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    return field->pick == 0 || field->json_key[0] != '\0'
               ? FBY_OK
               : fby_yaml_wrong(yaml->why, yaml->file, field->at[FIELD_PICK],
                     "a %s is picked out of JSON: say its key",
                     fby_draft_decoder_name(field->decode));
}

fby_err fby_settle_label(const struct fby_yaml *yaml, struct draft_field *field)
{
    fby_err err = check_pick(yaml, field);
    if (err == FBY_OK) {
        err = settle_classes(yaml, field);
    }
    if (err == FBY_OK) {
        err = fby_settle_wire(yaml, field,
            fby_label_type((uint32_t)field->classes),
            "a label travels as the smallest of u8, u16 and u32 that holds "
            "'classes' (u32 where they are not said); leave its type out");
    }
    if (err != FBY_OK) {
        return err;
    }
    if (field->out.dtype == 0) {
        field->out.dtype = FBY_I64;
    }
    err = check_label_dtype(yaml, field);
    if (err == FBY_OK && fby_is_given(field->at[FIELD_ONE_HOT])) {
        err = check_one_hot(yaml, &field->one_hot);
    }
    return err;
}

/* ---- number, bytes and text ---- */

fby_err fby_settle_number(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->wire.type == 0) {
        field->wire.type = FBY_F32;
    }
    if (field->wire.type == FBY_F16 || field->wire.type == FBY_BF16 ||
        field->wire.type == DRAFT_BITS) {
        return fby_settle_wrong(yaml, fby_settle_wire_place(field),
            "a number travels as f32, i32, i64, u8, u16 or u32");
    }
    if (field->json_key[0] == '\0' && !fby_draft_is_column(field)) {
        memcpy(field->json_key, field->name, FBY_NAME_SIZE);
    }
    return field->max_length > 0 ? fby_settle_varying(yaml, field)
                                 : fby_settle_dtype(yaml, field);
}

fby_err fby_settle_bytes(const struct fby_yaml *yaml, struct draft_field *field)
{
    bool npy = strcmp(fby_extension_kind(field->from[0]), "npy") == 0;
    if (field->length == 0 && field->max_length == 0) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->here,
            "field '%s' hands out the bytes of %s: say their 'length' (or "
            "'max_length'), or %s",
            field->name, field->from[0],
            npy ? "decode: array" : "another decode");
    }
    if (field->length != 0 && field->max_length != 0) {
        return fby_settle_wrong(yaml, field->at[FIELD_MAX_LENGTH],
            "length and max_length: say one; all have that length, or at most");
    }
    fby_err err = fby_settle_wire(
        yaml, field, FBY_U8, "bytes travel as u8; use type: u8");
    if (err != FBY_OK) {
        return err;
    }
    return field->max_length > 0 ? fby_settle_varying(yaml, field)
                                 : fby_settle_dtype(yaml, field);
}

fby_err fby_settle_text(const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->max_length == 0) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->here,
            "field '%s' is text: say the 'max_length' of its bytes",
            field->name);
    }
    fby_err err = check_pick(yaml, field);
    if (err == FBY_OK) {
        err = fby_settle_wire(
            yaml, field, FBY_U8, "text travels as u8; use type: u8");
    }
    return err == FBY_OK ? fby_settle_varying(yaml, field) : err;
}
