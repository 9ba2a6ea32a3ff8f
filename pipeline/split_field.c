/* split_field.c - one field of one split: filled in from the draft, resolved
 * by its kind, checked, and the place in the file of what is wrong. */
#include <stdio.h>
#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/draft.h"
#include "pipeline/fields/check.h"

/* ---- content ---- */

/* The ops of this split; returns how many there are. */
static uint32_t fill_ops(struct fby_op_use *out, const struct draft_op *ops,
    uint32_t n, uint32_t split_bit)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < n; i++) {
        if ((ops[i].only & split_bit) != 0) {
            out[taken++] = ops[i].use;
        }
    }
    return taken;
}

static void fill_normalize(
    struct fby_rgb8_field *out, struct fby_value params[FBY_MAX_PARAMS])
{
    out->normalize = true;
    memcpy(out->mean, params[NORMALIZE_MEAN].r, 3 * sizeof(double));
    memcpy(out->std, params[NORMALIZE_STD].r, 3 * sizeof(double));
    memset(params, 0, FBY_MAX_PARAMS * sizeof(params[0]));
}

/* The numbers of normalize are the field's, and alone it needs no list. */
static void fill_rgb8(struct fby_field_content *out)
{
    for (uint32_t i = 0; i < out->n_device; i++) {
        if (out->device[i].op->id == FBY_OP_DEVICE_NORMALIZE) {
            fill_normalize(&out->as.rgb8, out->device[i].params);
        }
    }
    if (out->n_device == 1 && out->as.rgb8.normalize) {
        memset(&out->device[0], 0, sizeof(out->device[0]));
        out->n_device = 0;
    }
}

static bool has_one_hot(const struct draft_field *field, uint32_t split_bit)
{
    return fby_is_given(field->at[FBY_FIELD_ONE_HOT]) &&
           (field->one_hot.only & split_bit) != 0;
}

/* What is as long as the sequences of its source, and packed as they are. */
static void fill_sequence(
    struct fby_field_content *out, const struct fby_tokens *tokens)
{
    if (!fby_field_kind(out)->is_sequence) {
        return;
    }
    fby_field_pack(out, tokens);
    if (fby_field_kind(out)->is_ragged) {
        out->max_length = tokens->length;
        out->too_long   = FBY_TOO_LONG_REFUSE;
    } else {
        out->as.tokens.length = fby_sequence_length(out, tokens);
    }
}

static void fill_content(struct fby_field_content *out,
    const struct draft_field *field, uint32_t split_bit)
{
    memcpy(out->name, field->name, sizeof(out->name));
    memcpy(out->group, field->group, sizeof(out->group));
    memcpy(out->from, field->from, sizeof(out->from));
    out->n_from     = field->n_from;
    out->decode     = (enum fby_decode)field->decode;
    out->max_length = (uint32_t)field->max_length;
    out->too_long   = (enum fby_too_long)field->too_long;
    if (has_one_hot(field, split_bit)) { /* only a label says it */
        out->as.label.one_hot   = true;
        out->as.label.smoothing = field->one_hot.smoothing;
    }
    out->n_ops = fill_ops(out->ops, field->ops, field->n_ops, split_bit);
    out->n_device =
        fill_ops(out->device, field->device, field->n_device, split_bit);
    if (out->decode == FBY_DECODE_RGB8) {
        fill_rgb8(out);
    }
    fby_field_number_ops(out);
}

/* ---- delivery ---- */

/* What was not said is 1 and 0; of what has one number all channels get it. */
static void fill_scale(
    struct fby_field_delivery *out, const struct draft_out *from)
{
    uint32_t n =
        from->scale.n > from->offset.n ? from->scale.n : from->offset.n;
    out->scaled   = n > 0;
    out->channels = n;
    for (uint32_t c = 0; c < n; c++) {
        const struct draft_factors *scale  = &from->scale;
        const struct draft_factors *offset = &from->offset;
        out->scale[c]  = scale->n > 0 ? scale->r[scale->n > 1 ? c : 0] : 1;
        out->offset[c] = offset->n > 0 ? offset->r[offset->n > 1 ? c : 0] : 0;
    }
}

