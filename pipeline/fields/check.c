/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - the rules that several kinds of fields share: names, members, ops,
 * rows, types and delivery. The other rules are in the files of the kinds. */
#include "pipeline/fields/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/op.h"
#include "pipeline/plan/geometry.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

fby_err fby_field_set_error(const struct fby_field_check *check,
    struct fby_field_fault fault, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(fault.why.text, sizeof(fault.why.text), format, args);
    va_end(args);
    *check->fault = fault;
    return FBY_CONFIG;
}

fby_err fby_field_error_dtype(
    const struct fby_field_check *check, const char *predicate)
{
    return fby_field_error(check, FBY_FIELD_OUT_DTYPE, "dtype %s %s",
        fby_type_word(check->delivery->dtype), predicate);
}

/* ---- names and members ---- */

/* The name `valid` is reserved for the mask of rows that are not padding. */
static fby_err check_names(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    FBY_REFUSE_IF(check,
        !fby_text_is_name(field->name) || !fby_text_is_name(field->group) ||
            strcmp(field->name, "valid") == 0,
        FBY_FIELD_WHOLE, "the name of the field or of its group is not valid");
    return FBY_OK;
}

/* Check item `i` of `from`: a file extension, or the name of a column. */
static fby_err check_from_item(const struct fby_field_check *check, uint32_t i)
{
    const struct fby_field_content *field = check->field;
    const struct fby_field_kind    *kind  = fby_field_kind(field);
    const char                     *from  = field->from[i];
    if (!fby_text_is_extension(from)) {
        return fby_field_error_at_item(check, FBY_FIELD_FROM, i,
            "'%s' is not a valid extension", fby_text_show(from).text);
    }
    bool is_lone_label = field->n_from == 1 && kind->id == FBY_DECODE_LABEL;
    if (strcmp(from, "folder") == 0 && !is_lone_label) {
        return fby_field_error_at_item(check, FBY_FIELD_FROM, i,
            "folder is the number of the class folder: a label, alone");
    }
    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(from, field->from[k]) == 0) {
            return fby_field_error_at_item(
                check, FBY_FIELD_FROM, i, "'%s' is given twice", from);
        }
    }
    bool is_column = fby_source_traits(check->source)->has_rows;
    if (is_column || kind->only_from == NULL ||
        strcmp(fby_extension_last_part(from), kind->only_from) == 0) {
        return FBY_OK;
    }
    return fby_field_error_at_item(
        check, FBY_FIELD_FROM, i, "%s", kind->only_from_text);
}

static fby_err check_from(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    uint32_t                        max_from =
        fby_field_kind(field)->is_stack ? FBY_MAX_MAPS : FBY_MAX_FROM;
    FBY_REFUSE_IF(check, field->n_from == 0 || field->n_from > max_from,
        FBY_FIELD_FROM, "expected 1 to %u extensions, not %u", max_from,
        field->n_from);
    for (uint32_t i = 0; i < field->n_from; i++) {
        FBY_TRY(check_from_item(check, i));
    }
    return FBY_OK;
}

/* If the source has columns, check that the field can come from one. */
static fby_err check_column(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    const struct fby_field_kind    *kind  = fby_field_kind(field);
    if (!fby_source_traits(check->source)->has_rows) {
        return FBY_OK;
    }
    FBY_REFUSE_IF(check, !kind->can_be_column, FBY_FIELD_DECODE,
        "a column is decoded as array, label, number or sparse, not as %s",
        kind->name);
    FBY_REFUSE_IF(check, fby_field_json(field)->key[0] != '\0', FBY_FIELD_KEY,
        "key 'key' is not used by columns");
    FBY_REFUSE_IF(check, fby_field_json(field)->pick != FBY_PICK_NONE,
        FBY_FIELD_PICK, "key 'pick' is not used by columns");
    FBY_REFUSE_IF(check,
        field->max_length != 0 && kind->id == FBY_DECODE_NUMBER,
        FBY_FIELD_MAX_LENGTH,
        "a ragged column needs decode: array, and the shape of an entry ([] "
        "for a number)");
    return FBY_OK;
}

