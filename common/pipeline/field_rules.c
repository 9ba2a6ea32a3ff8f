/* What the keys of one field must be together, given how it is decoded, and
 * what stands for those that were not said. */
#include <string.h>

#include "common/pipeline/canon.h"
#include "common/pipeline/draft.h"
#include "common/pipeline/op.h"

static fby_err wrong_at(
    const struct fby_yaml *yaml, struct fby_place at, const char *text)
{
    return fby_yaml_wrong(yaml->why, yaml->file, at, "%s", text);
}

/* ---- which decoder ---- */

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(*words, word) != 0) {
        words++;
    }
    return *words != NULL;
}

static enum fby_decode infer_one(const char *extension)
{
    static const char *const labels[]  = {"folder", "cls", NULL};
    static const char *const picture[] = {"jpg", "jpeg", "png", NULL};
    const char              *kind      = fby_extension_kind(extension);
    if (is_one_of(kind, labels)) {
        return FBY_DECODE_LABEL;
    }
    if (is_one_of(kind, picture) || fby_undecoded_picture(extension) != NULL) {
        return FBY_DECODE_RGB8;
    }
    return strcmp(kind, "json") == 0 ? FBY_DECODE_NUMBER : FBY_DECODE_BYTES;
}

/* Sources of tokens have nothing else. */
static bool is_of_tokens(const struct fby_pipeline *pipeline)
{
    bool all = true;
    for (size_t i = 0; i < pipeline->n_splits; i++) {
        all = all && pipeline->splits[i].kind == FBY_SOURCE_TOKENS;
    }
    return all;
}

static bool is_column(const struct draft_field *field)
{
    return field->pipeline->splits[0].kind == FBY_SOURCE_COLUMNS;
}

static fby_err infer_decode(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->decode != 0) {
        return FBY_OK;
    }
    if (is_column(field)) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->here,
            "field '%s' comes from a column: say decode: array, label, number "
            "or sparse",
            field->name);
    }
    field->decode = infer_one(field->from[0]);
    if (is_of_tokens(field->pipeline)) {
        bool documents = strcmp(field->from[0], "documents") == 0;
        field->decode  = documents ? FBY_DECODE_DOCUMENTS : FBY_DECODE_TOKENS;
        return FBY_OK;
    }
    for (size_t i = 1; i < field->n_from; i++) {
        if ((int64_t)infer_one(field->from[i]) != field->decode) {
            return fby_yaml_wrong(yaml->why, yaml->file, field->from_at[i],
                "'%s' and '%s' are not decoded alike; say decode: rgb8, mask8, "
                "maps, label, number, array, text, sparse or "
                "bytes",
                field->from[0], field->from[i]);
        }
    }
    return FBY_OK;
}

/* ---- which keys ---- */

#define BIT(key) (1U << (key))

static bool is_used(int64_t decode, size_t key)
{
    static const unsigned common =
        BIT(FIELD_FROM) | BIT(FIELD_DECODE) | BIT(FIELD_WIRE) | BIT(FIELD_OUT);
    enum { VARYING = BIT(FIELD_MAX_LENGTH) | BIT(FIELD_TOO_LONG) };
    static const unsigned used[] = {
        [FBY_DECODE_RGB8] = BIT(FIELD_DCT_SCALE) | BIT(FIELD_GROUP) |
                            BIT(FIELD_OPS) | BIT(FIELD_DEVICE),
        [FBY_DECODE_LABEL] = BIT(FIELD_CLASSES) | BIT(FIELD_ONE_HOT) |
                             BIT(FIELD_KEY) | BIT(FIELD_PICK),
        [FBY_DECODE_NUMBER] = BIT(FIELD_KEY) | BIT(FIELD_PICK) | VARYING,
        [FBY_DECODE_BYTES]  = BIT(FIELD_LENGTH) | VARYING,
        [FBY_DECODE_MASK8] =
            BIT(FIELD_GROUP) | BIT(FIELD_OPS) | BIT(FIELD_DEVICE),
        [FBY_DECODE_ARRAY]     = BIT(FIELD_SHAPE) | VARYING,
        [FBY_DECODE_TEXT]      = BIT(FIELD_KEY) | BIT(FIELD_PICK) | VARYING,
        [FBY_DECODE_SPARSE]    = BIT(FIELD_SHAPE) | VARYING,
        [FBY_DECODE_MAPS]      = BIT(FIELD_GROUP) | BIT(FIELD_OPS),
        [FBY_DECODE_TOKENS]    = 0,
        [FBY_DECODE_DOCUMENTS] = 0,
    };
    return ((common | used[decode]) & BIT(key)) != 0;
}

