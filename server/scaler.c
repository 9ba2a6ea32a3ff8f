/* SPDX-License-Identifier: Apache-2.0 */
#include "server/scaler.h"

#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/plural.h"
#include "common/utf8.h"

enum {
    GROWTH      = 4, /* at most so many times the workers, or the rows */
    LISTED_JOBS = 8, /* in the reasons */
    PERCENT     = 100
};

/* Demand varies between two decisions: the rest takes it without a wait. */
static const double  highest_use = 0.8;
static const double  no_wait     = 0.02; /* a job with less does not wait */
static const int64_t slot_ns     = 10 * FBY_NS_PER_S;

static double seconds(uint64_t ms)
{
    return (double)ms / 1e3;
}

void fby_scaler_add_rank(
    struct fby_scaler_job *job, const struct fby_pace *pace)
{
    double span_s = seconds(pace->span_ms);
    job->n_ranks++;
    if (pace->span_ms == 0 || pace->rows == 0) {
        return;
    }
    double compute_s = span_s - seconds(pace->wait_ms);
    if (compute_s < span_s / GROWTH) {
        compute_s              = span_s / GROWTH;
        job->has_capped_demand = true;
    }
    job->n_measured++;
    job->rows_per_s += (double)pace->rows / span_s;
    job->demand += (double)pace->rows / compute_s;
    job->span_s += span_s;
    job->wait_s += seconds(pace->wait_ms);
    job->rows += (double)pace->rows;
    job->fetch_s += seconds(pace->fetch_ms);
    job->transform_s += seconds(pace->transform_ms);
    job->encode_s += seconds(pace->encode_ms);
    job->cpu_s += pace->cpu_ms > 0
                      ? seconds(pace->cpu_ms)
                      : seconds(pace->transform_ms + pace->encode_ms);
}

/* ---- what the demand needs ------------------------------------------------ */

struct load { /* of one stage, or of the cores */
    const char *name;
    double      needed;    /* threads or cores that are busy at the demand */
    double      available; /* of all workers together; 0: not known */
    uint32_t    n;         /* workers that the demand needs */
};

enum { CORES, FETCH, TRANSFORM, ENCODE, LOADS };

static bool waits(const struct fby_scaler_job *job)
{
    return job->wait_s > no_wait * job->span_s;
}

static void add_job(struct load loads[LOADS], const struct fby_scaler_job *job)
{
    if (job->n_measured > 0) {
        double per_row = job->demand / job->rows;
        loads[CORES].needed += per_row * job->cpu_s;
        loads[FETCH].needed += per_row * job->fetch_s;
        loads[TRANSFORM].needed += per_row * job->transform_s;
        loads[ENCODE].needed += per_row * job->encode_s;
    }
}

/* The smallest number of workers at which the load is not above highest_use. */
static uint32_t workers_for(const struct load *load, uint32_t n_workers)
{
    static const double rounding = 1e-9;
    static const double most     = 8192; /* as many may register */
    if (load->available <= 0) {
        return 0;
    }
    double n = load->needed / (highest_use * load->available) * n_workers;
    return (uint32_t)ceil(fmin(n, most) - rounding);
}

/* The load that needs the most workers. */
static struct load find_highest(const struct fby_scaler_workers *workers,
    const struct fby_scaler_job *jobs, uint32_t n_jobs)
{
    struct load loads[LOADS] = {
        [CORES]     = {"cores", .available = workers->cores},
        [FETCH]     = {"fetch threads", .available = workers->fetch_threads},
        [TRANSFORM] = {"transform threads",
            .available = workers->transform_threads},
        [ENCODE]    = {"encode threads", .available = workers->encode_threads},
    };
    struct load highest = loads[CORES];
    for (uint32_t i = 0; i < n_jobs; i++) {
        add_job(loads, &jobs[i]);
    }
    for (int i = 0; i < LOADS; i++) {
        loads[i].n = workers_for(&loads[i], workers->n);
        if (i == 0 || loads[i].n > highest.n) {
            highest = loads[i];
        }
    }
    return highest;
}

/* ---- the number that is right now ----------------------------------------- */

struct name { /* of a job, as a part of one line: about the first 100 bytes */
    char text[128];
};

static struct name name_of(const struct fby_scaler_job *job)
{
    struct name name;
    snprintf(name.text, sizeof(name.text), "%.100s", job->name);
    fby_make_one_line(name.text); /* also the character that was cut */
    return name;
}

static struct fby_plural samples(double n)
{
    return fby_plural((uint64_t)(n + 0.5), "sample");
}

static void explain_job(
    const struct fby_scaler_job *job, struct fby_buffer *why)
{
    if (job->n_measured == 0) {
        fby_put_format(why, "job %s: %s, no step yet\n", name_of(job).text,
            fby_plural(job->n_ranks, "rank").text);
        return;
    }
    fby_put_format(why,
        "job %s: %s, %s/s, waits %.0f %% of the time; without waiting %s%s/s\n",
        name_of(job).text, fby_plural(job->n_ranks, "rank").text,
        samples(job->rows_per_s).text, PERCENT * job->wait_s / job->span_s,
        job->has_capped_demand ? "at least " : "", samples(job->demand).text);
}

