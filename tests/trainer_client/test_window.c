/* The window's rules, one at a time. A small driver plays the shell: it keeps
 * the time, and remembers the actions of the last turn. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "trainer_client/window.h"

#define MS FBY_NS_PER_MS
#define S  FBY_NS_PER_S
enum { BATCH = 1000, MANY = 256, PEERS = 8 };

struct driver {
    struct fby_window *w;
    int64_t            now;
    struct fby_action  acts[MANY];
    int                n_acts;
};

static struct fby_window_config config_of(uint32_t batches)
{
    struct fby_window_config c = fby_window_defaults();
    c.max_batches              = batches;
    c.max_bytes                = (uint64_t)batches * BATCH;
    c.batch_bytes              = BATCH;
    c.max_chunks               = 8;
    c.max_peers                = PEERS;
    c.seed                     = 1;
    return c;
}

static void turn(struct driver *d)
{
    d->n_acts = 0;
    fby_window_tick(d->w, d->now);
    while (fby_window_next(d->w, &d->acts[d->n_acts])) {
        d->n_acts++;
        assert_true(d->n_acts < MANY);
    }
    int64_t due = fby_window_deadline(d->w);
    assert_true(due > d->now);
}

/* Ticks at every deadline on the way, as the shell does. */
static void wait(struct driver *d, int64_t ns)
{
    int64_t end = d->now + ns;
    int     n   = 0;
    while (fby_window_deadline(d->w) <= end) {
        struct fby_action kept[MANY];
        d->now = fby_window_deadline(d->w);
        memcpy(kept, d->acts, sizeof(kept));
        turn(d);
        memcpy(&kept[n], d->acts, (size_t)d->n_acts * sizeof(kept[0]));
        n += d->n_acts;
        memcpy(d->acts, kept, sizeof(kept));
        assert_true(n < MANY / 2);
    }
    d->now    = end;
    d->n_acts = n;
}

static int count(const struct driver *d, enum fby_action_kind kind, int peer)
{
    int n = 0;
    for (int i = 0; i < d->n_acts; i++) {
        n += d->acts[i].kind == kind &&
             (peer == FBY_NO_PEER || d->acts[i].peer == peer);
    }
    return n;
}

/* The `nth` action of a kind in the last turn; fails when there is none. */
static struct fby_action act(
    const struct driver *d, enum fby_action_kind kind, int nth)
{
    for (int i = 0; i < d->n_acts; i++) {
        if (d->acts[i].kind == kind && nth-- == 0) {
            return d->acts[i];
        }
    }
    fail_msg("action %d did not come", (int)kind);
    return (struct fby_action){0};
}

static void welcome(struct driver *d, int peer, uint64_t instance,
    const struct fby_request_id *open, size_t n_open)
{
    fby_window_welcome(d->w, d->now, peer,
        &(struct fby_window_welcome){.instance = {instance},
            .route                             = act(d, FBY_DO_HELLO, 0).number,
            .send_window                       = 1000,
            .open                              = open,
            .n_open                            = n_open});
}

static int add(struct driver *d, uint64_t instance)
{
    int peer = FBY_NO_PEER;
    assert_ok(fby_window_peer_add(
        d->w, d->now, (struct fby_instance_id){instance}, instance, &peer));
    return peer;
}

/* A peer that may be asked, while the window has not started. */
static int join(struct driver *d, uint64_t instance)
{
    int peer = add(d, instance);
    turn(d);
    welcome(d, peer, instance, NULL, 0);
    turn(d);
    assert_int_equal(count(d, FBY_DO_OPEN, peer), 1);
    fby_window_opened(d->w, d->now, peer);
    return peer;
}

static struct driver driver_of(const struct fby_window_config *config)
{
    struct driver  d = {.now = S};
    struct fby_why why;
    assert_ok(fby_window_create(config, d.now, &d.w, &why));
    return d;
}

static void start_at(struct driver *d, uint64_t per_epoch, uint64_t total)
{
    struct fby_why         why;
    struct fby_window_plan plan = {
        .steps_per_epoch = per_epoch, .total = total};
    assert_ok(fby_window_start(d->w, d->now, &plan, &why));
    turn(d);
}

/* `n` workers, instances 1 to n, peers 0 to n - 1, and the first requests;
 * every `audit`-th step is asked of two of them. */
static struct driver audited(uint32_t batches, uint64_t n, uint64_t audit)
{
    struct fby_window_config c = config_of(batches);
    c.audit                    = audit;
    struct driver d            = driver_of(&c);
    for (uint64_t i = 1; i <= n; i++) {
        (void)join(&d, i);
    }
    start_at(&d, 1000000, UINT64_MAX);
    return d;
}

static struct driver started(uint32_t batches, uint64_t n)
{
    return audited(batches, n, 0);
}

static enum fby_verdict chunk(
    struct driver *d, const struct fby_action *r, uint32_t number)
{
    return fby_window_chunk(d->w, d->now,
        &(struct fby_window_chunk){
            .peer = r->peer, .id = r->id, .chunk = number, .wire_bytes = 10});
}

static enum fby_verdict end(
    struct driver *d, const struct fby_action *r, uint8_t content)
{
    return fby_window_end(d->w, d->now,
        &(struct fby_window_end){.peer = r->peer,
            .id                        = r->id,
            .matches                   = true,
            .content                   = {{content}}});
}

static void decoded(struct driver *d, const struct fby_action *r, bool ok)
{
    fby_window_decoded(d->w, d->now, r->slot, r->id, ok);
}

static enum fby_verdict header(
    struct driver *d, const struct fby_action *r, uint32_t n)
{
    return fby_window_header(d->w, d->now, r->peer, r->id, n);
}

static void answer(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 1), FBY_TAKE);
    assert_int_equal(chunk(d, r, 0), FBY_TAKE);
    decoded(d, r, true);
    assert_int_equal(end(d, r, 1), FBY_TAKE);
}

/* The whole answer to an audit. */
static void answer_audit(
    struct driver *d, const struct fby_action *r, uint8_t content)
{
    assert_int_equal(header(d, r, 1), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 0), FBY_AUDIT);
    assert_int_equal(end(d, r, content), FBY_AUDIT);
}

