/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - hold some samples of a split in memory: their stored bytes, and
 * the values that the pipeline makes of them.
 *
 * The samples are spread over the whole split, and are the same in each run. A
 * sample that an op or decoder refuses is left out and counted. Row i of a
 * field is its value in the i-th sample. */
#ifndef FBY_CLI_LINT_SAMPLE_H
#define FBY_CLI_LINT_SAMPLE_H

#include "cli/local.h"
#include "worker/plan/rows.h"
#include "worker/source/dataset.h"
#include "worker/transform/field.h"

struct fby_lint_member { /* the stored bytes of one field of a sample */
    uint8_t  *bytes;     /* owned; NULL: the field reads no member */
    size_t    size;      /* number of `bytes` */
    uint64_t *sizes;     /* owned; bytes of each map; NULL: not maps */
    uint32_t  width;     /* bytes of one token; 0: no tokens */
    uint32_t  documents; /* number of documents in a packed sequence */
};

struct fby_lint_samples { /* the samples, and the state of reading them */
    struct fby_local       *local; /* borrowed, open */
    struct fby_transform   *transform;
    struct fby_rows        *rows;    /* reader of columns; NULL: no columns */
    struct fby_row_reader  *reader;  /* buffers of `rows`; or NULL */
    uint64_t                seed;    /* of the pipeline */
    uint32_t                n;       /* number of samples */
    uint32_t                refused; /* samples left out */
    struct fby_error_detail refusal; /* cause of the first refusal */
    uint32_t                refused_field; /* its field index */
    /* The member that caused the error of the sample that was read last. */
    struct fby_member bad_member;
    bool              has_bad_member; /* false: none, or it is not known */
    uint32_t         *bad_file;       /* of a stack: its index in `from` */
    uint64_t         *numbers;        /* n sample numbers */
    struct fby_lint_member *members;  /* n x n_fields */
    /* The sizes of the pictures of the last sample, before the ops; one for
     * each field. {0, 0}: not decoded. */
    struct fby_size *picture_sizes;
    /* For each field: */
    uint8_t  *values[FBY_MAX_FIELDS];  /* n rows of fby_field_bytes */
    uint32_t *lengths[FBY_MAX_FIELDS]; /* n entry counts; NULL: dense rows */
    uint8_t  *indices[FBY_MAX_FIELDS]; /* of n sparse rows; else NULL */
};

/* Read up to `limit` samples and make their values. Reads fewer if they would
 * need more than about 1 GiB of memory. Call fini also after an error.
 * Errors: FBY_IO, FBY_STALE of the data; FBY_BAD_SAMPLE when all were refused,
 *         with the cause of the last refusal. */
FBY_CHECKED fby_err fby_lint_samples_read(struct fby_lint_samples *self,
    struct fby_local *local, uint32_t limit, struct fby_error_detail *why);

/* Prepare to check samples one at a time, with fby_lint_samples_check. Several
 * threads may check samples of the same `local`, each with its own `self`. Call
 * fini also after an error. Errors: those of fby_rows_create. */
FBY_CHECKED fby_err fby_lint_samples_begin_check(struct fby_lint_samples *self,
    struct fby_local *local, struct fby_error_detail *why);

/* Read a sample and make its values once. `why` names the field and the cause,
 * for FBY_STALE also the file. A sample is bad too if a worker with the default
 * memory cannot read it.
 * Errors: FBY_BAD_SAMPLE, FBY_IO, FBY_STALE; self->bad_member is set. */
FBY_CHECKED fby_err fby_lint_samples_check(struct fby_lint_samples *self,
    uint64_t sample, struct fby_error_detail *why);

/* Free everything. `self` is {0} afterwards. */
void fby_lint_samples_fini(struct fby_lint_samples *self);

/* Field `f` as in the pipeline. */
static inline const struct fby_field_content *fby_lint_field_of(
    const struct fby_lint_samples *self, uint32_t f)
{
    return &self->local->split->content.fields[f];
}

/* Write the values of row `i` of field `f` to `out`. `content` describes the
 * field, and may differ from the field in the pipeline.
 * Errors: those of fby_field_write. */
FBY_CHECKED fby_err fby_lint_make_row(const struct fby_lint_samples *self,
    uint32_t f, uint32_t i, const struct fby_field_content *content,
    uint8_t *out, struct fby_error_detail *why);

/* Bytes of the values of row `i` of field `f`, at most fby_field_bytes. */
size_t fby_lint_row_bytes(
    const struct fby_lint_samples *self, uint32_t f, uint32_t i);

/* The indices of a sparse row; NULL for other fields. */
uint8_t *fby_lint_row_indices(
    const struct fby_lint_samples *self, uint32_t f, uint32_t i);

/* Bytes of the indices of a sparse row; 0 for other fields. */
size_t fby_lint_row_index_bytes(
    const struct fby_lint_samples *self, uint32_t f, uint32_t i);

/* The job that makes such a row, for fby_field_plan. */
struct fby_field_job fby_lint_row_job(const struct fby_lint_samples *self,
    uint32_t f, uint32_t i, const struct fby_field_content *content);

#endif
