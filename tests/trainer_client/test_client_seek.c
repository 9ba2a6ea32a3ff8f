/* SPDX-License-Identifier: Apache-2.0 */
/* Seeks, interrupts and errors of several threads, through the public header. */
#include "tests/trainer_client/client_stream.h"

#include <pthread.h>

enum { EACH = RIG_SAMPLES / RIG_BATCH }; /* steps of an epoch */

static void seek(struct rig *rig, const char *token)
{
    if (forebay_seek(rig->stream, token) != FOREBAY_OK) {
        fail_msg("seek: %s", forebay_error(rig->stream));
    }
}

/* Take the next batch, check its position and values, and copy its token. */
static void assert_next_is(
    struct rig *rig, uint64_t epoch, uint64_t step, char token[256])
{
    struct forebay_batch *batch = rig_next(rig);
    assert_int_equal(forebay_batch_epoch(batch), epoch);
    assert_int_equal(forebay_batch_step(batch), step);
    check_values(batch);
    if (token != NULL) {
        snprintf(token, 256, "%s", forebay_batch_token(batch));
    }
    forebay_release(&batch, NULL);
}

static void a_seek_goes_to_any_step_and_keeps_the_connections(void **state)
{
    (void)state;
    struct rig rig;
    char       token[256];
    rig_stream(&rig, SIZE);
    assert_next_is(&rig, 0, 0, NULL);
    assert_next_is(&rig, 0, 1, token);
    assert_int_equal(forebay_seek_step(rig.stream, 7, 3), FOREBAY_OK);
    assert_next_is(&rig, 7, 3, NULL);
    assert_next_is(&rig, 8, 0, NULL);
    seek(&rig, token);
    assert_next_is(&rig, 0, 2, NULL);
    assert_int_equal(rig_stats(&rig).reconnects, 0);
    assert_int_equal(fake_server_joins(rig.server), 1);
    rig_end(&rig);
}

static void the_first_token_resumes_at_the_first_batch(void **state)
{
    (void)state;
    struct rig          rig;
    struct forebay_info info = {.struct_size = sizeof(info)};
    rig_stream(&rig, SIZE);
    assert_int_equal(forebay_info(rig.stream, &info), FOREBAY_OK);
    rig_skip(&rig, 3);
    seek(&rig, info.first_token);
    assert_next_is(&rig, 0, 0, NULL);
    rig_end(&rig);
}

static void a_batch_that_was_taken_survives_a_seek(void **state)
{
    (void)state;
    struct rig rig;
    rig_stream(&rig, SIZE);
    struct forebay_batch *kept = rig_next(&rig);
    for (uint64_t i = 0; i < 20; i++) {
        assert_int_equal(
            forebay_seek_step(rig.stream, i, i % EACH), FOREBAY_OK);
        assert_next_is(&rig, i, i % EACH, NULL);
    }
    check_values(kept);
    forebay_release(&kept, NULL);
    rig_end(&rig);
}

/* Each pair of seeks finds the window and the decode threads at another point
 * of their work. */
static void many_seeks_in_a_row_lose_and_mix_nothing(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.lost_every = 7, .busy_every = 11});
    rig_add(&rig, (struct fake_behaviour){.corrupt_every = 13});
    rig_open(&rig);
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t epoch = i * 7 % 11;
        uint64_t step  = i * 5 % EACH;
        assert_int_equal(
            forebay_seek_step(rig.stream, i % 13, step), FOREBAY_OK);
        assert_int_equal(
            forebay_seek_step(rig.stream, epoch, step), FOREBAY_OK);
        for (uint64_t k = 0; k < i % 4; k++) {
            uint64_t at = epoch * EACH + step + k;
            assert_next_is(&rig, at / EACH, at % EACH, NULL);
        }
    }
    rig_end(&rig);
}

static void a_stream_goes_on_after_its_end(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig.options.epochs = 1;
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    rig_skip(&rig, EACH);
    rig_assert_next(&rig, FOREBAY_END);
    assert_int_equal(forebay_seek_step(rig.stream, 0, EACH - 1), FOREBAY_OK);
    assert_next_is(&rig, 0, EACH - 1, NULL);
    rig_assert_next(&rig, FOREBAY_END);
    assert_int_equal(forebay_seek_step(rig.stream, 1, 0), FOREBAY_OK);
    rig_assert_next(&rig, FOREBAY_END);
    rig_end(&rig);
}

/* Open a stream with another seed and copy its first token. */
static void token_of_another_seed(char token[256])
{
    struct rig          rig;
    struct forebay_info info = {.struct_size = sizeof(info)};
    rig_begin(&rig, SIZE, "drop");
    rig.options.seed     = 8;
    rig.options.has_seed = true;
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    assert_int_equal(forebay_info(rig.stream, &info), FOREBAY_OK);
    snprintf(token, 256, "%s", info.first_token);
    rig_end(&rig);
}