static fby_err take(struct driver *d, struct fby_window_batch *out)
{
    return fby_window_take(d->w, d->now, out);
}

static void take_and_release(struct driver *d, uint64_t step)
{
    struct fby_window_batch batch;
    assert_ok(take(d, &batch));
    assert_int_equal(batch.step, step);
    fby_window_release(d->w, d->now, batch.slot);
}

static struct fby_window_counters counters(const struct driver *d)
{
    return fby_window_counters(d->w);
}

/* ---- Config -------------------------------------------------------------- */

static void a_batch_that_never_fits_is_refused_with_both_numbers(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(2);
    struct fby_window       *w = NULL;
    struct fby_why           why;
    c.batch_bytes = 5000;
    assert_int_equal(fby_window_create(&c, 0, &w, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "5000"));
    assert_non_null(strstr(why.text, "2000"));
    assert_null(w);
}

static void a_first_step_beyond_the_epoch_is_refused(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(2);
    struct driver            d = driver_of(&c);
    struct fby_why           why;
    assert_int_equal(fby_window_start(d.w, d.now,
                         &(struct fby_window_plan){
                             .steps_per_epoch = 4, .step = 4, .total = 9},
                         &why),
        FBY_CONFIG);
    fby_window_destroy(&d.w);
}

/* ---- The window ---------------------------------------------------------- */

static void no_more_is_asked_than_slots_and_bytes_allow(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(8);
    c.max_bytes                = 3 * BATCH + BATCH / 2;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 100, 100);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 3);
    assert_int_equal(fby_window_bytes(d.w), 3 * BATCH);
    fby_window_destroy(&d.w);
}

static void a_held_slot_is_not_given_to_a_new_step(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_action       r = act(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer(&d, &r);
    assert_ok(take(&d, &batch));
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    fby_window_release(d.w, d.now, batch.slot);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, 1);
    fby_window_destroy(&d.w);
}

static void batches_come_in_order_whatever_order_they_arrive_in(void **state)
{
    (void)state;
    struct driver           d  = started(2, 1);
    struct fby_action       r0 = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action       r1 = act(&d, FBY_DO_REQUEST, 1);
    struct fby_window_batch batch;
    answer(&d, &r1);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    answer(&d, &r0);
    assert_int_equal(fby_window_ready(d.w), 2);
    take_and_release(&d, 0);
    take_and_release(&d, 1);
    fby_window_destroy(&d.w);
}

static void an_epoch_ends_without_a_pause(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(4);
    struct driver            d = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 2, 3);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 3);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 2);
    assert_int_equal(r.epoch, 1);
    assert_int_equal(r.step, 0);
    fby_window_destroy(&d.w);
}

static void after_the_last_batch_the_stream_is_over(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(4);
    struct driver            d = driver_of(&c);
    struct fby_window_batch  batch;
    (void)join(&d, 1);
    start_at(&d, 1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    answer(&d, &r);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_destroy(&d.w);
}

static void a_batch_without_chunks_is_complete_at_its_end(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    take_and_release(&d, 0);
    fby_window_destroy(&d.w);
}

/* ---- Asking again -------------------------------------------------------- */

static void a_lost_request_is_asked_again_under_a_new_id(void **state)
{
    (void)state;
    struct driver     d   = started(1, 1);
    struct fby_action old = act(&d, FBY_DO_REQUEST, 0);
    fby_window_lost(d.w, d.now, old.peer, old.id);
    turn(&d);
    struct fby_action again = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(again.step, old.step);
    assert_true(again.id.value > old.id.value);
    assert_int_equal(header(&d, &old, 1), FBY_LATE);
    assert_int_equal(chunk(&d, &old, 0), FBY_LATE);
    assert_int_equal(counters(&d).rerequests, 1);
    assert_int_equal(counters(&d).late, 1);
    answer(&d, &again);
    take_and_release(&d, 0);
    fby_window_destroy(&d.w);
}

static void a_lost_request_goes_to_another_worker_if_there_is_one(void **state)
{
    (void)state;
    struct driver     d   = started(1, 2);
    struct fby_action old = act(&d, FBY_DO_REQUEST, 0);
    fby_window_lost(d.w, d.now, old.peer, old.id);
    turn(&d);
    assert_int_not_equal(act(&d, FBY_DO_REQUEST, 0).peer, old.peer);
    fby_window_destroy(&d.w);
}

static void a_slot_waits_for_its_old_chunks_before_it_is_asked_again(
    void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    fby_window_lost(d.w, d.now, r.peer, r.id);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    decoded(&d, &r, true);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

static void a_pong_judges_only_requests_sent_before_its_ping(void **state)
{
    (void)state;
    struct driver     d     = started(2, 1);
    struct fby_action early = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action also  = act(&d, FBY_DO_REQUEST, 1);
    wait(&d, 990 * MS);
    answer(&d, &early);
    turn(&d);
    wait(&d, 15 * MS);
    struct fby_action ping = act(&d, FBY_DO_PING, 0);
    take_and_release(&d, 0);
    turn(&d);
    struct fby_action later = act(&d, FBY_DO_REQUEST, 0);
    fby_window_pong(d.w, d.now, 0,
        &(struct fby_window_pong){.instance = {1}, .seq = ping.number});
    assert_int_equal(fby_window_slot(d.w, also.id), FBY_NO_SLOT);
    assert_int_equal(fby_window_slot(d.w, later.id), later.slot);
    assert_int_equal(counters(&d).lost, 1);
    fby_window_destroy(&d.w);
}

static void a_named_request_stays_after_a_reconnect(void **state)
{
    (void)state;
    struct driver     d    = started(2, 1);
    struct fby_action kept = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action lost = act(&d, FBY_DO_REQUEST, 1);
    assert_int_equal(header(&d, &kept, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &kept, 0), FBY_TAKE);
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    welcome(&d, 0, 1, &kept.id, 1);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, lost.step);
    assert_int_equal(header(&d, &kept, 2), FBY_DUPLICATE);
    assert_int_equal(chunk(&d, &kept, 0), FBY_DUPLICATE);
    assert_int_equal(chunk(&d, &kept, 1), FBY_TAKE);
    assert_int_equal(counters(&d).reconnects, 1);
    fby_window_destroy(&d.w);
}

static void what_a_worker_still_has_open_for_nobody_is_cancelled(void **state)
{
    (void)state;
    struct driver         d     = started(1, 1);
    struct fby_request_id alien = {act(&d, FBY_DO_REQUEST, 0).id.value + 7};
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    welcome(&d, 0, 1, &alien, 1);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_CANCEL, 0).id.value, alien.value);
    fby_window_destroy(&d.w);
}

