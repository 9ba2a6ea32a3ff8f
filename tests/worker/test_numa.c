/* SPDX-License-Identifier: Apache-2.0 */
/* A fake sysfs: two nodes of four CPUs, and network cards of every kind. */
#include "tests/fake_files.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <unistd.h>

#include "common/socket.h"
#include "worker/cpu_placement.h"

static struct ifaddrs *cards; /* NULL: this machine's */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
int  __real_getifaddrs(struct ifaddrs **out);
int  __wrap_getifaddrs(struct ifaddrs **out);
void __real_freeifaddrs(struct ifaddrs *all);
void __wrap_freeifaddrs(struct ifaddrs *all);

int __wrap_getifaddrs(struct ifaddrs **out)
{
    *out = cards;
    return cards != NULL ? 0 : __real_getifaddrs(out);
}

void __wrap_freeifaddrs(struct ifaddrs *all)
{
    if (cards == NULL) {
        __real_freeifaddrs(all);
    }
}
/* NOLINTEND(readability-identifier-naming) */

static void link_to(const char *path, const char *target)
{
    char full[256];
    make_parents(path);
    path_of(full, path);
    assert_int_equal(symlink(target, full), 0);
}

static void write_nodes(const char *online)
{
    write_file("sys/devices/system/node/online", online);
    write_file("sys/devices/system/node/node0/cpulist", "0-3\n");
    write_file("sys/devices/system/node/node1/cpulist", "4-7\n");
    write_file("sys/devices/system/node/node2/cpulist", "\n");
}

static int make_machine(void **state)
{
    if (make_root(state) != 0) {
        return 1;
    }
    write_nodes("0-2\n");
    write_file("sys/class/net/eth0/device/numa_node", "0\n");
    write_file("sys/class/net/eth1/device/numa_node", "1\n");
    write_file("sys/class/net/eth2/device/numa_node", "-1\n");
    write_file("sys/class/net/eth3/device/numa_node", "2\n");
    make_parents("sys/class/net/lo/");
    return 0;
}

/* Returns "NODE: CPUS", or "none". */
static const char *near(const char *card, const char *allowed)
{
    static char             text[300];
    struct fby_node         node;
    struct fby_error_detail why;
    cpu_set_t               set;
    assert_ok(fby_cpus_parse(allowed, &set, &why));
    if (!fby_numa_node_near_nic(root, card, &set, &node)) {
        return "none";
    }
    snprintf(text, sizeof(text), "%d: %s", node.number,
        fby_cpus_format(&node.cpus).text);
    return text;
}

static void the_node_of_the_card_is_preferred(void **state)
{
    (void)state;
    assert_string_equal(near("eth0", "0-7"), "0: 0-3");
    assert_string_equal(near("eth1", "0-7"), "1: 4-7");
}

static void only_allowed_cpus_are_preferred(void **state)
{
    (void)state;
    assert_string_equal(near("eth1", "2-5"), "1: 4-5");
    assert_string_equal(near("eth1", "0-3"), "none"); /* none is of its node */
    assert_string_equal(near("eth1", "5-6"), "none"); /* all are of its node */
}

static void a_card_without_a_node_prefers_nothing(void **state)
{
    (void)state;
    assert_string_equal(near("eth2", "0-7"), "none");
    assert_string_equal(near("eth3", "0-7"), "none"); /* a node without CPUs */
    assert_string_equal(near("lo", "0-7"), "none");
    assert_string_equal(near("eth9", "0-7"), "none");
}

static void on_one_node_nothing_is_preferred(void **state)
{
    (void)state;
    write_nodes("0\n");
    assert_string_equal(near("eth0", "0-7"), "none");
    write_nodes("what\n");
    assert_string_equal(near("eth0", "0-7"), "none");
}

static void a_virtio_card_is_where_its_pci_device_is(void **state)
{
    (void)state;
    write_file("sys/devices/pci/0000:00:03.0/numa_node", "1\n");
    make_parents("sys/devices/pci/0000:00:03.0/virtio2/");
    link_to("sys/class/net/eth4/device",
        "../../../devices/pci/0000:00:03.0/virtio2");
    assert_string_equal(near("eth4", "0-7"), "1: 4-7");
}

static void a_bond_is_where_all_its_cards_are(void **state)
{
    (void)state;
    link_to("sys/class/net/bond0/lower_eth1", "../eth1");
    link_to("sys/class/net/bond0/lower_eth2", "../eth2");
    link_to("sys/class/net/bond0.7/lower_bond0", "../bond0");
    assert_string_equal(near("bond0", "0-7"), "1: 4-7");
    assert_string_equal(near("bond0.7", "0-7"), "1: 4-7");
    link_to("sys/class/net/bond0/lower_eth0", "../eth0");
    assert_string_equal(near("bond0", "0-7"), "none");
}

/* Neither upper cards count, nor lower cards beyond four layers. */
static void only_four_layers_of_lower_cards_are_searched(void **state)
{
    (void)state;
    link_to("sys/class/net/eth2/upper_eth1", "../eth1");
    assert_string_equal(near("eth2", "0-7"), "none");
    link_to("sys/class/net/on1/lower_eth1", "../eth1");
    link_to("sys/class/net/on2/lower_on1", "../on1");
    link_to("sys/class/net/on3/lower_on2", "../on2");
    link_to("sys/class/net/on4/lower_on3", "../on3");
    link_to("sys/class/net/on5/lower_on4", "../on4");
    assert_string_equal(near("on4", "0-7"), "1: 4-7");
    assert_string_equal(near("on5", "0-7"), "none");
}

