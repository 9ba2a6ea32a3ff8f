/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - a batch in work: its rows, its memory, its chunks, its result.
 *
 * The loop creates a job from a request. The stages (stages.h) write its rows
 * into its arena and encode its chunks, each of which is sent as one message. A
 * job does not depend on a session, so later requests for the same rows join
 * it. Data that several threads use is atomic or guarded by the job's lock.
 * Each row is written by one thread. After its last row is written, a chunk
 * belongs to the encode stage. Then an event passes the chunk to the loop.
 *
 * In the arena each chunk has 64 bytes of head room before its raw bytes, for the
 * prefix of its message, so that a chunk is sent in place. The prefix names a
 * request and hashes the whole message. The encode threads write it for the
 * request that the job was created for, and for any other when the chunk is
 * sent. The fields that the request selects are called the chosen fields. */
#ifndef FBY_WORKER_STAGES_JOB_H
#define FBY_WORKER_STAGES_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "codec/codec.h"
#include "common/err.h"
#include "common/queue.h"
#include "proto/frame.h"
#include "proto/layout.h"
#include "proto/wire.h"
#include "worker/plan/dataset_plan.h"
#include "worker/stages/arena.h"

struct fby_job_spec {
    struct fby_dataset_plan *dataset_plan; /* borrowed by a caller's spec; the
                                              spec in a job has a reference */
    uint64_t                 seed, epoch, step;
    uint32_t                 first_row; /* index in the global batch, which
                                           has the rows of all ranks */
    uint32_t                 rows;      /* number of rows */
    uint64_t                 fields; /* bit i: choose field i; 0: all fields */
};

struct fby_job;
struct fby_fair_stream;

/* The first member of an item of the encode stage: a chunk, or work of the
 * loop. */
struct fby_encode_item {
    struct fby_queue_link link; /* of urgent work */
    /* Do the work, which the function then owns; NULL: the item is a chunk. */
    void (*run)(struct fby_encode_item *self, uint32_t thread);
};

struct fby_job_chunk {
    struct fby_encode_item item;
    struct fby_job        *job;
    struct fby_raw_span    span;
    uint16_t               field;  /* index among the chosen fields */
    uint32_t               number; /* index among the chunks of the field */
    uint32_t          index; /* in job->chunks; also its slot in the arena */
    atomic_uint       missing_rows; /* number of rows not yet written */
    uint8_t          *payload;      /* after the head room: raw bytes, then
                                         encoded; NULL before fby_job_commit */
    uint32_t          raw_bytes;    /* raw size; before all rows are written, an
                                     upper bound for ragged or sparse rows */
    struct fby_coding coding;       /* valid once encoded */
    uint32_t          wire_bytes;   /* encoded size, valid once encoded */
    uint64_t          raw_hash;     /* XXH64, valid once encoded */
    bool              ready;        /* loop only: its event was handled */
    /* The request whose prefix is in the head room; 0: none, or another one.
     * Loop only, once encoded. */
    struct fby_session_id session;
    struct fby_request_id request;
};

struct fby_job_failure { /* written once */
    fby_err                 err;
    uint64_t                sample; /* number of the refused sample */
    uint32_t                shard;  /* number of the sample's shard */
    uint64_t                offset; /* bytes to the member in the shard, or 0 */
    struct fby_error_detail why;    /* with the sample's place */
    uint64_t                cause;  /* hash of the text without the place */
};

struct fby_job_substituted {       /* a row with the values of another sample */
    uint32_t row;                  /* index in the job */
    uint64_t original, substitute; /* sample numbers */
    char    *text;                 /* why the original was refused; owned */
};

struct fby_job {
    struct fby_job_spec   spec;
    struct fby_raw_layout layout;
    uint32_t content_field[FBY_MAX_FIELDS]; /* [chosen field]: its index in the
                                               content */
    struct fby_coding coding[FBY_MAX_FIELDS]; /* [chosen field]: set by the
                                                     loop before the start */
    /* The request that the encode threads write prefixes for: set by the loop
     * before the start. 0: none, since its route seals chunks. */
    struct fby_session_id prefix_session;
    struct fby_request_id prefix_request;
    uint64_t             *samples;     /* [row]: sample number */
    struct fby_job_chunk *chunks;      /* [layout.n_chunks] */
    uint32_t *lengths[FBY_MAX_FIELDS]; /* [chosen field][row]: number of entries
                                          of the row, set by the thread that
                                          makes it; NULL for a dense field */
    struct fby_arena    *arena;
    atomic_uint          references;
    atomic_bool          aborted;      /* it failed or was cancelled */
    uint32_t             ready_chunks; /* loop only: number of `ready` chunks */
    atomic_uint_fast64_t fetch_ns, transform_ns, encode_ns; /* summed up */
    atomic_uint_fast64_t cpu_ns;   /* CPU time of the three stages */
    int64_t              begun_ns; /* when the job was created (fby_now_ns) */
    uint32_t run_rows; /* most rows that are made together, one column after
                          another (a run); 1: each row is made alone */
    /* Guarded by the backlog's lock: */
    uint32_t                next_row;     /* first row that no task has taken */
    struct fby_job         *next_waiting; /* in the backlog's list */
    struct fby_fair_stream *stream;       /* CPU time of the job's stream */
    uint64_t turn; /* the position of the job's stream in the backlog's
                             round-robin over the streams; lowest first */

