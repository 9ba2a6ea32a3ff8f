/* SPDX-License-Identifier: Apache-2.0 */
/* Token files in a directory, recognised by `forebay init`. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess.h"
#include "tests/test.h"
#include "tests/worker/source/sandbox.h"

static struct fby_guess guess; /* too large for a stack */

static const struct fby_guess_split *look(
    const struct sandbox *sb, const char *path, enum fby_type tokens)
{
    struct fby_error_detail why = {0};
    fby_guess_fini(&guess);
    if (fby_source_guess(sandbox_path(sb, path), tokens, &guess, &why) !=
        FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(guess.kind, FBY_SOURCE_TOKENS);
    return &guess.splits[0];
}

/* The message is "looking at DIRECTORY: " and `words`. */
static void assert_refused(const struct sandbox *sb, const char *path,
    enum fby_type tokens, const char *words)
{
    char                    right[512];
    struct fby_error_detail why = {0};
    snprintf(right, sizeof(right), "looking at %s: %s", sandbox_path(sb, path),
        words);
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, path), tokens, &guess, &why),
        FBY_CONFIG);
    assert_string_equal(why.text, right);
}

/* `n` tokens of u8. */
static void flat(const struct sandbox *sb, const char *path, size_t n)
{
    static const uint8_t zeros[70000];
    assert_true(n <= sizeof(zeros));
    sandbox_write(sb, path, zeros, n);
}

/* The index of one document of `n` tokens of u8, or of u16. */
static void megatron(
    const struct sandbox *sb, const char *path, uint32_t n, bool wide)
{
    struct fby_buffer idx = {0};
    fby_put_bytes(&idx, "MMIDIDX\0", 9);
    fby_put_u64(&idx, 1);
    fby_put_u8(&idx, wide ? 8 : 1);
    fby_put_u64(&idx, 1);
    fby_put_u64(&idx, 2);
    fby_put_u32(&idx, n);
    fby_put_u64(&idx, 0);
    fby_put_u64(&idx, 0);
    fby_put_u64(&idx, 1);
    sandbox_write(sb, path, idx.data, idx.size);
    fby_buffer_fini(&idx);
}

/* A shard of one column, and one sample of `n` tokens of u8. */
static void mds(const struct sandbox *sb, const char *path, const char *column,
    const char *encoding, uint32_t n)
{
    char              config[256];
    struct fby_buffer file = {0};
    snprintf(config, sizeof(config),
        "{\"column_encodings\": [\"%s\"], \"column_names\": [\"%s\"], "
        "\"column_sizes\": [%u], \"format\": \"mds\", \"version\": 2}",
        encoding, column, n);
    uint32_t begin = 12 + (uint32_t)strlen(config);
    fby_put_u32(&file, 1);
    fby_put_u32(&file, begin);
    fby_put_u32(&file, begin + n);
    fby_put_bytes(&file, config, strlen(config));
    for (uint32_t i = 0; i < n; i++) {
        fby_put_u8(&file, 0);
    }
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
}

static void the_greatest_length_that_gives_a_batch_is_taken(void **state)
{
    static const struct {
        size_t   tokens;
        uint32_t length;
        uint64_t samples;
    } rows[] = {
        {17, 16, 1},
        {33, 16, 2},
        {4096, 16, 255},
        {4097, 64, 64},
        {16384, 64, 255},
        {16385, 256, 64},
        {65536, 256, 255},
        {65537, 1024, 64},
        {66561, 1024, 65},
    };
    const struct sandbox *sb = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        flat(sb, "p/a.bin", rows[i].tokens);
        const struct fby_guess_split *split = look(sb, "p", FBY_U8);
        assert_int_equal(split->tokens.length, rows[i].length);
        assert_int_equal(split->samples, rows[i].samples);
    }
    flat(sb, "p/a.bin", 16);
    assert_refused(sb, "p", FBY_U8,
        "a.bin: too short for one sequence of 16 tokens and a target");
}

