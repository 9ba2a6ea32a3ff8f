/* SPDX-License-Identifier: Apache-2.0 */
/* The ready queue: batches in order, and what `open` and `next` return. */
#include "tests/test.h"

#include <poll.h>
#include <semaphore.h>
#include <string.h>

#include "common/clock.h"
#include "trainer_client/batch/batch_pool.h"
#include "trainer_client/batch/ready_queue.h"

enum { SLOTS = 4 };

static const struct fby_consumer on_host = {.stream = NULL};

struct counter { /* a ready queue with its pool */
    struct fby_ready_queue ready_queue;
    struct fby_batch_pool *batch_pool;
};

static void begin(struct counter *c)
{
    const struct fby_batch_pool_config config = {
        .device         = &fby_device_host,
        .out_bytes      = 64,
        .max_rows       = 2,
        .max_held_bytes = UINT64_C(64) * SLOTS,
    };
    assert_ok(fby_ready_queue_init(&c->ready_queue));
    assert_ok(fby_batch_pool_create(&config, &c->batch_pool));
}

static void end(struct counter *c)
{
    fby_ready_queue_fini(&c->ready_queue);
    fby_batch_pool_release(&c->batch_pool);
}

static struct forebay_batch *publish(struct counter *c, uint64_t step)
{
    struct forebay_batch *batch = NULL;
    assert_ok(fby_batch_pool_take(c->batch_pool, true, &batch));
    batch->step = step;
    batch->rows = 2;
    memset(batch->valid, 1, 2);
    fby_ready_queue_append(&c->ready_queue, batch);
    return batch;
}

static void finish(struct counter *c, struct forebay_batch *batch, fby_err err)
{
    struct fby_error_detail why = {"label 12"};
    fby_ready_queue_mark_done(&c->ready_queue, batch, err, &why);
}

static enum forebay_status look(struct counter *c, struct forebay_batch **out)
{
    return fby_ready_queue_next(
        &c->ready_queue, c->batch_pool, 0, &on_host, out);
}

static void assert_takes(struct counter *c, uint64_t step)
{
    struct forebay_batch *batch = NULL;
    assert_int_equal(look(c, &batch), FOREBAY_OK);
    assert_int_equal(batch->step, step);
    fby_batch_unref(batch);
}

static struct fby_error_detail because(const char *text)
{
    struct fby_error_detail why = {""};
    (void)fby_error_set(&why, FBY_CONFIG, "%s", text);
    return why;
}

/* ---- Opening ------------------------------------------------------------- */

static enum forebay_status wait_open(
    struct counter *c, struct fby_error_detail *why)
{
    const struct forebay_options options = forebay_options();
    return fby_ready_queue_wait_open(
        &c->ready_queue, &options, fby_now_ns(), why);
}

static void open_that_is_late_says_what_it_waits_for(void **state)
{
    (void)state;
    struct counter          c;
    struct fby_error_detail why = {""};
    begin(&c);
    fby_ready_queue_set_wait_reason(&c.ready_queue, "no worker yet");
    assert_int_equal(wait_open(&c, &why), FOREBAY_TIMEOUT);
    assert_string_equal(why.text, "no worker yet");
    end(&c);
}

static void a_failure_before_opening_is_returned_by_open(void **state)
{
    (void)state;
    struct counter          c;
    struct fby_error_detail why    = {""};
    struct fby_error_detail first  = because("a tie");
    struct fby_error_detail second = because("something else");
    begin(&c);
    fby_ready_queue_fail(&c.ready_queue, FOREBAY_CONFIG, &first);
    fby_ready_queue_fail(&c.ready_queue, FOREBAY_DATA, &second);
    assert_int_equal(wait_open(&c, &why), FOREBAY_CONFIG);
    assert_string_equal(why.text, "a tie");
    end(&c);
}

