/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake_files.h"

#include "common/cores.h"

static void there_is_at_least_one_core(void **state)
{
    (void)state;
    assert_true(fby_usable_cores() >= 1);
    fby_limit_cores(1);
    assert_int_equal(fby_usable_cores(), 1);
    fby_limit_cores(UINT32_MAX);
}

static void without_cgroups_there_is_no_quota(void **state)
{
    (void)state;
    assert_int_equal(fby_cgroup_cores(root), UINT32_MAX);
}

static void version_2_quota_is_rounded_up(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/pod\n");
    write_file("sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
    assert_int_equal(fby_cgroup_cores(root), 3);
}

static void the_word_max_means_no_quota(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/pod\n");
    write_file("sys/fs/cgroup/pod/cpu.max", "max 100000\n");
    assert_int_equal(fby_cgroup_cores(root), UINT32_MAX);
}

static void the_smallest_quota_of_all_levels_counts(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/a/b/c\n");
    write_file("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    write_file("sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
    write_file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    assert_int_equal(fby_cgroup_cores(root), 2);
}

static void a_path_of_the_host_falls_back_to_our_mount(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/host/only/path\n");
    write_file("sys/fs/cgroup/cpu.max", "400000 100000\n");
    assert_int_equal(fby_cgroup_cores(root), 4);
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
    assert_int_equal(fby_cgroup_cores(root), 2);
}

static void write_v1(const char *folder, const char *quota, const char *period)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
    write_file(path, quota);
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
    write_file(path, period);
}

static void the_cpu_controller_may_stand_anywhere_in_its_list(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "4:cpuacct,cpu:/g\n");
    write_v1("sys/fs/cgroup/cpuacct,cpu/g", "300000", "100000");
    assert_int_equal(fby_cgroup_cores(root), 3);
    write_v1("sys/fs/cgroup/cpu/g", "200000", "100000"); /* a link to it */
    assert_int_equal(fby_cgroup_cores(root), 2);
}

static void other_controllers_have_no_quota(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "4:abc:/g\n5:cpuset,cpuacct:/g\n");
    write_v1("sys/fs/cgroup/abc/g", "300000", "100000");
    write_v1("sys/fs/cgroup/cpuset,cpuacct/g", "300000", "100000");
    write_v1("sys/fs/cgroup/cpu/g", "300000", "100000");
    assert_int_equal(fby_cgroup_cores(root), UINT32_MAX);
}

static void a_quota_is_a_share_of_a_period(void **state)
{
    (void)state;
    static const struct {
        const char *max;
        uint32_t    cores;
    } cases[] = {{"100000 100000", 1}, {"100001 100000", 2}, {"1 100000", 1},
        {"0 100000", UINT32_MAX}, {"100000 0", UINT32_MAX},
        {"9223372036854775807 1", UINT32_MAX},
        {"4294967294 1", UINT32_MAX - 1}};
    write_file("proc/self/cgroup", "0::/pod\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file("sys/fs/cgroup/pod/cpu.max", cases[i].max);
        assert_int_equal(fby_cgroup_cores(root), cases[i].cores);
    }
}

static void nonsense_is_no_quota(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "no colons here\n0::/pod\n::\n");
    write_file("sys/fs/cgroup/pod/cpu.max", "-5 zero\n");
    write_file("sys/fs/cgroup/cpu.max", "");
    assert_int_equal(fby_cgroup_cores(root), UINT32_MAX);
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
        WITH_ROOT(the_cpu_controller_may_stand_anywhere_in_its_list),
        WITH_ROOT(other_controllers_have_no_quota),
        WITH_ROOT(a_quota_is_a_share_of_a_period),
        WITH_ROOT(nonsense_is_no_quota),
    };
    return cmocka_run_group_tests_name("common.cores", tests, NULL, NULL);
}
