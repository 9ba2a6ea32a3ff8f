/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts of `forebay doctor` on made-up values. */
#include "cli/doctor/judge.h"

#include <errno.h>
#include <string.h>

#include "tests/test.h"

#define GIB (UINT64_C(1) << 30)
#define MS  INT64_C(1000000)

static void assert_verdict(const struct fby_verdict *verdict,
    enum fby_doctor_state state, const char *finding, const char *advice)
{
    assert_string_equal(
        fby_doctor_state_name(verdict->state), fby_doctor_state_name(state));
    if (strstr(verdict->finding, finding) == NULL) {
        fail_msg("'%s' lacks '%s'", verdict->finding, finding);
    }
    if (advice == NULL ? verdict->advice[0] != '\0'
                       : strstr(verdict->advice, advice) == NULL) {
        fail_msg("'%s' is advised", verdict->advice);
    }
}

#define ASSERT_VERDICT(call, ...)               \
    do {                                        \
        struct fby_verdict verdict_ = (call);   \
        assert_verdict(&verdict_, __VA_ARGS__); \
    } while (0)

static struct fby_verdict cpus(
    uint32_t online, uint32_t allowed, uint32_t quota)
{
    const struct fby_cpu_facts facts = {online, allowed, quota};
    return fby_judge_cpus(&facts);
}

static void cpus_are_bound_by_affinity_and_quota(void **state)
{
    (void)state;
    ASSERT_VERDICT(cpus(8, 8, UINT32_MAX), FBY_DOCTOR_OK, "8 of 8 CPUs", NULL);
    ASSERT_VERDICT(
        cpus(8, 4, UINT32_MAX), FBY_DOCTOR_NOTE, "4 of 8 CPUs", "taskset");
    ASSERT_VERDICT(cpus(8, 8, 3), FBY_DOCTOR_NOTE, "3 of 8 CPUs", "cpu.max");
    ASSERT_VERDICT(cpus(8, 8, 1), FBY_DOCTOR_WARN, "1 of 8 CPUs", "2 CPUs");
    ASSERT_VERDICT(cpus(0, 2, UINT32_MAX), FBY_DOCTOR_OK, "2 of 2", NULL);
}

static void simd_that_is_held_back_is_a_warning(void **state)
{
    (void)state;
    ASSERT_VERDICT(fby_judge_simd(FBY_SIMD_AVX2, FBY_SIMD_AVX2), FBY_DOCTOR_OK,
        "avx2", NULL);
    ASSERT_VERDICT(fby_judge_simd(FBY_SIMD_PORTABLE, FBY_SIMD_AVX512),
        FBY_DOCTOR_WARN, "portable is used, though the CPU has avx512",
        "FOREBAY_SIMD");
    ASSERT_VERDICT(fby_judge_simd(FBY_SIMD_PORTABLE, FBY_SIMD_PORTABLE),
        FBY_DOCTOR_NOTE, "no AVX2", NULL);
}

static void cards_are_listed_on_several_nodes(void **state)
{
    (void)state;
    const struct fby_card_facts card = {"eth0", 1, "4-7"};
    ASSERT_VERDICT(
        fby_judge_numa(0, NULL, 0), FBY_DOCTOR_NOTE, "not report", NULL);
    ASSERT_VERDICT(fby_judge_numa(1, NULL, 0), FBY_DOCTOR_OK, "one node", NULL);
    ASSERT_VERDICT(fby_judge_numa(2, NULL, 0), FBY_DOCTOR_OK, "2 nodes", NULL);
    ASSERT_VERDICT(fby_judge_numa(2, &card, 1), FBY_DOCTOR_NOTE,
        "card eth0 is on node 1 (CPUs 4-7)", "--listen");
}

static struct fby_verdict memory(
    uint64_t total, uint64_t available, uint64_t limit)
{
    const struct fby_memory_facts facts = {total, available, limit};
    return fby_judge_memory(&facts);
}

