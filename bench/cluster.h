/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - real `forebay` processes on loopback that a bench measures.
 *
 * A cluster has a temporary directory with data and a pipeline file, and the
 * server and workers that serve them. Consumers are `forebay pull`. The bench
 * reads the standard output of each process: a server or worker prints its
 * endpoint, and a consumer prints a line for each step. All processes end with
 * the bench, even if it is killed. An error ends the bench with a message and
 * keeps the directory, with the messages of the processes in its file `log`.
 * All calls come from the main thread.
 *
 * A cluster without keys is in the clear. In one with keys all processes get
 * them by the variable FOREBAY_KEYS, which each start sets or removes. */
#ifndef FBY_BENCH_CLUSTER_H
#define FBY_BENCH_CLUSTER_H

#include <stdint.h>

#include "bench/photos.h"
#include "bench/process.h"

struct bench_pictures { /* a folder of pictures made by `forebay photos` */
    uint64_t number;    /* number of pictures */
    uint64_t side;      /* width of a picture, pixels */
    uint64_t crop;      /* random_resized_crop to this width and height */
    uint64_t batch;     /* rows of a batch */
};

struct bench_shards { /* photographs in tar files */
    unsigned shards;  /* number of tar files */
    unsigned copies;  /* number of times that each photograph is written */
    uint64_t crop;    /* random_resized_crop to this width and height */
    uint64_t batch;   /* rows of a batch */
};

enum { BENCH_MAX_WORKERS = 8, BENCH_ALL_CORES = 0 };

struct bench_cluster {
    char dir[64]; /* path of the temporary directory */
    char pipeline_path[96];
    char data_dir[96];  /* path; the workers serve it as root "d" */
    char log_path[96];  /* file of the messages of all processes */
    char keys_dir[96];  /* folder of its keys; "": none */
    char endpoint[256]; /* address of the server */
    struct bench_process server;
    struct bench_process workers[BENCH_MAX_WORKERS];
    unsigned             n_workers; /* running */
};

/* Make the directory with an empty data_dir. Processes that are started later
 * keep their caches in it (FOREBAY_CACHE_DIR) and log only errors. */
void bench_cluster_init(struct bench_cluster *self);

/* Write the pipeline file, with `format` and values as for printf(). */
void bench_cluster_write_pipeline(struct bench_cluster *self,
    const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As bench_cluster_init(); then make pictures with `forebay photos`, and write
 * the pipeline file. */
void bench_cluster_init_pictures(
    struct bench_cluster *self, const struct bench_pictures *pictures);

/* As bench_cluster_init_pictures(), but with photographs in tar files, which
 * are in the page cache afterwards. The pipeline has `codec: auto`. */
void bench_cluster_init_shards(struct bench_cluster *self,
    const struct bench_photos *photos, const struct bench_shards *shards);

/* Write another pipeline file for these tar files; its image field has the keys
 * `image_keys`, whole lines. */
void bench_cluster_write_shards_pipeline(struct bench_cluster *self,
    const struct bench_shards *shards, const char *image_keys);

struct bench_blocks { /* members of one tar file, all zero */
    unsigned number;
    unsigned bytes; /* of a member */
    unsigned batch; /* members of a batch */
};

/* As bench_cluster_init(); then make the tar file, and write a pipeline that
 * delivers the members as they are and sends them stored. */
void bench_cluster_init_blocks(
    struct bench_cluster *self, const struct bench_blocks *blocks);

/* Make the keys of the cluster with `forebay keys`: of the server, the workers
 * and one trainer. */
void bench_cluster_init_keys(struct bench_cluster *self);

/* Set or remove FOREBAY_KEYS as a process or stream of this cluster needs it. */
void bench_cluster_export_keys(const struct bench_cluster *self);

/* Kill the server and the workers, and delete the directory. */
void bench_cluster_remove(struct bench_cluster *self);

/* Start the server and workers. Each worker runs `threads` threads, or one for
 * each core with BENCH_ALL_CORES, in the memory budget `memory` ("64M"). */
void bench_cluster_start(struct bench_cluster *self, unsigned workers,
    unsigned threads, const char *memory);

/* Start the server again at its endpoint. It must have been killed. */
void bench_cluster_start_again(struct bench_cluster *self);

/* Kill the server and the workers. */
void bench_cluster_stop(struct bench_cluster *self);

struct bench_pull_result {
    uint64_t images; /* number delivered */
    uint64_t raw_bytes;
    uint64_t wire_bytes;
    double   seconds; /* without start-up */
};

/* Run the command line `args` (forebay, pull, ..., --json, NULL) to its exit.
 * It starts its own server and workers, and uses only the files of `self`. */
struct bench_pull_result bench_cluster_run_pull(
    const struct bench_cluster *self, const char *const *args);

/* Start a consumer that takes one batch every `step_ms` ms, without end. */
void bench_consumer_start(struct bench_process *self,
    const struct bench_cluster *cluster, const char *step_ms);

/* Wait until the consumer has taken `steps` batches since its start. */
void bench_consumer_wait(struct bench_process *self, uint64_t steps);

/* Measure the consumer's steps per second over the next `duration_ns`. */
double bench_consumer_rate(struct bench_process *self, int64_t duration_ns);

#endif