static void flat_files_of_tokens_are_found(void **state)
{
    const struct sandbox *sb = *state;
    flat(sb, "p/a-0.bin", 170);
    flat(sb, "p/a-1.bin", 34);
    flat(sb, "p/a.dat", 100);
    flat(sb, "p/x.bin.d/0", 100);
    const struct fby_guess_split *split = look(sb, "p", FBY_U16);
    assert_int_equal(guess.n_splits, 1);
    assert_string_equal(split->name, "train");
    assert_string_equal(split->pattern, sandbox_path(sb, "p/a-*.bin"));
    assert_int_equal(split->shards, 2);
    assert_int_equal(split->samples, 5 + 1);
    assert_true(split->counted_all);
    assert_int_equal(split->tokens.format, FBY_TOKENS_FLAT);
    assert_int_equal(split->tokens.type, FBY_U16);
    assert_int_equal(split->tokens.length, 16);
    assert_int_equal(split->tokens.shift, 1);
    assert_false(split->tokens.packed);
    assert_string_equal(split->tokens.column, "");
    assert_int_equal(split->n_members, 0);
    assert_int_equal(split->classes, 0);
}

static void one_file_is_flat_whatever_its_name(void **state)
{
    const struct sandbox *sb = *state;
    flat(sb, "p/a.dat", 100);
    flat(sb, "p/b.bin", 200);
    assert_int_equal(look(sb, "p/a.dat", FBY_U8)->samples, 6);
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p/a.dat"));
    assert_string_equal(guess.splits[0].name, "train");
    flat(sb, "p/none", 40);
    assert_int_equal(look(sb, "p/none", FBY_U8)->samples, 2);
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p/none"));
    assert_int_equal(look(sb, "p", FBY_U8)->samples, 12);
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p/b.bin"));
}

static void an_index_beside_it_makes_it_one_of_megatron(void **state)
{
    const struct sandbox *sb = *state;
    flat(sb, "p/train/a.bin", 100);
    megatron(sb, "p/train/a.idx", 50, true);
    const struct fby_guess_split *split = look(sb, "p", 0);
    assert_int_equal(guess.n_splits, 1);
    assert_string_equal(split->pattern, sandbox_path(sb, "p/train/a.bin"));
    assert_int_equal(split->tokens.format, FBY_TOKENS_MEGATRON);
    assert_int_equal(split->tokens.type, 0);
    assert_int_equal(split->samples, 3);
    assert_int_equal(split->shards, 1);
    look(sb, "p/train/a.bin", 0);
    assert_int_equal(split->tokens.format, FBY_TOKENS_MEGATRON);
    sandbox_remove(sb, "p/train/a.idx");
    sandbox_mkdir(sb, "p/train/a.idx");
    assert_int_equal(look(sb, "p", FBY_U8)->tokens.format, FBY_TOKENS_FLAT);
}

static void shards_of_mds_name_the_column_of_tokens(void **state)
{
    const struct sandbox *sb = *state;
    mds(sb, "p/s.0.mds", "tokens", "ndarray:uint8:5", 35);
    mds(sb, "p/s.1.mds", "tokens", "ndarray:uint8:5", 17);
    sandbox_write_text(sb, "p/index.json", "{}");
    const struct fby_guess_split *split = look(sb, "p", 0);
    assert_string_equal(split->pattern, sandbox_path(sb, "p/s.*.mds"));
    assert_int_equal(split->tokens.format, FBY_TOKENS_MDS);
    assert_string_equal(split->tokens.column, "tokens");
    assert_int_equal(split->samples, 3);
    mds(sb, "p/s.0.mds", "input_ids", "bytes", 36);
    mds(sb, "p/s.1.mds", "input_ids", "bytes", 36);
    assert_string_equal(look(sb, "p", FBY_U16)->tokens.column, "input_ids");
    assert_int_equal(split->samples, 2);
    assert_int_equal(split->tokens.type, FBY_U16);
}

