/* What a field must be for its decoder (check.h). */
#include "common/pipeline/check.h"

#include <math.h>
#include <string.h>

#include "common/pipeline/derived.h"
#include "common/pipeline/op.h"

/* ---- pictures, masks and maps ---- */

static fby_err check_normalize(
    const struct fby_field_content *field, struct fby_why *why)
{
    for (size_t k = 0; field->normalize && k < 3; k++) {
        if (fabs(field->mean[k]) > FBY_NORMALIZE_MAX ||
            field->std[k] < 1 / FBY_NORMALIZE_MAX ||
            field->std[k] > FBY_NORMALIZE_MAX) {
            return fby_because(why, FBY_CONFIG,
                "normalize: a mean is within -1000000 to 1000000, a std "
                "within 0.000001 to 1000000");
        }
    }
    return FBY_OK;
}

static fby_err check_sides(struct fby_shape shape, struct fby_why *why)
{
    return shape.dims[0] != 0 && shape.dims[1] != 0
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "the pictures have no fixed size; end ops with one that "
                     "gives it, such as resize: {size: 224} or center_crop: "
                     "{size: 224}");
}

static fby_err check_mask(
    const struct fby_field_content *field, struct fby_why *why)
{
    return field->wire_type == FBY_U8
               ? check_sides(field->shape, why)
               : fby_because(
                     why, FBY_CONFIG, "a mask8 field has the wire type u8");
}

static fby_err check_maps(
    const struct fby_field_content *field, struct fby_why *why)
{
    return field->wire_type == FBY_U8 && field->maps == field->n_from
               ? check_sides(field->shape, why)
               : fby_because(why, FBY_CONFIG,
                     "a maps field has the wire type bits, and one for each "
                     "of its members");
}

static fby_err check_yuv_ops(
    const struct fby_field_content *field, struct fby_why *why)
{
    for (size_t i = 0; field->yuv420 && i < field->n_ops; i++) {
        const struct fby_op *op = field->ops[i].op;
        if (op->is_colour) {
            return fby_because(why, FBY_CONFIG,
                "%s needs red, green and blue, which yuv420 has not", op->name);
        }
    }
    return FBY_OK;
}

static fby_err check_image(
    const struct fby_field_content *field, struct fby_why *why)
{
    if (field->dct_scale < FBY_DCT_OFF || field->dct_scale > FBY_DCT_FAST ||
        field->wire_type != FBY_U8 || fby_field_is_of_folder(field)) {
        return fby_because(why, FBY_CONFIG,
            "an rgb8 field comes from a member, with a dct_scale and wire "
            "type u8");
    }
    fby_err err = check_sides(field->shape, why);
    if (err == FBY_OK) {
        err = check_yuv_ops(field, why);
    }
    return err == FBY_OK ? check_normalize(field, why) : err;
}

/* ---- labels, numbers, bytes and texts ---- */

static fby_err check_label(
    const struct fby_field_content *field, struct fby_why *why)
{
    if (fby_field_is_of_folder(field) && field->json_key[0] != '\0') {
        return fby_because(
            why, FBY_CONFIG, "a class folder's number has no key");
    }
    if (field->classes > FBY_MAX_CLASSES) {
        return fby_because(
            why, FBY_CONFIG, "classes is more than %d", FBY_MAX_CLASSES);
    }
    if (field->wire_type != fby_label_type(field->classes)) {
        return fby_because(why, FBY_CONFIG,
            "a label's wire type is the smallest of u8, u16, u32 that holds "
            "the classes");
    }
    if (field->one_hot &&
        (field->classes == 0 || field->classes > FBY_MAX_ONE_HOT)) {
        return fby_because(
            why, FBY_CONFIG, "one_hot needs classes, 1 to %d", FBY_MAX_ONE_HOT);
    }
    return field->smoothing >= 0 && field->smoothing < 1
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "smoothing is not at least 0 and below 1");
}

static fby_err check_number(const struct fby_field_content *field,
    enum fby_source_kind source, struct fby_why *why)
{
    bool column = source == FBY_SOURCE_COLUMNS;
    if ((field->json_key[0] == '\0') != column ||
        fby_field_is_of_folder(field)) {
        return fby_because(why, FBY_CONFIG,
            "a number comes from a key of a JSON member, or from a column");
    }
    return field->wire_type != FBY_F16 && field->wire_type != FBY_BF16
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "a number travels as u8, u16, u32, i32, i64 or f32");
}

static fby_err check_bytes(
    const struct fby_field_content *field, struct fby_why *why)
{
    bool varies = field->max_length > 0;
    if (varies ? field->length != 0
               : field->length == 0 || field->length > FBY_MAX_LENGTH) {
        return fby_because(
            why, FBY_CONFIG, "length is not within 1 to %d", FBY_MAX_LENGTH);
    }
    return field->wire_type == FBY_U8 && !fby_field_is_of_folder(field)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "bytes come from a member and travel as u8");
}

static fby_err check_text(
    const struct fby_field_content *field, struct fby_why *why)
{
    return field->wire_type == FBY_U8 && !fby_field_is_of_folder(field) &&
                   field->max_length > 0
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "a text comes from a member, has a max_length and travels "
                     "as u8");
}

/* ---- arrays ---- */

static bool packs_last(const struct fby_field_content *field)
{
    const struct fby_shape *shape = &field->array;
    return shape->n_dims > 0 && field->wire_type == FBY_U8 &&
           shape->dims[shape->n_dims - 1] == field->maps;
}

