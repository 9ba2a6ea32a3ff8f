/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - check that a field suits the source of its split. */
#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/check.h"
#include "pipeline/sources/traits.h"

/* Check that the source has class folders if the field is a label from them. */
static fby_err check_class_folder(const struct fby_field_check *check)
{
    const struct fby_source_traits *source = fby_source_traits(check->source);
    if (source->has_classes || !fby_field_is_folder_id(check->field)) {
        return FBY_OK;
    }
    return fby_field_error_in_split(check, FBY_FIELD_FROM,
        "%s have no class folders; use from: %s", source->samples,
        source->label);
}

/* Check that a field of tokens or documents suits the source of tokens. */
static fby_err check_sequence(const struct fby_field_check *check)
{
    const struct fby_field_content *field  = check->field;
    const struct fby_tokens        *tokens = check->tokens;
    bool     is_documents = fby_field_kind(field)->is_ragged; /* else tokens */
    uint32_t length =
        is_documents ? field->max_length : field->as.tokens.length;
    uint32_t    expected = fby_sequence_length(field, tokens);
    const char *from     = field->from[0];
    FBY_REFUSE_IF(check, length != expected, FBY_FIELD_WHOLE,
        "%u tokens, but a sequence of the source has %u", length, expected);
    if (tokens->shift == 0 && fby_from_has_targets(from)) {
        return fby_field_error_in_split(check, FBY_FIELD_FROM,
            "from: %s needs shift: 1 in the tokens of the source", from);
    }
    if (tokens->packed && strcmp(from, "sequence") == 0) {
        return fby_field_error_in_split(check, FBY_FIELD_FROM,
            "packed documents have targets that are not the next token of the "
            "sequence; use from: input and from: target");
    }
    if (is_documents && !tokens->packed) {
        return fby_field_error_in_split(check, FBY_FIELD_FROM,
            "from: documents needs pack: documents in the tokens of the "
            "source");
    }
    FBY_REFUSE_IF(check,
        !is_documents && field->wire_type == FBY_U16 &&
            field->as.tokens.pad > UINT16_MAX,
        FBY_FIELD_WIRE_TYPE, "wire type u16 does not hold pad: %u",
        field->as.tokens.pad);
    return FBY_OK;
}

fby_err fby_field_check_source(const struct fby_field_check *check)
{
    bool wants_tokens = fby_field_kind(check->field)->is_sequence;
    bool has_tokens   = fby_source_traits(check->source)->has_sequences;
    if (wants_tokens != has_tokens) {
        return fby_field_error_in_split(check, FBY_FIELD_WHOLE,
            has_tokens
                ? "the source has tokens, and this field is not made of "
                  "them: say decode: tokens, or leave it out"
                : "the field is made of tokens, which the source does not "
                  "have");
    }
    FBY_TRY(check_class_folder(check));
    return wants_tokens ? check_sequence(check) : FBY_OK;
}
