/* SPDX-License-Identifier: Apache-2.0 */
/* deliver.c - turns complete answers into batches for the trainer. */
#include "trainer_client/receive/receiver_state.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/plural.h"

/* ---- filling a batch ----------------------------------------------------- */

/* Set the token, with which a stream resumes at the step after this batch. */
static void set_token(const struct fby_receiver *r,
    const struct fby_assembly *assembly, struct forebay_batch *batch)
{
    uint64_t epoch      = assembly->expected.epoch;
    uint64_t steps      = fby_order_steps(fby_r_epoch_order(r, epoch));
    bool     ends_epoch = assembly->expected.step + 1 == steps;
    fby_r_write_token(r, epoch + (ends_epoch ? 1 : 0),
        ends_epoch ? 0 : assembly->expected.step + 1, batch->token);
}

static void set_rows(const struct fby_receiver *r,
    const struct fby_assembly *assembly, struct forebay_batch *batch)
{
    const struct fby_expected_batch *expected = &assembly->expected;
    const struct fby_order *order      = fby_r_epoch_order(r, expected->epoch);
    uint32_t                n_unpadded = fby_order_rows(order, expected->step);
    batch->epoch                       = expected->epoch;
    batch->step                        = expected->step;
    batch->first_row                   = expected->first_row;
    batch->rows                        = expected->rows;
    if (assembly->samples != NULL) {
        memcpy(batch->samples, assembly->samples,
            expected->rows * sizeof(*batch->samples));
    } else if (expected->rows > 0) {
        fby_order_fill_samples(order, expected->step, expected->first_row,
            expected->rows, batch->samples);
    }
    for (uint32_t i = 0; i < expected->rows; i++) {
        batch->valid[i] = expected->first_row + i < n_unpadded ? 1 : 0;
    }
    if (r->upload == NULL) { /* on the host `valid` is the last tensor, too */
        memcpy(batch->memory + r->setup->out_offset[r->setup->n_fields],
            batch->valid, expected->rows);
    }
}

static void set_substituted(const struct fby_receiver *r,
    const struct fby_assembly *assembly, struct forebay_batch *batch)
{
    size_t n = assembly->n_substituted;
    fby_batch_free_substitutions(batch);
    if (n == 0) {
        return;
    }
    batch->substituted   = fby_zalloc(n * sizeof(*batch->substituted));
    batch->n_substituted = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct fby_substituted *s   = &assembly->substituted[i];
        struct fby_error_detail       why = {""};
        /* s->text names the shard or file, and the sample */
        (void)fby_error_set(&why, FBY_BAD_SAMPLE, "%s", s->text);
        (void)fby_error_prefix(
            &why, FBY_BAD_SAMPLE, "in %s", fby_setup_data_name(r->setup).text);
        batch->samples[s->row] = s->substitute;
        batch->substituted[i]  = (struct forebay_substitution){
             .row        = s->row,
             .sample     = s->original,
             .substitute = s->substitute,
             .cause      = fby_strdup(why.text),
        };
    }
}

static void add_times(
    struct fby_stage_times *total, const struct fby_stage_times *added)
{
    total->fetch += added->fetch;
    total->transform += added->transform;
    total->encode += added->encode;
    total->wait += added->wait;
}

static uint64_t raw_bytes_of(const struct fby_assembly *assembly)
{
    uint64_t bytes = 0;
    if (assembly->expected.rows == 0) {
        return 0; /* `layout` is that of an earlier answer */
    }
    for (uint32_t i = 0; i < assembly->layout.n_chunks; i++) {
        bytes += assembly->chunks_sent[i].raw_bytes;
    }
    return bytes;
}

/* A batch at or after the step of an open refusal means that another worker made
 * what the first could not. That is a fault of the worker, so it is logged. If
 * all workers refuse, the stream fails with the cause, which is not logged. */
static void log_resolved_refusal(
    struct fby_receiver *r, const struct fby_expected_batch *delivered)
{
    struct fby_r_refusal *refusal  = &r->refusal;
    bool                  is_later = delivered->epoch > refusal->epoch ||
                    (delivered->epoch == refusal->epoch &&
                        delivered->step >= refusal->step);
    if (refusal->open && is_later) {
        refusal->open = false;
        fby_warn("WORKER-CANNOT", "%s; another worker delivered it",
            refusal->text.text);
    }
}

/* Append the slot's batch to the ready queue before a decode thread makes its
 * values, so that batches stay in order. */
