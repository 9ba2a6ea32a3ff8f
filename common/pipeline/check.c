/* The rules between the parts of a content, for files and for strangers'
 * bytes alike (canon.h declares them). */
#include <math.h>
#include <string.h>

#include "common/pipeline/canon.h"
#include "common/pipeline/device_ops.h"
#include "common/pipeline/text.h"

/* ---- what follows from other values ---- */

enum fby_type fby_label_type(uint32_t classes)
{
    if (classes == 0 || classes > 65536) {
        return FBY_U32;
    }
    return classes > 256 ? FBY_U16 : FBY_U8;
}

enum fby_type fby_documents_type(uint32_t length)
{
    return length <= UINT16_MAX ? FBY_U16 : FBY_U32;
}

bool fby_wants_targets(const char *from)
{
    return strcmp(from, "target") == 0 || strcmp(from, "sequence") == 0;
}

uint32_t fby_sequence_length(
    const struct fby_field_content *field, const struct fby_tokens *tokens)
{
    bool all = strcmp(field->from[0], "sequence") == 0;
    return tokens->length + (all ? tokens->shift : 0);
}

void fby_field_pack(
    struct fby_field_content *field, const struct fby_tokens *tokens)
{
    bool packed   = tokens->packed && fby_decode_is_sequence(field->decode);
    field->packed = packed;
    field->pad    = packed ? tokens->pad : 0;
    field->shift  = packed ? tokens->shift : 0;
}

bool fby_type_takes(enum fby_type type, double value)
{
    static const double ranges[][2] = {
        [FBY_U8]   = {0, UINT8_MAX},
        [FBY_U16]  = {0, UINT16_MAX},
        [FBY_I32]  = {INT32_MIN, INT32_MAX},
        [FBY_I64]  = {-0x1p53, 0x1p53},
        [FBY_F16]  = {-65504, 65504},
        [FBY_BF16] = {-FBY_SCALE_MAX, FBY_SCALE_MAX},
        [FBY_F32]  = {-FBY_SCALE_MAX, FBY_SCALE_MAX},
        [FBY_U32]  = {0, UINT32_MAX},
        [FBY_BOOL] = {0, 1},
    };
    return fby_type_bytes(type) > 0 && value >= ranges[type][0] &&
           value <= ranges[type][1] &&
           (fby_is_real(type) || value == floor(value));
}

const char *fby_extension_kind(const char *extension)
{
    const char *dot = strrchr(extension, '.');
    return dot != NULL ? dot + 1 : extension;
}

bool fby_field_takes_png(const struct fby_field_content *field)
{
    bool takes = false;
    for (size_t i = 0; i < field->n_from; i++) {
        takes = takes || strcmp(fby_extension_kind(field->from[i]), "png") == 0;
    }
    return takes;
}

const char *fby_undecoded_picture(const char *extension)
{
    static const char *const none[] = {
        "webp", "gif", "bmp", "tif", "tiff", "avif", "heic"};
    const char *kind = fby_extension_kind(extension);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        if (strcmp(kind, none[i]) == 0) {
            return kind;
        }
    }
    return NULL;
}

/* Of an array: its last dimension is packed where it travels as bits. */
static struct fby_shape array_shape(const struct fby_field_content *field)
{
    struct fby_shape shape = field->array;
    if (field->maps > 0 && shape.n_dims > 0) {
        shape.dims[shape.n_dims - 1] = fby_bits_bytes(field->maps);
    }
    return shape;
}

/* Of `n` entries. */
static struct fby_shape list_of(uint32_t n, const struct fby_shape *entry)
{
    struct fby_shape shape = {.n_dims = 1, .dims = {n}};
    for (uint32_t i = 0; i < entry->n_dims && shape.n_dims < FBY_MAX_DIMS;
         i++) {
        shape.dims[shape.n_dims++] = entry->dims[i];
    }
    return shape;
}