static bool is_bits(const struct draft_field *field)
{
    return field->wire.type == DRAFT_BITS || field->decode == FBY_DECODE_MAPS;
}

static bool has_layout(const struct draft_field *field)
{
    bool solid = field->decode == FBY_DECODE_ARRAY && field->shape.n_dims == 3;
    return field->decode == FBY_DECODE_RGB8 ||
           field->decode == FBY_DECODE_MAPS ||
           (solid && field->max_length == 0);
}

static fby_err check_column(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (field->decode != FBY_DECODE_ARRAY &&
        field->decode != FBY_DECODE_LABEL &&
        field->decode != FBY_DECODE_NUMBER &&
        field->decode != FBY_DECODE_SPARSE) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->at[FIELD_DECODE],
            "a column is decoded as array, label, number or sparse, not as %s",
            fby_draft_decoder_name(field->decode));
    }
    for (size_t key = FIELD_KEY; key <= FIELD_PICK; key++) {
        if (field->at[key].line > 0) {
            return fby_yaml_wrong(yaml->why, yaml->file, field->at[key],
                "key '%s' is not used by columns", fby_draft_field_key(key));
        }
    }
    if (field->max_length > 0 && field->decode != FBY_DECODE_ARRAY &&
        field->decode != FBY_DECODE_SPARSE) {
        return wrong_at(yaml, field->at[FIELD_MAX_LENGTH],
            "a ragged column is decoded as array; say its entries' shape, [] "
            "of numbers");
    }
    return FBY_OK;
}

/* Keys that go with max_length. */
static fby_err check_varying_keys(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (field->max_length > 0) {
        for (size_t key = OUT_SCALE; key <= OUT_OFFSET; key++) {
            if (field->out.at[key].line > 0) {
                return wrong_at(yaml, field->out.at[key],
                    "only arrays of one shape have a scale and an offset");
            }
        }
        return FBY_OK;
    }
    if (field->at[FIELD_TOO_LONG].line > 0) {
        return wrong_at(yaml, field->at[FIELD_TOO_LONG],
            "too_long goes with max_length; say how long rows may be");
    }
    for (size_t key = OUT_AS; key <= OUT_OFFSETS; key++) {
        if (field->out.at[key].line > 0 &&
            field->decode != FBY_DECODE_DOCUMENTS) {
            return wrong_at(yaml, field->out.at[key],
                "only fields with a max_length have another form");
        }
    }
    return FBY_OK;
}

static fby_err check_used(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (is_column(field) && check_column(yaml, field) != FBY_OK) {
        return FBY_CONFIG;
    }
    for (size_t key = 0; key < FIELD_KEYS; key++) {
        if (field->at[key].line > 0 && !is_used(field->decode, key)) {
            bool json = key == FIELD_KEY || key == FIELD_PICK;
            if (json && field->at[FIELD_DECODE].line == 0) {
                return fby_yaml_wrong(yaml->why, yaml->file, field->at[key],
                    "key '%s' is about JSON: say decode: number, label or text",
                    fby_draft_field_key(key));
            }
            return fby_yaml_wrong(yaml->why, yaml->file, field->at[key],
                "key '%s' is not used by decode: %s (from %s)",
                fby_draft_field_key(key), fby_draft_decoder_name(field->decode),
                field->from[0]);
        }
    }
    if (!has_layout(field) && field->out.at[OUT_LAYOUT].line > 0) {
        return wrong_at(yaml, field->out.at[OUT_LAYOUT],
            "only images, and arrays of three dimensions and one shape, have a "
            "layout");
    }
    bool scales = field->decode == FBY_DECODE_ARRAY && !is_bits(field);
    for (size_t key = OUT_SCALE; key <= OUT_OFFSET; key++) {
        if (!scales && field->out.at[key].line > 0) {
            return wrong_at(yaml, field->out.at[key],
                "only arrays have a scale and an offset (images: normalize)");
        }
    }
    return check_varying_keys(yaml, field);
}

