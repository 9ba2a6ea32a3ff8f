/* The fields of a pipeline file: keys and words. What they must be together
 * is in fields/. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/draft.h"
#include "pipeline/text.h"

/* ---- words ---- */

static const struct fby_choice picks[] = {
    {"random", FBY_PICK_RANDOM},
    {NULL, 0},
};

static const struct fby_choice dct_scales[] = {
    {"off", FBY_DCT_OFF},
    {"faithful", FBY_DCT_FAITHFUL},
    {"fast", FBY_DCT_FAST},
    {NULL, 0},
};

/* clang-format off */
#define NUMBER_TYPES                                          \
    {"u8", FBY_U8}, {"u16", FBY_U16}, {"u32", FBY_U32},       \
    {"i32", FBY_I32}, {"i64", FBY_I64}, {"f16", FBY_F16},     \
    {"bf16", FBY_BF16}, {"f32", FBY_F32}
/* clang-format on */

static const struct fby_choice types[] = {
    NUMBER_TYPES,
    {"bits", DRAFT_BITS},
    {"yuv420", DRAFT_YUV420},
    {NULL, 0},
};

static const struct fby_choice dtypes[] = {
    NUMBER_TYPES,
    {"bool", FBY_BOOL},
    {NULL, 0},
};

static const struct fby_choice filters[] = {
    {"auto", FBY_AUTO},
    {"none", FBY_FILTER_NONE},
    {"delta", FBY_FILTER_DELTA},
    {"byte_shuffle", FBY_FILTER_BYTE_SHUFFLE},
    {"bit_shuffle", FBY_FILTER_BIT_SHUFFLE},
    {"photo", FBY_FILTER_PHOTO},
    {NULL, 0},
};

static const struct fby_choice codecs[] = {
    {"auto", FBY_AUTO},
    {"store", FBY_CODEC_STORE},
    {"lz4", FBY_CODEC_LZ4},
    {"pack", FBY_CODEC_PACK},
    {NULL, 0},
};

static const struct fby_choice layouts[] = {
    {"hwc", FBY_LAYOUT_HWC},
    {"chw", FBY_LAYOUT_CHW},
    {"channels_last", FBY_LAYOUT_CHANNELS_LAST},
    {NULL, 0},
};

static const struct fby_choice too_long[] = {
    {"refuse", FBY_TOO_LONG_REFUSE},
    {"truncate", FBY_TOO_LONG_TRUNCATE},
    {NULL, 0},
};

static const struct fby_choice shapes_of_out[] = {
    {"padded", FBY_AS_PADDED},
    {"ragged", FBY_AS_RAGGED},
    {"dense", FBY_AS_DENSE},
    {"csr", FBY_AS_CSR},
    {"coo", FBY_AS_COO},
    {"cu_seqlens", FBY_AS_CU_SEQLENS},
    {"positions", FBY_AS_POSITIONS},
    {"mask", FBY_AS_MASK},
    {NULL, 0},
};

static const struct fby_choice paddings[] = {
    {"max", 0},
    {"longest", 1},
    {NULL, 0},
};

static const struct fby_choice offset_types[] = {
    {"i32", FBY_I32},
    {"i64", FBY_I64},
    {NULL, 0},
};

static fby_err read_decode(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct fby_choice decoders[FBY_MAX_KINDS + 1] = {{0}};
    for (size_t i = 1; i < fby_n_field_kinds; i++) {
        decoders[i - 1] = (struct fby_choice){
            .name = fby_field_kinds[i]->name, .value = (int64_t)i};
    }
    return fby_choice_read(yaml, node, decoders, "decoder",
        &((struct draft_field *)target)->decode);
}

/* ---- from ---- */

static fby_err read_extension(const struct fby_yaml *yaml,
    const yaml_node_t *node, struct draft_field *field)
{
    const char *text = fby_yaml_text(node);
    if (!fby_yaml_is_given(node)) {
        return fby_yaml_expected(
            yaml, node, "an extension such as jpg, or folder");
    }
    if (text[0] == '.' && fby_text_is_extension(text + 1)) {
        return fby_yaml_error(yaml, node,
            "extensions are written without their dot: %s", text + 1);
    }
    if (!fby_text_is_extension(text)) {
        return fby_yaml_error(yaml, node,
            "'%s' is no extension: lower-case letters, digits, _, - and inner "
            "dots (data is compared in lower case)",
            fby_text_show(text).text);
    }
    memcpy(field->from[field->n_from], text, strlen(text) + 1);
    field->from_at[field->n_from] = fby_yaml_place(node);
    field->n_from++;
    return FBY_OK;
}