static void explain_jobs(
    const struct fby_scaler_job *jobs, uint32_t n_jobs, struct fby_buffer *why)
{
    for (uint32_t i = 0; i < n_jobs && i < LISTED_JOBS; i++) {
        explain_job(&jobs[i], why);
    }
    if (n_jobs > LISTED_JOBS) {
        fby_put_format(why, "and %s\n",
            fby_plural(n_jobs - LISTED_JOBS, "other job").text);
    }
}

static void explain_load(const struct load *load,
    const struct fby_scaler_workers *workers, struct fby_buffer *why)
{
    fby_put_format(why,
        "at that rate %.1f %s are busy: %s %s %.0f; with %s they are busy for "
        "at most %.0f %% of the time\n",
        load->needed, load->name, fby_plural(workers->n, "worker").text,
        workers->n == 1 ? "has" : "have", load->available,
        fby_plural(load->n, "worker").text, PERCENT * highest_use);
}

struct summary { /* of all jobs */
    bool has_waiting, has_unmeasured;
};

static struct summary summarize(
    const struct fby_scaler_job *jobs, uint32_t n_jobs)
{
    struct summary summary = {false, false};
    for (uint32_t i = 0; i < n_jobs; i++) {
        summary.has_waiting |= waits(&jobs[i]);
        summary.has_unmeasured |=
            jobs[i].n_measured == 0 || jobs[i].n_measured < jobs[i].n_ranks;
    }
    return summary;
}

/* Change the number that the load needs by the rules for more and for fewer. */
static uint32_t apply_rules(uint32_t n, const struct summary *jobs,
    uint32_t n_workers, struct fby_buffer *why)
{
    if (n > n_workers && !jobs->has_waiting) {
        fby_put_format(why, "no job waits, so no more than there are\n");
        n = n_workers;
    } else if (n > GROWTH * n_workers) {
        fby_put_format(why, "at most %d times as many as there are\n", GROWTH);
        n = GROWTH * n_workers;
    } else if (n < n_workers && jobs->has_unmeasured) {
        fby_put_format(
            why, "ranks without a step begin, so no fewer than there are\n");
        n = n_workers;
    } else if (2 * n <= n_workers && jobs->has_waiting) {
        fby_put_format(why,
            "more workers would not end the wait: look at the network and at "
            "the trainers' own CPU\n");
    }
    return n > 0 ? n : 1;
}

static uint32_t count_needed(const struct fby_scaler_workers *workers,
    const struct fby_scaler_job *jobs, uint32_t n_jobs, struct fby_buffer *why)
{
    struct summary summary = summarize(jobs, n_jobs);
    explain_jobs(jobs, n_jobs, why);
    if (workers->n_unusable > 0) {
        fby_put_format(why,
            "%s cannot serve the jobs: other data, another build or version\n",
            fby_plural(workers->n_unusable, "further worker").text);
    }
    if (n_jobs == 0) {
        fby_put_format(why, "no job\n");
        return 0;
    }
    if (workers->n == 0) {
        fby_put_format(why, "no worker yet\n");
        return 1;
    }
    struct load highest = find_highest(workers, jobs, n_jobs);
    if (highest.needed >= 0.05) { /* else it would be written as 0 */
        explain_load(&highest, workers, why);
    }
    return apply_rules(highest.n, &summary, workers->n, why);
}

/* ---- decisions in sequence ------------------------------------------------ */

/* Begin the slots up to that of now. */
static void advance(struct fby_scaler *self, int64_t now_ns)
{
    int64_t slot = now_ns / slot_ns + 1;
    int64_t from = slot - self->slot < FBY_SCALER_SLOTS
                       ? self->slot + 1
                       : slot - FBY_SCALER_SLOTS + 1;
    for (int64_t i = from; i <= slot; i++) {
        self->needed[i % FBY_SCALER_SLOTS] = 0;
    }
    self->slot = slot;
}

static uint32_t find_highest_needed(const struct fby_scaler *self)
{
    uint32_t highest = 0;
    for (int i = 0; i < FBY_SCALER_SLOTS; i++) {
        highest = self->needed[i] > highest ? self->needed[i] : highest;
    }
    return highest;
}

uint32_t fby_scaler_decide(struct fby_scaler *self,
    const struct fby_scaler_workers *workers, const struct fby_scaler_job *jobs,
    uint32_t n_jobs, int64_t now_ns, struct fby_buffer *why)
{
    bool     is_first = self->slot == 0;
    uint32_t needed   = count_needed(workers, jobs, n_jobs, why);
    advance(self, now_ns);
    uint32_t *slot  = &self->needed[self->slot % FBY_SCALER_SLOTS];
    uint32_t  floor = is_first && workers->n > needed ? workers->n : needed;
    *slot           = floor > *slot ? floor : *slot;
    uint32_t wanted = find_highest_needed(self);
    if (wanted > needed) {
        fby_put_format(
            why, "%u now, but %u in the last 300 s\n", needed, wanted);
    }
    return wanted;
}
