/* sample.h - a few samples of a split in memory: their stored bytes, and the
 * values that the pipeline makes of them.
 *
 * The samples are spread over the whole split, and are the same in each run. A
 * sample that an op or decoder refuses is left out and counted. */
#ifndef FBY_CLI_LINT_SAMPLE_H
#define FBY_CLI_LINT_SAMPLE_H

#include "cli/local.h"
#include "worker/plan/rows.h"
#include "worker/transform/field.h"

struct fby_lint_member {
    uint8_t  *bytes;     /* owned; NULL: the field reads no member */
    size_t    size;      /* of `bytes` */
    uint64_t *sizes;     /* owned; bytes of each map; NULL: no maps */
    uint32_t  width;     /* bytes of a token; 0: no tokens */
    uint32_t  documents; /* number of documents in a packed sequence */
};

struct fby_lint_sample {
    struct fby_local       *local; /* borrowed, open */
    struct fby_transform   *transform;
    struct fby_rows        *rows; /* of columns; NULL: samples have members */
    struct fby_run         *run;  /* likewise */
    uint64_t                seed;
    uint32_t                n;                      /* number of samples */
    uint32_t                refused;                /* samples left out */
    struct fby_error_detail refusal;                /* cause of the first one */
    uint32_t                refused_field;          /* index of its field */
    uint64_t               *numbers;                /* n sample numbers */
    struct fby_lint_member *members;                /* n rows of n_fields */
    uint8_t                *values[FBY_MAX_FIELDS]; /* n rows each */
    uint32_t *lengths[FBY_MAX_FIELDS]; /* of ragged rows; else NULL */
    uint8_t  *indices[FBY_MAX_FIELDS]; /* of sparse rows; else NULL */
};

/* Read and make up to `most` samples; fewer if they would need more than about
 * 1 GiB, stored and made. Call fini also after an error.
 * Errors: FBY_IO, FBY_STALE of the data; FBY_BAD_SAMPLE when all were refused,
 *         with the last cause. */
FBY_CHECKED fby_err fby_lint_sample_take(struct fby_lint_sample *self,
    struct fby_local *local, uint32_t most, struct fby_error_detail *why);

/* Free everything. `self` is {0} afterwards. */
void fby_lint_sample_fini(struct fby_lint_sample *self);

/* The content of field `f`. */
static inline const struct fby_field_content *fby_lint_field_of(
    const struct fby_lint_sample *self, uint32_t f)
{
    return &self->local->split->content.fields[f];
}

/* Make row `i` of field `f` into `out` by `content`, which may differ from that
 * of the pipeline. Errors: those of fby_field_write. */
FBY_CHECKED fby_err fby_lint_sample_make(const struct fby_lint_sample *self,
    uint32_t i, uint32_t f, const struct fby_field_content *content,
    uint8_t *out, struct fby_error_detail *why);

/* Bytes that row `i` of field `f` uses of its fby_field_bytes. */
size_t fby_lint_sample_bytes(
    const struct fby_lint_sample *self, uint32_t f, uint32_t i);

/* The indices of a sparse row; NULL for other fields. */
uint8_t *fby_lint_sample_indices(
    const struct fby_lint_sample *self, uint32_t f, uint32_t i);

/* Bytes of these indices; 0 for other fields. */
size_t fby_lint_sample_index_bytes(
    const struct fby_lint_sample *self, uint32_t f, uint32_t i);

/* The job to make row `i` of field `f` by `content`, for fby_field_plan. */
struct fby_field_job fby_lint_sample_job(const struct fby_lint_sample *self,
    uint32_t i, uint32_t f, const struct fby_field_content *content);

#endif
