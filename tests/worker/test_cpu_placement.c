/* SPDX-License-Identifier: Apache-2.0 */
/* CPU placement on a fake machine of two nodes of four CPUs with a network card
 * on the second. The test sets the CPUs that are allowed. */
#include "tests/fake_files.h"

#include <errno.h>
#include <sched.h>

#include "common/cpus.h"
#include "worker/cpu_placement.h"
#include "worker/worker.h"

static cpu_set_t allowed;       /* to the calling thread */
static bool      allowed_fails; /* sched_getaffinity fails */
static bool      set_fails;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
int   __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *out);
int   __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);

FILE *__wrap_fopen(const char *path, const char *mode)
{
    char full[256];
    if (strncmp(path, "/sys/", 5) != 0) {
        return __real_fopen(path, mode);
    }
    path_of(full, path + 1);
    return __real_fopen(full, mode);
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *out)
{
    assert_int_equal(pid, 0);
    assert_int_equal(size, sizeof(*out));
    *out = allowed;
    return allowed_fails ? -1 : 0;
}

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    assert_int_equal(pid, 0);
    assert_int_equal(size, sizeof(*set));
    if (set_fails) {
        errno = EPERM;
        return -1;
    }
    allowed = *set;
    return 0;
}
/* NOLINTEND(readability-identifier-naming) */

static void allow(const char *list)
{
    assert_ok(fby_cpus_parse(list, &allowed, NULL));
}

static void runs_on(const char *list)
{
    assert_string_equal(fby_cpus_format(&allowed).text, list);
}

static int make_machine(void **state)
{
    if (make_root(state) != 0) {
        return 1;
    }
    write_file("sys/devices/system/cpu/online", "0-7\n");
    write_file("sys/devices/system/node/online", "0-1\n");
    write_file("sys/devices/system/node/node0/cpulist", "0-3\n");
    write_file("sys/devices/system/node/node1/cpulist", "4-7\n");
    write_file("sys/class/net/lo/device/numa_node", "1\n");
    allowed_fails = false;
    set_fails     = false;
    allow("0-7");
    return 0;
}

/* ---- what was asked for -------------------------------------------------- */

static void refuses(
    const struct fby_worker_options *o, fby_err err, const char *words)
{
    struct fby_error_detail why    = {{0}};
    const cpu_set_t         before = allowed;
    assert_int_equal(fby_cpu_placement_confine(o, &why), err);
    assert_string_equal(why.text, words);
    assert_true(CPU_EQUAL(&before, &allowed));
}

static void a_node_means_those_of_its_cpus_that_are_allowed(void **state)
{
    (void)state;
    struct fby_worker_options o = fby_worker_defaults();
    for (o.numa = 0; o.numa < 2; o.numa++) {
        allow("0-7");
        assert_ok(fby_cpu_placement_confine(&o, NULL));
        runs_on(o.numa == 0 ? "0-3" : "4-7");
        allow("2-5");
        assert_ok(fby_cpu_placement_confine(&o, NULL));
        runs_on(o.numa == 0 ? "2-3" : "4-5");
    }
}

static void a_node_that_is_not_allowed_is_refused(void **state)
{
    (void)state;
    struct fby_worker_options o = fby_worker_defaults();
    o.numa                      = 1;
    allow("0-2");
    refuses(&o, FBY_USAGE,
        "--numa 1: none of its CPUs is allowed here; a cpuset or taskset "
        "leaves 0-2");
    o.numa = 2;
    refuses(&o, FBY_USAGE,
        "--numa 2: there is no NUMA node 2 with CPUs; this machine has the "
        "nodes 0-1");
}

static void an_error_of_the_system_is_reported(void **state)
{
    (void)state;
    struct fby_worker_options o = fby_worker_defaults();
    o.numa                      = 1;
    set_fails                   = true;
    refuses(&o, FBY_SYS, "cannot run on the CPUs 4-7: Operation not permitted");
    o.cpus = "3";
    refuses(&o, FBY_SYS, "cannot run on the CPUs 3: Operation not permitted");
    o.cpus        = NULL;
    set_fails     = false;
    allowed_fails = true;
    allow("0"); /* cannot be read, as allowed_fails is set */
    assert_ok(fby_cpu_placement_confine(&o, NULL));
    runs_on("4-7");
}

static void cpus_come_before_a_node(void **state)
{
    (void)state;
    struct fby_worker_options o = fby_worker_defaults();
    o.cpus                      = "3-4,6";
    o.numa                      = 0;
    assert_ok(fby_cpu_placement_confine(&o, NULL));
    runs_on("3-4,6");
    refuses(&(struct fby_worker_options){.cpus = "3,8"}, FBY_USAGE,
        "--cpus 3,8: CPU 8 is not online; this machine has 0-7");
    refuses(&(struct fby_worker_options){.cpus = "3,7"}, FBY_USAGE,
        "--cpus 3,7: CPU 7 is not allowed; a cpuset or taskset limits this "
        "process to 3-4,6");
}

/* ---- near the card ------------------------------------------------------- */

static void network_threads_run_near_the_card_of_the_address(void **state)
{
    (void)state;
    static const struct {
        const char *listen, *advertise, *cpus;
    } cases[] = {
        {"tcp://lo:*", NULL, "4-7"},
        {"tcp://*:7070", "tcp://lo:7070", "4-7"},
        {"tcp://lo:7070", "tcp://192.0.2.1:7070", "0-7"},
        {"tcp://*:7070", NULL, "0-7"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_worker_options o = fby_worker_defaults();
        o.listen                    = cases[i].listen;
        o.advertise                 = cases[i].advertise;
        allow("0-7");
        fby_cpu_placement_near_nic(&o);
        runs_on(cases[i].cpus);
    }
}

static void cpus_stay_if_a_place_is_requested_or_none_is_known(void **state)
{
    (void)state;
    struct fby_worker_options o = fby_worker_defaults();
    o.listen                    = "tcp://lo:*";
    for (o.numa = FBY_NUMA_OFF; o.numa < 2; o.numa++) {
        allow("2-5");
        fby_cpu_placement_near_nic(&o);
        runs_on(o.numa == FBY_NUMA_AUTO ? "4-5" : "2-5");
    }
    o.numa = FBY_NUMA_AUTO;
    o.cpus = "0-7";
    allow("0-7");
    fby_cpu_placement_near_nic(&o);
    runs_on("0-7");
    o.cpus        = NULL;
    allowed_fails = true;
    fby_cpu_placement_near_nic(&o);
    runs_on("0-7");
    allowed_fails = false;
    set_fails     = true; /* no CPU changes then, either */
    fby_cpu_placement_near_nic(&o);
    runs_on("0-7");
    set_fails = false;
    write_file("sys/class/net/lo/device/numa_node", "-1\n");
    fby_cpu_placement_near_nic(&o);
    runs_on("0-7");
}

#define ON_MACHINE(test) \
    cmocka_unit_test_setup_teardown(test, make_machine, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_MACHINE(a_node_means_those_of_its_cpus_that_are_allowed),
        ON_MACHINE(a_node_that_is_not_allowed_is_refused),
        ON_MACHINE(an_error_of_the_system_is_reported),
        ON_MACHINE(cpus_come_before_a_node),
        ON_MACHINE(network_threads_run_near_the_card_of_the_address),
        ON_MACHINE(cpus_stay_if_a_place_is_requested_or_none_is_known),
    };
    return cmocka_run_group_tests_name(
        "worker.cpu_placement", tests, NULL, NULL);
}
