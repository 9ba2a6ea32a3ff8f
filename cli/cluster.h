/* cluster.h - a server and workers on this machine, as child processes.
 *
 * `forebay up`, `forebay show` and `forebay pull` without --server use it. The
 * processes listen on loopback unless told otherwise, and end with the
 * command. The caller gives the workers' roots, usually made from the plain
 * paths of its own pipeline (served.h). */
#ifndef FBY_CLI_CLUSTER_H
#define FBY_CLI_CLUSTER_H

#include "cli/child.h"

struct fby_cluster_options {
    const char *listen;  /* the server's address; NULL: a loopback port */
    unsigned    workers; /* number of worker processes */
    unsigned    threads; /* per worker; 0: the cores, divided among workers */
    const char *memory;  /* each worker's --memory; NULL: its default */
    const char *cache;   /* each worker's --cache; NULL: its default */
    const char *cpus;    /* shared by all workers; NULL: all CPUs */
    unsigned    n_cpus;  /* number of CPUs in `cpus` */
    const char *nice;    /* of the compute threads; NULL: the default */
    char      **roots;   /* "NAME=DIR" ..., NULL at the end */
};

struct fby_cluster;

/* Start all and wait until the server and every worker listen.
 * Errors: those of fby_child_start and fby_child_wait_ready, with the cause;
 *         all children are stopped again. */
FBY_CHECKED fby_err fby_cluster_start(const struct fby_cluster_options *options,
    struct fby_cluster **out, struct fby_why *why);

/* Stop the workers, then the server, and free the cluster. Accepts NULL. */
void fby_cluster_stop(struct fby_cluster **self_p);

/* The server's endpoint, "tcp://127.0.0.1:40123"; valid until the stop. */
const char *fby_cluster_server(const struct fby_cluster *self);

/* Restart children that ended, with a message and a growing delay of 1 to 30 s;
 * the server returns on its old port. Call about once a second.
 * Blocks: never. */
void fby_cluster_watch(struct fby_cluster *self, int64_t now_ns);

#endif
