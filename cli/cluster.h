/* cluster.h - server and workers on this machine, for as long as we run.
 *
 * `forebay up` and `forebay pull` without --server use it: real processes on
 * loopback, nothing to prepare. Plain paths of the caller's own pipeline become
 * roots of its workers. */
#ifndef FBY_CLI_CLUSTER_H
#define FBY_CLI_CLUSTER_H

#include "cli/child.h"

struct fby_cluster_options {
    const char *listen;  /* of the server; NULL: any port on loopback */
    unsigned    workers; /* how many */
    unsigned    threads; /* a worker's; 0: the cores shared out */
    const char *memory;  /* a worker's --memory; NULL: its default */
    const char *cache;   /* a worker's --cache; NULL: its default */
    const char *cpus;    /* of the workers, together; NULL: all */
    unsigned    n_cpus;  /* how many these are */
    const char *nice;    /* of their threads; NULL: the default */
    char      **roots;   /* "NAME=DIR" ..., NULL at the end */
};

struct fby_cluster;

/* Start all and wait until the server and every worker listen.
 * Errors: FBY_SYS, FBY_TIMEOUT, FBY_GONE, with the cause; nothing stays. */
FBY_CHECKED fby_err fby_cluster_start(const struct fby_cluster_options *options,
    struct fby_cluster **out, struct fby_why *why);

/* Stop workers, then the server, and free it. NULL is fine. */
void fby_cluster_stop(struct fby_cluster **self_p);

/* "tcp://127.0.0.1:40123" */
const char *fby_cluster_server(const struct fby_cluster *self);

/* Notice children that ended: a worker is started again (with a message and
 * a growing delay), the server too, on its old port. Call about once a second;
 * never blocks. */
void fby_cluster_watch(struct fby_cluster *self, int64_t now_ns);

#endif
