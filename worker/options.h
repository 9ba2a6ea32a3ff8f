/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options of a worker, which `forebay worker` fills in. */
#ifndef FBY_WORKER_OPTIONS_H
#define FBY_WORKER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http.h"

/* Values of `numa` that are not the number of a node. */
enum { FBY_NUMA_AUTO = -1, FBY_NUMA_OFF = -2 };

/* Initialise with fby_worker_defaults, then change single members. */
struct fby_worker_options {
    const char        *server;      /* address, "HOST:PORT"; NULL: none */
    const char        *server_file; /* without `server`: path of a file whose
                                       first line is the address; NULL: none */
    const char        *listen;      /* endpoint to bind, "tcp://127.0.0.1:*";
                                       NULL: loopback if the server is there,
                                       else the address of the route to it */
    bool               is_insecure; /* listens beyond loopback without keys */
    const char        *keys;        /* key file, or a folder with worker.key;
                                       NULL: no keys, all in the clear */
    const char        *advertise;   /* endpoint sent to the server; NULL: the
                                     bound one */
    const char *const *roots;       /* data directories, each "NAME=DIR" */
    size_t             n_roots;
    const char        *cache_dir; /* for manifests; NULL: the user's cache */
    const char        *cpus;      /* for all threads, "0-3,8"; NULL: the CPUs
                                     that the calling thread may use */
    int                numa; /* the node of all threads; FBY_NUMA_AUTO: only the
                                network threads run on the network card's node;
                                FBY_NUMA_OFF: threads run on any node */
    int                nice; /* niceness of the compute threads, 0 to 19 */
    uint32_t           fetch_threads;     /* 0: two per core, at least 4 */
    uint32_t           transform_threads; /* 0: one per core; with fewer, only
                                             so many cores count as usable */
    uint32_t           encode_threads;    /* 0: one per two cores */
    uint64_t           memory_bytes;      /* limit for the memory of all samples
                                             and batches in progress; 0:
                                             fby_worker_default_memory */
    uint64_t    send_window_bytes; /* limit of uncredited bytes per client */
    int         ready_fd;          /* gets the bound endpoint and a newline, and
                                    is then closed; -1: none */
    const char *ready_file;       /* holds the same while the worker runs; NULL:
                               none */
    int         stop_fd;          /* when readable, the worker leaves as on
                                    SIGTERM; -1: none */
    struct fby_http_options http; /* the pages for users; http/http.h */
    bool handles_signals; /* SIGTERM and SIGINT tell the worker to leave;
                                   the calling thread and the threads it creates
                                   later block them. SIGALRM ends the process if
                                   a thread hangs then */
    /* Times. The worker divides them by FOREBAY_TIME_DIVISOR (common/timer.h),
     * which tests set to make all times shorter. */
    int64_t heartbeat_ns; /* time between two HEARTBEAT messages */
    int64_t register_ns;  /* time between two REGISTER messages */
    int64_t drain_ns;     /* longest time that leaving may take */
    int64_t progress_ns;  /* time between two SCANNING messages */
    int64_t idle_ns;      /* memory unused for this time is returned to the
                             system */
};

#endif
