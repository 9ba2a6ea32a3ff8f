/* SPDX-License-Identifier: Apache-2.0 */
/* field.c - read the fields of a pipeline file, by tables of their keys and of
 * the words that are valid values. The rules for the values are in fields/. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/parse_state.h"
#include "pipeline/text.h"

/* ---- the words that are valid values, each with its number ---- */

static const struct fby_choice picks[] = {
    {"random", FBY_PICK_RANDOM}, {NULL, 0}};

static const struct fby_choice dct_scales[] = {{"off", FBY_DCT_OFF},
    {"faithful", FBY_DCT_FAITHFUL}, {"fast", FBY_DCT_FAST}, {NULL, 0}};

/* clang-format off */
#define NUMBER_TYPES                                          \
    {"u8", FBY_U8}, {"u16", FBY_U16}, {"u32", FBY_U32},       \
    {"i32", FBY_I32}, {"i64", FBY_I64}, {"f16", FBY_F16},     \
    {"bf16", FBY_BF16}, {"f32", FBY_F32}
/* clang-format on */

static const struct fby_choice wire_types[] = {
    NUMBER_TYPES, {"bits", PARSED_BITS}, {"yuv420", PARSED_YUV420}, {NULL, 0}};

static const struct fby_choice dtypes[] = {
    NUMBER_TYPES, {"bool", FBY_BOOL}, {NULL, 0}};

static const struct fby_choice filters[] = {{"auto", FBY_AUTO},
    {"none", FBY_FILTER_NONE}, {"delta", FBY_FILTER_DELTA},
    {"byte_shuffle", FBY_FILTER_BYTE_SHUFFLE},
    {"bit_shuffle", FBY_FILTER_BIT_SHUFFLE}, {"photo", FBY_FILTER_PHOTO},
    {NULL, 0}};

static const struct fby_choice codecs[] = {{"auto", FBY_AUTO},
    {"store", FBY_CODEC_STORE}, {"lz4", FBY_CODEC_LZ4},
    {"pack", FBY_CODEC_PACK}, {NULL, 0}};

static const struct fby_choice layouts[] = {{"hwc", FBY_LAYOUT_HWC},
    {"chw", FBY_LAYOUT_CHW}, {"channels_last", FBY_LAYOUT_CHANNELS_LAST},
    {"hw", FBY_LAYOUT_HW}, {NULL, 0}};

static const struct fby_choice too_long_rules[] = {
    {"refuse", FBY_TOO_LONG_REFUSE}, {"truncate", FBY_TOO_LONG_TRUNCATE},
    {NULL, 0}};

static const struct fby_choice fits[] = {
    {"refuse", FBY_FIT_REFUSE}, {"stretch", FBY_FIT_STRETCH}, {NULL, 0}};

static const struct fby_choice forms[] = {{"padded", FBY_AS_PADDED},
    {"ragged", FBY_AS_RAGGED}, {"dense", FBY_AS_DENSE}, {"csr", FBY_AS_CSR},
    {"coo", FBY_AS_COO}, {"cu_seqlens", FBY_AS_CU_SEQLENS},
    {"positions", FBY_AS_POSITIONS}, {"mask", FBY_AS_MASK}, {NULL, 0}};

static const struct fby_choice pad_to[] = {/* values of the bool `longest` */
    {"max", 0}, {"longest", 1}, {NULL, 0}};

static const struct fby_choice offset_types[] = {
    {"i32", FBY_I32}, {"i64", FBY_I64}, {NULL, 0}};

static fby_err read_decode(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct fby_choice decoders[FBY_MAX_KINDS + 1] = {{0}}; /* ends with NULL */
    for (size_t i = 1; i < fby_n_field_kinds; i++) {
        decoders[i - 1] = (struct fby_choice){
            .name = fby_field_kinds[i]->name, .value = (int64_t)i};
    }
    return fby_choice_read(yaml, node, decoders, "decoder",
        &((struct parsed_field *)target)->decode);
}

/* ---- the key `from` ---- */