static bool stands_before(const struct draft_field *field, size_t i)
{
    size_t k = 0;
    while (k < i && strcmp(field->from[i], field->from[k]) != 0) {
        k++;
    }
    return k < i;
}

static fby_err check_from(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (field->n_from > FBY_MAX_FROM && field->decode != FBY_DECODE_MAPS) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->at[FIELD_FROM],
            "expected 1 to %d extensions, not %u", FBY_MAX_FROM, field->n_from);
    }
    for (size_t i = 0; i < field->n_from; i++) {
        bool folder = strcmp(field->from[i], "folder") == 0;
        if (folder &&
            (field->n_from > 1 || field->decode != FBY_DECODE_LABEL)) {
            return wrong_at(yaml, field->from_at[i],
                "folder is the number of the class folder: a label, alone");
        }
        if (stands_before(field, i)) {
            return fby_yaml_wrong(yaml->why, yaml->file, field->from_at[i],
                "'%s' stands here a second time", field->from[i]);
        }
    }
    return FBY_OK;
}

/* ---- types ---- */

/* Where a type was said: in the mapping, or as the plain word. */
static struct fby_place wire_place(const struct draft_field *field)
{
    return field->wire.at[WIRE_TYPE].line > 0 ? field->wire.at[WIRE_TYPE]
                                              : field->at[FIELD_WIRE];
}

static fby_err settle_wire(const struct fby_yaml *yaml,
    struct draft_field *field, enum fby_type right, const char *text)
{
    if (field->wire.type != 0 && field->wire.type != (int64_t)right) {
        return wrong_at(yaml, wire_place(field), text);
    }
    field->wire.type = right;
    return FBY_OK;
}

static fby_err refuse_dtype(const struct fby_yaml *yaml, struct fby_place at,
    int64_t dtype, const char *text)
{
    return fby_yaml_wrong(yaml->why, yaml->file, at, "dtype %s %s",
        fby_draft_type_name(dtype), text);
}

static bool is_float(int64_t type)
{
    return fby_is_real((enum fby_type)type);
}

/* Largest of whole numbers; 0 of other types. */
static int64_t largest(int64_t type)
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
    return is_float(dtype) ||
           (!is_float(wire) && largest(dtype) >= largest(wire) &&
               (!is_signed || dtype == FBY_I32 || dtype == FBY_I64));
}

static fby_err settle_dtype(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->out.dtype == 0) {
        field->out.dtype = field->wire.type;
    }
    return holds(field->out.dtype, field->wire.type)
               ? FBY_OK
               : refuse_dtype(yaml, field->out.at[OUT_DTYPE], field->out.dtype,
                     "cannot hold all values of the wire type");
}

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
    return settle_wire(yaml, field, FBY_U8,
        "rgb8 pictures travel as u8, or as yuv420; use type: u8");
}

static fby_err settle_picture(
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
        return refuse_dtype(yaml, field->out.at[OUT_DTYPE], FBY_U8,
            "cannot hold normalised values; use f32, f16 or bf16");
    }
    if (field->out.dtype != FBY_U8 && !is_float(field->out.dtype)) {
        return refuse_dtype(yaml, field->out.at[OUT_DTYPE], field->out.dtype,
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
            return wrong_at(yaml, field->from_at[i],
                "a mask comes from png; other formats do not keep its values");
        }
    }
    return FBY_OK;
}

