#include "pipeline/canon.h"
#include "pipeline/check.h"
#include "pipeline/derived.h"

#include "pipeline/device_ops.h"
#include "pipeline/fields/kind.h"
#include "pipeline/record.h"
#include "pipeline/sources/traits.h"

/* Keys of the content record. In every record a key once given keeps its
 * meaning; a key added later is left out when its value means what happened
 * before there was a choice. */
enum {
    FORMAT        = 1,
    ORDER         = 2,
    SOURCE        = 3,
    SHUFFLE       = 4,
    BLOCK         = 5,
    LANES         = 6,
    SLICES        = 7,
    LAST          = 8,
    GLOBAL_BATCH  = 9,
    ON_BAD_SAMPLE = 10,
    FIELDS        = 11,
    BUCKET_BY     = 12 /* where there are buckets */
};

enum { /* of the record of buckets */
    BUCKET_FIELD  = 1,
    BUCKET_BOUNDS = 2
};

enum { /* of a field's record */
    NAME      = 1,
    GROUP     = 2,
    FROM      = 3,
    DECODE    = 4,
    DCT_SCALE = 5,
    JSON_KEY  = 6,
    WIRE_TYPE = 7,
    LENGTH    = 8,
    CLASSES   = 9,
    ONE_HOT   = 10,
    SMOOTHING = 11,
    OPS       = 12,
    NORMALIZE = 13,
    MEAN      = 14,
    STD       = 15,
    SHAPE     = 16, /* of arrays and sparse rows only */
    /* Of what varies in length only; too_long unless rows are refused. */
    MAX_LENGTH = 17,
    TOO_LONG   = 18,
    PICK       = 19, /* when something is picked */
    MAPS       = 22, /* of bits only */
    DEVICE     = 24, /* only where more than normalize is done there */
    YUV420     = 25  /* only where it is so */
};

enum { /* of an op's record */
    OP_ID      = 1,
    OP_VERSION = 2,
    OP_PARAMS  = 3
};

/* Elements of lists are numbered from 1. */
static uint16_t nth(size_t i)
{
    return (uint16_t)(i + 1);
}

/* ---- encoding ---- */

static void encode_param(
    struct fby_buffer *out, uint16_t key, const struct fby_value *value)
{
    if (value->n == 0) {
        return; /* not given, and nothing stands for it */
    }
    if (value->real) {
        fby_record_put_reals(out, key, value->r, value->n);
    } else {
        fby_record_put_i64s(out, key, value->i, value->n);
    }
}

/* Those of normalize are the field's own keys, older than this list. */
static size_t params_inside(const struct fby_op *op)
{
    return op->id == FBY_OP_DEVICE_NORMALIZE ? 0 : op->n_params;
}

static void encode_op(
    struct fby_buffer *out, uint16_t key, const struct fby_op_use *use)
{
    size_t mark = fby_record_open(out, key);
    fby_record_put_i64(out, OP_ID, use->op->id);
    fby_record_put_i64(out, OP_VERSION, use->op->version);
    size_t params = fby_record_open(out, OP_PARAMS);
    for (size_t i = 0; i < params_inside(use->op); i++) {
        encode_param(out, nth(i), &use->params[i]);
    }
    fby_record_close(out, params);
    fby_record_close(out, mark);
}

static void encode_from(
    struct fby_buffer *out, const struct fby_field_content *field)
{
    size_t mark = fby_record_open(out, FROM);
    for (size_t i = 0; i < field->n_from; i++) {
        fby_record_put_text(out, nth(i), field->from[i]);
    }
    fby_record_close(out, mark);
}

static void encode_ops(
    struct fby_buffer *out, const struct fby_field_content *field)
{
    size_t mark = fby_record_open(out, OPS);
    for (size_t i = 0; i < field->n_ops; i++) {
        encode_op(out, nth(i), &field->ops[i]);
    }
    fby_record_close(out, mark);
}

void fby_device_list_encode(
    const struct fby_field_content *field, struct fby_buffer *out)
{
    for (size_t i = 0; i < field->n_device; i++) {
        encode_op(out, nth(i), &field->device[i]);
    }
}