static void a_failure_after_opening_is_returned_by_next(void **state)
{
    (void)state;
    struct counter            c;
    struct forebay_batch     *batch = NULL;
    struct fby_error_detail   why   = {""};
    struct fby_error_detail   cause = because("all are gone");
    const struct forebay_info info  = {.samples = 9};
    begin(&c);
    fby_ready_queue_set_opened(&c.ready_queue, &info);
    fby_ready_queue_fail(&c.ready_queue, FOREBAY_DATA, &cause);
    assert_int_equal(wait_open(&c, &why), FOREBAY_OK);
    assert_int_equal(c.ready_queue.info.samples, 9);
    assert_int_equal(look(&c, &batch), FOREBAY_DATA);
    assert_string_equal(c.ready_queue.last_error.why.text, "all are gone");
    end(&c);
}

/* ---- Streaming ----------------------------------------------------------- */

static void batches_are_taken_in_order_once_their_values_are_there(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none = NULL;
    begin(&c);
    struct forebay_batch *first  = publish(&c, 0);
    struct forebay_batch *second = publish(&c, 1);
    second->valid[1]             = 0; /* padding */
    finish(&c, second, FBY_OK);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    finish(&c, first, FBY_OK);
    assert_takes(&c, 0);
    assert_takes(&c, 1);
    assert_int_equal(c.ready_queue.stats.steps, 2);
    assert_int_equal(c.ready_queue.stats.images, 3);
    end(&c);
}

static void each_timeout_says_what_is_waited_for_now(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none = NULL;
    begin(&c);
    fby_ready_queue_set_wait_reason(&c.ready_queue, "no worker");
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_string_equal(c.ready_queue.last_error.why.text, "no worker");
    fby_ready_queue_set_wait_reason(&c.ready_queue, "");
    publish(&c, 0);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_string_equal(
        c.ready_queue.last_error.why.text, "the next batch is not ready");
    end(&c);
}

static void the_end_is_no_error(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none = NULL;
    begin(&c);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    fby_ready_queue_end(&c.ready_queue);
    assert_int_equal(look(&c, &none), FOREBAY_END);
    assert_string_equal(c.ready_queue.last_error.why.text, "");
    end(&c);
}

static void a_timeout_may_be_as_long_as_a_number_can_be(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *batch = NULL;
    begin(&c);
    finish(&c, publish(&c, 0), FBY_OK);
    assert_int_equal(fby_ready_queue_next(&c.ready_queue, c.batch_pool,
                         INT64_MAX, &on_host, &batch),
        FOREBAY_OK);
    fby_batch_unref(batch);
    end(&c);
}

static void finished_batches_come_before_the_end_or_a_failure(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct counter          c;
        struct forebay_batch   *none  = NULL;
        struct fby_error_detail cause = because("damaged");
        begin(&c);
        finish(&c, publish(&c, 0), FBY_OK);
        if (fails == 1) {
            fby_ready_queue_fail(&c.ready_queue, FOREBAY_DATA, &cause);
        } else {
            fby_ready_queue_end(&c.ready_queue);
        }
        assert_takes(&c, 0);
        assert_int_equal(
            look(&c, &none), fails == 1 ? FOREBAY_DATA : FOREBAY_END);
        end(&c);
    }
}

static void a_trainer_that_holds_all_batches_gets_an_error(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *held[SLOTS];
    struct forebay_batch *none = NULL;
    begin(&c);
    for (uint64_t i = 0; i < SLOTS; i++) {
        finish(&c, publish(&c, i), FBY_OK);
        assert_int_equal(look(&c, &held[i]), FOREBAY_OK);
    }
    assert_int_equal(look(&c, &none), FOREBAY_FULL);
    assert_non_null(
        strstr(c.ready_queue.last_error.why.text, "hold 4 batches"));
    for (uint64_t i = 0; i < SLOTS; i++) {
        fby_batch_unref(held[i]);
    }
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    end(&c);
}

