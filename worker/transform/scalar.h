/* scalar.h - the decoders of fields that are no pictures; field.h has the
 * contract. Each writes the field's bytes, or says why it refuses. */
#ifndef FBY_WORKER_TRANSFORM_SCALAR_H
#define FBY_WORKER_TRANSFORM_SCALAR_H

#include "worker/transform/field.h"

struct fby_whole_type {
    size_t   bytes; /* 0: the type is not one of whole numbers */
    int64_t  least;
    uint64_t most;
};

struct fby_whole_type fby_whole_type_of(enum fby_type type);

/* Decimal digits of a class id, blanks around them; or a whole number of a JSON
 * object, where there is a key; or the folder's id. */
FBY_CHECKED fby_err fby_label_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* The greatest id that the field has room for: by its classes, else by its
 * type. */
uint64_t fby_label_most(const struct fby_field_content *field);

/* Errors: FBY_BAD_SAMPLE, always: `label`, its digits, is none of the field's.
 */
FBY_CHECKED fby_err fby_label_refuse(const struct fby_field_content *field,
    const char *label, struct fby_why *why);

/* One number of a JSON object, see json.h. */
FBY_CHECKED fby_err fby_number_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* The member as it is, if it has the one right length, or one that may be. */
FBY_CHECKED fby_err fby_bytes_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* UTF-8 without a newline at its end, as bytes. What is too long is refused, or
 * cut before the character that does not fit. */
FBY_CHECKED fby_err fby_text_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* How many of `n` entries a row takes, by its rule for what is too long; set as
 * the row's length, too. Errors: FBY_BAD_SAMPLE, with both numbers. */
FBY_CHECKED fby_err fby_length_settle(const struct fby_field_job *job,
    uint64_t n, uint32_t *out, struct fby_why *why);

/* A NumPy file of exactly the field's shape, in its wire type; with max_length
 * that of its entries, behind a first dimension that may vary. */
FBY_CHECKED fby_err fby_array_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* A sequence of exactly the field's length; what is negative, does not fit the
 * wire type or is above 2^31 - 1 is refused. Packed documents are filled up. */
FBY_CHECKED fby_err fby_tokens_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* The lengths of the documents of a packed sequence. */
FBY_CHECKED fby_err fby_documents_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

#endif
