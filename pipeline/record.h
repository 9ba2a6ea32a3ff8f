/* record.h - records: the one shape of all canonical bytes.
 *
 * A record is a run of entries (key u16, length u32, value), little-endian,
 * keys strictly ascending. A value is a number, a column of numbers, a text,
 * plain bytes, or another record; which one, the key decides. A list is a
 * record with the keys 1, 2, 3 ... One meaning has one spelling: integers are
 * i64, reals finite binary64 without -0, texts UTF-8 without NUL.
 *
 * The reader is strict and asks in ascending order. Like fby_reader it goes
 * bad and stays bad: take everything, then ask fby_record_end once. */
#ifndef FBY_PIPELINE_RECORD_H
#define FBY_PIPELINE_RECORD_H

#include "common/bytes.h"
#include "common/err.h"

/* Writing: append to `out`. The caller keeps keys ascending, reals finite and
 * values below 4 GiB (asserted: these are our own bugs). */
void fby_record_put_i64(struct fby_buffer *out, uint16_t key, int64_t value);
void fby_record_put_real(struct fby_buffer *out, uint16_t key, double value);
void fby_record_put_text(
    struct fby_buffer *out, uint16_t key, const char *text);
void fby_record_put_bytes(
    struct fby_buffer *out, uint16_t key, const void *data, size_t size);
/* Columns: n numbers of 8 bytes, one after another. */
void fby_record_put_i64s(
    struct fby_buffer *out, uint16_t key, const int64_t *values, size_t n);
void fby_record_put_reals(
    struct fby_buffer *out, uint16_t key, const double *values, size_t n);

/* A record within: put its entries between open and close. `mark` is what
 * open returned. */
size_t fby_record_open(struct fby_buffer *out, uint16_t key);
void   fby_record_close(struct fby_buffer *out, size_t mark);

/* Reading. Texts and bytes point into the input: borrow them while it lives.
 * A call that fails marks `r` bad, keeps the first cause, and returns zero or
 * empty values. */
struct fby_record {
    struct fby_reader in;
    uint32_t          last;  /* key read before, 0 at the start; keys are > 0 */
    uint16_t          key;   /* where `fault` was met */
    const char       *fault; /* static text, NULL while all is well */
};

struct fby_span {
    const uint8_t *data;
    size_t         size; /* bytes */
};

struct fby_record fby_record_begin(const void *data, size_t size);

/* True when the next entry has this key: for entries that may be absent. */
bool fby_record_has(const struct fby_record *r, uint16_t key);

/* True while entries are left (and none was bad): for lists. */
bool fby_record_more(const struct fby_record *r);

/* Each takes the next entry, which must have this key. */
struct fby_span   fby_record_bytes(struct fby_record *r, uint16_t key);
int64_t           fby_record_i64(struct fby_record *r, uint16_t key);
double            fby_record_real(struct fby_record *r, uint16_t key);
struct fby_record fby_record_nested(struct fby_record *r, uint16_t key);

/* An integer from low to high. */
int64_t fby_record_between(
    struct fby_record *r, uint16_t key, int64_t low, int64_t high);

/* An integer from 0 to 2^32 - 1. */
uint32_t fby_record_u32(struct fby_record *r, uint16_t key);

/* A text into `out` of `capacity` bytes, NUL included. */
void fby_record_text(
    struct fby_record *r, uint16_t key, char *out, size_t capacity);

/* A column of at most `max` numbers; returns how many there were. */
size_t fby_record_i64s(
    struct fby_record *r, uint16_t key, int64_t *out, size_t max);
size_t fby_record_reals(
    struct fby_record *r, uint16_t key, double *out, size_t max);

/* Leave a record within: nothing may be left in it, and what is wrong in it is
 * wrong in `outer`, under the innermost key. */
void fby_record_leave(struct fby_record *outer, struct fby_record *inner);

/* Mark `r` bad at `key`: for rules that a caller adds. `fault` is static. */
void fby_record_refuse(struct fby_record *r, uint16_t key, const char *fault);

/* The verdict: nothing was bad, and nothing is left.
 * Errors: FBY_PROTO, with "WHAT: key 7: the text is too long" in `why`. */
FBY_CHECKED fby_err fby_record_end(
    const struct fby_record *r, const char *what, struct fby_why *why);

#endif
