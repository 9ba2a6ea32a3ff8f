/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake_files.h"

#include "common/cgroup.h"

static void without_cgroups_there_is_no_limit(void **state)
{
    (void)state;
    assert_true(fby_cgroup_memory(root) == UINT64_MAX);
}

static void the_smallest_memory_limit_of_all_levels_counts(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/a/b\n");
    write_file("sys/fs/cgroup/a/memory.max", "1000\n");
    write_file("sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_int_equal(fby_cgroup_memory(root), 1000);
    write_file("sys/fs/cgroup/a/b/memory.max", "500\n");
    assert_int_equal(fby_cgroup_memory(root), 500);
}

static void a_group_of_the_host_falls_back_to_the_mount(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/host/only\n");
    write_file("sys/fs/cgroup/memory.max", "700\n");
    assert_int_equal(fby_cgroup_memory(root), 700);
}

static void version_1_has_a_controller_of_its_own(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/7\nnonsense\n");
    write_file(
        "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(fby_cgroup_memory(root) == UINT64_MAX);
    write_file("sys/fs/cgroup/memory/docker/7/memory.limit_in_bytes", "900\n");
    assert_int_equal(fby_cgroup_memory(root), 900);
}

static void version_1_may_mount_several_controllers_as_one(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "4:memory,hugetlb:/pod\n");
    write_file(
        "sys/fs/cgroup/memory,hugetlb/pod/memory.limit_in_bytes", "800\n");
    assert_int_equal(fby_cgroup_memory(root), 800);
    write_file("sys/fs/cgroup/memory/memory.limit_in_bytes", "600\n");
    assert_int_equal(fby_cgroup_memory(root), 600); /* a link to it */
}

static void nonsense_is_no_limit(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "no colons here\n0::/pod\n::\n");
    write_file("sys/fs/cgroup/pod/memory.max", "-5\n");
    write_file("sys/fs/cgroup/memory.max", "");
    assert_true(fby_cgroup_memory(root) == UINT64_MAX);
}

#define WITH_ROOT(test) \
    cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ROOT(without_cgroups_there_is_no_limit),
        WITH_ROOT(the_smallest_memory_limit_of_all_levels_counts),
        WITH_ROOT(a_group_of_the_host_falls_back_to_the_mount),
        WITH_ROOT(version_1_has_a_controller_of_its_own),
        WITH_ROOT(version_1_may_mount_several_controllers_as_one),
        WITH_ROOT(nonsense_is_no_limit),
    };
    return cmocka_run_group_tests_name("common.cgroup", tests, NULL, NULL);
}
