#include "worker/source/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/derived.h"
#include "pipeline/record.h"
#include "worker/source/columns/manifest.h"
#include "worker/source/manifest_lengths.h"

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
    KEY_IS_VALUE = 20, /* this and the next two: of lists only */
    KEY_TEXT_SIZE,
    KEY_TEXTS,
    KEY_FORMAT = 25, /* these and the following: of token files */
    KEY_TYPE,
    KEY_LENGTH,
    KEY_SHIFT,
    KEY_RUN_AT,
    KEY_RUN_TOKENS,
    KEY_DOCUMENTS /* where they are packed */
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

/* A column of n numbers of `width` bytes each. */
static uint8_t *put_column(
    struct fby_buffer *out, uint16_t key, size_t n, size_t width)
{
    uint8_t *zeros = fby_zalloc(n * width);
    fby_record_put_bytes(out, key, zeros, n * width);
    free(zeros);
    return out->data + out->size - n * width;
}

static void put_classes(const struct fby_shard *shard, struct fby_buffer *out)
{
    uint8_t *at = put_column(out, KEY_CLASSES, shard->samples, 4);
    for (uint32_t i = 0; i < shard->samples; i++) {
        fby_store_le(at + 4 * (size_t)i, shard->class_ids[i], 4);
    }
}

static void put_counts(const struct fby_shard *shard, struct fby_buffer *out)
{
    uint8_t *at = put_column(out, KEY_MEMBERS, shard->samples, 2);
    for (uint32_t i = 0; i < shard->samples; i++) {
        fby_store_le(
            at + 2 * (size_t)i, shard->first[i + 1] - shard->first[i], 2);
    }
}

static void put_u64s(
    struct fby_buffer *out, uint16_t key, const uint64_t *values, uint32_t n)
{
    uint8_t *at = put_column(out, key, n, 8);
    for (uint32_t i = 0; i < n; i++) {
        fby_store_le(at + 8 * (size_t)i, values[i], 8);
    }
}

static void put_sequences(
    const struct fby_sequences *sequences, struct fby_buffer *out)
{
    uint32_t n = sequences->n_runs;
    fby_record_put_i64(out, KEY_FORMAT, sequences->format);
    fby_record_put_i64(out, KEY_TYPE, sequences->type);
    fby_record_put_i64(out, KEY_LENGTH, sequences->length);
    fby_record_put_i64(out, KEY_SHIFT, sequences->shift);
    put_u64s(out, KEY_RUN_AT, sequences->at, n);
    uint8_t *at = put_column(out, KEY_RUN_TOKENS, n, 8);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t end = i + 1 < n ? sequences->first[i + 1] : sequences->tokens;
        fby_store_le(at + 8 * (size_t)i, end - sequences->first[i], 8);
    }
    if (sequences->packed != NULL) {
        const struct fby_buffer *lengths = &sequences->packed->lengths;
        fby_record_put_bytes(out, KEY_DOCUMENTS, lengths->data, lengths->size);
    }
}

static void put_texts(const struct fby_shard *shard, struct fby_buffer *out)
{
    fby_record_put_bytes(out, KEY_IS_VALUE, shard->is_value, shard->members);
    uint8_t *at = put_column(out, KEY_TEXT_SIZE, shard->members, 4);
    for (uint32_t i = 0; i < shard->members; i++) {
        fby_store_le(at + 4 * (size_t)i, shard->text_size[i], 4);
    }
    fby_record_put_bytes(out, KEY_TEXTS, shard->texts.data, shard->texts.size);
}

/* Of a part of loose files (and values), not of one file. */
static bool is_of_files(enum fby_source_kind kind)
{
    return kind == FBY_SOURCE_FOLDER || kind == FBY_SOURCE_LIST ||
           kind == FBY_SOURCE_PARALLEL;
}

void fby_shard_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    fby_record_put_i64(out, KEY_VERSION, VERSION);
    fby_record_put_i64(out, KEY_KIND, fby_shard_kind(shard));
    fby_record_put_text(out, KEY_NAME, shard->name);
    fby_record_put_i64(out, KEY_SIZE, (int64_t)shard->size);
    if (shard->hashed) {
        fby_record_put_bytes(
            out, KEY_SUM, shard->sum.bytes, sizeof(shard->sum.bytes));
    }
    if (fby_shard_has_rows(shard)) {
        fby_columns_encode(shard, out);
        return;
    }
    if (shard->sequences != NULL) {
        put_sequences(shard->sequences, out);
        return;
    }
    put_suffixes(shard, out);
    fby_record_put_bytes(out, KEY_KEYS, shard->keys.data, shard->keys.size);
    if (shard->kind == FBY_SOURCE_FOLDER) {
        put_classes(shard, out);
    }
    put_counts(shard, out);
    fby_record_put_bytes(out, KEY_SUFFIX, shard->suffix, shard->members);
    if (!shard->folder) {
        put_u64s(out, KEY_OFFSET, shard->offset, shard->members);
    }
    put_u64s(out, KEY_BYTES, shard->bytes, shard->members);
    fby_lengths_encode(shard, out);
    if (shard->kind == FBY_SOURCE_LIST) {
        put_texts(shard, out);
    }
}

