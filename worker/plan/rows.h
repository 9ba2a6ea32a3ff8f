/* rows.h - fields of rows of columns: gathered and cast to where they travel.
 *
 * Decoding a picture takes milliseconds, a row of a column nanoseconds: so the
 * rows of such a source are made a run at a time, column by column, with no
 * block in between and nothing done for a row but its copy. A row whose value
 * the wire type cannot hold is found all the same, and named. */
#ifndef FBY_WORKER_PLAN_ROWS_H
#define FBY_WORKER_PLAN_ROWS_H

#include "pipeline/types.h"
#include "worker/source/run.h"
#include "worker/transform/apply.h"

/* The columns of a content's fields; constant, shared by threads. */
struct fby_rows;

/* `dataset` and `content` must outlive it.
 * Errors: FBY_CONFIG  a field's column is missing, or has another shape, or is
 *                     not of whole numbers where ids are wanted; with names. */
FBY_CHECKED fby_err fby_rows_create(const struct fby_content *content,
    const struct fby_dataset *dataset, struct fby_rows **out,
    struct fby_why *why);
void                fby_rows_destroy(struct fby_rows **self_p);

/* Open the column of field `field` (of tokens: their files) for a run that is
 * placed, and close it.
 * Errors: as of fby_run_open and fby_run_close, with the field. */
FBY_CHECKED fby_err fby_rows_open(const struct fby_rows *self, uint32_t field,
    struct fby_run *run, struct fby_why *why);
FBY_CHECKED fby_err fby_rows_close(const struct fby_rows *self, uint32_t field,
    struct fby_run *run, struct fby_why *why);

struct fby_rows_part { /* of a run, one row after another */
    uint32_t  first, n;
    uint8_t  *dst;     /* fby_field_bytes of the field apart */
    uint32_t *lengths; /* of rows of several lengths: of each; else NULL */
    uint8_t
        *indices; /* of sparse rows, fby_field_index_bytes apart, else NULL */
    struct fby_transform *transform; /* this thread's */
};

/* Make a part of the run; sets bad[i] of row i of the run when it is refused.
 * The column is open. */
void fby_rows_make(const struct fby_rows *self, uint32_t field,
    const struct fby_run *run, struct fby_rows_part part, bool *bad);

struct fby_rows_ask {
    uint32_t                        field;
    uint64_t                        sample;
    const struct fby_field_content *as; /* made as this says; NULL: as always */
    uint32_t *length;  /* of a row of several lengths: its entries; else NULL */
    uint8_t  *indices; /* of a sparse row; else NULL */
    struct fby_transform *transform; /* this thread's */
};

/* One sample of one field to `dst`; `run` is used for it.
 * Errors: FBY_BAD_SAMPLE, with the value; as of fby_rows_open. */
FBY_CHECKED fby_err fby_rows_one(const struct fby_rows *self,
    const struct fby_rows_ask *ask, struct fby_run *run, uint8_t *dst,
    struct fby_why *why);

#endif