static void the_receiver_sees_room_and_a_waiting_consumer(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none    = NULL;
    bool                  waiting = true;
    begin(&c);
    assert_true(fby_ready_queue_has_room(&c.ready_queue, &waiting));
    assert_false(waiting);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_true(fby_ready_queue_has_room(&c.ready_queue, &waiting));
    assert_true(waiting);
    for (int i = 0; i < FBY_READY_QUEUE_MAX; i++) {
        publish(&c, 0);
    }
    assert_false(fby_ready_queue_has_room(&c.ready_queue, &waiting));
    assert_false(waiting);
    end(&c);
}

/* ---- Order of phases ----------------------------------------------------- */

static void an_end_after_a_failure_is_a_failure(void **state)
{
    (void)state;
    struct counter          c;
    struct forebay_batch   *none  = NULL;
    struct fby_error_detail cause = because("damaged");
    begin(&c);
    fby_ready_queue_fail(&c.ready_queue, FOREBAY_DATA, &cause);
    fby_ready_queue_end(&c.ready_queue);
    assert_int_equal(c.ready_queue.phase, FBY_PHASE_FAILED);
    assert_int_equal(look(&c, &none), FOREBAY_DATA);
    assert_string_equal(c.ready_queue.last_error.why.text, "damaged");
    end(&c);
}

static void a_stream_that_opens_after_its_failure_has_failed(void **state)
{
    (void)state;
    struct counter            c;
    struct fby_error_detail   cause = because("refused");
    struct fby_error_detail   why   = {""};
    const struct forebay_info info  = {.samples = 9};
    begin(&c);
    fby_ready_queue_fail(&c.ready_queue, FOREBAY_CONFIG, &cause);
    fby_ready_queue_set_opened(&c.ready_queue, &info);
    assert_int_equal(c.ready_queue.phase, FBY_PHASE_FAILED);
    assert_int_equal(wait_open(&c, &why), FOREBAY_OK); /* next tells it */
    end(&c);
}

static void values_that_cannot_be_made_fail_the_stream(void **state)
{
    (void)state;
    static const struct {
        fby_err             err;
        enum forebay_status status;
    } all[] = {{FBY_SYS, FOREBAY_SYSTEM}, {FBY_PROTO, FOREBAY_DATA}};
    for (size_t i = 0; i < 2; i++) {
        struct counter        c;
        struct forebay_batch *none = NULL;
        begin(&c);
        finish(&c, publish(&c, 0), all[i].err);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(look(&c, &none), all[i].status);
            assert_string_equal(c.ready_queue.last_error.why.text, "label 12");
            assert_null(none);
        }
        assert_int_equal(c.ready_queue.stats.steps, 0);
        end(&c);
    }
}

/* ---- Waiting ------------------------------------------------------------- */

struct watch { /* what open is given, and what it asked */
    struct counter *c;
    uint64_t        told[8][2];
    uint32_t        n_told;
    uint32_t        asked;
    uint32_t        most; /* then it gives up */
};

static void note(void *arg, uint64_t done, uint64_t total)
{
    struct watch *w       = arg;
    w->told[w->n_told][0] = done;
    w->told[w->n_told][1] = total;
    w->n_told++;
}

/* Two shards are scanned at each look but every second. */
static bool scan_on(void *arg)
{
    struct watch *w = arg;
    fby_ready_queue_set_scan_progress(
        &w->c->ready_queue, w->asked / 2 * UINT64_C(2), 9);
    return ++w->asked == w->most;
}

static void each_advance_of_a_scan_is_reported_once(void **state)
{
    (void)state;
    struct counter               c;
    struct fby_error_detail      why     = {""};
    struct watch                 w       = {.c = &c, .most = 6};
    const struct forebay_options options = {
        .on_scan     = note,
        .on_scan_arg = &w,
        .give_up     = scan_on,
        .give_up_arg = &w,
    };
    begin(&c);
    int64_t begun_ns = fby_now_ns();
    assert_int_equal(fby_ready_queue_wait_open(&c.ready_queue, &options,
                         begun_ns + 60 * FBY_NS_PER_S, &why),
        FOREBAY_INTERRUPTED);
    assert_true(fby_now_ns() - begun_ns >= 6 * (FBY_NS_PER_S / 10));
    assert_int_equal(w.n_told, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(w.told[i][0], 2 * i);
        assert_int_equal(w.told[i][1], 9);
    }
    assert_string_equal(why.text, "interrupted before the stream was open");
    end(&c);
}

