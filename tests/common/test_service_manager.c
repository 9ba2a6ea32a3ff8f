/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that a service manager receives. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/service_manager.h"

#define S FBY_NS_PER_S

static int  manager; /* its socket */
static char path[64];

/* A manager in the abstract namespace, as systemd has one in containers. */
static int start_manager(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(path, sizeof(path), "@forebay-test-%d", (int)getpid());
    memcpy(address.sun_path, path, (size_t)n);
    address.sun_path[0] = '\0';
    manager             = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(
        bind(manager, (struct sockaddr *)&address,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)),
        0);
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    setenv("NOTIFY_SOCKET", path, 1);
    return 0;
}

static int stop_manager(void **state)
{
    (void)state;
    return close(manager);
}

/* The next message; "": none. */
static const char *received(void)
{
    static char text[128];
    ssize_t     n       = recv(manager, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void a_state_is_sent(void **state)
{
    (void)state;
    struct fby_service_manager self = fby_service_manager_open();
    fby_service_manager_tell(&self, "READY=1\nSTATUS=here");
    assert_string_equal(received(), "READY=1\nSTATUS=here");
    fby_service_manager_tick(&self, S); /* there is no watchdog */
    assert_string_equal(received(), "");
    fby_service_manager_close(&self);
}

static void a_watchdog_hears_four_times_as_often_as_it_must(void **state)
{
    (void)state;
    setenv("WATCHDOG_USEC", "8000000", 1);
    struct fby_service_manager self = fby_service_manager_open();
    fby_service_manager_tick(&self, S);
    assert_string_equal(received(), "WATCHDOG=1");
    fby_service_manager_tick(&self, 3 * S - 1);
    assert_string_equal(received(), "");
    fby_service_manager_tick(&self, 3 * S);
    assert_string_equal(received(), "WATCHDOG=1");
    fby_service_manager_close(&self);
}

static void a_time_that_is_no_number_is_no_watchdog(void **state)
{
    (void)state;
    static const char *const times[] = {"", "0", "-1", "8000000x", "abc"};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        setenv("WATCHDOG_USEC", times[i], 1);
        struct fby_service_manager self = fby_service_manager_open();
        assert_int_equal(self.period_ns, 0);
        fby_service_manager_close(&self);
    }
    fby_service_manager_hide();
    assert_null(getenv("WATCHDOG_USEC"));
    assert_null(getenv("NOTIFY_SOCKET"));
}

static void a_watchdog_of_another_process_hears_nothing(void **state)
{
    (void)state;
    setenv("WATCHDOG_USEC", "8000000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    struct fby_service_manager self = fby_service_manager_open();
    fby_service_manager_tick(&self, S);
    assert_string_equal(received(), "");
    fby_service_manager_close(&self);
}

static void without_a_manager_nothing_is_sent(void **state)
{
    (void)state;
    char        endless[300];
    const char *names[] = {
        NULL, "", "@", "relative", "/nowhere/socket", endless};
    memset(endless, '/', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i] == NULL) {
            unsetenv("NOTIFY_SOCKET");
        } else {
            setenv("NOTIFY_SOCKET", names[i], 1);
        }
        struct fby_service_manager self = fby_service_manager_open();
        assert_int_equal(self.fd, -1);
        fby_service_manager_tell(&self, "READY=1");
        fby_service_manager_close(&self);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_state_is_sent, start_manager, stop_manager),
        cmocka_unit_test_setup_teardown(
            a_watchdog_hears_four_times_as_often_as_it_must, start_manager,
            stop_manager),
        cmocka_unit_test_setup_teardown(a_time_that_is_no_number_is_no_watchdog,
            start_manager, stop_manager),
        cmocka_unit_test_setup_teardown(
            a_watchdog_of_another_process_hears_nothing, start_manager,
            stop_manager),
        cmocka_unit_test_setup_teardown(
            without_a_manager_nothing_is_sent, start_manager, stop_manager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