struct fby_shape fby_field_shape(const struct fby_field_content *field)
{
    struct fby_shape shape = {0};
    if (field->decode == FBY_DECODE_RGB8) {
        shape = (struct fby_shape){.n_dims = 3, .dims = {0, 0, 3}};
    } else if (field->decode == FBY_DECODE_MASK8) {
        shape = (struct fby_shape){.n_dims = 3, .dims = {0, 0, 1}};
    } else if (field->decode == FBY_DECODE_MAPS) {
        shape = (struct fby_shape){
            .n_dims = 3, .dims = {0, 0, fby_bits_bytes(field->maps)}};
    } else if (field->decode == FBY_DECODE_BYTES ||
               field->decode == FBY_DECODE_TOKENS) {
        shape = (struct fby_shape){.n_dims = 1, .dims = {field->length}};
    } else if (field->decode == FBY_DECODE_ARRAY) {
        shape = array_shape(field);
    } else if (field->decode == FBY_DECODE_SPARSE) {
        shape = field->array;
    }
    if (fby_field_form(field) == FBY_FORM_RAGGED) {
        return list_of(field->max_length, &field->array);
    }
    for (size_t i = 0; i < field->n_ops; i++) {
        const struct fby_op_use *use = &field->ops[i];
        shape                        = use->op->shape(use, shape);
    }
    return shape;
}

/* ---- the order ---- */

static fby_err check_blocks(
    const struct fby_content *content, struct fby_why *why)
{
    if (content->shuffle != FBY_SHUFFLE_BLOCK) {
        return content->block + content->lanes + content->slices == 0
                   ? FBY_OK
                   : fby_because(why, FBY_CONFIG,
                         "block, lanes and slices belong to shuffle: "
                         "{block: K}");
    }
    if (content->block == 0 || content->block > FBY_MAX_BLOCK) {
        return fby_because(
            why, FBY_CONFIG, "block is not within 1 to %d", FBY_MAX_BLOCK);
    }
    if (content->lanes == 0 || content->lanes > FBY_MAX_LANES) {
        return fby_because(
            why, FBY_CONFIG, "lanes is not within 1 to %d", FBY_MAX_LANES);
    }
    if (content->slices == 0 || content->global_batch % content->slices != 0) {
        return fby_because(why, FBY_CONFIG,
            "slices (%u) does not divide global_batch (%u)", content->slices,
            content->global_batch);
    }
    return FBY_OK;
}

/* ---- the source ---- */

bool fby_tokens_type_ok(const struct fby_tokens *tokens)
{
    return !fby_is_real(tokens->type) &&
           (tokens->type != 0 || tokens->format != FBY_TOKENS_FLAT);
}

static fby_err check_packing(
    const struct fby_tokens *tokens, struct fby_why *why)
{
    bool     ends  = tokens->packed && tokens->format == FBY_TOKENS_FLAT;
    uint32_t bytes = fby_type_bytes(tokens->type);
    uint32_t most  = bytes == 1 || bytes == 2 ? (1U << 8 * bytes) - 1
                                              : (uint32_t)FBY_MAX_TOKEN;
    if (tokens->end > most || tokens->pad > FBY_MAX_TOKEN) {
        return fby_because(why, FBY_CONFIG,
            "tokens: end (%u) is a token of the files, 0 to %u; pad (%u) is "
            "one, "
            "0 to %d",
            tokens->end, most, tokens->pad, FBY_MAX_TOKEN);
    }
    return (tokens->packed || tokens->pad == 0) && (ends || tokens->end == 0)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "tokens: pad belongs to packed documents, end to those of "
                     "flat files");
}

static fby_err check_tokens(
    const struct fby_tokens *tokens, struct fby_why *why)
{
    bool mds = tokens->format == FBY_TOKENS_MDS;
    if (!fby_tokens_type_ok(tokens)) {
        return fby_because(why, FBY_CONFIG,
            "tokens: the type is u8, u16, u32, i32 or i64, and of flat files "
            "it is said");
    }
    if (tokens->length == 0 || tokens->length > FBY_MAX_TOKENS) {
        return fby_because(why, FBY_CONFIG,
            "tokens: length is not within 1 to %d", FBY_MAX_TOKENS);
    }
    return mds == (tokens->column[0] != '\0')
               ? check_packing(tokens, why)
               : fby_because(why, FBY_CONFIG,
                     "tokens: the column belongs to format: mds, which has "
                     "one");
}

