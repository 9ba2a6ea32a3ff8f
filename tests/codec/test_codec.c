/* SPDX-License-Identifier: Apache-2.0 */
/* Round trips of arbitrary bytes; damaged payloads are refused, or decoded
 * without access outside the buffers. */
#include "tests/codec/jobs.h"

enum { MOST = 5 * FBY_CODEC_BLOCK + 3 };

static void fill(uint8_t *raw, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; i++) {
        seed   = seed * UINT32_C(1664525) + UINT32_C(1013904223);
        raw[i] = i / 3000 % 2 == 0 ? (uint8_t)(i / 40) : (uint8_t)(seed >> 24);
    }
}

/* Round trip in buffers of exactly the required sizes. */
static void survives(const struct fby_codec_job *j, size_t size)
{
    size_t   room    = fby_codec_encode_capacity(j, size);
    uint8_t *raw     = malloc(size);
    uint8_t *payload = malloc(room);
    uint8_t *back    = malloc(size);
    size_t   packed  = 0;
    fill(raw, size, (uint32_t)size);
    assert_ok(fby_codec_encode(j, (struct fby_bytes_in){raw, size},
        (struct fby_bytes_out){payload, room}, &packed));
    assert_in_range(packed, 1, room);
    assert_ok(fby_codec_decode(
        j, (struct fby_bytes_in){payload, packed}, back, size));
    assert_memory_equal(raw, back, size);
    struct fby_codec_job accepted = *j;
    assert_true(
        fby_codec_can_decode(j, (struct fby_bytes_in){payload, packed}, size));
    accepted.is_valid     = true;
    accepted.bypass_cache = true;
    memset(back, 0, size);
    assert_ok(fby_codec_decode(
        &accepted, (struct fby_bytes_in){payload, packed}, back, size));
    assert_memory_equal(raw, back, size);
    free(raw);
    free(payload);
    free(back);
}

static void every_coding_survives_every_kind_of_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 4095,
        FBY_CODEC_BLOCK - 1, FBY_CODEC_BLOCK, FBY_CODEC_BLOCK + 1, MOST};
    for (unsigned i = 0; i < 8; i++) {
        struct fby_codec_job j = job((uint8_t)(i % 4), (uint8_t)(i / 4));
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            survives(&j, sizes[s]);
        }
    }
}

static void pictures_and_strips_of_one_survive(void **state)
{
    (void)state;
    const size_t         line = 900;
    struct fby_codec_job rgb  = photo_job(300, 70, 3);
    struct fby_codec_job grey = photo_job(31, 5, 1);
    survives(&rgb, 70 * line);
    survives(&rgb, 140 * line); /* two of them */
    survives(&rgb, 64 * line);  /* some lines of one */
    survives(&rgb, line);
    survives(&grey, 1395); /* nine */
    survives(&grey, 31);
}

static void planes_and_strips_of_them_survive(void **state)
{
    (void)state;
    static const uint32_t sides[][2] = {{300, 70}, {31, 5}, {1, 1}, {2, 64}};
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        uint32_t             w = sides[i][0];
        uint32_t             h = sides[i][1];
        struct fby_codec_job j = yuv_job(w, h);
        survives(&j, 2 * (size_t)fby_yuv_bytes(w, h));
        for (uint32_t lines = 1; lines <= h; lines++) {
            survives(&j, (size_t)fby_yuv_bytes(w, lines));
        }
    }
}

static void packing_has_room_for_the_worst_picture(void **state)
{
    (void)state;
    struct fby_codec_job tiny  = photo_job(1, 1, 3);
    struct fby_codec_job large = photo_job(224, 224, 3);
    size_t               raw   = 602112; /* four of them */
    assert_int_equal(fby_codec_encode_capacity(&tiny, 0), 0);
    assert_true(fby_codec_encode_capacity(&tiny, 300) > 3000);
    assert_in_range(
        fby_codec_encode_capacity(&large, raw), raw, raw + raw / 30);
}