static void a_restarted_worker_has_lost_everything(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    welcome(&d, 0, 99, &r.id, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_OPEN, 0), 1);
    assert_int_equal(counters(&d).restarts, 1);
    fby_window_opened(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, r.step);
    fby_window_destroy(&d.w);
}

static void a_welcome_for_an_older_hello_is_ignored(void **state)
{
    (void)state;
    struct fby_window_config c    = config_of(1);
    struct driver            d    = driver_of(&c);
    int                      peer = add(&d, 1);
    turn(&d);
    struct driver first = d;
    wait(&d, 1 * S);
    assert_int_equal(count(&d, FBY_DO_HELLO, peer), 1);
    welcome(&first, peer, 1, NULL, 0);
    assert_string_equal(fby_window_peer_state(d.w, peer), "greeting");
    welcome(&d, peer, 1, NULL, 0);
    assert_string_equal(fby_window_peer_state(d.w, peer), "opening");
    fby_window_destroy(&d.w);
}

static void a_corrupt_chunk_is_asked_for_at_another_worker(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    decoded(&d, &r, false);
    turn(&d);
    assert_int_not_equal(act(&d, FBY_DO_REQUEST, 0).peer, r.peer);
    assert_int_equal(act(&d, FBY_DO_CANCEL, 0).id.value, r.id.value);
    assert_int_equal(counters(&d).corrupt, 1);
    fby_window_destroy(&d.w);
}

static void a_step_that_is_always_corrupt_fails_in_the_end(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_window_batch batch;
    for (int i = 0; i < 8; i++) {
        struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(header(&d, &r, 1), FBY_TAKE);
        assert_int_equal(end(&d, &r, 1), FBY_TAKE); /* its chunk is missing */
        turn(&d);
    }
    assert_int_equal(count(&d, FBY_DO_FAIL, 0), 1);
    assert_int_equal(fby_window_failure(d.w)->cause, FBY_CAUSE_CORRUPT);
    assert_int_equal(take(&d, &batch), FBY_IO);
    fby_window_destroy(&d.w);
}

/* ---- Refusals ------------------------------------------------------------ */

static void a_busy_worker_is_left_alone_until_it_said(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_busy(d.w, d.now, 0, r.id, 40 * MS);
    turn(&d);
    wait(&d, 39 * MS);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    wait(&d, 1 * MS);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, r.step);
    assert_int_equal(counters(&d).busy, 1);
    assert_int_equal(counters(&d).rerequests, 0);
    fby_window_destroy(&d.w);
}

static void a_refused_step_fails_only_when_all_refused(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_action       r = act(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    fby_window_cannot(d.w, d.now, r.peer, r.id, 7);
    turn(&d);
    struct fby_action other = act(&d, FBY_DO_REQUEST, 0);
    assert_int_not_equal(other.peer, r.peer);
    fby_window_cannot(d.w, d.now, other.peer, other.id, 8);
    turn(&d);
    const struct fby_window_failure *f = fby_window_failure(d.w);
    assert_non_null(f);
    assert_int_equal(f->cause, FBY_CAUSE_CANNOT);
    assert_int_equal(f->code, 8);
    assert_int_equal(f->peer, other.peer);
    assert_int_equal(take(&d, &batch), FBY_IO);
    fby_window_destroy(&d.w);
}

static void batches_before_a_failed_one_are_delivered(void **state)
{
    (void)state;
    struct driver           d  = started(2, 1);
    struct fby_action       r0 = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action       r1 = act(&d, FBY_DO_REQUEST, 1);
    struct fby_window_batch batch;
    fby_window_cannot(d.w, d.now, 0, r1.id, 3);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_FAIL, 0), 1);
    answer(&d, &r0);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_IO);
    fby_window_destroy(&d.w);
}

static void a_worker_with_other_bytes_is_set_aside_and_others_go_on(
    void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_set_aside(d.w, d.now, r.peer, 5);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, r.peer), 1);
    struct fby_action other = act(&d, FBY_DO_REQUEST, 0);
    assert_int_not_equal(other.peer, r.peer);
    assert_null(fby_window_failure(d.w));
    fby_window_set_aside(d.w, d.now, other.peer, 6);
    assert_int_equal(fby_window_failure(d.w)->cause, FBY_CAUSE_ASIDE);
    assert_int_equal(fby_window_failure(d.w)->code, 6);
    fby_window_destroy(&d.w);
}

static void a_worker_that_forgot_the_content_gets_it_again(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_send_content(d.w, d.now, 0, r.id);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_OPEN, 0), 1);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    fby_window_opened(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, r.step);
    fby_window_destroy(&d.w);
}

static void a_leaving_worker_finishes_what_it_has(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_leave(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, 0), 0);
    answer(&d, &r);
    take_and_release(&d, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    assert_int_equal(count(&d, FBY_DO_BYE, 0), 1);
    assert_int_equal(count(&d, FBY_DO_CLOSE, 0), 1);
    assert_int_equal(count(&d, FBY_DO_GONE, 0), 1);
    fby_window_destroy(&d.w);
}

static void a_breach_closes_the_peer_and_its_requests_go_elsewhere(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(chunk(&d, &r, 0), FBY_BREACH); /* before its HEADER */
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, r.peer), 1);
    assert_int_not_equal(act(&d, FBY_DO_REQUEST, 0).peer, r.peer);
    assert_int_equal(counters(&d).breaches, 1);
    fby_window_destroy(&d.w);
}

static void ids_that_were_never_asked_are_unknown(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    r.id.value += 1;
    assert_int_equal(chunk(&d, &r, 0), FBY_UNKNOWN);
    r.id.value = 0;
    assert_int_equal(header(&d, &r, 1), FBY_UNKNOWN);
    assert_int_equal(counters(&d).unknown, 2);
    fby_window_destroy(&d.w);
}