static void little_memory_is_a_warning_wherever_the_bound_is(void **state)
{
    (void)state;
    ASSERT_VERDICT(memory(64 * GIB, 32 * GIB, UINT64_MAX), FBY_DOCTOR_OK,
        "64.0 GiB, 32.0 GiB of it available", NULL);
    ASSERT_VERDICT(memory(64 * GIB, 32 * GIB, GIB), FBY_DOCTOR_WARN,
        "the cgroup allows 1.0 GiB", "--memory");
    ASSERT_VERDICT(memory(64 * GIB, GIB / 2, UINT64_MAX), FBY_DOCTOR_WARN,
        "512 MiB of it", "--memory");
    ASSERT_VERDICT(
        memory(0, 0, UINT64_MAX), FBY_DOCTOR_NOTE, "not report", NULL);
}

static void limits_that_bind_come_with_what_raises_them(void **state)
{
    (void)state;
    ASSERT_VERDICT(
        fby_judge_memlock(UINT64_MAX), FBY_DOCTOR_OK, "no limit", NULL);
    ASSERT_VERDICT(fby_judge_memlock(64 << 10), FBY_DOCTOR_NOTE, "64 KiB",
        "ulimit -l unlimited");
    ASSERT_VERDICT(fby_judge_shm(2 * GIB), FBY_DOCTOR_OK, "2.0 GiB", NULL);
    ASSERT_VERDICT(
        fby_judge_shm(64 << 20), FBY_DOCTOR_NOTE, "64 MiB", "--shm-size");
    ASSERT_VERDICT(
        fby_judge_shm(0), FBY_DOCTOR_NOTE, "no /dev/shm", "--shm-size");
    ASSERT_VERDICT(fby_judge_files(20000), FBY_DOCTOR_OK, "20000", NULL);
    ASSERT_VERDICT(
        fby_judge_files(UINT64_MAX), FBY_DOCTOR_OK, "no limit", NULL);
    ASSERT_VERDICT(fby_judge_files(512), FBY_DOCTOR_WARN, "512", "ulimit -Hn");
    ASSERT_VERDICT(fby_judge_files(64), FBY_DOCTOR_FAIL, "64", "ulimit -Hn");
}

static void huge_pages_that_are_off_can_be_switched_on(void **state)
{
    (void)state;
    ASSERT_VERDICT(
        fby_judge_huge_pages("always"), FBY_DOCTOR_OK, "always", NULL);
    ASSERT_VERDICT(
        fby_judge_huge_pages("madvise"), FBY_DOCTOR_OK, "madvise", NULL);
    ASSERT_VERDICT(fby_judge_huge_pages("never"), FBY_DOCTOR_NOTE, "never",
        "echo madvise");
    ASSERT_VERDICT(fby_judge_huge_pages(""), FBY_DOCTOR_NOTE, "none", NULL);
}

static struct fby_verdict clocks(int64_t resolution_ns, bool sync, bool told)
{
    const struct fby_clock_facts facts = {resolution_ns, sync, told};
    return fby_judge_clock(&facts);
}

static void an_unsynchronised_wall_clock_is_only_a_note(void **state)
{
    (void)state;
    ASSERT_VERDICT(
        clocks(1, true, true), FBY_DOCTOR_OK, "is synchronised", NULL);
    ASSERT_VERDICT(
        clocks(1, false, true), FBY_DOCTOR_NOTE, "is not sync", "chrony");
    ASSERT_VERDICT(
        clocks(1, false, false), FBY_DOCTOR_NOTE, "not known", "chrony");
    ASSERT_VERDICT(clocks(4 * MS, true, true), FBY_DOCTOR_WARN, "4000000 ns",
        "clocksource");
}

static void slow_memory_is_a_warning(void **state)
{
    (void)state;
    ASSERT_VERDICT(fby_judge_copy_speed(8e9), FBY_DOCTOR_OK, "8.0 GB/s", NULL);
    ASSERT_VERDICT(
        fby_judge_copy_speed(1e9), FBY_DOCTOR_WARN, "1.0 GB/s", "slow");
    ASSERT_VERDICT(fby_judge_expand_speed(6.02112e9), FBY_DOCTOR_OK,
        "(10000 pictures/s of 224 x 224)", NULL);
    ASSERT_VERDICT(
        fby_judge_expand_speed(5e8), FBY_DOCTOR_WARN, "0.5 GB/s", "slow");
}

