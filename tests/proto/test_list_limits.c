/* SPDX-License-Identifier: Apache-2.0 */
/* The maximum entries of each list of a message, and the maximum bytes of a
 * name in a list: the maximum is accepted, one more is refused by name. */
#include "tests/test.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/proto/frames.h"

static void lists_of_numbers_are_bounded(void **state)
{
    (void)state;
    static uint64_t    many[65537];
    struct fby_message m;
    for (size_t i = 0; i < 65537; i++) {
        many[i] = i + 1;
    }
    example(FBY_MSG_WELCOME, &m);
    m.welcome.requests.at = (const struct fby_request_id *)many;
    m.welcome.requests.n  = 1024;
    assert_string_equal(encode_error(&m), "");
    m.welcome.requests.n++;
    assert_string_equal(encode_error(&m),
        "WELCOME.open: expected ids, none of them 0, 0 to 1024 of them");
    example(FBY_MSG_PONG, &m);
    m.pong.requests.at = (const struct fby_request_id *)many;
    m.pong.requests.n  = 1024;
    assert_string_equal(encode_error(&m), "");
    m.pong.requests.n++;
    assert_string_equal(encode_error(&m),
        "PONG.open: expected ids, none of them 0, 0 to 1024 of them");
    example(FBY_MSG_WORKERS, &m);
    m.workers.removed.at = (const struct fby_instance_id *)many;
    m.workers.removed.n  = 8192;
    assert_string_equal(encode_error(&m), "");
    m.workers.removed.n++;
    assert_string_equal(encode_error(&m),
        "WORKERS.removed: expected ids, none of them 0, 0 to 8192 of them");
    example(FBY_MSG_END, &m);
    m.end.samples   = many;
    m.end.n_samples = 65536;
    assert_string_equal(encode_error(&m), "");
    m.end.n_samples++;
    assert_string_equal(
        encode_error(&m), "END.samples: expected numbers, 0 to 65536 of them");
}

static void no_id_in_a_list_is_0(void **state)
{
    (void)state;
    struct fby_request_id three[3] = {{7}, {8}, {9}};
    struct fby_message    m;
    for (size_t i = 0; i < 3; i++) {
        struct fby_request_id kept = three[i];
        three[i].value             = 0;
        example(FBY_MSG_PONG, &m);
        m.pong.requests.at = three;
        m.pong.requests.n  = 3;
        assert_string_equal(encode_error(&m),
            "PONG.open: expected ids, none of them 0, 0 to 1024 of them");
        three[i] = kept;
    }
    assert_string_equal(encode_error(&m), "");
    m.pong.requests.n = 0;
    assert_string_equal(encode_error(&m), "");
}

static void an_end_has_1_to_32_sums(void **state)
{
    (void)state;
    static const char   expected[] = "END.sums: expected sums of 16 bytes, "
                                     "1 to 32 of them";
    struct fby_checksum sums[33]   = {{{1}}};
    struct fby_message  m;
    example(FBY_MSG_END, &m);
    m.end.sums = sums;
    for (size_t n = 0; n <= 33; n++) {
        m.end.n_sums = n;
        assert_string_equal(
            encode_error(&m), n == 0 || n == 33 ? expected : "");
    }
    struct fby_buffer frame = example_frame(FBY_MSG_END);
    put_block(&frame, 4, sums, 17);
    assert_string_equal(decode_error(seal(&frame)), expected);
    fby_buffer_fini(&frame);
}

static const char *endpoints_error(const char *const *at, size_t n)
{
    struct fby_message m;
    example(FBY_MSG_REGISTER, &m);
    m.registration.endpoints = (struct fby_name_list){at, n};
    return encode_error(&m);
}

static const char *roots_error(const char *const *at, size_t n)
{
    struct fby_message m;
    example(FBY_MSG_REGISTER, &m);
    m.registration.roots = (struct fby_name_list){at, n};
    return encode_error(&m);
}

static void a_worker_has_1_to_16_endpoints_and_256_roots(void **state)
{
    (void)state;
    static const char endpoints[] =
        "REGISTER.endpoints: expected names in UTF-8 without NUL, "
        "1 to 16 of them";
    static const char roots[] =
        "REGISTER.roots: expected names in UTF-8 without NUL, 0 to 256 of them";
    const char *many[257];
    for (size_t i = 0; i < 257; i++) {
        many[i] = "a";
    }
    assert_string_equal(endpoints_error(many, 0), endpoints);
    assert_string_equal(endpoints_error(many, 1), "");
    assert_string_equal(endpoints_error(many, 16), "");
    assert_string_equal(endpoints_error(many, 17), endpoints);
    assert_string_equal(roots_error(many, 0), "");
    assert_string_equal(roots_error(many, 256), "");
    assert_string_equal(roots_error(many, 257), roots);
}

static void names_in_lists_have_their_size(void **state)
{
    (void)state;
    static const char endpoints[] =
        "REGISTER.endpoints: expected names in UTF-8 without NUL, "
        "1 to 16 of them";
    char        longest[257];
    const char *two[2] = {"a", longest};
    memset(longest, 'x', sizeof(longest));
    for (int i = 0; i < 2; i++) { /* either of the two is too long */
        longest[256] = '\0';
        assert_string_equal(endpoints_error(two, 2), endpoints);
        longest[255] = '\0';
        assert_string_equal(endpoints_error(two, 2), "");
        assert_non_null(strstr(roots_error(two, 2), "REGISTER.roots"));
        longest[64] = '\0';
        assert_non_null(strstr(roots_error(two, 2), "REGISTER.roots"));
        longest[63] = '\0';
        assert_string_equal(roots_error(two, 2), "");
        longest[0] = '\0';
        assert_string_equal(endpoints_error(two, 2), endpoints);
        longest[0] = '\xff';
        assert_string_equal(endpoints_error(two, 2), endpoints);
        memset(longest, 'x', sizeof(longest));
        two[0] = longest;
        two[1] = "a";
    }
}