static void an_address_belongs_to_a_card(void **state)
{
    (void)state;
    char card[IF_NAMESIZE];
    assert_true(fby_numa_find_nic("tcp://127.0.0.1:*", card));
    assert_string_equal(card, "lo");
    assert_true(fby_numa_find_nic("tcp://lo:7070", card));
    assert_string_equal(card, "lo");
    assert_false(fby_numa_find_nic("tcp://*:7070", card));
    assert_false(fby_numa_find_nic("tcp://0.0.0.0:7070", card));
    assert_false(fby_numa_find_nic("tcp://192.0.2.1:7070", card));
    assert_false(fby_numa_find_nic("tcp://", card));
    assert_false(fby_numa_find_nic("nonsense", card));
}

/* Returns the name of the card, or "none". */
static const char *card_of(const char *endpoint)
{
    static char name[IF_NAMESIZE];
    memset(name, 'x', sizeof(name));
    return fby_numa_find_nic(endpoint, name) ? name : "none";
}

/* Cards without an address, and several with an address of each kind. */
static void addresses_of_both_kinds_are_found(void **state)
{
    (void)state;
    struct sockaddr     other = {.sa_family = AF_PACKET};
    struct sockaddr_in  four  = {.sin_family = AF_INET};
    struct sockaddr_in6 six   = {.sin6_family = AF_INET6};
    struct ifaddrs      all[] = {
             {.ifa_name = (char[]){"eth0"}},
             {.ifa_name = (char[]){"eth1"}, .ifa_addr = &other},
             {.ifa_name = (char[]){"eth2"}, .ifa_addr = (struct sockaddr *)&four},
             {.ifa_name    = (char[]){"fifteen_letters"},
                 .ifa_addr = (struct sockaddr *)&six},
             {.ifa_name = (char[]){"eth4"}, .ifa_addr = (struct sockaddr *)&six},
    };
    for (size_t i = 0; i < 4; i++) {
        all[i].ifa_next = &all[i + 1];
    }
    inet_pton(AF_INET, "192.0.2.7", &four.sin_addr);
    inet_pton(AF_INET6, "2001:db8::7", &six.sin6_addr);
    cards = all;
    assert_string_equal(card_of("tcp://192.0.2.7:7070"), "eth2");
    assert_string_equal(card_of("tcp://[192.0.2.7]:7070"), "eth2");
    assert_string_equal(card_of("tcp://192.0.2.70:7070"), "none");
    assert_string_equal(card_of("tcp://[2001:db8::7]:*"), "fifteen_letters");
    assert_string_equal(card_of("tcp://2001:db8::7:*"), "fifteen_letters");
    assert_string_equal(card_of("tcp://[2001:db8::7:*"), "none");
    assert_string_equal(card_of("tcp://2001:db8::7]:*"), "none");
    assert_string_equal(card_of("tcp://[2001:db8::8]:*"), "none");
    assert_string_equal(card_of("tcp://eth4:1"), "eth4");
    assert_string_equal(card_of("tcp://eth0:1"), "eth0");
    assert_string_equal(card_of("tcp://[]:1"), "none");
    assert_string_equal(card_of("tcp://:1"), "none");
    assert_string_equal(card_of("ipc://eth4:1"), "none");
    cards = NULL;
}

/* A name has at most FBY_ENDPOINT_SIZE - 1 bytes. */
static void a_host_name_is_not_truncated(void **state)
{
    (void)state;
    enum { LONGEST = FBY_ENDPOINT_SIZE - 1 };
    char           endpoint[LONGEST + 16];
    char           name[LONGEST + 2] = {0};
    struct ifaddrs all               = {.ifa_name = name};
    cards                            = &all;
    memset(name, 'e', LONGEST);
    snprintf(endpoint, sizeof(endpoint), "tcp://%s:1", name);
    assert_int_equal(strlen(card_of(endpoint)), IF_NAMESIZE - 1);
    name[LONGEST] = 'e';
    snprintf(endpoint, sizeof(endpoint), "tcp://%s:1", name);
    assert_string_equal(card_of(endpoint), "none");
    cards = NULL;
}

#define IN_ROOT(test) \
    cmocka_unit_test_setup_teardown(test, make_machine, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ROOT(the_node_of_the_card_is_preferred),
        IN_ROOT(only_allowed_cpus_are_preferred),
        IN_ROOT(a_card_without_a_node_prefers_nothing),
        IN_ROOT(on_one_node_nothing_is_preferred),
        IN_ROOT(a_virtio_card_is_where_its_pci_device_is),
        IN_ROOT(a_bond_is_where_all_its_cards_are),
        IN_ROOT(only_four_layers_of_lower_cards_are_searched),
        cmocka_unit_test(an_address_belongs_to_a_card),
        cmocka_unit_test(addresses_of_both_kinds_are_found),
        cmocka_unit_test(a_host_name_is_not_truncated),
    };
    return cmocka_run_group_tests_name("worker.numa", tests, NULL, NULL);
}
