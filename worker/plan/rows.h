/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - make rows of a batch from columns or tokens.
 *
 * A picture takes milliseconds to decode, a row of a column only nanoseconds to
 * copy. So many rows are made together, column by column, straight into the
 * batch, and the only work for each row is its copy. Still, an error names the
 * row with a value that the wire type (the type that is sent) cannot hold.
 *
 * A run is the rows of one batch that are made together (row_reader.h). */
#ifndef FBY_WORKER_PLAN_ROWS_H
#define FBY_WORKER_PLAN_ROWS_H

#include "pipeline/types.h"
#include "worker/source/row_reader.h"
#include "worker/transform/apply.h"

/* The columns of a content's fields; constant, shared by threads. */
struct fby_rows;

/* Find the column of each field in `dataset`, and check its shape and dtype.
 * `dataset` and `content` must outlive *out.
 * Errors: FBY_CONFIG  a column is missing, has another shape, or does not hold
 *                     whole numbers where ids are needed; `why` has names. */
FBY_CHECKED fby_err fby_rows_create(const struct fby_content *content,
    const struct fby_dataset *dataset, struct fby_rows **out,
    struct fby_error_detail *why);

/* Destroy *self_p and set it to NULL; NULL is allowed. */
void fby_rows_destroy(struct fby_rows **self_p);

/* Open the column of a field, or the files of a field of tokens, for the run of
 * `reader`. `field` is an index in the content, here and below.
 * Errors: as fby_row_reader_open_column; `why` names the field. */
FBY_CHECKED fby_err fby_rows_open(const struct fby_rows *self, uint32_t field,
    struct fby_row_reader *reader, struct fby_error_detail *why);

/* Close the column or the files.
 * Errors: as fby_row_reader_close; `why` names the field. */
FBY_CHECKED fby_err fby_rows_close(const struct fby_rows *self, uint32_t field,
    struct fby_row_reader *reader, struct fby_error_detail *why);

struct fby_rows_group { /* consecutive rows of a run, adjacent in the batch */
    uint32_t  first;    /* number of the first row in the run */
    uint32_t  n;        /* number of rows */
    uint8_t  *dst;      /* row i goes to dst + i * fby_field_bytes(field) */
    uint32_t *lengths;  /* gets the number of entries of each row; NULL for
                           dense rows */
    uint8_t  *indices;  /* the indices of sparse row i go to indices +
                           i * fby_field_index_bytes(field); NULL for others */
    struct fby_transform *transform; /* that of the calling thread */
};

/* Write the rows of `group`. The column must be open. Sets bad[i] to true if
 * row i of the run is refused; leaves it unchanged otherwise. */
void fby_rows_write(const struct fby_rows *self, uint32_t field,
    const struct fby_row_reader *reader, struct fby_rows_group group,
    bool *bad);

struct fby_row_request {
    uint32_t field;
    uint64_t sample; /* number in the dataset */
    /* The settings of the field; NULL: those of the content. */
    const struct fby_field_content *settings_override;
    uint32_t *length;  /* gets the number of entries of a ragged or sparse row;
                          NULL for dense rows */
    uint8_t  *indices; /* gets the indices of a sparse row; NULL for others */
    struct fby_transform *transform; /* that of the calling thread */
};

/* Write one sample of one field to `dst`. `reader` is used as scratch memory.
 * Errors: FBY_BAD_SAMPLE  `why` names the value
 *         those of fby_rows_open. */
FBY_CHECKED fby_err fby_rows_write_one(const struct fby_rows *self,
    const struct fby_row_request *request, struct fby_row_reader *reader,
    uint8_t *dst, struct fby_error_detail *why);

#endif
