/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/worker/source/sandbox.h"
#include "worker/source/listing.h"

/* A sorted listing of `n` files whose names are the even numbers. */
static struct fby_listing list_even(unsigned n)
{
    struct fby_listing listing = {0};
    for (unsigned i = n; i > 0; i--) {
        char             name[16];
        struct fby_entry entry = {.name = name};
        snprintf(name, sizeof(name), "%03u", 2 * i);
        assert_int_equal(fby_listing_add(&listing, &entry, NULL), FBY_OK);
    }
    fby_listing_sort(&listing);
    return listing;
}

static void each_entry_is_found_and_no_other(void **state)
{
    (void)state;
    for (unsigned n = 0; n <= 9; n++) {
        struct fby_listing listing = list_even(n);
        for (unsigned i = 0; i <= 2 * n + 2; i++) {
            char name[16];
            snprintf(name, sizeof(name), "%03u", i);
            const struct fby_entry *found = fby_listing_find(&listing, name);
            if (i % 2 == 0 && i > 0 && i <= 2 * n) {
                assert_ptr_equal(found, &listing.entries[i / 2 - 1]);
            } else {
                assert_null(found);
            }
        }
        fby_listing_fini(&listing);
    }
}

static void names_are_found_whole_and_by_their_bytes(void **state)
{
    static const char *const names[] = {
        "a", "a.jpg", "A.jpg", "ab", "\xc3\xa9", "Z", "a b"};
    const struct sandbox  *sb      = *state;
    const struct fby_root *root    = NULL;
    struct fby_listing     listing = {0};
    assert_int_equal(fby_roots_find(sb->roots, "data", &root, NULL), FBY_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[32];
        snprintf(
            path, sizeof(path), "data/p/%s%s", names[i], i == 0 ? "/x" : "");
        sandbox_write_text(sb, path, "x");
    }
    assert_int_equal(fby_listing_read(root, "p", NULL, &listing, NULL), FBY_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct fby_entry *found = fby_listing_find(&listing, names[i]);
        assert_non_null(found);
        assert_string_equal(found->name, names[i]);
        assert_int_equal(found->is_dir, i == 0);
    }
    assert_null(fby_listing_find(&listing, ""));
    assert_null(fby_listing_find(&listing, "a."));
    assert_null(fby_listing_find(&listing, "B"));
    assert_null(fby_listing_find(&listing, "\xff"));
    fby_listing_fini(&listing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_is_found_and_no_other),
        IN_SANDBOX(names_are_found_whole_and_by_their_bytes),
    };
    return cmocka_run_group_tests_name(
        "worker.source.listing", tests, NULL, NULL);
}
