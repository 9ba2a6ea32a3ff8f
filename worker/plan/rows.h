/* rows.h - fields of rows of columns: gather and cast them into the batch.
 *
 * Decoding a picture takes milliseconds, a row of a column nanoseconds. So rows
 * of columns are made a run at a time, column by column, straight into the
 * batch; the only work for each row is its copy. A row with a value that the
 * wire type cannot hold is still detected and named in the error.
 *
 * A run is a sequence of rows of one batch that are made together. */
#ifndef FBY_WORKER_PLAN_ROWS_H
#define FBY_WORKER_PLAN_ROWS_H

#include "pipeline/types.h"
#include "worker/source/run.h"
#include "worker/transform/apply.h"

/* The columns of a content's fields; constant, shared by threads. */
struct fby_rows;

/* Find the column of each field in `dataset` and check that it fits. `dataset`
 * and `content` must outlive *out.
 * Errors: FBY_CONFIG  a column is missing, has another shape, or does not hold
 *                     whole numbers where ids are needed; `why` has names. */
FBY_CHECKED fby_err fby_rows_create(const struct fby_content *content,
    const struct fby_dataset *dataset, struct fby_rows **out,
    struct fby_why *why);

/* Destroy *self_p and set it to NULL; NULL is fine. */
void fby_rows_destroy(struct fby_rows **self_p);

/* Open the column of field `field`, or the files of a field of tokens, for
 * `run`, after fby_run_place.
 * Errors: as fby_run_open; `why` names the field. */
FBY_CHECKED fby_err fby_rows_open(const struct fby_rows *self, uint32_t field,
    struct fby_run *run, struct fby_why *why);

/* Close it again. Errors: as fby_run_close; `why` names the field. */
FBY_CHECKED fby_err fby_rows_close(const struct fby_rows *self, uint32_t field,
    struct fby_run *run, struct fby_why *why);

struct fby_rows_part { /* consecutive rows of a run, adjacent in memory */
    uint32_t  first, n;
    uint8_t  *dst;     /* rows at a distance of fby_field_bytes */
    uint32_t *lengths; /* of ragged and sparse rows, one each; else NULL */
    uint8_t  *indices; /* of sparse rows, at a distance of
                          fby_field_index_bytes; else NULL */
    struct fby_transform *transform; /* this thread's */
};

/* Make a part of `run`, whose column is open. Sets bad[i] to true if row i of
 * the run is refused. */
void fby_rows_make(const struct fby_rows *self, uint32_t field,
    const struct fby_run *run, struct fby_rows_part part, bool *bad);

struct fby_rows_ask {
    uint32_t                        field;
    uint64_t                        sample;
    const struct fby_field_content *as; /* used instead of the content's field;
                                           NULL: the content's */
    uint32_t *length;  /* out: entries of a ragged or sparse row; else NULL */
    uint8_t  *indices; /* out: indices of a sparse row; else NULL */
    struct fby_transform *transform; /* this thread's */
};

/* Write one sample of one field to `dst`; `run` is scratch.
 * Errors: FBY_BAD_SAMPLE  `why` names the value; as fby_rows_open. */
FBY_CHECKED fby_err fby_rows_one(const struct fby_rows *self,
    const struct fby_rows_ask *ask, struct fby_run *run, uint8_t *dst,
    struct fby_why *why);

#endif