static fby_err read_extension(const struct fby_yaml *yaml,
    const yaml_node_t *node, struct parsed_field *field)
{
    const char *text = fby_yaml_text(node);
    if (!fby_yaml_is_given(node)) {
        return fby_yaml_error_expected(
            yaml, node, "an extension such as jpg, or folder");
    }
    if (text[0] == '.' && fby_text_is_extension(text + 1)) {
        return fby_yaml_error(yaml, node,
            "extensions are written without their dot: %s", text + 1);
    }
    if (!fby_text_is_extension(text)) {
        return fby_yaml_error(yaml, node,
            "'%s' is not a valid extension: lower-case letters, digits, _, - "
            "and inner dots (data is compared in lower case)",
            fby_text_show(text).text);
    }
    memcpy(field->from[field->n_from], text, strlen(text) + 1);
    field->from_pos[field->n_from] = fby_yaml_pos(node);
    field->n_from++;
    return FBY_OK;
}

/* Read the extensions of a field of any kind. Only maps may have FBY_MAX_MAPS;
 * fields/check.c checks the limit of the other kinds, FBY_MAX_FROM. */
static fby_err read_from(struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_field *field = target;
    size_t               n     = fby_yaml_length(node);
    if (n == 0 || n > FBY_MAX_MAPS) {
        return fby_yaml_error(yaml, node,
            "expected 1 to %d extensions, not %zu (of maps, 1 to %d)",
            FBY_MAX_FROM, n, FBY_MAX_MAPS);
    }
    for (size_t i = 0; i < n; i++) {
        FBY_TRY(read_extension(yaml, fby_yaml_item(yaml, node, i), field));
    }
    return FBY_OK;
}

/* ---- the keys `wire`, `out` and `one_hot` ---- */

static const struct fby_key wire_keys[WIRE_KEYS] = {
    [WIRE(TYPE)] = {FBY_CHOICE("type", parsed_wire, type, "type", wire_types)},
    [WIRE(FILTER)] = {FBY_CHOICE(
        "filter", parsed_wire, filter, "filter", filters)},
    [WIRE(CODEC)]  = {FBY_CHOICE("codec", parsed_wire, codec, "codec", codecs)},
};
static const struct fby_schema wire_schema = {
    "a type, or {type: ..., filter: ..., codec: ...}", wire_keys, WIRE_KEYS};

static fby_err read_wire(struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_wire *wire = &((struct parsed_field *)target)->wire;
    if (fby_yaml_is_scalar(node)) {
        return fby_choice_read(yaml, node, wire_types, "type", &wire->type);
    }
    return fby_schema_read(yaml, node, &wire_schema, wire);
}

/* One number of `scale` or `offset`, described as an op's parameter. */
static const struct fby_param out_factor = {
    .expects = "a number, or a list of one for each of up to 256 channels, "
               "-1e30 to 1e30",
    .real    = true,
    .min_n   = 1,
    .max_n   = 1,
    .min     = -FBY_SCALE_MAX,
    .max     = FBY_SCALE_MAX};
_Static_assert(FBY_MAX_FACTORS == 256, "out_factor.expects names the limit");

static fby_err read_factors(
    struct fby_yaml *yaml, yaml_node_t *node, struct parsed_factors *out)
{
    size_t n = fby_yaml_length(node);
    if (n == 0 || n > FBY_MAX_FACTORS) {
        return fby_yaml_error_expected(yaml, node, out_factor.expects);
    }
    for (size_t i = 0; i < n; i++) {
        struct fby_value value;
        yaml_node_t     *item = fby_yaml_item(yaml, node, i);
        FBY_TRY(fby_param_read(yaml, item, &out_factor, &value));
        out->values[i] = value.r[0];
    }
    out->n = (uint32_t)n;
    return FBY_OK;
}

static fby_err read_scale(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    return read_factors(yaml, node, &((struct parsed_out *)target)->scale);
}

static fby_err read_offset(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    return read_factors(yaml, node, &((struct parsed_out *)target)->offset);
}

static fby_err read_pad(struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct fby_value value;
    struct fby_param pad_param = out_factor;
    pad_param.expects          = "a number, -1e30 to 1e30";
    FBY_TRY(fby_param_read(yaml, node, &pad_param, &value));
    ((struct parsed_out *)target)->delivery.pad = value.r[0];
    return FBY_OK;
}

