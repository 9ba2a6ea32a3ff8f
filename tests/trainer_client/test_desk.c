/* What a trainer finds on the desk, and in which order. */
#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "trainer_client/desk.h"
#include "trainer_client/shelf.h"

enum { SLOTS = 4 };

struct counter { /* a desk with its shelf */
    struct fby_desk   desk;
    struct fby_shelf *shelf;
};

static void begin(struct counter *c)
{
    const struct fby_shelf_config config = {
        .device         = &fby_device_host,
        .out_bytes      = 64,
        .max_rows       = 2,
        .max_held_bytes = UINT64_C(64) * SLOTS,
    };
    assert_ok(fby_desk_init(&c->desk));
    assert_ok(fby_shelf_create(&config, &c->shelf));
}

static void end(struct counter *c)
{
    fby_desk_fini(&c->desk);
    fby_shelf_leave(&c->shelf);
}

static struct forebay_batch *lay_down(struct counter *c, uint64_t step)
{
    struct forebay_batch *batch = NULL;
    assert_ok(fby_shelf_take(c->shelf, true, &batch));
    batch->step = step;
    batch->rows = 2;
    fby_desk_put(&c->desk, batch);
    return batch;
}

static void finish(struct counter *c, struct forebay_batch *batch, fby_err err)
{
    struct fby_why why = {"label 12"};
    fby_desk_done(&c->desk, batch, err, &why);
}

static enum forebay_status look(struct counter *c, struct forebay_batch **out)
{
    return fby_desk_next(&c->desk, c->shelf, 0, NULL, out);
}

static void assert_takes(struct counter *c, uint64_t step)
{
    struct forebay_batch *batch = NULL;
    assert_int_equal(look(c, &batch), FOREBAY_OK);
    assert_int_equal(batch->step, step);
    fby_batch_unref(batch);
}

static struct fby_why because(const char *text)
{
    struct fby_why why = {""};
    (void)fby_because(&why, FBY_CONFIG, "%s", text);
    return why;
}

/* ---- opening ------------------------------------------------------------- */

static enum forebay_status wait_open(struct counter *c, struct fby_why *why)
{
    const struct fby_open_watch watch = {.deadline_ns = fby_now_ns()};
    return fby_desk_wait_open(&c->desk, &watch, why);
}

static void open_that_is_late_says_what_it_waits_for(void **state)
{
    (void)state;
    struct counter c;
    struct fby_why why = {""};
    begin(&c);
    fby_desk_waiting(&c.desk, "no worker yet");
    assert_int_equal(wait_open(&c, &why), FOREBAY_TIMEOUT);
    assert_string_equal(why.text, "no worker yet");
    end(&c);
}

static void a_failure_before_it_is_open_is_opens(void **state)
{
    (void)state;
    struct counter c;
    struct fby_why why    = {""};
    struct fby_why first  = because("a tie");
    struct fby_why second = because("something else");
    begin(&c);
    fby_desk_fail(&c.desk, FOREBAY_CONFIG, &first);
    fby_desk_fail(&c.desk, FOREBAY_DATA, &second);
    assert_int_equal(wait_open(&c, &why), FOREBAY_CONFIG);
    assert_string_equal(why.text, "a tie");
    end(&c);
}

static void a_failure_after_it_was_open_is_nexts(void **state)
{
    (void)state;
    struct counter            c;
    struct forebay_batch     *batch = NULL;
    struct fby_why            why   = {""};
    struct fby_why            cause = because("all are gone");
    const struct forebay_info info  = {.samples = 9};
    begin(&c);
    fby_desk_opened(&c.desk, &info);
    fby_desk_fail(&c.desk, FOREBAY_DATA, &cause);
    assert_int_equal(wait_open(&c, &why), FOREBAY_OK);
    assert_int_equal(c.desk.info.samples, 9);
    assert_int_equal(look(&c, &batch), FOREBAY_DATA);
    assert_string_equal(c.desk.last.text, "all are gone");
    end(&c);
}

/* ---- streaming ----------------------------------------------------------- */

static void batches_are_taken_in_order_once_their_values_are_there(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none = NULL;
    begin(&c);
    struct forebay_batch *first  = lay_down(&c, 0);
    struct forebay_batch *second = lay_down(&c, 1);
    finish(&c, second, FBY_OK);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    finish(&c, first, FBY_OK);
    assert_takes(&c, 0);
    assert_takes(&c, 1);
    assert_int_equal(c.desk.stats.steps, 2);
    assert_int_equal(c.desk.stats.images, 4);
    end(&c);
}

