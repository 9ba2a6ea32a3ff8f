/* jobs.h - run numbered jobs on a few threads, and say how far they are.
 *
 * Jobs are taken in order. After a failure no new ones are taken, those in
 * hand finish, and the failure of the lowest number is the one reported: the
 * same error whatever the threads did. */
#ifndef FBY_WORKER_SOURCE_JOBS_H
#define FBY_WORKER_SOURCE_JOBS_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/dataset.h"

struct fby_jobs {
    /* Do job i; return FBY_GONE soon after *stop turns true. Any thread. */
    fby_err (*job)(
        void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why);
    void               *arg;
    uint32_t            jobs;
    uint32_t            threads; /* 0: one a core, up to 16 */
    struct fby_progress progress;
};

/* Blocks until all is done. Progress is called by the calling thread.
 * Errors: a job's, with its `why`; FBY_GONE when progress said false;
 *         FBY_SYS when no thread can be made. */
FBY_CHECKED fby_err fby_jobs_run(
    const struct fby_jobs *work, struct fby_why *why);

#endif
