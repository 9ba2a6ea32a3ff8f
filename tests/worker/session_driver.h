/* SPDX-License-Identifier: Apache-2.0 */
/* session_driver.h - one session of a worker with a small budget.
 *
 * A batch takes BATCH bytes; the window is 100 bytes. Times are zero unless a
 * test says otherwise. */
#ifndef FBY_TESTS_SESSION_DRIVER_H
#define FBY_TESTS_SESSION_DRIVER_H

#include "tests/test.h"

#include "common/clock.h"
#include "worker/session/session.h"

#define S FBY_NS_PER_S
enum { BATCH = 100, MANY = 8 };

struct driver {
    struct fby_budget        budget;
    struct fby_session      *s;
    struct fby_session_chunk chunks[MANY][4];
};

static inline struct fby_session_config config(void)
{
    struct fby_session_config c = fby_session_defaults();
    c.send_window               = 100;
    c.max_batches               = MANY;
    return c;
}

/* A worker with room for `batches`, and one session with a route. */
static inline void begin(struct driver *d, uint64_t batches)
{
    struct fby_session_config c = config();
    fby_budget_init(&d->budget, batches * BATCH);
    d->s = fby_session_create(&c, &d->budget, BATCH, 0);
    fby_session_hello(d->s, 0, 7);
}

/* Release everything; no byte may stay charged. */
static inline void finish(struct driver *d)
{
    fby_session_bye(d->s);
    for (uint64_t id = 1; id < MANY; id++) {
        fby_session_freed(d->s, (struct fby_request_id){id});
    }
    struct fby_session_state end = fby_session_state(d->s);
    assert_int_equal(end.open + end.charged, 0);
    assert_int_equal(d->budget.charged, 0);
    fby_session_destroy(&d->s);
    assert_null(d->s);
    fby_session_destroy(&d->s);
    assert_int_equal(d->budget.entitled, 0);
}

static inline enum fby_session_answer request(
    struct driver *d, uint64_t id, uint64_t order)
{
    return fby_session_request(d->s, 0,
        &(struct fby_session_request){
            .id = {id}, .order = order, .bytes = BATCH});
}

/* Make a whole batch of `n` chunks of `bytes` bytes each. */
static inline void make(
    struct driver *d, uint64_t id, uint32_t n, uint32_t bytes)
{
    struct fby_request_id which = {id};
    assert_ok(fby_session_header(d->s, which, d->chunks[id], n));
    for (uint32_t i = 0; i < n; i++) {
        assert_ok(fby_session_chunk_ready(d->s, which,
            (struct fby_session_chunk){.chunk = i, .wire_bytes = bytes}));
    }
    assert_ok(fby_session_all_ready(d->s, which));
}

static inline void expect(
    struct driver *d, enum fby_session_item_kind kind, uint64_t id)
{
    struct fby_session_item item;
    assert_true(fby_session_next(d->s, 0, &item));
    assert_int_equal(item.kind, kind);
    assert_int_equal(item.id.value, id);
}

static inline void expect_nothing(struct driver *d)
{
    struct fby_session_item item;
    assert_false(fby_session_next(d->s, 0, &item));
}

#endif