/* ---- ops ---- */

/* True if the count, type and range of the numbers in `value` are valid. */
static bool is_valid_param(
    const struct fby_param *param, const struct fby_value *value)
{
    if (value->n == 0) {
        return param->min_n == 0;
    }
    /* In a broadcast parameter a single number was repeated max_n times. */
    uint32_t min_n    = param->broadcast ? param->max_n : param->min_n;
    bool     is_valid = value->n >= min_n && value->n <= param->max_n &&
                    value->real == param->real;
    for (size_t k = 0; is_valid && k < value->n; k++) {
        double number = param->real ? value->r[k] : (double)value->i[k];
        is_valid      = number >= param->min && number <= param->max;
    }
    return is_valid;
}

static fby_err check_op(
    const struct fby_op_use *use, struct fby_error_detail *why)
{
    for (size_t i = 0; i < use->op->n_params; i++) {
        if (!is_valid_param(&use->op->params[i], &use->params[i])) {
            return fby_error_set(why, FBY_CONFIG, "%s: %s is not %s",
                use->op->name, use->op->params[i].name,
                use->op->params[i].expects);
        }
    }
    return fby_op_check(use, why);
}

static fby_err check_op_list(const struct fby_field_check *check,
    enum fby_field_key key, const struct fby_op_use *uses, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct fby_error_detail why = {{0}};
        /* The rules of the kind rgb8 check the parameters of normalize. */
        if (uses[i].op->id != FBY_OP_DEVICE_NORMALIZE &&
            check_op(&uses[i], &why) != FBY_OK) {
            return fby_field_error_at_item(check, key, i, "%s", why.text);
        }
    }
    return FBY_OK;
}

uint32_t fby_field_count_normalize(const struct fby_field_content *field)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < field->n_device; i++) {
        n += field->device[i].op->id == FBY_OP_DEVICE_NORMALIZE;
    }
    return n;
}

static fby_err check_ops(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    FBY_TRY(check_op_list(check, FBY_FIELD_OPS, field->ops, field->n_ops));
    return check_op_list(
        check, FBY_FIELD_DEVICE, field->device, field->n_device);
}

/* Refuse a group other than the default (the name), a fit, ops and device ops
 * that the kind does not use. Otherwise equal batches could have different
 * digests. */
static fby_err check_unused(const struct fby_field_check *check)
{
    const struct fby_field_content *field    = check->field;
    uint64_t                        set_keys = 0;
    bool has_group = strcmp(field->group, field->name) != 0;
    set_keys |= has_group ? FBY_FIELD_BIT(FBY_FIELD_GROUP) : 0;
    set_keys |= field->fit != 0 ? FBY_FIELD_BIT(FBY_FIELD_FIT) : 0;
    set_keys |= field->n_ops > 0 ? FBY_FIELD_BIT(FBY_FIELD_OPS) : 0;
    set_keys |= field->n_device > 0 ? FBY_FIELD_BIT(FBY_FIELD_DEVICE) : 0;
    uint64_t unused_keys = set_keys & ~fby_field_kind(field)->keys;
    FBY_REFUSE_IF(check, unused_keys != 0, FBY_FIELD_WHOLE,
        "holds a value that its decoder does not use");
    return FBY_OK;
}

/* ---- rows with a max_length ---- */

static fby_err check_max_length(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    if (field->max_length == 0) {
        bool has_too_long = field->too_long != 0 ||
                            fby_field_has_key(check, FBY_FIELD_TOO_LONG);
        FBY_REFUSE_IF(check, has_too_long, FBY_FIELD_TOO_LONG,
            "too_long needs max_length, the most entries of a row");
        return FBY_OK;
    }
    FBY_REFUSE_IF(check, !fby_field_kind(field)->is_ragged,
        FBY_FIELD_MAX_LENGTH,
        "max_length is not used: all rows of the field have one length");
    FBY_REFUSE_IF(check,
        field->too_long != FBY_TOO_LONG_REFUSE &&
            field->too_long != FBY_TOO_LONG_TRUNCATE,
        FBY_FIELD_TOO_LONG, "too_long is refuse or truncate");
    return FBY_OK;
}

