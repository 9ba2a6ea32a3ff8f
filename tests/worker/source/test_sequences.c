/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences cut out of runs, the readers of token files, and the shards that
 * they become. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "tests/worker/source/memory_object.h"
#include "worker/source/manifest.h"
#include "worker/source/tokens/token_file.h"

static const struct fby_tokens pairs = {
    .format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 4, .shift = 1};

static const atomic_bool go_on;

/* ---- cutting ---- */

static void what_fills_no_sequence_is_left_out(void **state)
{
    (void)state;
    static const struct {
        uint64_t tokens;
        uint32_t shift;
        uint64_t sequences;
    } cases[] = {{0, 0, 0}, {0, 1, 0}, {3, 0, 0}, {4, 0, 1}, {4, 1, 0},
        {5, 1, 1}, {8, 0, 2}, {8, 1, 1}, {9, 1, 2}, {12, 1, 2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_tokens how        = pairs;
        how.shift                    = cases[i].shift;
        struct fby_sequences   *all  = fby_sequences_create(&how);
        struct fby_error_detail none = {{0}};
        assert_ok(fby_sequences_add_run(all, 0, cases[i].tokens, &none));
        assert_int_equal(fby_sequences_count(all), cases[i].sequences);
        fby_sequences_free(&all);
    }
}

static void runs_that_follow_one_another_are_one(void **state)
{
    (void)state;
    struct fby_sequences   *all = fby_sequences_create(&pairs);
    struct fby_error_detail why = {{0}};
    assert_ok(fby_sequences_add_run(all, 100, 3, &why));
    assert_ok(
        fby_sequences_add_run(all, 106, 0, &why)); /* of no tokens: none */
    assert_ok(fby_sequences_add_run(all, 106, 2, &why));
    assert_ok(fby_sequences_add_run(all, 112, 7, &why));
    assert_ok(fby_sequences_add_run(all, 20, 1, &why));
    assert_int_equal(all->n_runs, 3);
    assert_int_equal(all->tokens, 13);
    fby_sequences_free(&all);
}

static void a_piece_ends_with_its_run(void **state)
{
    (void)state;
    struct fby_sequences   *all = fby_sequences_create(&pairs);
    struct fby_error_detail why = {{0}};
    assert_ok(fby_sequences_add_run(all, 100, 5, &why));
    assert_ok(fby_sequences_add_run(all, 200, 1, &why));
    assert_ok(fby_sequences_add_run(all, 300, 9, &why));
    struct fby_token_extent piece = fby_sequences_find_extent(all, 4, 5);
    assert_int_equal(piece.at, 108);
    assert_int_equal(piece.tokens, 1);
    piece = fby_sequences_find_extent(all, 5, 4);
    assert_int_equal(piece.at, 200);
    assert_int_equal(piece.tokens, 1);
    piece = fby_sequences_find_extent(all, 8, 5);
    assert_int_equal(piece.at, 304);
    assert_int_equal(piece.tokens, 5);
    fby_sequences_free(&all);
}

static void more_tokens_than_can_be_numbered_are_refused(void **state)
{
    (void)state;
    struct fby_sequences   *all = fby_sequences_create(&pairs);
    struct fby_error_detail why = {{0}};
    assert_ok(fby_sequences_add_run(all, 0, UINT64_C(1) << 62, &why));
    assert_int_equal(fby_sequences_add_run(all, 0, 1, &why), FBY_CONFIG);
    fby_sequences_free(&all);
}

/* ---- files ---- */

/* One at a time. */
static struct fby_token_file file_of(const void *bytes, size_t size)
{
    static struct memory     memory;
    static struct fby_object object;
    memory = memory_of(bytes, size);
    object = memory_object(&memory);
    return (struct fby_token_file){
        .object = &object, .size = size, .stop = &go_on};
}

static void a_flat_file_of_half_a_token_is_refused(void **state)
{
    (void)state;
    struct fby_sequences   *all  = fby_sequences_create(&pairs);
    struct fby_token_file   file = file_of("abcde", 5);
    struct fby_error_detail why  = {{0}};
    assert_int_equal(fby_flat_read(&file, 0, all, &why), FBY_CONFIG);
    assert_string_equal(why.text,
        "the file has 5 bytes, not a whole number of tokens of 2 bytes (type "
        "u16)");
    file = file_of("a", 1);
    assert_int_equal(fby_flat_read(&file, 0, all, &why), FBY_CONFIG);
    assert_string_equal(why.text,
        "the file has 1 byte, not a whole number of tokens of 2 bytes (type "
        "u16)");
    fby_sequences_free(&all);
}

/* Read with 7 behind each document. */
static struct fby_sequences *read_packed(const char *bytes, size_t size)
{
    const struct fby_tokens how  = {.format = FBY_TOKENS_FLAT,
         .type                              = FBY_U8,
         .length                            = 4,
         .packed                            = true,
         .end                               = 7};
    struct fby_sequences   *all  = fby_sequences_create(&how);
    struct fby_token_file   file = file_of(bytes, size);
    struct fby_error_detail why  = {{0}};
    assert_ok(fby_flat_read(&file, how.end, all, &why));
    return all;
}

static void a_flat_file_says_whether_a_document_ends(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool        endless;
        bool        undivided;
    } cases[] = {{"abcde", true, true}, {"abcd", true, false},
        {"abcd\7", false, true}, {"ab\7cd", false, false},
        {"\7abcd", false, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_sequences *all =
            read_packed(cases[i].bytes, strlen(cases[i].bytes));
        assert_int_equal(all->has_no_end_token, cases[i].endless);
        assert_int_equal(
            fby_sequences_is_one_document(all), cases[i].undivided);
        fby_sequences_free(&all);
    }
}

/* An .idx as Megatron's writer lays it out (its _IndexWriter). */
static void put_idx(struct fby_buffer *out, uint8_t code, const int32_t *sizes,
    const int64_t *places, size_t n)
{
    fby_put_bytes(out, "MMIDIDX\0", 9);
    fby_put_u64(out, 1);
    fby_put_u8(out, code);
    fby_put_u64(out, n);
    fby_put_u64(out, 2);
    for (size_t i = 0; i < n; i++) {
        fby_put_u32(out, (uint32_t)sizes[i]);
    }
    for (size_t i = 0; i < n; i++) {
        fby_put_u64(out, (uint64_t)places[i]);
    }
    fby_put_u64(out, 0);
    fby_put_u64(out, n);
}

enum { SEQUENCES = 3, BIN = 40 };
static const int32_t idx_sizes[]  = {3, 4, 5};
static const int64_t idx_places[] = {0, 6, 20};

static fby_err read_idx(const struct fby_buffer *bytes, enum fby_type said,
    struct fby_sequences **out, struct fby_error_detail *why)
{
    struct fby_tokens     how  = {.type = said, .length = 2};
    struct fby_token_file file = file_of(bytes->data, bytes->size);
    *out                       = fby_sequences_create(&how);
    fby_err err                = fby_megatron_read(&file, BIN, *out, why);
    return err;
}

static void an_idx_says_type_and_runs(void **state)
{
    (void)state;
    struct fby_buffer       idx = {0};
    struct fby_sequences   *all = NULL;
    struct fby_error_detail why = {{0}};
    put_idx(&idx, 8, idx_sizes, idx_places, SEQUENCES);
    assert_ok(read_idx(&idx, 0, &all, &why));
    assert_int_equal(all->type, FBY_U16);
    assert_int_equal(all->n_runs, 2); /* the first two follow one another */
    assert_int_equal(all->tokens, 12);
    assert_int_equal(all->run_at[1], 20);
    fby_sequences_free(&all);
    assert_int_equal(read_idx(&idx, FBY_I32, &all, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "its tokens are u16, and the pipeline says type: i32");
    fby_sequences_free(&all);
    fby_buffer_fini(&idx);
}

static void an_idx_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct fby_buffer       idx = {0};
    struct fby_sequences   *all = NULL;
    struct fby_error_detail why = {{0}};
    put_idx(&idx, 8, idx_sizes, idx_places, SEQUENCES);
    for (size_t all_of_it = idx.size; idx.size-- > 0;) {
        /* Without its ends, n bytes more would be modes: not here. */
        assert_true(all_of_it > idx.size);
        assert_int_equal(read_idx(&idx, 0, &all, &why), FBY_CONFIG);
        fby_sequences_free(&all);
    }
    fby_buffer_fini(&idx);
}

static void an_idx_that_points_elsewhere_is_refused(void **state)
{
    (void)state;
    static const struct {
        int32_t size;
        int64_t at;
    } wrong[] = {
        {-1, 0}, {1, -1}, {1, BIN}, {21, 0}, {INT32_MAX, 2}, {1, INT64_MAX}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct fby_buffer       idx = {0};
        struct fby_sequences   *all = NULL;
        struct fby_error_detail why = {{0}};
        put_idx(&idx, 8, &wrong[i].size, &wrong[i].at, 1);
        assert_int_equal(read_idx(&idx, 0, &all, &why), FBY_CONFIG);
        assert_non_null(strstr(why.text, "does not lie within the 40 bytes"));
        fby_sequences_free(&all);
        fby_buffer_fini(&idx);
    }
}

static void an_idx_of_reals_is_refused(void **state)
{
    (void)state;
    static const uint8_t codes[] = {0, 2, 3, 6, 7, 9, 255};
    for (size_t i = 0; i < sizeof(codes); i++) {
        struct fby_buffer       idx = {0};
        struct fby_sequences   *all = NULL;
        struct fby_error_detail why = {{0}};
        put_idx(&idx, codes[i], idx_sizes, idx_places, SEQUENCES);
        assert_int_equal(read_idx(&idx, 0, &all, &why), FBY_CONFIG);
        assert_non_null(strstr(why.text, "the type of its tokens has code"));
        fby_sequences_free(&all);
        fby_buffer_fini(&idx);
    }
}

/* Two samples of two columns, as MDSWriter lays them out: `id` of 8 bytes,
 * `tokens` of `encoding`. */
static void put_mds(struct fby_buffer *out, const char *encoding,
    const char *first, size_t first_size)
{
    char config[400];

    int n = snprintf(config, sizeof(config),
        "{\"column_encodings\": [\"int\", \"%s\"], "
        "\"column_names\": [\"id\", \"tokens\"], "
        "\"column_sizes\": [8, null], \"compression\": null, "
        "\"format\": \"mds\", \"hashes\": [], "
        "\"size_limit\": 67108864, \"version\": 2}",
        encoding);

    uint32_t begin  = 16 + (uint32_t)n;
    uint32_t middle = begin + 12 + (uint32_t)first_size;
    fby_put_u32(out, 2);
    fby_put_u32(out, begin);
    fby_put_u32(out, middle);
    fby_put_u32(out, middle + 12 + 4);
    fby_put_bytes(out, config, (size_t)n);
    fby_put_u32(out, (uint32_t)first_size);
    fby_put_u64(out, 77);
    fby_put_bytes(out, first, first_size);
    fby_put_u32(out, 4);
    fby_put_u64(out, 78);
    fby_put_bytes(out, "\x04\x03", 2);
    fby_put_bytes(out, "yz", 2);
}

static fby_err read_mds(const struct fby_buffer *bytes, enum fby_type said,
    struct fby_sequences **out, struct fby_error_detail *why)
{
    struct fby_tokens     how  = {.type = said, .length = 2};
    struct fby_token_file file = file_of(bytes->data, bytes->size);
    *out                       = fby_sequences_create(&how);
    fby_err err                = fby_mds_read(&file, "tokens", *out, why);
    return err;
}

static void a_column_of_bytes_is_found(void **state)
{
    (void)state;
    struct fby_buffer       mds = {0};
    struct fby_sequences   *all = NULL;
    struct fby_error_detail why = {{0}};
    put_mds(&mds, "bytes", "abcdef", 6);
    assert_ok(read_mds(&mds, FBY_U16, &all, &why));
    assert_int_equal(all->tokens, 5);
    assert_int_equal(all->n_runs, 2);
    assert_memory_equal(mds.data + all->run_at[0], "abcdef", 6);
    assert_memory_equal(mds.data + all->run_at[1] + 2, "yz", 2);
    fby_sequences_free(&all);
    assert_int_equal(read_mds(&mds, 0, &all, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "say which with type:"));
    fby_sequences_free(&all);
    fby_buffer_fini(&mds);
}

static void an_array_begins_with_its_shape(void **state)
{
    (void)state;
    struct fby_buffer       mds = {0};
    struct fby_sequences   *all = NULL;
    struct fby_error_detail why = {{0}};
    put_mds(&mds, "ndarray:uint16", "\x04\x02..::", 6);
    assert_ok(read_mds(&mds, 0, &all, &why));
    assert_int_equal(all->type, FBY_U16);
    assert_int_equal(all->tokens, 3);
    assert_memory_equal(mds.data + all->run_at[0], "..::", 4);
    assert_memory_equal(mds.data + all->run_at[1], "yz", 2);
    fby_sequences_free(&all);
    fby_buffer_fini(&mds);
}

static void other_columns_are_refused(void **state)
{
    (void)state;
    static const char *const encodings[] = {
        "str", "ndarray", "ndarray:float32", "ndarray:uint64", "pkl", "int"};
    for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
        struct fby_buffer       mds = {0};
        struct fby_sequences   *all = NULL;
        struct fby_error_detail why = {{0}};
        put_mds(&mds, encodings[i], "abcdef", 6);
        assert_int_equal(read_mds(&mds, FBY_U16, &all, &why), FBY_CONFIG);
        assert_non_null(strstr(why.text, encodings[i]));
        fby_sequences_free(&all);
        fby_buffer_fini(&mds);
    }
}