static void a_gpu_must_work_and_copy_while_it_computes(void **state)
{
    (void)state;
    struct fby_gpu_facts facts = {.name = "H",
        .major                          = 9,
        .driver                         = 12080,
        .bytes                          = UINT64_C(80) << 30,
        .copy_ns                        = 100,
        .expand_ns                      = 50,
        .both_ns                        = 110,
        .copied                         = 5000,
        .expanded                       = 100000};
    ASSERT_VERDICT(fby_judge_gpu(&facts), FBY_DOCTOR_OK,
        "H (sm_90, 80 GiB, a driver for CUDA 12.8): pinned copy 50.0 GB/s, "
        "expand 2000 GB/s, both at the same time",
        NULL);
    facts.expand_ns = 9;
    facts.both_ns   = 102;
    assert_int_equal(fby_judge_gpu(&facts).state, FBY_DOCTOR_OK);
    facts.both_ns = 109;
    assert_int_equal(fby_judge_gpu(&facts).state, FBY_DOCTOR_WARN);
    facts.expand_ns = 50;
    facts.both_ns   = 150;
    ASSERT_VERDICT(fby_judge_gpu(&facts), FBY_DOCTOR_WARN, "but not both",
        "CUDA_LAUNCH_BLOCKING");
    facts.error = "cudaMalloc failed with 2";
    ASSERT_VERDICT(fby_judge_gpu(&facts), FBY_DOCTOR_FAIL,
        "H: cudaMalloc failed with 2", "nvidia-smi");
}

static void a_source_must_be_here_unless_workers_elsewhere_serve_it(
    void **state)
{
    (void)state;
    struct fby_source_facts facts = {.split = "train", .path = "/data"};
    ASSERT_VERDICT(fby_judge_source(&facts), FBY_DOCTOR_OK,
        "split train: /data can be read", NULL);
    facts.error = EACCES;
    ASSERT_VERDICT(fby_judge_source(&facts), FBY_DOCTOR_FAIL,
        "cannot read /data: Permission denied", "path");
    facts.served = true;
    ASSERT_VERDICT(
        fby_judge_source(&facts), FBY_DOCTOR_NOTE, "/data", "workers'");
    facts = (struct fby_source_facts){
        .split = "train", .path = "in1k:train", .unknown_root = true};
    ASSERT_VERDICT(
        fby_judge_source(&facts), FBY_DOCTOR_NOTE, "in1k:train", "--data");
}

static void data_is_valid_invalid_or_too_large_to_read(void **state)
{
    (void)state;
    struct fby_data_facts facts = {
        .split = "val", .whole = true, .samples = 1, .shards = 2};
    ASSERT_VERDICT(fby_judge_data(&facts), FBY_DOCTOR_OK,
        "split val: 1 sample in 2 shards", NULL);
    facts = (struct fby_data_facts){.split = "val", .done = 3, .total = 9};
    ASSERT_VERDICT(fby_judge_data(&facts), FBY_DOCTOR_NOTE,
        "split val: no error in 3 of 9 parts", "forebay index");
    facts.error = "shard 7: no tar";
    ASSERT_VERDICT(fby_judge_data(&facts), FBY_DOCTOR_FAIL,
        "split val: shard 7: no tar", "fix or replace");
    facts.served = true;
    ASSERT_VERDICT(
        fby_judge_data(&facts), FBY_DOCTOR_NOTE, "no tar", "workers'");
}

static void manifests_need_a_folder_with_room(void **state)
{
    (void)state;
    struct fby_cache_facts facts = {.directory = "/c", .free_bytes = GIB};
    ASSERT_VERDICT(
        fby_judge_cache(&facts), FBY_DOCTOR_OK, "1.0 GiB free", NULL);
    facts.free_bytes = 1 << 20;
    ASSERT_VERDICT(fby_judge_cache(&facts), FBY_DOCTOR_WARN, "1 MiB", "free");
    facts.error = EROFS;
    ASSERT_VERDICT(fby_judge_cache(&facts), FBY_DOCTOR_WARN, "Read-only",
        "FOREBAY_CACHE_DIR");
}

