/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <errno.h>
#ifdef __SSE__
#include <immintrin.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/stage.h"

enum { ITEMS = 5000, THREADS = 3 };

struct tally {
    struct fby_stage *next;        /* where items go on to, or NULL */
    atomic_int        by[THREADS]; /* items worked on by each thread */
    atomic_int        seen[ITEMS]; /* how often each item came */
};

static int numbers[ITEMS];

static fby_err count(void *context, uint32_t thread, void *item)
{
    struct tally *tally = context;
    ptrdiff_t     i     = (int *)item - numbers;
    atomic_fetch_add(&tally->by[thread], 1);
    atomic_fetch_add(&tally->seen[i], 1);
    if (tally->next != NULL && fby_stage_push(tally->next, item) != FBY_OK) {
        return FBY_SYS;
    }
    return i % 10 == 0 ? FBY_BAD_SAMPLE : FBY_OK;
}

static struct fby_stage *stage_of(struct tally *tally, const char *name)
{
    struct fby_stage *stage = NULL;
    assert_ok(fby_stage_create(&(struct fby_stage_config){.name = name,
                                   .threads                     = THREADS,
                                   .capacity                    = 4,
                                   .run                         = count,
                                   .context                     = tally},
        &stage));
    return stage;
}

static fby_err divide(void *context, uint32_t thread, void *item)
{
    float *quotient = context;
    (void)thread;
    (void)item;
    *quotient /= 2;
    return FBY_OK;
}

/* Programs that trade exactness for speed (-ffast-math, PyTorch's
 * set_flush_denormal) create threads that make subnormal numbers 0. */
static void threads_compute_with_subnormals_whatever_their_creator_does(
    void **state)
{
    (void)state;
#ifdef __SSE__
    const unsigned    flush_to_zero = 0x8040;
    unsigned          before        = _mm_getcsr();
    float             quotient      = 0x1p-126F;
    struct fby_stage *stage         = NULL;
    _mm_setcsr(before | flush_to_zero);
    fby_err err = fby_stage_create(&(struct fby_stage_config){.name = "divide",
                                       .threads                     = 1,
                                       .capacity                    = 1,
                                       .run                         = divide,
                                       .context = &quotient},
        &stage);
    _mm_setcsr(before);
    assert_ok(err);
    assert_ok(fby_stage_push(stage, &numbers[0]));
    fby_stage_destroy(&stage);
    assert_true(quotient == 0x1p-127F); /* not 0 */
#endif
}

static void destroy_works_off_what_was_put_in(void **state)
{
    (void)state;
    static struct tally tally;
    struct fby_stage   *stage = stage_of(&tally, "count");
    for (int i = 0; i < ITEMS; i++) {
        assert_ok(fby_stage_push(stage, &numbers[i]));
    }
    fby_stage_destroy(&stage);
    assert_null(stage);
    fby_stage_destroy(&stage);
    int total = 0;
    for (int i = 0; i < THREADS; i++) {
        total += atomic_load(&tally.by[i]);
    }
    assert_int_equal(total, ITEMS);
}

static void chained_stages_pass_each_item_once(void **state)
{
    (void)state;
    static struct tally first;
    static struct tally second;
    struct fby_stage   *sink = stage_of(&second, "sink");
    first.next               = sink;
    struct fby_stage *source = stage_of(&first, "source");
    for (int i = 0; i < ITEMS; i++) {
        assert_ok(fby_stage_push(source, &numbers[i]));
    }
    fby_stage_destroy(&source);
    fby_stage_destroy(&sink);
    for (int i = 0; i < ITEMS; i++) {
        assert_int_equal(atomic_load(&second.seen[i]), 1);
    }
}

static void counters_tell_tasks_failures_and_time(void **state)
{
    (void)state;
    static struct tally     tally;
    struct fby_stage       *stage = stage_of(&tally, "count");
    struct fby_stage_counts counts;
    for (int i = 0; i < 100; i++) {
        assert_ok(fby_stage_push(stage, &numbers[i]));
    }
    do {
        counts = fby_stage_counts(stage);
    } while (counts.tasks < 100);
    assert_int_equal(counts.failures, 10);
    assert_int_equal(counts.threads, THREADS);
    assert_int_equal(counts.queue.pushed, 100);
    assert_true(counts.busy_ns > 0);
    assert_true(counts.cpu_ns > 0);
    fby_stage_destroy(&stage);
}

