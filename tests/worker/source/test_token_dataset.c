/* SPDX-License-Identifier: Apache-2.0 */
/* Token files as a dataset: the tokens of each sequence, for each format. */
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "tests/test.h"
#include "tests/worker/source/sandbox.h"

static struct fby_dataset_spec tokens_of(const struct sandbox *sb,
    const char *pattern, const struct fby_tokens *tokens)
{
    struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_TOKENS, pattern);
    spec.tokens = tokens;
    return spec;
}

/* A flat file of u16: first, first + 1, ... */
static void flat(
    const struct sandbox *sb, const char *path, uint16_t first, unsigned n)
{
    struct fby_buffer file = {0};
    for (unsigned i = 0; i < n; i++) {
        fby_put_u16(&file, (uint16_t)(first + i));
    }
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
}

/* All numbers of a sequence, as they are read: "3 1 | 7 8 9 5" of a packed one
 * (lengths first), "7 8 9" of others. Tokens are u16. */
static const char *sequence(struct fby_dataset *ds, uint64_t sample)
{
    static char             text[256];
    struct fby_member       member;
    struct fby_error_detail why       = {0};
    uint8_t                 bytes[64] = {0};
    size_t                  used      = 0;
    assert_ok(fby_dataset_find_member(ds, sample, NULL, 0, &member));
    assert_int_equal(member.sample, sample);
    assert_int_equal(member.width, 2);
    assert_true(member.size < sizeof(bytes));
    memset(bytes, 0xee, sizeof(bytes));
    assert_ok(fby_dataset_read(ds, &member, bytes, member.size, &why));
    assert_int_equal(bytes[member.size], 0xee);
    struct fby_reader r = fby_reader(bytes, member.size);
    text[0]             = '\0';
    for (uint32_t i = 0; i < member.documents; i++) {
        used += (size_t)sprintf(text + used, "%u ", fby_read_u32(&r));
    }
    used += (size_t)sprintf(text + used, member.documents > 0 ? "| " : "");
    while (r.left > 0) {
        used += (size_t)sprintf(text + used, "%u", fby_read_u16(&r));
        used += (size_t)sprintf(text + used, r.left > 0 ? " " : "");
    }
    assert_false(r.bad);
    return text;
}

static void sequences_are_cut_file_by_file(void **state)
{
    const struct fby_tokens how = {
        .format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 3, .shift = 1};
    flat(*state, "data/a.bin", 100, 7);
    flat(*state, "data/b.bin", 200, 6);
    flat(*state, "data/c.bin", 300, 3); /* too short for one */
    flat(*state, "data/d.bin", 400, 4);
    const struct fby_dataset_spec spec =
        tokens_of(*state, "data:{a,b,c,d}.bin", &how);
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 4);
    assert_int_equal(fby_dataset_shard_count(ds), 4);
    assert_string_equal(sequence(ds, 0), "100 101 102 103");
    assert_string_equal(sequence(ds, 1), "103 104 105 106");
    assert_string_equal(sequence(ds, 2), "200 201 202 203");
    assert_string_equal(sequence(ds, 3), "400 401 402 403");
    assert_int_equal(fby_dataset_shard_of(ds, 3), 3);
    assert_true(fby_dataset_has_unpacked_tokens(ds));
    assert_false(fby_dataset_has_rows(ds));
    assert_int_equal(fby_dataset_count_undivided(ds), 0);
    assert_string_equal(fby_dataset_key(ds, 1, NULL), "");
    struct fby_error_detail text;
    fby_dataset_describe(ds, 1, NULL, &text);
    assert_string_equal(
        text.text, "shard a.bin, sample 1 (tokens from 3 on), offset 6");
    fby_dataset_destroy(&ds);
}

static void documents_are_packed_whole_with_their_lengths(void **state)
{
    static const uint16_t   a[] = {1, 2, 9, 3, 9, 4, 5, 6, 7, 8, 9, 2, 9};
    static const uint16_t   b[] = {51, 52, 53, 54, 55, 56};
    const struct fby_tokens how = {.format = FBY_TOKENS_FLAT,
        .type                              = FBY_U16,
        .length                            = 5,
        .packed                            = true,
        .end                               = 9};
    sandbox_write(*state, "data/a.bin", a, sizeof(a));
    sandbox_write(*state, "data/b.bin", b, sizeof(b));
    const struct fby_dataset_spec spec =
        tokens_of(*state, "data:{a,b}.bin", &how);
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 5);
    assert_string_equal(sequence(ds, 0), "3 2 | 1 2 9 3 9");
    assert_string_equal(sequence(ds, 1), "5 | 4 5 6 7 8");
    assert_string_equal(sequence(ds, 2), "1 2 | 9 2 9");
    assert_string_equal(sequence(ds, 3), "5 | 51 52 53 54 55");
    assert_string_equal(sequence(ds, 4), "1 | 56");
    assert_false(fby_dataset_has_unpacked_tokens(ds));
    assert_int_equal(fby_dataset_count_undivided(ds), 1);
    struct fby_error_detail text;
    fby_dataset_describe(ds, 2, NULL, &text);
    assert_string_equal(
        text.text, "shard a.bin, sample 2 (tokens from 10 on), offset 20");
    fby_dataset_destroy(&ds);
}

