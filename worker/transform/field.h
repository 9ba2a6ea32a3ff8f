/* SPDX-License-Identifier: Apache-2.0 */
/* field.h - decode one field of one sample: turn the bytes of a member (one
 * file of the sample) into values of the wire type.
 *
 * The result depends only on the field's content (its part of the pipeline),
 * the input, the seed, the epoch and the sample: all workers and threads make
 * the same bytes. Values are little-endian, as many as the shape says. */
#ifndef FBY_WORKER_TRANSFORM_FIELD_H
#define FBY_WORKER_TRANSFORM_FIELD_H

#include "pipeline/op.h"
#include "worker/transform/transform.h"

enum {
    FBY_LABEL_MAX_BYTES     = 64, /* limit for a label as text, with blanks */
    FBY_JSON_MAX_BYTES      = 1 << 20, /* limit for a JSON member */
    FBY_JSON_BYTES_PER_BYTE = 64,      /* most bytes that the parser allocates
                                          for each byte of JSON */
    FBY_JSON_MAX_DEPTH      = 32       /* limit for nested objects and lists */
};

/* The input of one field of one sample. */
struct fby_field_job {
    const struct fby_field_content *field;       /* borrowed */
    const struct fby_class_names   *class_names; /* of the content, borrowed;
                                                  for a label with names */
    const uint8_t  *bytes;       /* the member, borrowed; unused if the field
                                  takes the folder's class id */
    size_t          size;        /* bytes of the member */
    const uint64_t *sizes;       /* for several masks (maps): bytes of each
                                  file; `bytes` has the files in this order.
                                  NULL for other fields */
    uint32_t        token_bytes; /* bytes of a token of a sequence; else 0 */
    uint32_t        n_documents; /* number of documents of a packed sequence;
                                  `bytes` begins with their lengths (u32) */
    uint32_t        class_id;    /* of the sample's folder, for from: folder */
    uint64_t        seed;        /* of the ops' random draws */
    uint64_t        epoch;
    uint64_t        sample;
    uint32_t       *length;  /* receives the number of entries of the row;
                                needed if rows vary in length */
    uint8_t        *indices; /* receives the indices of a sparse row; has
                                fby_field_index_bytes bytes */
    /* Receives the size of the upright picture before the ops; NULL: not
     * wanted. */
    struct fby_size *picture_size;
    /* Receives the index in `sizes` of the last file that was read: after an
     * error that one is bad; NULL: not wanted. Other fields leave it. */
    uint32_t *bad_file;
};

/* Bytes of one sample of the field. If rows vary in length, these are the bytes
 * of the longest row, and fby_field_write writes only *job->length entries. */
size_t fby_field_bytes(const struct fby_field_content *field);

/* Bytes of the indices of the longest sparse row; 0 for other fields. */
size_t fby_field_index_bytes(const struct fby_field_content *field);

/* Write the field's values to `dst`, which holds fby_field_bytes.
 *
 * Thread: one at a time for a transform.
 * Errors: FBY_BAD_SAMPLE  the member is refused; `why` says what is wrong with
 *                         it and what would be right
 *         FBY_FULL        memory is short, or the transform's limits are too
 *                         low; the sample may be good
 *         FBY_GONE        the transform's quota was closed
 *         FBY_USAGE       the field's content is one that the parser refuses
 * On an error `dst` may be partly written. */
FBY_CHECKED fby_err fby_field_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst,
    struct fby_error_detail *why);

/* The plans of the ops that fby_field_write would run on a picture. */
struct fby_field_plan {
    uint32_t           width;  /* pixels, of the upright picture */
    uint32_t           height; /* rows */
    uint32_t           n_ops;  /* entries of `plans`; 0 for other fields */
    struct fby_op_plan plans[FBY_MAX_OPS];
};

/* Plan the ops of a field from the header of its picture, without decoding. For
 * maps the header of the first file is read, and `job->bytes` may hold that
 * file alone. Any thread. Errors: as fby_field_write. */
FBY_CHECKED fby_err fby_field_plan(const struct fby_field_job *job,
    struct fby_field_plan *out, struct fby_error_detail *why);

#endif