static fby_err read_from(struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_field *field = target;
    if (!fby_yaml_is_list(node)) {
        return read_extension(yaml, node, field);
    }
    size_t n = fby_yaml_length(node);
    if (n == 0 || n > FBY_MAX_MAPS) {
        return fby_yaml_error(yaml, node,
            "expected 1 to %d extensions, not %zu (of maps, 1 to %d)",
            FBY_MAX_FROM, n, FBY_MAX_MAPS);
    }
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < n; i++) {
        err = read_extension(yaml, fby_yaml_item(yaml, node, i), field);
    }
    return err;
}

/* ---- wire, out, one_hot ---- */

static const struct fby_key wire_keys[WIRE_KEYS] = {
    [WIRE(TYPE)]   = {.name = "type",
          .expects          = "type",
          .kind             = FBY_KEY_CHOICE,
          .offset           = offsetof(struct draft_wire, type),
          .choices          = types},
    [WIRE(FILTER)] = {.name = "filter",
        .expects            = "filter",
        .kind               = FBY_KEY_CHOICE,
        .offset             = offsetof(struct draft_wire, filter),
        .choices            = filters},
    [WIRE(CODEC)]  = {.name = "codec",
         .expects           = "codec",
         .kind              = FBY_KEY_CHOICE,
         .offset            = offsetof(struct draft_wire, codec),
         .choices           = codecs},
};
static const struct fby_schema wire_schema = {
    "a type, or {type: ..., filter: ..., codec: ...}", wire_keys, WIRE_KEYS};

static fby_err read_wire(struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_wire *wire = &((struct draft_field *)target)->wire;
    if (fby_yaml_is_scalar(node)) {
        return fby_choice_read(yaml, node, types, "type", &wire->type);
    }
    return fby_schema_read(yaml, node, &wire_schema, wire);
}

static const struct fby_param out_factor = {
    .expects = "a number, or a list of one for each of up to 256 channels, "
               "-1e30 to 1e30",
    .real    = true,
    .min_n   = 1,
    .max_n   = 1,
    .min     = -FBY_SCALE_MAX,
    .max     = FBY_SCALE_MAX};
_Static_assert(FBY_MAX_FACTORS == 256, "as out_factor expects");

static fby_err read_factors(
    struct fby_yaml *yaml, yaml_node_t *node, struct draft_factors *out)
{
    bool   list = fby_yaml_is_list(node);
    size_t n    = list ? fby_yaml_length(node) : 1;
    if (n == 0 || n > FBY_MAX_FACTORS) {
        return fby_yaml_expected(yaml, node, out_factor.expects);
    }
    for (out->n = 0; out->n < n; out->n++) {
        struct fby_value value;
        yaml_node_t     *item = list ? fby_yaml_item(yaml, node, out->n) : node;
        fby_err          err  = fby_param_read(yaml, item, &out_factor, &value);
        if (err != FBY_OK) {
            return err;
        }
        out->r[out->n] = value.r[0];
    }
    return FBY_OK;
}

static fby_err read_scale(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    return read_factors(yaml, node, &((struct draft_out *)target)->scale);
}

static fby_err read_offset(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    return read_factors(yaml, node, &((struct draft_out *)target)->offset);
}

static const struct fby_param out_pad = {.expects = "a number, -1e30 to 1e30",
    .real                                         = true,
    .min_n                                        = 1,
    .max_n                                        = 1,
    .min                                          = -FBY_SCALE_MAX,
    .max                                          = FBY_SCALE_MAX};

static fby_err read_pad(struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_out *out = target;
    return fby_param_read(yaml, node, &out_pad, &out->pad);
}

static const struct fby_key out_keys[OUT_KEYS] = {
    [OUT(DTYPE)]  = {.name = "dtype",
         .expects          = "dtype",
         .kind             = FBY_KEY_CHOICE,
         .offset           = offsetof(struct draft_out, dtype),
         .choices          = dtypes},
    [OUT(LAYOUT)] = {.name = "layout",
        .expects           = "layout",
        .kind              = FBY_KEY_CHOICE,
        .offset            = offsetof(struct draft_out, layout),
        .choices           = layouts},
    [OUT(SCALE)]  = {.name = "scale", .kind = FBY_KEY_OWN, .read = read_scale},
    [OUT(
        OFFSET)] = {.name = "offset", .kind = FBY_KEY_OWN, .read = read_offset},
    [OUT(AS)]    = {.name = "as",
           .expects       = "form",
           .kind          = FBY_KEY_CHOICE,
           .offset        = offsetof(struct draft_out, as),
           .choices       = shapes_of_out},
    [OUT(TO)]    = {.name = "to",
           .expects       = "length to pad to",
           .kind          = FBY_KEY_CHOICE,
           .offset        = offsetof(struct draft_out, longest),
           .choices       = paddings},
    [OUT(PAD)]   = {.name = "pad", .kind = FBY_KEY_OWN, .read = read_pad},
    [OUT(OFFSETS)] = {.name = "offsets",
        .expects            = "type of offsets",
        .kind               = FBY_KEY_CHOICE,
        .offset             = offsetof(struct draft_out, offsets),
        .choices            = offset_types},
};
static const struct fby_schema out_schema = {
    "{dtype: ..., layout: ...}", out_keys, OUT_KEYS};

