/* run.h - rows of columns, many at a time, where they lie in memory.
 *
 * A run is a few thousand samples of a dataset of columns, or of sequences of
 * tokens. For one column after another it says where the bytes of each row are.
 * Nothing is copied: the files are mapped, see maps.h, and what was read of
 * them holds only once the column is closed without an error. */
#ifndef FBY_WORKER_SOURCE_RUN_H
#define FBY_WORKER_SOURCE_RUN_H

#include "worker/source/dataset.h"
#include "worker/source/maps.h"
#include "worker/source/shard.h"

enum { FBY_RUN_ROWS = 4096 };

struct fby_run { /* large; one a thread */
    uint32_t                 n;
    uint32_t                 n_shards;             /* different ones */
    uint32_t                 shard[FBY_RUN_ROWS];  /* their numbers */
    const struct fby_column *column[FBY_RUN_ROWS]; /* of each; while open: of
                                                      a ragged one the values */
    uint16_t                 slot[FBY_RUN_ROWS]; /* a row: place in the above */
    uint32_t                 row[FBY_RUN_ROWS]; /* a row: number in its shard */
    const uint8_t *at[FBY_RUN_ROWS]; /* a row: bytes, while open; NULL: its
                                        offsets are wrong */
    int64_t
        begin[FBY_RUN_ROWS]; /* a row of a ragged or CSR one: its offsets, */
    int64_t             end[FBY_RUN_ROWS]; /* as they were read */
    uint32_t            n_files; /* of a column: 2 of a ragged one, else 1 */
    uint32_t            failed;  /* the row to name in errors */
    struct fby_map_use  use[2 * FBY_RUN_ROWS]; /* n_files of each shard */
    struct fby_map_uses uses;
    uint16_t           *slot_of; /* a shard; sparse, may be anything */
    uint32_t            slots;   /* room in it */
};

struct fby_run *fby_run_create(void);
void            fby_run_destroy(struct fby_run **self_p);

/* The column that a field is in one shard, as below.
 * Errors: likewise. */
FBY_CHECKED fby_err fby_column_pick(const struct fby_shard *shard,
    const struct fby_field_content *field, uint16_t *out, struct fby_why *why);

/* Which column a field is: in every shard the first of field->from that it has,
 * of a sparse one among those that are CSR, of another one with a max_length
 * among those that are ragged, of which it is the values. Frees with free().
 * Errors: FBY_CONFIG, naming the shard that has none, and what it has. */
FBY_CHECKED fby_err fby_dataset_pick(const struct fby_dataset *dataset,
    const struct fby_field_content *field, uint16_t **out, struct fby_why *why);

/* The column that a field is in one shard. */
const struct fby_column *fby_dataset_column(
    const struct fby_dataset *dataset, const uint16_t *pick, uint32_t shard);

/* Find the shards of `n` samples, 1 to FBY_RUN_ROWS. */
void fby_run_place(struct fby_run *self, const struct fby_dataset *dataset,
    const uint64_t *samples, uint32_t n);

/* Open one column: self->at points to each row then, and of a ragged or CSR one
 * begin and end say how many entries lie there.
 * Errors: FBY_STALE, FBY_AGAIN, FBY_IO, with shard and file; closed again. */
FBY_CHECKED fby_err fby_run_open(struct fby_run *self,
    const struct fby_dataset *dataset, const uint16_t *pick,
    struct fby_why *why);

/* Where the indices of row `row` of a CSR column lie, as many as its entries;
 * its offsets are right. */
const uint8_t *fby_run_indices(const struct fby_run *self, uint32_t row);

/* Open the files of tokens: fby_run_tokens knows where they lie then.
 * Errors: as above. */
FBY_CHECKED fby_err fby_run_open_tokens(struct fby_run *self,
    const struct fby_dataset *dataset, struct fby_why *why);

struct fby_run_piece {
    const uint8_t *at;
    uint64_t       tokens; /* that lie there, at most as many as asked for */
    uint32_t       width;  /* bytes of a token */
};
/* Where `n` tokens of row `row` of the run begin, of which the first is its
 * token `first`, as far as they lie together. n > 0; none is beyond the row's
 * last target. */
struct fby_run_piece fby_run_tokens(const struct fby_run *self,
    const struct fby_dataset *dataset, uint32_t row, uint32_t first,
    uint32_t n);

/* Errors: FBY_STALE, FBY_IO: what was read is of no use. */
FBY_CHECKED fby_err fby_run_close(struct fby_run *self,
    const struct fby_dataset *dataset, struct fby_why *why);

#endif