static void what_is_waited_for_is_said_anew_each_time(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none = NULL;
    begin(&c);
    fby_desk_waiting(&c.desk, "no worker");
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_string_equal(c.desk.last.text, "no worker");
    fby_desk_waiting(&c.desk, "");
    lay_down(&c, 0);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_string_equal(c.desk.last.text, "the next batch is not there yet");
    end(&c);
}

static void the_end_is_nothing_that_went_wrong(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none = NULL;
    begin(&c);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    fby_desk_end(&c.desk);
    assert_int_equal(look(&c, &none), FOREBAY_END);
    assert_string_equal(c.desk.last.text, "");
    end(&c);
}

static void a_timeout_may_be_as_long_as_a_number_can_be(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *batch = NULL;
    begin(&c);
    finish(&c, lay_down(&c, 0), FBY_OK);
    assert_int_equal(
        fby_desk_next(&c.desk, c.shelf, INT64_MAX, NULL, &batch), FOREBAY_OK);
    fby_batch_unref(batch);
    end(&c);
}

static void what_lies_there_comes_before_the_end_or_a_failure(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct counter        c;
        struct forebay_batch *none  = NULL;
        struct fby_why        cause = because("damaged");
        begin(&c);
        finish(&c, lay_down(&c, 0), FBY_OK);
        if (fails == 1) {
            fby_desk_fail(&c.desk, FOREBAY_DATA, &cause);
        } else {
            fby_desk_end(&c.desk);
        }
        assert_takes(&c, 0);
        assert_int_equal(
            look(&c, &none), fails == 1 ? FOREBAY_DATA : FOREBAY_END);
        end(&c);
    }
}

static void values_that_cannot_be_made_fail_the_stream(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none = NULL;
    begin(&c);
    finish(&c, lay_down(&c, 0), FBY_PROTO);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(look(&c, &none), FOREBAY_DATA);
        assert_string_equal(c.desk.last.text, "label 12");
    }
    end(&c);
}

static void a_trainer_that_holds_all_is_told_so(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *held[SLOTS];
    struct forebay_batch *none = NULL;
    begin(&c);
    for (uint64_t i = 0; i < SLOTS; i++) {
        finish(&c, lay_down(&c, i), FBY_OK);
        assert_int_equal(look(&c, &held[i]), FOREBAY_OK);
    }
    assert_int_equal(look(&c, &none), FOREBAY_FULL);
    assert_non_null(strstr(c.desk.last.text, "hold 4 batches"));
    for (uint64_t i = 0; i < SLOTS; i++) {
        fby_batch_unref(held[i]);
    }
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    end(&c);
}

static void the_receiver_sees_room_and_hunger(void **state)
{
    (void)state;
    struct counter        c;
    struct forebay_batch *none   = NULL;
    bool                  hungry = true;
    begin(&c);
    assert_true(fby_desk_has_room(&c.desk, &hungry));
    assert_false(hungry);
    assert_int_equal(look(&c, &none), FOREBAY_TIMEOUT);
    assert_true(fby_desk_has_room(&c.desk, &hungry));
    assert_true(hungry);
    for (int i = 0; i < FBY_DESK_AHEAD; i++) {
        lay_down(&c, 0);
    }
    assert_false(fby_desk_has_room(&c.desk, &hungry));
    assert_false(hungry);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_that_is_late_says_what_it_waits_for),
        cmocka_unit_test(a_failure_before_it_is_open_is_opens),
        cmocka_unit_test(a_failure_after_it_was_open_is_nexts),
        cmocka_unit_test(
            batches_are_taken_in_order_once_their_values_are_there),
        cmocka_unit_test(what_is_waited_for_is_said_anew_each_time),
        cmocka_unit_test(the_end_is_nothing_that_went_wrong),
        cmocka_unit_test(a_timeout_may_be_as_long_as_a_number_can_be),
        cmocka_unit_test(what_lies_there_comes_before_the_end_or_a_failure),
        cmocka_unit_test(values_that_cannot_be_made_fail_the_stream),
        cmocka_unit_test(a_trainer_that_holds_all_is_told_so),
        cmocka_unit_test(the_receiver_sees_room_and_hunger),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.desk", tests, NULL, NULL);
}