static void open_waits_until_its_deadline_and_no_longer_asks(void **state)
{
    (void)state;
    struct counter          c;
    struct fby_error_detail why          = {""};
    struct watch            w            = {.c = &c, .most = 100};
    const int64_t           deadline_ns  = fby_now_ns() + 150 * FBY_NS_PER_MS;
    const struct forebay_options options = {
        .give_up     = scan_on,
        .give_up_arg = &w,
    };
    begin(&c);
    fby_ready_queue_set_wait_reason(&c.ready_queue, "no worker");
    assert_int_equal(
        fby_ready_queue_wait_open(&c.ready_queue, &options, deadline_ns, &why),
        FOREBAY_TIMEOUT);
    assert_true(fby_now_ns() >= deadline_ns);
    assert_true(w.asked >= 2);
    assert_string_equal(why.text, "no worker");
    end(&c);
}

static void next_waits_as_long_as_its_timeout(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none = NULL;
    begin(&c);
    int64_t begun_ns = fby_now_ns();
    assert_int_equal(fby_ready_queue_next(&c.ready_queue, c.batch_pool,
                         30 * FBY_NS_PER_MS, &on_host, &none),
        FOREBAY_TIMEOUT);
    int64_t took_ns = fby_now_ns() - begun_ns;
    assert_true(took_ns >= 30 * FBY_NS_PER_MS);
    assert_true(c.ready_queue.stats.wait_ns >= 30 * FBY_NS_PER_MS);
    assert_true(c.ready_queue.stats.wait_ns <= took_ns);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_true(c.ready_queue.stats.wait_ns <= took_ns); /* it did not wait */
    end(&c);
}

/* ---- Wake-ups and counters ----------------------------------------------- */

static bool rings(struct counter *c)
{
    struct pollfd fd = {.fd = c->ready_queue.wakeup.fd, .events = POLLIN};
    bool          on = poll(&fd, 1, 0) == 1;
    fby_wakeup_clear(&c->ready_queue.wakeup);
    return on;
}

static void the_wakeup_rings_for_a_waiting_consumer_and_for_room(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none    = NULL;
    bool                  waiting = false;
    begin(&c);
    assert_false(rings(&c));
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_true(rings(&c));
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_false(rings(&c)); /* it is known */
    struct forebay_batch *first = publish(&c, 0);
    assert_true(fby_ready_queue_has_room(&c.ready_queue, &waiting));
    assert_false(waiting); /* something is on its way */
    finish(&c, first, FBY_OK);
    assert_takes(&c, 0);
    assert_true(rings(&c));
    assert_true(fby_ready_queue_has_room(&c.ready_queue, &waiting));
    assert_false(waiting);
    end(&c);
}

static void a_ready_queue_has_room_up_to_its_last_place(void **state)
{
    (void)state;
    struct counter c;
    bool           waiting = false;
    begin(&c);
    for (uint64_t i = 0; i < FBY_READY_QUEUE_MAX; i++) {
        assert_true(fby_ready_queue_has_room(&c.ready_queue, &waiting));
        finish(&c, publish(&c, i), FBY_OK);
    }
    assert_false(fby_ready_queue_has_room(&c.ready_queue, &waiting));
    assert_takes(&c, 0);
    assert_true(fby_ready_queue_has_room(&c.ready_queue, &waiting));
    publish(&c, 2);
    assert_takes(&c, 1);
    end(&c); /* with a batch that was not taken */
}

