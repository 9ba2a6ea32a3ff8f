/* sample.h - a few samples of a split in memory: their bytes as stored,
 * and the values that the pipeline makes of them.
 *
 * They are drawn from all over the split, the same ones each time. One that an
 * op or decoder refuses is left out and counted. */
#ifndef FBY_CLI_LINT_SAMPLE_H
#define FBY_CLI_LINT_SAMPLE_H

#include "cli/local.h"
#include "worker/plan/rows.h"
#include "worker/transform/field.h"

struct fby_lint_member {
    uint8_t  *bytes; /* owned; NULL: from the folder */
    size_t    size;
    uint64_t *sizes;     /* owned; maps: of each member in `bytes`; else NULL */
    uint32_t  width;     /* of a token of a sequence; else 0 */
    uint32_t  documents; /* in it, where they are packed */
};

struct fby_lint_sample {
    struct fby_local       *local; /* borrowed, open */
    struct fby_transform   *transform;
    struct fby_rows        *rows; /* of columns; NULL: there are members */
    struct fby_run         *run;  /* likewise */
    uint64_t                seed;
    uint32_t                n;
    uint32_t                refused;
    struct fby_why          refusal;                /* of the first of these */
    uint32_t                refused_field;          /* that refused it */
    uint64_t               *numbers;                /* n of them */
    struct fby_lint_member *members;                /* n rows of n_fields */
    uint8_t                *values[FBY_MAX_FIELDS]; /* n rows each */
    uint32_t *lengths[FBY_MAX_FIELDS]; /* of them, where they vary; else NULL */
    uint8_t  *indices[FBY_MAX_FIELDS]; /* of sparse rows; else NULL */
};

/* Read and make up to `most` samples; fewer where they would take more than
 * about a GiB, as stored and as made. Errors: FBY_IO, FBY_STALE of the data;
 * FBY_BAD_SAMPLE when all were refused, with the last cause. Free it also then.
 */
FBY_CHECKED fby_err fby_lint_sample_take(struct fby_lint_sample *self,
    struct fby_local *local, uint32_t most, struct fby_why *why);
void                fby_lint_sample_fini(struct fby_lint_sample *self);

/* Make row `i` of field `f` as `content` says, which may be another than the
 * pipeline's. Errors: those of fby_field_write. */
FBY_CHECKED fby_err fby_lint_sample_make(const struct fby_lint_sample *self,
    uint32_t i, uint32_t f, const struct fby_field_content *content,
    uint8_t *out);

/* Bytes of row `i` of field `f`, which is the first in its fby_field_bytes. */
size_t fby_lint_sample_bytes(
    const struct fby_lint_sample *self, uint32_t f, uint32_t i);

/* Of a sparse row: its indices, and their bytes; of others NULL and 0. */
uint8_t *fby_lint_sample_indices(
    const struct fby_lint_sample *self, uint32_t f, uint32_t i);
size_t fby_lint_sample_index_bytes(
    const struct fby_lint_sample *self, uint32_t f, uint32_t i);

/* The job of the same, for fby_field_plan. */
struct fby_field_job fby_lint_sample_job(const struct fby_lint_sample *self,
    uint32_t i, uint32_t f, const struct fby_field_content *content);

#endif
