/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - a stream under test, with a fake server and fake workers.
 *
 * Every function fails the test on an error, with the error text of the
 * library. */
#ifndef FBY_TESTS_RIG_H
#define FBY_TESTS_RIG_H

#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "forebay/forebay.h"
#include "tests/trainer_client/fake_worker.h"

enum { RIG_WORKERS = 4, RIG_SAMPLES = 100, RIG_BATCH = 24 };
#define RIG_PATIENCE (60 * FBY_NS_PER_S)

struct rig {
    struct fake_server    *server;
    struct fake_worker    *workers[RIG_WORKERS];
    int                    n;
    struct forebay        *stream;
    struct forebay_options options;
    char                   error[512];
    char                   text[1024];
};

/* Start a server, with a pipeline of pictures of size x size x 3 and labels of
 * 10 classes, 24 rows a batch. */
static inline void rig_begin(struct rig *rig, uint32_t size, const char *last)
{
    *rig         = (struct rig){.server = fake_server_start()};
    rig->options = forebay_options();
    snprintf(rig->text, sizeof(rig->text),
        "forebay: 1\n"
        "splits: {train: {shards: \"in1k:train-{0..0}.tar\", shuffle: full,"
        " last: %s}}\n"
        "global_batch: %d\n"
        "seed: 7\n"
        "on_bad_sample: {do: substitute, limit: 5}\n"
        "fields:\n"
        "  image:\n"
        "    from: jpg\n"
        "    decode: rgb8\n"
        "    dct_scale: off\n"
        "    ops: [random_resized_crop: {size: %u}]\n"
        "    out: {dtype: u8, layout: hwc}\n"
        "  label: {from: cls, classes: 10}\n",
        last, RIG_BATCH, size);
    rig->options.server          = fake_server_endpoint(rig->server);
    rig->options.pipeline_text   = rig->text;
    rig->options.digests         = true;
    rig->options.open_timeout_ns = RIG_PATIENCE;
}

static inline struct fake_worker *rig_add(
    struct rig *rig, struct fake_behaviour behaviour)
{
    if (behaviour.samples == 0) {
        behaviour.samples = RIG_SAMPLES;
    }
    struct fake_worker *worker = fake_worker_start(&behaviour);
    rig->workers[rig->n++]     = worker;
    fake_server_add(rig->server, worker);
    return worker;
}

static inline enum forebay_status rig_try_open(struct rig *rig)
{
    return forebay_open(
        &rig->options, rig->error, sizeof(rig->error), &rig->stream);
}

static inline void rig_open(struct rig *rig)
{
    if (rig_try_open(rig) != FOREBAY_OK) {
        fail_msg("open: %s", rig->error);
    }
}

/* Open a stream with one correct worker. */
static inline void rig_stream(struct rig *rig, uint32_t size)
{
    rig_begin(rig, size, "drop");
    rig_add(rig, (struct fake_behaviour){0});
    rig_open(rig);
}

static inline void rig_end(struct rig *rig)
{
    forebay_close(&rig->stream);
    for (int i = 0; i < rig->n; i++) {
        fake_worker_stop(&rig->workers[i]);
    }
    fake_server_stop(&rig->server);
}

static inline struct forebay_batch *rig_next(struct rig *rig)
{
    struct forebay_batch *batch = NULL;
    enum forebay_status   status =
        forebay_next(rig->stream, RIG_PATIENCE, NULL, &batch);
    if (status != FOREBAY_OK) {
        fail_msg("next: %s: %s", forebay_status_text(status),
            forebay_error(rig->stream));
    }
    return batch;
}

static inline void rig_skip(struct rig *rig, int steps)
{
    for (int i = 0; i < steps; i++) {
        struct forebay_batch *batch = rig_next(rig);
        forebay_release(&batch, NULL);
    }
}

static inline struct forebay_stats rig_stats(const struct rig *rig)
{
    struct forebay_stats stats = {.struct_size = sizeof(stats)};
    assert_int_equal(forebay_stats(rig->stream, &stats), FOREBAY_OK);
    return stats;
}

/* Assert that the next call returns `status` and no batch; return its text. */
static inline const char *rig_assert_next(
    struct rig *rig, enum forebay_status status)
{
    struct forebay_batch *batch = NULL;
    assert_int_equal(
        forebay_next(rig->stream, RIG_PATIENCE, NULL, &batch), status);
    assert_null(batch);
    return forebay_error(rig->stream);
}

/* The same, after skipping the batches that are still delivered. */
static inline const char *rig_assert_fails(
    struct rig *rig, enum forebay_status status)
{
    struct forebay_batch *batch = NULL;
    while (
        forebay_next(rig->stream, RIG_PATIENCE, NULL, &batch) == FOREBAY_OK) {
        forebay_release(&batch, NULL);
    }
    return rig_assert_next(rig, status);
}

#endif