static void an_mds_error_is_that_of_the_column_tokens(void **state)
{
    const struct sandbox *sb = *state;
    mds(sb, "p/s.mds", "other", "bytes", 36);
    assert_refused(sb, "p", 0,
        "token files (--tokens TYPE says the type of tokens that are bytes; "
        "pictures in .mds files are not read yet: write tar shards): "
        "shard s.mds: it has no column 'tokens'; say which holds the tokens "
        "with column: NAME");
    mds(sb, "p/s.mds", "tokens", "bytes", 36);
    assert_refused(sb, "p", 0,
        "token files (--tokens TYPE says the type of tokens that are bytes; "
        "pictures in .mds files are not read yet: write tar shards): "
        "shard s.mds: its tokens are bytes of some type; say which with type: "
        "u16, u32, i32 or i64");
}

/* Of five words and three formats: nine splits. */
static void each_word_and_format_is_a_split(void **state)
{
    static const char *const files[] = {"m-train.bin", "m-val.bin", "s-val.mds",
        "test.bin", "train.bin", "val.bin", "valid.bin", "validation.bin"};
    static const char *const names[] = {"train", "val", "s-val", "test",
        "split5", "split6", "valid", "validation"};
    const struct sandbox    *sb      = *state;
    char                     path[64];
    for (size_t i = 0; i < 8; i++) {
        snprintf(path, sizeof(path), "p/%s", files[i]);
        flat(sb, path, 100);
    }
    megatron(sb, "p/m-train.idx", 100, false);
    megatron(sb, "p/m-val.idx", 100, false);
    mds(sb, "p/s-val.mds", "tokens", "bytes", 100);
    mds(sb, "p/y.mds", "tokens", "bytes", 100);
    look(sb, "p", FBY_U8);
    assert_int_equal(guess.n_splits, 8);
    assert_int_equal(guess.n_left_out, 1);
    for (size_t i = 0; i < 8; i++) {
        enum fby_tokens_format right = i < 2    ? FBY_TOKENS_MEGATRON
                                       : i == 2 ? FBY_TOKENS_MDS
                                                : FBY_TOKENS_FLAT;
        snprintf(path, sizeof(path), "p/%s", files[i]);
        assert_string_equal(guess.splits[i].name, names[i]);
        assert_string_equal(guess.splits[i].pattern, sandbox_path(sb, path));
        assert_int_equal(guess.splits[i].tokens.format, right);
        assert_int_equal(guess.splits[i].samples, 6);
    }
}

static void train_stands_first_whatever_its_file_is_called(void **state)
{
    const struct sandbox *sb = *state;
    flat(sb, "p/a-test.bin", 40);
    flat(sb, "p/b-val.bin", 60);
    flat(sb, "p/c-train.bin", 100);
    look(sb, "p", FBY_U8);
    assert_int_equal(guess.n_splits, 3);
    assert_string_equal(guess.splits[0].name, "train");
    assert_int_equal(guess.splits[0].samples, 6);
    assert_string_equal(guess.splits[1].name, "val");
    assert_int_equal(guess.splits[1].samples, 3);
    assert_string_equal(guess.splits[2].name, "test");
    assert_int_equal(guess.splits[2].samples, 2);
}

static void a_wildcard_matches_the_files_of_its_split_alone(void **state)
{
    const struct sandbox *sb = *state;
    flat(sb, "p/a-0.bin", 20);
    flat(sb, "p/a-1.bin", 20);
    flat(sb, "p/a-val.bin", 20);
    look(sb, "p", FBY_U8);
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(sb, "p/{a-0.bin,a-1.bin}"));
    assert_string_equal(
        guess.splits[1].pattern, sandbox_path(sb, "p/a-val.bin"));
    flat(sb, "q/train.bin", 20);
    flat(sb, "q/train-1.bin", 20);
    look(sb, "q", FBY_U8);
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(sb, "q/train*.bin"));
}

/* `n` files with names of 250 bytes that no wildcard separates from others. */
static void write_long_names(const struct sandbox *sb, unsigned n)
{
    char path[300];
    flat(sb, "p/test.bin", 20);
    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "p/%c%0245d.bin", (char)('a' + i), 0);
        flat(sb, path, 20);
    }
}