/* A name once, in one spelling, and in one order. */
static bool files_are_right(const struct fby_content *content)
{
    for (size_t i = 0; i < content->n_files; i++) {
        const char *name = content->files[i];
        if (!fby_text_is_extension(name) || strchr(name, '.') != NULL ||
            (i > 0 && strcmp(content->files[i - 1], name) >= 0)) {
            return false;
        }
    }
    return content->n_files == 0 || content->source == FBY_SOURCE_LIST;
}

static fby_err check_source(
    const struct fby_content *content, struct fby_why *why)
{
    switch (content->source) {
    case FBY_SOURCE_FOLDER:
    case FBY_SOURCE_SHARDS:
    case FBY_SOURCE_COLUMNS:
    case FBY_SOURCE_LIST:
    case FBY_SOURCE_PARALLEL:
        return files_are_right(content)
                   ? FBY_OK
                   : fby_because(why, FBY_CONFIG,
                         "files are columns of a list, each once, in byte "
                         "order: lower-case letters, digits, _ and -");
    case FBY_SOURCE_TOKENS:
        return check_tokens(&content->tokens, why);
    }
    return fby_because(why, FBY_CONFIG, "the source is of no known kind");
}

static fby_err check_order(
    const struct fby_content *content, struct fby_why *why)
{
    if (content->global_batch == 0 || content->global_batch > FBY_MAX_BATCH) {
        return fby_because(why, FBY_CONFIG,
            "global_batch is not within 1 to %d", FBY_MAX_BATCH);
    }
    fby_err err = check_source(content, why);
    return err == FBY_OK ? check_blocks(content, why) : err;
}

/* ---- ops ---- */

static bool within(
    const struct fby_param *param, const struct fby_value *value, size_t k)
{
    double number = param->real ? value->r[k] : (double)value->i[k];
    return number >= param->min && number <= param->max;
}

static bool param_fits(
    const struct fby_param *param, const struct fby_value *value)
{
    if (value->n == 0) {
        return param->min_n == 0;
    }
    uint32_t at_least = param->spread ? param->max_n : param->min_n;
    bool     fits     = value->n >= at_least && value->n <= param->max_n &&
                value->real == param->real;
    for (size_t k = 0; fits && k < value->n; k++) {
        fits = within(param, value, k);
    }
    return fits;
}

static fby_err check_op(const struct fby_op_use *use, struct fby_why *why)
{
    for (size_t i = 0; i < use->op->n_params; i++) {
        if (!param_fits(&use->op->params[i], &use->params[i])) {
            return fby_because(why, FBY_CONFIG, "%s: %s is not %s",
                use->op->name, use->op->params[i].name,
                use->op->params[i].expects);
        }
    }
    return fby_op_check(use, why);
}

/* Normalize's are the field's, see check_normalize. */
static fby_err check_device(
    const struct fby_field_content *field, struct fby_why *why)
{
    fby_err  err        = FBY_OK;
    uint32_t normalizes = 0;
    for (size_t i = 0; i < field->n_device && err == FBY_OK; i++) {
        const struct fby_op_use *use = &field->device[i];
        if (use->op->id == FBY_OP_DEVICE_NORMALIZE) {
            normalizes++;
        } else {
            err = check_op(use, why);
        }
    }
    if (err == FBY_OK && field->n_device > 0 &&
        ((normalizes > 0) != field->normalize ||
            field->n_device == normalizes)) {
        err = fby_because(why, FBY_CONFIG,
            "the list under device is not that of a normalised picture");
    }
    return err;
}

static fby_err check_ops(
    const struct fby_field_content *field, struct fby_why *why)
{
    for (size_t i = 0; i < field->n_ops; i++) {
        fby_err err = check_op(&field->ops[i], why);
        if (err != FBY_OK) {
            return err;
        }
    }
    return check_device(field, why);
}

