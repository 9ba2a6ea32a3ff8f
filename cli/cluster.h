/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - a server and workers on this machine, as child processes.
 *
 * Used by `forebay up`, `forebay show`, and `forebay pull` without --server.
 * The processes listen on loopback by default, and end with the command. Their
 * keys are made for them (temporary_keys.h), so that only processes of this user
 * can connect. The workers may open the folders of the plain paths of the
 * pipeline, those without a NAME: before them (served.h). */
#ifndef FBY_CLI_CLUSTER_H
#define FBY_CLI_CLUSTER_H

#include "cli/child.h"

struct fby_cluster_options {
    const char *listen;      /* the server's address; NULL: any loopback port */
    const char *keys;        /* folder of keys; NULL: new keys, in memory */
    bool        is_insecure; /* no keys; they may listen beyond loopback */
    uint32_t    workers;     /* number of worker processes at the start */
    uint32_t    most_workers; /* that may be set later; 0: `workers` */
    uint32_t    threads; /* of each worker; 0: an equal share of the cores */
    const char *memory;  /* each worker's --memory; NULL: its default */
    const char *cache;   /* each worker's --cache; NULL: its default */
    const char *cpus;    /* CPUs that all workers share, "0-3,8"; NULL: all */
    const char *nice;    /* nice value of compute threads; NULL: default */
    char      **roots;   /* "NAME=DIR"; the last is NULL */
};

struct fby_cluster;

/* Start the server and the workers, and wait until all of them listen.
 * Errors: those of fby_child_start and fby_child_wait_ready, with the cause.
 *         All children are then stopped. */
FBY_CHECKED fby_err fby_cluster_start(const struct fby_cluster_options *options,
    struct fby_cluster **out, struct fby_error_detail *why);

/* Stop the workers, then the server, and free the cluster. Accepts NULL. */
void fby_cluster_stop(struct fby_cluster **self_p);
/* The same for a cluster that no trainer uses: workers that wait for one that
 * was killed are killed after a second. */
void fby_cluster_stop_unused(struct fby_cluster **self_p);

/* The server's endpoint, "tcp://127.0.0.1:40123"; valid until the stop. */
const char *fby_cluster_server_endpoint(const struct fby_cluster *self);
/* The path of a trainer's key, or of the folder of keys; "": no keys. For this
 * process, and for all of this user. Valid until the stop. */
const char *fby_cluster_keys(const struct fby_cluster *self);
const char *fby_cluster_keys_by_pid(const struct fby_cluster *self);

/* Run so many workers from the next tick on, at most `most_workers`. Those that
 * are too many get SIGTERM: they finish what they were asked for. Those that
 * ended and wait to be started again are given up first. */
void fby_cluster_set_workers(struct fby_cluster *self, uint32_t workers);

/* The path of the workers' key, or of the folder that has it, for this process;
 * NULL: no keys. Valid until the stop. */
const char *fby_cluster_worker_keys(const struct fby_cluster *self);

/* Start and stop workers, as the number says. Log each child that ended, and
 * restart it after a delay that grows from 1 to 30 s. A restarted server listens
 * on its old port. Call about once a second. Blocks: never. */
void fby_cluster_tick(struct fby_cluster *self, int64_t now_ns);

#endif