static void an_answer_from_a_peer_that_was_not_asked_is_dropped(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    r.peer = 1 - r.peer;
    assert_int_equal(chunk(&d, &r, 0), FBY_UNKNOWN);
    assert_int_equal(end(&d, &r, 1), FBY_UNKNOWN);
    r.peer = 1 - r.peer;
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    fby_window_destroy(&d.w);
}

static void more_chunks_than_a_batch_can_have_are_a_breach(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 9), FBY_BREACH);
    fby_window_destroy(&d.w);
}

/* ---- Peers --------------------------------------------------------------- */

static void a_peer_is_opened_at_first_use_and_closed_when_idle(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.open_peers               = 0;
    c.times.reach              = 1000 * S; /* nobody answers PING here */
    struct driver d            = driver_of(&c);
    int           peer         = add(&d, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 0);
    start_at(&d, 1, 1);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 1);
    welcome(&d, peer, 1, NULL, 0);
    fby_window_opened(d.w, d.now, peer);
    turn(&d);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    answer(&d, &r);
    turn(&d);
    wait(&d, 59 * S);
    assert_int_equal(count(&d, FBY_DO_CLOSE, peer), 0);
    wait(&d, 1 * S);
    assert_int_equal(count(&d, FBY_DO_BYE, peer), 1);
    assert_int_equal(count(&d, FBY_DO_CLOSE, peer), 1);
    fby_window_destroy(&d.w);
}

static void an_unreachable_peer_is_reported_and_tried_again_later(void **state)
{
    (void)state;
    struct fby_window_config c    = config_of(1);
    struct driver            d    = driver_of(&c);
    int                      peer = add(&d, 1);
    turn(&d);
    wait(&d, 2999 * MS);
    assert_int_equal(count(&d, FBY_DO_UNREACHABLE, peer), 0);
    wait(&d, 1 * MS);
    assert_int_equal(count(&d, FBY_DO_UNREACHABLE, peer), 1);
    assert_int_equal(count(&d, FBY_DO_CLOSE, peer), 1);
    wait(&d, 499 * MS);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 0);
    wait(&d, 501 * MS);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 1);
    fby_window_destroy(&d.w);
}

static void an_unlisted_peer_stays_while_its_connection_works(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    fby_window_peer_unlist(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_GONE, 0), 0);
    fby_window_unreachable(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_GONE, 0), 1);
    fby_window_destroy(&d.w);
}

static void one_worker_under_two_numbers_keeps_one(void **state)
{
    (void)state;
    struct driver d     = started(1, 1);
    int           twice = add(&d, 2); /* in truth instance 1 */
    fby_window_lost(d.w, d.now, 0, act(&d, FBY_DO_REQUEST, 0).id);
    fby_window_busy(d.w, d.now, 0, (struct fby_request_id){1}, S);
    fby_window_full(d.w, d.now, 0);
    turn(&d);
    if (count(&d, FBY_DO_CONNECT, twice) == 0) {
        fail_msg("the second peer is not connected");
    }
    welcome(&d, twice, 1, NULL, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_GONE, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

static void a_known_instance_keeps_its_number(void **state)
{
    (void)state;
    struct driver d = started(1, 2);
    assert_int_equal(add(&d, 2), 1);
    assert_int_equal(add(&d, 3), 2);
    fby_window_destroy(&d.w);
}

static void without_workers_it_says_so_every_few_seconds(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    start_at(&d, 1, 1);
    wait(&d, 11 * S);
    assert_int_equal(count(&d, FBY_DO_NO_WORKERS, FBY_NO_PEER), 2);
    fby_window_destroy(&d.w);
}

static void credit_reports_every_byte_also_of_dropped_chunks(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_DUPLICATE);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CREDIT, 0), 0);
    wait(&d, 5 * MS);
    assert_int_equal(act(&d, FBY_DO_CREDIT, 0).number, 20);
    fby_window_destroy(&d.w);
}

static void credit_starts_at_zero_on_a_new_route(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    uint64_t route = act(&d, FBY_DO_HELLO, 0).number;
    welcome(&d, 0, 1, &r.id, 1);
    assert_int_equal(chunk(&d, &r, 0), FBY_DUPLICATE);
    wait(&d, 5 * MS);
    assert_int_equal(act(&d, FBY_DO_CREDIT, 0).number, 10);
    assert_int_equal(act(&d, FBY_DO_CREDIT, 0).route, route);
    fby_window_destroy(&d.w);
}

/* ---- Hedges -------------------------------------------------------------- */

/* Two workers, both known to answer in 10 ms; a consumer that waits. Step 30
 * was just asked; *out is its request. */
static struct driver warm(struct fby_action *out)
{
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    for (uint64_t step = 0; step < 30; step++) {
        struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(take(&d, &batch), FBY_AGAIN);
        wait(&d, 10 * MS);
        answer(&d, &r);
        take_and_release(&d, step);
        turn(&d);
    }
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    *out = act(&d, FBY_DO_REQUEST, 0);
    fby_window_heard(d.w, d.now, 0);
    fby_window_heard(d.w, d.now, 1);
    (void)fby_window_deadline(d.w);
    return d;
}

static void slow_first_answers_put_the_first_hedges_off(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    struct fby_action       r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(fby_window_hedge_after(d.w), 1000 * MS);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 900 * MS);
    answer(&d, &r);
    take_and_release(&d, 0);
    assert_int_equal(fby_window_hedge_after(d.w), 1800 * MS);
    fby_window_destroy(&d.w);
}

static void a_late_step_is_hedged_with_a_ping(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    assert_int_equal(fby_window_hedge_after(d.w), 20 * MS);
    wait(&d, 19 * MS);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    wait(&d, 1 * MS);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    assert_true(hedge.hedge);
    assert_int_equal(hedge.step, slow.step);
    assert_int_not_equal(hedge.peer, slow.peer);
    assert_int_not_equal(hedge.slot, slow.slot);
    assert_int_equal(count(&d, FBY_DO_PING, slow.peer), 1);
    wait(&d, 90 * MS);
    assert_int_equal(counters(&d).hedges, 1); /* one a request */
    fby_window_destroy(&d.w);
}

