/* worker.h - a worker: makes batches that anyone asks for, and holds no job.
 *
 * A request names everything that decides a batch, so the worker needs to know
 * nothing else: it fetches, transforms, encodes and sends, each a stage with
 * its own threads, and one loop that owns the sockets. With a server it is
 * found by clients; without one, clients have to be told its endpoint. */
#ifndef FBY_WORKER_WORKER_H
#define FBY_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { FBY_NUMA_AUTO = -1, FBY_NUMA_OFF = -2 };

/* Start from fby_worker_defaults and change what differs. */
struct fby_worker_options {
    const char        *server;    /* endpoint; NULL: none */
    const char        *listen;    /* "tcp://127.0.0.1:*" */
    const char        *advertise; /* endpoint told to the server; NULL: the
                                     bound one */
    const char *const *roots;     /* "NAME=DIR" each */
    size_t             n_roots;
    const char        *cache_dir; /* of manifests; NULL: the user's */
    const char        *cpus;      /* where all threads run, "0-3,8"; NULL: where
                                the caller may */
    int                numa; /* the node where all threads run; AUTO: those who
                                talk prefer the network card's */
    int                nice; /* how far the threads that compute stand back,
                                0 to 19 */
    uint32_t           fetch_threads;     /* 0: two a core, at least 4 */
    uint32_t           transform_threads; /* 0: one a core */
    uint32_t           encode_threads;    /* 0: one for two cores */
    uint64_t           memory_bytes;      /* held at most, of what grows with
                                             samples and batches in work */
    uint64_t           send_window_bytes; /* a session, beyond its CREDIT */
    int                ready_fd; /* the bound endpoint and a newline are written
                                    to it and it is closed; -1: none */
    int                stop_fd;  /* readable: leave as on SIGTERM; -1: none */
    bool               signals;  /* SIGTERM and SIGINT make it leave; they are
                                    blocked in all threads made from here on */
    int64_t            heartbeat_ns; /* all below: before the divisor of */
    int64_t            register_ns;  /* common/timer.h, which applies here */
    int64_t            drain_ns;     /* how long leaving may take */
    int64_t            progress_ns;  /* between two SCANNING */
    int64_t            idle_ns;      /* memory that nobody used for so long
                                        goes back to the system */
};

enum { FBY_WORKER_LEAST_MEMORY = 32 << 20 };

struct fby_worker_options fby_worker_defaults(void);

/* Serve until told to leave; finishes or gives back what is in work first.
 *
 * Blocks:  for the worker's life.
 * Errors:  FBY_USAGE   a root, an address or a limit makes no sense
 *          FBY_CONFIG  a directory or an address cannot be used
 *          FBY_SYS     no socket, no thread; all with `why` */
FBY_CHECKED fby_err fby_worker_run(
    const struct fby_worker_options *options, struct fby_why *why);

#endif