/* ---- one field, by what it decodes ---- */

static bool stands_before(const struct fby_field_content *field, size_t i)
{
    size_t k = 0;
    while (k < i && strcmp(field->from[i], field->from[k]) != 0) {
        k++;
    }
    return k < i;
}

static bool can_be_from(const struct fby_field_content *field,
    enum fby_source_kind source, size_t i)
{
    const char *from    = field->from[i];
    bool        folder  = strcmp(from, "folder") == 0;
    bool        picture = field->decode == FBY_DECODE_RGB8;
    bool        mask =
        field->decode == FBY_DECODE_MASK8 || field->decode == FBY_DECODE_MAPS;
    bool array  = field->decode == FBY_DECODE_ARRAY;
    bool sparse = field->decode == FBY_DECODE_SPARSE;
    bool column = source == FBY_SOURCE_COLUMNS;
    return fby_text_is_extension(from) && !stands_before(field, i) &&
           (!folder || field->n_from == 1) &&
           (!picture || fby_undecoded_picture(from) == NULL) &&
           (!mask || strcmp(fby_extension_kind(from), "png") == 0) &&
           (!sparse || column ||
               strcmp(fby_extension_kind(from), "npz") == 0) &&
           (!array || column || strcmp(fby_extension_kind(from), "npy") == 0);
}

static fby_err check_from(const struct fby_field_content *field,
    enum fby_source_kind source, struct fby_why *why)
{
    for (size_t i = 0; i < field->n_from; i++) {
        if (!can_be_from(field, source, i)) {
            return fby_because(why, FBY_CONFIG,
                "from: '%s' is no extension to look for here",
                fby_text_show(field->from[i]).text);
        }
    }
    uint32_t most =
        field->decode == FBY_DECODE_MAPS ? FBY_MAX_MAPS : FBY_MAX_FROM;
    return field->n_from > 0 && field->n_from <= most
               ? FBY_OK
               : fby_because(why, FBY_CONFIG, "from is not 1 to %u extensions",
                     (unsigned)most);
}

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

uint64_t fby_array_bytes(const struct fby_shape *shape, enum fby_type type)
{
    uint64_t bytes = fby_type_bytes(type);
    for (uint32_t i = 0; i < shape->n_dims && bytes <= FBY_MAX_LENGTH; i++) {
        bytes *= shape->dims[i];
    }
    return bytes <= FBY_MAX_LENGTH ? bytes : 0;
}

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

static bool has_array(const struct fby_field_content *field)
{
    static const struct fby_shape none;
    return memcmp(&field->array, &none, sizeof(none)) != 0;
}

uint64_t fby_varying_bytes(const struct fby_field_content *field)
{
    uint64_t bytes = fby_array_bytes(&field->array, field->wire_type);
    if (field->decode == FBY_DECODE_SPARSE) {
        bytes =
            fby_type_bytes(field->wire_type) + fby_index_bytes(&field->array);
    }
    bytes *= field->max_length; /* below 2^30 x 2^25 */
    return bytes <= FBY_MAX_VARYING ? bytes : 0;
}

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

