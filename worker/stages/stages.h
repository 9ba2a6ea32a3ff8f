/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - fetch, transform, encode: from a job to chunks that can be sent.
 *
 * A job is a batch in work, and a chunk is a part of it that is one message.
 * The stages read files, make rows of values from them, and compress chunks:
 *
 *   backlog -> fetch -> transform -> encode -> list of events -> the loop
 *
 * The queues of fetch, transform and encode are bounded, so a slow stage stops
 * the stages before it. The backlog and the list of events are not: the number
 * of jobs, which the loop limits, limits their length. So adding to them never
 * blocks, and a row whose sample is bad can go back to the backlog, with a
 * substitute sample, without a deadlock.
 *
 * The encode threads also do work of the loop that takes time for each byte. */
#ifndef FBY_WORKER_STAGES_H
#define FBY_WORKER_STAGES_H

#include "common/stage.h"
#include "worker/stages/job.h"
#include "worker/stages/memory.h"

struct fby_stages_config {
    uint32_t fetch_threads, transform_threads, encode_threads;
    int      nice;          /* niceness of all these threads, 0 to 19 */
    size_t   fetch_bytes;   /* memory for fetched samples, until they are
                               transformed; a larger sample is refused */
    size_t   scratch_bytes; /* memory to decode and transform pictures */
    size_t   encode_bytes;  /* memory for the output of compression */
};

/* Refuse a sample of `bytes` bytes where at most `limit` can be read. Sets `why`
 * and returns FBY_FULL. */
fby_err fby_stages_refuse_size(
    size_t bytes, size_t limit, struct fby_error_detail *why);

/* The largest encode_bytes that `encode_threads` threads can use. */
size_t fby_stages_max_encode_bytes(uint32_t encode_threads);

struct fby_stages;

/* Create the stages and start their threads.
 * Errors: FBY_SYS  no eventfd, memory or thread. */
FBY_CHECKED fby_err fby_stages_create(
    const struct fby_stages_config *config, struct fby_stages **out);

/* Stop the threads, discard the events that are left, and destroy *self_p.
 * Every job must have been cancelled before. NULL is allowed. */
void fby_stages_destroy(struct fby_stages **self_p);

/* Queue `job`. The stages hold a reference to it until its work ends. */
void fby_stages_start_job(struct fby_stages *self, struct fby_job *job);

/* Abort `job`: drop its rows that were not started. Events with `job` may
 * still follow. */
void fby_stages_cancel_job(struct fby_stages *self, struct fby_job *job);

/* Let an encode thread do `work`, before the chunks that wait for one. After
 * that fby_stages_fd is readable. `thread` is its number, from 0 to
 * encode_threads - 1. Blocks: never. */
void fby_stages_run(struct fby_stages *self, struct fby_encode_item *work);

/* A file descriptor that is readable when there may be an event, or when work
 * was done. */
int fby_stages_fd(const struct fby_stages *self);

/* Make the descriptor unreadable until the next event. The caller must then
 * take all events. */
void fby_stages_clear_wakeup(struct fby_stages *self);

struct fby_stages_event {
    struct fby_job       *job;   /* with a reference: call fby_job_release */
    struct fby_job_chunk *chunk; /* encoded; NULL: the job failed */
};
/* Take the oldest event; false: there is none. Thread: loop. */
bool fby_stages_next_event(
    struct fby_stages *self, struct fby_stages_event *out);

/* Unmap the blocks that the fetch and encode stages keep for reuse, if they
 * were freed at or before the time `freed_until_ns` (fby_now_ns). */
void fby_stages_trim(struct fby_stages *self, int64_t freed_until_ns);

struct fby_stages_counts {
    struct fby_stage_counts fetch, transform, encode;
    uint64_t backlog_rows;  /* rows that wait for a fetch thread */
    uint64_t fetched_bytes; /* bytes read from files of samples */
    uint64_t substituted;   /* rows made from substitutes */
    uint64_t scratch_waits; /* pictures that waited for scratch memory */
};
/* A snapshot of the counts. Thread: any. */
struct fby_stages_counts fby_stages_counts(struct fby_stages *self);

#endif
