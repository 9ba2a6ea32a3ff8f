/* field.h - decode one field of one sample: from a member's bytes to wire
 * values.
 *
 * The result is a pure function of (field content, input, seed, epoch, sample):
 * every worker and thread makes the same bytes. They are the field's raw values
 * in its wire type, little-endian, exactly as many as its shape says. */
#ifndef FBY_WORKER_TRANSFORM_FIELD_H
#define FBY_WORKER_TRANSFORM_FIELD_H

#include "pipeline/op.h"
#include "worker/transform/transform.h"

enum {
    FBY_LABEL_MAX_BYTES     = 64,      /* of a label's text, blanks included */
    FBY_JSON_MAX_BYTES      = 1 << 20, /* of a JSON member */
    FBY_JSON_BYTES_PER_BYTE = 64,      /* memory for each byte that is parsed */
    FBY_JSON_MAX_DEPTH      = 32       /* nested objects and arrays */
};

/* The input of one field of one sample. */
struct fby_field_job {
    const struct fby_field_content *field; /* borrowed */
    const uint8_t  *bytes;     /* the member's, borrowed; unused by "folder" */
    size_t          size;      /* bytes of the member */
    const uint64_t *sizes;     /* maps: bytes of each member, which are
                                concatenated in `bytes`; else unused */
    uint32_t        width;     /* bytes of a token of a sequence; else 0 */
    uint32_t        documents; /* packed: number of documents; `bytes` begins
                                  with their lengths (u32) */
    uint32_t        class_id;  /* from: folder */
    uint64_t        seed;      /* key of the draws */
    uint64_t        epoch;
    uint64_t        sample;
    uint32_t       *length;  /* out: entries of a row of varying length;
                                not NULL for such fields */
    uint8_t        *indices; /* out: fby_field_index_bytes; not NULL for
                                sparse fields */
};

/* Bytes that fby_field_write writes for one sample of the field. Where rows
 * vary in length, the bytes of the longest row; *job->length entries of it are
 * written. */
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
 *         FBY_USAGE       the pipeline parser would not accept the content
 * On an error `dst` may be partly written. */
FBY_CHECKED fby_err fby_field_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

struct fby_picture_file;
struct fby_picture_decoder;

/* Choose the decoder of a picture file in this field. Any thread.
 * Errors: FBY_BAD_SAMPLE for a PNG in a field whose `from` names none, and
 *         for a mask that is not a PNG. */
FBY_CHECKED fby_err fby_picture_decoder_for(
    const struct fby_field_content *field, const struct fby_picture_file *file,
    const struct fby_picture_decoder **out, struct fby_why *why);

/* How fby_field_write would transform a picture, planned from its header. For
 * maps the header is that of the first file, which may be given alone. */
struct fby_field_plan {
    uint32_t           width; /* of the upright picture */
    uint32_t           height;
    uint32_t           n_ops; /* the field's; 0 for other decoders */
    struct fby_op_plan plans[FBY_MAX_OPS];
};

/* Plan a field without decoding it. Fields other than pictures have no ops.
 * Any thread. Errors: as fby_field_write. */
FBY_CHECKED fby_err fby_field_plan(const struct fby_field_job *job,
    struct fby_field_plan *out, struct fby_why *why);

#endif
