/* stages.h - fetch, transform, encode: from a job to chunks that can be sent.
 *
 *   backlog -> fetch -> transform -> encode -> list of events -> the loop
 *
 * Every queue but the last is bounded, so a slow stage stops those before it.
 * The last is bounded by the arenas, which only the loop takes. Only rows to
 * be fetched again, as substitutes, go back. They go to the backlog, where
 * queueing never blocks, so the stages cannot deadlock. */
#ifndef FBY_WORKER_STAGES_H
#define FBY_WORKER_STAGES_H

#include "common/stage.h"
#include "worker/stages/job.h"
#include "worker/stages/memory.h"

struct fby_stages_config {
    uint32_t fetch_threads, transform_threads, encode_threads;
    int      nice;          /* niceness of all these threads, 0 to 19 */
    size_t   fetch_bytes;   /* of members between fetch and transform; also the
                               largest sample that can be read */
    size_t   scratch_bytes; /* to decode and transform pictures in */
    size_t   encode_bytes;  /* to compress chunks into */
};

/* The largest encode_bytes that `encode_threads` threads can use. */
size_t fby_stages_most_encode_bytes(uint32_t encode_threads);

struct fby_stages;

/* Create the stages and start their threads.
 * Errors: FBY_SYS  no eventfd, memory or thread. */
FBY_CHECKED fby_err fby_stages_create(
    const struct fby_stages_config *config, struct fby_stages **out);

/* Stop the threads, discard the events that are left, and destroy *self_p.
 * Every job must have been cancelled. NULL is fine. */
void fby_stages_destroy(struct fby_stages **self_p);

/* Start to work on `job`; the stages hold it as long as they need it. */
void fby_stages_start(struct fby_stages *self, struct fby_job *job);

/* Drop the rows of `job` that were not started; it has no further events. */
void fby_stages_cancel(struct fby_stages *self, struct fby_job *job);

/* A descriptor that is readable when there may be an event. */
int fby_stages_fd(const struct fby_stages *self);

/* Make the descriptor unreadable until the next event. The caller must then
 * take all events. */
void fby_stages_clear_wakeup(struct fby_stages *self);

struct fby_stages_event {
    struct fby_job       *job;   /* held: pass it to fby_job_release */
    struct fby_job_chunk *chunk; /* encoded; NULL: the job failed */
};
/* Take the next event; false: there is none. Thread: loop. */
bool fby_stages_next(struct fby_stages *self, struct fby_stages_event *out);

/* fby_memory_trim for the memory of the fetch and encode stages. */
void fby_stages_trim(struct fby_stages *self, int64_t since_ns);

enum { FBY_STAGES_OPS = 64 }; /* ids are below; 0 is decoding */

struct fby_stages_counts {
    struct fby_stage_counts fetch, transform, encode;
    uint64_t                backlog_rows;
    uint64_t                fetched_bytes;
    uint64_t                substituted;
    uint64_t                scratch_waits; /* pictures that waited for memory */
    uint64_t                op_calls[FBY_STAGES_OPS];
    int64_t                 op_cpu_ns[FBY_STAGES_OPS];
};
/* A snapshot of the counts. Thread: any. */
struct fby_stages_counts fby_stages_counts(struct fby_stages *self);

#endif
