/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "codec/auto.h"

static const struct fby_codec_params pixels = {
    .element_bytes = 1, .distance = 3};
static const struct fby_codec_params photos = {.element_bytes = 1,
    .distance                                                 = 3,
    .width                                                    = 64,
    .height                                                   = 48,
    .channels                                                 = 3};
static const struct fby_codec_params floats = {
    .element_bytes = 4, .distance = 1};

static struct fby_coding_request request(
    uint8_t filter, uint8_t codec, struct fby_codec_params params)
{
    return (struct fby_coding_request){.filter = filter,
        .codec                                 = codec,
        .params                                = params,
        .filters                               = UINT32_MAX,
        .codecs                                = UINT32_MAX};
}

static struct fby_auto made(
    uint8_t filter, uint8_t codec, struct fby_codec_params params)
{
    struct fby_auto           self;
    struct fby_coding_request of = request(filter, codec, params);
    assert_true(fby_auto_suits(&of));
    fby_auto_init(&self, &of);
    return self;
}

/* Feed `n` chunks that only `filter` shrinks, to `permille`. */
static void feed(
    struct fby_auto *self, uint32_t n, uint8_t filter, uint32_t permille)
{
    for (uint32_t i = 0; i < n; i++) {
        struct fby_coding coding = fby_auto_next(self);
        bool good = coding.codec != FBY_CODEC_STORE && coding.filter == filter;
        fby_auto_record(self, coding, 1000, good ? permille : 1000);
    }
}

static void asks_for(const struct fby_auto *self, uint8_t filter, uint8_t codec)
{
    struct fby_coding coding = fby_auto_next(self);
    assert_int_equal(coding.filter, filter);
    assert_int_equal(coding.codec, codec);
}

/* Run one trial of each candidate in turn, with these shares of the size. */
static void try_all(struct fby_auto *self, const uint32_t *permille, uint32_t n)
{
    for (uint32_t i = 0; i < n * FBY_AUTO_TRIAL; i++) {
        fby_auto_record(
            self, fby_auto_next(self), 1000, permille[i / FBY_AUTO_TRIAL]);
    }
}

static void what_is_asked_for_is_done(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_FILTER_DELTA, FBY_CODEC_LZ4, pixels);
    feed(&self, 1000, FBY_FILTER_NONE, 1000);
    asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
    self = made(FBY_AUTO, FBY_CODEC_STORE, pixels);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
    self = made(FBY_FILTER_DELTA, FBY_CODEC_STORE, pixels);
    asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_STORE);
    self = made(FBY_FILTER_BYTE_SHUFFLE, FBY_CODEC_LZ4, pixels);
    asks_for(&self, FBY_FILTER_BYTE_SHUFFLE, FBY_CODEC_LZ4);
}

/* A trial or a window counts its own chunks' bytes, to the last one. */
static void small_chunks_are_judged_as_large_ones(void **state)
{
    (void)state;
    for (uint32_t wire = 7; wire <= 8; wire++) { /* of 8 bytes: an eighth */
        struct fby_auto self = made(FBY_FILTER_DELTA, FBY_AUTO, pixels);
        for (uint32_t i = 0; i < FBY_AUTO_TRIAL; i++) {
            asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
            fby_auto_record(&self, fby_auto_next(&self), 8, wire);
        }
        asks_for(&self, wire == 7 ? FBY_FILTER_DELTA : FBY_FILTER_NONE,
            wire == 7 ? FBY_CODEC_LZ4 : FBY_CODEC_STORE);
        for (uint32_t i = 0; wire == 7 && i < 3 * FBY_AUTO_WINDOW; i++) {
            asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
            uint32_t bytes = i < 2 * FBY_AUTO_WINDOW ? 7 : 8;
            fby_auto_record(&self, fby_auto_next(&self), 8, bytes);
        }
        asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
    }
}

static void chunks_of_no_bytes_are_not_worth_it(void **state)
{
    (void)state;
    for (uint32_t raw = 0; raw <= 1; raw++) { /* one chunk is not empty */
        struct fby_auto self = made(FBY_FILTER_DELTA, FBY_AUTO, pixels);
        fby_auto_record(&self, fby_auto_next(&self), raw, 0);
        for (uint32_t i = 1; i < FBY_AUTO_TRIAL; i++) {
            fby_auto_record(&self, fby_auto_next(&self), 0, 0);
        }
        asks_for(&self, raw == 1 ? FBY_FILTER_DELTA : FBY_FILTER_NONE,
            raw == 1 ? FBY_CODEC_LZ4 : FBY_CODEC_STORE);
    }
}