static const struct fby_key out_keys[OUT_KEYS] = {
    [OUT(DTYPE)]   = {FBY_CHOICE(
          "dtype", parsed_out, delivery.dtype, "dtype", dtypes)},
    [OUT(LAYOUT)]  = {FBY_CHOICE(
         "layout", parsed_out, delivery.layout, "layout", layouts)},
    [OUT(SCALE)]   = {FBY_READ_BY("scale", read_scale)},
    [OUT(OFFSET)]  = {FBY_READ_BY("offset", read_offset)},
    [OUT(AS)]      = {FBY_CHOICE("as", parsed_out, delivery.as, "form", forms)},
    [OUT(TO)]      = {FBY_CHOICE(
             "to", parsed_out, delivery.longest, "length to pad to", pad_to)},
    [OUT(PAD)]     = {FBY_READ_BY("pad", read_pad)},
    [OUT(OFFSETS)] = {FBY_CHOICE("offsets", parsed_out, delivery.offsets,
        "type of offsets", offset_types)},
};
static const struct fby_schema out_schema = {
    "{dtype: ..., layout: ...}", out_keys, OUT_KEYS};

static fby_err read_one_hot_only(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_one_hot *one_hot = target;
    return fby_parsed_read_only_key(
        yaml, node, one_hot->pipeline, &one_hot->split_bits);
}

static const struct fby_key one_hot_keys[ONE_HOT_KEYS] = {
    [ONE_HOT(CLASSES)]   = {FBY_INTEGER("classes", parsed_one_hot, classes, 1,
          FBY_MAX_ONE_HOT, "an integer, 1 to 65536")},
    [ONE_HOT(SMOOTHING)] = {FBY_REAL("smoothing", parsed_one_hot, smoothing, 0,
        0.999999, "a number, 0 to 0.999999")},
    [ONE_HOT(DTYPE)]     = {FBY_CHOICE(
            "dtype", parsed_one_hot, dtype, "dtype", dtypes)},
    [ONE_HOT(ONLY)]      = {FBY_READ_BY("only", read_one_hot_only)},
};
static const struct fby_schema one_hot_schema = {
    "{classes: N, ...}", one_hot_keys, ONE_HOT_KEYS};

static fby_err read_one_hot(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_field *field = target;
    field->one_hot.pipeline    = field->pipeline;
    field->one_hot.dtype       = FBY_F32;
    field->one_hot.split_bits  = ALL_SPLITS;
    return fby_schema_read(yaml, node, &one_hot_schema, &field->one_hot);
}

/* ---- a field ---- */

static fby_err read_shape(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    static const char expects[] =
        "a list of up to 4 integers, 1 to 1073741824, such as [240, 320]; [] "
        "is one number";
    struct fby_shape *shape = &((struct parsed_field *)target)->shape;
    if (!fby_yaml_is_list(node) || fby_yaml_length(node) > FBY_MAX_DIMS) {
        return fby_yaml_error_expected(yaml, node, expects);
    }
    for (size_t i = 0; i < fby_yaml_length(node); i++) {
        yaml_node_t *item  = fby_yaml_item(yaml, node, i);
        int64_t      value = 0;
        if (!fby_yaml_read_integer(item, &value) || value < 1 ||
            value > FBY_MAX_LENGTH) {
            return fby_yaml_error_expected(yaml, item, expects);
        }
        shape->dims[shape->n_dims++] = (uint32_t)value;
    }
    return FBY_OK;
}

static fby_err read_group(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_field *field = target;
    return fby_parsed_read_name(yaml, node, "group", field->group);
}

