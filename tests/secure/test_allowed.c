/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/allowed.h"

#include <stdio.h>
#include <string.h>

#include "tests/says.h"

#define KEY_A "00000000000000000000000000000000000000000000000000000000000000aa"
#define KEY_B "00000000000000000000000000000000000000000000000000000000000000bb"

static void entries_have_their_limits(void **state)
{
    (void)state;
    static const char text[] = "# keys\n\n" KEY_A " worker w\n" KEY_B
                               "  trainer alice\troots=in1k,coco jobs=a-*\r\n";
    struct fby_allowed      list = {0};
    struct fby_error_detail why  = {""};
    assert_ok(fby_allowed_parse(text, strlen(text), &list, &why));
    assert_int_equal(list.n, 2);
    assert_int_equal(list.keys[0].role, FBY_ROLE_WORKER);
    assert_null(list.keys[0].roots);
    assert_true(fby_allowed_permits_job(&list.keys[0], "any"));
    const struct fby_allowed_key *alice = &list.keys[1];
    assert_string_equal(alice->name, "alice");
    assert_int_equal(alice->n_roots, 2);
    assert_string_equal(alice->roots, "in1k");
    assert_string_equal(alice->roots + 5, "coco");
    assert_true(fby_allowed_permits_job(alice, "a-1"));
    assert_false(fby_allowed_permits_job(alice, "b-1"));
    struct fby_key key;
    assert_true(fby_key_parse_text(KEY_B, &key));
    assert_ptr_equal(fby_allowed_find(&list, &key), alice);
    key.bytes[0] = 1;
    assert_null(fby_allowed_find(&list, &key));
    fby_allowed_fini(&list);
}

/* A key whose bytes are not in the order of the numbers. */
static struct fby_key numbered_key(uint32_t number)
{
    return (struct fby_key){
        {(uint8_t)(number * 37), (uint8_t)(number >> 8), (uint8_t)number}};
}

static void each_key_of_a_long_list_is_found(void **state)
{
    (void)state;
    struct fby_buffer  text = {0};
    struct fby_allowed list = {0};
    for (uint32_t i = 0; i < FBY_ALLOWED_MAX_KEYS; i++) {
        struct fby_key_file file = {
            .role = FBY_ROLE_WORKER, .public_key = numbered_key(i)};
        snprintf(file.name, sizeof(file.name), "w%u", i);
        fby_allowed_put_line(&text, &file, NULL, NULL);
    }
    assert_ok(
        fby_allowed_parse((const char *)text.data, text.size, &list, NULL));
    for (uint32_t i = 0; i < FBY_ALLOWED_MAX_KEYS; i++) {
        struct fby_key key = numbered_key(i);
        assert_ptr_equal(fby_allowed_find(&list, &key), &list.keys[i]);
    }
    struct fby_key unknown = {{1, 0, 0, 1}};
    assert_null(fby_allowed_find(&list, &unknown));
    fby_allowed_fini(&list);
    fby_buffer_fini(&text);
}

static void a_line_that_was_put_is_read(void **state)
{
    (void)state;
    const struct fby_key_file file =
        fby_key_file_generate(FBY_ROLE_TRAINER, "t", &(struct fby_key){{1}});
    struct fby_buffer  text = {0};
    struct fby_allowed list = {0};
    fby_allowed_put_line(&text, &file, "a,b", "j*");
    assert_ok(
        fby_allowed_parse((const char *)text.data, text.size, &list, NULL));
    assert_non_null(fby_allowed_find(&list, &file.public_key));
    assert_int_equal(list.keys[0].n_roots, 2);
    assert_string_equal(list.keys[0].jobs, "j*");
    fby_allowed_fini(&list);
    fby_buffer_fini(&text);
}

static void a_wrong_line_is_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {KEY_A " worker", "line 1: too short"},
        {"12 worker w", "line 1: the public key is not 64"},
        {"\n" KEY_A " server s", "line 2: 'server' is not a role"},
        {KEY_A " worker a/b", "line 1: 'a/b' is not the name of a key"},
        {KEY_A " trainer a roots=", "line 1: 'roots=' is not roots="},
        {KEY_A " trainer a roots=x,,y", "line 1: 'roots=x,,y' is not"},
        {KEY_A " trainer a jobs=", "line 1: 'jobs=' is not"},
        {KEY_A " trainer a jobs=b jobs=c", "is there twice"},
        {KEY_A " trainer a root=b", "line 1: 'root=b' is not"},
        {KEY_A " worker a\n" KEY_B " trainer a", "line 2: 'a' has the name"},
        {KEY_A " worker a\n" KEY_A " worker b", "line 2: 'b' has the name"},
        {KEY_B " worker a\n" KEY_A " worker b\n\n" KEY_B " worker c",
            "line 4: 'c' has the name or the key of 'a' above"},
        {"\xff", "not UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_allowed      list = {0};
        struct fby_error_detail why  = {""};
        assert_int_equal(
            fby_allowed_parse(cases[i][0], strlen(cases[i][0]), &list, &why),
            FBY_CONFIG);
        assert_says(&why, cases[i][1]);
        assert_int_equal(list.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_have_their_limits),
        cmocka_unit_test(each_key_of_a_long_list_is_found),
        cmocka_unit_test(a_line_that_was_put_is_read),
        cmocka_unit_test(a_wrong_line_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
