/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of rows, computed from lengths that may be wrong. */
#include "tests/trainer_client/rows.h"

#include <stdio.h>

/* ---- Correct rows -------------------------------------------------------- */

static struct rows drawn_rows(uint32_t *seed)
{
    struct fby_shape shape = {1 + draw(seed, 2), {1 + draw(seed, 400), 0}};
    shape.dims[1]          = 1 + draw(seed, 6);
    shape.dims[0] *= draw(seed, 9) == 0 ? 300 : 1; /* lengths of 4 bytes */
    struct rows rows = rows_begin(
        (enum fby_type)(1 + draw(seed, 8)), shape, 1 + draw(seed, 30));
    for (uint32_t i = 0; i < rows.layout.rows; i++) {
        uint32_t kind = draw(seed, 4);
        uint32_t some = draw(seed, shape.dims[0] + 1);
        rows_draw(&rows, i,
            kind == 0   ? 0
            : kind == 1 ? shape.dims[0]
                        : some,
            seed);
    }
    rows_write(&rows);
    return rows;
}

static void check_rows(const struct rows *rows)
{
    struct fby_ragged_offsets ragged_offsets;
    uint64_t                  total   = 0;
    uint32_t                  longest = 0;
    fby_ragged_offsets_init(&ragged_offsets, rows->layout.rows);
    assert_ok(rows_read(rows, &ragged_offsets, NULL));
    for (uint32_t i = 0; i < rows->layout.rows; i++) {
        uint32_t length = rows->lengths[i];
        assert_int_equal(ragged_offsets.lengths[i], length);
        assert_memory_equal(rows->raw + ragged_offsets.values[i],
            rows->entries[i], (size_t)length * rows_field(rows)->entry_bytes);
        total += length;
        longest = length > longest ? length : longest;
    }
    assert_int_equal(ragged_offsets.n, rows->layout.rows);
    assert_int_equal(ragged_offsets.longest, longest);
    assert_true(ragged_offsets.total == total);
    fby_ragged_offsets_fini(&ragged_offsets);
}

static void any_rows_are_found_where_they_lie(void **state)
{
    (void)state;
    uint32_t seed = 5;
    for (int round = 0; round < 200; round++) {
        struct rows rows = drawn_rows(&seed);
        check_rows(&rows);
        rows_end(&rows);
    }
}

static void rows_of_several_chunks_are_found_too(void **state)
{
    (void)state;
    uint32_t    seed = 6;
    struct rows rows = rows_begin(FBY_I64, (struct fby_shape){1, {400000}}, 7);
    assert_int_equal(rows.layout.n_chunks, 4);
    for (uint32_t i = 0; i < 7; i++) {
        rows_draw(&rows, i, i * 97, &seed);
    }
    rows_write(&rows);
    check_rows(&rows);
    rows_end(&rows);
}

/* ---- Invalid lengths ----------------------------------------------------- */

/* Five rows of u8: 0 to 4 entries, of at most `most`. */
static struct rows five_rows(uint32_t most)
{
    uint32_t    seed = 7;
    struct rows rows = rows_begin(FBY_U8, (struct fby_shape){1, {most}}, 5);
    for (uint32_t i = 0; i < 5; i++) {
        rows_draw(&rows, i, i, &seed);
    }
    rows_write(&rows);
    return rows;
}

static void refuses(const struct rows *rows, const char *words)
{
    struct fby_ragged_offsets ragged_offsets;
    struct fby_error_detail   why = {{0}};
    fby_ragged_offsets_init(&ragged_offsets, rows->layout.rows);
    assert_int_equal(rows_read(rows, &ragged_offsets, &why), FBY_PROTO);
    assert_string_equal(why.text, words);
    fby_ragged_offsets_fini(&ragged_offsets);
}

static void a_length_beyond_max_length_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        uint32_t    most;
        const char *words;
    } cases[] = {
        {200, "field words: row 3 has 255 entries, max_length is 200"},
        {300, "field words: row 3 has 65535 entries, max_length is 300"},
        {70000, "field words: row 3 has 4294967295 entries, max_length is "
                "70000"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rows rows = five_rows(cases[i].most);
        memset(rows_length(&rows, 3), 0xff, rows_field(&rows)->length_bytes);
        refuses(&rows, cases[i].words);
        rows_end(&rows);
    }
}

static void lengths_that_are_not_the_chunks_bytes_are_refused(void **state)
{
    (void)state;
    struct rows rows = five_rows(200);
    *rows_length(&rows, 3) += 1;
    refuses(&rows, "field words: chunk 0 has 26 bytes, its lengths need 27");
    *rows_length(&rows, 3) -= 2;
    refuses(&rows, "field words: chunk 0 has 26 bytes, its lengths need 25");
    for (uint32_t i = 0; i < 5; i++) {
        *rows_length(&rows, i) = 200;
    }
    refuses(&rows, "field words: chunk 0 has 26 bytes, its lengths need 1016");
    rows_end(&rows);
}

static void a_chunk_cut_short_is_refused(void **state)
{
    (void)state;
    struct rows rows = five_rows(200);
    for (uint32_t bytes = 16; bytes < 26; bytes++) {
        char words[80];
        snprintf(words, sizeof(words),
            "field words: chunk 0 has %u bytes, its lengths need 26", bytes);
        rows.sent[0].raw_bytes = bytes;
        refuses(&rows, words);
    }
    rows_end(&rows);
}

/* Random bytes, as a frame that passed its checks may still hold them. */
static void any_bytes_are_refused_or_lie_within_their_chunk(void **state)
{
    (void)state;
    uint32_t seed = 8;
    uint32_t good = 0;
    for (int round = 0; round < 20000; round++) {
        uint32_t    most = 1 + draw(&seed, 5);
        struct rows rows =
            rows_begin(FBY_U16, (struct fby_shape){1, {most}}, 3);
        struct fby_raw_span span = fby_layout_chunk_span(&rows.layout, 0, 0);
        struct fby_ragged_offsets ragged_offsets;
        fby_ragged_offsets_init(&ragged_offsets, 3);
        rows.sent[0].raw_bytes = 16 + draw(&seed, span.raw_bytes - 15);
        for (uint32_t i = 0; i < 3; i++) {
            rows.raw[i] = (uint8_t)draw(&seed, most + 2);
        }
        if (rows_read(&rows, &ragged_offsets, NULL) == FBY_OK) {
            good++;
            for (uint32_t i = 0; i < 3; i++) {
                assert_true(ragged_offsets.values[i] +
                                UINT64_C(2) * ragged_offsets.lengths[i] <=
                            rows.sent[0].raw_bytes);
            }
        }
        fby_ragged_offsets_fini(&ragged_offsets);
        rows_end(&rows);
    }
    assert_in_range(good, 100, 19900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_rows_are_found_where_they_lie),
        cmocka_unit_test(rows_of_several_chunks_are_found_too),
        cmocka_unit_test(a_length_beyond_max_length_is_refused_by_name),
        cmocka_unit_test(lengths_that_are_not_the_chunks_bytes_are_refused),
        cmocka_unit_test(a_chunk_cut_short_is_refused),
        cmocka_unit_test(any_bytes_are_refused_or_lie_within_their_chunk),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.extents", tests, NULL, NULL);
}