static void no_name_in_a_list_has_a_nul(void **state)
{
    (void)state;
    struct fby_buffer frame = example_frame(FBY_MSG_REGISTER);
    put_block(&frame, 6, "a\0b", 3);
    assert_string_equal(decode_error(seal(&frame)),
        "REGISTER.roots: expected names in UTF-8 without NUL, 0 to 256 of "
        "them");
    fby_buffer_fini(&frame);
}

static void endpoints_of_a_worker_in_a_list_are_bounded_too(void **state)
{
    (void)state;
    struct fby_worker_info one = example_workers[0];
    const char            *many[17];
    struct fby_message     m;
    for (size_t i = 0; i < 17; i++) {
        many[i] = "a";
    }
    example(FBY_MSG_WORKERS, &m);
    m.workers.added   = &one;
    m.workers.n_added = 1;
    for (size_t n = 0; n <= 17; n++) {
        one.endpoints = (struct fby_name_list){many, n};
        assert_string_equal(encode_error(&m),
            n == 0 || n == 17 ? "WorkerInfo.endpoints: expected names in UTF-8 "
                                "without NUL, 1 to 16 of them"
                              : "");
    }
}

static void workers_and_counters_are_bounded(void **state)
{
    (void)state;
    struct fby_worker_info *workers = calloc(8193, sizeof(*workers));
    struct fby_counter      counters[257];
    struct fby_message      m;
    for (size_t i = 0; i < 8193; i++) {
        workers[i] = example_workers[1];
    }
    example(FBY_MSG_WORKERS, &m);
    m.workers.added   = workers;
    m.workers.n_added = 8192;
    assert_string_equal(encode_error(&m), "");
    m.workers.n_added = 8193;
    assert_string_equal(
        encode_error(&m), "WORKERS.added: expected entries, 0 to 8192 of them");
    for (size_t i = 0; i < 257; i++) {
        counters[i] = example_counters[0];
    }
    example(FBY_MSG_HEARTBEAT, &m);
    m.heartbeat.counters   = counters;
    m.heartbeat.n_counters = 256;
    assert_string_equal(encode_error(&m), "");
    m.heartbeat.n_counters = 257;
    assert_string_equal(encode_error(&m),
        "HEARTBEAT.counters: expected entries, 0 to 256 of them");
    free(workers);
}

static void shards_are_bounded(void **state)
{
    (void)state;
    enum { MOST = 1 << 17 };
    struct fby_shard_info *shards = calloc(MOST + 1, sizeof(*shards));
    char(*shard_names)[8]         = calloc(MOST + 1, sizeof(*shard_names));
    struct fby_message m;
    for (uint32_t i = 0; i <= MOST; i++) {
        snprintf(shard_names[i], sizeof(shard_names[i]), "%07" PRIu32, i);
        shards[i] = (struct fby_shard_info){.name = shard_names[i]};
    }
    example(FBY_MSG_OPENED, &m);
    m.opened.shards   = shards;
    m.opened.samples  = 0;
    m.opened.n_shards = MOST;
    assert_string_equal(encode_error(&m), "");
    m.opened.n_shards++;
    assert_string_equal(encode_error(&m),
        "OPENED.shards: expected entries, 0 to 131072 of them");
    free(shard_names);
    free(shards);
}

static void fields_and_substituted_rows_are_bounded(void **state)
{
    (void)state;
    struct fby_header_field fields[33];
    struct fby_substituted  rows[1025];
    char                    field_names[33][4];
    struct fby_message      m;
    for (uint32_t i = 0; i < 33; i++) {
        snprintf(field_names[i], sizeof(field_names[i]), "%02" PRIu32, i);
        fields[i]      = example_fields[1];
        fields[i].name = field_names[i];
    }
    example(FBY_MSG_HEADER, &m);
    m.header.fields = fields;
    for (size_t n = 0; n <= 33; n++) {
        m.header.n_fields = n;
        assert_string_equal(encode_error(&m),
            n == 0 || n == 33
                ? "HEADER.fields: expected entries, 1 to 32 of them"
                : "");
    }
    for (uint32_t i = 0; i < 1025; i++) {
        rows[i]     = example_substituted[0];
        rows[i].row = i;
    }
    example(FBY_MSG_END, &m);
    m.end.substituted   = rows;
    m.end.n_substituted = 1024;
    assert_string_equal(encode_error(&m), "");
    m.end.n_substituted = 1025;
    assert_string_equal(encode_error(&m),
        "END.substituted: expected entries, 0 to 1024 of them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_numbers_are_bounded),
        cmocka_unit_test(no_id_in_a_list_is_0),
        cmocka_unit_test(an_end_has_1_to_32_sums),
        cmocka_unit_test(a_worker_has_1_to_16_endpoints_and_256_roots),
        cmocka_unit_test(names_in_lists_have_their_size),
        cmocka_unit_test(no_name_in_a_list_has_a_nul),
        cmocka_unit_test(endpoints_of_a_worker_in_a_list_are_bounded_too),
        cmocka_unit_test(workers_and_counters_are_bounded),
        cmocka_unit_test(shards_are_bounded),
        cmocka_unit_test(fields_and_substituted_rows_are_bounded),
    };
    return cmocka_run_group_tests_name("proto.list_limits", tests, NULL, NULL);
}