static void encode_device(
    struct fby_buffer *out, const struct fby_field_content *field)
{
    size_t mark = fby_record_open(out, DEVICE);
    fby_device_list_encode(field, out);
    fby_record_close(out, mark);
}

static void encode_shape(struct fby_buffer *out, const struct fby_shape *shape)
{
    int64_t dims[FBY_MAX_DIMS];
    for (size_t i = 0; i < shape->n_dims; i++) {
        dims[i] = shape->dims[i];
    }
    fby_record_put_i64s(out, SHAPE, dims, shape->n_dims);
}

/* The decode of a record that is being read may be none. */
static bool has_shape(const struct fby_field_content *field)
{
    const struct fby_field_kind *kind = fby_field_kind_by_id(field->decode);
    return kind != NULL && (kind->keys & FBY_FIELD_BIT(FBY_FIELD_SHAPE)) != 0;
}

static void encode_field(
    struct fby_buffer *out, uint16_t key, const struct fby_field_content *field)
{
    size_t channels = field->normalize ? 3 : 0;
    size_t mark     = fby_record_open(out, key);
    fby_record_put_text(out, NAME, field->name);
    fby_record_put_text(out, GROUP, field->group);
    encode_from(out, field);
    fby_record_put_i64(out, DECODE, field->decode);
    fby_record_put_i64(out, DCT_SCALE, field->dct_scale);
    fby_record_put_text(out, JSON_KEY, field->json_key);
    fby_record_put_i64(out, WIRE_TYPE, field->wire_type);
    fby_record_put_i64(out, LENGTH, field->length);
    fby_record_put_i64(out, CLASSES, field->classes);
    fby_record_put_i64(out, ONE_HOT, field->one_hot);
    fby_record_put_real(out, SMOOTHING, field->smoothing);
    encode_ops(out, field);
    fby_record_put_i64(out, NORMALIZE, field->normalize);
    fby_record_put_reals(out, MEAN, field->mean, channels);
    fby_record_put_reals(out, STD, field->std, channels);
    if (has_shape(field)) {
        encode_shape(out, &field->array);
    }
    if (field->max_length > 0) {
        fby_record_put_i64(out, MAX_LENGTH, field->max_length);
    }
    if (field->too_long == FBY_TOO_LONG_TRUNCATE) {
        fby_record_put_i64(out, TOO_LONG, field->too_long);
    }
    if (field->pick != FBY_PICK_NONE) {
        fby_record_put_i64(out, PICK, field->pick);
    }
    if (field->maps != 0) {
        fby_record_put_i64(out, MAPS, field->maps);
    }
    if (field->n_device > 0) {
        encode_device(out, field);
    }
    if (field->yuv420) {
        fby_record_put_i64(out, YUV420, 1);
    }
    fby_record_close(out, mark);
}

static void encode_bucket_by(
    struct fby_buffer *out, const struct fby_bucket_by *by)
{
    size_t mark = fby_record_open(out, BUCKET_BY);
    fby_record_put_text(out, BUCKET_FIELD, by->field);
    fby_record_put_i64s(out, BUCKET_BOUNDS, by->bounds, by->n_bounds);
    fby_record_close(out, mark);
}

void fby_content_encode(
    const struct fby_content *content, struct fby_buffer *out)
{
    fby_record_put_i64(out, FORMAT, FBY_CONTENT_FORMAT);
    fby_record_put_i64(out, ORDER, FBY_ORDER_VERSION);
    fby_record_put_i64(out, SOURCE, content->source);
    fby_record_put_i64(out, SHUFFLE, content->shuffle);
    fby_record_put_i64(out, BLOCK, content->block);
    fby_record_put_i64(out, LANES, content->lanes);
    fby_record_put_i64(out, SLICES, content->slices);
    fby_record_put_i64(out, LAST, content->last);
    fby_record_put_i64(out, GLOBAL_BATCH, content->global_batch);
    fby_record_put_i64(out, ON_BAD_SAMPLE, content->on_bad_sample);
    size_t mark = fby_record_open(out, FIELDS);
    for (size_t i = 0; i < content->n_fields; i++) {
        encode_field(out, nth(i), &content->fields[i]);
    }
    fby_record_close(out, mark);
    if (content->bucket_by.n_bounds > 0) {
        encode_bucket_by(out, &content->bucket_by);
    }
    const struct fby_source_traits *source = fby_source_traits(content->source);
    if (source->encode != NULL) {
        source->encode(content, out);
    }
}