    pthread_mutex_t             lock;         /* guards all below */
    bool                        is_committed; /* the arena has memory */
    struct fby_job_failure      failure;
    struct fby_job_substituted *substituted; /* array, in the order of rows */
    size_t                      n_substituted;
    size_t                      substituted_bytes; /* upper bound of their size
                                                      in the message END */
};

/* The size, in bytes, of the arena for a batch of this layout. */
uint64_t fby_job_arena_bytes(const struct fby_raw_layout *layout);

/* Create a job with one reference: choose the samples of its rows and charge
 * its memory to the pool of `arenas`. `tag` is the arena's tag, see arena.h.
 *
 * Errors: FBY_USAGE   no such step, row or field
 *         FBY_CONFIG  the layout exceeds a limit
 *         FBY_FULL    no memory now. */
FBY_CHECKED fby_err fby_job_create(const struct fby_job_spec *spec,
    struct fby_arenas *arenas, void *tag, struct fby_job **out,
    struct fby_error_detail *why);

/* Commit the job's memory, unless it is committed. Call before rows are
 * written. Thread: any.
 * Errors: FBY_AGAIN  the system has no memory now; `why` has the size. */
FBY_CHECKED fby_err fby_job_commit(
    struct fby_job *self, struct fby_error_detail *why);

/* Compute the layout that fby_job_create would use.
 * Errors: as fby_job_create, except FBY_FULL. */
FBY_CHECKED fby_err fby_job_layout(const struct fby_job_spec *spec,
    struct fby_raw_layout *out, struct fby_error_detail *why);

/* Add a reference; returns `self`. Thread: any. */
struct fby_job *fby_job_hold(struct fby_job *self);

/* Drop a reference and set *self_p to NULL; the last one frees the job and
 * releases its arena. NULL is allowed. Thread: any. */
void fby_job_release(struct fby_job **self_p);

/* True if the job makes exactly the rows and fields of `spec`. */
bool fby_job_matches(
    const struct fby_job *self, const struct fby_job_spec *spec);

static inline bool fby_job_is_aborted(const struct fby_job *self)
{
    return atomic_load(&self->aborted);
}

/* Abort the job. Returns false if it was already aborted. Thread: any. */
bool fby_job_cancel(struct fby_job *self);

/* Abort the job and store `failure` in it. Does nothing and returns false if
 * the job was already aborted. Thread: any. */
bool fby_job_fail(struct fby_job *self, const struct fby_job_failure *failure);

/* Record that `row` has the values of sample `substitute`. `cause` says why the
 * row's own sample was refused. Thread: any.
 * Errors: FBY_FULL  the message END has no room for one more such row. */
FBY_CHECKED fby_err fby_job_record_substitute(struct fby_job *self,
    uint32_t row, uint64_t substitute, const struct fby_error_detail *cause,
    struct fby_error_detail *why);

/* The destination of row `row` of chosen field `field`: row_bytes contiguous
 * bytes. */
uint8_t *fby_job_row_dst(struct fby_job *self, uint32_t field, uint32_t row);

/* The destination of the number of entries of the row; NULL if dense. */
uint32_t *fby_job_length_dst(
    struct fby_job *self, uint32_t field, uint32_t row);

/* The destination of the indices of a sparse row; NULL for other fields. */
uint8_t *fby_job_indices_dst(
    struct fby_job *self, uint32_t field, uint32_t row);

/* The members of the prefix of an encoded chunk, for a request. */
struct fby_chunk fby_job_chunk_head(const struct fby_job_chunk *chunk,
    struct fby_session_id session, struct fby_request_id request);

/* Write the prefix of an encoded chunk into its head room. This reads the whole
 * payload, to hash it. Thread: the one that encoded the chunk. */
void fby_job_chunk_write_prefix(struct fby_job_chunk *chunk,
    struct fby_session_id session, struct fby_request_id request);

struct fby_job_sink { /* receives chunks that have all their rows */
    void (*complete)(void *context, struct fby_job_chunk *chunk);
    void *context;
};

/* Record that rows [row, row + n) are written: all chosen fields, and their
 * lengths. For each chunk that now has all its rows, close the gaps between
 * ragged or sparse rows, and pass the chunk to `sink`. */
void fby_job_record_written(struct fby_job *self, uint32_t row, uint32_t n,
    const struct fby_job_sink *sink);

#endif
