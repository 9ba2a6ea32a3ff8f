/* SPDX-License-Identifier: Apache-2.0 */
/* canon.c - encode and decode a field as canonical bytes; see canon.h. */
#include "pipeline/fields/canon.h"

#include <string.h>

#include "pipeline/class_names.h"
#include "pipeline/derived.h"
#include "pipeline/device_ops.h"
#include "pipeline/fields/kind.h"

/* The entry of a setting that the kind does not have: `size` zero bytes. */
#define ABSENT(size)                                  \
    {                                                 \
        .type = FBY_ENTRY_TYPE_ZEROS, .count = (size) \
    }

/* [key]: the entry for kinds whose `entries` do not have the key. */
static const struct fby_canon_entry common_entries[FBY_ENTRY_KEYS] = {
    [FBY_ENTRY_NAME]       = {FBY_ENTRY(NAME, TEXT, name)},
    [FBY_ENTRY_GROUP]      = {FBY_ENTRY(GROUP, TEXT, group)},
    [FBY_ENTRY_FROM]       = {FBY_ENTRY(FROM, LIST, n_from), .min = 1},
    [FBY_ENTRY_DECODE]     = {FBY_ENTRY(DECODE, U32, decode), .min = 1,
            .max = FBY_N_FIELD_KINDS - 1},
    [FBY_ENTRY_DCT_SCALE]  = ABSENT(8),
    [FBY_ENTRY_JSON_KEY]   = ABSENT(0),
    [FBY_ENTRY_WIRE_TYPE]  = {FBY_ENTRY(WIRE_TYPE, U32, wire_type),
         .min = FBY_U8, .max = FBY_U32},
    [FBY_ENTRY_LENGTH]     = ABSENT(8),
    [FBY_ENTRY_CLASSES]    = ABSENT(8),
    [FBY_ENTRY_ONE_HOT]    = ABSENT(8),
    [FBY_ENTRY_SMOOTHING]  = ABSENT(8),
    [FBY_ENTRY_OPS]        = {FBY_ENTRY(OPS, LIST, n_ops), .min = 1},
    [FBY_ENTRY_NORMALIZE]  = ABSENT(8),
    [FBY_ENTRY_MEAN]       = ABSENT(0),
    [FBY_ENTRY_STD]        = ABSENT(0),
    [FBY_ENTRY_MAX_LENGTH] = {FBY_ENTRY(MAX_LENGTH, U32, max_length), .min = 1,
        .max = FBY_MAX_RAGGED},
    /* Only `truncate` is written; fby_field_decode sets `refuse` otherwise. */
    [FBY_ENTRY_TOO_LONG] = {FBY_ENTRY(TOO_LONG, U32, too_long),
        .min = FBY_TOO_LONG_TRUNCATE, .max = FBY_TOO_LONG_TRUNCATE},
    [FBY_ENTRY_DEVICE]   = {FBY_ENTRY(DEVICE, LIST, n_device), .min = 1},
    /* Only `stretch` is written. */
    [FBY_ENTRY_FIT] = {FBY_ENTRY(FIT, U32, fit), .min = FBY_FIT_STRETCH,
        .max = FBY_FIT_STRETCH},
};

static const struct fby_canon_entry *find_entry(
    const struct fby_field_content *field, uint16_t key)
{
    const struct fby_field_kind  *kind  = fby_field_kind_by_id(field->decode);
    const struct fby_canon_entry *entry = kind != NULL ? kind->entries : NULL;
    for (; entry != NULL && entry->key != 0; entry++) {
        if (entry->key == key) {
            return entry;
        }
    }
    return &common_entries[key];
}

/* ---- ops ---- */

enum { /* keys of the record of an op */
    OP_ID      = 1,
    OP_VERSION = 2,
    OP_PARAMS  = 3
};

/* The number of parameters in the record of an op. The parameters of normalize
 * are in entries of the field instead: NORMALIZE, MEAN and STD. */