/* Check that the form `as` of rows with a max_length suits the kind. */
static fby_err check_as(const struct fby_field_check *check)
{
    enum fby_as as                = check->delivery->as;
    bool        is_sparse         = fby_field_kind(check->field)->is_sparse;
    bool        is_documents_form = as >= FBY_AS_CU_SEQLENS;
    bool        is_sparse_form    = as != FBY_AS_PADDED && as != FBY_AS_RAGGED;
    FBY_REFUSE_IF(check, is_documents_form, FBY_FIELD_OUT_AS,
        "cu_seqlens, positions and mask need from: documents; use "
        "padded or ragged");
    FBY_REFUSE_IF(check, is_sparse_form && !is_sparse, FBY_FIELD_OUT_AS,
        "only decode: sparse can be delivered as dense, csr or coo; use padded "
        "or ragged");
    FBY_REFUSE_IF(check, is_sparse && !is_sparse_form, FBY_FIELD_OUT_AS,
        "sparse rows are delivered as dense, csr or coo");
    FBY_REFUSE_IF(check,
        as == FBY_AS_CSR && check->field->as.sparse.shape.n_dims != 1,
        FBY_FIELD_OUT_AS,
        "csr needs a shape of one dimension; use coo, or dense");
    return FBY_OK;
}

fby_err fby_field_check_pad(const struct fby_field_check *check)
{
    const struct fby_field_delivery *delivery = check->delivery;
    if (!fby_check_is_from_file(check)) {
        return FBY_OK;
    }
    bool is_padded = delivery->as == FBY_AS_PADDED;
    bool has_offsets =
        delivery->as == FBY_AS_RAGGED || delivery->as == FBY_AS_CSR;
    FBY_REFUSE_IF(check,
        !is_padded && fby_field_has_key(check, FBY_FIELD_OUT_TO),
        FBY_FIELD_OUT_TO, "to needs as: padded");
    FBY_REFUSE_IF(check,
        !is_padded && fby_field_has_key(check, FBY_FIELD_OUT_PAD),
        FBY_FIELD_OUT_PAD, "pad needs as: padded");
    FBY_REFUSE_IF(check,
        !has_offsets && fby_field_has_key(check, FBY_FIELD_OUT_OFFSETS),
        FBY_FIELD_OUT_OFFSETS, "offsets need as: ragged, or csr");
    FBY_REFUSE_IF(check, !fby_type_can_hold(delivery->dtype, delivery->pad),
        FBY_FIELD_OUT_PAD, "pad %g is not a value of dtype %s", delivery->pad,
        fby_type_word(delivery->dtype));
    return FBY_OK;
}

fby_err fby_field_check_rows(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    FBY_REFUSE_IF(check, fby_ragged_bytes(field) == 0, FBY_FIELD_MAX_LENGTH,
        "%u entries of %llu bytes are more than %d; lower max_length",
        field->max_length, (unsigned long long)fby_entry_bytes(field),
        FBY_MAX_RAGGED);
    if (!fby_check_is_from_file(check)) {
        return FBY_OK;
    }
    FBY_TRY(check_as(check));
    FBY_TRY(fby_field_check_dtype(check));
    return fby_field_check_pad(check);
}

fby_err fby_field_check_rows_or_dtype(const struct fby_field_check *check)
{
    return check->field->max_length > 0 ? fby_field_check_rows(check)
                                        : fby_field_check_dtype(check);
}

