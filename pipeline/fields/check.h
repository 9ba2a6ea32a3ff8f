/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - the rules of one field, for pipeline files and for content from the
 * network. Pure.
 *
 * A broken rule reports the key at fault. For a pipeline file the parser turns
 * the key into FILE:LINE:COLUMN. For content from the network the error names
 * the field instead. */
#ifndef FBY_PIPELINE_FIELDS_CHECK_H
#define FBY_PIPELINE_FIELDS_CHECK_H

#include "pipeline/fields/kind.h"

/* The key whose value breaks a rule, and the reason. */
struct fby_field_fault {
    enum fby_field_key key;
    uint32_t           index; /* index of the item in from, ops or device */
    bool               has_index;
    bool               is_of_split; /* the error is to name the split, too */
    struct fby_error_detail why;
};

/* The field to check, and the other settings that its rules read. */
struct fby_field_check {
    const struct fby_field_content *field;
    /* NULL: the field is content from the network. */
    const struct fby_field_delivery *delivery;
    enum fby_source_kind             source;
    const struct fby_tokens *tokens; /* read only if `source` has sequences */
    uint64_t given; /* FBY_FIELD_BITs of the keys in the file; 0: network */
    struct fby_field_fault *fault; /* set if a rule is broken */
};

/* Check the rules of one field. Errors: FBY_CONFIG, with *check->fault set. */
FBY_CHECKED fby_err fby_field_check(const struct fby_field_check *check);

/* ---- for the rules of kinds ---- */

/* The number of normalize ops among the device ops of the field. */
uint32_t fby_field_count_normalize(const struct fby_field_content *field);

/* True if the field is from a file and has a delivery, not from the network. */
static inline bool fby_check_is_from_file(const struct fby_field_check *check)
{
    return check->delivery != NULL;
}

/* True if the pipeline file has this key. */
static inline bool fby_field_has_key(
    const struct fby_field_check *check, enum fby_field_key key)
{
    return (check->given & FBY_FIELD_BIT(key)) != 0;
}

/* Set *check->fault to `fault` with the formatted reason; return FBY_CONFIG. */
fby_err fby_field_set_error(const struct fby_field_check *check,
    struct fby_field_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Set a fault at a key, at item `i` of a key, or at a key in one split. */
#define fby_field_error(check, at_key, ...) \
    fby_field_set_error(                    \
        check, (struct fby_field_fault){.key = (at_key)}, __VA_ARGS__)
#define fby_field_error_at_item(check, at_key, i, ...)         \
    fby_field_set_error(check,                                 \
        (struct fby_field_fault){                              \
            .key = (at_key), .index = (i), .has_index = true}, \
        __VA_ARGS__)
#define fby_field_error_in_split(check, at_key, ...)                    \
    fby_field_set_error(check,                                          \
        (struct fby_field_fault){.key = (at_key), .is_of_split = true}, \
        __VA_ARGS__)

/* Set the fault and return from the calling rule if `condition` holds. */
#define FBY_REFUSE_IF(check, condition, at_key, ...)            \
    do {                                                        \
        if (condition) {                                        \
            return fby_field_error(check, at_key, __VA_ARGS__); \
        }                                                       \
    } while (0)

/* Check that the field suits the source of its split (source.c). */
FBY_CHECKED fby_err fby_field_check_source(const struct fby_field_check *check);

/* Set the fault "dtype TYPE PREDICATE" at the key dtype; return FBY_CONFIG. */
fby_err fby_field_error_dtype(
    const struct fby_field_check *check, const char *predicate);

/* Check that the wire type is `expected`; the second function expects u8. The
 * error is the kind's wire_text. */
FBY_CHECKED fby_err fby_field_check_wire(
    const struct fby_field_check *check, enum fby_type expected);
FBY_CHECKED fby_err fby_field_check_u8(const struct fby_field_check *check);

/* Check that the dtype holds all values of the wire type. */
FBY_CHECKED fby_err fby_field_check_dtype(const struct fby_field_check *check);

/* Check that the dtype can hold values that are sent as bits. */
FBY_CHECKED fby_err fby_field_check_bits(const struct fby_field_check *check);

/* Check that the keys `to`, `pad` and `offsets` go with the key `as`, and that
 * the dtype can hold the pad. */
FBY_CHECKED fby_err fby_field_check_pad(const struct fby_field_check *check);

/* Check the size, form (`as`), dtype and pad of a field with a max_length. */
FBY_CHECKED fby_err fby_field_check_rows(const struct fby_field_check *check);

/* Call fby_field_check_rows or, without max_length, fby_field_check_dtype. */
FBY_CHECKED fby_err fby_field_check_rows_or_dtype(
    const struct fby_field_check *check);

/* Check that the key `pick` comes with the key `key`. */
FBY_CHECKED fby_err fby_field_check_pick(const struct fby_field_check *check);

#endif