static fby_err settle_mask(
    const struct fby_yaml *yaml, struct draft_field *field)
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
        err = settle_wire(
            yaml, field, FBY_U8, "masks travel as u8; use type: u8");
    }
    if (err == FBY_OK && field->n_device > 0 && field->out.dtype == FBY_I64) {
        return refuse_dtype(yaml, field->out.at[OUT_DTYPE], FBY_I64,
            "is not made by flips on the device; use i32, or flip under ops");
    }
    return err == FBY_OK ? settle_dtype(yaml, field) : err;
}

/* Bits travel in bytes, and become numbers that are 0 or 1. */
static fby_err settle_bits(
    const struct fby_yaml *yaml, struct draft_field *field, uint32_t maps)
{
    struct draft_out *out = &field->out;
    field->wire.type      = FBY_U8;
    field->maps           = maps;
    if (out->dtype == 0) {
        out->dtype = FBY_U8;
    }
    return out->dtype == FBY_U8 || out->dtype == FBY_BOOL ||
                   is_float(out->dtype)
               ? FBY_OK
               : refuse_dtype(yaml, out->at[OUT_DTYPE], out->dtype,
                     "is not made of bits; use u8, bool, f16, bf16 or f32");
}

static fby_err settle_maps(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    fby_err err = check_mask_files(yaml, field);
    if (err == FBY_OK) {
        err = settle_wire(yaml, field, (enum fby_type)DRAFT_BITS,
            "maps travel as bits; use type: bits");
    }
    return err == FBY_OK ? settle_bits(yaml, field, field->n_from) : err;
}

/* ---- label ---- */