static void queue_batch(struct fby_receiver *r, int slot)
{
    struct fby_assembly    *assembly = &r->answers[slot].assembly;
    struct forebay_batch   *batch    = r->spare_batch;
    struct fby_decode_task *task     = fby_decode_pool_new_task(r->decode_pool);
    r->spare_batch                   = NULL;
    log_resolved_refusal(r, &assembly->expected);
    batch->raw_bytes    = raw_bytes_of(assembly);
    batch->worker_times = assembly->times;
    set_rows(r, assembly, batch);
    set_token(r, assembly, batch);
    set_substituted(r, assembly, batch);
    add_times(&r->worker_times, &assembly->times);
    task->kind  = FBY_TASK_MAKE_BATCH;
    task->slot  = slot;
    task->input = (struct fby_batch_input){
        .batch        = batch,
        .request_slot = &r->answers[slot].slot,
        .slot         = (uint32_t)slot,
        .layout       = &assembly->layout,
        .chunks_sent  = assembly->chunks_sent,
    };
    fby_r_publish_stats(r); /* before the trainer can take the batch */
    fby_ready_queue_append(r->ready_queue, batch);
    fby_decode_pool_submit(r->decode_pool, task);
}

/* ---- failures ------------------------------------------------------------ */

static const char *peer_label(const struct fby_receiver *r, int peer)
{
    return peer != FBY_NO_PEER ? r->peers[peer].label : "a removed worker";
}

void fby_r_on_window_failure(struct fby_receiver *r)
{
    const struct fby_window_failure *f      = fby_window_failure(r->window);
    struct fby_error_detail          why    = {""};
    enum forebay_status              status = FOREBAY_DATA;
    switch (f->cause) {
    case FBY_CAUSE_CANNOT:
        fby_debug("STREAM-FAILED", "%s", r->cannot.text);
        fby_r_fail_data(r, &r->cannot);
        return;
    case FBY_CAUSE_DIFFERENT:
        (void)fby_error_set(&why, FBY_PROTO,
            "%.150s and %.150s made different values of epoch %llu step %llu",
            peer_label(r, f->peer), peer_label(r, f->other),
            (unsigned long long)f->epoch, (unsigned long long)f->step);
        break;
    case FBY_CAUSE_CORRUPT:
        (void)fby_error_set(&why, FBY_PROTO,
            "epoch %llu step %llu arrived damaged %d times, last from %.200s",
            (unsigned long long)f->epoch, (unsigned long long)f->step,
            FBY_CORRUPT_MAX, peer_label(r, f->peer));
        break;
    case FBY_CAUSE_ASIDE:
        /* A changed file, as opposed to another dataset. */
        if (r->last_aside_code == FBY_R_STALE && r->bad_sample.shard[0] != 0) {
            fby_r_append_remedy(&r->last_aside,
                "restore the file and resume, or begin a new run with the data "
                "as it "
                "is now");
            fby_debug("STREAM-FAILED", "%s", r->last_aside.text);
            fby_r_fail_data(r, &r->last_aside);
            return;
        }
        status = FOREBAY_CONFIG;
        why    = r->last_aside;
        break;
    case FBY_CAUSE_NONE:
        return;
    }
    fby_debug("STREAM-FAILED", "%s", why.text); /* the caller reports it */
    fby_r_fail_stream(r, status, &why);
}

/* Count the substituted samples of the slot's batch. If the stream has had more
 * of them than on_bad_sample allows, fail the stream and return false. */
static bool count_and_limit_substituted(struct fby_receiver *r, int slot)
{
    const struct fby_assembly *assembly = &r->answers[slot].assembly;
    uint32_t                limit = r->setup->split->delivery.bad_sample_limit;
    struct fby_error_detail why   = {""};
    r->n_substituted += assembly->n_substituted;
    if (assembly->n_substituted == 0 || r->n_substituted <= limit) {
        return true;
    }
    const struct fby_substituted *last =
        &assembly->substituted[assembly->n_substituted - 1];
    (void)fby_error_set(&why, FBY_BAD_SAMPLE, "%s", last->text);
    (void)fby_error_prefix(&why, FBY_BAD_SAMPLE,
        "more than %s (limit of on_bad_sample), the last one in %s",
        fby_plural(limit, "bad sample").text,
        fby_setup_data_name(r->setup).text);
    fby_r_fail_stream(r, FOREBAY_DATA, &why);
    return false;
}

/* ---- delivering ---------------------------------------------------------- */

/* If r->spare_batch is NULL, take a batch from the pool. For a waiting trainer
 * the pool may exceed its size. False: none is free, or the stream failed. */
