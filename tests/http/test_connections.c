/* SPDX-License-Identifier: Apache-2.0 */
/* Which connections must end, at made-up times. */
#include "tests/test.h"

#include "http/connections.h"

enum { LIMIT = 10 };

static struct fby_http_connections crowd(uint32_t n)
{
    struct fby_http_connections self = {0};
    for (uint32_t i = 0; i < n; i++) {
        fby_http_connections_add(&self, 100 + (int)i, i);
    }
    return self;
}

static void a_connection_must_end_at_its_deadline(void **state)
{
    struct fby_http_connections self = crowd(3); /* at 0, 1 and 2 */
    (void)state;
    assert_int_equal(fby_http_connections_due(&self, 9, LIMIT), 0);
    assert_int_equal(fby_http_connections_due(&self, 10, LIMIT), 1);
    assert_int_equal(fby_http_connections_due(&self, 12, LIMIT), 3);
    fby_http_connections_remove(&self, 100);
    assert_int_equal(self.list[0].fd, 101);
    assert_int_equal(fby_http_connections_due(&self, 10, LIMIT), 0);
}

static void in_a_crowd_the_oldest_must_end(void **state)
{
    struct fby_http_connections self = crowd(FBY_HTTP_CONNECTIONS);
    (void)state;
    assert_int_equal(fby_http_connections_due(&self, 0, LIMIT),
        FBY_HTTP_CONNECTIONS - FBY_HTTP_CROWDED);
    for (int i = FBY_HTTP_CROWDED; i < FBY_HTTP_CONNECTIONS; i++) {
        fby_http_connections_remove(&self, 100 + i);
    }
    assert_int_equal(fby_http_connections_due(&self, 0, LIMIT), 0);
}

static void an_unknown_connection_is_ignored(void **state)
{
    struct fby_http_connections self = crowd(2);
    (void)state;
    fby_http_connections_remove(&self, 5);
    assert_int_equal(self.n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_must_end_at_its_deadline),
        cmocka_unit_test(in_a_crowd_the_oldest_must_end),
        cmocka_unit_test(an_unknown_connection_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