static fby_err settle_classes(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    struct draft_one_hot *one_hot = &field->one_hot;
    if (field->at[FIELD_ONE_HOT].line == 0) {
        return FBY_OK;
    }
    if (one_hot->classes == 0 && field->classes > FBY_MAX_ONE_HOT) {
        return wrong_at(yaml, field->at[FIELD_CLASSES],
            "one_hot has at most 65536 classes");
    }
    if (one_hot->classes == 0 && field->classes == 0) {
        return wrong_at(yaml, field->at[FIELD_ONE_HOT],
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
        return refuse_dtype(yaml, one_hot->at[ONE_HOT_DTYPE], FBY_U8,
            "cannot hold smoothed values; use f32, f16 or bf16");
    }
    return one_hot->dtype == FBY_U8 || is_float(one_hot->dtype)
               ? FBY_OK
               : refuse_dtype(yaml, one_hot->at[ONE_HOT_DTYPE], one_hot->dtype,
                     "is not made by one_hot; use u8, f32, f16 or bf16");
}

static fby_err check_label_dtype(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    int64_t classes = field->classes != 0 ? field->classes : FBY_MAX_CLASSES;
    int64_t most    = largest(field->out.dtype);
    if (most == 0) {
        return refuse_dtype(yaml, field->out.at[OUT_DTYPE], field->out.dtype,
            "is not made of labels; use i64, i32, u8, u16 or u32, or one_hot");
    }
    return most >= classes - 1
               ? FBY_OK
               : refuse_dtype(yaml, field->out.at[OUT_DTYPE], field->out.dtype,
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

static fby_err settle_label(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    fby_err err = check_pick(yaml, field);
    if (err == FBY_OK) {
        err = settle_classes(yaml, field);
    }
    if (err == FBY_OK) {
        err = settle_wire(yaml, field, fby_label_type((uint32_t)field->classes),
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
    if (err == FBY_OK && field->at[FIELD_ONE_HOT].line > 0) {
        err = check_one_hot(yaml, &field->one_hot);
    }
    return err;
}

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
        return wrong_at(yaml, field->out.at[OUT_AS],
            sparse ? "only decode: sparse is handed out as dense, csr or coo; "
                     "use padded or ragged"
                   : "sparse rows are handed out as dense, csr or coo");
    }
    return as != FBY_AS_CSR || field->shape.n_dims == 1
               ? FBY_OK
               : wrong_at(yaml, field->out.at[OUT_AS],
                     "csr goes with a shape of one dimension; use coo, or "
                     "dense");
}

static fby_err check_pad(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    const struct draft_out *out    = &field->out;
    static const char      *goes[] = {"to", "pad"};
    for (size_t key = OUT_TO; key <= OUT_PAD; key++) {
        if (out->at[key].line > 0 && out->as != FBY_AS_PADDED) {
            return fby_yaml_wrong(yaml->why, yaml->file, out->at[key],
                "%s goes with as: padded", goes[key - OUT_TO]);
        }
    }
    if (out->at[OUT_OFFSETS].line > 0 && out->as != FBY_AS_RAGGED &&
        out->as != FBY_AS_CSR) {
        return wrong_at(
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

static fby_err settle_varying(
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
        return wrong_at(yaml, field->out.at[OUT_AS],
            "cu_seqlens, positions and mask are made of from: documents; use "
            "padded or ragged");
    }
    fby_err err = check_as(yaml, field);
    if (err == FBY_OK) {
        err = settle_dtype(yaml, field);
    }
    return err == FBY_OK ? check_pad(yaml, field) : err;
}

/* ---- number, bytes and text ---- */

static fby_err settle_number(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->wire.type == 0) {
        field->wire.type = FBY_F32;
    }
    if (field->wire.type == FBY_F16 || field->wire.type == FBY_BF16 ||
        field->wire.type == DRAFT_BITS) {
        return wrong_at(yaml, wire_place(field),
            "a number travels as f32, i32, i64, u8, u16 or u32");
    }
    if (field->json_key[0] == '\0' && !is_column(field)) {
        memcpy(field->json_key, field->name, FBY_NAME_SIZE);
    }
    return field->max_length > 0 ? settle_varying(yaml, field)
                                 : settle_dtype(yaml, field);
}

static fby_err settle_bytes(
    const struct fby_yaml *yaml, struct draft_field *field)
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
        return wrong_at(yaml, field->at[FIELD_MAX_LENGTH],
            "length and max_length: say one; all have that length, or at most");
    }
    fby_err err =
        settle_wire(yaml, field, FBY_U8, "bytes travel as u8; use type: u8");
    if (err != FBY_OK) {
        return err;
    }
    return field->max_length > 0 ? settle_varying(yaml, field)
                                 : settle_dtype(yaml, field);
}

static fby_err settle_text(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->max_length == 0) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->here,
            "field '%s' is text: say the 'max_length' of its bytes",
            field->name);
    }
    fby_err err = check_pick(yaml, field);
    if (err == FBY_OK) {
        err = settle_wire(
            yaml, field, FBY_U8, "text travels as u8; use type: u8");
    }
    return err == FBY_OK ? settle_varying(yaml, field) : err;
}

/* ---- array ---- */

static fby_err check_array_files(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    for (size_t i = 0; i < field->n_from; i++) {
        if (!is_column(field) &&
            strcmp(fby_extension_kind(field->from[i]), "npy") != 0) {
            return wrong_at(yaml, field->from_at[i],
                "an array comes from npy; no other files hold one here");
        }
    }
    return FBY_OK;
}

