/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - records, the format of all canonical bytes.
 *
 * A record is a sequence of entries (key u16, length u32, value),
 * little-endian, with strictly ascending keys. The key determines the type of
 * the value: a number, an array of numbers, a text, bytes, or a nested record.
 * A list is a record with the keys 1, 2, 3 ... Integers are i64, reals finite
 * binary64 without -0, texts UTF-8 without NUL. So equal values have equal
 * bytes.
 *
 * Keys are read in ascending order. A struct fby_record keeps its first fault:
 * read all entries, then check once with fby_record_end. */
#ifndef FBY_PIPELINE_RECORD_H
#define FBY_PIPELINE_RECORD_H

#include "common/bytes.h"
#include "common/err.h"
#include "pipeline/types.h"

/* Writing: append an entry to `out`. The caller ensures ascending keys, finite
 * reals and values below 4 GiB; the last two are asserted. */
void fby_record_put_i64(struct fby_buffer *out, uint16_t key, int64_t value);
void fby_record_put_text(
    struct fby_buffer *out, uint16_t key, const char *text);
void fby_record_put_bytes(
    struct fby_buffer *out, uint16_t key, const void *data, size_t size);
/* An array of n numbers, 8 bytes each. */
void fby_record_put_i64s(
    struct fby_buffer *out, uint16_t key, const int64_t *values, size_t n);
void fby_record_put_reals(
    struct fby_buffer *out, uint16_t key, const double *values, size_t n);

/* A list of n texts, each of FBY_NAME_SIZE bytes with NUL. */
void fby_record_put_names(struct fby_buffer *out, uint16_t key,
    const char (*names)[FBY_NAME_SIZE], size_t             n);

/* The key of element `i` of a list. */
static inline uint16_t fby_record_list_key(size_t i)
{
    return (uint16_t)(i + 1);
}

/* Begin and end a nested record; put its entries in between. `mark` is the
 * result of fby_record_open, the offset in `out` at which the entries begin. */
size_t fby_record_open(struct fby_buffer *out, uint16_t key);
void   fby_record_close(struct fby_buffer *out, size_t mark);

/* The state of reading a record. A call that fails sets the fault, unless there
 * is one already, and returns zero or an empty value. */
struct fby_record {
    struct fby_reader in;
    uint32_t          last;  /* last key read; 0 at the start */
    uint16_t          key;   /* key of the entry with the fault */
    const char       *fault; /* static text; NULL: no fault */
};

struct fby_span { /* points into the input */
    const uint8_t *data;
    size_t         size; /* bytes */
};

/* Start to read a record of `size` bytes. */
struct fby_record fby_record_begin(const void *data, size_t size);

/* True if the next entry has this key. Use it for optional entries. */
bool fby_record_next_is(const struct fby_record *r, uint16_t key);

/* True if entries are left and there is no fault. Use it for lists. */
bool fby_record_has_more(const struct fby_record *r);

/* Read the next entry, which must have this key: bytes, or one integer. */
struct fby_span fby_record_read_bytes(struct fby_record *r, uint16_t key);
int64_t         fby_record_read_i64(struct fby_record *r, uint16_t key);

/* Start to read the nested record that is the next entry. */
struct fby_record fby_record_enter(struct fby_record *r, uint16_t key);

/* Read an integer from low to high. */
int64_t fby_record_read_between(
    struct fby_record *r, uint16_t key, int64_t low, int64_t high);

/* Read an integer from 0 to 2^32 - 1. */
uint32_t fby_record_read_u32(struct fby_record *r, uint16_t key);

/* Read a text into `out`, which has `capacity` bytes, NUL included. */
void fby_record_read_text(
    struct fby_record *r, uint16_t key, char *out, size_t capacity);

/* Read an array of at most `max` numbers; return how many there are. */
size_t fby_record_read_i64s(
    struct fby_record *r, uint16_t key, int64_t *out, size_t max);
size_t fby_record_read_reals(
    struct fby_record *r, uint16_t key, double *out, size_t max);

/* Read a list of at most `max` texts of FBY_NAME_SIZE; return how many. */
uint32_t fby_record_read_names(struct fby_record *r, uint16_t key,
    char (*out)[FBY_NAME_SIZE], uint32_t                      max);

/* End a nested record, which must have no entries left. A fault in it becomes a
 * fault of `outer`, with the key of the innermost record. */
void fby_record_leave(struct fby_record *outer, struct fby_record *inner);

/* Set a fault at `key`, for rules of the caller. `fault` is a static text. */
void fby_record_refuse(struct fby_record *r, uint16_t key, const char *fault);

/* Check that there is no fault and that no entry is left.
 * Errors: FBY_PROTO, with "WHAT: key 7 is too long a text" in `why`. */
FBY_CHECKED fby_err fby_record_end(
    const struct fby_record *r, const char *what, struct fby_error_detail *why);

#endif