fby_err fby_field_check_pick(const struct fby_field_check *check)
{
    const struct fby_json_selector *json = fby_field_json(check->field);
    FBY_REFUSE_IF(check, json->pick != FBY_PICK_NONE && json->key[0] == '\0',
        FBY_FIELD_PICK, "a %s is picked out of JSON: say its key",
        fby_field_kind(check->field)->name);
    return FBY_OK;
}

/* ---- types ---- */

fby_err fby_field_check_wire(
    const struct fby_field_check *check, enum fby_type expected)
{
    FBY_REFUSE_IF(check, check->field->wire_type != expected,
        FBY_FIELD_WIRE_TYPE, "%s", fby_field_kind(check->field)->wire_text);
    return FBY_OK;
}

fby_err fby_field_check_u8(const struct fby_field_check *check)
{
    return fby_field_check_wire(check, FBY_U8);
}

static bool is_signed(enum fby_type type)
{
    return type == FBY_I32 || type == FBY_I64;
}

/* True if `dtype` can hold all values of `wire_type`. A floating-point dtype
 * may round them; an integer dtype must hold them exactly. */
static bool can_hold_all(enum fby_type dtype, enum fby_type wire_type)
{
    return fby_type_is_float(dtype) ||
           (!fby_type_is_float(wire_type) &&
               fby_type_largest(dtype) >= fby_type_largest(wire_type) &&
               (is_signed(dtype) || !is_signed(wire_type)));
}

fby_err fby_field_check_dtype(const struct fby_field_check *check)
{
    bool is_valid =
        !fby_check_is_from_file(check) ||
        can_hold_all(check->delivery->dtype, check->field->wire_type);
    return is_valid ? FBY_OK
                    : fby_field_error_dtype(
                          check, "cannot hold all values of the wire type");
}

fby_err fby_field_check_bits(const struct fby_field_check *check)
{
    if (!fby_check_is_from_file(check)) {
        return FBY_OK;
    }
    enum fby_type dtype = check->delivery->dtype;
    return dtype == FBY_U8 || dtype == FBY_BOOL || fby_type_is_float(dtype)
               ? FBY_OK
               : fby_field_error_dtype(check, "cannot be made from bits; use "
                                              "u8, bool, f16, bf16 or f32");
}

/* ---- delivery ---- */

static fby_err check_layout(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    if (!fby_field_has_key(check, FBY_FIELD_OUT_LAYOUT)) {
        return FBY_OK; /* without delivery no key is set */
    }
    enum fby_layout layout = check->delivery->layout;
    if (fby_field_kind(field)->has_hw) {
        FBY_REFUSE_IF(check,
            layout != FBY_LAYOUT_HWC && layout != FBY_LAYOUT_HW,
            FBY_FIELD_OUT_LAYOUT,
            "a mask has the layout hwc, or hw (without its channel)");
        return FBY_OK;
    }
    bool can_have_layout = fby_field_kind(field)->has_layout &&
                           field->max_length == 0 && field->shape.n_dims == 3;
    FBY_REFUSE_IF(check, !can_have_layout, FBY_FIELD_OUT_LAYOUT,
        "only images, and arrays of three dimensions and one shape, have a "
        "layout");
    FBY_REFUSE_IF(check, layout == FBY_LAYOUT_HW, FBY_FIELD_OUT_LAYOUT,
        "only masks (mask8) have the layout hw; others have several channels");
    return FBY_OK;
}

static fby_err check_scale_keys(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    bool has_scale  = fby_field_has_key(check, FBY_FIELD_OUT_SCALE);
    bool has_offset = fby_field_has_key(check, FBY_FIELD_OUT_OFFSET);
    enum fby_field_key key =
        has_scale ? FBY_FIELD_OUT_SCALE : FBY_FIELD_OUT_OFFSET;
    if (!has_scale && !has_offset) {
        return FBY_OK;
    }
    FBY_REFUSE_IF(check,
        !fby_field_kind(field)->has_scale || fby_field_packed_bits(field) > 0,
        key, "only arrays have a scale and an offset (images: normalize)");
    FBY_REFUSE_IF(check, field->max_length > 0, key,
        "only arrays of one shape have a scale and an offset");
    return FBY_OK;
}

