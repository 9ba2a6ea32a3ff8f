/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/sources/traits.h"
#include "worker/source/ops.h"

/* The entries of a shard's record, by key (record.h). The keys 13, 14, and from
 * 25 on are in columns/manifest.c and tokens/manifest.c. */
enum {
    SHARD_VERSION = 1,
    SHARD_KIND,
    SHARD_NAME,
    SHARD_SIZE,
    SHARD_CHECKSUM,
    SHARD_SUFFIXES,      /* list of all suffixes */
    SHARD_SAMPLE_KEYS,   /* the names of all samples: "c00/0001" */
    SHARD_CLASSES,       /* per sample: its class id */
    SHARD_MEMBER_COUNTS, /* per sample: number of its members */
    SHARD_MEMBER_SUFFIX, /* per member: index in the list of suffixes */
    SHARD_MEMBER_OFFSET, /* per member: in the file of the shard */
    SHARD_MEMBER_BYTES,
    SHARD_SAMPLE_LENGTHS = 15, /* per sample; only for bucket_by */
    SHARD_IS_VALUE       = 20, /* this one and the next two: only lists */
    SHARD_TEXT_SIZE,
    SHARD_TEXTS
};

enum { VERSION = 1 /* of the canonical bytes */ };

static void put_u32s(
    struct fby_buffer *out, uint16_t key, const uint32_t *values, uint32_t n)
{
    size_t mark = fby_record_open(out, key);
    for (uint32_t i = 0; i < n; i++) {
        fby_put_u32(out, values[i]);
    }
    fby_record_close(out, mark);
}

void fby_lengths_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    if (shard->lengths != NULL) {
        put_u32s(out, SHARD_SAMPLE_LENGTHS, shard->lengths, shard->n_samples);
    }
}

struct fby_span fby_lengths_read_entry(struct fby_record *r)
{
    return fby_record_next_is(r, SHARD_SAMPLE_LENGTHS)
               ? fby_record_read_bytes(r, SHARD_SAMPLE_LENGTHS)
               : (struct fby_span){0};
}

fby_err fby_lengths_decode(
    struct fby_span bytes, struct fby_shard *out, struct fby_error_detail *why)
{
    if (bytes.data == NULL) {
        return FBY_OK;
    }
    if (bytes.size != (size_t)out->n_samples * 4) {
        return fby_manifest_refuse(
            why, "lengths that are not 4 bytes a sample");
    }
    struct fby_reader lengths = fby_reader(bytes.data, bytes.size);
    out->lengths = fby_zalloc(out->n_samples * sizeof(*out->lengths));
    for (uint32_t i = 0; i < out->n_samples; i++) {
        out->lengths[i] = fby_read_u32(&lengths);
    }
    return FBY_OK;
}

static void write_members(const struct fby_shard *shard, struct fby_buffer *out)
{
    size_t mark = fby_record_open(out, SHARD_SUFFIXES);
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        fby_record_put_text(out, (uint16_t)(i + 1), shard->suffixes[i]);
    }
    fby_record_close(out, mark);
    fby_record_put_bytes(
        out, SHARD_SAMPLE_KEYS, shard->keys.data, shard->keys.size);
    if (shard->class_ids != NULL) {
        put_u32s(out, SHARD_CLASSES, shard->class_ids, shard->n_samples);
    }
    mark = fby_record_open(out, SHARD_MEMBER_COUNTS);
    for (uint32_t i = 0; i < shard->n_samples; i++) {
        fby_put_u16(out,
            (uint16_t)(shard->first_member[i + 1] - shard->first_member[i]));
    }
    fby_record_close(out, mark);
    fby_record_put_bytes(
        out, SHARD_MEMBER_SUFFIX, shard->suffix_index, shard->n_members);
    if (!shard->has_files) {
        fby_record_put_i64s(out, SHARD_MEMBER_OFFSET,
            (const int64_t *)shard->member_offset, shard->n_members);
    }
    fby_record_put_i64s(out, SHARD_MEMBER_BYTES,
        (const int64_t *)shard->member_bytes, shard->n_members);
    fby_lengths_encode(shard, out);
    if (fby_source_traits(shard->kind)->has_values) {
        fby_record_put_bytes(
            out, SHARD_IS_VALUE, shard->is_value, shard->n_members);
        put_u32s(out, SHARD_TEXT_SIZE, shard->text_size, shard->n_members);
        fby_record_put_bytes(
            out, SHARD_TEXTS, shard->texts.data, shard->texts.size);
    }
}

void fby_shard_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    fby_record_put_i64(out, SHARD_VERSION, VERSION);
    fby_record_put_i64(out, SHARD_KIND, shard->kind);
    fby_record_put_text(out, SHARD_NAME, shard->name);
    fby_record_put_i64(out, SHARD_SIZE, (int64_t)shard->size);
    if (shard->has_checksum) {
        fby_record_put_bytes(
            out, SHARD_CHECKSUM, shard->sum.bytes, sizeof(shard->sum.bytes));
    }
    const struct fby_source_ops *ops = fby_source_ops(shard->kind);
    (ops->encode != NULL ? ops->encode : write_members)(shard, out);
}

