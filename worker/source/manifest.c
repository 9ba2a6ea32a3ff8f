#include "worker/source/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/record.h"
#include "pipeline/sources/traits.h"
#include "worker/source/manifest_lengths.h"
#include "worker/source/ops.h"

enum { /* keys of a shard's record */
    KEY_VERSION = 1,
    KEY_KIND,
    KEY_NAME,
    KEY_SIZE,
    KEY_SUM,
    KEY_SUFFIXES,
    KEY_KEYS,
    KEY_CLASSES,
    KEY_MEMBERS,
    KEY_SUFFIX,
    KEY_OFFSET,
    KEY_BYTES,
    KEY_IS_VALUE = 20, /* this and the next two: where members have values */
    KEY_TEXT_SIZE,
    KEY_TEXTS
};

enum { VERSION = 1 };

static void put_suffixes(const struct fby_shard *shard, struct fby_buffer *out)
{
    size_t mark = fby_record_open(out, KEY_SUFFIXES);
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        fby_record_put_text(out, (uint16_t)(i + 1), shard->suffixes[i]);
    }
    fby_record_close(out, mark);
}

static void put_classes(const struct fby_shard *shard, struct fby_buffer *out)
{
    size_t mark = fby_record_open(out, KEY_CLASSES);
    for (uint32_t i = 0; i < shard->samples; i++) {
        fby_put_u32(out, shard->class_ids[i]);
    }
    fby_record_close(out, mark);
}

static void put_counts(const struct fby_shard *shard, struct fby_buffer *out)
{
    size_t mark = fby_record_open(out, KEY_MEMBERS);
    for (uint32_t i = 0; i < shard->samples; i++) {
        fby_put_u16(out, (uint16_t)(shard->first[i + 1] - shard->first[i]));
    }
    fby_record_close(out, mark);
}

static void put_u64s(
    struct fby_buffer *out, uint16_t key, const uint64_t *values, uint32_t n)
{
    size_t mark = fby_record_open(out, key);
    for (uint32_t i = 0; i < n; i++) {
        fby_put_u64(out, values[i]);
    }
    fby_record_close(out, mark);
}

static void put_texts(const struct fby_shard *shard, struct fby_buffer *out)
{
    fby_record_put_bytes(out, KEY_IS_VALUE, shard->is_value, shard->members);
    size_t mark = fby_record_open(out, KEY_TEXT_SIZE);
    for (uint32_t i = 0; i < shard->members; i++) {
        fby_put_u32(out, shard->text_size[i]);
    }
    fby_record_close(out, mark);
    fby_record_put_bytes(out, KEY_TEXTS, shard->texts.data, shard->texts.size);
}

static void put_members(const struct fby_shard *shard, struct fby_buffer *out)
{
    put_suffixes(shard, out);
    fby_record_put_bytes(out, KEY_KEYS, shard->keys.data, shard->keys.size);
    if (shard->class_ids != NULL) {
        put_classes(shard, out);
    }
    put_counts(shard, out);
    fby_record_put_bytes(out, KEY_SUFFIX, shard->suffix, shard->members);
    if (!shard->folder) {
        put_u64s(out, KEY_OFFSET, shard->offset, shard->members);
    }
    put_u64s(out, KEY_BYTES, shard->bytes, shard->members);
    fby_lengths_encode(shard, out);
    if (fby_source_traits(shard->kind)->has_values) {
        put_texts(shard, out);
    }
}

void fby_shard_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    fby_record_put_i64(out, KEY_VERSION, VERSION);
    fby_record_put_i64(out, KEY_KIND, shard->kind);
    fby_record_put_text(out, KEY_NAME, shard->name);
    fby_record_put_i64(out, KEY_SIZE, (int64_t)shard->size);
    if (shard->hashed) {
        fby_record_put_bytes(
            out, KEY_SUM, shard->sum.bytes, sizeof(shard->sum.bytes));
    }
    const struct fby_source_ops *ops = fby_source_ops(shard->kind);
    if (ops->encode != NULL) {
        ops->encode(shard, out);
    } else {
        put_members(shard, out);
    }
}

/* The columns of a record in hand, before they are believed. */
struct columns {
    char (*suffixes)[FBY_NAME_SIZE];
    uint32_t                        n_suffixes;
    const struct fby_source_traits *source;
    struct fby_reader               keys;
    struct fby_reader               classes;
    struct fby_reader               counts;
    struct fby_reader               suffix;
    struct fby_reader               offset;
    struct fby_reader               bytes;
    struct fby_span                 lengths;
    struct fby_reader               is_value;
    struct fby_reader               text_size;
    struct fby_reader               texts;
};