static bool ensure_spare_batch(struct fby_receiver *r, bool trainer_waiting)
{
    struct fby_error_detail why = {""};
    if (r->spare_batch != NULL) {
        return true;
    }
    fby_err err =
        fby_batch_pool_take(r->batch_pool, trainer_waiting, &r->spare_batch);
    if (err == FBY_SYS) {
        (void)fby_error_set(&why, err, "no memory for a batch of %llu bytes",
            (unsigned long long)r->setup->out_bytes);
        fby_r_fail_stream(r, FOREBAY_SYSTEM, &why);
    } else if (err == FBY_FULL) { /* the trainer must release a batch first */
        fby_ready_queue_wake_trainer(r->ready_queue);
    }
    return err == FBY_OK;
}

/* Take a batch from the window and queue it. False: none could be taken. */
static bool deliver_one(struct fby_receiver *r)
{
    struct fby_window_batch taken;
    bool                    trainer_waiting = false;
    if (r->finished ||
        !fby_ready_queue_has_room(r->ready_queue, &trainer_waiting) ||
        !ensure_spare_batch(r, trainer_waiting)) {
        return false;
    }
    fby_err err = fby_window_take(r->window, r->now_ns, &taken);
    if (err == FBY_GONE) { /* the stream has ended */
        r->finished = true;
        fby_r_publish_stats(r); /* before the trainer can see the end */
        fby_ready_queue_end(r->ready_queue);
    } else if (err == FBY_IO) { /* the window has failed */
        fby_r_on_window_failure(r);
    }
    if (err != FBY_OK || !count_and_limit_substituted(r, taken.slot)) {
        return false;
    }
    queue_batch(r, taken.slot);
    return true;
}

void fby_r_deliver_batches(struct fby_receiver *r)
{
    while (r->opened && fby_decode_pool_has_room(r->decode_pool) &&
           deliver_one(r)) {
        fby_r_run_actions(r);
    }
    fby_r_run_actions(r);
}

/* ---- statistics ---------------------------------------------------------- */

static void add_stage(
    struct forebay_stats *stats, const char *name, uint64_t busy_ns)
{
    struct forebay_stage *stage = &stats->stages[stats->n_stages++];
    snprintf(stage->name, sizeof(stage->name), "%s", name);
    stage->busy_ns = (int64_t)busy_ns;
}

static void add_stages(struct fby_receiver *r, struct forebay_stats *stats)
{
    struct fby_decode_pool_counts counts =
        fby_decode_pool_counts(r->decode_pool);
    add_stage(stats, "worker.fetch", r->worker_times.fetch);
    add_stage(stats, "worker.transform", r->worker_times.transform);
    add_stage(stats, "worker.encode", r->worker_times.encode);
    add_stage(stats, "worker.wait", r->worker_times.wait);
    add_stage(
        stats, "client.decode", (uint64_t)(counts.decode_ns + r->chunk_ns));
    add_stage(stats, "client.expand", (uint64_t)counts.expand_ns);
    stats->checksum_failures = counts.corrupt + r->bad_chunks;
}

uint32_t fby_r_count_workers(const struct fby_receiver *r)
{
    uint32_t n_known = 0;
    for (int i = 0; i < r->n_peers; i++) {
        n_known += r->peers[i].used ? 1 : 0;
    }
    return n_known;
}

void fby_r_publish_stats(struct fby_receiver *r)
{
    struct fby_window_counters counters = fby_window_counters(r->window);
    struct forebay_stats       stats    = {
                 .wire_bytes         = r->wire_bytes,
                 .hedges             = counters.hedges,
                 .rerequests         = counters.rerequests,
                 .late_chunks        = counters.late,
                 .late_hedge_chunks  = counters.late_hedge,
                 .protocol_errors    = r->protocol_errors + counters.breaches,
                 .substituted        = r->n_substituted,
                 .lost               = counters.lost,
                 .busy               = counters.busy,
                 .suspects           = counters.suspects,
                 .reconnects         = counters.reconnects,
                 .workers_known      = fby_r_count_workers(r),
                 .workers_in_use     = fby_window_n_usable_peers(r->window),
                 .workers_left_aside = (uint32_t)counters.set_aside,
                 .audits             = counters.audits,
                 .audits_skipped     = counters.audits_skipped,
                 .batches_ready      = fby_window_n_ready(r->window),
    };
    add_stages(r, &stats);
    fby_ready_queue_set_stats(r->ready_queue, &stats);
}