struct fby_digest fby_content_digest(const struct fby_content *content)
{
    struct fby_buffer bytes = {0};
    fby_content_encode(content, &bytes);
    struct fby_digest digest = fby_digest_of(bytes.data, bytes.size);
    fby_buffer_fini(&bytes);
    return digest;
}

/* ---- decoding ---- */

static void decode_param(struct fby_record *r, uint16_t key,
    const struct fby_param *param, struct fby_value *out)
{
    out->real = param->real;
    if (fby_record_has(r, key)) {
        out->n =
            (uint32_t)(param->real
                           ? fby_record_reals(r, key, out->r, param->max_n)
                           : fby_record_i64s(r, key, out->i, param->max_n));
    }
}

typedef const struct fby_op *by_id_fn(uint32_t id);

static void decode_op(struct fby_record *list, uint16_t key, by_id_fn *by_id,
    struct fby_op_use *out)
{
    struct fby_record r  = fby_record_nested(list, key);
    int64_t           id = fby_record_between(&r, OP_ID, 1, UINT32_MAX);
    out->op              = by_id((uint32_t)id);
    if (out->op == NULL) {
        fby_record_refuse(&r, OP_ID, "names an op that is not known here");
        fby_record_leave(list, &r);
        return;
    }
    uint32_t version = out->op->version;
    if (fby_record_i64(&r, OP_VERSION) != version) {
        fby_record_refuse(&r, OP_VERSION, "is another version of the op");
    }
    struct fby_record params = fby_record_nested(&r, OP_PARAMS);
    for (size_t i = 0; i < params_inside(out->op); i++) {
        decode_param(&params, nth(i), &out->op->params[i], &out->params[i]);
    }
    fby_record_leave(&r, &params);
    fby_record_leave(list, &r);
}

static void decode_ops(struct fby_record *r, struct fby_field_content *out)
{
    struct fby_record list = fby_record_nested(r, OPS);
    while (fby_record_more(&list) && out->n_ops < FBY_MAX_OPS) {
        size_t i = out->n_ops;
        decode_op(&list, nth(i), fby_op_by_id, &out->ops[i]);
        if (list.fault == NULL) {
            out->ops[i].occurrence =
                fby_op_count(out->ops, (uint32_t)i, out->ops[i].op->name);
        }
        out->n_ops++;
    }
    fby_record_leave(r, &list);
}

/* Those of its name on the worker count, too: the draws are others. */
static uint32_t device_occurrence(
    const struct fby_field_content *field, size_t i)
{
    return fby_op_count(field->ops, field->n_ops, field->device[i].op->name) +
           fby_op_count(field->device, (uint32_t)i, field->device[i].op->name);
}

static void decode_device(struct fby_record *r, struct fby_field_content *out)
{
    struct fby_record list = fby_record_nested(r, DEVICE);
    while (fby_record_more(&list) && out->n_device < FBY_MAX_DEVICE) {
        size_t i = out->n_device;
        decode_op(&list, nth(i), fby_device_op_by_id, &out->device[i]);
        if (list.fault == NULL) {
            out->device[i].occurrence = device_occurrence(out, i);
        }
        out->n_device++;
    }
    fby_record_leave(r, &list);
    if (r->fault == NULL && out->n_device == 0) {
        fby_record_refuse(r, DEVICE, "is an empty list");
    }
}

static void decode_from(struct fby_record *r, struct fby_field_content *out)
{
    struct fby_record list = fby_record_nested(r, FROM);
    while (fby_record_more(&list) && out->n_from < FBY_MAX_MAPS) {
        fby_record_text(
            &list, nth(out->n_from), out->from[out->n_from], FBY_NAME_SIZE);
        out->n_from++;
    }
    fby_record_leave(r, &list);
}