static void deliveries_are_counted_apart_from_the_receivers_report(void **state)
{
    (void)state;
    struct counter             c;
    const struct forebay_stats report = {
        .steps      = 70,
        .images     = 71,
        .raw_bytes  = 72,
        .wait_ns    = 73,
        .wire_bytes = 74,
        .hedges     = 75,
        .n_stages   = 1,
    };
    begin(&c);
    struct forebay_batch *batch = publish(&c, 0);
    batch->raw_bytes            = 40;
    finish(&c, batch, FBY_OK);
    assert_takes(&c, 0);
    c.ready_queue.stats.wait_ns = 5;
    fby_ready_queue_set_stats(&c.ready_queue, &report);
    assert_int_equal(c.ready_queue.stats.steps, 1);
    assert_int_equal(c.ready_queue.stats.images, 2);
    assert_int_equal(c.ready_queue.stats.raw_bytes, 40);
    assert_int_equal(c.ready_queue.stats.wait_ns, 5);
    assert_int_equal(c.ready_queue.stats.wire_bytes, 74);
    assert_int_equal(c.ready_queue.stats.hedges, 75);
    assert_int_equal(c.ready_queue.stats.n_stages, 1);
    end(&c);
}

static void the_streams_digest_is_of_the_batches_that_have_one(void **state)
{
    (void)state;
    struct counter            c;
    struct fby_checksum_state want;
    begin(&c);
    fby_checksum_begin(&want);
    for (uint64_t step = 0; step < 3; step++) {
        struct forebay_batch *batch = publish(&c, step);
        batch->has_digests          = step != 1;
        memset(batch->digest.bytes, (int)step + 1, sizeof(batch->digest.bytes));
        if (step != 1) {
            fby_checksum_add(
                &want, batch->digest.bytes, sizeof(batch->digest.bytes));
        }
        finish(&c, batch, FBY_OK);
        assert_takes(&c, step);
    }
    struct fby_checksum got  = fby_checksum_end(&c.ready_queue.digest);
    struct fby_checksum sure = fby_checksum_end(&want);
    assert_memory_equal(&got, &sure, sizeof(got));
    end(&c);
}

/* ---- Seeks --------------------------------------------------------------- */

struct seeker { /* a trainer that seeks on its own thread */
    struct counter     *c;
    enum forebay_status status;
};

static void *seek_main(void *opaque)
{
    struct seeker *s = opaque;
    s->status        = fby_ready_queue_seek(
               &s->c->ready_queue, (struct fby_stream_position){3, 2});
    return NULL;
}

static void open_epochs_of(struct counter *c, uint64_t steps)
{
    const struct forebay_info info = {.steps_per_epoch = steps};
    fby_ready_queue_set_opened(&c->ready_queue, &info);
}

/* Seek on another thread, and do the receiver's part of it here. */
static void seek(struct counter *c)
{
    struct seeker              s = {c, FOREBAY_SYSTEM};
    pthread_t                  thread;
    struct fby_stream_position position = {0};
    uint64_t                   number   = 0;
    pthread_create(&thread, NULL, seek_main, &s);
    while (!fby_ready_queue_take_seek(&c->ready_queue, &position, &number)) {
        struct pollfd ready = {c->ready_queue.wakeup.fd, POLLIN, 0};
        (void)poll(&ready, 1, -1);
    }
    assert_int_equal(position.epoch, 3);
    assert_int_equal(position.step, 2);
    fby_ready_queue_finish_seek(&c->ready_queue, number);
    pthread_join(thread, NULL);
    assert_int_equal(s.status, FOREBAY_OK);
    assert_false(
        fby_ready_queue_take_seek(&c->ready_queue, &position, &number));
}

static void a_seek_drops_batches_also_those_that_are_being_made(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *out = NULL;
    begin(&c);
    open_epochs_of(&c, 4);
    finish(&c, publish(&c, 0), FBY_OK);
    struct forebay_batch *unfinished = publish(&c, 1);
    seek(&c);
    assert_int_equal(look(&c, &out), FOREBAY_TIMEOUT);
    assert_int_equal(fby_batch_pool_counts(c.batch_pool).in_use, 1);
    finish(&c, unfinished, FBY_BAD_SAMPLE); /* does not fail the stream */
    assert_int_equal(fby_batch_pool_counts(c.batch_pool).in_use, 0);
    finish(&c, publish(&c, 2), FBY_OK);
    assert_takes(&c, 2);
    end(&c);
}