/* Check that the keys of `out` for ragged rows come with a max_length. */
static fby_err check_form_keys(const struct fby_field_check *check)
{
    static const enum fby_field_key keys[] = {FBY_FIELD_OUT_AS,
        FBY_FIELD_OUT_TO, FBY_FIELD_OUT_PAD, FBY_FIELD_OUT_OFFSETS};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        FBY_REFUSE_IF(check,
            check->field->max_length == 0 && fby_field_has_key(check, keys[i]),
            keys[i],
            "as, to, pad and offsets are for fields with a max_length");
    }
    return FBY_OK;
}

/* The filter photo and the codec pack are used only together, and only for
 * pictures. If the file gives one of them, the other may be `auto`. */
static fby_err check_photo(const struct fby_field_check *check)
{
    if (!fby_check_is_from_file(check)) {
        return FBY_OK;
    }
    const struct fby_field_kind *kind     = fby_field_kind(check->field);
    uint8_t                      filter   = check->delivery->filter;
    uint8_t                      codec    = check->delivery->codec;
    bool                         is_photo = filter == FBY_FILTER_PHOTO;
    bool                         is_pack  = codec == FBY_CODEC_PACK;
    bool is_picture                       = kind->is_picture && !kind->is_stack;
    FBY_REFUSE_IF(check, is_photo && !is_picture, FBY_FIELD_WIRE_FILTER,
        "filter photo is for pictures (rgb8, mask8); use filter: auto");
    FBY_REFUSE_IF(check, is_pack && !is_picture, FBY_FIELD_WIRE_CODEC,
        "codec pack is for pictures (rgb8, mask8); use codec: auto");
    FBY_REFUSE_IF(check, is_photo && !is_pack && codec != FBY_AUTO,
        FBY_FIELD_WIRE_CODEC, "filter photo needs codec: pack, or auto");
    FBY_REFUSE_IF(check, is_pack && !is_photo && filter != FBY_AUTO,
        FBY_FIELD_WIRE_FILTER, "codec pack needs filter: photo, or auto");
    return FBY_OK;
}

/* Check that the ops give all pictures the same size, within the limits. */
static fby_err check_picture_size(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    uint32_t                        h     = field->shape.dims[0];
    uint32_t                        w     = field->shape.dims[1];
    if (!fby_field_kind(field)->is_picture) {
        return FBY_OK;
    }
    if (h == 0 || w == 0) {
        return fby_field_error_in_split(check, FBY_FIELD_OPS,
            "the pictures have no fixed size; end ops with one that gives it, "
            "such as resize: {size: 224} or center_crop: {size: 224}");
    }
    if (h > FBY_MAX_SIDE || w > FBY_MAX_SIDE ||
        (uint64_t)h * w > FBY_MAX_PIXELS) {
        return fby_field_error_in_split(check, FBY_FIELD_OPS,
            "the ops make pictures of %u x %u pixels (width x height); a side "
            "is at most %d, a picture %d pixels: make it smaller",
            w, h, FBY_MAX_SIDE, FBY_MAX_PIXELS);
    }
    return FBY_OK;
}

static fby_field_rule *const common_rules[] = {check_names, check_unused,
    check_from, fby_field_check_source, check_column, check_ops,
    check_max_length, check_layout, check_scale_keys, check_form_keys,
    check_photo, NULL};

fby_err fby_field_check(const struct fby_field_check *check)
{
    fby_field_rule *const *kind_rules = fby_field_kind(check->field)->rules;
    for (fby_field_rule *const *rule = common_rules; *rule != NULL; rule++) {
        FBY_TRY((*rule)(check));
    }
    for (fby_field_rule *const *rule = kind_rules; *rule != NULL; rule++) {
        FBY_TRY((*rule)(check));
    }
    return check_picture_size(check);
}