static void the_slower_answer_of_a_hedge_is_dropped(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    wait(&d, 20 * MS);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &slow, 1), FBY_TAKE);
    answer(&d, &hedge);
    take_and_release(&d, 30);
    assert_int_equal(chunk(&d, &slow, 0), FBY_LATE_HEDGE);
    assert_int_equal(end(&d, &slow, 1), FBY_LATE_HEDGE);
    assert_int_equal(counters(&d).hedges_won, 1);
    assert_int_equal(counters(&d).late, 0);
    assert_null(fby_window_failure(d.w));
    fby_window_destroy(&d.w);
}

static void two_answers_that_differ_name_both_workers(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    wait(&d, 20 * MS);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    answer(&d, &hedge);
    assert_int_equal(end(&d, &slow, 2), FBY_LATE_HEDGE);
    const struct fby_window_failure *f = fby_window_failure(d.w);
    assert_non_null(f);
    assert_int_equal(f->cause, FBY_CAUSE_DIFFERENT);
    assert_int_equal(f->peer, hedge.peer);
    assert_int_equal(f->other, slow.peer);
    assert_int_equal(f->step, slow.step);
    fby_window_destroy(&d.w);
}

static void a_winner_that_is_gone_is_not_named_as_another(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    wait(&d, 20 * MS);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    answer(&d, &hedge);
    fby_window_peer_unlist(d.w, d.now, hedge.peer);
    fby_window_unreachable(d.w, d.now, hedge.peer);
    assert_int_equal(add(&d, 77), hedge.peer); /* the number's next owner */
    assert_int_equal(end(&d, &slow, 2), FBY_LATE_HEDGE);
    assert_non_null(fby_window_failure(d.w));
    assert_int_equal(fby_window_failure(d.w)->peer, FBY_NO_PEER);
    assert_int_equal(fby_window_failure(d.w)->other, slow.peer);
    fby_window_destroy(&d.w);
}

static void a_silent_worker_is_suspect_and_its_step_stays_with_the_hedge(
    void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    wait(&d, 20 * MS);
    assert_int_equal(fby_window_usable(d.w), 2);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    wait(&d, 100 * MS);
    assert_int_equal(fby_window_usable(d.w), 1);
    assert_int_equal(act(&d, FBY_DO_CANCEL, 0).id.value, slow.id.value);
    answer(&d, &hedge);
    take_and_release(&d, 30);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).peer, hedge.peer);
    fby_window_heard(d.w, d.now, slow.peer);
    assert_int_equal(fby_window_usable(d.w), 2);
    fby_window_destroy(&d.w);
}

static void a_busy_worker_gets_no_hedge(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    fby_window_busy(d.w, d.now, slow.peer, slow.id, 10 * S);
    turn(&d);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_not_equal(r.peer, slow.peer);
    wait(&d, 50 * MS);
    assert_int_equal(counters(&d).hedges, 0);
    fby_window_destroy(&d.w);
}

static void while_few_answers_are_known_a_hedge_waits_a_second(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 999 * MS);
    assert_int_equal(counters(&d).hedges, 0);
    wait(&d, 1 * MS);
    assert_int_equal(counters(&d).hedges, 1);
    fby_window_destroy(&d.w);
}

static void a_lone_worker_keeps_its_requests_while_suspect(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_window_batch batch;
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 1500 * MS);
    assert_int_equal(counters(&d).suspects, 1);
    assert_int_equal(counters(&d).rerequests, 0);
    assert_int_equal(count(&d, FBY_DO_CANCEL, 0), 0);
    fby_window_destroy(&d.w);
}

static void hedges_are_rationed(void **state)
{
    (void)state;
    struct fby_action       slow;
    struct driver           d = warm(&slow);
    struct fby_window_batch batch;
    for (uint64_t step = 30; step < 34; step++) {
        wait(&d, 21 * MS);
        fby_window_heard(d.w, d.now, 0);
        fby_window_heard(d.w, d.now, 1);
        answer(&d, &slow);
        take_and_release(&d, step);
        turn(&d);
        slow = act(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(take(&d, &batch), FBY_AGAIN);
        (void)fby_window_deadline(d.w);
    }
    assert_int_equal(counters(&d).hedges, 2);
    fby_window_destroy(&d.w);
}

/* ---- Audits --------------------------------------------------------------- */

static void every_nth_step_is_asked_of_two_workers(void **state)
{
    (void)state;
    struct driver d = audited(5, 2, 3);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 7);
    for (int i = 0; i < 7; i++) {
        struct fby_action r = act(&d, FBY_DO_REQUEST, i);
        if (r.slot != FBY_NO_SLOT) {
            continue;
        }
        struct fby_action main = act(&d, FBY_DO_REQUEST, i - 1);
        assert_int_equal(r.step % 3, 0);
        assert_int_equal(r.step, main.step);
        assert_int_not_equal(r.peer, main.peer);
        assert_true(r.id.value > main.id.value);
    }
    assert_int_equal(fby_window_bytes(d.w), 5 * BATCH);
    fby_window_destroy(&d.w);
}

static void equal_answers_pass_and_the_second_is_dropped(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    take_and_release(&d, 0); /* which did not wait for the second */
    answer_audit(&d, &second, 1);
    assert_null(fby_window_failure(d.w));
    assert_int_equal(counters(&d).audits, 1);
    assert_int_equal(counters(&d).audits_skipped, 0);
    assert_int_equal(counters(&d).late + counters(&d).late_hedge, 0);
    fby_window_destroy(&d.w);
}

static void a_second_answer_counts_for_credit(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
    assert_int_equal(header(&d, &second, 1), FBY_AUDIT);
    assert_int_equal(chunk(&d, &second, 0), FBY_AUDIT);
    wait(&d, 5 * MS);
    assert_int_equal(act(&d, FBY_DO_CREDIT, 0).peer, second.peer);
    assert_int_equal(act(&d, FBY_DO_CREDIT, 0).number, 10);
    fby_window_destroy(&d.w);
}