/* The columns of a record in hand, before they are believed. */
struct columns {
    char (*suffixes)[FBY_NAME_SIZE];
    uint32_t             n_suffixes;
    enum fby_source_kind kind;
    struct fby_reader    keys;
    struct fby_reader    classes;
    struct fby_reader    counts;
    struct fby_reader    suffix;
    struct fby_reader    offset;
    struct fby_reader    bytes;
    struct fby_span      lengths;
    struct fby_reader    is_value;
    struct fby_reader    text_size;
    struct fby_reader    texts;
    struct fby_reader    run_at;
    struct fby_reader    run_tokens;
    struct fby_span      documents;
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

static void read_head(
    struct fby_record *r, struct fby_shard *out, struct columns *c)
{
    char name[FBY_PATH_SIZE] = "";
    fby_record_between(r, KEY_VERSION, VERSION, VERSION);
    c->kind = (enum fby_source_kind)fby_record_between(
        r, KEY_KIND, FBY_SOURCE_FOLDER, FBY_SOURCE_TOKENS);
    fby_record_text(r, KEY_NAME, name, sizeof(name));
    fby_shard_init(out, name, is_of_files(c->kind));
    out->kind = c->kind;
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

static void read_sequences(
    struct fby_record *r, struct fby_shard *out, struct columns *c)
{
    struct fby_tokens how = {
        .format = (enum fby_tokens_format)fby_record_between(
            r, KEY_FORMAT, FBY_TOKENS_FLAT, FBY_TOKENS_MEGATRON),
    };
    how.type   = (enum fby_type)fby_record_between(r, KEY_TYPE, 1, FBY_U32);
    how.length = (uint32_t)fby_record_between(r, KEY_LENGTH, 1, FBY_MAX_TOKENS);
    how.shift  = (uint32_t)fby_record_between(r, KEY_SHIFT, 0, 1);
    c->run_at  = column(r, KEY_RUN_AT);
    c->run_tokens = column(r, KEY_RUN_TOKENS);
    how.packed    = fby_record_has(r, KEY_DOCUMENTS);
    if (how.packed) {
        c->documents = fby_record_bytes(r, KEY_DOCUMENTS);
    }
    out->sequences = fby_sequences_create(&how);
    if (!fby_tokens_type_ok(&how)) {
        fby_record_refuse(r, KEY_TYPE, "no type of tokens");
    }
}

static void read_columns(struct fby_record *r, struct columns *c)
{
    read_suffixes(r, c);
    c->keys = column(r, KEY_KEYS);
    if (c->kind == FBY_SOURCE_FOLDER) {
        c->classes = column(r, KEY_CLASSES);
    }
    c->counts = column(r, KEY_MEMBERS);
    c->suffix = column(r, KEY_SUFFIX);
    if (c->kind == FBY_SOURCE_SHARDS) {
        c->offset = column(r, KEY_OFFSET);
    }
    c->bytes   = column(r, KEY_BYTES);
    c->lengths = fby_lengths_next(r);
    if (c->kind == FBY_SOURCE_LIST) {
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
    uint64_t offset =
        c->kind == FBY_SOURCE_SHARDS ? fby_read_u64(&c->offset) : 0;
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
    return err == FBY_OK && c->kind == FBY_SOURCE_LIST
               ? take_text(out, c, size, why)
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
    int64_t  class_id = c->kind == FBY_SOURCE_FOLDER
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

/* Runs lie within the file, and two that follow one another are one. */
static fby_err take_run(
    struct fby_shard *out, struct columns *c, struct fby_why *why)
{
    uint64_t at     = fby_read_u64(&c->run_at);
    uint64_t tokens = fby_read_u64(&c->run_tokens);
    uint64_t width  = fby_type_bytes(out->sequences->type);
    uint32_t before = out->sequences->n_runs;
    if (c->run_at.bad || c->run_tokens.bad) {
        return bad(why, "columns of different lengths");
    }
    if (tokens == 0 || at > out->size || tokens > (out->size - at) / width) {
        return bad(why, "a run of tokens beyond the end");
    }
    fby_err err = fby_sequences_add(out->sequences, at, tokens, why);
    return err != FBY_OK || out->sequences->n_runs > before
               ? err
               : bad(why, "a run of tokens that goes on with the one before");
}

static fby_err take_runs(
    struct fby_shard *out, struct columns *c, struct fby_why *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK && (c->run_at.left > 0 || c->run_tokens.left > 0)) {
        err = take_run(out, c, why);
    }
    if (err == FBY_OK && out->sequences->packed != NULL) {
        err = fby_packed_read(out->sequences->packed, c->documents.data,
            c->documents.size, out->sequences->tokens, why);
    }
    if (err == FBY_OK) {
        err = fby_shard_finish_sequences(out, why);
    }
    if (err == FBY_OK) {
        out->stamps = fby_zalloc(fby_shard_stamps(out) * sizeof(*out->stamps));
    }
    return err == FBY_OK ? FBY_OK : FBY_PROTO;
}

fby_err fby_shard_decode(const uint8_t *data, size_t size,
    struct fby_shard *out, struct fby_why *why)
{
    struct fby_record r = fby_record_begin(data, size);
    struct columns    c = {0};
    *out                = (struct fby_shard){0};
    read_head(&r, out, &c);
    if (c.kind == FBY_SOURCE_COLUMNS) {
        return fby_columns_decode(&r, out, why);
    }
    if (c.kind == FBY_SOURCE_TOKENS) {
        read_sequences(&r, out, &c);
    } else {
        read_columns(&r, &c);
    }
    fby_err err = fby_record_end(&r, "manifest of a shard", why);
    if (err == FBY_OK) {
        err = c.kind == FBY_SOURCE_TOKENS ? take_runs(out, &c, why)
                                          : take_columns(out, &c, why);
    }
    free(c.suffixes);
    return err;
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
