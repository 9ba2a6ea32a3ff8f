/* SPDX-License-Identifier: Apache-2.0 */
/* worker_thread.h - a worker on a thread of the test, and one client of it. */
#ifndef FBY_TESTS_WORKER_WORKER_THREAD_H
#define FBY_TESTS_WORKER_WORKER_THREAD_H

#include <pthread.h>

#include "tests/worker/client.h"
#include "worker/worker.h"

struct worker_thread {
    struct kit                kit;
    struct client             client;
    struct fby_worker_options options;
    char                      root[128];
    const char               *roots[1];
    char                      endpoint[256];
    pthread_t                 thread;
    fby_err                   result;
    struct fby_error_detail   why;
};

/* Set the options of a small worker over the sandbox; tests may change them. */
void worker_thread_prepare(struct worker_thread *rig, void **state);
/* Start the worker and connect the client. */
void worker_thread_start(struct worker_thread *rig);
/* Start the worker; the client sends HELLO and opens the kit's content. */
void worker_thread_open(struct worker_thread *rig);
/* worker_thread_prepare and worker_thread_open. */
void worker_thread_start_opened(struct worker_thread *rig, void **state);

/* Ask the worker to leave. */
void worker_thread_ask_to_stop(struct worker_thread *rig);
/* The same, and wait until the worker has ended, without an error. Frees all
 * memory. */
void worker_thread_finish(struct worker_thread *rig);

/* All rows and fields of a batch. */
struct fby_job_spec worker_thread_spec(
    const struct worker_thread *rig, uint64_t step);

#endif
