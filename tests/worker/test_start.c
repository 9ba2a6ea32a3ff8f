/* How a worker starts, and that one which cannot start leaves nothing open. */
#include "tests/test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/cpus.h"
#include "worker/places.h"
#include "worker/worker.h"

static void the_defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    struct fby_worker_options o = fby_worker_defaults();
    assert_null(o.server);
    assert_string_equal(o.listen, "tcp://127.0.0.1:*");
    assert_null(o.advertise);
    assert_int_equal(o.n_roots, 0);
    assert_null(o.cache_dir);
    assert_null(o.cpus);
    assert_int_equal(o.numa, FBY_NUMA_AUTO);
    assert_int_equal(o.nice, 5);
    assert_int_equal(o.fetch_threads, 0);
    assert_int_equal(o.transform_threads, 0);
    assert_int_equal(o.encode_threads, 0);
    assert_int_equal(o.memory_bytes, 1 << 30);
    assert_int_equal(o.send_window_bytes, 16 << 20);
    assert_int_equal(o.ready_fd, -1);
    assert_int_equal(o.stop_fd, -1);
    assert_false(o.signals);
    assert_int_equal(o.heartbeat_ns, FBY_NS_PER_S);
    assert_int_equal(o.register_ns, FBY_NS_PER_S);
    assert_int_equal(o.drain_ns, 25 * FBY_NS_PER_S);
    assert_int_equal(o.progress_ns, FBY_NS_PER_S / 2);
    assert_int_equal(o.idle_ns, 10 * FBY_NS_PER_S);
}

/* ---- CPUs ---------------------------------------------------------------- */

static cpu_set_t allowed(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    return set;
}

static void it_runs_on_the_cpus_that_were_asked_for(void **state)
{
    (void)state;
    struct fby_worker_options o      = fby_worker_defaults();
    struct fby_why            why    = {{0}};
    const cpu_set_t           before = allowed();
    size_t                    last   = CPU_SETSIZE - 1;
    char                      list[16];
    while (!CPU_ISSET(last, &before)) {
        last--;
    }
    snprintf(list, sizeof(list), "%zu", last);
    o.cpus = list;
    o.numa = 4095; /* it does not count then */
    assert_ok(fby_places_confine(&o, &why));
    cpu_set_t now = allowed();
    assert_int_equal(CPU_COUNT(&now), 1);
    assert_true(CPU_ISSET(last, &now));
    assert_ok(fby_cpus_confine(&before, &why));
}

static void without_options_it_keeps_its_cpus(void **state)
{
    (void)state;
    struct fby_worker_options o      = fby_worker_defaults();
    struct fby_why            why    = {{0}};
    const cpu_set_t           before = allowed();
    for (o.numa = FBY_NUMA_OFF; o.numa <= FBY_NUMA_AUTO; o.numa++) {
        assert_ok(fby_places_confine(&o, &why));
        cpu_set_t now = allowed();
        assert_true(CPU_EQUAL(&now, &before));
    }
    o.cpus = "0";
    fby_places_near_card(&o); /* its place was said */
    o.cpus = NULL;
    o.numa = FBY_NUMA_OFF;
    fby_places_near_card(&o);
    cpu_set_t now = allowed();
    assert_true(CPU_EQUAL(&now, &before));
}

/* ---- Options that are refused -------------------------------------------- */

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++) {
        n += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    }
    return n;
}

static void refuses(
    const struct fby_worker_options *options, fby_err err, const char *words)
{
    struct fby_why  why    = {{0}};
    unsigned        before = open_descriptors();
    const cpu_set_t cpus   = allowed();
    assert_int_equal(fby_worker_run(options, &why), err);
    if (strstr(why.text, words) == NULL) {
        fail_msg("'%s' does not say '%s'", why.text, words);
    }
    assert_int_equal(open_descriptors(), before);
    cpu_set_t now = allowed();
    assert_true(CPU_EQUAL(&now, &cpus));
}

static void impossible_options_are_refused_and_nothing_stays_open(void **state)
{
    (void)state;
    static const char *const  roots[] = {"data=/tmp", "data=/"};
    static const char *const  none[]  = {"data=/none/such"};
    struct fby_worker_options o       = fby_worker_defaults();
    o.cpus                            = "what";
    refuses(&o, FBY_USAGE, "--cpus what: ");
    o.cpus = NULL;
    o.numa = 4095;
    refuses(&o, FBY_USAGE, "--numa 4095: ");
    o.numa         = FBY_NUMA_OFF;
    o.memory_bytes = FBY_WORKER_LEAST_MEMORY - 1;
    refuses(&o, FBY_USAGE,
        "33554431 bytes of memory are too few for a worker; give it 32 MiB");
    o.memory_bytes = FBY_WORKER_LEAST_MEMORY;
    o.listen       = "nonsense";
    refuses(&o, FBY_USAGE, "nonsense");
    o.roots   = none;
    o.n_roots = 1;
    refuses(&o, FBY_CONFIG, "root data: cannot open the directory /none/such");
    o.roots   = roots;
    o.n_roots = 2;
    refuses(&o, FBY_USAGE, "two roots are named data");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_the_manual),
        cmocka_unit_test(it_runs_on_the_cpus_that_were_asked_for),
        cmocka_unit_test(without_options_it_keeps_its_cpus),
        cmocka_unit_test(impossible_options_are_refused_and_nothing_stays_open),
    };
    return cmocka_run_group_tests_name("worker.start", tests, NULL, NULL);
}