static void assert_differ(
    const struct driver *d, const struct fby_action *main, int peer, int other)
{
    const struct fby_window_failure *f = fby_window_failure(d->w);
    assert_non_null(f);
    assert_int_equal(f->cause, FBY_CAUSE_DIFFERENT);
    assert_int_equal(f->peer, peer);
    assert_int_equal(f->other, other);
    assert_int_equal(f->step, main->step);
    assert_int_equal(counters(d).audits, 1);
}

static void an_audit_that_differs_names_both_workers(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    answer_audit(&d, &second, 2);
    assert_differ(&d, &main, main.peer, second.peer);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_FAIL, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

static void a_second_answer_that_came_first_is_compared_too(void **state)
{
    (void)state;
    struct driver           d      = audited(1, 2, 1);
    struct fby_action       main   = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action       second = act(&d, FBY_DO_REQUEST, 1);
    struct fby_window_batch batch;
    answer_audit(&d, &second, 2);
    assert_null(fby_window_failure(d.w));
    answer(&d, &main);
    assert_differ(&d, &main, main.peer, second.peer);
    assert_int_equal(take(&d, &batch), FBY_IO); /* not delivered */
    fby_window_destroy(&d.w);
}

/* ---- damaged second answers ---- */

static void end_that_does_not_match(
    struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 1), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 0), FBY_AUDIT);
    assert_true(fby_window_has_all(d->w, r->peer, r->id));
    assert_int_equal(fby_window_end(d->w, d->now,
                         &(struct fby_window_end){
                             .peer = r->peer, .id = r->id, .content = {{2}}}),
        FBY_AUDIT);
}

static void end_before_all_chunks(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 1), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 1), FBY_DUPLICATE);
    assert_false(fby_window_has_all(d->w, r->peer, r->id));
    assert_int_equal(end(d, r, 2), FBY_AUDIT);
}

static void chunk_that_is_damaged(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 0), FBY_AUDIT);
    assert_int_equal(fby_window_audit(d->w, r->id), 0);
    fby_window_audit_damaged(d->w, d->now, r->id);
    assert_int_equal(fby_window_audit(d->w, r->id), FBY_NO_SLOT);
    assert_int_equal(chunk(d, r, 1), FBY_LATE);
    assert_int_equal(end(d, r, 2), FBY_LATE);
}

static void a_damaged_second_answer_is_not_compared(void **state)
{
    (void)state;
    void (*const ways[])(struct driver *, const struct fby_action *) = {
        end_that_does_not_match, end_before_all_chunks, chunk_that_is_damaged};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver     d      = audited(1, 2, 1);
        struct fby_action main   = act(&d, FBY_DO_REQUEST, 0);
        struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
        ways[i](&d, &second);
        turn(&d);
        assert_int_equal(act(&d, FBY_DO_CANCEL, 0).id.value, second.id.value);
        answer(&d, &main);
        take_and_release(&d, 0);
        assert_null(fby_window_failure(d.w));
        assert_int_equal(counters(&d).corrupt, 1);
        assert_int_equal(counters(&d).audits_skipped, 1);
        assert_int_equal(counters(&d).audits + counters(&d).rerequests, 0);
        fby_window_destroy(&d.w);
    }
}

static void chunk_before_header(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(chunk(d, r, 0), FBY_BREACH);
}

static void end_before_header(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(end(d, r, 1), FBY_BREACH);
}

static void another_number_of_chunks(
    struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(header(d, r, 3), FBY_BREACH);
}

static void too_many_chunks(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 9), FBY_BREACH);
}

static void chunk_beyond_the_last(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 2), FBY_BREACH);
}

static void a_second_answer_that_breaks_the_protocol_closes_its_peer(
    void **state)
{
    (void)state;
    void (*const ways[])(struct driver *, const struct fby_action *) = {
        chunk_before_header, end_before_header, another_number_of_chunks,
        too_many_chunks, chunk_beyond_the_last};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver     d      = audited(1, 2, 1);
        struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
        ways[i](&d, &second);
        turn(&d);
        assert_int_equal(count(&d, FBY_DO_CLOSE, second.peer), 1);
        assert_int_equal(counters(&d).breaches, 1);
        assert_int_equal(counters(&d).audits_skipped, 1);
        assert_null(fby_window_failure(d.w));
        fby_window_destroy(&d.w);
    }
}

static void a_worker_that_is_gone_is_not_named_as_another(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    fby_window_peer_unlist(d.w, d.now, main.peer);
    fby_window_unreachable(d.w, d.now, main.peer);
    turn(&d);
    assert_int_equal(add(&d, 77), main.peer); /* the number's next owner */
    answer_audit(&d, &second, 2);
    assert_differ(&d, &main, FBY_NO_PEER, second.peer);
    fby_window_destroy(&d.w);
}

static void a_lone_worker_is_not_audited(void **state)
{
    (void)state;
    struct driver     d    = audited(1, 1, 1);
    struct fby_action main = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
    assert_int_equal(counters(&d).audits_skipped, 1);
    answer(&d, &main);
    take_and_release(&d, 0);
    assert_int_equal(counters(&d).audits, 0);
    fby_window_destroy(&d.w);
}

static void say_busy(struct driver *d, const struct fby_action *r)
{
    fby_window_busy(d->w, d->now, r->peer, r->id, 40 * MS);
}

static void say_lost(struct driver *d, const struct fby_action *r)
{
    fby_window_lost(d->w, d->now, r->peer, r->id);
}

static void say_cannot(struct driver *d, const struct fby_action *r)
{
    fby_window_cannot(d->w, d->now, r->peer, r->id, 7);
}

static void ask_for_content(struct driver *d, const struct fby_action *r)
{
    fby_window_send_content(d->w, d->now, r->peer, r->id);
}

static void die(struct driver *d, const struct fby_action *r)
{
    fby_window_unreachable(d->w, d->now, r->peer);
}

static void come_again_without_it(struct driver *d, const struct fby_action *r)
{
    fby_window_hello_first(d->w, d->now, r->peer);
    turn(d);
    welcome(d, r->peer, (uint64_t)r->peer + 1, NULL, 0);
}

