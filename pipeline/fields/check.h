/* check.h - the rules of one field, for pipeline files and for bytes alike.
 *
 * Pure. A rule that is broken names the key that breaks it: the parser turns
 * that into FILE:LINE:COLUMN, others into the name of the field. */
#ifndef FBY_PIPELINE_FIELDS_CHECK_H
#define FBY_PIPELINE_FIELDS_CHECK_H

#include "pipeline/fields/kind.h"

/* Which key is wrong, and why. */
struct fby_field_fault {
    enum fby_field_key key;
    uint32_t           index; /* of from, ops and device: which item */
    bool               has_index;
    bool               is_of_split; /* other splits may do the same */
    struct fby_why     why;
};

struct fby_field_check {
    const struct fby_field_content  *field;
    const struct fby_field_delivery *delivery; /* NULL: not known, as of
                                                  content that came as bytes */
    enum fby_source_kind             source;
    const struct fby_tokens         *tokens; /* of a source of tokens */
    uint64_t                given; /* bits: the keys that a file says; of
                                      bytes 0 */
    struct fby_field_fault *fault; /* out */
};

/* All rules of a field by itself.
 * Errors: FBY_CONFIG, with *check->fault set. */
FBY_CHECKED fby_err fby_field_check(const struct fby_field_check *check);

/* ---- for the kinds ---- */

/* How many ops of its list under device are normalize. */
uint32_t fby_field_normalizes(const struct fby_field_content *field);

static inline bool fby_field_says(
    const struct fby_field_check *check, enum fby_field_key key)
{
    return (check->given & FBY_FIELD_BIT(key)) != 0;
}

/* Set the fault, whose reason is `format`, and return FBY_CONFIG. */
fby_err fby_field_refuse(const struct fby_field_check *check,
    struct fby_field_fault at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same at a key; at item `i` of a key; of a rule that asks something of the
 * split: its source, its ops. */
#define fby_field_wrong(check, at_key, ...) \
    fby_field_refuse(                       \
        check, (struct fby_field_fault){.key = (at_key)}, __VA_ARGS__)
#define fby_field_wrong_item(check, at_key, i, ...)            \
    fby_field_refuse(check,                                    \
        (struct fby_field_fault){                              \
            .key = (at_key), .index = (i), .has_index = true}, \
        __VA_ARGS__)
#define fby_field_wrong_in_split(check, at_key, ...)                    \
    fby_field_refuse(check,                                             \
        (struct fby_field_fault){.key = (at_key), .is_of_split = true}, \
        __VA_ARGS__)

/* What a field asks of its source (source.c). */
FBY_CHECKED fby_err fby_field_check_source(const struct fby_field_check *check);

/* "dtype u8 TEXT", at the dtype. */
fby_err fby_field_wrong_dtype(
    const struct fby_field_check *check, const char *text);

/* The wire type is `right`, or wire_text of the kind. */
FBY_CHECKED fby_err fby_field_check_wire(
    const struct fby_field_check *check, enum fby_type right);
FBY_CHECKED fby_err fby_field_check_u8(const struct fby_field_check *check);

/* The dtype holds all values of the wire type. */
FBY_CHECKED fby_err fby_field_check_dtype(const struct fby_field_check *check);

/* The dtype of what travels as bits. */
FBY_CHECKED fby_err fby_field_check_bits(const struct fby_field_check *check);

/* `to`, `pad` and `offsets` go with the form of rows, and the pad is a value
 * of the dtype. */
FBY_CHECKED fby_err fby_field_check_pad(const struct fby_field_check *check);

/* Rows of several lengths: their size, form, dtype and pad. */
FBY_CHECKED fby_err fby_field_check_rows(const struct fby_field_check *check);

/* Of fields whose rows may vary: either of the last two. */
FBY_CHECKED fby_err fby_field_check_rows_or_dtype(
    const struct fby_field_check *check);

/* A value is picked out of JSON only where a key is said. */
FBY_CHECKED fby_err fby_field_check_pick(const struct fby_field_check *check);

#endif