static void fill_delivery(struct fby_field_delivery *out,
    const struct draft_field *field, uint32_t split_bit)
{
    bool one_hot = has_one_hot(field, split_bit);
    out->dtype =
        (enum fby_type)(one_hot ? field->one_hot.dtype : field->out.dtype);
    out->layout = (enum fby_layout)field->out.layout;
    out->filter = (uint8_t)field->wire.filter;
    out->codec  = (uint8_t)field->wire.codec;
    fill_scale(out, &field->out);
    out->as      = (enum fby_as)field->out.as;
    out->longest = field->out.longest != 0;
    out->pad     = field->out.pad.n > 0 ? field->out.pad.r[0] : 0;
    out->offsets = (enum fby_type)field->out.offsets;
}

/* ---- where a key stands ---- */

/* Op `k` of those that a split has, as the file says it. */
static struct fby_place place_of_op(
    const struct draft_op *op, uint32_t split_bit, uint32_t k)
{
    for (;; op++) {
        if ((op->only & split_bit) != 0 && k-- == 0) {
            return op->here;
        }
    }
}

static struct fby_place place_of_key(
    const struct draft_field *field, enum fby_field_key key)
{
    if (key < FBY_FIELD_TOP_KEYS) {
        return field->at[key];
    }
    if (key < FBY_FIELD_OUT_DTYPE) {
        return field->wire.at[key - FBY_FIELD_WIRE_TYPE];
    }
    if (key < FBY_FIELD_ONE_HOT_CLASSES) {
        return field->out.at[key - FBY_FIELD_OUT_DTYPE];
    }
    return key < FBY_FIELD_NAME
               ? field->one_hot.at[key - FBY_FIELD_ONE_HOT_CLASSES]
               : field->here;
}

struct fby_place fby_draft_place(const struct draft_field *field,
    const struct fby_field_fault *fault, uint32_t split_bit)
{
    if (fault->has_index && fault->key == FBY_FIELD_FROM) {
        return field->from_at[fault->index];
    }
    if (fault->has_index && fault->key == FBY_FIELD_OPS) {
        return place_of_op(field->ops, split_bit, fault->index);
    }
    if (fault->has_index && fault->key == FBY_FIELD_DEVICE) {
        return place_of_op(field->device, split_bit, fault->index);
    }
    struct fby_place place = place_of_key(field, fault->key);
    bool             of_wire =
        fault->key >= FBY_FIELD_WIRE_TYPE && fault->key <= FBY_FIELD_WIRE_CODEC;
    if (!fby_is_given(place) && of_wire) {
        place = field->at[FBY_FIELD_WIRE]; /* `wire: u8` */
    }
    return fby_is_given(place) ? place : field->here;
}

/* Bits of the keys that the file says. */
static uint64_t keys_given(const struct draft_field *field)
{
    uint64_t given = 0;
    for (enum fby_field_key key = 0; key < FBY_FIELD_NAME; key++) {
        if (fby_is_given(place_of_key(field, key))) {
            given |= FBY_FIELD_BIT(key);
        }
    }
    return given;
}

/* ---- all of it ---- */

/* The wire type that the file says is the one that resolving it left. */
static fby_err check_wire_said(
    const struct fby_field_check *check, const struct draft_field *said)
{
    const struct fby_field_content *field = check->field;
    const struct fby_field_kind    *kind  = fby_field_kind(field);
    int64_t word = fby_field_is_yuv420(field)  ? DRAFT_YUV420
                   : fby_field_maps(field) > 0 ? DRAFT_BITS
                                               : field->wire_type;
    if (said->wire.type == 0 || said->wire.type == word) {
        return FBY_OK;
    }
    return said->wire.type == DRAFT_YUV420
               ? fby_field_wrong(check, FBY_FIELD_WIRE_TYPE,
                     "yuv420 is for pictures (rgb8); use an element type")
               : fby_field_wrong(
                     check, FBY_FIELD_WIRE_TYPE, "%s", kind->wire_text);
}

