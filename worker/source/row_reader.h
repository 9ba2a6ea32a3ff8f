/* SPDX-License-Identifier: Apache-2.0 */
/* row_reader.h - read many rows at a time, in place, from mapped files.
 *
 * A row is a sample of a dataset of columns, or a sequence of tokens of a
 * dataset without packing. A run is up to FBY_RUN_ROWS rows that are read
 * together. The caller begins a run, then opens and closes one column after
 * another. While a column is open, the caller reads the bytes of each row in
 * the mapped file (mapped_files.h), without a copy. If closing the column
 * fails, the caller discards all that it read. */
#ifndef FBY_WORKER_SOURCE_ROW_READER_H
#define FBY_WORKER_SOURCE_ROW_READER_H

#include "worker/source/dataset.h"
#include "worker/source/mapped_files.h"
#include "worker/source/shard.h"

enum { FBY_RUN_ROWS = 4096 };

/* A run, and its open column. The shards that have rows of the run are numbered
 * from 0. This number is called a slot. The struct is large: one a thread. */
struct fby_row_reader {
    uint32_t                 n_rows;
    uint32_t                 n_shards;             /* with a slot in this run */
    uint32_t                 shard[FBY_RUN_ROWS];  /* per slot: shard number */
    const struct fby_column *column[FBY_RUN_ROWS]; /* per slot: the open column
                                                      (if ragged: its values);
                                                      NULL: tokens */
    uint16_t       slot[FBY_RUN_ROWS];         /* per row: slot of its shard */
    uint32_t       row_in_shard[FBY_RUN_ROWS]; /* per row */
    const uint8_t *at[FBY_RUN_ROWS]; /* per row: its bytes in the open column;
                                        NULL: its offsets are wrong */
    /* Per row of a ragged or CSR column: number of its first entry, and number
     * of its last entry + 1. */
    int64_t  begin[FBY_RUN_ROWS];
    int64_t  end[FBY_RUN_ROWS];
    uint32_t n_files; /* files of a column: 2 if ragged, else 1 */
    uint32_t failed;  /* the row that an error message names */
    /* Per slot: its n_files mapped files. The first uses.n are valid. */
    struct fby_mapping_use  mapped[2 * FBY_RUN_ROWS];
    struct fby_mapping_uses uses; /* its list is `mapped` */
    /* Per shard of the dataset: its slot in this run, or a slot of an earlier
     * run. It is of this run if < n_shards and shard[slot] is this shard. */
    uint16_t *slot_of;
    uint32_t  slot_of_size; /* number of elements of slot_of */
};

struct fby_row_reader *fby_row_reader_create(void);
void                   fby_row_reader_destroy(struct fby_row_reader **self_p);

/* Set *out to the index of the column that a field reads in a shard: the first
 * name in field->from that exists in the form that the field needs. A sparse
 * field needs a CSR column, any other field with a max_length a ragged column
 * (pipeline/types.h). For a ragged column, *out is the index of the values.
 * Errors: FBY_CONFIG  no such column; `why` lists the columns of the shard. */
FBY_CHECKED fby_err fby_shard_pick_column(const struct fby_shard *shard,
    const struct fby_field_content *field, uint16_t *out,
    struct fby_error_detail *why);

/* Call fby_shard_pick_column() for each shard. *out is an array with the index
 * of the column in each shard, called `pick` below. The caller frees it.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_dataset_pick_columns(const struct fby_dataset *dataset,
    const struct fby_field_content *field, uint16_t **out,
    struct fby_error_detail *why);

/* Returns the column of a shard with the index pick[shard]. */
const struct fby_column *fby_dataset_column(
    const struct fby_dataset *dataset, const uint16_t *pick, uint32_t shard);

/* Begin a run of `n` samples (1 to FBY_RUN_ROWS): set their slots and rows. */
void fby_row_reader_begin_run(struct fby_row_reader *self,
    const struct fby_dataset *dataset, const uint64_t *samples, uint32_t n);

/* Open one column in all shards of the run. Its index in a shard is
 * pick[shard]. Sets self->at and, for a ragged or CSR column, begin and end.
 * Errors: FBY_STALE, FBY_AGAIN, FBY_IO; `why` names the column. */
FBY_CHECKED fby_err fby_row_reader_open_column(struct fby_row_reader *self,
    const struct fby_dataset *dataset, const uint16_t *pick,
    struct fby_error_detail *why);

/* Returns the indices (one for each entry) of a row of an open CSR column.
 * self->at[row] must not be NULL. */
const uint8_t *fby_row_reader_find_indices(
    const struct fby_row_reader *self, uint32_t row);

/* Open the token files of the run. Errors: those of
 * fby_row_reader_open_column. */
FBY_CHECKED fby_err fby_row_reader_open_tokens(struct fby_row_reader *self,
    const struct fby_dataset *dataset, struct fby_error_detail *why);

struct fby_token_view {    /* tokens that are contiguous in memory */
    const uint8_t *at;     /* the first token */
    uint64_t       tokens; /* number of tokens */
    uint32_t       width;  /* bytes of a token */
};

/* Find the tokens `first` to first + n - 1 of a row, where n > 0. Returns only
 * those that are contiguous with the first. A row has as many tokens as its
 * length and, with targets, one more: the target of the last one. */
struct fby_token_view fby_row_reader_find_tokens(
    const struct fby_row_reader *self, const struct fby_dataset *dataset,
    uint32_t row, uint32_t first, uint32_t n);

/* Close the column or the tokens.
 * Errors: FBY_STALE, FBY_IO: discard all that was read. */
FBY_CHECKED fby_err fby_row_reader_close(struct fby_row_reader *self,
    const struct fby_dataset *dataset, struct fby_error_detail *why);

#endif
