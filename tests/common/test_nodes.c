/* SPDX-License-Identifier: Apache-2.0 */
/* A fake sysfs: nodes of four CPUs each, and one without CPUs. */
#include "tests/fake_files.h"

#include "common/cpus.h"

static int make_machine(void **state)
{
    if (make_root(state) != 0) {
        return 1;
    }
    write_file("sys/devices/system/node/online", "0-2\n");
    write_file("sys/devices/system/node/node0/cpulist", "0-3\n");
    write_file("sys/devices/system/node/node1/cpulist", "4-7\n");
    write_file("sys/devices/system/node/node2/cpulist", "\n");
    return 0;
}

static void a_node_is_found_by_number_or_refused_in_words(void **state)
{
    (void)state;
    struct fby_node         node;
    struct fby_error_detail why = {{0}};
    assert_ok(fby_node_find(root, 1, &node, &why));
    assert_int_equal(node.number, 1);
    assert_string_equal(fby_cpus_format(&node.cpus).text, "4-7");
    assert_int_equal(fby_node_find(root, 3, &node, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "no NUMA node 3"));
    assert_non_null(strstr(why.text, "0-2"));
    assert_int_equal(fby_node_find(root, 2, &node, &why), FBY_USAGE);
    assert_int_equal(fby_node_find("/nowhere", 0, &node, &why), FBY_USAGE);
}

static const char *preferred(int number, const char *allowed)
{
    static struct fby_cpus_text text;
    struct fby_node             node;
    struct fby_error_detail     why;
    cpu_set_t                   set;
    assert_ok(fby_cpus_parse(allowed, &set, &why));
    if (!fby_node_find_preferred_cpus(root, number, &set, &node)) {
        return "none";
    }
    assert_int_equal(node.number, number);
    text = fby_cpus_format(&node.cpus);
    return text.text;
}

static void a_node_is_preferred_where_it_narrows_the_choice(void **state)
{
    (void)state;
    assert_string_equal(preferred(1, "0-7"), "4-7");
    assert_string_equal(preferred(1, "2-5"), "4-5");
    assert_string_equal(preferred(1, "0-3"), "none"); /* none is on node 1 */
    assert_string_equal(preferred(1, "5-6"), "none"); /* all are on node 1 */
    assert_string_equal(preferred(2, "0-7"), "none"); /* node 2 has no CPUs */
    assert_string_equal(preferred(3, "0-7"), "none");
    assert_string_equal(preferred(-1, "0-7"), "none");
    write_file("sys/devices/system/node/online", "1\n");
    assert_string_equal(preferred(1, "0-7"), "none"); /* one node */
}

static void a_device_s_file_tells_its_node_or_none(void **state)
{
    (void)state;
    char directory[128];
    snprintf(directory, sizeof(directory), "%s/sys/bus/pci/devices/1b", root);
    assert_int_equal(fby_node_of_device(directory, "numa_node"), -1);
    write_file("sys/bus/pci/devices/1b/numa_node", "1\n");
    assert_int_equal(fby_node_of_device(directory, "numa_node"), 1);
    write_file("sys/bus/pci/devices/1b/numa_node", "-1\n");
    assert_int_equal(fby_node_of_device(directory, "numa_node"), -1);
}

#define IN_ROOT(test) \
    cmocka_unit_test_setup_teardown(test, make_machine, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ROOT(a_node_is_found_by_number_or_refused_in_words),
        IN_ROOT(a_node_is_preferred_where_it_narrows_the_choice),
        IN_ROOT(a_device_s_file_tells_its_node_or_none),
    };
    return cmocka_run_group_tests_name("common.nodes", tests, NULL, NULL);
}
