/* SPDX-License-Identifier: Apache-2.0 */
/* split_field.c - make one field of one split: copy its settings from the
 * parsed file, let its kind set the defaults, and check it.
 *
 * An op or one_hot may be for some splits only: bit i of `split_bits` means
 * split i. `split_bit` has only the bit of the split that is being made. */
#include <stdio.h>
#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/check.h"
#include "pipeline/parse_state.h"

/* ---- content ---- */

/* Copy the ops that this split has; return their number. */
static uint32_t copy_ops(struct fby_op_use *out, const struct parsed_op *ops,
    uint32_t n_ops, uint32_t split_bit)
{
    uint32_t copied = 0;
    for (uint32_t i = 0; i < n_ops; i++) {
        if ((ops[i].split_bits & split_bit) != 0) {
            out[copied++] = ops[i].use;
        }
    }
    return copied;
}

static bool has_one_hot(const struct parsed_field *field, uint32_t split_bit)
{
    return fby_pos_is_given(field->key_pos[FBY_FIELD_ONE_HOT]) &&
           (field->one_hot.split_bits & split_bit) != 0;
}

/* If the field has sequences, set its lengths from its source. */
static void fill_sequence(
    struct fby_field_content *out, const struct fby_tokens *tokens)
{
    if (!fby_field_kind(out)->is_sequence) {
        return;
    }
    fby_field_set_packing(out, tokens);
    if (fby_field_kind(out)->is_ragged) {
        out->max_length = tokens->length;
        out->too_long   = FBY_TOO_LONG_REFUSE;
    } else {
        out->as.tokens.length = fby_sequence_length(out, tokens);
    }
}

static void fill_content(struct fby_field_content *out,
    const struct parsed_field *field, uint32_t split_bit)
{
    memcpy(out->name, field->name, sizeof(out->name));
    memcpy(out->group, field->group, sizeof(out->group));
    memcpy(out->from, field->from, sizeof(out->from));
    out->n_from     = field->n_from;
    out->decode     = (enum fby_decode)field->decode;
    out->max_length = (uint32_t)field->max_length;
    out->too_long   = (enum fby_too_long)field->too_long;
    out->fit        = (enum fby_fit)field->fit;
    if (has_one_hot(field, split_bit)) { /* only labels have the key */
        out->as.label.one_hot   = true;
        out->as.label.smoothing = field->one_hot.smoothing;
    }
    out->n_ops = copy_ops(out->ops, field->ops, field->n_ops, split_bit);
    out->n_device =
        copy_ops(out->device, field->device, field->n_device, split_bit);
}

/* ---- delivery ---- */

/* The factor of channel `c`. A single factor holds for all channels. */
static double factor_of(
    const struct parsed_factors *factors, uint32_t c, double fallback)
{
    return factors->n == 0 ? fallback : factors->values[factors->n > 1 ? c : 0];
}

/* The defaults of scale and offset are 1 and 0. */
static void fill_scale(
    struct fby_field_delivery *out, const struct parsed_out *parsed)
{
    uint32_t n_channels =
        parsed->scale.n > parsed->offset.n ? parsed->scale.n : parsed->offset.n;
    out->scaled   = n_channels > 0;
    out->channels = n_channels;
    for (uint32_t c = 0; c < n_channels; c++) {
        out->scale[c]  = factor_of(&parsed->scale, c, 1);
        out->offset[c] = factor_of(&parsed->offset, c, 0);
    }
}

static void fill_delivery(struct fby_field_delivery *out,
    const struct parsed_field *field, uint32_t split_bit)
{
    *out        = field->out.delivery;
    out->filter = field->wire.filter;
    out->codec  = field->wire.codec;
    fill_scale(out, &field->out);
    if (has_one_hot(field, split_bit)) {
        out->dtype = (enum fby_type)field->one_hot.dtype;
    }
}

/* ---- positions in the file ---- */

