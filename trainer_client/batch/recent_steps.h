/* SPDX-License-Identifier: Apache-2.0 */
/* recent_steps.h - how fast a trainer takes batches, and how long it waits.
 *
 * A step lasts from one delivery of a batch to the next. It consists of the
 * time in which the trainer computes and the time in which it waits in
 * forebay_next(). The pace is that of the steps that ended in a window of time,
 * at least the last 4 and at most 1,024, with the times that workers took for
 * their batches.
 * Steps in which the trainer computes for more than 10 times the median length
 * of a step do not count: it evaluates, or writes a checkpoint. Pure. */
#ifndef FBY_CLIENT_BATCH_RECENT_STEPS_H
#define FBY_CLIENT_BATCH_RECENT_STEPS_H

#include "proto/messages.h"

enum { FBY_RECENT_STEPS = 1024 };

struct fby_recent_steps { /* starts zeroed */
    struct fby_recent_step {
        int64_t  end_ns; /* when the batch was delivered */
        int64_t  length_ns;
        int64_t  wait_ns; /* of the length */
        uint32_t rows;
        uint32_t fetch_us, transform_us, encode_us, cpu_us; /* of workers */
    } steps[FBY_RECENT_STEPS];                              /* a ring */
    uint64_t n;       /* steps ever added */
    int64_t  last_ns; /* of the last delivery; 0: none yet */
    int64_t  wait_ns; /* since then */
};

/* The trainer has waited for a batch, with or without success. */
void fby_recent_steps_wait(struct fby_recent_steps *self, int64_t wait_ns);

/* A batch of `rows` samples, for which a worker took `times`, is delivered now.
 * The first only starts the clock. */
void fby_recent_steps_add(struct fby_recent_steps *self, int64_t now_ns,
    uint32_t rows, const struct fby_stage_times *times);

/* The pace in the last `window_ns`; zeros before the first step ends. */
struct fby_pace fby_recent_steps_pace(
    const struct fby_recent_steps *self, int64_t now_ns, int64_t window_ns);

#endif
