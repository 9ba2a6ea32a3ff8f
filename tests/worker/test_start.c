/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a worker; one that cannot start leaks no file and no memory. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cores.h"
#include "common/cpus.h"
#include "tests/says.h"
#include "worker/cpu_placement.h"
#include "worker/worker.h"

static void the_defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    struct fby_worker_options o = fby_worker_defaults();
    assert_null(o.server);
    assert_null(o.listen);
    assert_false(o.is_insecure);
    assert_null(o.advertise);
    assert_int_equal(o.n_roots, 0);
    assert_null(o.cache_dir);
    assert_null(o.cpus);
    assert_int_equal(o.numa, FBY_NUMA_AUTO);
    assert_int_equal(o.nice, 5);
    assert_int_equal(o.fetch_threads, 0);
    assert_int_equal(o.transform_threads, 0);
    assert_int_equal(o.encode_threads, 0);
    assert_int_equal(o.memory_bytes, 0); /* the default */
    assert_int_equal(o.send_window_bytes, 16 << 20);
    assert_int_equal(o.ready_fd, -1);
    assert_null(o.ready_file);
    assert_int_equal(o.stop_fd, -1);
    assert_false(o.handles_signals);
    assert_int_equal(o.heartbeat_ns, FBY_NS_PER_S);
    assert_int_equal(o.register_ns, FBY_NS_PER_S);
    assert_int_equal(o.drain_ns, 25 * FBY_NS_PER_S);
    assert_int_equal(o.progress_ns, FBY_NS_PER_S / 2);
    assert_int_equal(o.idle_ns, 10 * FBY_NS_PER_S);
}

static void memory_is_half_of_the_cgroups_limit_and_1_gib_at_most(void **state)
{
    (void)state;
    const uint64_t gib = UINT64_C(1) << 30;
    assert_int_equal(fby_worker_default_memory(UINT64_MAX), gib);
    assert_int_equal(fby_worker_default_memory(4 * gib), gib);
    assert_int_equal(fby_worker_default_memory(2 * gib), gib);
    assert_int_equal(fby_worker_default_memory(gib), gib / 2);
    assert_int_equal(fby_worker_default_memory(100), 50);
}

/* ---- CPUs ---------------------------------------------------------------- */

static cpu_set_t allowed(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    return set;
}

static void a_worker_runs_on_the_requested_cpus(void **state)
{
    (void)state;
    struct fby_worker_options o      = fby_worker_defaults();
    struct fby_error_detail   why    = {{0}};
    const cpu_set_t           before = allowed();
    size_t                    last   = CPU_SETSIZE - 1;
    char                      list[16];
    while (!CPU_ISSET(last, &before)) {
        last--;
    }
    snprintf(list, sizeof(list), "%zu", last);
    o.cpus = list;
    o.numa = 4095; /* ignored, as cpus is set */
    assert_ok(fby_cpu_placement_confine(&o, &why));
    cpu_set_t now = allowed();
    assert_int_equal(CPU_COUNT(&now), 1);
    assert_true(CPU_ISSET(last, &now));
    assert_ok(fby_cpus_bind_thread(&before, &why));
}

static void without_options_a_worker_keeps_its_cpus(void **state)
{
    (void)state;
    struct fby_worker_options o      = fby_worker_defaults();
    struct fby_error_detail   why    = {{0}};
    const cpu_set_t           before = allowed();
    for (o.numa = FBY_NUMA_OFF; o.numa <= FBY_NUMA_AUTO; o.numa++) {
        assert_ok(fby_cpu_placement_confine(&o, &why));
        cpu_set_t now = allowed();
        assert_true(CPU_EQUAL(&now, &before));
    }
    o.cpus = "0";
    fby_cpu_placement_near_nic(&o); /* cpus is set */
    o.cpus = NULL;
    o.numa = FBY_NUMA_OFF;
    fby_cpu_placement_near_nic(&o);
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
    struct fby_error_detail why    = {{0}};
    unsigned                before = open_descriptors();
    const cpu_set_t         cpus   = allowed();
    assert_int_equal(fby_worker_run(options, &why), err);
    assert_says(&why, words);
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
    o.memory_bytes = FBY_WORKER_MIN_MEMORY - 1;
    refuses(&o, FBY_USAGE,
        "33554431 bytes of memory are too few for a worker; give it 32 MiB");
    o.memory_bytes = FBY_WORKER_MIN_MEMORY;
    o.listen       = "nonsense";
    refuses(&o, FBY_USAGE, "nonsense");
    o.roots   = none;
    o.n_roots = 1;
    refuses(&o, FBY_CONFIG, "root data: cannot open the directory /none/such");
    o.roots   = roots;
    o.n_roots = 2;
    refuses(&o, FBY_USAGE, "two roots are named data");
}

/* ---- a start, and the end at once ---------------------------------------- */

static uint32_t threads;                   /* created, ZeroMQ's excluded */
static uint32_t threads_most = UINT32_MAX; /* more cannot be created */
static bool     eventfd_fails;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
int __real_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg);

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg)
{
    if (threads == threads_most) {
        errno = EAGAIN;
        return EAGAIN;
    }
    threads++;
    return __real_pthread_create(out, attributes, run, arg);
}

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags);

int __wrap_eventfd(unsigned count, int flags)
{
    errno = EMFILE;
    return eventfd_fails ? -1 : __real_eventfd(count, flags);
}
/* NOLINTEND(readability-identifier-naming) */

