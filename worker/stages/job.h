/* job.h - a batch in work: its rows, its memory, its chunks, its result.
 *
 * The loop creates a job from a request, the stages work on it, and the loop
 * reads its chunks as they become ready. A job knows no session: later requests
 * for the same rows join it. Data that several threads use is atomic or guarded
 * by the job's lock. A chunk belongs to one thread at a time: the count of its
 * missing rows passes it to the encode stage, an event passes it to the loop.
 *
 * In the arena each chunk has 64 bytes of head room before its raw bytes, so
 * that it is sent in place, stored or compressed. */
#ifndef FBY_WORKER_STAGES_JOB_H
#define FBY_WORKER_STAGES_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "codec/codec.h"
#include "common/err.h"
#include "proto/frame.h"
#include "proto/layout.h"
#include "proto/wire.h"
#include "worker/plan/dataset_plan.h"
#include "worker/stages/arena.h"

struct fby_job_spec {
    struct fby_dataset_plan *dataset_plan; /* borrowed; the job holds it */
    uint64_t                 seed, epoch, step;
    uint32_t                 first_row, rows; /* rows may be 0 */
    uint64_t                 fields;          /* 0: all */
};

struct fby_job;

struct fby_job_chunk {
    struct fby_job     *job;
    struct fby_raw_span span;
    uint16_t            field;  /* index among the chosen fields */
    uint32_t            number; /* in the field */
    uint32_t            index;  /* in the batch; also its slot in the arena */
    atomic_uint         missing_rows;
    uint8_t            *payload;    /* raw until encoded; 64 free bytes before;
                                    NULL before fby_job_commit */
    uint32_t            raw_bytes;  /* of the payload, once it has all rows;
                                       the span's, or less where rows vary */
    struct fby_coding   coding;     /* once encoded */
    uint32_t            wire_bytes; /* once encoded, of the payload */
    uint64_t            raw_hash;   /* once encoded */
    bool                ready;      /* the loop's: its event was handled */
    /* The loop's: the request that the prefix before the payload was written
     * for; 0: none. */
    struct fby_session_id session;
    struct fby_request_id request;
};

struct fby_job_failure { /* written once */
    fby_err        err;
    uint64_t       sample;
    uint32_t       shard;
    uint64_t       offset;
    struct fby_why why;
};

struct fby_job_substituted {
    uint32_t row;
    uint64_t original, substitute;
    char    *text; /* why the original was refused */
};

struct fby_job {
    struct fby_job_spec   spec;
    struct fby_raw_layout layout;
    uint32_t          content_field[FBY_MAX_FIELDS]; /* of each chosen field */
    struct fby_coding coding[FBY_MAX_FIELDS];        /* wanted, likewise */
    uint64_t         *samples;                       /* of each row */
    struct fby_job_chunk *chunks;
    uint32_t *lengths[FBY_MAX_FIELDS]; /* of each row of a ragged or sparse
                                          field; else NULL. Written by the
                                          thread that makes the row */
    struct fby_arena    *arena;
    atomic_uint          holds;        /* reference count */
    atomic_bool          ended;        /* failed or cancelled */
    uint32_t             ready_chunks; /* the loop's: chunks with `ready` */
    atomic_uint_fast64_t fetch_ns, transform_ns, encode_ns;
    int64_t              begun_ns;
    uint32_t             run_rows;     /* rows of a run; 1: one by one */
    uint32_t             next_row;     /* to fetch; under the backlog's lock */
    struct fby_job      *next_waiting; /* likewise */
    uint64_t             turn;         /* likewise */

    pthread_mutex_t             lock; /* guards all below */
    bool                        is_committed;
    struct fby_job_failure      failure;
    struct fby_job_substituted *substituted;
    size_t                      n_substituted;
    size_t                      substituted_bytes; /* of their text in END */
};

/* The arena bytes of a batch of this layout. */
uint64_t fby_job_bytes(const struct fby_raw_layout *layout);

/* Create a job that is held once: choose the samples of its rows and charge its
 * memory. `tag` is the arena's, see arena.h.
 *
 * Errors: FBY_USAGE   no such step, row or field
 *         FBY_CONFIG  the layout exceeds a limit
 *         FBY_FULL    no memory now. */
FBY_CHECKED fby_err fby_job_create(const struct fby_job_spec *spec,
    struct fby_arenas *arenas, void *tag, struct fby_job **out,
    struct fby_why *why);

/* Commit the job's memory, unless that was done. Call before rows are written.
 * Thread: any.
 * Errors: FBY_AGAIN  the system has none now; `why` says how much is needed. */
FBY_CHECKED fby_err fby_job_commit(struct fby_job *self, struct fby_why *why);

/* Compute the layout that fby_job_create would use.
 * Errors: as fby_job_create, except FBY_FULL. */
FBY_CHECKED fby_err fby_job_layout(const struct fby_job_spec *spec,
    struct fby_raw_layout *out, struct fby_why *why);

/* Add a reference; returns `self`. Thread: any. */
struct fby_job *fby_job_hold(struct fby_job *self);

/* Drop a reference and set *self_p to NULL; the last one frees the job and
 * releases its arena. NULL is fine. Thread: any. */
void fby_job_release(struct fby_job **self_p);

/* Whether the job makes the batch of `spec`. */
bool fby_job_is_same(
    const struct fby_job *self, const struct fby_job_spec *spec);

static inline bool fby_job_is_working(const struct fby_job *self)
{
    return !atomic_load(&self->ended);
}

/* End the job; false: it had ended already. Thread: any. */
bool fby_job_cancel(struct fby_job *self);

/* The same, with the reason. */
bool fby_job_fail(struct fby_job *self, const struct fby_job_failure *failure);

/* Record that `row` has the values of sample `substitute`, because of `cause`.
 * Thread: any.
 * Errors: FBY_FULL  more than an END can name; `why` says how many. */
FBY_CHECKED fby_err fby_job_record_substitute(struct fby_job *self,
    uint32_t row, uint64_t substitute, const struct fby_why *cause,
    struct fby_why *why);

/* Where to write row `row` of chosen field `field`: row_bytes contiguous bytes.
 */
uint8_t *fby_job_row(struct fby_job *self, uint32_t field, uint32_t row);

/* Where to write the row's number of entries; NULL for a dense field. */
uint32_t *fby_job_length(struct fby_job *self, uint32_t field, uint32_t row);

/* Where to write a sparse row's indices; NULL for other fields. */
uint8_t *fby_job_indices(struct fby_job *self, uint32_t field, uint32_t row);

struct fby_job_sink { /* receives chunks that have all their rows */
    void (*complete)(void *context, struct fby_job_chunk *chunk);
    void *context;
};

/* All chosen fields of `n` rows from `row` on are written, with their lengths.
 * Packs each chunk that now has all its rows and passes it to `sink`. */
void fby_job_rows_done(struct fby_job *self, uint32_t row, uint32_t n,
    const struct fby_job_sink *sink);

#endif
