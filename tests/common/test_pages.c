/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "common/pages.h"

enum { PAGE = 4096 };

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static void check(size_t size)
{
    uint8_t *memory = fby_pages_map(size);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % PAGE, 0);
    assert_true(is_zero(memory, size));
    memset(memory, 7, size);
    fby_pages_unmap(memory, size);
}

static void memory_of_any_size_is_zeroed_and_writable(void **state)
{
    (void)state;
    check(1);
    check(PAGE + 1);
    check(FBY_HUGE_PAGE - 1);
    check(FBY_HUGE_PAGE);
    check((size_t)3 * FBY_HUGE_PAGE + (size_t)5 * PAGE + 1);
    fby_pages_unmap(NULL, 0);
}

/* True if a page is mapped: mincore() fails for others. */
static bool is_mapped(void *page)
{
    unsigned char resident;
    return mincore(page, PAGE, &resident) == 0;
}

static void large_memory_begins_at_a_huge_page_and_has_no_tail(void **state)
{
    (void)state;
    size_t   size   = (size_t)2 * FBY_HUGE_PAGE + PAGE;
    uint8_t *memory = fby_pages_map(size);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % FBY_HUGE_PAGE, 0);
    assert_true(is_mapped(memory + size - PAGE));
    assert_false(is_mapped(memory + size));
    fby_pages_unmap(memory, size);
    assert_false(is_mapped(memory));
}

static void what_cannot_be_had_is_null(void **state)
{
    (void)state;
    assert_null(fby_pages_map(SIZE_MAX));
    assert_null(fby_pages_map(SIZE_MAX / 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_any_size_is_zeroed_and_writable),
        cmocka_unit_test(large_memory_begins_at_a_huge_page_and_has_no_tail),
        cmocka_unit_test(what_cannot_be_had_is_null),
    };
    return cmocka_run_group_tests_name("common.pages", tests, NULL, NULL);
}