static fby_err read_out(struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_field *field = target;
    return fby_schema_read(yaml, node, &out_schema, &field->out);
}

static fby_err read_one_hot_only(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_one_hot *one_hot = target;
    return fby_draft_only(yaml, node, one_hot->pipeline, &one_hot->only);
}

static const struct fby_key one_hot_keys[ONE_HOT_KEYS] = {
    [ONE_HOT(CLASSES)]   = {.name = "classes",
          .expects                = "an integer, 1 to 65536",
          .kind                   = FBY_KEY_INTEGER,
          .offset                 = offsetof(struct draft_one_hot, classes),
          .min                    = 1,
          .max                    = FBY_MAX_ONE_HOT},
    [ONE_HOT(SMOOTHING)] = {.name = "smoothing",
        .expects                  = "a number, 0 to 0.999999",
        .kind                     = FBY_KEY_REAL,
        .offset                   = offsetof(struct draft_one_hot, smoothing),
        .min                      = 0,
        .max                      = 0.999999},
    [ONE_HOT(DTYPE)]     = {.name = "dtype",
            .expects              = "dtype",
            .kind                 = FBY_KEY_CHOICE,
            .offset               = offsetof(struct draft_one_hot, dtype),
            .choices              = dtypes},
    [ONE_HOT(ONLY)]      = {.name = "only",
             .kind                = FBY_KEY_OWN,
             .read                = read_one_hot_only},
};
static const struct fby_schema one_hot_schema = {
    "{classes: N, ...}", one_hot_keys, ONE_HOT_KEYS};

static fby_err read_one_hot(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_field *field = target;
    field->one_hot.pipeline   = field->pipeline;
    field->one_hot.dtype      = FBY_F32;
    field->one_hot.only       = UINT32_MAX;
    return fby_schema_read(yaml, node, &one_hot_schema, &field->one_hot);
}

/* ---- a field ---- */

static fby_err read_shape(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    static const char expects[] =
        "a list of up to 4 integers, 1 to 1073741824, such as [240, 320]; [] "
        "is one number";
    struct fby_shape *shape = &((struct draft_field *)target)->shape;
    if (!fby_yaml_is_list(node) || fby_yaml_length(node) > FBY_MAX_DIMS) {
        return fby_yaml_expected(yaml, node, expects);
    }
    for (size_t i = 0; i < fby_yaml_length(node); i++) {
        yaml_node_t *item  = fby_yaml_item(yaml, node, i);
        int64_t      value = 0;
        if (!fby_yaml_integer(item, &value) || value < 1 ||
            value > FBY_MAX_LENGTH) {
            return fby_yaml_expected(yaml, item, expects);
        }
        shape->dims[shape->n_dims++] = (uint32_t)value;
    }
    return FBY_OK;
}

static fby_err read_group(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_field *field = target;
    return fby_draft_name(yaml, node, "group", field->group);
}