enum { FETCH = 3, TRANSFORM = 5, ENCODE = 2, OPEN = 2 };
enum { TRIED = 4 }; /* threads created and joined to check a limit */

/* Run a worker that is to stop from the start, and to report its endpoint. */
struct brief {
    struct fby_worker_options options;
    int                       ready, stop[2];
};

static struct brief begin_brief(void)
{
    struct brief self = {.options = fby_worker_defaults()};
    int          ready[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(self.stop), 0);
    assert_int_equal(write(self.stop[1], "x", 1), 1);
    self.ready                     = ready[0];
    self.options.ready_fd          = ready[1];
    self.options.stop_fd           = self.stop[0];
    self.options.fetch_threads     = FETCH;
    self.options.transform_threads = TRANSFORM;
    self.options.encode_threads    = ENCODE;
    self.options.memory_bytes      = FBY_WORKER_MIN_MEMORY;
    threads                        = 0;
    threads_most                   = UINT32_MAX;
    return self;
}

/* It writes its endpoint only, and leaves no descriptor open. */
static void end_brief(struct brief *self)
{
    char                    line[64] = "";
    char                    port[8];
    struct fby_error_detail why    = {{0}};
    unsigned                before = open_descriptors();
    if (fby_worker_run(&self->options, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(open_descriptors(), before - 1); /* the ready descriptor */
    assert_true(read(self->ready, line, sizeof(line) - 1) > 0);
    assert_int_equal(sscanf(line, "tcp://127.0.0.1:%7[0-9]\n", port), 1);
    assert_int_equal(strlen(line), strlen("tcp://127.0.0.1:\n") + strlen(port));
    assert_int_equal(read(self->ready, line, sizeof(line)), 0);
    close(self->ready);
    close(self->stop[0]);
    close(self->stop[1]);
}

static void a_worker_reports_its_endpoint_and_stops_on_request(void **state)
{
    (void)state;
    struct brief self = begin_brief();
    end_brief(&self);
    assert_int_equal(threads, FETCH + TRANSFORM + ENCODE + OPEN + TRIED);
}

static void without_numbers_its_threads_are_those_of_the_cores(void **state)
{
    (void)state;
    struct brief   self            = begin_brief();
    const uint32_t n               = fby_usable_cores();
    self.options.fetch_threads     = 0;
    self.options.transform_threads = 0;
    self.options.encode_threads    = 0;
    end_brief(&self);
    assert_int_equal(
        threads, (n < 2 ? 4 : 2 * n) + n + (n + 1) / 2 + OPEN + TRIED);
}

/* SIGTERM and SIGINT, pending until the worker reads them. */
static void a_signal_makes_a_worker_leave(void **state)
{
    (void)state;
    static const int numbers[] = {SIGTERM, SIGINT};
    sigset_t         set;
    sigset_t         before;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    for (size_t i = 0; i < 2; i++) {
        struct brief self            = begin_brief();
        self.options.stop_fd         = -1;
        self.options.handles_signals = true;
        pthread_sigmask(SIG_BLOCK, &set, &before);
        raise(numbers[i]);
        end_brief(&self);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

/* However many threads were created before. */
static void a_worker_ends_if_a_thread_cannot_be_created(void **state)
{
    (void)state;
    struct brief   self   = begin_brief();
    unsigned       before = open_descriptors();
    const uint32_t stages = FETCH + TRANSFORM + ENCODE + OPEN;
    const uint32_t all    = stages + TRIED;
    for (uint32_t n = 0; n < all; n++) {
        struct fby_error_detail why = {{0}};
        threads                     = 0;
        threads_most                = n;
        assert_int_equal(fby_worker_run(&self.options, &why), FBY_SYS);
        assert_non_null(strstr(why.text,
            n < stages ? "cannot start 12 threads: Resource temporarily"
                       : "needs 4 more threads here, and can start"));
        assert_non_null(strstr(why.text, "unavailable; raise the limits on"));
        assert_int_equal(threads, n);
        assert_int_equal(open_descriptors(), before);
    }
    threads      = 0;
    threads_most = all;
    end_brief(&self);
}

static void a_worker_without_an_eventfd_says_so(void **state)
{
    (void)state;
    struct fby_worker_options o = fby_worker_defaults();
    eventfd_fails               = true;
    refuses(&o, FBY_SYS, "cannot create an eventfd: Too many open files");
    eventfd_fails = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_the_manual),
        cmocka_unit_test(memory_is_half_of_the_cgroups_limit_and_1_gib_at_most),
        cmocka_unit_test(a_worker_runs_on_the_requested_cpus),
        cmocka_unit_test(without_options_a_worker_keeps_its_cpus),
        cmocka_unit_test(impossible_options_are_refused_and_nothing_stays_open),
        cmocka_unit_test(a_worker_reports_its_endpoint_and_stops_on_request),
        cmocka_unit_test(without_numbers_its_threads_are_those_of_the_cores),
        cmocka_unit_test(a_signal_makes_a_worker_leave),
        cmocka_unit_test(a_worker_ends_if_a_thread_cannot_be_created),
        cmocka_unit_test(a_worker_without_an_eventfd_says_so),
    };
    return cmocka_run_group_tests_name("worker.start", tests, NULL, NULL);
}