static void a_seek_continues_a_stream_that_has_ended(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *out = NULL;
    begin(&c);
    open_epochs_of(&c, 4);
    fby_ready_queue_end(&c.ready_queue);
    assert_int_equal(look(&c, &out), FOREBAY_END);
    seek(&c);
    assert_int_equal(look(&c, &out), FOREBAY_TIMEOUT);
    end(&c);
}

static void a_seek_returns_the_failure_of_the_stream(void **state)
{
    (void)state;
    struct counter             c;
    struct fby_error_detail    why = because("no such shard");
    struct fby_stream_position position;
    uint64_t                   number = 0;
    begin(&c);
    open_epochs_of(&c, 4);
    fby_ready_queue_fail(&c.ready_queue, FOREBAY_CONFIG, &why);
    assert_int_equal(fby_ready_queue_seek(
                         &c.ready_queue, (struct fby_stream_position){0, 1}),
        FOREBAY_CONFIG);
    assert_string_equal(c.ready_queue.last_error.why.text, "no such shard");
    assert_false(fby_ready_queue_take_seek(&c.ready_queue, &position, &number));
    end(&c);
}

static void a_position_outside_of_all_epochs_is_refused(void **state)
{
    (void)state;
    static const struct fby_stream_position bad[] = {
        {0, 4}, {UINT64_MAX / 8 + 1, 0}, {UINT64_MAX / 4, 3}, {0, UINT64_MAX}};
    struct counter c;
    begin(&c);
    open_epochs_of(&c, 4);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(
            fby_ready_queue_seek(&c.ready_queue, bad[i]), FOREBAY_USAGE);
    }
    assert_non_null(strstr(c.ready_queue.last_error.why.text, "4 steps"));
    end(&c);
}

/* ---- Interrupts ---------------------------------------------------------- */

static void *interrupt_main(void *opaque)
{
    struct counter *c     = opaque;
    struct pollfd   ready = {c->ready_queue.wakeup.fd, POLLIN, 0};
    (void)poll(&ready, 1, -1); /* sent when the trainer waits */
    fby_ready_queue_interrupt(&c->ready_queue, true);
    return NULL;
}

static void an_interrupt_ends_a_wait_but_drops_no_batch(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *out = NULL;
    pthread_t             thread;
    begin(&c);
    open_epochs_of(&c, 4);
    pthread_create(&thread, NULL, interrupt_main, &c);
    assert_int_equal(
        fby_ready_queue_next(&c.ready_queue, c.batch_pool, -1, &on_host, &out),
        FOREBAY_INTERRUPTED);
    pthread_join(thread, NULL);
    finish(&c, publish(&c, 0), FBY_OK);
    assert_takes(&c, 0);
    assert_int_equal(look(&c, &out), FOREBAY_INTERRUPTED);
    fby_ready_queue_interrupt(&c.ready_queue, false);
    assert_int_equal(look(&c, &out), FOREBAY_TIMEOUT);
    end(&c);
}

/* ---- A delivery that waits for the GPU ----------------------------------- */

static bool  must_stand; /* deliveries wait for `may_go` */
static sem_t stands, may_go;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
fby_err __real_fby_batch_pool_deliver(struct forebay_batch *batch, void *stream,
    uint8_t *memory, struct fby_error_detail *why);

fby_err __wrap_fby_batch_pool_deliver(struct forebay_batch *batch, void *stream,
    uint8_t *memory, struct fby_error_detail *why);
/* NOLINTEND(readability-identifier-naming) */

fby_err __wrap_fby_batch_pool_deliver(struct forebay_batch *batch, void *stream,
    uint8_t *memory, struct fby_error_detail *why)
{
    if (must_stand) {
        sem_post(&stands);
        sem_wait(&may_go);
    }
    return __real_fby_batch_pool_deliver(batch, stream, memory, why);
}