static const struct fby_key field_keys[FBY_FIELD_TOP_KEYS] = {
    [FBY_FIELD_FROM]      = {FBY_READ_BY("from", read_from), .required = true,
             .expects = "an extension such as jpg, or folder"},
    [FBY_FIELD_DECODE]    = {FBY_READ_BY("decode", read_decode)},
    [FBY_FIELD_DCT_SCALE] = {FBY_CHOICE(
        "dct_scale", parsed_field, dct_scale, "dct_scale", dct_scales)},
    [FBY_FIELD_GROUP]     = {FBY_READ_BY("group", read_group)},
    [FBY_FIELD_FIT]       = {FBY_CHOICE("fit", parsed_field, fit, "fit", fits)},
    [FBY_FIELD_KEY]       = {FBY_TEXT(
              "key", parsed_field, json_key, "a key of the JSON object")},
    [FBY_FIELD_PICK] = {FBY_CHOICE("pick", parsed_field, pick, "pick", picks)},
    [FBY_FIELD_LENGTH]     = {FBY_INTEGER("length", parsed_field, length, 1,
            FBY_MAX_LENGTH, "an integer, 1 to 1073741824 (bytes)")},
    [FBY_FIELD_SHAPE]      = {FBY_READ_BY("shape", read_shape)},
    [FBY_FIELD_MAX_LENGTH] = {FBY_INTEGER("max_length", parsed_field,
        max_length, 1, FBY_MAX_RAGGED,
        "an integer, 1 to 33554368 (entries of a row)")},
    [FBY_FIELD_TOO_LONG]   = {FBY_CHOICE("too_long", parsed_field, too_long,
          "rule for rows that are too long", too_long_rules)},
    [FBY_FIELD_CLASSES]    = {FBY_INTEGER("classes", parsed_field, classes, 1,
           FBY_MAX_CLASSES, "an integer, 1 to 2147483647")},
    [FBY_FIELD_NAMES]      = {FBY_READ_BY("names", fby_parsed_read_names)},
    [FBY_FIELD_OPS]        = {FBY_READ_BY("ops", fby_parsed_read_ops)},
    [FBY_FIELD_WIRE]       = {FBY_READ_BY("wire", read_wire)},
    [FBY_FIELD_DEVICE]     = {FBY_READ_BY("device", fby_parsed_read_device)},
    [FBY_FIELD_OUT]        = {FBY_MAP("out", parsed_field, out, &out_schema)},
    [FBY_FIELD_ONE_HOT]    = {FBY_READ_BY("one_hot", read_one_hot)},
};
static const struct fby_schema field_schema = {
    "a field, {from: ..., ...}", field_keys, FBY_FIELD_TOP_KEYS};

const char *fby_parsed_key_name(size_t key)
{
    return field_keys[key].name;
}

/* Check that a field may have the name `key`, and that one may be added. */
static fby_err check_new_field(const struct fby_yaml *yaml,
    const yaml_node_t *key, const struct fby_pipeline *pipeline)
{
    if (strcmp(fby_yaml_text(key), "valid") == 0) {
        return fby_yaml_error(yaml, key,
            "the name 'valid' is taken by the field that 'last: pad' adds; "
            "choose another");
    }
    for (size_t i = 0; i < pipeline->n_fields; i++) {
        if (strcmp(pipeline->fields[i].name, fby_yaml_text(key)) == 0) {
            return fby_yaml_error(yaml, key,
                "field '%s' is given twice (first in line %zu)",
                pipeline->fields[i].name, pipeline->fields[i].name_pos.line);
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
    FBY_TRY(check_new_field(yaml, key, pipeline));
    struct parsed_field *field = &pipeline->fields[pipeline->n_fields];
    field->name_pos            = fby_yaml_pos(key);
    field->pipeline            = pipeline;
    field->class_names         = &pipeline->class_names;
    field->wire.filter         = FBY_AUTO;
    field->wire.codec          = FBY_AUTO;
    field->out.delivery.layout = FBY_LAYOUT_HWC;
    FBY_TRY(fby_parsed_read_name(yaml, key, "field", field->name));
    FBY_TRY(fby_schema_read(yaml, value, &field_schema, field));
    FBY_TRY(fby_parsed_complete_field(yaml, field));
    pipeline->n_fields++;
    return FBY_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct parsed_field *left  = a;
    const struct parsed_field *right = b;
    return strcmp(left->name, right->name);
}

fby_err fby_parsed_read_fields(
    struct fby_yaml *yaml, struct fby_pipeline *pipeline)
{
    yaml_node_t *node = pipeline->fields_node;
    FBY_TRY(fby_yaml_read_entries(
        yaml, node, "fields by name", read_field, pipeline));
    if (pipeline->n_fields == 0) {
        return fby_yaml_error(yaml, node,
            "there is no field; write for example image: {from: jpg}");
    }
    qsort(pipeline->fields, pipeline->n_fields, sizeof(pipeline->fields[0]),
        compare_names);
    return fby_parsed_resolve_references(yaml, pipeline);
}
