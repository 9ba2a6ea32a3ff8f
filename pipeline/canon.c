/* SPDX-License-Identifier: Apache-2.0 */
/* canon.c - encode and decode the canonical bytes of a content (see canon.h).
 * fields/canon.c does the same for a field. */
#include "pipeline/canon.h"

#include "pipeline/check.h"
#include "pipeline/derived.h"
#include "pipeline/fields/canon.h"
#include "pipeline/op.h"
#include "pipeline/record.h"
#include "pipeline/sources/traits.h"

/* Keys of the record of a content. The meaning of a key never changes. A key
 * added later is left out at its default, so that old digests stay valid. */
enum {
    FORMAT        = 1,
    ORDER_VERSION = 2,
    SOURCE        = 3,
    SHUFFLE       = 4,
    BLOCK         = 5,
    LANES         = 6,
    SLICES        = 7,
    LAST_BATCH    = 8,
    GLOBAL_BATCH  = 9,
    ON_BAD_SAMPLE = 10,
    FIELDS        = 11,
    BUCKET_BY     = 12, /* only if there are buckets */
    EXCLUDED      = 24  /* after those of sources; only if there are any */
};

enum { /* keys of the record of buckets */
    BUCKET_FIELD  = 1,
    BUCKET_BOUNDS = 2
};

/* ---- encoding ---- */

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
    fby_record_put_i64(out, ORDER_VERSION, FBY_ORDER_VERSION);
    fby_record_put_i64(out, SOURCE, content->source);
    fby_record_put_i64(out, SHUFFLE, content->shuffle);
    fby_record_put_i64(out, BLOCK, content->block);
    fby_record_put_i64(out, LANES, content->lanes);
    fby_record_put_i64(out, SLICES, content->slices);
    fby_record_put_i64(out, LAST_BATCH, content->last);
    fby_record_put_i64(out, GLOBAL_BATCH, content->global_batch);
    fby_record_put_i64(out, ON_BAD_SAMPLE, content->on_bad_sample);
    size_t mark = fby_record_open(out, FIELDS);
    for (size_t i = 0; i < content->n_fields; i++) {
        fby_field_encode(out, fby_record_list_key(i), &content->fields[i],
            &content->class_names);
    }
    fby_record_close(out, mark);
    if (content->bucket_by.n_bounds > 0) {
        encode_bucket_by(out, &content->bucket_by);
    }
    const struct fby_source_traits *source = fby_source_traits(content->source);
    if (source->encode != NULL) {
        source->encode(content, out);
    }
    if (content->excluded.n > 0) {
        fby_record_put_i64s(
            out, EXCLUDED, content->excluded.hashes, content->excluded.n);
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

static void decode_fields(struct fby_record *r, struct fby_content *out)
{
    struct fby_record list = fby_record_enter(r, FIELDS);
    while (fby_record_has_more(&list) && out->n_fields < FBY_MAX_FIELDS) {
        fby_field_decode(&list, fby_record_list_key(out->n_fields),
            &out->fields[out->n_fields], &out->class_names);
        out->n_fields++;
    }
    fby_record_leave(r, &list);
}

static void decode_bucket_by(
    struct fby_record *outer, struct fby_bucket_by *out)
{
    struct fby_record r = fby_record_enter(outer, BUCKET_BY);
    fby_record_read_text(&r, BUCKET_FIELD, out->field, FBY_NAME_SIZE);
    out->n_bounds = (uint32_t)fby_record_read_i64s(
        &r, BUCKET_BOUNDS, out->bounds, FBY_MAX_BOUNDS);
    fby_record_leave(outer, &r);
}

static void decode_numbers(struct fby_record *r, struct fby_content *out)
{
    out->source = (enum fby_source_kind)fby_record_read_between(
        r, SOURCE, 1, FBY_N_SOURCES - 1);
    out->shuffle = (enum fby_shuffle)fby_record_read_between(
        r, SHUFFLE, FBY_SHUFFLE_NONE, FBY_SHUFFLE_BLOCK);
    out->block  = fby_record_read_u32(r, BLOCK);
    out->lanes  = fby_record_read_u32(r, LANES);
    out->slices = fby_record_read_u32(r, SLICES);
    out->last   = (enum fby_last)fby_record_read_between(
          r, LAST_BATCH, FBY_LAST_DROP, FBY_LAST_SHORT);
    out->global_batch  = fby_record_read_u32(r, GLOBAL_BATCH);
    out->on_bad_sample = (enum fby_bad_sample)fby_record_read_between(
        r, ON_BAD_SAMPLE, FBY_BAD_FAIL, FBY_BAD_SUBSTITUTE);
}

static void decode_versions(struct fby_record *r)
{
    if (fby_record_read_i64(r, FORMAT) != FBY_CONTENT_FORMAT) {
        fby_record_refuse(r, FORMAT, "is not format 1");
    }
    if (fby_record_read_i64(r, ORDER_VERSION) != FBY_ORDER_VERSION) {
        fby_record_refuse(r, ORDER_VERSION, "is not version 1 of the order");
    }
}

/* Set the members of fields that follow from others, so are not encoded. */
static void set_derived(struct fby_content *content)
{
    for (size_t i = 0; i < content->n_fields; i++) {
        struct fby_field_content *field = &content->fields[i];
        fby_field_set_packing(field, &content->tokens);
        fby_field_number_repeated_ops(field);
        field->shape = fby_field_shape(field);
    }
}

/* Check that encoding the content again gives the same bytes. */
static fby_err check_canonical(const struct fby_content *content,
    const void *bytes, size_t size, struct fby_error_detail *why)
{
    struct fby_buffer encoded = {0};
    fby_content_encode(content, &encoded);
    bool equal = encoded.size == size && memcmp(encoded.data, bytes, size) == 0;
    fby_buffer_fini(&encoded);
    return equal ? FBY_OK
                 : fby_error_set(why, FBY_PROTO,
                       "content: the bytes are not in canonical form");
}

fby_err fby_content_decode(const void *bytes, size_t size,
    struct fby_content *out, struct fby_error_detail *why)
{
    if (size > FBY_MAX_CONTENT) {
        return fby_error_set(why, FBY_PROTO,
            "content: %zu bytes, more than the limit of %d", size,
            FBY_MAX_CONTENT);
    }
    struct fby_record r = fby_record_begin(bytes, size);
    memset(out, 0, sizeof(*out));
    decode_versions(&r);
    decode_numbers(&r, out);
    decode_fields(&r, out);
    if (fby_record_next_is(&r, BUCKET_BY)) {
        decode_bucket_by(&r, &out->bucket_by);
    }
    const struct fby_source_traits *source =
        fby_source_traits_by_id(out->source);
    /* If the source could not be read, it is 0 and has no traits. */
    if (source != NULL && source->decode != NULL) {
        source->decode(&r, out);
    }
    if (fby_record_next_is(&r, EXCLUDED)) {
        out->excluded.n = (uint32_t)fby_record_read_i64s(
            &r, EXCLUDED, out->excluded.hashes, FBY_MAX_EXCLUDED);
    }
    FBY_TRY(fby_record_end(&r, "content", why));
    set_derived(out);
    if (fby_content_check(out, why) != FBY_OK) {
        return fby_error_prefix(why, FBY_PROTO, "content");
    }
    return check_canonical(out, bytes, size, why);
}