static const struct fby_key field_keys[FBY_FIELD_TOP_KEYS] = {
    [FBY_FIELD_FROM]       = {.name = "from",
              .expects              = "an extension such as jpg, or folder",
              .kind                 = FBY_KEY_OWN,
              .required             = true,
              .read                 = read_from},
    [FBY_FIELD_DECODE]     = {.name = "decode",
            .kind                   = FBY_KEY_OWN,
            .read                   = read_decode},
    [FBY_FIELD_DCT_SCALE]  = {.name = "dct_scale",
         .expects                   = "dct_scale",
         .kind                      = FBY_KEY_CHOICE,
         .offset                    = offsetof(struct draft_field, dct_scale),
         .choices                   = dct_scales},
    [FBY_FIELD_GROUP]      = {.name = "group",
             .kind                  = FBY_KEY_OWN,
             .read                  = read_group},
    [FBY_FIELD_KEY]        = {.name = "key",
               .expects             = "a key of the JSON object",
               .kind                = FBY_KEY_TEXT,
               .offset              = offsetof(struct draft_field, json_key),
               .capacity            = FBY_NAME_SIZE},
    [FBY_FIELD_PICK]       = {.name = "pick",
              .expects              = "pick",
              .kind                 = FBY_KEY_CHOICE,
              .offset               = offsetof(struct draft_field, pick),
              .choices              = picks},
    [FBY_FIELD_LENGTH]     = {.name = "length",
            .expects                = "an integer, 1 to 1073741824 (bytes)",
            .kind                   = FBY_KEY_INTEGER,
            .offset                 = offsetof(struct draft_field, length),
            .min                    = 1,
            .max                    = FBY_MAX_LENGTH},
    [FBY_FIELD_SHAPE]      = {.name = "shape",
             .kind                  = FBY_KEY_OWN,
             .read                  = read_shape},
    [FBY_FIELD_MAX_LENGTH] = {.name = "max_length",
        .expects = "an integer, 1 to 33554368 (entries of a row)",
        .kind    = FBY_KEY_INTEGER,
        .offset  = offsetof(struct draft_field, max_length),
        .min     = 1,
        .max     = FBY_MAX_VARYING},
    [FBY_FIELD_TOO_LONG]   = {.name = "too_long",
          .expects                  = "rule for rows that are too long",
          .kind                     = FBY_KEY_CHOICE,
          .offset                   = offsetof(struct draft_field, too_long),
          .choices                  = too_long},
    [FBY_FIELD_CLASSES]    = {.name = "classes",
           .expects                 = "an integer, 1 to 2147483647",
           .kind                    = FBY_KEY_INTEGER,
           .offset                  = offsetof(struct draft_field, classes),
           .min                     = 1,
           .max                     = FBY_MAX_CLASSES},
    [FBY_FIELD_OPS]        = {.name = "ops",
               .kind                = FBY_KEY_OWN,
               .read                = fby_draft_ops},
    [FBY_FIELD_WIRE] = {.name = "wire", .kind = FBY_KEY_OWN, .read = read_wire},
    [FBY_FIELD_DEVICE] = {.name = "device",
        .kind                   = FBY_KEY_OWN,
        .read                   = fby_draft_device},
    [FBY_FIELD_OUT]    = {.name = "out", .kind = FBY_KEY_OWN, .read = read_out},
    [FBY_FIELD_ONE_HOT] = {.name = "one_hot",
        .kind                    = FBY_KEY_OWN,
        .read                    = read_one_hot},
};
static const struct fby_schema field_schema = {
    "a field, {from: ..., ...}", field_keys, FBY_FIELD_TOP_KEYS};

const char *fby_draft_field_key(size_t key)
{
    return field_keys[key].name;
}

static fby_err check_new_field(const struct fby_yaml *yaml,
    const yaml_node_t *key, const struct fby_pipeline *pipeline)
{
    if (strcmp(fby_yaml_text(key), "valid") == 0) {
        return fby_yaml_error(yaml, key,
            "the field 'valid' is made by last: pad; choose another name");
    }
    for (size_t i = 0; i < pipeline->n_fields; i++) {
        if (strcmp(pipeline->fields[i].name, fby_yaml_text(key)) == 0) {
            return fby_yaml_error(yaml, key,
                "field '%s' stands here a second time (first in line %zu)",
                pipeline->fields[i].name, pipeline->fields[i].here.line);
        }
    }
    return pipeline->n_fields < FBY_MAX_FIELDS
               ? FBY_OK
               : fby_yaml_error(
                     yaml, key, "more than %d fields", FBY_MAX_FIELDS);
}

static fby_err read_field(
    struct fby_yaml *yaml, yaml_node_t *key, yaml_node_t *value, void *target)
{
    struct fby_pipeline *pipeline = target;
    fby_err              err      = check_new_field(yaml, key, pipeline);
    if (err != FBY_OK) {
        return err;
    }
    struct draft_field *field = &pipeline->fields[pipeline->n_fields];
    field->here               = fby_yaml_place(key);
    field->pipeline           = pipeline;
    field->wire.filter        = FBY_AUTO;
    field->wire.codec         = FBY_AUTO;
    field->out.layout         = FBY_LAYOUT_HWC;
    err                       = fby_draft_name(yaml, key, "field", field->name);
    if (err == FBY_OK) {
        err = fby_schema_read(yaml, value, &field_schema, field);
    }
    if (err == FBY_OK) {
        err = fby_draft_field_keys(yaml, field);
    }
    pipeline->n_fields += err == FBY_OK ? 1 : 0;
    return err;
}

static int by_name(const void *a, const void *b)
{
    const struct draft_field *left  = a;
    const struct draft_field *right = b;
    return strcmp(left->name, right->name);
}

fby_err fby_draft_fields(struct fby_yaml *yaml, struct fby_pipeline *pipeline)
{
    yaml_node_t *node = pipeline->fields_node;
    fby_err      err  = fby_yaml_read_entries(
              yaml, node, "fields by name", read_field, pipeline);
    if (err == FBY_OK && pipeline->n_fields == 0) {
        err = fby_yaml_error(yaml, node,
            "there is no field; write for example image: {from: jpg}");
    }
    qsort(pipeline->fields, pipeline->n_fields, sizeof(pipeline->fields[0]),
        by_name);
    return err == FBY_OK ? fby_draft_references(yaml, pipeline) : err;
}
