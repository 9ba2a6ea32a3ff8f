/* field.h - one field of one sample: from a member's bytes to wire values.
 *
 * A pure function of (field content, input, seed, epoch, sample): whichever
 * worker and thread does it, the same bytes result. They are the field's raw
 * values in its wire type, little-endian, and exactly as many as its shape
 * says. */
#ifndef FBY_WORKER_TRANSFORM_FIELD_H
#define FBY_WORKER_TRANSFORM_FIELD_H

#include "pipeline/op.h"
#include "worker/transform/transform.h"

enum {
    FBY_LABEL_MAX_BYTES     = 64,      /* of a label's text, blanks included */
    FBY_JSON_MAX_BYTES      = 1 << 20, /* of a JSON member */
    FBY_JSON_BYTES_PER_BYTE = 64,      /* of memory, while it is parsed */
    FBY_JSON_MAX_DEPTH      = 32 /* objects and arrays within each other */
};

struct fby_field_job {
    const struct fby_field_content *field; /* borrowed */
    const uint8_t  *bytes;     /* the member's, borrowed; unused by "folder" */
    size_t          size;      /* of them */
    const uint64_t *sizes;     /* maps: of each member; in `bytes` they follow
                                each other; unused by others */
    uint32_t        width;     /* of a token of a sequence; else 0 */
    uint32_t        documents; /* packed: how many; their lengths (u32) come
                                  first in `bytes` */
    uint32_t        class_id;  /* from: folder */
    uint64_t        seed;      /* the draws' key */
    uint64_t        epoch;
    uint64_t        sample;
    uint32_t       *length;  /* out: entries of the row, where they vary;
                                then never NULL */
    uint8_t        *indices; /* out: of a sparse row, room for those of the
                                longest; then never NULL */
};

/* Bytes of one sample of the field: what fby_field_write writes. Where rows
 * vary in length, of the longest: it writes *job->length entries. */
size_t fby_field_bytes(const struct fby_field_content *field);

/* The same of a sparse row's indices; of others 0. */
size_t fby_field_index_bytes(const struct fby_field_content *field);

/* Write the field's values to `dst`, which has room for fby_field_bytes.
 *
 * Thread: one at a time for a transform.
 * Errors: FBY_BAD_SAMPLE  the member's complete bytes are refused; `why` says
 *                         what is wrong with them and what would be right
 *         FBY_FULL        memory is short, or the transform may not use as
 *                         much: not the sample's fault
 *         FBY_GONE        the transform's quota was closed
 *         FBY_USAGE       the content is not one the parser lets through.
 * On an error `dst` may be half written. */
FBY_CHECKED fby_err fby_field_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* Choose the decoder of a picture file in this field. Any thread.
 * Errors: FBY_BAD_SAMPLE for a PNG in a field whose `from` names none, and
 *         for a mask that is not a PNG. */
struct fby_picture_file;
struct fby_picture_decoder;
FBY_CHECKED fby_err fby_picture_decoder_for(
    const struct fby_field_content *field, const struct fby_picture_file *file,
    const struct fby_picture_decoder **out, struct fby_why *why);

/* What fby_field_write would do to a picture, read off its header; of maps off
 * the first one's, which may be given alone. */
struct fby_field_plan {
    uint32_t           width; /* of the upright picture */
    uint32_t           height;
    uint32_t           n_ops; /* the field's; 0 for other decoders */
    struct fby_op_plan plans[FBY_MAX_OPS];
};

/* Errors: as above. Any thread. Fields that are no pictures have no ops. */
FBY_CHECKED fby_err fby_field_plan(const struct fby_field_job *job,
    struct fby_field_plan *out, struct fby_why *why);

#endif
