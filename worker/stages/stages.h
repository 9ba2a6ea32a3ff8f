/* stages.h - fetch, transform, encode: from a job to chunks that can be sent.
 *
 *   backlog -> fetch -> transform -> encode -> ready list -> the loop
 *
 * Each arrow but the last is bounded, so a slow stage stops those before it;
 * the last is bounded by the arenas, which the loop takes. Nothing flows back
 * but rows to be fetched again as substitutes, and these go to the backlog,
 * which never blocks: the stages cannot wait for each other in a circle. */
#ifndef FBY_WORKER_STAGES_H
#define FBY_WORKER_STAGES_H

#include "common/stage.h"
#include "worker/stages/job.h"
#include "worker/stages/memory.h"

struct fby_stages_config {
    uint32_t fetch_threads, transform_threads, encode_threads;
    int      nice;          /* how far all of them stand back, 0 to 19 */
    size_t   fetch_bytes;   /* of members between fetch and transform; also the
                               largest sample that can be read */
    size_t   scratch_bytes; /* that pictures are decoded and transformed in */
    size_t   encode_bytes;  /* that chunks are compressed into */
};

/* What compressing could ever use at once. */
size_t fby_stages_most_encode_bytes(uint32_t encode_threads);

struct fby_stages;

FBY_CHECKED fby_err fby_stages_create(
    const struct fby_stages_config *config, struct fby_stages **out);
/* Cancel every job first: then nothing is left in the stages afterwards but
 * events nobody took, which are let go of. */
void fby_stages_destroy(struct fby_stages **self_p);

/* Begin to work on `job`; the stages hold it as long as they need it. */
void fby_stages_start(struct fby_stages *self, struct fby_job *job);

/* Drop what was not started of `job`; nothing more is reported of it. */
void fby_stages_cancel(struct fby_stages *self, struct fby_job *job);

/* Readable when an event may be there. */
int fby_stages_fd(const struct fby_stages *self);
/* Makes the descriptor wait again; then take events until there is none. */
void fby_stages_clear_wakeup(struct fby_stages *self);

struct fby_stages_event {
    struct fby_job       *job;   /* held: pass it to fby_job_release */
    struct fby_job_chunk *chunk; /* that is encoded; NULL: the job failed */
};
/* False when there is none. Thread: the loop. */
bool fby_stages_next(struct fby_stages *self, struct fby_stages_event *out);

/* fby_memory_trim, of the memory that is read and compressed into. */
void fby_stages_trim(struct fby_stages *self, int64_t since_ns);

enum { FBY_STAGES_OPS = 64 }; /* ids below; 0 is decoding */

struct fby_stages_counts {
    struct fby_stage_counts fetch, transform, encode;
    uint64_t                backlog_rows;
    uint64_t                fetched_bytes;
    uint64_t                substituted;
    uint64_t                scratch_waits; /* pictures that waited for memory */
    uint64_t                op_calls[FBY_STAGES_OPS];
    int64_t                 op_cpu_ns[FBY_STAGES_OPS];
};
struct fby_stages_counts fby_stages_counts(struct fby_stages *self);

#endif