/* With any byte of the header changed, no run leaves the file. */
static void a_damaged_shard_never_leads_out_of_the_file(void **state)
{
    (void)state;
    struct fby_buffer mds = {0};
    put_mds(&mds, "bytes", "abcdef", 6);
    for (size_t i = 0; i < mds.size * 8; i++) {
        struct fby_sequences   *all = NULL;
        struct fby_error_detail why = {{0}};
        mds.data[i / 8] ^= (uint8_t)(1U << i % 8);
        if (read_mds(&mds, FBY_U16, &all, &why) == FBY_OK) {
            for (uint32_t k = 0; k < all->n_runs; k++) {
                assert_true(all->run_at[k] < mds.size);
            }
        } else {
            assert_true(why.text[0] != '\0');
        }
        fby_sequences_free(&all);
        mds.data[i / 8] ^= (uint8_t)(1U << i % 8);
    }
    fby_buffer_fini(&mds);
}

/* ---- the manifest ---- */

static void make_shard(struct fby_shard *out)
{
    struct fby_error_detail why = {{0}};
    fby_shard_init(out, "a.bin", FBY_SOURCE_TOKENS);
    out->size      = 1000;
    out->sequences = fby_sequences_create(&pairs);
    out->stamps    = calloc(1, sizeof(*out->stamps));
    assert_ok(fby_sequences_add_run(out->sequences, 10, 21, &why));
    assert_ok(fby_sequences_add_run(out->sequences, 100, 5, &why));
    assert_ok(fby_shard_finish_sequences(out, &why));
}