/* A term starts with each choice, and the pauses start over with each use. */
static void a_coding_that_is_worth_it_again_ends_long_pauses(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_FILTER_DELTA, FBY_AUTO, pixels);
    feed(&self, FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 1000);
    feed(&self, FBY_AUTO_PAUSE_MIN, FBY_FILTER_DELTA, 1000);
    feed(&self, FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 1000);
    feed(&self, 2 * FBY_AUTO_PAUSE_MIN, FBY_FILTER_DELTA, 1000);
    feed(&self, FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 500); /* now in use */
    feed(&self, FBY_AUTO_WINDOW, FBY_FILTER_DELTA, 900);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
    feed(&self, FBY_AUTO_PAUSE_MIN - 1, FBY_FILTER_DELTA, 1000);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
    feed(&self, 1, FBY_FILTER_DELTA, 1000);
    asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
}

/* A term is FBY_AUTO_USE_MAX chunks of use, counted window by window. */
static void a_term_is_over_after_its_last_window(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_AUTO, FBY_CODEC_LZ4, pixels);
    for (int round = 0; round < 2; round++) {
        feed(&self, 3 * FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 600);
        feed(&self, FBY_AUTO_USE_MAX - 1, FBY_FILTER_DELTA, 600);
        asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
        feed(&self, 1, FBY_FILTER_DELTA, 600);
        asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_LZ4);
    }
}

static void the_best_of_all_filters_is_kept(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_AUTO, FBY_AUTO, floats);
    feed(&self, 4 * FBY_AUTO_TRIAL, FBY_FILTER_BYTE_SHUFFLE, 500);
    asks_for(&self, FBY_FILTER_BYTE_SHUFFLE, FBY_CODEC_LZ4);
    feed(&self, 10 * FBY_AUTO_WINDOW, FBY_FILTER_BYTE_SHUFFLE, 500);
    asks_for(&self, FBY_FILTER_BYTE_SHUFFLE, FBY_CODEC_LZ4);
}

static void an_eighth_is_worth_it_and_less_is_not(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_FILTER_DELTA, FBY_AUTO, pixels);
    feed(&self, FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 875);
    asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
    self = made(FBY_FILTER_DELTA, FBY_AUTO, pixels);
    feed(&self, FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 876);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
}

static void lz4_that_was_asked_for_is_always_used(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_AUTO, FBY_CODEC_LZ4, pixels);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(fby_auto_next(&self).codec, FBY_CODEC_LZ4);
        feed(&self, 1, FBY_FILTER_NONE, 1000);
    }
}

static void one_bad_chunk_changes_nothing_but_a_bad_window_does(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_FILTER_DELTA, FBY_AUTO, pixels);
    feed(&self, FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 500);
    feed(&self, 1, FBY_FILTER_DELTA, 1000);
    feed(&self, FBY_AUTO_WINDOW - 1, FBY_FILTER_DELTA, 500);
    asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
    feed(&self, FBY_AUTO_WINDOW, FBY_FILTER_DELTA, 950);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
}

static void pauses_between_trials_double_up_to_a_limit(void **state)
{
    (void)state;
    struct fby_auto self  = made(FBY_FILTER_DELTA, FBY_AUTO, pixels);
    uint32_t        pause = FBY_AUTO_PAUSE_MIN;
    for (int round = 0; round < 9; round++) {
        feed(&self, FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 1000);
        feed(&self, pause - 1, FBY_FILTER_DELTA, 1000);
        asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
        feed(&self, 1, FBY_FILTER_DELTA, 1000);
        asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
        pause = 2 * pause < FBY_AUTO_PAUSE_MAX ? 2 * pause : FBY_AUTO_PAUSE_MAX;
    }
}

static void all_are_tried_anew_after_a_term(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_AUTO, FBY_AUTO, pixels);
    feed(&self, 3 * FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 600);
    feed(&self, FBY_AUTO_USE_MAX, FBY_FILTER_DELTA, 600);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_LZ4);
    feed(&self, 3 * FBY_AUTO_TRIAL, FBY_FILTER_BIT_SHUFFLE, 300);
    asks_for(&self, FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4);
}

static void chunks_of_another_coding_count_nothing(void **state)
{
    (void)state;
    struct fby_auto   self  = made(FBY_FILTER_DELTA, FBY_AUTO, pixels);
    struct fby_coding other = {FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4};
    for (int i = 0; i < 100; i++) {
        fby_auto_record(&self, other, 1000, 1000);
    }
    asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
}

