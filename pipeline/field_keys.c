/* field_keys.c - how a field is decoded that does not say it, and which keys
 * go with that. What the values must be is checked when a split is picked. */
#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/draft.h"
#include "pipeline/fields/kinds.h"

/* ---- which decoder ---- */

bool fby_draft_is_column(const struct draft_field *field)
{
    return field->pipeline->splits[0].source->has_rows;
}

/* Sources of tokens have nothing else. */
static bool is_of_tokens(const struct fby_pipeline *pipeline)
{
    bool all = true;
    for (size_t i = 0; i < pipeline->n_splits; i++) {
        all = all && pipeline->splits[i].source->has_sequences;
    }
    return all;
}

static fby_err infer_decode(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->decode != 0) {
        return FBY_OK;
    }
    if (fby_draft_is_column(field)) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->here,
            "field '%s' comes from a column: say decode: array, label, number "
            "or sparse",
            field->name);
    }
    if (is_of_tokens(field->pipeline)) {
        bool documents = strcmp(field->from[0], "documents") == 0;
        field->decode  = documents ? FBY_DECODE_DOCUMENTS : FBY_DECODE_TOKENS;
        return FBY_OK;
    }
    field->decode = fby_field_kind_for(field->from[0])->id;
    for (size_t i = 1; i < field->n_from; i++) {
        if (fby_field_kind_for(field->from[i])->id != field->decode) {
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

static fby_err check_key(const struct fby_yaml *yaml,
    const struct draft_field *field, enum fby_field_key key)
{
    static const uint64_t common =
        FBY_FIELD_BIT(FBY_FIELD_FROM) | FBY_FIELD_BIT(FBY_FIELD_DECODE) |
        FBY_FIELD_BIT(FBY_FIELD_WIRE) | FBY_FIELD_BIT(FBY_FIELD_OUT);
    const struct fby_field_kind *kind = fby_field_kind_by_id(field->decode);
    bool json = key == FBY_FIELD_KEY || key == FBY_FIELD_PICK;
    if (!fby_is_given(field->at[key]) ||
        ((common | kind->keys) & FBY_FIELD_BIT(key)) != 0) {
        return FBY_OK;
    }
    if (json && !fby_is_given(field->at[FBY_FIELD_DECODE])) {
        return fby_yaml_wrong(yaml->why, yaml->file, field->at[key],
            "key '%s' is about JSON: say decode: number, label or text",
            fby_draft_field_key(key));
    }
    return fby_yaml_wrong(yaml->why, yaml->file, field->at[key],
        "key '%s' is not used by decode: %s (from %s)",
        fby_draft_field_key(key), kind->name, field->from[0]);
}

/* How many classes there are is said once, or twice alike. */
static fby_err check_classes(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    int64_t classes = field->one_hot.classes;
    return classes == 0 || field->classes == 0 || classes == field->classes
               ? FBY_OK
               : fby_yaml_wrong(yaml->why, yaml->file,
                     field->one_hot.at[ONE_HOT(CLASSES)],
                     "one_hot has %lld classes, but the field %lld; say it "
                     "once",
                     (long long)classes, (long long)field->classes);
}

/* Lists of numbers for each channel are of one length. */
static fby_err check_factors(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    uint32_t scale  = field->out.scale.n;
    uint32_t offset = field->out.offset.n;
    return scale <= 1 || offset <= 1 || scale == offset
               ? FBY_OK
               : fby_yaml_wrong(yaml->why, yaml->file,
                     field->out.at[OUT(OFFSET)],
                     "%u numbers, but scale has %u: say one, or one for each "
                     "channel",
                     offset, scale);
}

fby_err fby_draft_field_keys(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    if (field->group[0] == '\0') {
        memcpy(field->group, field->name, FBY_NAME_SIZE);
    }
    fby_err err = infer_decode(yaml, field);
    for (size_t key = 0; err == FBY_OK && key < FBY_FIELD_TOP_KEYS; key++) {
        err = check_key(yaml, field, (enum fby_field_key)key);
    }
    if (err == FBY_OK) {
        err = check_classes(yaml, field);
    }
    return err == FBY_OK ? check_factors(yaml, field) : err;
}
