/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer_client/batch/recent_steps.h"

#include <stdlib.h>

#include "common/clock.h"

enum {
    LONG_STEP   = 10, /* times the median */
    LEAST_STEPS = 4   /* are used, however old */
};

void fby_recent_steps_wait(struct fby_recent_steps *self, int64_t wait_ns)
{
    self->wait_ns += wait_ns;
}

/* In us, because the ring is copied often. */
static uint32_t to_us(uint64_t ns)
{
    uint64_t us = ns / 1000;
    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

void fby_recent_steps_add(struct fby_recent_steps *self, int64_t now_ns,
    uint32_t rows, const struct fby_stage_times *times)
{
    if (self->last_ns != 0) {
        self->steps[self->n++ % FBY_RECENT_STEPS] = (struct fby_recent_step){
            .end_ns       = now_ns,
            .length_ns    = now_ns - self->last_ns,
            .wait_ns      = self->wait_ns,
            .rows         = rows,
            .fetch_us     = to_us(times->fetch),
            .transform_us = to_us(times->transform),
            .encode_us    = to_us(times->encode),
            .cpu_us       = to_us(times->cpu),
        };
    }
    self->last_ns = now_ns;
    self->wait_ns = 0;
}

static int compare_lengths(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Copy the steps that ended at first_ns or later, and the last LEAST_STEPS.
 * Returns their number. */
static uint32_t copy_recent(const struct fby_recent_steps *self,
    int64_t first_ns, struct fby_recent_step out[FBY_RECENT_STEPS])
{
    uint32_t n = 0;
    for (uint64_t i = self->n; i > 0 && self->n - i < FBY_RECENT_STEPS; i--) {
        const struct fby_recent_step *step =
            &self->steps[(i - 1) % FBY_RECENT_STEPS];
        if (step->end_ns < first_ns && n >= LEAST_STEPS) {
            break;
        }
        out[n++] = *step;
    }
    return n;
}

static int64_t find_median_length(
    const struct fby_recent_step *steps, uint32_t n)
{
    int64_t lengths[FBY_RECENT_STEPS];
    for (uint32_t i = 0; i < n; i++) {
        lengths[i] = steps[i].length_ns;
    }
    qsort(lengths, n, sizeof(*lengths), compare_lengths);
    return lengths[n / 2];
}

struct sums { /* over the steps that count */
    int64_t  length_ns, wait_ns;
    uint64_t rows;
    uint64_t fetch_us, transform_us, encode_us, cpu_us;
};

static void add_step(struct sums *sums, const struct fby_recent_step *step)
{
    sums->length_ns += step->length_ns;
    sums->wait_ns += step->wait_ns;
    sums->rows += step->rows;
    sums->fetch_us += step->fetch_us;
    sums->transform_us += step->transform_us;
    sums->encode_us += step->encode_us;
    sums->cpu_us += step->cpu_us;
}

struct fby_pace fby_recent_steps_pace(
    const struct fby_recent_steps *self, int64_t now_ns, int64_t window_ns)
{
    struct fby_recent_step steps[FBY_RECENT_STEPS];
    uint32_t               n    = copy_recent(self, now_ns - window_ns, steps);
    struct sums            sums = {.rows = 0};
    if (n == 0) {
        return (struct fby_pace){.span_ms = 0};
    }
    int64_t limit_ns = LONG_STEP * find_median_length(steps, n);
    for (uint32_t i = 0; i < n; i++) {
        if (steps[i].length_ns - steps[i].wait_ns <= limit_ns) {
            add_step(&sums, &steps[i]);
        }
    }
    return (struct fby_pace){
        .span_ms      = (uint32_t)(sums.length_ns / FBY_NS_PER_MS),
        .rows         = sums.rows,
        .wait_ms      = (uint32_t)(sums.wait_ns / FBY_NS_PER_MS),
        .fetch_ms     = sums.fetch_us / 1000,
        .transform_ms = sums.transform_us / 1000,
        .encode_ms    = sums.encode_us / 1000,
        .cpu_ms       = sums.cpu_us / 1000,
    };
}