static void a_brace_names_as_many_files_as_a_path_can_hold(void **state)
{
    const struct sandbox *sb = *state;
    write_long_names(sb, 15);
    look(sb, "p", FBY_U8);
    assert_int_equal(guess.splits[0].shards, 15);
    assert_int_equal(strlen(guess.splits[0].pattern),
        strlen(sandbox_path(sb, "p/{")) + (size_t)15 * 251);
    write_long_names(sb, 17);
    assert_refused(sb, "p", FBY_U8,
        "no short pattern matches the 17 token files of split train; give each "
        "split a folder");
}

/* 16 files whose brace has 4,081 + `n` bytes. */
static void a_brace_longer_than_a_path_is_refused(void **state)
{
    const struct sandbox *sb = *state;
    for (int n = 14; n <= 15; n++) {
        char                    path[300];
        struct fby_error_detail why = {0};
        snprintf(path, sizeof(path), "p%d/test.bin", n);
        flat(sb, path, 20);
        for (int i = 0; i < 16; i++) {
            snprintf(path, sizeof(path), "p%d/%c%0*d.bin", n, 'a' + i,
                249 + (i < n ? 1 : 0), 0);
            flat(sb, path, 20);
        }
        snprintf(path, sizeof(path), "p%d", n);
        assert_int_equal(
            fby_source_guess(sandbox_path(sb, path), FBY_U8, &guess, &why),
            n == 14 ? FBY_USAGE : FBY_CONFIG);
        assert_says(&why, n == 14 ? "a location has 1 to 4095 bytes, not 4100"
                                  : "the 16 token files of split train; ");
    }
}

static void a_directory_with_letters_of_patterns_is_refused(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    flat(sb, "p{q/a.bin", 20);
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, "p{q"), FBY_U8, &guess, &why),
        FBY_CONFIG);
    assert_says(&why, "/p{q has a special character of patterns; ");
}

static void assert_type_is_wrong(const struct sandbox *sb, const char *path,
    enum fby_type given, const char *right)
{
    struct fby_error_detail why = {0};
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, path), given, &guess, &why),
        FBY_CONFIG);
    assert_says(&why, right);
}

/* Tokens of 64 bits and of 32 bits have zeros where smaller ones have ids. */
static void a_type_that_is_too_small_is_refused(void **state)
{
    const struct sandbox *sb       = *state;
    uint64_t              wide[64] = {0};
    uint32_t              half[64] = {0};
    for (uint32_t i = 0; i < 64; i++) {
        wide[i] = 1000 * i + 1;
        half[i] = 1000 * i + 1;
    }
    sandbox_write(sb, "p/a.bin", wide, sizeof(wide));
    sandbox_write(sb, "q/a.bin", half, sizeof(half));
    assert_type_is_wrong(sb, "p", FBY_U16,
        "no token ids of type u16: its type seems to be i64,");
    assert_type_is_wrong(sb, "p", FBY_I32,
        "no token ids of type i32: its type seems to be i64,");
    assert_type_is_wrong(sb, "q", FBY_U16,
        "no token ids of type u16: its type seems to be u32,");
    assert_int_equal(look(sb, "p", FBY_I64)->tokens.type, FBY_I64);
    assert_int_equal(look(sb, "q", FBY_I32)->tokens.type, FBY_I32);
    assert_int_equal(look(sb, "q", FBY_U8)->tokens.type, FBY_U8);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_greatest_length_that_gives_a_batch_is_taken),
        TEST(flat_files_of_tokens_are_found),
        TEST(one_file_is_flat_whatever_its_name),
        TEST(an_index_beside_it_makes_it_one_of_megatron),
        TEST(shards_of_mds_name_the_column_of_tokens),
        TEST(an_mds_error_is_that_of_the_column_tokens),
        TEST(each_word_and_format_is_a_split),
        TEST(train_stands_first_whatever_its_file_is_called),
        TEST(a_wildcard_matches_the_files_of_its_split_alone),
        TEST(a_brace_names_as_many_files_as_a_path_can_hold),
        TEST(a_brace_longer_than_a_path_is_refused),
        TEST(a_directory_with_letters_of_patterns_is_refused),
        TEST(a_type_that_is_too_small_is_refused),
    };
    return cmocka_run_group_tests_name(
        "worker.source.guess_tokens", tests, NULL, NULL);
}
