/* job.h - a batch in work: its rows, its memory, its chunks, its fate.
 *
 * Made by the loop from a request, worked on by the stages, read by the loop
 * again as chunks come out. A job knows no session: whoever asks for the same
 * rows while it lives joins it. What several threads touch is atomic or behind
 * the job's lock; a chunk belongs to one thread at a time, handed on by the
 * count of its missing rows and by the list of ready ones.
 *
 * In the arena each chunk has 64 bytes of head room before its raw bytes, so
 * that it goes out in place whether stored or compressed. */
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
    uint16_t            field;  /* among the chosen ones */
    uint32_t            number; /* in the field */
    uint32_t            index;  /* in the batch; its slot in the arena */
    atomic_uint         missing_rows;
    uint8_t            *payload;    /* raw until encoded; 64 free bytes before;
                                    NULL before fby_job_commit */
    uint32_t            raw_bytes;  /* of the payload, once it has all rows;
                                       the span's, or less where rows vary */
    struct fby_coding   coding;     /* once encoded */
    uint32_t            wire_bytes; /* once encoded, of the payload */
    uint64_t            raw_hash;   /* once encoded */
    bool                ready;      /* the loop's: it was seen encoded */
    /* The loop's: whose prefix stands before the payload; 0: nobody's. */
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
    uint32_t          content_field[FBY_MAX_FIELDS]; /* of each chosen one */
    struct fby_coding coding[FBY_MAX_FIELDS];        /* wanted, likewise */
    uint64_t         *samples;                       /* of each row */
    struct fby_job_chunk *chunks;
    uint32_t *lengths[FBY_MAX_FIELDS]; /* of each row, where they vary; else
                                          NULL. A row's is its maker's until
                                          its chunk has all rows */
    struct fby_arena    *arena;
    atomic_uint          holds;
    atomic_bool          ended;        /* failed, or nobody wants it any more */
    uint32_t             ready_chunks; /* the loop's: seen encoded */
    atomic_uint_fast64_t fetch_ns, transform_ns, encode_ns;
    int64_t              begun_ns;
    uint32_t             run_rows;     /* fetched together; 1: one by one */
    uint32_t             next_row;     /* to be fetched; the backlog's lock */
    struct fby_job      *next_waiting; /* likewise */
    uint64_t             turn;         /* likewise */

    pthread_mutex_t             lock; /* guards all below */
    bool                        is_committed;
    struct fby_job_failure      failure;
    struct fby_job_substituted *substituted;
    size_t                      n_substituted;
    size_t                      substituted_bytes; /* of their names in END */
};

/* Bytes of arena that a batch of this layout takes. */
uint64_t fby_job_bytes(const struct fby_raw_layout *layout);

/* Plan the rows and charge the memory. The job is held once.
 *
 * Errors: FBY_USAGE   no such step, row or field
 *         FBY_CONFIG  the layout exceeds a limit
 *         FBY_FULL    no memory now; `tag` is the arena's, see arena.h. */
FBY_CHECKED fby_err fby_job_create(const struct fby_job_spec *spec,
    struct fby_arenas *arenas, void *tag, struct fby_job **out,
    struct fby_why *why);

/* Find its memory, unless that was done: before rows are written. Any thread.
 * Errors: FBY_AGAIN the system has none; `why` says how much it takes. */
FBY_CHECKED fby_err fby_job_commit(struct fby_job *self, struct fby_why *why);

/* The layout that fby_job_create would use; the same errors but FBY_FULL. */
FBY_CHECKED fby_err fby_job_layout(const struct fby_job_spec *spec,
    struct fby_raw_layout *out, struct fby_why *why);

struct fby_job *fby_job_hold(struct fby_job *self);
/* Let go and set *self_p to NULL; the last one lets go of the arena. */
void fby_job_release(struct fby_job **self_p);

/* Whether a request for `spec` can join. */
bool fby_job_is_same(
    const struct fby_job *self, const struct fby_job_spec *spec);

static inline bool fby_job_is_working(const struct fby_job *self)
{
    return !atomic_load(&self->ended);
}

/* End it unless it ended already; true for the one call that did. */
bool fby_job_cancel(struct fby_job *self);
bool fby_job_fail(struct fby_job *self, const struct fby_job_failure *failure);

/* Note that `row` holds `substitute`'s values because `cause`.
 * Errors: FBY_FULL, an END could not name so many; `why` says how many. */
FBY_CHECKED fby_err fby_job_record_substitute(struct fby_job *self,
    uint32_t row, uint64_t substitute, const struct fby_why *cause,
    struct fby_why *why);

/* Where row `row` of a chosen field is to be written, row_bytes contiguous. */
uint8_t *fby_job_row(struct fby_job *self, uint32_t field, uint32_t row);
/* And how many entries it has; NULL where rows do not vary. */
uint32_t *fby_job_length(struct fby_job *self, uint32_t field, uint32_t row);
/* And where a sparse row's indices are; NULL of others. */
uint8_t *fby_job_indices(struct fby_job *self, uint32_t field, uint32_t row);

struct fby_job_sink { /* who takes chunks that have all their rows */
    void (*complete)(void *context, struct fby_job_chunk *chunk);
    void *context;
};

/* All chosen fields of `n` rows are written, with their lengths: hands each
 * chunk that thereby has all its rows to `sink`, packed as it is to travel. */
void fby_job_rows_done(struct fby_job *self, uint32_t row, uint32_t n,
    const struct fby_job_sink *sink);

#endif
