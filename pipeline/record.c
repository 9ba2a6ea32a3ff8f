/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - write and read records, the format of all canonical bytes. */
#include "pipeline/record.h"

#include <assert.h>
#include <math.h>

#include "common/utf8.h"

/* ---- writing ---- */

/* Append the key of an entry and the length of its value in bytes. */
static void put_head(struct fby_buffer *out, uint16_t key, size_t size)
{
    assert(key > 0 && size <= UINT32_MAX);
    fby_put_u16(out, key);
    fby_put_u32(out, (uint32_t)size);
}

static uint64_t real_bits(double value)
{
    assert(isfinite(value));
    double   canonical = value == 0 ? 0 : value; /* -0 becomes 0 */
    uint64_t bits      = 0;
    memcpy(&bits, &canonical, sizeof(bits));
    return bits;
}

void fby_record_put_i64(struct fby_buffer *out, uint16_t key, int64_t value)
{
    fby_record_put_i64s(out, key, &value, 1);
}

void fby_record_put_text(struct fby_buffer *out, uint16_t key, const char *text)
{
    fby_record_put_bytes(out, key, text, strlen(text));
}

void fby_record_put_bytes(
    struct fby_buffer *out, uint16_t key, const void *data, size_t size)
{
    put_head(out, key, size);
    fby_put_bytes(out, data, size);
}

void fby_record_put_i64s(
    struct fby_buffer *out, uint16_t key, const int64_t *values, size_t n)
{
    put_head(out, key, n * 8);
    for (size_t i = 0; i < n; i++) {
        fby_put_u64(out, (uint64_t)values[i]);
    }
}

void fby_record_put_reals(
    struct fby_buffer *out, uint16_t key, const double *values, size_t n)
{
    put_head(out, key, n * 8);
    for (size_t i = 0; i < n; i++) {
        fby_put_u64(out, real_bits(values[i]));
    }
}

void fby_record_put_names(struct fby_buffer *out, uint16_t key,
    const char (*names)[FBY_NAME_SIZE], size_t             n)
{
    size_t mark = fby_record_open(out, key);
    for (size_t i = 0; i < n; i++) {
        fby_record_put_text(out, fby_record_list_key(i), names[i]);
    }
    fby_record_close(out, mark);
}

size_t fby_record_open(struct fby_buffer *out, uint16_t key)
{
    put_head(out, key, 0); /* the length is set by fby_record_close */
    return out->size;
}

void fby_record_close(struct fby_buffer *out, size_t mark)
{
    size_t size = out->size - mark;
    assert(size <= UINT32_MAX);
    fby_store_le(out->data + mark - 4, size, 4); /* the length in the head */
}

/* ---- reading ---- */

struct fby_record fby_record_begin(const void *data, size_t size)
{
    return (struct fby_record){.in = fby_reader(data, size)};
}

void fby_record_refuse(struct fby_record *r, uint16_t key, const char *fault)
{
    if (r->fault == NULL) {
        r->fault  = fault;
        r->key    = key;
        r->in.bad = true; /* so that all later reads return 0 */
    }
}

/* The key of the next entry; 0 at the end. The entry stays the next one. */
static uint16_t next_key(const struct fby_record *r)
{
    struct fby_reader ahead = r->in;
    return fby_read_u16(&ahead);
}

bool fby_record_next_is(const struct fby_record *r, uint16_t key)
{
    return next_key(r) == key;
}

bool fby_record_has_more(const struct fby_record *r)
{
    return r->fault == NULL && r->in.left > 0;
}

/* The fault of an entry whose key is not the next one. Keys must ascend. */
static const char *missing_text(const struct fby_record *r, uint16_t key)
{
    if (r->in.left == 0 || next_key(r) > key) {
        return "is missing";
    }
    return next_key(r) > r->last ? "is missing, an unknown key is in its place"
                                 : "is missing, or keys do not ascend";
}

struct fby_span fby_record_read_bytes(struct fby_record *r, uint16_t key)
{
    if (r->fault != NULL) {
        return (struct fby_span){0};
    }
    if (!fby_record_next_is(r, key)) {
        fby_record_refuse(r, key, missing_text(r, key));
        return (struct fby_span){0};
    }
    fby_read_u16(&r->in); /* the key */
    size_t         size = fby_read_u32(&r->in);
    const uint8_t *data = fby_read_bytes(&r->in, size);
    if (data == NULL) {
        fby_record_refuse(r, key, "is longer than the record");
        return (struct fby_span){0};
    }
    r->last = key;
    return (struct fby_span){.data = data, .size = size};
}