/* The arrays of a manifest that is being decoded, not yet validated. An array
 * has one element per sample (keys, classes, counts, lengths) or per member. */
struct arrays {
    char (*suffixes)[FBY_NAME_SIZE];
    uint32_t                        n_suffixes;
    const struct fby_source_traits *source; /* tells which arrays exist */
    struct fby_reader               keys;
    struct fby_reader               classes;
    struct fby_reader               member_counts;
    struct fby_reader               suffix;
    struct fby_reader               offset;
    struct fby_reader               member_bytes;
    struct fby_span                 lengths;
    struct fby_reader               is_value;
    struct fby_reader               text_size;
    struct fby_reader               texts;
};

struct fby_reader fby_manifest_array(struct fby_record *r, uint16_t key)
{
    struct fby_span span = fby_record_read_bytes(r, key);
    return fby_reader(span.data, span.size);
}

static void read_suffixes(struct fby_record *r, struct arrays *arrays)
{
    struct fby_record list = fby_record_enter(r, SHARD_SUFFIXES);
    arrays->suffixes =
        fby_zalloc(FBY_SHARD_MAX_SUFFIXES * sizeof(*arrays->suffixes));
    while (fby_record_has_more(&list) &&
           arrays->n_suffixes < FBY_SHARD_MAX_SUFFIXES) {
        fby_record_read_text(&list, (uint16_t)(arrays->n_suffixes + 1),
            arrays->suffixes[arrays->n_suffixes], FBY_NAME_SIZE);
        arrays->n_suffixes++;
    }
    if (fby_record_end(&list, "suffixes", NULL) != FBY_OK) {
        fby_record_refuse(r, SHARD_SUFFIXES, "is no list of at most 256 texts");
    }
}

static void read_head(struct fby_record *r, struct fby_shard *out)
{
    char name[FBY_PATH_SIZE] = "";
    fby_record_read_between(r, SHARD_VERSION, VERSION, VERSION);
    int64_t kind = fby_record_read_between(r, SHARD_KIND, 1, FBY_N_SOURCES - 1);
    fby_record_read_text(r, SHARD_NAME, name, sizeof(name));
    /* If `kind` is damaged, fby_record_end() fails. Until then use any kind. */
    fby_shard_init(
        out, name, kind > 0 ? (enum fby_source_kind)kind : FBY_SOURCE_SHARDS);
    out->size = (uint64_t)fby_record_read_between(r, SHARD_SIZE, 0, INT64_MAX);
    if (fby_record_next_is(r, SHARD_CHECKSUM)) {
        struct fby_span sum = fby_record_read_bytes(r, SHARD_CHECKSUM);
        out->has_checksum   = sum.size == sizeof(out->sum.bytes);
        if (out->has_checksum) {
            memcpy(out->sum.bytes, sum.data, sizeof(out->sum.bytes));
        } else {
            fby_record_refuse(r, SHARD_CHECKSUM, "is not 16 bytes long");
        }
    }
}

static void read_arrays(struct fby_record *r, struct arrays *arrays)
{
    read_suffixes(r, arrays);
    arrays->keys = fby_manifest_array(r, SHARD_SAMPLE_KEYS);
    if (arrays->source->has_classes) {
        arrays->classes = fby_manifest_array(r, SHARD_CLASSES);
    }
    arrays->member_counts = fby_manifest_array(r, SHARD_MEMBER_COUNTS);
    arrays->suffix        = fby_manifest_array(r, SHARD_MEMBER_SUFFIX);
    if (!arrays->source->has_files) {
        arrays->offset = fby_manifest_array(r, SHARD_MEMBER_OFFSET);
    }
    arrays->member_bytes = fby_manifest_array(r, SHARD_MEMBER_BYTES);
    arrays->lengths      = fby_lengths_read_entry(r);
    if (arrays->source->has_values) {
        arrays->is_value  = fby_manifest_array(r, SHARD_IS_VALUE);
        arrays->text_size = fby_manifest_array(r, SHARD_TEXT_SIZE);
        arrays->texts     = fby_manifest_array(r, SHARD_TEXTS);
    }
}

fby_err fby_manifest_refuse(struct fby_error_detail *why, const char *fault)
{
    return fby_error_set(why, FBY_PROTO, "manifest of a shard: %s", fault);
}

static fby_err decode_text(struct fby_shard *out, struct arrays *arrays,
    uint64_t member_size, struct fby_error_detail *why)
{
    uint8_t        is_value  = fby_read_u8(&arrays->is_value);
    uint32_t       text_size = fby_read_u32(&arrays->text_size);
    const uint8_t *text      = fby_read_bytes(&arrays->texts, text_size);
    bool           is_cut_off =
        arrays->is_value.bad || arrays->text_size.bad || arrays->texts.bad;
    bool size_differs = is_value == 1 && member_size != text_size;
    if (is_cut_off || is_value > 1 || size_differs) {
        return fby_manifest_refuse(why, "a text that is cut off or invalid");
    }
    return fby_shard_add_text(
        out, (const char *)text, text_size, is_value == 1, why);
}

