/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>

#include "codec/filter.h"

static const struct fby_codec_params bytes = {
    .element_bytes = 1, .distance = 3};
static const struct fby_codec_params words = {
    .element_bytes = 2, .distance = 1};

static void filters_to(uint8_t filter, struct fby_codec_params params,
    const char *raw, const char *wanted, size_t size)
{
    uint8_t out[64];
    uint8_t back[64];
    filter_apply(filter, params, (const uint8_t *)raw, size, out);
    assert_memory_equal(out, wanted, size);
    filter_undo(filter, params, out, size, back);
    assert_memory_equal(back, raw, size);
}

static void delta_subtracts_the_same_channel(void **state)
{
    (void)state;
    filters_to(FBY_FILTER_DELTA, bytes, "\1\2\3\2\4\6\0\377",
        "\1\2\3\1\2\3\376\373", 8);
}

static void delta_borrows_within_an_element(void **state)
{
    (void)state;
    filters_to(FBY_FILTER_DELTA, words, "\1\1\0\1\377\377\7",
        "\1\1\377\377\377\376\7", 7);
}

static void byte_shuffle_sorts_by_position_and_keeps_the_rest(void **state)
{
    (void)state;
    filters_to(FBY_FILTER_BYTE_SHUFFLE, words, "aAbBcCx", "abcABCx", 7);
}

static void bit_shuffle_makes_planes_and_keeps_the_rest(void **state)
{
    (void)state;
    filters_to(FBY_FILTER_BIT_SHUFFLE, bytes, "\1\0\0\0\0\0\0\200zz",
        "\1\0\0\0\0\0\0\200zz", 10);
    filters_to(FBY_FILTER_BIT_SHUFFLE, bytes, "\377\0\0\0\0\0\0\0",
        "\1\1\1\1\1\1\1\1", 8);
    filters_to(FBY_FILTER_BIT_SHUFFLE, bytes, "\2\2\2\2\2\2\2\2",
        "\0\377\0\0\0\0\0\0", 8);
}

static void every_filter_undoes_itself_at_every_small_size(void **state)
{
    (void)state;
    static const uint32_t widths[]    = {1, 2, 4, 8};
    static const uint32_t distances[] = {1, 3, 64, UINT32_MAX};
    uint8_t               raw[300];
    uint8_t               out[300];
    uint8_t               back[300];
    for (size_t i = 0; i < sizeof(raw); i++) {
        raw[i] = (uint8_t)(i * i * 7 + i / 3);
    }
    for (unsigned i = 0; i < 4 * 4 * 4; i++) {
        struct fby_codec_params params = {
            .element_bytes = widths[i / 4 % 4], .distance = distances[i / 16]};
        for (size_t size = 1; size <= sizeof(raw); size++) {
            filter_apply((uint8_t)(i % 4), params, raw, size, out);
            filter_undo((uint8_t)(i % 4), params, out, size, back);
            assert_memory_equal(back, raw, size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delta_subtracts_the_same_channel),
        cmocka_unit_test(delta_borrows_within_an_element),
        cmocka_unit_test(byte_shuffle_sorts_by_position_and_keeps_the_rest),
        cmocka_unit_test(bit_shuffle_makes_planes_and_keeps_the_rest),
        cmocka_unit_test(every_filter_undoes_itself_at_every_small_size),
    };
    return cmocka_run_group_tests_name("codec.filter", tests, NULL, NULL);
}
