/* SPDX-License-Identifier: Apache-2.0 */
/* field_keys.c - the defaults of `group` and `decode`, and the check that each
 * key of a field belongs to its kind. split_field.c checks the values. */
#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/kinds.h"
#include "pipeline/parse_state.h"

/* ---- the default of decode ---- */

/* The first split decides, because either all splits have columns or none. */
bool fby_parsed_is_column(const struct parsed_field *field)
{
    return field->pipeline->splits[0].source->has_rows;
}

/* True if the source of every split has tokens. */
static bool has_only_tokens(const struct fby_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->n_splits; i++) {
        if (!pipeline->splits[i].source->has_sequences) {
            return false;
        }
    }
    return true;
}

/* If the field has no `decode`, set it by the source or the extensions. */
static fby_err set_default_decode(
    const struct fby_yaml *yaml, struct parsed_field *field)
{
    if (field->decode != 0) {
        return FBY_OK;
    }
    if (fby_pos_is_given(field->key_pos[FBY_FIELD_NAMES])) {
        field->decode = FBY_DECODE_LABEL; /* only labels have names */
        return FBY_OK;
    }
    if (fby_parsed_is_column(field)) {
        return fby_yaml_error_at(yaml, field->name_pos,
            "field '%s' comes from a column: say decode: array, label, number "
            "or sparse",
            field->name);
    }
    if (has_only_tokens(field->pipeline)) {
        bool is_documents = strcmp(field->from[0], "documents") == 0;
        field->decode = is_documents ? FBY_DECODE_DOCUMENTS : FBY_DECODE_TOKENS;
        return FBY_OK;
    }
    field->decode = fby_field_kind_for(field->from[0])->id;
    for (size_t i = 1; i < field->n_from; i++) {
        if (fby_field_kind_for(field->from[i])->id != field->decode) {
            return fby_yaml_error_at(yaml, field->from_pos[i],
                "'%s' and '%s' are not decoded in the same way; set decode: "
                "rgb8, mask8, maps, label, number, array, text, sparse or "
                "bytes",
                field->from[0], field->from[i]);
        }
    }
    return FBY_OK;
}

/* ---- the keys of the kind ---- */

/* If the field has the key, check that its kind uses the key. */
static fby_err check_key(const struct fby_yaml *yaml,
    const struct parsed_field *field, enum fby_field_key key)
{
    static const uint64_t common_keys =
        FBY_FIELD_BIT(FBY_FIELD_FROM) | FBY_FIELD_BIT(FBY_FIELD_DECODE) |
        FBY_FIELD_BIT(FBY_FIELD_WIRE) | FBY_FIELD_BIT(FBY_FIELD_OUT);
    const struct fby_field_kind *kind = fby_field_kind_by_id(field->decode);
    bool is_used = ((common_keys | kind->keys) & FBY_FIELD_BIT(key)) != 0;
    if (is_used || !fby_pos_is_given(field->key_pos[key])) {
        return FBY_OK;
    }
    bool is_json_key = key == FBY_FIELD_KEY || key == FBY_FIELD_PICK;
    if (is_json_key && !fby_pos_is_given(field->key_pos[FBY_FIELD_DECODE])) {
        return fby_yaml_error_at(yaml, field->key_pos[key],
            "key '%s' is about JSON: say decode: number, label or text",
            fby_parsed_key_name(key));
    }
    return fby_yaml_error_at(yaml, field->key_pos[key],
        "key '%s' is not used by decode: %s (from %s)",
        fby_parsed_key_name(key), kind->name, field->from[0]);
}

/* Check that the two keys `classes` are equal if both are given. */
static fby_err check_classes(
    const struct fby_yaml *yaml, const struct parsed_field *field)
{
    int64_t classes = field->one_hot.classes;
    if (classes != 0 && field->classes != 0 && classes != field->classes) {
        return fby_yaml_error_at(yaml, field->one_hot.key_pos[ONE_HOT(CLASSES)],
            "one_hot has %lld classes, but the field %lld; say it once",
            (long long)classes, (long long)field->classes);
    }
    return FBY_OK;
}

/* Check that scale and offset have equal lengths if both are lists. */
static fby_err check_factors(
    const struct fby_yaml *yaml, const struct parsed_field *field)
{
    uint32_t n_scale  = field->out.scale.n;
    uint32_t n_offset = field->out.offset.n;
    if (n_scale > 1 && n_offset > 1 && n_scale != n_offset) {
        return fby_yaml_error_at(yaml, field->out.key_pos[OUT(OFFSET)],
            "%u numbers, but scale has %u: say one, or one for each channel",
            n_offset, n_scale);
    }
    return FBY_OK;
}

fby_err fby_parsed_complete_field(
    const struct fby_yaml *yaml, struct parsed_field *field)
{
    if (field->group[0] == '\0') {
        memcpy(field->group, field->name, FBY_NAME_SIZE);
    }
    FBY_TRY(set_default_decode(yaml, field));
    for (size_t key = 0; key < FBY_FIELD_TOP_KEYS; key++) {
        FBY_TRY(check_key(yaml, field, (enum fby_field_key)key));
    }
    FBY_TRY(check_classes(yaml, field));
    return check_factors(yaml, field);
}