static void files_of_one_document_are_counted(void **state)
{
    const struct fby_tokens how = {.format = FBY_TOKENS_FLAT,
        .type                              = FBY_U16,
        .length                            = 5,
        .packed                            = true,
        .end                               = 9};
    flat(*state, "data/a.bin", 10, 6);
    flat(*state, "data/b.bin", 4, 20); /* 9 is in it */
    flat(*state, "data/c.bin", 10, 5); /* no longer than a sequence */
    flat(*state, "data/d.bin", 30, 7);
    flat(*state, "data/e.bin", 3, 7); /* 9 ends it */
    const struct fby_dataset_spec spec =
        tokens_of(*state, "data:{a,b,c,d,e}.bin", &how);
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_count_undivided(ds), 3);
    fby_dataset_destroy(&ds);
}

/* A pair of files of Megatron's: sequences of u16 at these bytes of the .bin,
 * whose tokens are 0, 1, 2, ...; each is a document. */
static void megatron(const struct sandbox *sb, const uint32_t *sizes,
    const uint64_t *places, uint64_t n)
{
    struct fby_buffer idx = {0};
    fby_put_bytes(&idx, "MMIDIDX\0", 9);
    fby_put_u64(&idx, 1);
    fby_put_u8(&idx, 8);
    fby_put_u64(&idx, n);
    fby_put_u64(&idx, n + 1);
    for (uint64_t i = 0; i < n; i++) {
        fby_put_u32(&idx, sizes[i]);
    }
    for (uint64_t i = 0; i < n; i++) {
        fby_put_u64(&idx, places[i]);
    }
    for (uint64_t i = 0; i <= n; i++) {
        fby_put_u64(&idx, i);
    }
    sandbox_write(sb, "data/m.idx", idx.data, idx.size);
    fby_buffer_fini(&idx);
}

static const uint32_t megatron_sizes[]  = {3, 2, 4};
static const uint64_t megatron_places[] = {20, 0, 8};

static void sequences_go_on_from_run_to_run(void **state)
{
    const struct fby_tokens how = {.format = FBY_TOKENS_MEGATRON, .length = 4};
    flat(*state, "data/m.bin", 0, 20);
    megatron(*state, megatron_sizes, megatron_places, 3);
    const struct fby_dataset_spec spec = tokens_of(*state, "data:m.bin", &how);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 2);
    assert_string_equal(sequence(ds, 0), "10 11 12 0");
    assert_string_equal(sequence(ds, 1), "1 4 5 6");
    fby_dataset_destroy(&ds);
}

static void packed_documents_lie_where_their_runs_do(void **state)
{
    const struct fby_tokens how = {
        .format = FBY_TOKENS_MEGATRON, .length = 5, .packed = true};
    flat(*state, "data/m.bin", 0, 20);
    megatron(*state, megatron_sizes, megatron_places, 3);
    const struct fby_dataset_spec spec = tokens_of(*state, "data:m.bin", &how);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 2);
    assert_string_equal(sequence(ds, 0), "3 2 | 10 11 12 0 1");
    assert_string_equal(sequence(ds, 1), "4 | 4 5 6 7");
    assert_int_equal(fby_dataset_count_undivided(ds), 0);
    fby_dataset_destroy(&ds);
}

static void a_changed_megatron_index_is_read_again(void **state)
{
    const struct fby_tokens how = {.format = FBY_TOKENS_MEGATRON, .length = 4};
    static const uint64_t   places[] = {22, 2, 10};
    flat(*state, "data/m.bin", 0, 20);
    megatron(*state, megatron_sizes, megatron_places, 3);
    const struct fby_dataset_spec spec = tokens_of(*state, "data:m.bin", &how);
    assert_int_equal(sandbox_reused(&spec), 0);
    assert_int_equal(sandbox_reused(&spec), 1);
    sandbox_remove(*state, "data/m.idx");
    megatron(*state, megatron_sizes, places, 3);
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_reused_shard_count(ds), 0);
    assert_string_equal(sequence(ds, 0), "11 12 13 1");
    fby_dataset_destroy(&ds);
}

static void refuses(const struct sandbox *sb, const char *pattern,
    const struct fby_tokens *how, fby_err err, const char *words)
{
    const struct fby_dataset_spec spec = tokens_of(sb, pattern, how);
    sandbox_refuses(&spec, err, words);
}