static size_t n_params_in_record(const struct fby_op *op)
{
    return op->id == FBY_OP_DEVICE_NORMALIZE ? 0 : op->n_params;
}

/* A parameter without a value is left out. */
static void encode_param(
    struct fby_buffer *out, uint16_t key, const struct fby_value *value)
{
    if (value->n > 0 && value->real) {
        fby_record_put_reals(out, key, value->r, value->n);
    } else if (value->n > 0) {
        fby_record_put_i64s(out, key, value->i, value->n);
    }
}

static void encode_ops(
    struct fby_buffer *out, const struct fby_op_use *uses, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const struct fby_op *op = uses[k].op;
        size_t op_mark          = fby_record_open(out, fby_record_list_key(k));
        fby_record_put_i64(out, OP_ID, op->id);
        fby_record_put_i64(out, OP_VERSION, op->version);
        size_t params_mark = fby_record_open(out, OP_PARAMS);
        for (size_t i = 0; i < n_params_in_record(op); i++) {
            encode_param(out, fby_record_list_key(i), &uses[k].params[i]);
        }
        fby_record_close(out, params_mark);
        fby_record_close(out, op_mark);
    }
}

void fby_device_list_encode(
    const struct fby_field_content *field, struct fby_buffer *out)
{
    encode_ops(out, field->device, field->n_device);
}

static void decode_param(struct fby_record *r, uint16_t key,
    const struct fby_param *param, struct fby_value *out)
{
    out->real = param->real;
    if (!fby_record_next_is(r, key)) {
        return;
    }
    size_t n = param->real ? fby_record_read_reals(r, key, out->r, param->max_n)
                           : fby_record_read_i64s(r, key, out->i, param->max_n);
    out->n   = (uint32_t)n;
}

typedef const struct fby_op *find_op_fn(uint32_t id);

static void decode_op(
    struct fby_record *r, find_op_fn *find_op, struct fby_op_use *out)
{
    int64_t id = fby_record_read_between(r, OP_ID, 1, UINT32_MAX);
    out->op    = find_op((uint32_t)id);
    if (out->op == NULL) {
        fby_record_refuse(r, OP_ID, "names an op that is not known here");
        return;
    }
    if (fby_record_read_i64(r, OP_VERSION) != out->op->version) {
        fby_record_refuse(r, OP_VERSION, "is another version of the op");
    }
    struct fby_record params = fby_record_enter(r, OP_PARAMS);
    for (size_t i = 0; i < n_params_in_record(out->op); i++) {
        decode_param(&params, fby_record_list_key(i), &out->op->params[i],
            &out->params[i]);
    }
    fby_record_leave(r, &params);
}

/* Decode a list of at most `max_ops` ops; return their number. */
static uint32_t decode_ops(struct fby_record *list, find_op_fn *find_op,
    struct fby_op_use *out, uint32_t max_ops)
{
    uint32_t n = 0;
    for (; fby_record_has_more(list) && n < max_ops; n++) {
        struct fby_record r = fby_record_enter(list, fby_record_list_key(n));
        decode_op(&r, find_op, &out[n]);
        fby_record_leave(list, &r);
    }
    return n;
}

/* ---- names of classes ---- */

static void encode_names(struct fby_buffer *out,
    const struct fby_field_content *field, const struct fby_class_names *names)
{
    struct fby_name_range range = field->as.label.names;
    for (uint32_t id = 0; id < range.n; id++) {
        fby_record_put_text(
            out, fby_record_list_key(id), fby_class_name(names, range, id));
    }
}

static void decode_names(struct fby_record *list, struct fby_field_content *out,
    struct fby_class_names *names)
{
    struct fby_name_range range = {.first = names->n};
    while (fby_record_has_more(list)) {
        uint16_t        key  = fby_record_list_key(range.n);
        struct fby_span name = fby_record_read_bytes(list, key);
        if (fby_class_names_add(names, &range, name.data, name.size, NULL) !=
            FBY_OK) {
            fby_record_refuse(list, key, "is no name that a class can have");
        }
    }
    out->as.label.names = range;
}

