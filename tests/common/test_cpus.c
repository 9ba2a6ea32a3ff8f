/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <pthread.h>
#include <string.h>

#include "common/cpus.h"

static cpu_set_t set_of(const char *text)
{
    cpu_set_t               set;
    struct fby_error_detail why;
    assert_ok(fby_cpus_parse(text, &set, &why));
    return set;
}

static void a_list_names_numbers_and_ranges(void **state)
{
    (void)state;
    cpu_set_t set = set_of("0-3,8,10-11\n");
    assert_int_equal(CPU_COUNT(&set), 7);
    assert_true(CPU_ISSET(0, &set));
    assert_true(CPU_ISSET(3, &set));
    assert_false(CPU_ISSET(4, &set));
    assert_true(CPU_ISSET(8, &set));
    assert_true(CPU_ISSET(11, &set));
    set = set_of("1023");
    assert_int_equal(CPU_COUNT(&set), 1);
}

static void what_is_no_list_is_refused_in_words(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "\n", "a", "-1", "1-", "3-1", "1,",
        ",1", "1 2", "1;2", "0x1", "1024", "0-1024", "99999999999999999999",
        "1-2-3", "+1", " 1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cpu_set_t               set;
        struct fby_error_detail why = {{0}};
        assert_int_equal(fby_cpus_parse(wrong[i], &set, &why), FBY_USAGE);
        assert_non_null(strstr(why.text, "0-3,8"));
    }
}

static void a_set_is_shown_as_the_list_it_was(void **state)
{
    (void)state;
    static const char *const lists[] = {"0", "0-3,8", "1,3,5", "0-1023", "7-8"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        cpu_set_t set = set_of(lists[i]);
        assert_string_equal(fby_cpus_format(&set).text, lists[i]);
    }
}

static void a_long_list_is_cut(void **state)
{
    (void)state;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu += 2) {
        CPU_SET(cpu, &set);
    }
    struct fby_cpus_text shown = fby_cpus_format(&set);
    assert_true(strlen(shown.text) < sizeof(shown.text));
    assert_string_equal(shown.text + strlen(shown.text) - 4, ",...");
}

static void a_cpu_that_is_not_there_or_not_allowed_is_named(void **state)
{
    (void)state;
    cpu_set_t               online  = set_of("0-7");
    cpu_set_t               allowed = set_of("0-3");
    cpu_set_t               asked   = set_of("1-3");
    struct fby_error_detail why     = {{0}};
    assert_ok(fby_cpus_check(&asked, &allowed, &online, &why));
    asked = set_of("2-5");
    assert_int_equal(
        fby_cpus_check(&asked, &allowed, &online, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "CPU 4 is not allowed"));
    assert_non_null(strstr(why.text, "this process to 0-3"));
    asked = set_of("2,9");
    assert_int_equal(
        fby_cpus_check(&asked, &allowed, &online, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "CPU 9 is not online"));
    assert_non_null(strstr(why.text, "has 0-7"));
}

struct confined { /* a thread that confines itself to one CPU */
    cpu_set_t one;
    cpu_set_t found;
};

static void *run_confined(void *opaque)
{
    struct confined        *self = opaque;
    struct fby_error_detail why  = {{0}};
    if (fby_cpus_bind_thread(&self->one, &why) != FBY_OK ||
        fby_cpus_read_allowed(&self->found) != FBY_OK) {
        CPU_ZERO(&self->found);
    }
    return NULL;
}

static void a_thread_stays_where_it_is_kept(void **state)
{
    (void)state;
    struct confined self;
    cpu_set_t       before;
    cpu_set_t       after;
    pthread_t       thread;
    assert_ok(fby_cpus_read_allowed(&before));
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &before)) {
        cpu++;
    }
    CPU_ZERO(&self.one);
    CPU_SET(cpu, &self.one);
    pthread_create(&thread, NULL, run_confined, &self);
    pthread_join(thread, NULL);
    assert_true(CPU_EQUAL(&self.found, &self.one));
    assert_ok(fby_cpus_read_allowed(&after));
    assert_true(
        CPU_EQUAL(&after, &before)); /* other threads are not confined */
}

static void this_machine_has_no_cpu_1023(void **state)
{
    (void)state;
    cpu_set_t               set;
    struct fby_error_detail why = {{0}};
    assert_int_equal(fby_cpus_parse_usable("1023", &set, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "CPU 1023 is not"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_names_numbers_and_ranges),
        cmocka_unit_test(what_is_no_list_is_refused_in_words),
        cmocka_unit_test(a_set_is_shown_as_the_list_it_was),
        cmocka_unit_test(a_long_list_is_cut),
        cmocka_unit_test(a_cpu_that_is_not_there_or_not_allowed_is_named),
        cmocka_unit_test(a_thread_stays_where_it_is_kept),
        cmocka_unit_test(this_machine_has_no_cpu_1023),
    };
    return cmocka_run_group_tests_name("common.cpus", tests, NULL, NULL);
}