static void *take_main(void *opaque)
{
    struct counter       *c     = opaque;
    struct forebay_batch *batch = NULL;
    return fby_ready_queue_next(&c->ready_queue, c->batch_pool, -1, &on_host,
               &batch) == FOREBAY_OK
               ? batch
               : NULL;
}

/* The receiver and other threads go on, and a seek drops the other batches. */
static void other_threads_go_on_while_a_delivery_waits(void **state)
{
    (void)state;
    struct counter        c;
    pthread_t             thread;
    bool                  waits  = false;
    struct forebay_batch *out    = NULL;
    void                 *result = NULL;
    begin(&c);
    open_epochs_of(&c, 4);
    finish(&c, publish(&c, 0), FBY_OK);
    finish(&c, publish(&c, 1), FBY_OK);
    sem_init(&stands, 0, 0);
    sem_init(&may_go, 0, 0);
    must_stand = true;
    pthread_create(&thread, NULL, take_main, &c);
    sem_wait(&stands);
    assert_false(fby_ready_queue_has_room(&c.ready_queue, &waits));
    assert_int_equal(look(&c, &out), FOREBAY_TIMEOUT); /* one at a time */
    fby_ready_queue_finish_seek(&c.ready_queue, 0);
    assert_true(fby_ready_queue_has_room(&c.ready_queue, &waits));
    sem_post(&may_go);
    pthread_join(thread, &result);
    must_stand = false;
    out        = result;
    assert_non_null(out);
    assert_int_equal(out->step, 0);
    fby_batch_unref(out);
    finish(&c, publish(&c, 2), FBY_OK);
    assert_takes(&c, 2);
    sem_destroy(&stands);
    sem_destroy(&may_go);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_that_is_late_says_what_it_waits_for),
        cmocka_unit_test(a_failure_before_opening_is_returned_by_open),
        cmocka_unit_test(a_failure_after_opening_is_returned_by_next),
        cmocka_unit_test(
            batches_are_taken_in_order_once_their_values_are_there),
        cmocka_unit_test(each_timeout_says_what_is_waited_for_now),
        cmocka_unit_test(the_end_is_no_error),
        cmocka_unit_test(a_timeout_may_be_as_long_as_a_number_can_be),
        cmocka_unit_test(finished_batches_come_before_the_end_or_a_failure),
        cmocka_unit_test(a_trainer_that_holds_all_batches_gets_an_error),
        cmocka_unit_test(the_receiver_sees_room_and_a_waiting_consumer),
        cmocka_unit_test(an_end_after_a_failure_is_a_failure),
        cmocka_unit_test(a_stream_that_opens_after_its_failure_has_failed),
        cmocka_unit_test(values_that_cannot_be_made_fail_the_stream),
        cmocka_unit_test(each_advance_of_a_scan_is_reported_once),
        cmocka_unit_test(open_waits_until_its_deadline_and_no_longer_asks),
        cmocka_unit_test(next_waits_as_long_as_its_timeout),
        cmocka_unit_test(the_wakeup_rings_for_a_waiting_consumer_and_for_room),
        cmocka_unit_test(a_ready_queue_has_room_up_to_its_last_place),
        cmocka_unit_test(
            deliveries_are_counted_apart_from_the_receivers_report),
        cmocka_unit_test(the_streams_digest_is_of_the_batches_that_have_one),
        cmocka_unit_test(a_seek_drops_batches_also_those_that_are_being_made),
        cmocka_unit_test(a_seek_continues_a_stream_that_has_ended),
        cmocka_unit_test(a_seek_returns_the_failure_of_the_stream),
        cmocka_unit_test(a_position_outside_of_all_epochs_is_refused),
        cmocka_unit_test(an_interrupt_ends_a_wait_but_drops_no_batch),
        cmocka_unit_test(other_threads_go_on_while_a_delivery_waits),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.ready_queue", tests, NULL, NULL);
}