static struct fby_answer_facts answer(void)
{
    return (struct fby_answer_facts){.name = "a:1",
        .connect_ns                        = MS,
        .answer                            = FBY_ANSWER_GIVEN,
        .text                              = "",
        .round_trip_ns                     = MS / 2,
        .version                           = 1};
}

static void a_server_is_ok_when_it_answers_and_knows_workers(void **state)
{
    (void)state;
    struct fby_answer_facts facts = answer();
    ASSERT_VERDICT(fby_judge_server(&facts, 2), FBY_DOCTOR_OK,
        "connected in 1.00 ms, round trip 0.50 ms; it knows 2 workers", NULL);
    ASSERT_VERDICT(fby_judge_server(&facts, 0), FBY_DOCTOR_FAIL, "no worker",
        "forebay worker");
    facts.round_trip_ns = 80 * MS;
    ASSERT_VERDICT(
        fby_judge_server(&facts, 2), FBY_DOCTOR_WARN, "80.00 ms", "far away");
}

static void silence_refusal_and_absence_are_distinguished(void **state)
{
    (void)state;
    struct fby_answer_facts facts = answer();
    ASSERT_VERDICT(
        fby_judge_worker(&facts), FBY_DOCTOR_OK, "a:1: protocol 1", NULL);
    facts.answer = FBY_ANSWER_NONE;
    ASSERT_VERDICT(fby_judge_worker(&facts), FBY_DOCTOR_FAIL,
        "connected, but no answer", "a Forebay worker of");
    ASSERT_VERDICT(fby_judge_server(&facts, 0), FBY_DOCTOR_FAIL,
        "connected, but no answer", "a Forebay server of");
    facts.answer = FBY_ANSWER_REFUSED;
    facts.text   = "it is full";
    ASSERT_VERDICT(
        fby_judge_worker(&facts), FBY_DOCTOR_FAIL, "it is full", "--memory");
    facts.answer = FBY_ANSWER_KEY_REFUSED;
    facts.text   = "the key was removed";
    ASSERT_VERDICT(fby_judge_server(&facts, 0), FBY_DOCTOR_FAIL,
        "the key was removed", "a key that the server admits");
    facts.error = ECONNREFUSED;
    ASSERT_VERDICT(fby_judge_worker(&facts), FBY_DOCTOR_FAIL,
        "Connection refused", "no process listens");
    facts.error = ETIMEDOUT;
    ASSERT_VERDICT(
        fby_judge_worker(&facts), FBY_DOCTOR_FAIL, "timed out", "firewalls");
    ASSERT_VERDICT(fby_judge_unresolved("cannot resolve host 'x'"),
        FBY_DOCTOR_FAIL, "cannot resolve", "--server");
}

static void with_keys_the_advice_is_about_keys(void **state)
{
    (void)state;
    struct fby_answer_facts facts = answer();
    facts.has_keys                = true;
    ASSERT_VERDICT(fby_judge_worker(&facts), FBY_DOCTOR_OK,
        "a:1: requires a ticket of its server, connected in", NULL);
    facts.answer = FBY_ANSWER_NONE;
    ASSERT_VERDICT(fby_judge_server(&facts, 0), FBY_DOCTOR_FAIL,
        "connected, but no answer", "whether the key file is of this server");
    facts.has_keys = false;
    ASSERT_VERDICT(fby_judge_server(&facts, 0), FBY_DOCTOR_FAIL,
        "connected, but no answer", "whether it has keys (--keys)");
}

/* Nothing listens there on this host, and that is no news. */
static void a_loopback_address_of_another_host_is_told(void **state)
{
    (void)state;
    struct fby_answer_facts facts = answer();
    facts.error                   = ECONNREFUSED;
    facts.is_elsewhere            = true;
    ASSERT_VERDICT(fby_judge_worker(&facts), FBY_DOCTOR_FAIL,
        "a:1: a loopback address, perhaps of another host: no other host "
        "reaches this worker",
        "start it with --listen and an address of its own host");
    facts.error = 0; /* it is on this host */
    ASSERT_VERDICT(fby_judge_worker(&facts), FBY_DOCTOR_WARN, "a:1: protocol 1",
        "only this host reaches its loopback address: start it with --listen");
    facts.has_keys = true;
    ASSERT_VERDICT(fby_judge_worker(&facts), FBY_DOCTOR_WARN,
        "a:1: requires a ticket of its server",
        "only this host reaches its loopback address");
}