static fby_err check_bits_shape(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (field->shape.n_dims == 0) {
        return wrong_at(yaml, field->at[FIELD_SHAPE],
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
    if (field->at[FIELD_SHAPE].line == 0) {
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
    if (is_bits(field) && field->max_length > 0) {
        return wrong_at(yaml, field->at[FIELD_MAX_LENGTH],
            "bits are of one shape; say a wire type of numbers");
    }
    if (is_bits(field)) {
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
    if (!is_float(out->dtype)) {
        return refuse_dtype(yaml, out->at[OUT_DTYPE], out->dtype,
            "cannot hold scaled values; use f32, f16 or bf16");
    }
    fby_err err = check_factor(yaml, field, &out->scale, OUT_SCALE);
    return err == FBY_OK ? check_factor(yaml, field, &out->offset, OUT_OFFSET)
                         : err;
}

static fby_err settle_array(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    const struct fby_shape *shape = &field->shape;
    fby_err                 err   = check_array_files(yaml, field);
    if (err == FBY_OK) {
        err = check_array_keys(yaml, field);
    }
    if (err == FBY_OK && is_bits(field)) {
        return settle_bits(yaml, field, shape->dims[shape->n_dims - 1]);
    }
    if (err == FBY_OK) {
        err = settle_scale(yaml, field);
    }
    if (err != FBY_OK) {
        return err;
    }
    if (field->max_length > 0) {
        return settle_varying(yaml, field);
    }
    return settle_dtype(yaml, field);
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
    if (is_bits(field)) {
        return wrong_at(yaml, wire_place(field),
            "sparse values travel as u8, u16, u32, i32, i64, f16, bf16 or f32");
    }
    if (field->too_long == FBY_TOO_LONG_TRUNCATE) {
        return wrong_at(yaml, field->at[FIELD_TOO_LONG],
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

static fby_err settle_sparse(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < field->n_from && err == FBY_OK; i++) {
        if (!is_column(field) &&
            strcmp(fby_extension_kind(field->from[i]), "npz") != 0) {
            err = wrong_at(yaml, field->from_at[i],
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
    return err == FBY_OK ? settle_varying(yaml, field) : err;
}

/* ---- tokens ---- */

/* The wire type that was not said is that of each split's tokens. */
static fby_err settle_tokens(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    int64_t     wire  = field->wire.type;
    const char *from  = field->from[0];
    bool        known = strcmp(from, "input") == 0 || fby_wants_targets(from);
    if (!known || field->n_from > 1) {
        return wrong_at(yaml, field->from_at[0],
            "tokens come from input, from target: the tokens after those, or "
            "from sequence: both in one");
    }
    if (wire != 0 && wire != FBY_U16 && wire != FBY_U32) {
        return wrong_at(
            yaml, wire_place(field), "tokens travel as u16 or as u32");
    }
    if (field->out.dtype == 0) {
        field->out.dtype = FBY_I64;
    }
    int64_t out = field->out.dtype;
    return out == FBY_I64 || out == FBY_I32 || out == FBY_U32
               ? FBY_OK
               : refuse_dtype(yaml, field->out.at[OUT_DTYPE], out,
                     "is not made of tokens; use i64, i32 or u32");
}

/* What lengths of documents may become, the default first. */
static bool documents_become(int64_t as, int64_t dtype)
{
    if (as == FBY_AS_MASK) {
        return dtype == FBY_BOOL || dtype == FBY_U8 || is_float(dtype);
    }
    return dtype == FBY_I32 || dtype == FBY_I64 ||
           (dtype == FBY_U32 && as <= FBY_AS_RAGGED);
}

static int64_t documents_default(int64_t as)
{
    static const int64_t defaults[] = {
        [FBY_AS_PADDED]     = FBY_I32,
        [FBY_AS_RAGGED]     = FBY_I32,
        [FBY_AS_CU_SEQLENS] = FBY_I32,
        [FBY_AS_POSITIONS]  = FBY_I64,
        [FBY_AS_MASK]       = FBY_BOOL,
    };
    return defaults[as];
}

/* The type on the wire, and how many there may be, are the split's. */
static fby_err settle_documents(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    struct draft_out *out = &field->out;
    if (field->n_from > 1 || strcmp(field->from[0], "documents") != 0) {
        return wrong_at(yaml, field->from_at[0],
            "lengths of documents come from documents");
    }
    if (field->wire.type != 0) {
        return wrong_at(yaml, wire_place(field),
            "lengths of documents travel as the smaller of u16 and u32 that "
            "holds the length of a sequence; leave the type out");
    }
    if (out->as == 0) {
        out->as = FBY_AS_RAGGED;
    }
    if (out->as > FBY_AS_RAGGED && out->as < FBY_AS_CU_SEQLENS) {
        return wrong_at(yaml, out->at[OUT_AS],
            "dense, csr and coo are forms of sparse rows");
    }
    if (out->offsets == 0) {
        out->offsets = FBY_I32;
    }
    if (out->dtype == 0) {
        out->dtype = documents_default(out->as);
    }
    return documents_become(out->as, out->dtype)
               ? check_pad(yaml, field)
               : refuse_dtype(yaml, out->at[OUT_DTYPE], out->dtype,
                     out->as == FBY_AS_MASK
                         ? "is not made of a mask; use bool, u8, f32, f16 or "
                           "bf16"
                         : "is not made of documents; use i32 or i64");
}

/* ---- yuv420 ---- */

static fby_err check_yuv(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    return field->wire.type == DRAFT_YUV420 && field->decode != FBY_DECODE_RGB8
               ? wrong_at(yaml, wire_place(field),
                     "yuv420 is for pictures (rgb8); use an element type")
               : FBY_OK;
}

/* ---- filter and codec ---- */

/* Photo and pack are one coding: either word, or both, and for pictures. */
static fby_err check_photo(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    const struct draft_wire *wire  = &field->wire;
    bool                     photo = wire->filter == FBY_FILTER_PHOTO;
    bool                     pack  = wire->codec == FBY_CODEC_PACK;
    bool                     picture =
        field->decode == FBY_DECODE_RGB8 || field->decode == FBY_DECODE_MASK8;
    if ((photo || pack) && !picture) {
        return fby_yaml_wrong(yaml->why, yaml->file,
            wire->at[photo ? WIRE_FILTER : WIRE_CODEC],
            "%s is for pictures (rgb8, mask8); use %s: auto",
            photo ? "filter photo" : "codec pack", photo ? "filter" : "codec");
    }
    if (photo && !pack && wire->codec != FBY_AUTO) {
        return wrong_at(yaml, wire->at[WIRE_CODEC],
            "filter photo goes with codec: pack, or auto");
    }
    if (pack && !photo && wire->filter != FBY_AUTO) {
        return wrong_at(yaml, wire->at[WIRE_FILTER],
            "codec pack goes with filter: photo, or auto");
    }
    return FBY_OK;
}

/* ---- all of them ---- */

static fby_err settle(const struct fby_yaml *yaml, struct draft_field *field)
{
    switch (field->decode) {
    case FBY_DECODE_RGB8:
        return settle_picture(yaml, field);
    case FBY_DECODE_LABEL:
        return settle_label(yaml, field);
    case FBY_DECODE_NUMBER:
        return settle_number(yaml, field);
    case FBY_DECODE_MASK8:
        return settle_mask(yaml, field);
    case FBY_DECODE_ARRAY:
        return settle_array(yaml, field);
    case FBY_DECODE_MAPS:
        return settle_maps(yaml, field);
    case FBY_DECODE_TOKENS:
        return settle_tokens(yaml, field);
    case FBY_DECODE_DOCUMENTS:
        return settle_documents(yaml, field);
    case FBY_DECODE_TEXT:
        return settle_text(yaml, field);
    case FBY_DECODE_SPARSE:
        return settle_sparse(yaml, field);
    default:
        return settle_bytes(yaml, field);
    }
}

fby_err fby_draft_field_rules(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->group[0] == '\0') {
        memcpy(field->group, field->name, FBY_NAME_SIZE);
    }
    fby_err err = infer_decode(yaml, field);
    if (err == FBY_OK) {
        err = check_from(yaml, field);
    }
    if (err == FBY_OK) {
        err = check_used(yaml, field);
    }
    if (err == FBY_OK) {
        err = check_photo(yaml, field);
    }
    if (err == FBY_OK) {
        err = check_yuv(yaml, field);
    }
    return err == FBY_OK ? settle(yaml, field) : err;
}
