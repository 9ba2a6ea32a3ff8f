/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that our own encoder does not write: damaged, cut short, or of another
 * implementation. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/proto/frames.h"

static void unknown_fields_are_passed_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_message m;
        struct fby_buffer  frame = example_frame(example_types[i]);
        put_number(&frame, 1000, 5);
        put_block(&frame, 1001, "later", 5);
        decode(seal(&frame), &m);
        fby_message_fini(&m);
        fby_buffer_fini(&frame);
    }
}

static void an_unknown_type_is_refused(void **state)
{
    (void)state;
    static const int none[] = {0, 26, 31, 38, 47, 58, 255};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct fby_buffer b = head((enum fby_message_type)none[i]);
        put_id(&b, 1, 1);
        assert_refused(seal(&b), "not a message type");
        fby_buffer_fini(&b);
    }
}

static void the_kind_of_a_frame_is_told_from_its_head(void **state)
{
    (void)state;
    uint8_t frame[] = {'F', 'B', 'Y', 'M', 1, 5, 0, 0};
    assert_int_equal(fby_frame_kind(frame, 8), FBY_FRAME_MESSAGE);
    assert_int_equal(fby_frame_kind(frame, 5), FBY_FRAME_MESSAGE);
    assert_int_equal(fby_frame_kind(frame, 4), FBY_FRAME_GARBAGE);
    assert_int_equal(fby_frame_kind(NULL, 0), FBY_FRAME_GARBAGE);
    frame[4] = 2;
    assert_int_equal(fby_frame_kind(frame, 8), FBY_FRAME_OTHER_VERSION);
    frame[4] = 1;
    frame[3] = 'C';
    assert_int_equal(fby_frame_kind(frame, 8), FBY_FRAME_CHUNK);
    frame[0] = 'G';
    assert_int_equal(fby_frame_kind(frame, 8), FBY_FRAME_GARBAGE);
}

static void a_head_cut_short_or_not_zeroed_is_refused(void **state)
{
    (void)state;
    struct fby_buffer frame = example_frame(FBY_MSG_PING);
    size_t            whole = frame.size;
    for (frame.size = 0; frame.size < FBY_MESSAGE_HEAD; frame.size++) {
        assert_refused(&frame, "do not begin with a message head");
    }
    frame.size    = whole;
    frame.data[6] = 1;
    assert_refused(seal(&frame), "not 0");
    fby_buffer_fini(&frame);
}

static void a_bit_that_changes_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_buffer frame = example_frame(example_types[i]);
        for (size_t bit = 0; bit < 8 * frame.size; bit++) {
            struct fby_message m;
            frame.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
            assert_int_equal(
                fby_message_decode(frame.data, frame.size, &m, NULL),
                FBY_PROTO);
            frame.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        fby_buffer_fini(&frame);
    }
}

static void a_damaged_message_is_called_so(void **state)
{
    (void)state;
    struct fby_buffer frame = example_frame(FBY_MSG_END);
    frame.data[frame.size - 1] ^= 1;
    assert_refused(&frame, "END: damaged in transit");
    fby_buffer_fini(&frame);
}

static void a_frame_cut_anywhere_is_refused_or_still_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_buffer frame = example_frame(example_types[i]);
        for (size_t size = 0; size < frame.size; size++) {
            struct fby_message m;
            struct fby_buffer  again = {0};
            uint8_t           *cut   = malloc(size + 1);
            memcpy(cut, frame.data, size);
            if (size >= FBY_MESSAGE_HEAD) {
                struct fby_buffer part = {.data = cut, .size = size};
                seal(&part);
            }
            if (fby_message_decode(cut, size, &m, NULL) == FBY_OK) {
                encode(&m, &again);
                fby_message_fini(&m);
            }
            fby_buffer_fini(&again);
            free(cut);
        }
        fby_buffer_fini(&frame);
    }
}

static void ids_are_never_zero(void **state)
{
    (void)state;
    struct fby_buffer ping = head(FBY_MSG_PING);
    assert_refused(seal(&ping), "PING.session: expected a number from 1");
    struct fby_buffer pong = head(FBY_MSG_PONG);
    put_id(&pong, 1, 1);
    put_id(&pong, 2, 1);
    put_id(&pong, 4, 0);
    assert_refused(seal(&pong), "PONG.open: expected ids");
    fby_buffer_fini(&ping);
    fby_buffer_fini(&pong);
}

static void what_is_absent_arrives_as_unknown_or_empty(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_buffer  b = head(FBY_MSG_STALE_DATA);
    put_id(&b, 1, 1);
    put_number(&b, 2, 1);
    decode(seal(&b), &m);
    assert_false(m.stale_data.data.known);
    assert_string_equal(m.stale_data.shard, "");
    fby_message_fini(&m);
    fby_buffer_fini(&b);
}

static void lists_are_bounded(void **state)
{
    (void)state;
    struct fby_buffer pong = example_frame(FBY_MSG_PONG);
    for (int i = 0; i < FBY_OPEN_REQUESTS_MAX - 2; i++) {
        put_id(&pong, 4, 1);
    }
    assert_refused(seal(&pong), "PONG.open");
    struct fby_buffer beat = example_frame(FBY_MSG_HEARTBEAT);
    for (int i = 0; i < FBY_COUNTERS_MAX - 1; i++) {
        put_block(&beat, 4, "\12\1a", 3);
    }
    assert_refused(seal(&beat), "HEARTBEAT.counters");
    fby_buffer_fini(&pong);
    fby_buffer_fini(&beat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_fields_are_passed_over),
        cmocka_unit_test(an_unknown_type_is_refused),
        cmocka_unit_test(the_kind_of_a_frame_is_told_from_its_head),
        cmocka_unit_test(a_head_cut_short_or_not_zeroed_is_refused),
        cmocka_unit_test(a_bit_that_changes_anywhere_is_refused),
        cmocka_unit_test(a_damaged_message_is_called_so),
        cmocka_unit_test(a_frame_cut_anywhere_is_refused_or_still_valid),
        cmocka_unit_test(ids_are_never_zero),
        cmocka_unit_test(what_is_absent_arrives_as_unknown_or_empty),
        cmocka_unit_test(lists_are_bounded),
    };
    return cmocka_run_group_tests_name(
        "proto.foreign_frames", tests, NULL, NULL);
}
