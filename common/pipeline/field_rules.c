/* Which decoder a field has that does not say it, and which keys go with one.
 * What the keys say then is settled by kind (settle.h). */
#include <string.h>

#include "common/pipeline/derived.h"
#include "common/pipeline/settle.h"

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
        if (fby_is_given(field->at[key])) {
            return fby_yaml_wrong(yaml->why, yaml->file, field->at[key],
                "key '%s' is not used by columns", fby_draft_field_key(key));
        }
    }
    if (field->max_length > 0 && field->decode != FBY_DECODE_ARRAY &&
        field->decode != FBY_DECODE_SPARSE) {
        return fby_settle_wrong(yaml, field->at[FIELD_MAX_LENGTH],
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
            if (fby_is_given(field->out.at[key])) {
                return fby_settle_wrong(yaml, field->out.at[key],
                    "only arrays of one shape have a scale and an offset");
            }
        }
        return FBY_OK;
    }
    if (fby_is_given(field->at[FIELD_TOO_LONG])) {
        return fby_settle_wrong(yaml, field->at[FIELD_TOO_LONG],
            "too_long goes with max_length; say how long rows may be");
    }
    for (size_t key = OUT_AS; key <= OUT_OFFSETS; key++) {
        if (fby_is_given(field->out.at[key]) &&
            field->decode != FBY_DECODE_DOCUMENTS) {
            return fby_settle_wrong(yaml, field->out.at[key],
                "only fields with a max_length have another form");
        }
    }
    return FBY_OK;
}

static fby_err check_used(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    if (fby_draft_is_column(field) && check_column(yaml, field) != FBY_OK) {
        return FBY_CONFIG;
    }
    for (size_t key = 0; key < FIELD_KEYS; key++) {
        if (fby_is_given(field->at[key]) && !is_used(field->decode, key)) {
            bool json = key == FIELD_KEY || key == FIELD_PICK;
            if (json && !fby_is_given(field->at[FIELD_DECODE])) {
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
    if (!has_layout(field) && fby_is_given(field->out.at[OUT_LAYOUT])) {
        return fby_settle_wrong(yaml, field->out.at[OUT_LAYOUT],
            "only images, and arrays of three dimensions and one shape, have a "
            "layout");
    }
    bool scales =
        field->decode == FBY_DECODE_ARRAY && !fby_draft_is_bits(field);
    for (size_t key = OUT_SCALE; key <= OUT_OFFSET; key++) {
        if (!scales && fby_is_given(field->out.at[key])) {
            return fby_settle_wrong(yaml, field->out.at[key],
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
            return fby_settle_wrong(yaml, field->from_at[i],
                "folder is the number of the class folder: a label, alone");
        }
        if (stands_before(field, i)) {
            return fby_yaml_wrong(yaml->why, yaml->file, field->from_at[i],
                "'%s' stands here a second time", field->from[i]);
        }
    }
    return FBY_OK;
}

/* ---- yuv420 ---- */

static fby_err check_yuv(
    const struct fby_yaml *yaml, const struct draft_field *field)
{
    return field->wire.type == DRAFT_YUV420 && field->decode != FBY_DECODE_RGB8
               ? fby_settle_wrong(yaml, fby_settle_wire_place(field),
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
        return fby_settle_wrong(yaml, wire->at[WIRE_CODEC],
            "filter photo goes with codec: pack, or auto");
    }
    if (pack && !photo && wire->filter != FBY_AUTO) {
        return fby_settle_wrong(yaml, wire->at[WIRE_FILTER],
            "codec pack goes with filter: photo, or auto");
    }
    return FBY_OK;
}

/* ---- all of them ---- */

static fby_err settle(const struct fby_yaml *yaml, struct draft_field *field)
{
    switch (field->decode) {
    case FBY_DECODE_RGB8:
        return fby_settle_picture(yaml, field);
    case FBY_DECODE_LABEL:
        return fby_settle_label(yaml, field);
    case FBY_DECODE_NUMBER:
        return fby_settle_number(yaml, field);
    case FBY_DECODE_MASK8:
        return fby_settle_mask(yaml, field);
    case FBY_DECODE_ARRAY:
        return fby_settle_array(yaml, field);
    case FBY_DECODE_MAPS:
        return fby_settle_maps(yaml, field);
    case FBY_DECODE_TOKENS:
        return fby_settle_tokens(yaml, field);
    case FBY_DECODE_DOCUMENTS:
        return fby_settle_documents(yaml, field);
    case FBY_DECODE_TEXT:
        return fby_settle_text(yaml, field);
    case FBY_DECODE_SPARSE:
        return fby_settle_sparse(yaml, field);
    default:
        return fby_settle_bytes(yaml, field);
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