static void equal_bytes_nearly_vanish(void **state)
{
    (void)state;
    struct fby_codec_job j       = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    uint8_t             *raw     = calloc(1, MOST);
    uint8_t             *payload = malloc(MOST + 64);
    size_t               packed  = 0;
    assert_ok(fby_codec_encode(&j, (struct fby_bytes_in){raw, MOST},
        (struct fby_bytes_out){payload, MOST + 64}, &packed));
    assert_in_range(packed, 6 * 4, MOST / 200);
    free(raw);
    free(payload);
}

static void noise_costs_only_the_table(void **state)
{
    (void)state;
    struct fby_codec_job j = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    uint8_t              raw[4096];
    uint8_t              payload[4100];
    size_t               packed = 0;
    uint32_t             seed   = 3;
    for (size_t i = 0; i < sizeof(raw); i++) {
        seed   = seed * UINT32_C(1664525) + UINT32_C(1013904223);
        raw[i] = (uint8_t)(seed >> 24);
    }
    assert_ok(fby_codec_encode(&j, (struct fby_bytes_in){raw, sizeof(raw)},
        (struct fby_bytes_out){payload, sizeof(payload)}, &packed));
    assert_int_equal(packed, sizeof(payload));
    assert_memory_equal(payload, "\0\20\0\200", 4);
    assert_memory_equal(payload + 4, raw, sizeof(raw));
}

static void a_buffer_below_the_bound_is_full(void **state)
{
    (void)state;
    struct fby_codec_job j       = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    uint8_t              raw[16] = {0};
    uint8_t              payload[19];
    size_t               packed = 0;
    assert_int_equal(
        fby_codec_encode(&j, (struct fby_bytes_in){raw, sizeof(raw)},
            (struct fby_bytes_out){payload, sizeof(payload)}, &packed),
        FBY_FULL);
}

static void jobs_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    enum { JOBS = 10 };
    struct fby_codec_job jobs[JOBS];
    uint8_t              raw[4] = {0};
    uint8_t              payload[16];
    size_t               packed = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] =
            i < 5 ? job(FBY_FILTER_DELTA, FBY_CODEC_LZ4) : photo_job(2, 2, 1);
    }
    jobs[0].coding.filter        = 5;
    jobs[1].coding.codec         = 3;
    jobs[2].params.element_bytes = 3;
    jobs[3].params.distance      = 0;
    jobs[5].coding.codec         = FBY_CODEC_LZ4; /* not with photo */
    jobs[6].coding.filter        = FBY_FILTER_DELTA;
    jobs[7].params.channels      = 0;
    jobs[8].params.channels      = 2;
    jobs[9].params.height        = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        size_t size = i == 4 ? 0 : sizeof(raw);
        assert_int_equal(
            fby_codec_encode(&jobs[i], (struct fby_bytes_in){raw, size},
                (struct fby_bytes_out){payload, sizeof(payload)}, &packed),
            FBY_USAGE);
        assert_int_equal(fby_codec_decode(&jobs[i],
                             (struct fby_bytes_in){payload, 4}, raw, size),
            FBY_USAGE);
    }
}

static void payloads_of_another_size_are_refused(void **state)
{
    (void)state;
    struct fby_codec_job store      = job(FBY_FILTER_NONE, FBY_CODEC_STORE);
    struct fby_codec_job lz4        = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    uint8_t              as_it_is[] = {4, 0, 0, 0x80, 'a', 'b', 'c', 'd', 'e'};
    assert_int_equal(decode(&store, "abcd", 4, NULL, 5), FBY_PROTO);
    assert_int_equal(decode(&store, "abcd", 4, NULL, 3), FBY_PROTO);
    assert_int_equal(decode(&lz4, as_it_is, 8, NULL, 4), FBY_OK);
    assert_int_equal(decode(&lz4, as_it_is, 9, NULL, 4), FBY_PROTO);
    assert_int_equal(decode(&lz4, as_it_is, 7, NULL, 4), FBY_PROTO);
    assert_int_equal(decode(&lz4, as_it_is, 8, NULL, 5), FBY_PROTO);
    assert_int_equal(decode(&lz4, as_it_is, 3, NULL, 4), FBY_PROTO);
    assert_int_equal(decode(&lz4, as_it_is, 0, NULL, 4), FBY_PROTO);
    as_it_is[3] = 0;
    assert_int_equal(decode(&lz4, as_it_is, 8, NULL, 4), FBY_PROTO);
}

