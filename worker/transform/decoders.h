/* SPDX-License-Identifier: Apache-2.0 */
/* decoders.h - the functions that decode a member (one file of a sample), one
 * for each kind of field. The decoders are also entries of the fingerprint, a
 * hash of the results of decoding (fingerprint.h).
 *
 * To add a decoder, write a writer and a self check, and add a line for each to
 * the tables in decoders.c. */
#ifndef FBY_WORKER_TRANSFORM_DECODERS_H
#define FBY_WORKER_TRANSFORM_DECODERS_H

#include "worker/transform/field.h"

/* ---- writers ------------------------------------------------------------- */

/* Decode the member of `job` and write its values to `dst`. Returns the errors
 * of fby_field_write. `job->field` must be of the writer's kind. */
typedef fby_err fby_field_writer(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst,
    struct fby_error_detail *why);

/* Decode a picture or a mask and run its ops. If the field is a stack of masks,
 * the member is one of them, and `dst` gets one byte for each pixel. */
FBY_CHECKED fby_field_writer fby_picture_write;

/* Decode a stack of masks; write one bit for each pixel of each mask. */
FBY_CHECKED fby_field_writer fby_stack_write;

/* Write a class id. It comes from the class folder; or, if the field has a key,
 * from an integer of a JSON object; else from decimal digits, with optional
 * blanks around them. If the field has names, a text in the place of the
 * integer or the digits is the name of a class. */
FBY_CHECKED fby_field_writer fby_label_write;

/* Write a number of a JSON object (see json.h), or a list of numbers if the
 * field is ragged. */
FBY_CHECKED fby_field_writer fby_number_write;

/* Write the member as it is. Its length must be that of the field, or one that
 * a ragged field allows. */
FBY_CHECKED fby_field_writer fby_bytes_write;

/* Write UTF-8 text as bytes, without a final newline. Text longer than
 * max_length is refused, or cut before the first character that is too much. */
FBY_CHECKED fby_field_writer fby_text_write;

/* Write a NumPy file of exactly the field's shape, converted to its wire type.
 * In a ragged field the first dimension may vary up to max_length, and the
 * others are the field's. */
FBY_CHECKED fby_field_writer fby_array_write;

/* Write a .npz file of scipy.sparse.save_npz, in CSR or COO. Its shape is [n]
 * or [1, n], where n is the number of values in a dense row of the field; or
 * the field's own shape if that has two dimensions. */
FBY_CHECKED fby_field_writer fby_sparse_file_write;

/* Write a token sequence of exactly the field's length. A token that is
 * negative, does not fit the wire type or is above 2^31 - 1 is refused. Packed
 * documents are padded to the length. */
FBY_CHECKED fby_field_writer fby_tokens_write;

/* Write the lengths of the documents of a packed sequence. */
FBY_CHECKED fby_field_writer fby_documents_write;

/* ---- rules that worker/plan shares, for data sets of columns ------------- */

/* Returns the largest class id that the field's wire type and its number of
 * classes, if given, allow. */
uint64_t fby_label_max(const struct fby_field_content *field);

/* Refuse `label` (decimal digits) as outside the field's range.
 * Errors: FBY_BAD_SAMPLE, always. */
FBY_CHECKED fby_err fby_label_refuse(const struct fby_field_content *field,
    const char *label, struct fby_error_detail *why);

/* Set *job->length to the number of entries to write for a row of `n` entries.
 * The field's too_long key says if a row longer than max_length is cut.
 * Errors: FBY_BAD_SAMPLE when the row is refused, with both numbers. */
FBY_CHECKED fby_err fby_length_resolve(
    const struct fby_field_job *job, uint64_t n, struct fby_error_detail *why);

/* ---- the fingerprint ----------------------------------------------------- */

/* The entries of decoders in the fingerprint. A field may have several: one for
 * each feature of a decoder that it uses. */
enum fby_decoder {
    FBY_DECODER_RGB8,     /* whole JPEGs */
    FBY_DECODER_FAITHFUL, /* JPEGs decoded smaller, with dct_scale: faithful */
    FBY_DECODER_FAST,     /* JPEGs decoded smaller, with dct_scale: fast */
    FBY_DECODER_LABEL,
    FBY_DECODER_LABEL_NAMES,
    FBY_DECODER_NUMBER,
    FBY_DECODER_BYTES,
    FBY_DECODER_PNG, /* pictures */
    FBY_DECODER_MASK8,
    FBY_DECODER_ARRAY,
    FBY_DECODER_BITS, /* values of 0 and 1, packed eight to a byte */
    FBY_DECODER_PATH, /* JSON keys that are paths */
    FBY_DECODER_TOKENS,
    FBY_DECODER_YUV420, /* pictures that become planes of Y, Cb and Cr */
    FBY_DECODER_PACKED, /* packed documents and their lengths */
    FBY_DECODER_RAGGED, /* rows of varying length */
    FBY_DECODER_SPARSE,
    FBY_DECODER_JSON_TEXT,
    FBY_DECODER_WEBP, /* pictures */
    FBY_N_DECODERS
};

struct fby_self_check;

/* One entry: the fields that have it, and its self check. */
struct fby_decoder_entry {
    const char *name;  /* name in the fingerprint */
    uint32_t    kinds; /* bit set of the kinds of fields that can have it */
    /* True if a field of these kinds has the entry; NULL: all have it. */
    bool (*applies_to)(const struct fby_field_content *field);
    /* The self check (self_check.h), whose results are hashed; NULL: none. */
    void (*check)(struct fby_self_check *check);
};
extern const struct fby_decoder_entry fby_decoders[FBY_N_DECODERS];

#endif