static void an_audit_that_is_not_answered_is_skipped(void **state)
{
    (void)state;
    void (*const ways[])(struct driver *, const struct fby_action *) = {
        say_busy, say_lost, say_cannot, ask_for_content, die,
        come_again_without_it};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver     d      = audited(1, 2, 1);
        struct fby_action main   = act(&d, FBY_DO_REQUEST, 0);
        struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
        ways[i](&d, &second);
        assert_int_equal(counters(&d).audits_skipped, 1);
        turn(&d);
        assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
        answer(&d, &main);
        take_and_release(&d, 0);
        assert_int_equal(counters(&d).audits + counters(&d).rerequests, 0);
        fby_window_destroy(&d.w);
    }
}

static void an_audit_goes_on_after_a_reconnect(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    fby_window_hello_first(d.w, d.now, second.peer);
    turn(&d);
    welcome(&d, second.peer, (uint64_t)second.peer + 1, &second.id, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CANCEL, FBY_NO_PEER), 0);
    answer_audit(&d, &second, 1);
    assert_int_equal(counters(&d).audits, 1);
    fby_window_destroy(&d.w);
}

static void a_step_is_not_audited_by_the_worker_that_made_it(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
    fby_window_lost(d.w, d.now, main.peer, main.id);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
    struct fby_action again = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(again.peer, second.peer);
    answer(&d, &again);
    answer_audit(&d, &second, 1);
    assert_int_equal(counters(&d).audits, 0);
    assert_int_equal(counters(&d).audits_skipped, 1);
    fby_window_destroy(&d.w);
}

static void an_audit_is_no_hedge(void **state)
{
    (void)state;
    struct driver           d    = audited(1, 2, 1);
    struct fby_action       main = act(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer(&d, &main);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 900 * MS); /* without its answer */
    assert_int_equal(counters(&d).hedges + counters(&d).suspects, 0);
    assert_int_equal(count(&d, FBY_DO_PING, FBY_NO_PEER), 0);
    fby_window_destroy(&d.w);
}

static void audits_do_not_buy_hedges(void **state)
{
    (void)state;
    struct fby_window_batch batch;
    struct driver           d = audited(1, 2, 1);
    for (uint64_t step = 0; step < 70; step++) {
        struct fby_action main   = act(&d, FBY_DO_REQUEST, 0);
        struct fby_action second = act(&d, FBY_DO_REQUEST, 1);
        assert_int_equal(take(&d, &batch), FBY_AGAIN);
        bool slow = step >= 30 && step < 40;
        wait(&d, slow ? 50 * MS : 10 * MS);
        fby_window_heard(d.w, d.now, 0);
        fby_window_heard(d.w, d.now, 1);
        answer(&d, &main);
        answer_audit(&d, &second, 1);
        take_and_release(&d, step);
        turn(&d);
    }
    assert_in_range(counters(&d).hedges, 1, 2);
    assert_int_equal(counters(&d).audits, 70);
    fby_window_destroy(&d.w);
}

static void more_audits_than_are_remembered_are_skipped(void **state)
{
    (void)state;
    struct driver d = audited(FBY_AUDITS + 4, 2, 1);
    assert_int_equal(
        count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 2 * FBY_AUDITS + 4);
    assert_int_equal(counters(&d).audits_skipped, 4);
    fby_window_destroy(&d.w);
}

/* One step, delivered; *out is its audit, still open. */
static struct driver at_the_end(struct fby_action *out)
{
    struct fby_window_config c = config_of(1);
    c.audit                    = 1;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    (void)join(&d, 2);
    start_at(&d, 1, 1);
    struct fby_action main = act(&d, FBY_DO_REQUEST, 0);
    *out                   = act(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    take_and_release(&d, 0);
    return d;
}

static void the_end_comes_after_the_last_audit(void **state)
{
    (void)state;
    struct fby_action       second;
    struct fby_window_batch batch;
    struct driver           d = at_the_end(&second);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    answer_audit(&d, &second, 1);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    assert_int_equal(counters(&d).audits, 1);
    fby_window_destroy(&d.w);
}

static void the_end_waits_a_second_for_an_audit_and_no_longer(void **state)
{
    (void)state;
    struct fby_action       second;
    struct fby_window_batch batch;
    struct driver           d = at_the_end(&second);
    wait(&d, 999 * MS);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 1 * MS);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    assert_int_equal(counters(&d).audits_skipped, 1);
    fby_window_destroy(&d.w);
}

/* ---- Time ---------------------------------------------------------------- */

static void a_loop_that_slept_judges_nobody(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    (void)fby_window_deadline(d.w);
    d.now += 60 * S;
    turn(&d);
    assert_int_equal(counters(&d).gaps, 1);
    assert_int_equal(count(&d, FBY_DO_UNREACHABLE, FBY_NO_PEER), 0);
    assert_int_equal(counters(&d).hedges + counters(&d).rerequests, 0);
    assert_int_equal(fby_window_usable(d.w), 2);
    fby_window_destroy(&d.w);
}

static uint64_t same_block(const void *context, uint64_t epoch, uint64_t step)
{
    (void)epoch;
    (void)step;
    return *(const uint64_t *)context;
}

static void steps_of_one_block_prefer_one_worker(void **state)
{
    (void)state;
    uint64_t                 block = 77;
    struct fby_window_config c     = config_of(1);
    struct driver            d     = driver_of(&c);
    struct fby_why           why;
    for (uint64_t i = 1; i <= 4; i++) {
        (void)join(&d, i);
    }
    assert_ok(fby_window_start(d.w, d.now,
        &(struct fby_window_plan){.steps_per_epoch = 10,
            .total                                 = 10,
            .locality                              = same_block,
            .context                               = &block},
        &why));
    turn(&d);
    int preferred = act(&d, FBY_DO_REQUEST, 0).peer;
    for (uint64_t step = 0; step < 9; step++) {
        struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(r.peer, preferred);
        answer(&d, &r);
        take_and_release(&d, step);
        turn(&d);
    }
    fby_window_destroy(&d.w);
}

static void requests_spread_over_workers_of_equal_speed(void **state)
{
    (void)state;
    struct driver d = started(8, 4);
    for (int peer = 0; peer < 4; peer++) {
        assert_in_range(count(&d, FBY_DO_REQUEST, peer), 1, 4);
    }
    fby_window_destroy(&d.w);
}

