/* SPDX-License-Identifier: Apache-2.0 */
/* The most bytes of each message, and the most memory that unpacking one may
 * take. */
#include "tests/test.h"

#include <stdlib.h>

#include "tests/proto/frames.h"

static size_t most_bytes(enum fby_message_type type)
{
    switch ((int)type) {
    case FBY_MSG_OPENED:
    case FBY_MSG_END:
    case FBY_MSG_WORKERS:
        return 8 << 20;
    case FBY_MSG_OPEN:
        return (1 << 20) + (64 << 10);
    default:
        return 64 << 10;
    }
}

static void each_type_of_message_has_its_largest_size(void **state)
{
    (void)state;
    char *fill = calloc(1, 9 << 20);
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        enum fby_message_type type  = example_types[i];
        size_t                most  = most_bytes(type);
        struct fby_buffer     frame = example_frame(type);
        char                  wanted[80];
        struct fby_buffer     more = example_frame(type);
        size_t room = most - frame.size - 5; /* two of the tag, the length 3 */
        room -= room >= (1 << 21);
        put_block(&frame, 1000, fill, room);
        assert_int_equal(frame.size, most);
        assert_string_equal(decode_error(seal(&frame)), "");
        put_block(&more, 1000, fill, room + 1);
        snprintf(wanted, sizeof(wanted), "%s: %zu bytes, more than %zu",
            fby_message_name(type), most + 1, most);
        assert_string_equal(decode_error(seal(&more)), wanted);
        fby_buffer_fini(&more);
        fby_buffer_fini(&frame);
    }
    free(fill);
}

/* An entry of 2 bytes takes about 150 to unpack. */
static struct fby_buffer empty_entries(uint32_t n)
{
    struct fby_buffer b = example_frame(FBY_MSG_END);
    for (uint32_t i = 0; i < n; i++) {
        put_block(&b, 5, NULL, 0);
    }
    seal(&b);
    return b;
}

static void a_message_that_unpacks_to_far_more_is_refused(void **state)
{
    (void)state;
    struct fby_buffer few  = empty_entries(300);
    struct fby_buffer many = empty_entries(900);
    struct fby_buffer most = empty_entries(1 << 19);
    assert_string_equal(
        decode_error(&few), "END: substituted row 0: rows must ascend");
    assert_string_equal(
        decode_error(&many), "END: the body is not valid protobuf");
    assert_string_equal(
        decode_error(&most), "END: the body is not valid protobuf");
    fby_buffer_fini(&most);
    fby_buffer_fini(&many);
    fby_buffer_fini(&few);
}

/* 20,000 entries of 2 bytes. So many would be refused anyway, but only after
 * the memory limit. Unpacked they take 16 times the bytes of the entries plus
 * 162,000 bytes of a skipped field. */
static const char *entries_beside(size_t passed_over)
{
    static const char zeros[170000];
    struct fby_buffer b = empty_entries(20000);
    put_block(&b, 1000, zeros, passed_over);
    const char *why = decode_error(seal(&b));
    fby_buffer_fini(&b);
    return why;
}

static void a_message_unpacks_to_16_times_its_size(void **state)
{
    (void)state;
    assert_string_equal(
        entries_beside(156000), "END: the body is not valid protobuf");
    assert_string_equal(entries_beside(169000),
        "END.substituted: expected entries, 0 to 1024 of them");
}

/* Count the frames that end in each of `errors`, among those with 200 to 1,000
 * copies of `one` behind an example. The memory limit is reached in the
 * protobuf, in the array of entries, or in the memory of one entry. */
static void count_errors(enum fby_message_type type,
    const struct fby_buffer *one, const char *const errors[3], int n_seen[3])
{
    struct fby_buffer frame = example_frame(type);
    for (uint32_t n = 1; n <= 1000; n++) {
        fby_put_bytes(&frame, one->data, one->size);
        const char *why = n >= 200 ? decode_error(seal(&frame)) : "";
        for (int i = 0; i < 3; i++) {
            n_seen[i] += strcmp(why, errors[i]) == 0;
        }
    }
    fby_buffer_fini(&frame);
}

static void the_memory_limit_may_be_reached_at_any_place(void **state)
{
    (void)state;
    static const char *const of_end[] = {"END: the body is not valid protobuf",
        "END.substituted: expected entries, 0 to 1024 of them",
        "END: substituted row 0: rows must ascend"};
    static const char *const of_workers[] = {
        "WORKERS: the body is not valid protobuf",
        "WORKERS.added: expected entries, 0 to 8192 of them",
        ("WorkerInfo.instance: expected a number from 1 to "
         "18446744073709551615")};
    for (int i = 0; i < 2; i++) {
        int               n[3] = {0};
        struct fby_buffer one  = {0};
        if (i == 0) { /* with the name of a shard */
            put_block(&one, 5, "\42\1k", 3);
            count_errors(FBY_MSG_END, &one, of_end, n);
        } else { /* with an endpoint */
            put_block(&one, 5, "\22\1a", 3);
            count_errors(FBY_MSG_WORKERS, &one, of_workers, n);
        }
        assert_int_equal(n[0] + n[1] + n[2], 801);
        assert_true(n[0] > 0 && n[1] > 0 && n[2] > 0);
        fby_buffer_fini(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_of_message_has_its_largest_size),
        cmocka_unit_test(a_message_that_unpacks_to_far_more_is_refused),
        cmocka_unit_test(a_message_unpacks_to_16_times_its_size),
        cmocka_unit_test(the_memory_limit_may_be_reached_at_any_place),
    };
    return cmocka_run_group_tests_name("proto.message_size", tests, NULL, NULL);
}