static void decode_normalize(
    struct fby_record *r, struct fby_field_content *out)
{
    out->normalize  = fby_record_between(r, NORMALIZE, 0, 1) == 1;
    size_t channels = out->normalize ? 3 : 0;
    if (fby_record_reals(r, MEAN, out->mean, FBY_MAX_CHANNELS) != channels) {
        fby_record_refuse(r, MEAN, "is not one number for each channel");
    }
    if (fby_record_reals(r, STD, out->std, FBY_MAX_CHANNELS) != channels) {
        fby_record_refuse(r, STD, "is not one number for each channel");
    }
}

static void decode_shape(struct fby_record *r, struct fby_shape *out)
{
    int64_t dims[FBY_MAX_DIMS];
    out->n_dims = (uint32_t)fby_record_i64s(r, SHAPE, dims, FBY_MAX_DIMS);
    for (size_t i = 0; i < out->n_dims; i++) {
        if (dims[i] < 1 || dims[i] > FBY_MAX_LENGTH) {
            fby_record_refuse(r, SHAPE, "has a dimension out of range");
            return;
        }
        out->dims[i] = (uint32_t)dims[i];
    }
}

static void decode_length(struct fby_record *r, struct fby_field_content *out)
{
    if (fby_record_has(r, MAX_LENGTH)) {
        out->max_length =
            (uint32_t)fby_record_between(r, MAX_LENGTH, 1, FBY_MAX_VARYING);
        out->too_long = FBY_TOO_LONG_REFUSE;
    }
    if (fby_record_has(r, TOO_LONG)) {
        out->too_long = (enum fby_too_long)fby_record_between(
            r, TOO_LONG, FBY_TOO_LONG_REFUSE, FBY_TOO_LONG_TRUNCATE);
    }
}

static void decode_field(
    struct fby_record *list, uint16_t key, struct fby_field_content *out)
{
    struct fby_record r = fby_record_nested(list, key);
    fby_record_text(&r, NAME, out->name, FBY_NAME_SIZE);
    fby_record_text(&r, GROUP, out->group, FBY_NAME_SIZE);
    decode_from(&r, out);
    out->decode = (enum fby_decode)fby_record_between(
        &r, DECODE, 1, (int64_t)fby_n_field_kinds - 1);
    out->dct_scale =
        (enum fby_dct_scale)fby_record_between(&r, DCT_SCALE, 0, FBY_DCT_FAST);
    fby_record_text(&r, JSON_KEY, out->json_key, FBY_NAME_SIZE);
    out->wire_type =
        (enum fby_type)fby_record_between(&r, WIRE_TYPE, FBY_U8, FBY_U32);
    out->length    = fby_record_u32(&r, LENGTH);
    out->classes   = fby_record_u32(&r, CLASSES);
    out->one_hot   = fby_record_between(&r, ONE_HOT, 0, 1) == 1;
    out->smoothing = fby_record_real(&r, SMOOTHING);
    decode_ops(&r, out);
    decode_normalize(&r, out);
    if (has_shape(out)) {
        decode_shape(&r, &out->array);
    }
    decode_length(&r, out);
    if (fby_record_has(&r, PICK)) {
        out->pick = (enum fby_pick)fby_record_between(
            &r, PICK, FBY_PICK_RANDOM, FBY_PICK_RANDOM);
    }
    if (fby_record_has(&r, MAPS)) {
        out->maps = (uint32_t)fby_record_between(&r, MAPS, 1, FBY_MAX_LENGTH);
    }
    if (fby_record_has(&r, DEVICE)) {
        decode_device(&r, out);
    }
    out->yuv420 =
        fby_record_has(&r, YUV420) && fby_record_between(&r, YUV420, 1, 1) == 1;
    fby_record_leave(list, &r);
}