/* ---- lists ---- */

static void encode_list(struct fby_buffer *out, uint16_t key,
    const struct fby_field_content *field, const struct fby_class_names *names)
{
    if (key == FBY_ENTRY_FROM) {
        fby_record_put_names(out, key, field->from, field->n_from);
        return;
    }
    size_t mark = fby_record_open(out, key);
    if (key == FBY_ENTRY_OPS) {
        encode_ops(out, field->ops, field->n_ops);
    } else if (key == FBY_ENTRY_NAMES) {
        encode_names(out, field, names);
    } else {
        fby_device_list_encode(field, out);
    }
    fby_record_close(out, mark);
}

static void decode_list(struct fby_record *r, uint16_t key,
    struct fby_field_content *out, struct fby_class_names *names)
{
    if (key == FBY_ENTRY_FROM) {
        out->n_from = fby_record_read_names(r, key, out->from, FBY_MAX_MAPS);
        return;
    }
    struct fby_record list = fby_record_enter(r, key);
    if (key == FBY_ENTRY_OPS) {
        out->n_ops = decode_ops(&list, fby_op_by_id, out->ops, FBY_MAX_OPS);
    } else if (key == FBY_ENTRY_NAMES) {
        decode_names(&list, out, names);
    } else {
        out->n_device =
            decode_ops(&list, fby_device_op_by_id, out->device, FBY_MAX_DEVICE);
    }
    fby_record_leave(r, &list);
}

/* ---- entries ---- */

static void encode_dims(
    struct fby_buffer *out, uint16_t key, const struct fby_shape *shape)
{
    int64_t dims[FBY_MAX_DIMS];
    for (size_t i = 0; i < shape->n_dims; i++) {
        dims[i] = shape->dims[i];
    }
    fby_record_put_i64s(out, key, dims, shape->n_dims);
}

static void decode_dims(
    struct fby_record *r, uint16_t key, struct fby_shape *out)
{
    int64_t dims[FBY_MAX_DIMS];
    out->n_dims = (uint32_t)fby_record_read_i64s(r, key, dims, FBY_MAX_DIMS);
    for (size_t i = 0; i < out->n_dims; i++) {
        if (dims[i] < 1 || dims[i] > FBY_MAX_LENGTH) {
            fby_record_refuse(r, key, "has a dimension out of range");
            return;
        }
        out->dims[i] = (uint32_t)dims[i];
    }
}

static const uint8_t zeros[8]; /* no entry of zeros is longer */

/* Read an entry of `size` bytes, which must be zero. */
static void decode_zeros(struct fby_record *r, uint16_t key, size_t size)
{
    struct fby_span span = fby_record_read_bytes(r, key);
    if (span.size != size ||
        (size > 0 && memcmp(span.data, zeros, size) != 0)) {
        fby_record_refuse(
            r, key, "holds a value that its decoder does not use");
    }
}

/* The number of reals in an entry. Only mean and std have more than one; they
 * are empty if the field is not normalised. */
static size_t n_reals(
    const struct fby_canon_entry *entry, const struct fby_field_content *field)
{
    bool is_empty = entry->count > 1 && !fby_field_is_normalized(field);
    return is_empty ? 0 : entry->count;
}

static void decode_reals(
    struct fby_record *r, uint16_t key, double *out, size_t n)
{
    if (fby_record_read_reals(r, key, out, n) != n) {
        fby_record_refuse(r, key, "is not one number for each channel");
    }
}