static void damaged_payloads_never_lead_outside(void **state)
{
    (void)state;
    enum { SIZE = FBY_CODEC_BLOCK + 999 };
    static uint8_t raw[SIZE];
    static uint8_t payload[SIZE + 8];
    uint32_t       seed = 11;
    for (unsigned round = 0; round < 400; round++) {
        struct fby_codec_job j =
            job((uint8_t)(round % 4), (uint8_t)(round / 4 % 2));
        size_t packed = 0;
        fill(raw, SIZE, round);
        assert_ok(fby_codec_encode(&j, (struct fby_bytes_in){raw, SIZE},
            (struct fby_bytes_out){payload, sizeof(payload)}, &packed));
        for (unsigned hit = 0; hit < 3; hit++) {
            seed      = seed * UINT32_C(1664525) + UINT32_C(1013904223);
            size_t at = hit == 0 ? (seed >> 8) % 8 : (seed >> 8) % packed;
            payload[at] ^= (uint8_t)(1u << (seed & 7));
        }
        fby_err err = decode(&j, payload, packed, NULL, SIZE);
        assert_true(err == FBY_OK || err == FBY_PROTO);
    }
}

static void damaged_pictures_never_lead_outside(void **state)
{
    (void)state;
    enum { SIZE = 300 * 40 * 3 };
    static uint8_t       raw[SIZE];
    static uint8_t       payload[SIZE + SIZE / 8];
    struct fby_codec_job j    = photo_job(300, 40, 3);
    uint32_t             seed = 5;
    for (unsigned round = 0; round < 400; round++) {
        size_t packed = 0;
        fill(raw, SIZE, round);
        assert_ok(fby_codec_encode(&j, (struct fby_bytes_in){raw, SIZE},
            (struct fby_bytes_out){payload, sizeof(payload)}, &packed));
        seed      = seed * UINT32_C(1664525) + UINT32_C(1013904223);
        size_t at = (seed >> 8) % (round % 2 == 0 ? 64 : packed);
        payload[at] ^= (uint8_t)(1u << (seed & 7));
        fby_err err = decode(&j, payload, packed, NULL, SIZE);
        assert_true(err == FBY_OK || err == FBY_PROTO);
        assert_true(at >= 4 || err == FBY_PROTO); /* the table's entry 0 */
    }
}

static void the_self_test_passes(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    assert_ok(fby_codec_self_test(&why));
    assert_string_equal(why.text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_coding_survives_every_kind_of_size),
        cmocka_unit_test(pictures_and_strips_of_one_survive),
        cmocka_unit_test(planes_and_strips_of_them_survive),
        cmocka_unit_test(packing_has_room_for_the_worst_picture),
        cmocka_unit_test(equal_bytes_nearly_vanish),
        cmocka_unit_test(noise_costs_only_the_table),
        cmocka_unit_test(a_buffer_below_the_bound_is_full),
        cmocka_unit_test(jobs_that_make_no_sense_are_refused),
        cmocka_unit_test(payloads_of_another_size_are_refused),
        cmocka_unit_test(damaged_payloads_never_lead_outside),
        cmocka_unit_test(damaged_pictures_never_lead_outside),
        cmocka_unit_test(the_self_test_passes),
    };
    return cmocka_run_group_tests_name("codec.codec", tests, NULL, NULL);
}
