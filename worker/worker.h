/* worker.h - a worker: makes the batches that clients request.
 *
 * A request names everything that decides a batch, so the worker keeps no state
 * of a training job. It fetches, transforms and encodes, each in a stage with
 * its own threads; one loop owns the sockets. Clients find a worker through the
 * server; without a server they must be given its endpoint. */
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
    const char        *advertise; /* endpoint sent to the server; NULL: the
                                     bound one */
    const char *const *roots;     /* "NAME=DIR" each */
    size_t             n_roots;
    const char        *cache_dir; /* of manifests; NULL: the user's */
    const char        *cpus;      /* for all threads, "0-3,8"; NULL: those
                                     allowed to the caller */
    int                numa; /* the node of all threads; AUTO: only the network
                                threads run on the network card's node */
    int                nice; /* niceness of the compute threads, 0 to 19 */
    uint32_t           fetch_threads;     /* 0: two a core, at least 4 */
    uint32_t           transform_threads; /* 0: one a core */
    uint32_t           encode_threads;    /* 0: one for two cores */
    uint64_t           memory_bytes;      /* limit for memory that grows with
                                             samples and batches in work */
    uint64_t           send_window_bytes; /* a session, beyond its CREDIT */
    int                ready_fd; /* gets the bound endpoint and a newline, and
                                    is then closed; -1: none */
    int                stop_fd;  /* readable: leave as on SIGTERM; -1: none */
    bool               signals;  /* leave on SIGTERM and SIGINT, which are
                                    blocked in all threads created later */
    /* Times before the divisor of common/timer.h, which applies to them. */
    int64_t heartbeat_ns; /* between two HEARTBEATs */
    int64_t register_ns;  /* between two REGISTERs */
    int64_t drain_ns;     /* longest time that leaving may take */
    int64_t progress_ns;  /* between two SCANNINGs */
    int64_t idle_ns;      /* memory unused for this time is returned to the
                             system */
};

enum { FBY_WORKER_LEAST_MEMORY = 32 << 20 };

/* The options of a worker without a server, on the loopback interface. */
struct fby_worker_options fby_worker_defaults(void);

/* Serve until told to leave; then finish or give back the batches in work.
 *
 * Blocks:  for the worker's life.
 * Errors:  FBY_USAGE   a root, an address or a limit makes no sense
 *          FBY_CONFIG  a directory or an address cannot be used
 *          FBY_SYS     no socket, no thread; all with `why` */
FBY_CHECKED fby_err fby_worker_run(
    const struct fby_worker_options *options, struct fby_why *why);

#endif