static void stopping_says_bye_to_everybody(void **state)
{
    (void)state;
    struct driver           d = started(2, 2);
    struct fby_window_batch batch;
    fby_window_stop(d.w, d.now);
    d.n_acts = 0;
    while (fby_window_next(d.w, &d.acts[d.n_acts])) {
        d.n_acts++;
    }
    assert_int_equal(count(&d, FBY_DO_BYE, FBY_NO_PEER), 2);
    assert_int_equal(count(&d, FBY_DO_CLOSE, FBY_NO_PEER), 2);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_that_never_fits_is_refused_with_both_numbers),
        cmocka_unit_test(a_first_step_beyond_the_epoch_is_refused),
        cmocka_unit_test(no_more_is_asked_than_slots_and_bytes_allow),
        cmocka_unit_test(a_held_slot_is_not_given_to_a_new_step),
        cmocka_unit_test(batches_come_in_order_whatever_order_they_arrive_in),
        cmocka_unit_test(an_epoch_ends_without_a_pause),
        cmocka_unit_test(after_the_last_batch_the_stream_is_over),
        cmocka_unit_test(a_batch_without_chunks_is_complete_at_its_end),
        cmocka_unit_test(a_lost_request_is_asked_again_under_a_new_id),
        cmocka_unit_test(a_lost_request_goes_to_another_worker_if_there_is_one),
        cmocka_unit_test(
            a_slot_waits_for_its_old_chunks_before_it_is_asked_again),
        cmocka_unit_test(a_pong_judges_only_requests_sent_before_its_ping),
        cmocka_unit_test(a_named_request_stays_after_a_reconnect),
        cmocka_unit_test(what_a_worker_still_has_open_for_nobody_is_cancelled),
        cmocka_unit_test(a_restarted_worker_has_lost_everything),
        cmocka_unit_test(a_welcome_for_an_older_hello_is_ignored),
        cmocka_unit_test(a_corrupt_chunk_is_asked_for_at_another_worker),
        cmocka_unit_test(a_step_that_is_always_corrupt_fails_in_the_end),
        cmocka_unit_test(a_busy_worker_is_left_alone_until_it_said),
        cmocka_unit_test(a_refused_step_fails_only_when_all_refused),
        cmocka_unit_test(batches_before_a_failed_one_are_delivered),
        cmocka_unit_test(
            a_worker_with_other_bytes_is_set_aside_and_others_go_on),
        cmocka_unit_test(a_worker_that_forgot_the_content_gets_it_again),
        cmocka_unit_test(a_leaving_worker_finishes_what_it_has),
        cmocka_unit_test(
            a_breach_closes_the_peer_and_its_requests_go_elsewhere),
        cmocka_unit_test(ids_that_were_never_asked_are_unknown),
        cmocka_unit_test(an_answer_from_a_peer_that_was_not_asked_is_dropped),
        cmocka_unit_test(more_chunks_than_a_batch_can_have_are_a_breach),
        cmocka_unit_test(a_peer_is_opened_at_first_use_and_closed_when_idle),
        cmocka_unit_test(an_unreachable_peer_is_reported_and_tried_again_later),
        cmocka_unit_test(an_unlisted_peer_stays_while_its_connection_works),
        cmocka_unit_test(one_worker_under_two_numbers_keeps_one),
        cmocka_unit_test(a_known_instance_keeps_its_number),
        cmocka_unit_test(without_workers_it_says_so_every_few_seconds),
        cmocka_unit_test(credit_reports_every_byte_also_of_dropped_chunks),
        cmocka_unit_test(credit_starts_at_zero_on_a_new_route),
        cmocka_unit_test(slow_first_answers_put_the_first_hedges_off),
        cmocka_unit_test(a_late_step_is_hedged_with_a_ping),
        cmocka_unit_test(the_slower_answer_of_a_hedge_is_dropped),
        cmocka_unit_test(two_answers_that_differ_name_both_workers),
        cmocka_unit_test(a_winner_that_is_gone_is_not_named_as_another),
        cmocka_unit_test(
            a_silent_worker_is_suspect_and_its_step_stays_with_the_hedge),
        cmocka_unit_test(a_busy_worker_gets_no_hedge),
        cmocka_unit_test(while_few_answers_are_known_a_hedge_waits_a_second),
        cmocka_unit_test(a_lone_worker_keeps_its_requests_while_suspect),
        cmocka_unit_test(hedges_are_rationed),
        cmocka_unit_test(every_nth_step_is_asked_of_two_workers),
        cmocka_unit_test(equal_answers_pass_and_the_second_is_dropped),
        cmocka_unit_test(a_second_answer_counts_for_credit),
        cmocka_unit_test(an_audit_that_differs_names_both_workers),
        cmocka_unit_test(a_second_answer_that_came_first_is_compared_too),
        cmocka_unit_test(a_damaged_second_answer_is_not_compared),
        cmocka_unit_test(
            a_second_answer_that_breaks_the_protocol_closes_its_peer),
        cmocka_unit_test(a_worker_that_is_gone_is_not_named_as_another),
        cmocka_unit_test(a_lone_worker_is_not_audited),
        cmocka_unit_test(an_audit_that_is_not_answered_is_skipped),
        cmocka_unit_test(an_audit_goes_on_after_a_reconnect),
        cmocka_unit_test(a_step_is_not_audited_by_the_worker_that_made_it),
        cmocka_unit_test(an_audit_is_no_hedge),
        cmocka_unit_test(audits_do_not_buy_hedges),
        cmocka_unit_test(more_audits_than_are_remembered_are_skipped),
        cmocka_unit_test(the_end_comes_after_the_last_audit),
        cmocka_unit_test(the_end_waits_a_second_for_an_audit_and_no_longer),
        cmocka_unit_test(a_loop_that_slept_judges_nobody),
        cmocka_unit_test(steps_of_one_block_prefer_one_worker),
        cmocka_unit_test(requests_spread_over_workers_of_equal_speed),
        cmocka_unit_test(stopping_says_bye_to_everybody),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window", tests, NULL, NULL);
}