static struct fby_reader column(struct fby_record *r, uint16_t key)
{
    struct fby_span span = fby_record_bytes(r, key);
    return fby_reader(span.data, span.size);
}

static void read_suffixes(struct fby_record *r, struct columns *c)
{
    struct fby_record list = fby_record_nested(r, KEY_SUFFIXES);
    c->suffixes = fby_zalloc(FBY_SHARD_MAX_SUFFIXES * sizeof(*c->suffixes));
    while (fby_record_more(&list) && c->n_suffixes < FBY_SHARD_MAX_SUFFIXES) {
        fby_record_text(&list, (uint16_t)(c->n_suffixes + 1),
            c->suffixes[c->n_suffixes], FBY_NAME_SIZE);
        c->n_suffixes++;
    }
    if (fby_record_end(&list, "suffixes", NULL) != FBY_OK) {
        fby_record_refuse(r, KEY_SUFFIXES, "no list of at most 256 texts");
    }
}

static void read_head(struct fby_record *r, struct fby_shard *out)
{
    char name[FBY_PATH_SIZE] = "";
    fby_record_between(r, KEY_VERSION, VERSION, VERSION);
    int64_t kind = fby_record_between(r, KEY_KIND, 1, FBY_N_SOURCES - 1);
    fby_record_text(r, KEY_NAME, name, sizeof(name));
    fby_shard_init(
        out, name, kind > 0 ? (enum fby_source_kind)kind : FBY_SOURCE_SHARDS);
    out->size = (uint64_t)fby_record_between(r, KEY_SIZE, 0, INT64_MAX);
    if (fby_record_has(r, KEY_SUM)) {
        struct fby_span sum = fby_record_bytes(r, KEY_SUM);
        out->hashed         = sum.size == sizeof(out->sum.bytes);
        if (out->hashed) {
            memcpy(out->sum.bytes, sum.data, sizeof(out->sum.bytes));
        } else {
            fby_record_refuse(r, KEY_SUM, "not 16 bytes");
        }
    }
}

static void read_columns(struct fby_record *r, struct columns *c)
{
    read_suffixes(r, c);
    c->keys = column(r, KEY_KEYS);
    if (c->source->has_classes) {
        c->classes = column(r, KEY_CLASSES);
    }
    c->counts = column(r, KEY_MEMBERS);
    c->suffix = column(r, KEY_SUFFIX);
    if (!c->source->has_files) {
        c->offset = column(r, KEY_OFFSET);
    }
    c->bytes   = column(r, KEY_BYTES);
    c->lengths = fby_lengths_next(r);
    if (c->source->has_values) {
        c->is_value  = column(r, KEY_IS_VALUE);
        c->text_size = column(r, KEY_TEXT_SIZE);
        c->texts     = column(r, KEY_TEXTS);
    }
}

static fby_err bad(struct fby_why *why, const char *what)
{
    return fby_because(why, FBY_PROTO, "manifest of a shard: %s", what);
}

static fby_err take_text(struct fby_shard *out, struct columns *c,
    uint64_t bytes, struct fby_why *why)
{
    uint8_t        is_value = fby_read_u8(&c->is_value);
    uint32_t       size     = fby_read_u32(&c->text_size);
    const uint8_t *text     = fby_read_bytes(&c->texts, size);
    if (c->is_value.bad || c->text_size.bad || c->texts.bad || is_value > 1 ||
        (is_value == 1 && bytes != size)) {
        return bad(why, "a text that is too short");
    }
    return fby_shard_add_text(
        out, (const char *)text, size, is_value == 1, why);
}

static fby_err take_member(
    struct fby_shard *out, struct columns *c, struct fby_why *why)
{
    uint64_t offset = !c->source->has_files ? fby_read_u64(&c->offset) : 0;
    uint64_t size   = fby_read_u64(&c->bytes);
    uint8_t  suffix = fby_read_u8(&c->suffix);
    if (c->offset.bad || c->bytes.bad || c->suffix.bad) {
        return bad(why, "a column is too short");
    }
    if (suffix >= c->n_suffixes) {
        return bad(why, "a suffix that is not in the list");
    }
    if (offset > out->size || size > out->size - offset) {
        return bad(why, "a member beyond the end");
    }
    fby_err err =
        fby_shard_add_member(out, c->suffixes[suffix], offset, size, why);
    return err == FBY_OK && c->source->has_values ? take_text(out, c, size, why)
                                                  : err;
}