/* The value of a U32 or BOOL, or the length of a LIST; 0 for other types. */
static uint32_t read_member(
    const struct fby_canon_entry *entry, const void *member)
{
    if (entry->type == FBY_ENTRY_TYPE_BOOL) {
        return *(const bool *)member;
    }
    bool is_u32 =
        entry->type == FBY_ENTRY_TYPE_U32 || entry->type == FBY_ENTRY_TYPE_LIST;
    return is_u32 ? *(const uint32_t *)member : 0;
}

static void encode_entry(struct fby_buffer *out, uint16_t key,
    const struct fby_field_content *field, const struct fby_class_names *names)
{
    const struct fby_canon_entry *entry  = find_entry(field, key);
    const void                   *member = (const char *)field + entry->offset;
    bool is_optional = key > FBY_ENTRY_SHAPE; /* written only if set */
    if (is_optional && read_member(entry, member) < entry->min) {
        return;
    }
    switch (entry->type) {
    case FBY_ENTRY_TYPE_NONE:
        break;
    case FBY_ENTRY_TYPE_ZEROS:
        fby_record_put_bytes(out, key, zeros, entry->count);
        break;
    case FBY_ENTRY_TYPE_U32:
    case FBY_ENTRY_TYPE_BOOL:
        fby_record_put_i64(out, key, read_member(entry, member));
        break;
    case FBY_ENTRY_TYPE_REALS:
        fby_record_put_reals(out, key, member, n_reals(entry, field));
        break;
    case FBY_ENTRY_TYPE_TEXT:
        fby_record_put_text(out, key, member);
        break;
    case FBY_ENTRY_TYPE_DIMS:
        encode_dims(out, key, member);
        break;
    case FBY_ENTRY_TYPE_LIST:
        encode_list(out, key, field, names);
        break;
    }
}

static void decode_entry(struct fby_record *r, uint16_t key,
    struct fby_field_content *out, struct fby_class_names *names)
{
    const struct fby_canon_entry *entry       = find_entry(out, key);
    void                         *member      = (char *)out + entry->offset;
    bool                          is_optional = key > FBY_ENTRY_SHAPE;
    if (is_optional && !fby_record_next_is(r, key)) {
        return;
    }
    switch (entry->type) {
    case FBY_ENTRY_TYPE_NONE:
        break;
    case FBY_ENTRY_TYPE_ZEROS:
        decode_zeros(r, key, entry->count);
        break;
    case FBY_ENTRY_TYPE_U32:
        *(uint32_t *)member =
            (uint32_t)fby_record_read_between(r, key, entry->min, entry->max);
        break;
    case FBY_ENTRY_TYPE_BOOL:
        *(bool *)member = fby_record_read_between(r, key, entry->min, 1) == 1;
        break;
    case FBY_ENTRY_TYPE_REALS:
        decode_reals(r, key, member, n_reals(entry, out));
        break;
    case FBY_ENTRY_TYPE_TEXT:
        fby_record_read_text(r, key, member, FBY_NAME_SIZE);
        break;
    case FBY_ENTRY_TYPE_DIMS:
        decode_dims(r, key, member);
        break;
    case FBY_ENTRY_TYPE_LIST:
        decode_list(r, key, out, names);
        break;
    }
}

void fby_field_encode(struct fby_buffer *out, uint16_t key,
    const struct fby_field_content *field, const struct fby_class_names *names)
{
    size_t mark = fby_record_open(out, key);
    for (int k = 1; k < FBY_ENTRY_KEYS; k++) {
        encode_entry(out, (uint16_t)k, field, names);
    }
    fby_record_close(out, mark);
}

void fby_field_decode(struct fby_record *list, uint16_t key,
    struct fby_field_content *out, struct fby_class_names *names)
{
    struct fby_record r = fby_record_enter(list, key);
    for (int k = 1; k < FBY_ENTRY_KEYS; k++) {
        decode_entry(&r, (uint16_t)k, out, names);
    }
    if (out->max_length > 0 && out->too_long == 0) {
        out->too_long = FBY_TOO_LONG_REFUSE;
    }
    fby_record_leave(list, &r);
}