static void decode_fields(struct fby_record *r, struct fby_content *out)
{
    struct fby_record list = fby_record_nested(r, FIELDS);
    while (fby_record_more(&list) && out->n_fields < FBY_MAX_FIELDS) {
        decode_field(&list, nth(out->n_fields), &out->fields[out->n_fields]);
        out->n_fields++;
    }
    fby_record_leave(r, &list);
}

static void decode_bucket_by(
    struct fby_record *outer, struct fby_bucket_by *out)
{
    struct fby_record r = fby_record_nested(outer, BUCKET_BY);
    fby_record_text(&r, BUCKET_FIELD, out->field, FBY_NAME_SIZE);
    out->n_bounds = (uint32_t)fby_record_i64s(
        &r, BUCKET_BOUNDS, out->bounds, FBY_MAX_BOUNDS);
    fby_record_leave(outer, &r);
}

static void decode_order(struct fby_record *r, struct fby_content *out)
{
    out->source = (enum fby_source_kind)fby_record_between(
        r, SOURCE, 1, FBY_N_SOURCES - 1);
    out->shuffle = (enum fby_shuffle)fby_record_between(
        r, SHUFFLE, FBY_SHUFFLE_NONE, FBY_SHUFFLE_BLOCK);
    out->block  = fby_record_u32(r, BLOCK);
    out->lanes  = fby_record_u32(r, LANES);
    out->slices = fby_record_u32(r, SLICES);
    out->last   = (enum fby_last)fby_record_between(
          r, LAST, FBY_LAST_DROP, FBY_LAST_SHORT);
    out->global_batch  = fby_record_u32(r, GLOBAL_BATCH);
    out->on_bad_sample = (enum fby_bad_sample)fby_record_between(
        r, ON_BAD_SAMPLE, FBY_BAD_FAIL, FBY_BAD_SUBSTITUTE);
}

static void decode_versions(struct fby_record *r)
{
    if (fby_record_i64(r, FORMAT) != FBY_CONTENT_FORMAT) {
        fby_record_refuse(r, FORMAT, "is another format than 1");
    }
    if (fby_record_i64(r, ORDER) != FBY_ORDER_VERSION) {
        fby_record_refuse(r, ORDER, "is another version of the order than 1");
    }
}

/* Once every op is known to be one of ours. */
static void derive(struct fby_content *content)
{
    for (size_t i = 0; i < content->n_fields; i++) {
        fby_field_pack(&content->fields[i], &content->tokens);
        content->fields[i].shape = fby_field_shape(&content->fields[i]);
    }
}

/* Whatever the checks above let through: one content, one spelling. */
static fby_err compare(const struct fby_content *content,
    const struct fby_span *bytes, struct fby_why *why)
{
    struct fby_buffer again = {0};
    fby_content_encode(content, &again);
    bool equal = again.size == bytes->size &&
                 memcmp(again.data, bytes->data, bytes->size) == 0;
    fby_buffer_fini(&again);
    return equal ? FBY_OK
                 : fby_because(why, FBY_PROTO,
                       "content: the bytes are not in canonical form");
}

fby_err fby_content_decode(const void *bytes, size_t size,
    struct fby_content *out, struct fby_why *why)
{
    if (size > FBY_MAX_CONTENT) {
        return fby_because(why, FBY_PROTO,
            "content: %zu bytes, more than the limit of %d", size,
            FBY_MAX_CONTENT);
    }
    struct fby_record r = fby_record_begin(bytes, size);
    memset(out, 0, sizeof(*out));
    decode_versions(&r);
    decode_order(&r, out);
    decode_fields(&r, out);
    if (fby_record_has(&r, BUCKET_BY)) {
        decode_bucket_by(&r, &out->bucket_by);
    }
    const struct fby_source_traits *source =
        fby_source_traits_by_id(out->source);
    if (source != NULL && source->decode != NULL) {
        source->decode(&r, out);
    }
    fby_err err = fby_record_end(&r, "content", why);
    if (err != FBY_OK) {
        return err;
    }
    derive(out);
    if (fby_content_check(out, why) != FBY_OK) {
        return fby_because_in(why, FBY_PROTO, "content");
    }
    struct fby_span given = {.data = bytes, .size = size};
    return compare(out, &given, why);
}
