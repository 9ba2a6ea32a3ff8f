/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "common/bytes.h"
#include "tests/guard.h"

static void numbers_come_back_as_they_were_put(void **state)
{
    (void)state;
    static const uint8_t right[] = {
        0xfe, 0x02, 0x01, 6, 5, 4, 3, 14, 13, 12, 11, 10, 9, 8, 7};
    struct fby_buffer b = {0};
    fby_put_u8(&b, 0xfe);
    fby_put_u16(&b, 0x0102);
    fby_put_u32(&b, 0x03040506);
    fby_put_u64(&b, UINT64_C(0x0708090a0b0c0d0e));
    assert_int_equal(b.size, sizeof(right));
    assert_memory_equal(b.data, right, sizeof(right));
    struct fby_reader r = fby_reader(b.data, b.size);
    assert_int_equal(fby_read_u8(&r), 0xfe);
    assert_int_equal(fby_read_u16(&r), 0x0102);
    assert_int_equal(fby_read_u32(&r), 0x03040506);
    assert_true(fby_read_u64(&r) == UINT64_C(0x0708090a0b0c0d0e));
    assert_true(r.left == 0 && !r.bad);
    fby_buffer_fini(&b);
}

static void a_reader_that_went_too_far_stays_bad(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3};
    struct fby_reader    r       = fby_reader(bytes, sizeof(bytes));
    assert_int_equal(fby_read_u32(&r), 0);
    assert_true(r.bad);
    assert_int_equal(fby_read_u8(&r), 0);
    assert_null(fby_read_bytes(&r, 0));
}

static void a_buffer_grows_and_keeps_what_it_holds(void **state)
{
    (void)state;
    struct fby_buffer b = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        fby_put_u32(&b, i);
    }
    fby_put_bytes(&b, NULL, 0);
    assert_int_equal(b.size, 40000);
    struct fby_reader r = fby_reader(b.data, b.size);
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(fby_read_u32(&r), i);
    }
    fby_buffer_fini(&b);
    assert_null(b.data);
}

/* Capacities are 64, 128, ... whether bytes are added at once or in turn. */
static void a_buffer_has_room_for_what_it_holds(void **state)
{
    (void)state;
    static const uint8_t many[300] = {7};
    for (size_t first = 0; first <= 130; first++) {
        for (size_t second = 0; second <= 260; second++) {
            struct fby_buffer b    = {0};
            size_t            room = first + second > 0 ? 64 : 0;
            fby_put_bytes(&b, many, first);
            fby_put_bytes(&b, many, second);
            while (room < first + second) {
                room *= 2;
            }
            assert_int_equal(b.size, first + second);
            assert_int_equal(b.capacity, room);
            fby_buffer_fini(&b);
            assert_int_equal(b.size + b.capacity, 0);
        }
    }
}

static void a_reader_reads_to_the_end_and_no_further(void **state)
{
    (void)state;
    struct fby_guarded bytes = fby_guarded_copy("\1\2\3", 3);
    struct fby_reader  r     = fby_reader(bytes.bytes, 3);
    assert_ptr_equal(fby_read_bytes(&r, 2), bytes.bytes);
    assert_int_equal(r.left, 1);
    assert_int_equal(fby_read_u8(&r), 3);
    assert_ptr_equal(fby_read_bytes(&r, 0), bytes.bytes + 3);
    assert_false(r.bad);
    assert_int_equal(fby_read_u8(&r), 0);
    assert_true(r.bad);
    for (size_t size = 0; size <= 8; size++) {
        r = fby_reader(bytes.bytes, 3);
        assert_int_equal(fby_read_le(&r, size) != 0, size > 0 && size <= 3);
        assert_int_equal(r.bad, size > 3);
        assert_int_equal(r.left, size <= 3 ? 3 - size : 3);
    }
    fby_guarded_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back_as_they_were_put),
        cmocka_unit_test(a_reader_that_went_too_far_stays_bad),
        cmocka_unit_test(a_buffer_grows_and_keeps_what_it_holds),
        cmocka_unit_test(a_buffer_has_room_for_what_it_holds),
        cmocka_unit_test(a_reader_reads_to_the_end_and_no_further),
    };
    return cmocka_run_group_tests_name("common.bytes", tests, NULL, NULL);
}