static void files_that_are_not_of_the_format_are_refused(void **state)
{
    struct fby_tokens how = {
        .format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 8};
    flat(*state, "data/a.bin", 0, 7);
    flat(*state, "data/b.bin", 0, 5);
    flat(*state, "data/b.mds.zstd", 0, 5);
    flat(*state, "data/index.json", 0, 5);
    refuses(*state, "data:{a,b}.bin", &how, FBY_CONFIG,
        "no file holds a sequence: length is 8, and the longest of 2 has 7 "
        "tokens");
    how.shift  = 1;
    how.length = 7;
    refuses(*state, "data:a.bin", &how, FBY_CONFIG,
        "length is 7 and one more for targets, and the longest of 1 has 7");
    how.format = FBY_TOKENS_MEGATRON;
    refuses(*state, "data:a.bin", &how, FBY_NOT_FOUND,
        "shard a.bin: its index beside it: data:a.idx is not there");
    refuses(*state, "data:index.json", &how, FBY_CONFIG, "end with .bin");
    flat(*state, "data/a.idx", 0, 5);
    refuses(*state, "data:a.bin", &how, FBY_CONFIG,
        "shard a.bin: its index beside it: it ends at byte 10");
    how.format = FBY_TOKENS_MDS;
    refuses(*state, "data:index.json", &how, FBY_CONFIG, "name the shards");
    refuses(*state, "data:b.mds.zstd", &how, FBY_CONFIG, "must be unpacked");
}

/* ---- the cache ----------------------------------------------------------- */

/* Eight tokens in each of two columns, `a` and `b`, as MDSWriter has them. */
static void put_mds(const struct sandbox *sb)
{
    static const char config[] =
        "{\"column_encodings\": [\"bytes\", \"bytes\"], \"column_names\": "
        "[\"a\", \"b\"], \"column_sizes\": [16, 16], \"format\": \"mds\", "
        "\"version\": 2} "; /* of an even size */
    struct fby_buffer file  = {0};
    uint32_t          begin = 12 + sizeof(config) - 1;
    fby_put_u32(&file, 1);
    fby_put_u32(&file, begin);
    fby_put_u32(&file, begin + 32);
    fby_put_bytes(&file, config, sizeof(config) - 1);
    for (uint16_t i = 0; i < 16; i++) {
        fby_put_u16(&file, i);
    }
    sandbox_write(sb, "data/t.mds", file.data, file.size);
    fby_buffer_fini(&file);
}

/* Each way to read a file has its own manifest, and none displaces another. */
static void each_way_to_cut_has_its_own_manifest(void **state)
{
    static const struct fby_tokens ways[] = {
        {.format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 4},
        {.format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 5},
        {.format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 4, .shift = 1},
        {.format = FBY_TOKENS_FLAT, .type = FBY_U8, .length = 4},
        {.format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 4, .packed = 1},
        {.format    = FBY_TOKENS_FLAT,
            .type   = FBY_U16,
            .length = 4,
            .packed = 1,
            .end    = 3},
        {.format = FBY_TOKENS_MDS, .type = FBY_U16, .length = 4, .column = "a"},
        {.format = FBY_TOKENS_MDS, .type = FBY_U16, .length = 4, .column = "b"},
    };
    enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
    struct fby_digest seen[WAYS];
    put_mds(*state);
    for (uint32_t again = 0; again < 2; again++) {
        for (size_t i = 0; i < WAYS; i++) {
            struct fby_dataset_spec spec =
                tokens_of(*state, "data:t.mds", &ways[i]);
            struct fby_dataset *ds = sandbox_dataset(&spec);
            struct fby_digest   is = fby_dataset_digest(ds);
            assert_int_equal(fby_dataset_reused_shard_count(ds), again);
            assert_true(again == 0 || fby_digest_equal(&is, &seen[i]));
            seen[i] = is;
            for (size_t k = 0; k < i; k++) {
                assert_false(fby_digest_equal(&is, &seen[k]));
            }
            fby_dataset_destroy(&ds);
        }
    }
}

static void a_column_of_mds_is_read_by_its_name(void **state)
{
    struct fby_tokens how = {
        .format = FBY_TOKENS_MDS, .type = FBY_U16, .length = 4, .column = "b"};
    put_mds(*state);
    const struct fby_dataset_spec spec = tokens_of(*state, "data:t.mds", &how);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 2);
    assert_string_equal(sequence(ds, 0), "8 9 10 11");
    assert_string_equal(sequence(ds, 1), "12 13 14 15");
    fby_dataset_destroy(&ds);
    strcpy(how.column, "c");
    refuses(*state, "data:t.mds", &how, FBY_CONFIG, "it has no column 'c'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(sequences_are_cut_file_by_file),
        IN_SANDBOX(documents_are_packed_whole_with_their_lengths),
        IN_SANDBOX(files_of_one_document_are_counted),
        IN_SANDBOX(sequences_go_on_from_run_to_run),
        IN_SANDBOX(packed_documents_lie_where_their_runs_do),
        IN_SANDBOX(a_changed_megatron_index_is_read_again),
        IN_SANDBOX(files_that_are_not_of_the_format_are_refused),
        IN_SANDBOX(each_way_to_cut_has_its_own_manifest),
        IN_SANDBOX(a_column_of_mds_is_read_by_its_name),
    };
    return cmocka_run_group_tests_name(
        "worker.source.token_dataset", tests, NULL, NULL);
}