static fby_err check_varying(
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

/* Keys of other decoders are left at what stands for "none", so that they
 * cannot make two digests of one meaning. */
static bool strangers_are_none(const struct fby_field_content *f)
{
    bool image = f->decode == FBY_DECODE_RGB8;
    bool label = f->decode == FBY_DECODE_LABEL;
    bool json =
        f->decode == FBY_DECODE_NUMBER || f->decode == FBY_DECODE_TEXT || label;
    bool array  = f->decode == FBY_DECODE_ARRAY;
    bool shaped = array || f->decode == FBY_DECODE_SPARSE;
    bool maps   = f->decode == FBY_DECODE_MAPS;
    bool mask   = f->decode == FBY_DECODE_MASK8 || maps;
    bool plain =
        f->n_ops == 0 && f->n_device == 0 && strcmp(f->group, f->name) == 0;
    return (image || mask || plain) &&
           (image || (!f->normalize && f->dct_scale == 0 && !f->yuv420)) &&
           (label || (f->classes == 0 && !f->one_hot)) &&
           (f->one_hot || f->smoothing == 0) &&
           (json || f->json_key[0] == '\0') &&
           (f->json_key[0] != '\0' || f->pick == FBY_PICK_NONE) &&
           (f->decode == FBY_DECODE_BYTES || f->decode == FBY_DECODE_TOKENS ||
               f->length == 0) &&
           (shaped || !has_array(f)) && (array || maps || f->maps == 0);
}

static fby_err check_decoded(const struct fby_field_content *field,
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

static bool shape_is_right(const struct fby_field_content *field)
{
    struct fby_shape right = fby_field_shape(field);
    return memcmp(&right, &field->shape, sizeof(right)) == 0;
}

/* What a row of a column can be. */
static bool fits_source(
    const struct fby_field_content *field, enum fby_source_kind source)
{
    bool right = field->decode == FBY_DECODE_ARRAY ||
                 field->decode == FBY_DECODE_LABEL ||
                 field->decode == FBY_DECODE_NUMBER ||
                 field->decode == FBY_DECODE_SPARSE;
    bool length = field->max_length == 0 || field->decode == FBY_DECODE_ARRAY ||
                  field->decode == FBY_DECODE_SPARSE;
    return source != FBY_SOURCE_COLUMNS ||
           (right && length && field->json_key[0] == '\0');
}

static fby_err check_field(const struct fby_field_content *field,
    enum fby_source_kind source, struct fby_why *why)
{
    if (!fby_text_is_name(field->name) || !fby_text_is_name(field->group) ||
        strcmp(field->name, "valid") == 0) {
        return fby_because(why, FBY_CONFIG, "is no name for a field or group");
    }
    if (!strangers_are_none(field)) {
        return fby_because(
            why, FBY_CONFIG, "holds a value that its decoder does not use");
    }
    if (!fits_source(field, source)) {
        return fby_because(why, FBY_CONFIG,
            "comes from a column: an array, a label, a number or a sparse row");
    }
    fby_err err = check_from(field, source, why);
    if (err == FBY_OK) {
        err = check_ops(field, why);
    }
    if (err == FBY_OK && !shape_is_right(field)) {
        err =
            fby_because(why, FBY_CONFIG, "its shape is not what its ops make");
    }
    if (err == FBY_OK) {
        err = check_varying(field, why);
    }
    return err == FBY_OK ? check_decoded(field, source, why) : err;
}

/* What a field of sequences asks of them. */
static fby_err check_cut(const struct fby_tokens *tokens,
    const struct fby_field_content *field, struct fby_why *why)
{
    struct fby_field_content right  = *field;
    bool                     whole  = field->decode == FBY_DECODE_TOKENS;
    uint32_t                 length = whole ? field->length : field->max_length;
    uint32_t                 wanted = fby_sequence_length(field, tokens);
    fby_field_pack(&right, tokens);
    if (length != wanted) {
        return fby_because(why, FBY_CONFIG,
            "field '%s': %u tokens, but a sequence of the source has %u",
            field->name, length, wanted);
    }
    if (tokens->shift == 0 && fby_wants_targets(field->from[0])) {
        return fby_because(why, FBY_CONFIG,
            "field '%s': from: %s needs shift: 1 of the source", field->name,
            field->from[0]);
    }
    if (tokens->packed && strcmp(field->from[0], "sequence") == 0) {
        return fby_because(why, FBY_CONFIG,
            "field '%s': targets of packed documents are not the sequence one "
            "token on; use from: input and from: target",
            field->name);
    }
    if ((!whole && !tokens->packed) || field->packed != right.packed ||
        field->pad != right.pad || field->shift != right.shift) {
        return fby_because(why, FBY_CONFIG,
            "field '%s': from: documents needs pack: documents of the source",
            field->name);
    }
    return !whole || field->wire_type != FBY_U16 || field->pad <= UINT16_MAX
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "field '%s': its wire type u16 does not hold pad: %u",
                     field->name, field->pad);
}

/* What a field asks of the source. */
static fby_err check_origin(const struct fby_content *content,
    const struct fby_field_content *field, struct fby_why *why)
{
    bool sequences = content->source == FBY_SOURCE_TOKENS;
    if (content->source != FBY_SOURCE_FOLDER && fby_field_is_of_folder(field)) {
        return fby_because(why, FBY_CONFIG,
            "field '%s': only a folder source has class folders; use from: "
            "cls, or a column",
            field->name);
    }
    if (sequences != fby_decode_is_sequence(field->decode)) {
        return fby_because(why, FBY_CONFIG,
            "field '%s': decode: tokens and a source of tokens belong "
            "together",
            field->name);
    }
    return sequences ? check_cut(&content->tokens, field, why) : FBY_OK;
}

static const struct fby_field_content *field_named(
    const struct fby_content *content, const char *name)
{
    for (size_t i = 0; i < content->n_fields; i++) {
        if (strcmp(content->fields[i].name, name) == 0) {
            return &content->fields[i];
        }
    }
    return NULL;
}

static fby_err check_bounds(const struct fby_bucket_by *by, struct fby_why *why)
{
    int64_t before = 0;
    for (uint32_t i = 0; i < by->n_bounds; i++) {
        if (by->bounds[i] <= before || by->bounds[i] > FBY_MAX_BOUND) {
            return fby_because(why, FBY_CONFIG,
                "bucket_by: bounds are within 1 to 2^40, and ascend");
        }
        before = by->bounds[i];
    }
    return FBY_OK;
}

static fby_err check_buckets(
    const struct fby_content *content, struct fby_why *why)
{
    const struct fby_bucket_by *by = &content->bucket_by;
    if (by->n_bounds == 0) {
        return FBY_OK;
    }
    const struct fby_field_content *field = field_named(content, by->field);
    if (field == NULL) {
        return fby_because(why, FBY_CONFIG, "bucket_by: there is no field '%s'",
            fby_text_show(by->field).text);
    }
    bool alike =
        content->source == FBY_SOURCE_COLUMNS && field->max_length == 0;
    if (alike || content->source == FBY_SOURCE_TOKENS) {
        return fby_because(why, FBY_CONFIG,
            "bucket_by: the rows of field '%s' are all of one length",
            field->name);
    }
    if (fby_field_is_of_folder(field)) {
        return fby_because(why, FBY_CONFIG,
            "bucket_by: field '%s' has no members of different lengths",
            field->name);
    }
    if (content->shuffle == FBY_SHUFFLE_BLOCK) {
        return fby_because(why, FBY_CONFIG,
            "bucket_by goes with shuffle: full or none; buckets are not cut "
            "into blocks");
    }
    return check_bounds(by, why);
}

fby_err fby_content_check(
    const struct fby_content *content, struct fby_why *why)
{
    fby_err err = check_source(content, why);
    if (err == FBY_OK) {
        err = check_order(content, why);
    }
    if (err == FBY_OK && content->n_fields == 0) {
        err = fby_because(why, FBY_CONFIG, "there is no field");
    }
    for (size_t i = 0; err == FBY_OK && i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        if (i > 0 && strcmp(content->fields[i - 1].name, field->name) >= 0) {
            return fby_because(
                why, FBY_CONFIG, "fields are not in byte order of their names");
        }
        uint32_t at = 0;
        if (check_field(field, content->source, why) != FBY_OK ||
            fby_device_ops_check(content, (uint32_t)i, &at, why) != FBY_OK) {
            err = fby_because_in(
                why, FBY_CONFIG, "field '%s'", fby_text_show(field->name).text);
        }
        if (err == FBY_OK) {
            err = check_origin(content, field, why);
        }
    }
    return err == FBY_OK ? check_buckets(content, why) : err;
}
