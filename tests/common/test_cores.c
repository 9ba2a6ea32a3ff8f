#include "tests/made_up.h"

#include "common/cores.h"

static void there_is_at_least_one_core(void **state)
{
    (void)state;
    assert_true(fby_cores() >= 1);
}

static void without_cgroups_there_is_no_quota(void **state)
{
    (void)state;
    assert_int_equal(fby_cores_quota(root), UINT32_MAX);
}

static void version_2_quota_is_rounded_up(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/pod\n");
    write_file("sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
    assert_int_equal(fby_cores_quota(root), 3);
}

static void the_word_max_means_no_quota(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/pod\n");
    write_file("sys/fs/cgroup/pod/cpu.max", "max 100000\n");
    assert_int_equal(fby_cores_quota(root), UINT32_MAX);
}

static void the_smallest_quota_of_all_levels_counts(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/a/b/c\n");
    write_file("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    write_file("sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
    write_file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    assert_int_equal(fby_cores_quota(root), 2);
}

static void a_path_of_the_host_falls_back_to_our_mount(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/host/only/path\n");
    write_file("sys/fs/cgroup/cpu.max", "400000 100000\n");
    assert_int_equal(fby_cores_quota(root), 4);
}

static void version_1_reads_the_cpu_controller(void **state)
{
    (void)state;
    write_file("proc/self/cgroup",
        "5:cpuset:/x\n4:cpu,cpuacct:/docker/77\n1:name=systemd:/\n");
    write_file("sys/fs/cgroup/cpu,cpuacct/docker/77/cpu.cfs_quota_us", "-1\n");
    write_file(
        "sys/fs/cgroup/cpu,cpuacct/docker/77/cpu.cfs_period_us", "100000\n");
    write_file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
    write_file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_int_equal(fby_cores_quota(root), 2);
}

static void nonsense_is_no_quota(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "no colons here\n0::/pod\n::\n");
    write_file("sys/fs/cgroup/pod/cpu.max", "-5 zero\n");
    write_file("sys/fs/cgroup/cpu.max", "");
    assert_int_equal(fby_cores_quota(root), UINT32_MAX);
}

#define WITH_ROOT(test) \
    cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_at_least_one_core),
        WITH_ROOT(without_cgroups_there_is_no_quota),
        WITH_ROOT(version_2_quota_is_rounded_up),
        WITH_ROOT(the_word_max_means_no_quota),
        WITH_ROOT(the_smallest_quota_of_all_levels_counts),
        WITH_ROOT(a_path_of_the_host_falls_back_to_our_mount),
        WITH_ROOT(version_1_reads_the_cpu_controller),
        WITH_ROOT(nonsense_is_no_quota),
    };
    return cmocka_run_group_tests_name("common.cores", tests, NULL, NULL);
}