/* Read the bytes of an array of at most `max` numbers of 8 bytes. */
static struct fby_span read_array(
    struct fby_record *r, uint16_t key, size_t max)
{
    struct fby_span span = fby_record_read_bytes(r, key);
    if (span.size % 8 != 0 || span.size / 8 > max) {
        fby_record_refuse(r, key,
            span.size % 8 != 0 ? "is not made of whole 8-byte numbers"
                               : "has too many numbers");
        return (struct fby_span){0};
    }
    return span;
}

size_t fby_record_read_i64s(
    struct fby_record *r, uint16_t key, int64_t *out, size_t max)
{
    struct fby_span   span = read_array(r, key, max);
    struct fby_reader in   = fby_reader(span.data, span.size);
    for (size_t i = 0; i < span.size / 8; i++) {
        out[i] = (int64_t)fby_read_u64(&in);
    }
    return span.size / 8;
}

static bool is_canonical(double value)
{
    return isfinite(value) && !(value == 0 && signbit(value));
}

size_t fby_record_read_reals(
    struct fby_record *r, uint16_t key, double *out, size_t max)
{
    struct fby_span   span = read_array(r, key, max);
    struct fby_reader in   = fby_reader(span.data, span.size);
    for (size_t i = 0; i < span.size / 8; i++) {
        uint64_t bits = fby_read_u64(&in);
        memcpy(&out[i], &bits, sizeof(bits));
        if (!is_canonical(out[i])) {
            out[i] = 0;
            fby_record_refuse(r, key, "holds NaN, an infinity or -0");
            return 0;
        }
    }
    return span.size / 8;
}

int64_t fby_record_read_i64(struct fby_record *r, uint16_t key)
{
    int64_t value = 0;
    if (fby_record_read_i64s(r, key, &value, 1) != 1) {
        fby_record_refuse(r, key, "is not one integer");
    }
    return value;
}

int64_t fby_record_read_between(
    struct fby_record *r, uint16_t key, int64_t low, int64_t high)
{
    int64_t value = fby_record_read_i64(r, key);
    if (r->fault == NULL && (value < low || value > high)) {
        fby_record_refuse(r, key, "is out of range");
    }
    return r->fault == NULL ? value : 0;
}

uint32_t fby_record_read_u32(struct fby_record *r, uint16_t key)
{
    return (uint32_t)fby_record_read_between(r, key, 0, UINT32_MAX);
}

void fby_record_read_text(
    struct fby_record *r, uint16_t key, char *out, size_t capacity)
{
    struct fby_span span = fby_record_read_bytes(r, key);
    out[0]               = '\0';
    if (span.size >= capacity) {
        fby_record_refuse(r, key, "is too long a text");
    } else if (!fby_is_utf8(span.data, span.size)) {
        fby_record_refuse(r, key, "is not UTF-8 without NUL");
    } else if (span.size > 0) {
        memcpy(out, span.data, span.size);
        out[span.size] = '\0';
    }
}

struct fby_record fby_record_enter(struct fby_record *r, uint16_t key)
{
    struct fby_span   span  = fby_record_read_bytes(r, key);
    struct fby_record inner = fby_record_begin(span.data, span.size);
    if (r->fault != NULL) { /* so that a loop over the list ends at once */
        fby_record_refuse(&inner, r->key, r->fault);
    }
    return inner;
}

uint32_t fby_record_read_names(struct fby_record *r, uint16_t key,
    char (*out)[FBY_NAME_SIZE], uint32_t                      max)
{
    struct fby_record list = fby_record_enter(r, key);
    uint32_t          n    = 0;
    for (; fby_record_has_more(&list) && n < max; n++) {
        fby_record_read_text(
            &list, fby_record_list_key(n), out[n], FBY_NAME_SIZE);
    }
    fby_record_leave(r, &list);
    return n;
}

void fby_record_leave(struct fby_record *outer, struct fby_record *inner)
{
    if (inner->fault == NULL && inner->in.left > 0) {
        fby_record_refuse(inner, next_key(inner), "is not known here");
    }
    if (inner->fault != NULL) {
        fby_record_refuse(outer, inner->key, inner->fault);
    }
}

fby_err fby_record_end(
    const struct fby_record *r, const char *what, struct fby_error_detail *why)
{
    if (r->fault != NULL) {
        return fby_error_set(
            why, FBY_PROTO, "%s: key %u %s", what, r->key, r->fault);
    }
    if (r->in.left > 0) {
        return fby_error_set(why, FBY_PROTO,
            "%s: %zu bytes follow the last known key (next key %u)", what,
            r->in.left, next_key(r));
    }
    return FBY_OK;
}
