/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /proc and /sys of another machine, from files of the test. */
#include "cli/doctor/read.h"

#include <string.h>

#include "common/cpus.h"
#include "tests/fake_files.h"

static void missing_files_give_unknown_values(void **state)
{
    (void)state;
    char                  setting[16] = "x";
    struct fby_card_facts card;
    assert_int_equal(fby_read_cpus_online(root), 0);
    assert_int_equal(fby_read_numa_nodes(root), 0);
    assert_int_equal(fby_read_meminfo(root, "MemTotal"), 0);
    assert_int_equal(fby_read_l3_bytes(root), 0);
    assert_int_equal(fby_read_network_cards(root, &card, 1), 0);
    fby_read_huge_pages(root, setting);
    assert_string_equal(setting, "");
}

static void lists_are_counted(void **state)
{
    (void)state;
    write_file("sys/devices/system/cpu/online", "0-3,8\n");
    write_file("sys/devices/system/node/online", "0-1\n");
    assert_int_equal(fby_read_cpus_online(root), 5);
    assert_int_equal(fby_read_numa_nodes(root), 2);
}

static void memory_is_read_in_bytes(void **state)
{
    (void)state;
    write_file("proc/meminfo",
        "MemTotal:       1024 kB\nMemFree: 1 kB\nMemAvailable:    512 kB\n");
    assert_int_equal(fby_read_meminfo(root, "MemTotal"), 1 << 20);
    assert_int_equal(fby_read_meminfo(root, "MemAvailable"), 1 << 19);
    assert_int_equal(fby_read_meminfo(root, "Mem"), 0);
}

static void the_chosen_huge_pages_are_in_brackets(void **state)
{
    (void)state;
    char        setting[16];
    const char *file = "sys/kernel/mm/transparent_hugepage/enabled";
    write_file(file, "always [madvise] never\n");
    fby_read_huge_pages(root, setting);
    assert_string_equal(setting, "madvise");
    write_file(file, "no brackets\n");
    fby_read_huge_pages(root, setting);
    assert_string_equal(setting, "");
}

static void the_last_cache_has_a_unit(void **state)
{
    (void)state;
    write_file("sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n");
    assert_int_equal(fby_read_l3_bytes(root), 32 << 20);
    write_file("sys/devices/system/cpu/cpu0/cache/index3/size", "64M\n");
    assert_int_equal(fby_read_l3_bytes(root), 64 << 20);
}

/* Only cards that are nearer to some usable CPUs: here to the first. */
static void a_card_near_some_of_the_cpus_is_named(void **state)
{
    (void)state;
    struct fby_card_facts cards[2];
    cpu_set_t             allowed;
    char                  near[16];
    assert_ok(fby_cpus_read_allowed(&allowed));
    if (CPU_COUNT(&allowed) < 2) {
        skip();
    }
    unsigned first = 0;
    while (!CPU_ISSET(first, &allowed)) {
        first++;
    }
    snprintf(near, sizeof(near), "%u", first);
    write_file("sys/devices/system/node/online", "0-1\n");
    write_file("sys/devices/system/node/node1/cpulist", near);
    write_file("sys/class/net/eth0/device/numa_node", "1\n");
    write_file("sys/class/net/lo/mtu", "65536\n");
    assert_int_equal(fby_read_network_cards(root, cards, 2), 1);
    assert_string_equal(cards[0].card, "eth0");
    assert_int_equal(cards[0].node, 1);
    assert_string_equal(cards[0].cpus, near);
}

#define WITH_ROOT(test) \
    cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ROOT(missing_files_give_unknown_values),
        WITH_ROOT(lists_are_counted),
        WITH_ROOT(memory_is_read_in_bytes),
        WITH_ROOT(the_chosen_huge_pages_are_in_brackets),
        WITH_ROOT(the_last_cache_has_a_unit),
        WITH_ROOT(a_card_near_some_of_the_cpus_is_named),
    };
    return cmocka_run_group_tests_name("cli.doctor_read", tests, NULL, NULL);
}