struct source { /* produces numbers on demand */
    atomic_int given;
    atomic_int worked;
};

static fby_err next_number(void *context, void **out)
{
    struct source *source = context;
    int            i      = atomic_fetch_add(&source->given, 1);
    *out                  = &numbers[i % ITEMS];
    return i < ITEMS ? FBY_OK : FBY_GONE;
}

static fby_err work(void *context, uint32_t thread, void *item)
{
    struct source *source = context;
    (void)thread;
    (void)item;
    atomic_fetch_add(&source->worked, 1);
    return FBY_OK;
}

static void a_stage_may_draw_from_a_source_of_its_own(void **state)
{
    (void)state;
    static struct source source;
    struct fby_stage    *stage = NULL;
    assert_ok(fby_stage_create(&(struct fby_stage_config){.name = "draw",
                                   .threads                     = THREADS,
                                   .capacity                    = 1,
                                   .run                         = work,
                                   .next                        = next_number,
                                   .context                     = &source},
        &stage));
    while (fby_stage_counts(stage).tasks < ITEMS) {
    }
    assert_true(fby_stage_counts(stage).queue.wait_input_ns > 0);
    fby_stage_destroy(&stage);
    assert_int_equal(atomic_load(&source.worked), ITEMS);
}

static int own_nice(void)
{
    return getpriority(PRIO_PROCESS, (id_t)gettid());
}

static fby_err tell_nice(void *context, uint32_t thread, void *item)
{
    (void)thread;
    (void)item;
    atomic_store((atomic_int *)context, own_nice());
    return FBY_OK;
}

static atomic_int n_next;          /* calls of count_next */
static int        n_to_start = -1; /* then pthread_create() fails; -1: never */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
int __real_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg);

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg)
{
    if (n_to_start == 0) {
        return EAGAIN;
    }
    n_to_start -= n_to_start > 0 ? 1 : 0;
    return __real_pthread_create(out, attributes, run, arg);
}
/* NOLINTEND(readability-identifier-naming) */

static fby_err count_next(void *context, void **out)
{
    (void)context;
    (void)out;
    atomic_fetch_add(&n_next, 1);
    return FBY_GONE;
}

/* No thread may wait in `next`: nothing would wake it, and destroying the stage
 * would wait for it for ever. */
static void a_stage_without_all_threads_does_not_begin(void **state)
{
    (void)state;
    const struct fby_stage_config config = {.name = "none",
        .threads                                  = THREADS,
        .capacity                                 = 1,
        .run                                      = count,
        .next                                     = count_next};
    for (int n = 0; n < THREADS; n++) {
        for (int round = 0; round < 100; round++) {
            struct fby_stage *stage = NULL;
            n_to_start              = n;
            errno                   = 0;
            assert_int_equal(fby_stage_create(&config, &stage), FBY_SYS);
            assert_int_equal(errno, EAGAIN);
            assert_null(stage);
            assert_int_equal(atomic_load(&n_next), 0);
        }
    }
    n_to_start = -1;
}

static void threads_stand_back_as_far_as_they_are_told(void **state)
{
    (void)state;
    struct fby_stage *stage = NULL;
    atomic_int        seen  = -100;
    int               mine  = own_nice();
    assert_ok(fby_stage_create(&(struct fby_stage_config){.name = "back",
                                   .threads                     = 1,
                                   .capacity                    = 1,
                                   .nice                        = 3,
                                   .run                         = tell_nice,
                                   .context                     = &seen},
        &stage));
    assert_ok(fby_stage_push(stage, &numbers[0]));
    fby_stage_destroy(&stage);
    assert_int_equal(atomic_load(&seen), mine + 3 < 19 ? mine + 3 : 19);
    assert_int_equal(own_nice(), mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroy_works_off_what_was_put_in),
        cmocka_unit_test(
            threads_compute_with_subnormals_whatever_their_creator_does),
        cmocka_unit_test(chained_stages_pass_each_item_once),
        cmocka_unit_test(counters_tell_tasks_failures_and_time),
        cmocka_unit_test(a_stage_may_draw_from_a_source_of_its_own),
        cmocka_unit_test(a_stage_without_all_threads_does_not_begin),
        cmocka_unit_test(threads_stand_back_as_far_as_they_are_told),
    };
    return cmocka_run_group_tests_name("common.stage", tests, NULL, NULL);
}
