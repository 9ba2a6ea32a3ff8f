/* cluster.h - a server and workers on this machine, as child processes.
 *
 * Used by `forebay up`, `forebay show`, and `forebay pull` without --server.
 * The processes listen on loopback by default, and end with the command. The
 * workers' roots usually come from the plain paths of the pipeline
 * (served.h). */
#ifndef FBY_CLI_CLUSTER_H
#define FBY_CLI_CLUSTER_H

#include "cli/child.h"

struct fby_cluster_options {
    const char *listen;  /* the server's address; NULL: a loopback port */
    uint32_t    workers; /* number of worker processes */
    uint32_t    threads; /* of each worker; 0: the cores, divided evenly */
    const char *memory;  /* each worker's --memory; NULL: its default */
    const char *cache;   /* each worker's --cache; NULL: its default */
    const char *cpus;    /* shared by all workers; NULL: all CPUs */
    const char *nice;    /* value of the compute threads; NULL: the default */
    char      **roots;   /* "NAME=DIR"; the last is NULL */
};

struct fby_cluster;

/* Start the server and the workers, and wait until all of them listen.
 * Errors: those of fby_child_start and fby_child_wait_ready, with the cause;
 *         all children are stopped again. */
FBY_CHECKED fby_err fby_cluster_start(const struct fby_cluster_options *options,
    struct fby_cluster **out, struct fby_error_detail *why);

/* Stop the workers, then the server, and free the cluster. Accepts NULL. */
void fby_cluster_stop(struct fby_cluster **self_p);

/* The server's endpoint, "tcp://127.0.0.1:40123"; valid until the stop. */
const char *fby_cluster_server(const struct fby_cluster *self);

/* Restart each child that ended, after a delay that grows from 1 to 30 s, and
 * log it. A restarted server listens on its old port. Call about once a second.
 * Blocks: never. */
void fby_cluster_watch(struct fby_cluster *self, int64_t now_ns);

#endif