/* A wire type that was not said follows from the source of a sequence. */
static void resolve_sequence(
    struct fby_field_content *out, const struct fby_tokens *tokens)
{
    const struct fby_field_kind *kind = fby_field_kind(out);
    if (!kind->is_sequence || out->wire_type != 0) {
        return;
    }
    bool is_short  = tokens->type == FBY_U8 || tokens->type == FBY_U16;
    out->wire_type = kind->is_ragged ? fby_documents_type(tokens->length)
                     : is_short      ? FBY_U16
                                     : FBY_U32;
}

/* Ids have the dtype under `out`, which is right even where each split makes
 * them one-hot. */
static fby_err check_ids(const struct fby_field_check *check,
    const struct draft_field *said, struct fby_field_content *field,
    struct fby_field_delivery *delivery)
{
    if (!fby_field_is_one_hot(field) || said->out.dtype == 0) {
        return FBY_OK;
    }
    struct fby_label_field kept = field->as.label;
    field->as.label.one_hot     = false;
    field->as.label.smoothing   = 0;
    delivery->dtype             = (enum fby_type)said->out.dtype;
    fby_err err                 = fby_field_check(check);
    field->as.label             = kept;
    delivery->dtype             = (enum fby_type)said->one_hot.dtype;
    return err;
}

static fby_err resolve(const struct draft_field *said,
    const struct fby_content *content, struct fby_field_check *check,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    fby_field_kind(field)->resolve(said, field, delivery);
    fby_err err = check_wire_said(check, said);
    if (err != FBY_OK) {
        return err;
    }
    resolve_sequence(field, &content->tokens);
    field->shape = fby_field_shape(field);
    err          = fby_field_check(check);
    return err == FBY_OK ? check_ids(check, said, field, delivery) : err;
}

/* FILE:LINE:COLUMN: what is wrong, with the field and the split where the
 * place alone does not say them. */
static fby_err say_fault(const struct fby_pipeline *pipeline,
    const struct draft_split *split, const struct draft_field *field,
    const struct fby_field_fault *fault, struct fby_why *why)
{
    uint32_t bit = UINT32_C(1) << (split - pipeline->splits);
    char     of_field[FBY_NAME_SIZE + 16] = "";
    char     of_split[FBY_NAME_SIZE + 16] = "";
    if (fault->key == FBY_FIELD_NAME) {
        snprintf(of_field, sizeof(of_field), "field '%s': ", field->name);
    }
    if (fault->is_of_split) {
        snprintf(of_split, sizeof(of_split), " (split '%s')", split->name);
    }
    return fby_yaml_wrong(why, pipeline->file,
        fby_draft_place(field, fault, bit), "%s%s%s", of_field, fault->why.text,
        of_split);
}

fby_err fby_draft_fill_field(const struct fby_pipeline *pipeline,
    const struct draft_split *split, size_t i, struct fby_split *out,
    struct fby_why *why)
{
    uint32_t                   bit  = UINT32_C(1) << (split - pipeline->splits);
    const struct draft_field  *said = &pipeline->fields[i];
    struct fby_field_content  *field    = &out->content.fields[i];
    struct fby_field_delivery *delivery = &out->delivery.fields[i];
    struct fby_field_fault     fault    = {0};
    struct fby_field_check     check    = {.field = field,
               .delivery                          = delivery,
               .source                            = out->content.source,
               .tokens                            = &out->content.tokens,
               .given                             = keys_given(said),
               .fault                             = &fault};
    fill_content(field, said, bit);
    fill_sequence(field, &out->content.tokens);
    fill_delivery(delivery, said, bit);
    if (resolve(said, &out->content, &check, field, delivery) == FBY_OK) {
        return FBY_OK;
    }
    return say_fault(pipeline, split, said, &fault, why);
}
