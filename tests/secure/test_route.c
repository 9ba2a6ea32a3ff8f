/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/route.h"

#include <sodium.h>
#include <string.h>

#include "tests/test.h"

enum { SIZE = 100, SEALED = SIZE + FBY_SEAL_BYTES };

struct ends { /* both ends of a direction, and what seals for both */
    struct fby_aead *aead;
    struct fby_lane  from, to;
};

static const struct fby_route_secrets secrets = {
    .session_key  = {{1, 2, 3}},
    .worker_nonce = {{4, 5, 6}},
    .client_nonce = {{7, 8, 9}},
    .cipher       = FBY_CIPHER_AES,
    .mode         = FBY_SECURE_FULL,
    .session      = {0x1122334455667788},
    .worker       = {0x99aabbccddeeff00},
};

static struct ends ends_create(void)
{
    struct ends      ends  = {0};
    struct fby_lanes lanes = {0};
    assert_ok(fby_aead_create(&ends.aead));
    assert_ok(fby_lanes_derive(&secrets, &lanes));
    ends.from = lanes.to_client;
    ends.to   = lanes.to_client;
    return ends;
}

static void seal_clear(
    struct ends *ends, uint8_t fill, size_t n_clear, uint8_t out[SEALED])
{
    struct fby_seal place = {0};
    uint8_t         frame[SIZE];
    memset(frame, fill, sizeof(frame));
    assert_ok(fby_lane_next(&ends->from, SIZE, &place));
    assert_ok(
        fby_seal_frame(ends->aead, &place, (struct fby_span){frame, n_clear},
            (struct fby_span){frame + n_clear, SIZE - n_clear}, out));
}

static void seal(struct ends *ends, uint8_t fill, uint8_t out[SEALED])
{
    seal_clear(ends, fill, 0, out);
}

/* Open a copy of the frame, as the receiver does. */
static fby_err open_copy(
    struct ends *ends, const uint8_t *sealed, size_t size, uint8_t *fill)
{
    struct fby_seal place = {0};
    uint8_t         frame[SEALED + 1];
    memcpy(frame, sealed, size);
    FBY_TRY(fby_lane_accept(&ends->to, frame, size, &place));
    FBY_TRY(fby_open_frame(ends->aead, &place, frame, size));
    *fill = frame[FBY_SEAL_HEAD];
    return FBY_OK;
}

/* docs/security.md has these bytes, for other implementations. */
static void keys_and_frames_are_those_of_the_documentation(void **state)
{
    (void)state;
    struct ends      ends  = ends_create();
    struct fby_lanes lanes = {0};
    struct fby_seal  place = {0};
    uint8_t          out[4 + FBY_SEAL_BYTES];
    char             text[2 * sizeof(out) + 1];
    assert_ok(fby_lanes_derive(&secrets, &lanes));
    assert_string_equal(sodium_bin2hex(text, sizeof(text),
                            lanes.to_worker.key.bytes, FBY_KEY_BYTES),
        "5d62ec1457f575269db36609cdd4e4e7b8e8710947854821b82915b585add3b8");
    assert_string_equal(sodium_bin2hex(text, sizeof(text),
                            lanes.to_client.key.bytes, FBY_KEY_BYTES),
        "16321d8b6f70d7f4b13dafed0d6f95b01560b8fa0576a151d14a96ab1b620ce5");
    assert_ok(fby_lane_next(&ends.from, 4, &place));
    assert_ok(fby_lane_next(&ends.from, 4, &place)); /* the second frame */
    assert_ok(fby_seal_frame(ends.aead, &place, (struct fby_span){0},
        (struct fby_span){"FBYM", 4}, out));
    assert_string_equal(sodium_bin2hex(text, sizeof(text), out, sizeof(out)),
        "46425953010000000100000000000000887766554433221192ad6a2ad8836c1c11be12"
        "2f3a8aff0e6fd8d0ba");
    fby_aead_destroy(&ends.aead);
}

/* Whatever differs in the secrets gives other keys, and so does a direction. */
static void each_secret_changes_the_keys(void **state)
{
    (void)state;
    struct fby_lanes         base  = {0};
    struct fby_lanes         other = {0};
    struct fby_route_secrets changed[7];
    for (int i = 0; i < 7; i++) {
        changed[i] = secrets;
    }
    changed[0].session_key.bytes[31] ^= 1;
    changed[1].worker_nonce.bytes[31] ^= 1;
    changed[2].client_nonce.bytes[31] ^= 1;
    changed[3].cipher = FBY_CIPHER_CHACHA;
    changed[4].mode   = FBY_SECURE_AUTH;
    changed[5].session.value ^= 1;
    changed[6].worker.value ^= 1;
    assert_ok(fby_lanes_derive(&secrets, &base));
    assert_memory_not_equal(
        base.to_client.key.bytes, base.to_worker.key.bytes, FBY_KEY_BYTES);
    for (int i = 0; i < 7; i++) {
        assert_ok(fby_lanes_derive(&changed[i], &other));
        assert_memory_not_equal(
            other.to_client.key.bytes, base.to_client.key.bytes, FBY_KEY_BYTES);
        assert_memory_not_equal(
            other.to_worker.key.bytes, base.to_worker.key.bytes, FBY_KEY_BYTES);
    }
}