static fby_err check_array(
    const struct fby_field_content *field, struct fby_why *why)
{
    if (field->maps != 0 && !packs_last(field)) {
        return fby_because(why, FBY_CONFIG,
            "bits are packed along the last dimension of an array");
    }
    return fby_array_bytes(&field->array, field->wire_type) > 0
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "an array has a wire type, up to %d dimensions of at "
                     "least 1, and at most %d bytes",
                     FBY_MAX_DIMS, FBY_MAX_LENGTH);
}

/* ---- sequences and documents ---- */

static bool is_part_of_sequence(const char *from)
{
    return strcmp(from, "input") == 0 || fby_wants_targets(from);
}

static fby_err check_sequence(
    const struct fby_field_content *field, struct fby_why *why)
{
    if (field->n_from != 1 || !is_part_of_sequence(field->from[0])) {
        return fby_because(
            why, FBY_CONFIG, "tokens come from input, target or sequence, one");
    }
    return field->wire_type == FBY_U16 || field->wire_type == FBY_U32
               ? FBY_OK
               : fby_because(why, FBY_CONFIG, "tokens travel as u16 or as u32");
}

static fby_err check_documents(
    const struct fby_field_content *field, struct fby_why *why)
{
    return field->n_from == 1 && strcmp(field->from[0], "documents") == 0 &&
                   field->too_long == FBY_TOO_LONG_REFUSE &&
                   field->wire_type == fby_documents_type(field->max_length)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "lengths of documents come from documents, as many as a "
                     "sequence has, and travel as the smaller of u16 and u32 "
                     "that holds its length");
}

/* ---- rows that vary in length ---- */

static bool may_vary(enum fby_decode decode)
{
    return decode == FBY_DECODE_NUMBER || decode == FBY_DECODE_BYTES ||
           decode == FBY_DECODE_TEXT || decode == FBY_DECODE_ARRAY ||
           decode == FBY_DECODE_DOCUMENTS;
}

/* Of what has a max_length that is one, and its wire type. */
static fby_err check_sparse(
    const struct fby_field_content *field, struct fby_why *why)
{
    uint64_t dense = fby_dense_values(&field->array);
    if (field->max_length == 0 || fby_field_is_of_folder(field) ||
        field->too_long != FBY_TOO_LONG_REFUSE) {
        return fby_because(why, FBY_CONFIG,
            "a sparse row comes from a member and has a max_length; longer "
            "ones are refused");
    }
    if (dense == 0 || field->max_length > dense) {
        return fby_because(why, FBY_CONFIG,
            "its shape has no values, more than %llu, or fewer than max_length",
            (unsigned long long)FBY_MAX_DENSE);
    }
    return fby_varying_bytes(field) > 0
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "max_length values and their indices have more than %d "
                     "bytes",
                     FBY_MAX_VARYING);
}

fby_err fby_check_varying(
    const struct fby_field_content *field, struct fby_why *why)
{
    if (field->max_length == 0) {
        return field->too_long == 0 ? FBY_OK
                                    : fby_because(why, FBY_CONFIG,
                                          "too_long goes with max_length");
    }
    if (field->decode == FBY_DECODE_SPARSE) {
        return FBY_OK; /* check_sparse */
    }
    if (!may_vary(field->decode) || field->maps > 0) {
        return fby_because(why, FBY_CONFIG, "its rows are all of one length");
    }
    if (field->array.n_dims >= FBY_MAX_DIMS ||
        (field->too_long != FBY_TOO_LONG_REFUSE &&
            field->too_long != FBY_TOO_LONG_TRUNCATE)) {
        return fby_because(why, FBY_CONFIG,
            "an entry has at most %d dimensions; too_long is refuse or "
            "truncate",
            FBY_MAX_DIMS - 1);
    }
    if (fby_varying_bytes(field) == 0 &&
        field->decode == FBY_DECODE_DOCUMENTS) {
        return fby_because(why, FBY_CONFIG,
            "a sequence has up to `length` documents, of which a field can "
            "hold %d: length is %u",
            (int)(FBY_MAX_VARYING / sizeof(uint32_t)), field->max_length);
    }
    return fby_varying_bytes(field) > 0
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "max_length entries have more than %d bytes",
                     FBY_MAX_VARYING);
}

/* ---- all of them ---- */

fby_err fby_check_decoded(const struct fby_field_content *field,
    enum fby_source_kind source, struct fby_why *why)
{
    switch (field->decode) {
    case FBY_DECODE_RGB8:
        return check_image(field, why);
    case FBY_DECODE_LABEL:
        return check_label(field, why);
    case FBY_DECODE_NUMBER:
        return check_number(field, source, why);
    case FBY_DECODE_BYTES:
        return check_bytes(field, why);
    case FBY_DECODE_MASK8:
        return check_mask(field, why);
    case FBY_DECODE_ARRAY:
        return check_array(field, why);
    case FBY_DECODE_MAPS:
        return check_maps(field, why);
    case FBY_DECODE_TOKENS:
        return check_sequence(field, why);
    case FBY_DECODE_DOCUMENTS:
        return check_documents(field, why);
    case FBY_DECODE_TEXT:
        return check_text(field, why);
    case FBY_DECODE_SPARSE:
        return check_sparse(field, why);
    }
    return fby_because(why, FBY_CONFIG, "decode is not known");
}