static void a_token_of_another_stream_is_refused_by_what_differs(void **state)
{
    (void)state;
    struct rig rig;
    char       token[256];
    token_of_another_seed(token);
    rig_stream(&rig, SIZE);
    assert_int_equal(forebay_seek(rig.stream, token), FOREBAY_CONFIG);
    assert_non_null(
        strstr(forebay_error(rig.stream), "its seed is 8, this stream's is 7"));
    assert_int_equal(forebay_check_token(rig.stream, token), FOREBAY_CONFIG);
    assert_int_equal(forebay_seek(rig.stream, "fby1-AAAA"), FOREBAY_USAGE);
    assert_int_equal(forebay_check_token(rig.stream, "x"), FOREBAY_USAGE);
    assert_int_equal(forebay_seek_step(rig.stream, 0, EACH), FOREBAY_USAGE);
    assert_next_is(&rig, 0, 0, NULL); /* no refusal moved the stream */
    rig_end(&rig);
}

static void a_check_of_a_token_does_not_move_the_stream(void **state)
{
    (void)state;
    struct rig rig;
    char       token[256];
    rig_stream(&rig, SIZE);
    assert_next_is(&rig, 0, 0, token);
    assert_next_is(&rig, 0, 1, NULL);
    assert_int_equal(forebay_check_token(rig.stream, token), FOREBAY_OK);
    assert_next_is(&rig, 0, 2, NULL);
    rig_end(&rig);
}

static void *interrupt_main(void *opaque)
{
    struct rig *rig = opaque;
    (void)forebay_interrupt(rig->stream, true);
    return NULL;
}

/* No worker answers requests, so only the interrupt ends the wait. */
static void another_thread_ends_a_wait_for_a_batch(void **state)
{
    (void)state;
    struct rig rig;
    pthread_t  thread;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.busy_every = 1});
    rig_open(&rig);
    pthread_create(&thread, NULL, interrupt_main, &rig);
    (void)rig_assert_next(&rig, FOREBAY_INTERRUPTED);
    pthread_join(thread, NULL);
    rig_end(&rig);
}

/* The failure that the calling thread is told. */
static struct forebay_failure failure_of(const struct forebay *stream)
{
    struct forebay_failure failure = {.struct_size = sizeof(failure)};
    assert_int_equal(forebay_failure(stream, &failure), FOREBAY_OK);
    assert_string_equal(forebay_error(stream), failure.text);
    return failure;
}

struct asked { /* by a thread that has had no error so far */
    struct rig            *rig;
    struct forebay_failure before, after; /* a wrong seek */
};

static void *seek_beyond_the_epoch(void *opaque)
{
    struct asked *asked = opaque;
    asked->before       = failure_of(asked->rig->stream);
    (void)forebay_seek_step(asked->rig->stream, 0, EACH);
    asked->after = failure_of(asked->rig->stream);
    return NULL;
}

static void each_thread_gets_its_own_error(void **state)
{
    (void)state;
    struct rig rig;
    rig_stream(&rig, SIZE);
    struct asked asked = {.rig = &rig};
    pthread_t    thread;
    assert_int_equal(forebay_seek(rig.stream, "x"), FOREBAY_USAGE);
    struct forebay_failure own = failure_of(rig.stream);
    assert_non_null(strstr(own.text, "token"));
    pthread_create(&thread, NULL, seek_beyond_the_epoch, &asked);
    pthread_join(thread, NULL);
    assert_string_equal(asked.before.text, own.text); /* any thread's */
    assert_non_null(strstr(asked.after.text, "an epoch has 4 steps"));
    assert_string_equal(failure_of(rig.stream).text, own.text);
    rig_end(&rig);
}

static void an_error_of_another_stream_is_not_told(void **state)
{
    (void)state;
    struct rig first;
    struct rig second;
    rig_stream(&first, SIZE);
    rig_stream(&second, SIZE);
    assert_int_equal(forebay_seek(first.stream, "x"), FOREBAY_USAGE);
    assert_int_equal(failure_of(second.stream).status, FOREBAY_OK);
    assert_int_equal(forebay_seek_step(second.stream, 0, EACH), FOREBAY_USAGE);
    assert_non_null(strstr(failure_of(first.stream).text, "token"));
    assert_non_null(strstr(failure_of(second.stream).text, "an epoch has"));
    rig_end(&first);
    rig_end(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seek_goes_to_any_step_and_keeps_the_connections),
        cmocka_unit_test(the_first_token_resumes_at_the_first_batch),
        cmocka_unit_test(a_batch_that_was_taken_survives_a_seek),
        cmocka_unit_test(many_seeks_in_a_row_lose_and_mix_nothing),
        cmocka_unit_test(a_stream_goes_on_after_its_end),
        cmocka_unit_test(a_token_of_another_stream_is_refused_by_what_differs),
        cmocka_unit_test(a_check_of_a_token_does_not_move_the_stream),
        cmocka_unit_test(another_thread_ends_a_wait_for_a_batch),
        cmocka_unit_test(each_thread_gets_its_own_error),
        cmocka_unit_test(an_error_of_another_stream_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
