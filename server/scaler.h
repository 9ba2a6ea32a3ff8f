/* SPDX-License-Identifier: Apache-2.0 */
/* scaler.h - how many workers the trainers of this server need, and why.
 *
 * A trainer that waits for batches would take rows / (time - wait) rows a
 * second if it never waited. This is its demand, at most 4 times what it took.
 * A row costs workers CPU time, and time of the threads that fetch, transform
 * and encode it; the clients measure both. With n workers, a stage is busy for
 *
 *     demand * cost of a row / (n * threads of a worker)
 *
 * of the time, likewise the cores. The wanted number is the smallest n at which
 * none of them is busy for more than 0.8. CPU time alone would not see threads
 * that wait for something else, and the time of threads alone does not see that
 * the stages of a worker share its cores.
 *
 * More workers are wanted at once, at most 4 times as many as there are, and
 * only while a job waits. Fewer are wanted when the number was lower for 300 s:
 * then the highest of these 300 s. Pure: without sockets and clocks. */
#ifndef FBY_SERVER_SCALER_H
#define FBY_SERVER_SCALER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/bytes.h"
#include "proto/messages.h"

/* The demand of one job, and the cost of its rows. Starts with `name` set
 * and the rest zero; fby_scaler_add_rank adds the ranks. */
struct fby_scaler_job {
    const char *name;
    uint32_t    n_ranks;           /* that take part */
    uint32_t    n_measured;        /* of these, with a step that has ended */
    double      rows_per_s;        /* that they take now */
    double      demand;            /* rows per second, if they never waited */
    bool        has_capped_demand; /* of a rank: it would take more */
    double      span_s, wait_s;    /* sums over the ranks */
    double      rows;              /* in these times; and what they cost: */
    double      cpu_s, fetch_s, transform_s, encode_s;
};

/* The workers that can serve the jobs. The numbers are sums over them. A sum of
 * threads is 0 if a worker has not told its threads yet. */
struct fby_scaler_workers {
    uint32_t n;
    uint32_t n_unusable; /* further ones, which every job has set aside */
    double   cores;
    double   fetch_threads, transform_threads, encode_threads;
};

enum { FBY_SCALER_SLOTS = 31 };

struct fby_scaler { /* what is remembered between decisions; starts zeroed */
    uint32_t needed[FBY_SCALER_SLOTS]; /* highest number in each 10 s, a ring */
    int64_t  slot;                     /* of now; 0: nothing is decided yet */
};

void fby_scaler_add_rank(
    struct fby_scaler_job *job, const struct fby_pace *pace);

/* Decide how many workers are wanted, and append the reasons to `why` as lines
 * of text, each with a newline. The first decision is no fewer than there are.
 * Call it at least every few seconds, with a time that never goes back. */
uint32_t fby_scaler_decide(struct fby_scaler *self,
    const struct fby_scaler_workers *workers, const struct fby_scaler_job *jobs,
    uint32_t n_jobs, int64_t now_ns, struct fby_buffer *why);

#endif