static fby_err decode_member(
    struct fby_shard *out, struct arrays *arrays, struct fby_error_detail *why)
{
    uint64_t offset =
        !arrays->source->has_files ? fby_read_u64(&arrays->offset) : 0;
    uint64_t size   = fby_read_u64(&arrays->member_bytes);
    uint8_t  suffix = fby_read_u8(&arrays->suffix);
    if (arrays->offset.bad || arrays->member_bytes.bad || arrays->suffix.bad) {
        return fby_manifest_refuse(why, "an array is too short");
    }
    if (suffix >= arrays->n_suffixes) {
        return fby_manifest_refuse(why, "a suffix that is not in the list");
    }
    if (offset > out->size || size > out->size - offset) {
        return fby_manifest_refuse(why, "a member beyond the end");
    }
    FBY_TRY(
        fby_shard_add_member(out, arrays->suffixes[suffix], offset, size, why));
    return arrays->source->has_values ? decode_text(out, arrays, size, why)
                                      : FBY_OK;
}

static fby_err decode_sample(
    struct fby_shard *out, struct arrays *arrays, struct fby_error_detail *why)
{
    const uint8_t *key = arrays->keys.at;
    const uint8_t *end = memchr(key, 0, arrays->keys.left);
    if (end == NULL || end == key) {
        return fby_manifest_refuse(why, "a key that is empty or does not end");
    }
    (void)fby_read_bytes(&arrays->keys, (size_t)(end - key) + 1);
    int64_t  class_id = arrays->source->has_classes
                            ? (int64_t)fby_read_u32(&arrays->classes)
                            : FBY_SHARD_NO_CLASS;
    uint16_t members  = fby_read_u16(&arrays->member_counts);
    if (arrays->classes.bad || arrays->member_counts.bad || members == 0) {
        return fby_manifest_refuse(why, "a sample without members or class");
    }
    FBY_TRY(fby_shard_add_sample(
        out, (const char *)key, (size_t)(end - key), class_id, why));
    for (uint16_t i = 0; i < members; i++) {
        FBY_TRY(decode_member(out, arrays, why));
    }
    return FBY_OK;
}

/* Check that all arrays, one element for each sample or member, were read to
 * their ends, and that the suffixes are listed in the order of first use. */
static fby_err check_all_read(const struct fby_shard *out,
    const struct arrays *arrays, struct fby_error_detail *why)
{
    size_t left = arrays->classes.left + arrays->member_counts.left +
                  arrays->suffix.left + arrays->offset.left +
                  arrays->member_bytes.left + arrays->is_value.left +
                  arrays->text_size.left + arrays->texts.left;
    if (left != 0 || out->n_samples == 0) {
        return fby_manifest_refuse(why, "arrays of different lengths");
    }
    bool in_order = out->n_suffixes == arrays->n_suffixes;
    for (uint32_t i = 0; in_order && i < arrays->n_suffixes; i++) {
        in_order = strcmp(out->suffixes[i], arrays->suffixes[i]) == 0;
    }
    return in_order ? FBY_OK
                    : fby_manifest_refuse(
                          why, "suffixes that are not in order of use");
}

static fby_err decode_arrays(
    struct fby_shard *out, struct arrays *arrays, struct fby_error_detail *why)
{
    while (arrays->keys.left > 0) {
        FBY_TRY(decode_sample(out, arrays, why));
    }
    FBY_TRY(check_all_read(out, arrays, why));
    FBY_TRY(fby_lengths_decode(arrays->lengths, out, why));
    return fby_shard_finish(out, why);
}

static fby_err decode_members(
    struct fby_record *r, struct fby_shard *out, struct fby_error_detail *why)
{
    struct arrays arrays = {.source = fby_source_traits(out->kind)};
    read_arrays(r, &arrays);
    fby_err err = fby_record_end(r, "manifest of a shard", why);
    if (err == FBY_OK) {
        err = decode_arrays(out, &arrays, why);
    }
    free(arrays.suffixes);
    return err;
}

fby_err fby_shard_decode(const uint8_t *data, size_t size,
    struct fby_shard *out, struct fby_error_detail *why)
{
    struct fby_record r = fby_record_begin(data, size);
    *out                = (struct fby_shard){0};
    read_head(&r, out);
    const struct fby_source_ops *ops = fby_source_ops(out->kind);
    fby_err                      err =
        (ops->decode != NULL ? ops->decode : decode_members)(&r, out, why);
    if (err != FBY_OK) {
        return FBY_PROTO; /* also if a limit of shard.h was exceeded */
    }
    if (out->stamps == NULL) { /* else fby_shard_add_member() made them */
        out->stamps =
            fby_zalloc(fby_shard_count_stamps(out) * sizeof(*out->stamps));
    }
    return FBY_OK;
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
