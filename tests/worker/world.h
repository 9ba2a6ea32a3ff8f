/* world.h - a worker on a thread of the test, and one client of it. */
#ifndef FBY_TESTS_WORKER_WORLD_H
#define FBY_TESTS_WORKER_WORLD_H

#include <pthread.h>

#include "tests/worker/client.h"
#include "worker/worker.h"

struct world {
    struct kit                kit;
    struct client             client;
    struct fby_worker_options options;
    char                      root[128];
    const char               *roots[1];
    char                      endpoint[256];
    pthread_t                 thread;
    fby_err                   result;
    struct fby_why            why;
};

/* Set the options of a small worker over the sandbox; tests may change them. */
void world_prepare(struct world *world, void **state);
/* Start the worker and connect the client. */
void world_start(struct world *world);
/* Start it; the client says HELLO and opens the kit's content. */
void world_open(struct world *world);
/* world_prepare and world_open. */
void world_start_opened(struct world *world, void **state);

/* Tell the worker to leave. */
void world_ask_to_stop(struct world *world);
/* The same, and wait; the worker must end without an error. Frees all. */
void world_finish(struct world *world);

/* All rows and fields of a batch. */
struct fby_job_spec world_spec(const struct world *world, uint64_t step);

#endif