static void frames_come_out_in_their_order_only(void **state)
{
    (void)state;
    struct ends ends = ends_create();
    uint8_t     frames[4][SEALED];
    uint8_t     fill = 0;
    for (uint8_t i = 0; i < 4; i++) {
        seal(&ends, i, frames[i]);
    }
    assert_int_equal(open_copy(&ends, frames[1], SEALED, &fill), FBY_PROTO);
    assert_ok(open_copy(&ends, frames[0], SEALED, &fill));
    assert_int_equal(open_copy(&ends, frames[0], SEALED, &fill), FBY_PROTO);
    assert_int_equal(open_copy(&ends, frames[2], SEALED, &fill), FBY_PROTO);
    for (uint8_t i = 1; i < 4; i++) {
        assert_ok(open_copy(&ends, frames[i], SEALED, &fill));
        assert_int_equal(fill, i);
    }
    fby_aead_destroy(&ends.aead);
}

static void no_bit_of_a_frame_can_change(void **state)
{
    (void)state;
    struct ends ends = ends_create();
    uint8_t     frame[SEALED];
    uint8_t     fill = 0;
    seal(&ends, 5, frame);
    const struct fby_lane before = ends.to;
    for (size_t bit = 0; bit < 8 * sizeof(frame); bit++) {
        ends.to = before;
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(open_copy(&ends, frame, SEALED, &fill), FBY_PROTO);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    for (size_t size = 0; size < SEALED; size++) {
        ends.to = before;
        assert_int_equal(open_copy(&ends, frame, size, &fill), FBY_PROTO);
    }
    ends.to = before;
    assert_ok(open_copy(&ends, frame, SEALED, &fill));
    fby_aead_destroy(&ends.aead);
}

/* The prefix of a chunk can be read before the frame is opened, but not
 * changed. */
static void bytes_in_the_clear_are_authenticated(void **state)
{
    (void)state;
    struct ends ends = ends_create();
    uint8_t     frame[SEALED];
    uint8_t     fill = 0;
    seal_clear(&ends, 5, FBY_SEAL_CLEAR, frame);
    const struct fby_lane before = ends.to;
    for (size_t i = 0; i < SIZE; i++) {
        uint8_t *byte = &frame[FBY_SEAL_HEAD + i];
        assert_true(i >= FBY_SEAL_CLEAR || *byte == 5);
        ends.to = before;
        *byte ^= 1;
        assert_int_equal(open_copy(&ends, frame, SEALED, &fill), FBY_PROTO);
        *byte ^= 1;
    }
    ends.to = before;
    assert_ok(open_copy(&ends, frame, SEALED, &fill));
    assert_int_equal(fill, 5);
    fby_aead_destroy(&ends.aead);
}

/* A frame of the other direction, or of another route, is refused. */
static void a_frame_of_another_lane_is_refused(void **state)
{
    (void)state;
    struct ends              ends  = ends_create();
    struct fby_lanes         lanes = {0};
    struct fby_route_secrets other = secrets;
    uint8_t                  frame[SEALED];
    uint8_t                  fill = 0;
    seal(&ends, 5, frame);
    assert_ok(fby_lanes_derive(&secrets, &lanes));
    ends.to = lanes.to_worker;
    assert_int_equal(open_copy(&ends, frame, SEALED, &fill), FBY_PROTO);
    other.client_nonce.bytes[0] ^= 1;
    assert_ok(fby_lanes_derive(&other, &lanes));
    ends.to = lanes.to_client;
    assert_int_equal(open_copy(&ends, frame, SEALED, &fill), FBY_PROTO);
    fby_aead_destroy(&ends.aead);
}

static void a_key_is_replaced_after_64_gib(void **state)
{
    (void)state;
    const uint64_t  limit = UINT64_C(64) << 30;
    struct ends     ends  = ends_create();
    struct fby_seal place = {0};
    uint8_t         frame[SEALED];
    uint8_t         fill = 0;
    for (uint64_t left = limit; left > 0;
         left -= left > 1U << 31 ? 1U << 31 : left) {
        size_t size = left > 1U << 31 ? 1U << 31 : left;
        assert_ok(fby_lane_next(&ends.from, size, &place));
    }
    assert_int_equal(place.generation, 0); /* exactly 64 GiB have the first */
    ends.to = ends.from;
    seal(&ends, 8, frame);
    assert_int_equal(frame[6], 1); /* the generation in the head */
    assert_memory_not_equal(
        ends.from.key.bytes, place.key.bytes, FBY_KEY_BYTES);
    frame[6] = 0;
    assert_int_equal(open_copy(&ends, frame, SEALED, &fill), FBY_PROTO);
    frame[6] = 1;
    assert_ok(open_copy(&ends, frame, SEALED, &fill));
    assert_int_equal(fill, 8);
    ends.from.generation = UINT16_MAX;
    ends.from.key_bytes  = limit;
    assert_int_equal(fby_lane_next(&ends.from, 1, &place), FBY_GONE);
    fby_aead_destroy(&ends.aead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_frames_are_those_of_the_documentation),
        cmocka_unit_test(each_secret_changes_the_keys),
        cmocka_unit_test(frames_come_out_in_their_order_only),
        cmocka_unit_test(no_bit_of_a_frame_can_change),
        cmocka_unit_test(bytes_in_the_clear_are_authenticated),
        cmocka_unit_test(a_frame_of_another_lane_is_refused),
        cmocka_unit_test(a_key_is_replaced_after_64_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