/* The position of op `i` of this split; line 0 if there is no such op. */
static struct fby_source_pos op_pos(
    const struct parsed_op *ops, uint32_t n_ops, uint32_t split_bit, uint32_t i)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < n_ops; k++) {
        bool is_in_split = (ops[k].split_bits & split_bit) != 0;
        if (is_in_split && found == i) {
            return ops[k].name_pos;
        }
        found += is_in_split ? 1 : 0;
    }
    return (struct fby_source_pos){0};
}

/* The position of the value of `key`. enum fby_field_key lists the keys of the
 * field, then of wire, out and one_hot, each of which has its own key_pos. */
static struct fby_source_pos pos_of_key(
    const struct parsed_field *field, enum fby_field_key key)
{
    return key < FBY_FIELD_WIRE_TYPE ? field->key_pos[key]
           : key < FBY_FIELD_OUT_DTYPE
               ? field->wire.key_pos[key - FBY_FIELD_WIRE_TYPE]
           : key < FBY_FIELD_ONE_HOT_CLASSES
               ? field->out.key_pos[key - FBY_FIELD_OUT_DTYPE]
           : key < FBY_FIELD_WHOLE
               ? field->one_hot.key_pos[key - FBY_FIELD_ONE_HOT_CLASSES]
               : field->name_pos;
}

struct fby_source_pos fby_parsed_fault_pos(const struct parsed_field *field,
    const struct fby_field_fault *fault, uint32_t split_bit)
{
    if (fault->has_index && fault->key == FBY_FIELD_FROM) {
        return field->from_pos[fault->index];
    }
    if (fault->has_index) {
        bool on_worker = fault->key == FBY_FIELD_OPS;
        return op_pos(on_worker ? field->ops : field->device,
            on_worker ? field->n_ops : field->n_device, split_bit,
            fault->index);
    }
    struct fby_source_pos pos = pos_of_key(field, fault->key);
    bool                  is_wire_key =
        fault->key >= FBY_FIELD_WIRE_TYPE && fault->key <= FBY_FIELD_WIRE_CODEC;
    if (!fby_pos_is_given(pos) && is_wire_key) {
        /* The short form `wire: u8` has only the position of `wire`. */
        pos = field->key_pos[FBY_FIELD_WIRE];
    }
    return fby_pos_is_given(pos) ? pos : field->name_pos;
}

/* The FBY_FIELD_BITs of the keys that the file has for the field. */
static uint64_t given_keys(const struct parsed_field *field)
{
    uint64_t given = 0;
    for (enum fby_field_key key = 0; key < FBY_FIELD_WHOLE; key++) {
        if (fby_pos_is_given(pos_of_key(field, key))) {
            given |= FBY_FIELD_BIT(key);
        }
    }
    return given;
}

/* ---- one field ---- */

/* If the file has a wire type, check that the kind has set the same one. */
static fby_err check_wire(
    const struct fby_field_check *check, const struct parsed_field *parsed)
{
    const struct fby_field_content *field = check->field;
    const struct fby_field_kind    *kind  = fby_field_kind(field);
    int64_t expected = fby_field_is_yuv420(field)         ? PARSED_YUV420
                       : fby_field_packed_bits(field) > 0 ? PARSED_BITS
                                                          : field->wire_type;
    if (parsed->wire.type == 0 || parsed->wire.type == expected) {
        return FBY_OK;
    }
    return parsed->wire.type == PARSED_YUV420
               ? fby_field_error(check, FBY_FIELD_WIRE_TYPE,
                     "yuv420 is for pictures (rgb8); use an element type")
               : fby_field_error(
                     check, FBY_FIELD_WIRE_TYPE, "%s", kind->wire_text);
}

