/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - run numbered jobs on a few threads, and report progress.
 *
 * Jobs start in order of their numbers. After a failure no further job starts,
 * and the running jobs finish. The error is that of the failed job with the
 * lowest number, so it does not depend on the timing of threads. */
#ifndef FBY_WORKER_SOURCE_JOBS_H
#define FBY_WORKER_SOURCE_JOBS_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/spec.h"

struct fby_jobs {
    /* Run job `i`, on any thread. Return FBY_GONE soon after *stop is true. */
    fby_err (*job)(void *arg, uint32_t i, const atomic_bool *stop,
        struct fby_error_detail *why);
    void               *arg;       /* for `job` */
    uint32_t            n_jobs;    /* number of jobs */
    uint32_t            n_threads; /* at most 16 are used; 0: one per core */
    struct fby_progress progress;
};

/* Run all jobs. The calling thread calls progress. If no thread can be started,
 * because others use up the limit, it also runs the jobs.
 *
 * Blocks: until all jobs have ended.
 * Errors: those of the jobs
 *         FBY_GONE  progress returned false */
FBY_CHECKED fby_err fby_jobs_run(
    const struct fby_jobs *work, struct fby_error_detail *why);

#endif
