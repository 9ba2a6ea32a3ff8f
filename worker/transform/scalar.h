/* scalar.h - the decoders of fields other than pictures.
 *
 * Each writes the field's values, or refuses the member and sets `why`. The
 * contract is that of fby_field_write (field.h). */
#ifndef FBY_WORKER_TRANSFORM_SCALAR_H
#define FBY_WORKER_TRANSFORM_SCALAR_H

#include "worker/transform/field.h"

/* The size and range of an integer type. */
struct fby_whole_type {
    size_t   bytes; /* 0: not an integer type */
    int64_t  least;
    uint64_t most;
};

/* The integer type of that wire type; .bytes is 0 if it is not one. */
struct fby_whole_type fby_whole_type_of(enum fby_type type);

/* Write a class id: decimal digits with optional blanks around them; if the
 * field has a key, an integer of a JSON object; or the folder's id. */
FBY_CHECKED fby_err fby_label_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* The largest id the field can hold, by its classes, else by its type. */
uint64_t fby_label_most(const struct fby_field_content *field);

/* Refuse `label` (decimal digits) as outside the field's range.
 * Errors: FBY_BAD_SAMPLE, always. */
FBY_CHECKED fby_err fby_label_refuse(const struct fby_field_content *field,
    const char *label, struct fby_why *why);

/* Write a number of a JSON object (see json.h), or a list of them if the field
 * is ragged. */
FBY_CHECKED fby_err fby_number_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* Write the member as it is. Its length must be that of the field, or one that
 * a ragged field allows. */
FBY_CHECKED fby_err fby_bytes_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* Write UTF-8 text as bytes, without a final newline. Longer text is refused,
 * or cut before the first character that does not fit. */
FBY_CHECKED fby_err fby_text_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* Apply the field's too_long rule to a row of `n` entries. Sets *out and
 * *job->length to the number of entries to write.
 * Errors: FBY_BAD_SAMPLE, with both numbers. */
FBY_CHECKED fby_err fby_length_settle(const struct fby_field_job *job,
    uint64_t n, uint32_t *out, struct fby_why *why);

/* Write a NumPy file of exactly the field's shape, converted to its wire type.
 * With max_length the first dimension may vary, the others are the entry's. */
FBY_CHECKED fby_err fby_array_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* Write a token sequence of exactly the field's length. A token that is
 * negative, does not fit the wire type or is above 2^31 - 1 is refused. Packed
 * documents are padded to the length. */
FBY_CHECKED fby_err fby_tokens_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* Write the lengths of the documents of a packed sequence. */
FBY_CHECKED fby_err fby_documents_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

#endif