static void ports_beyond_loopback_are_a_warning(void **state)
{
    (void)state;
    ASSERT_VERDICT(
        fby_judge_exposure(false, 0, 3, NULL), FBY_DOCTOR_OK, "loopback", NULL);
    ASSERT_VERDICT(fby_judge_exposure(false, 1, 3, "tcp://10.0.0.1:7070"),
        FBY_DOCTOR_WARN, "1 of 3 addresses", "--insecure");
    ASSERT_VERDICT(fby_judge_exposure(true, 1, 3, "tcp://10.0.0.1:7070"),
        FBY_DOCTOR_OK, "the cluster has keys", NULL);
}

static void a_stream_is_judged_by_its_batches(void **state)
{
    (void)state;
    struct fby_stream_facts facts = {.seconds = 2,
        .first_s                              = 0.5,
        .batches                              = 10,
        .samples                              = 200,
        .noun                                 = "image",
        .wire_bytes                           = 4000000,
        .raw_bytes                            = 8000000,
        .known                                = 2,
        .in_use                               = 2};
    ASSERT_VERDICT(fby_judge_stream(&facts), FBY_DOCTOR_OK,
        "100 images/s, 2.0 MB/s on the wire (4.0 MB/s raw)", NULL);
    facts.in_use = 1;
    ASSERT_VERDICT(
        fby_judge_stream(&facts), FBY_DOCTOR_NOTE, "1 of 2 workers", "others");
    facts.lost = 1;
    ASSERT_VERDICT(
        fby_judge_stream(&facts), FBY_DOCTOR_WARN, "1 of 2", "requested again");
    facts.left_aside = 1;
    ASSERT_VERDICT(
        fby_judge_stream(&facts), FBY_DOCTOR_WARN, "1 of 2", "were not used");
    facts.batches = 1;
    ASSERT_VERDICT(
        fby_judge_stream(&facts), FBY_DOCTOR_NOTE, "1 batch came", NULL);
    facts.error = "say --data";
    ASSERT_VERDICT(fby_judge_stream(&facts), FBY_DOCTOR_FAIL, "say --data",
        "correct what it names");
    facts.error     = "no worker";
    facts.timed_out = true;
    ASSERT_VERDICT(
        fby_judge_stream(&facts), FBY_DOCTOR_FAIL, "no worker", "above");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_are_bound_by_affinity_and_quota),
        cmocka_unit_test(simd_that_is_held_back_is_a_warning),
        cmocka_unit_test(cards_are_listed_on_several_nodes),
        cmocka_unit_test(little_memory_is_a_warning_wherever_the_bound_is),
        cmocka_unit_test(limits_that_bind_come_with_what_raises_them),
        cmocka_unit_test(huge_pages_that_are_off_can_be_switched_on),
        cmocka_unit_test(an_unsynchronised_wall_clock_is_only_a_note),
        cmocka_unit_test(slow_memory_is_a_warning),
        cmocka_unit_test(a_gpu_must_work_and_copy_while_it_computes),
        cmocka_unit_test(
            a_source_must_be_here_unless_workers_elsewhere_serve_it),
        cmocka_unit_test(data_is_valid_invalid_or_too_large_to_read),
        cmocka_unit_test(manifests_need_a_folder_with_room),
        cmocka_unit_test(a_server_is_ok_when_it_answers_and_knows_workers),
        cmocka_unit_test(silence_refusal_and_absence_are_distinguished),
        cmocka_unit_test(with_keys_the_advice_is_about_keys),
        cmocka_unit_test(a_loopback_address_of_another_host_is_told),
        cmocka_unit_test(ports_beyond_loopback_are_a_warning),
        cmocka_unit_test(a_stream_is_judged_by_its_batches),
    };
    return cmocka_run_group_tests_name("cli.doctor_judge", tests, NULL, NULL);
}