static void pictures_are_packed_first(void **state)
{
    (void)state;
    struct fby_auto self = made(FBY_AUTO, FBY_AUTO, photos);
    asks_for(&self, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    self = made(FBY_FILTER_PHOTO, FBY_AUTO, photos);
    asks_for(&self, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    self = made(FBY_AUTO, FBY_CODEC_PACK, photos);
    asks_for(&self, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    feed(&self, 1000, FBY_FILTER_NONE, 1000);
    asks_for(&self, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    self = made(FBY_AUTO, FBY_CODEC_LZ4, photos);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_LZ4);
    self = made(FBY_AUTO, FBY_AUTO, pixels);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_LZ4);
}

static void a_costlier_coding_must_save_a_sixteenth_more(void **state)
{
    (void)state;
    struct fby_auto self     = made(FBY_AUTO, FBY_AUTO, photos);
    const uint32_t  nearly[] = {592, 556, 560, 580};
    const uint32_t  just[]   = {592, 555, 560, 580};
    const uint32_t  enough[] = {592, 555, 524, 518};
    try_all(&self, nearly, 4);
    asks_for(&self, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    self = made(FBY_AUTO, FBY_AUTO, photos);
    try_all(&self, just, 4); /* 16 * 555 = 15 * 592 */
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_LZ4);
    self = made(FBY_AUTO, FBY_AUTO, photos);
    try_all(&self, enough, 4); /* 555 is just enough; 518 is better */
    asks_for(&self, FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4);
}

static void a_picture_that_packing_halves_is_tried_no_further(void **state)
{
    (void)state;
    struct fby_auto self  = made(FBY_AUTO, FBY_AUTO, photos);
    const uint32_t  half  = 500;
    const uint32_t  above = 501;
    try_all(&self, &half, 1);
    asks_for(&self, FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    self = made(FBY_AUTO, FBY_AUTO, photos);
    try_all(&self, &above, 1);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_LZ4);
}

static void only_what_the_receiver_understands_is_tried(void **state)
{
    (void)state;
    struct fby_auto           self;
    struct fby_coding_request older = request(FBY_AUTO, FBY_AUTO, photos);
    older.filters = 1U << FBY_FILTER_NONE | 1U << FBY_FILTER_DELTA;
    older.codecs  = 1U << FBY_CODEC_STORE | 1U << FBY_CODEC_LZ4;
    fby_auto_init(&self, &older);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_LZ4);
    assert_int_equal(self.n_candidates, 2);
    feed(&self, 2 * FBY_AUTO_TRIAL, FBY_FILTER_DELTA, 500);
    feed(&self, FBY_AUTO_WINDOW, FBY_FILTER_DELTA, 500);
    asks_for(&self, FBY_FILTER_DELTA, FBY_CODEC_LZ4);
    older.codecs = 1U << FBY_CODEC_STORE;
    fby_auto_init(&self, &older);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
    older.codec = FBY_CODEC_PACK;
    fby_auto_init(&self, &older);
    asks_for(&self, FBY_FILTER_NONE, FBY_CODEC_STORE);
}

static void photo_and_pack_go_only_together_and_with_pictures(void **state)
{
    (void)state;
    for (uint8_t f = 0; f < 6; f++) {
        for (uint8_t c = 0; c < 4; c++) {
            uint8_t filter = f == 5 ? FBY_AUTO : f;
            uint8_t codec  = c == 3 ? FBY_AUTO : c;
            bool    photo  = f == FBY_FILTER_PHOTO || c == FBY_CODEC_PACK;
            bool    pair   = f >= FBY_FILTER_PHOTO && c >= FBY_CODEC_PACK;
            struct fby_coding_request on_bytes = request(filter, codec, pixels);
            struct fby_coding_request on_pictures =
                request(filter, codec, photos);
            assert_int_equal(
                fby_auto_is_possible(filter, codec), !photo || pair);
            assert_int_equal(fby_auto_suits(&on_pictures), !photo || pair);
            assert_int_equal(fby_auto_suits(&on_bytes), !photo);
        }
    }
    assert_false(fby_auto_is_possible(5, FBY_AUTO));
    assert_false(fby_auto_is_possible(FBY_AUTO, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for_is_done),
        cmocka_unit_test(small_chunks_are_judged_as_large_ones),
        cmocka_unit_test(chunks_of_no_bytes_are_not_worth_it),
        cmocka_unit_test(a_coding_that_is_worth_it_again_ends_long_pauses),
        cmocka_unit_test(a_term_is_over_after_its_last_window),
        cmocka_unit_test(the_best_of_all_filters_is_kept),
        cmocka_unit_test(an_eighth_is_worth_it_and_less_is_not),
        cmocka_unit_test(lz4_that_was_asked_for_is_always_used),
        cmocka_unit_test(one_bad_chunk_changes_nothing_but_a_bad_window_does),
        cmocka_unit_test(pauses_between_trials_double_up_to_a_limit),
        cmocka_unit_test(all_are_tried_anew_after_a_term),
        cmocka_unit_test(chunks_of_another_coding_count_nothing),
        cmocka_unit_test(pictures_are_packed_first),
        cmocka_unit_test(a_costlier_coding_must_save_a_sixteenth_more),
        cmocka_unit_test(a_picture_that_packing_halves_is_tried_no_further),
        cmocka_unit_test(only_what_the_receiver_understands_is_tried),
        cmocka_unit_test(photo_and_pack_go_only_together_and_with_pictures),
    };
    return cmocka_run_group_tests_name("codec.auto", tests, NULL, NULL);
}