static fby_err take_sample(
    struct fby_shard *out, struct columns *c, struct fby_why *why)
{
    const uint8_t *key = c->keys.at;
    const uint8_t *end = memchr(key, 0, c->keys.left);
    if (end == NULL || end == key) {
        return bad(why, "a key that is empty or does not end");
    }
    (void)fby_read_bytes(&c->keys, (size_t)(end - key) + 1);
    int64_t  class_id = c->source->has_classes
                            ? (int64_t)fby_read_u32(&c->classes)
                            : FBY_SHARD_NO_CLASS;
    uint16_t members  = fby_read_u16(&c->counts);
    if (c->classes.bad || c->counts.bad || members == 0) {
        return bad(why, "a sample without members or class");
    }
    fby_err err = fby_shard_add_sample(
        out, (const char *)key, (size_t)(end - key), class_id, why);
    for (uint16_t i = 0; err == FBY_OK && i < members; i++) {
        err = take_member(out, c, why);
    }
    return err;
}

/* Nothing is left over in any column, and the list of suffixes is the one
 * that the members make, in order of first use. */
static fby_err check_used_up(
    const struct fby_shard *out, const struct columns *c, struct fby_why *why)
{
    size_t left = c->classes.left + c->counts.left + c->suffix.left +
                  c->offset.left + c->bytes.left + c->is_value.left +
                  c->text_size.left + c->texts.left;
    if (left != 0 || out->samples == 0) {
        return bad(why, "columns of different lengths");
    }
    bool same = out->n_suffixes == c->n_suffixes;
    for (uint32_t i = 0; same && i < c->n_suffixes; i++) {
        same = strcmp(out->suffixes[i], c->suffixes[i]) == 0;
    }
    return same ? FBY_OK : bad(why, "suffixes that are not in order of use");
}

static fby_err take_columns(
    struct fby_shard *out, struct columns *c, struct fby_why *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK && c->keys.left > 0) {
        err = take_sample(out, c, why);
    }
    if (err == FBY_OK) {
        err = check_used_up(out, c, why);
    }
    if (err == FBY_OK && !fby_lengths_decode(c->lengths, out)) {
        err = bad(why, "lengths that are not 4 bytes a sample");
    }
    if (err == FBY_OK) {
        err = fby_shard_finish(out, why);
    }
    if (err == FBY_OK && !out->folder) {
        out->stamps = fby_zalloc(sizeof(*out->stamps));
    }
    return err == FBY_OK ? FBY_OK : FBY_PROTO;
}

static fby_err decode_members(
    struct fby_record *r, struct fby_shard *out, struct fby_why *why)
{
    struct columns c = {.source = fby_source_traits(out->kind)};
    read_columns(r, &c);
    fby_err err = fby_record_end(r, "manifest of a shard", why);
    if (err == FBY_OK) {
        err = take_columns(out, &c, why);
    }
    free(c.suffixes);
    return err;
}

fby_err fby_shard_decode(const uint8_t *data, size_t size,
    struct fby_shard *out, struct fby_why *why)
{
    struct fby_record r = fby_record_begin(data, size);
    *out                = (struct fby_shard){0};
    read_head(&r, out);
    const struct fby_source_ops *ops = fby_source_ops(out->kind);
    return ops->decode != NULL ? ops->decode(&r, out, why)
                               : decode_members(&r, out, why);
}

struct fby_digest fby_shard_digest(const struct fby_shard *shard)
{
    struct fby_buffer bytes = {0};
    fby_shard_encode(shard, &bytes);
    struct fby_digest digest = fby_digest_of(bytes.data, bytes.size);
    fby_buffer_fini(&bytes);
    return digest;
}

struct fby_digest fby_data_digest(
    const struct fby_digest *shards, uint32_t n_shards)
{
    struct fby_digest_state state;
    fby_digest_begin(&state);
    for (uint32_t i = 0; i < n_shards; i++) {
        fby_digest_add(&state, shards[i].bytes, sizeof(shards[i].bytes));
    }
    return fby_digest_end(&state);
}