static void a_shard_of_sequences_comes_back_from_its_bytes(void **state)
{
    (void)state;
    struct fby_shard        shard;
    struct fby_shard        again;
    struct fby_buffer       bytes = {0};
    struct fby_error_detail why   = {{0}};
    make_shard(&shard);
    fby_shard_encode(&shard, &bytes);
    assert_ok(fby_shard_decode(bytes.data, bytes.size, &again, &why));
    struct fby_digest one = fby_shard_digest(&shard);
    struct fby_digest two = fby_shard_digest(&again);
    assert_true(fby_digest_equal(&one, &two));
    assert_int_equal(again.n_samples, 6);
    assert_string_equal(fby_shard_key(&again, 3), "");
    fby_shard_fini(&again);
    fby_shard_fini(&shard);
    fby_buffer_fini(&bytes);
}

static void a_shard_with_runs_beyond_its_end_is_refused(void **state)
{
    (void)state;
    struct fby_shard        shard;
    struct fby_shard        again;
    struct fby_buffer       bytes = {0};
    struct fby_error_detail why   = {{0}};
    make_shard(&shard);
    shard.size = 109; /* the second run ends at 110 */
    fby_shard_encode(&shard, &bytes);
    assert_int_equal(
        fby_shard_decode(bytes.data, bytes.size, &again, &why), FBY_PROTO);
    assert_non_null(strstr(why.text, "a run of tokens beyond the end"));
    fby_shard_fini(&again);
    fby_shard_fini(&shard);
    fby_buffer_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fills_no_sequence_is_left_out),
        cmocka_unit_test(runs_that_follow_one_another_are_one),
        cmocka_unit_test(a_piece_ends_with_its_run),
        cmocka_unit_test(more_tokens_than_can_be_numbered_are_refused),
        cmocka_unit_test(a_flat_file_of_half_a_token_is_refused),
        cmocka_unit_test(a_flat_file_says_whether_a_document_ends),
        cmocka_unit_test(an_idx_says_type_and_runs),
        cmocka_unit_test(an_idx_cut_anywhere_is_refused),
        cmocka_unit_test(an_idx_that_points_elsewhere_is_refused),
        cmocka_unit_test(an_idx_of_reals_is_refused),
        cmocka_unit_test(a_column_of_bytes_is_found),
        cmocka_unit_test(an_array_begins_with_its_shape),
        cmocka_unit_test(other_columns_are_refused),
        cmocka_unit_test(a_damaged_shard_never_leads_out_of_the_file),
        cmocka_unit_test(a_shard_of_sequences_comes_back_from_its_bytes),
        cmocka_unit_test(a_shard_with_runs_beyond_its_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