/* Set the default wire type of a field of sequences, from its source. */
static void default_sequence_type(
    struct fby_field_content *out, const struct fby_tokens *tokens)
{
    const struct fby_field_kind *kind = fby_field_kind(out);
    if (!kind->is_sequence || out->wire_type != 0) {
        return;
    }
    bool is_short  = tokens->type == FBY_U8 || tokens->type == FBY_U16;
    out->wire_type = kind->is_ragged ? fby_document_length_type(tokens->length)
                     : is_short      ? FBY_U16
                                     : FBY_U32;
}

/* A field with one_hot has two dtypes: that of `one_hot` for the splits that
 * have it, and that of `out` for the others. This split uses the first, and was
 * checked with it. Check the second too, as a field without one_hot. */
static fby_err check_without_one_hot(const struct fby_field_check *check,
    const struct parsed_field *parsed, struct fby_field_content *field,
    struct fby_field_delivery *delivery)
{
    if (!fby_field_is_one_hot(field) || parsed->out.delivery.dtype == 0) {
        return FBY_OK;
    }
    struct fby_label_field saved = field->as.label;
    field->as.label.one_hot      = false;
    field->as.label.smoothing    = 0;
    delivery->dtype              = parsed->out.delivery.dtype;
    fby_err err                  = fby_field_check(check);
    field->as.label              = saved;
    delivery->dtype              = (enum fby_type)parsed->one_hot.dtype;
    return err;
}

/* Set all that the file leaves out, then check the field. */
static fby_err complete_and_check(const struct parsed_field *parsed,
    const struct fby_content *content, struct fby_field_check *check,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    fby_field_kind(field)->fill_defaults(parsed, field, delivery);
    fby_field_number_repeated_ops(field);
    FBY_TRY(check_wire(check, parsed));
    default_sequence_type(field, &content->tokens);
    field->shape = fby_field_shape(field);
    FBY_TRY(fby_field_check(check));
    return check_without_one_hot(check, parsed, field, delivery);
}

/* Set the error FILE:LINE:COLUMN and the reason. Name the field or the split if
 * the position alone does not tell which one is meant. */
static fby_err error_at_fault(const struct fby_pipeline *pipeline,
    const struct parsed_split *split, const struct parsed_field *field,
    const struct fby_field_fault *fault, struct fby_error_detail *why)
{
    uint32_t split_bit = fby_parsed_split_bit(pipeline, split);
    char     field_prefix[FBY_NAME_SIZE + 16] = "";
    char     split_suffix[FBY_NAME_SIZE + 16] = "";
    if (fault->key == FBY_FIELD_WHOLE) {
        snprintf(
            field_prefix, sizeof(field_prefix), "field '%s': ", field->name);
    }
    if (fault->is_of_split) {
        snprintf(
            split_suffix, sizeof(split_suffix), " (split '%s')", split->name);
    }
    return fby_yaml_set_error(why, pipeline->file,
        fby_parsed_fault_pos(field, fault, split_bit), "%s%s%s", field_prefix,
        fault->why.text, split_suffix);
}

fby_err fby_parsed_fill_field(const struct fby_pipeline *pipeline,
    const struct parsed_split *split, size_t i, struct fby_split *out,
    struct fby_error_detail *why)
{
    uint32_t split_bit                  = fby_parsed_split_bit(pipeline, split);
    const struct parsed_field *parsed   = &pipeline->fields[i];
    struct fby_field_content  *field    = &out->content.fields[i];
    struct fby_field_delivery *delivery = &out->delivery.fields[i];
    struct fby_field_fault     fault    = {0};
    struct fby_field_check     check    = {.field = field,
               .delivery                          = delivery,
               .source                            = out->content.source,
               .tokens                            = &out->content.tokens,
               .given                             = given_keys(parsed),
               .fault                             = &fault};
    fill_content(field, parsed, split_bit);
    fill_sequence(field, &out->content.tokens);
    fill_delivery(delivery, parsed, split_bit);
    return complete_and_check(parsed, &out->content, &check, field, delivery) ==
                   FBY_OK
               ? FBY_OK
               : error_at_fault(pipeline, split, parsed, &fault, why);
}
