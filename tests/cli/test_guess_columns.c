/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of NumPy and SciPy in a directory, recognised by `forebay init`. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess.h"
#include "tests/test.h"
#include "tests/worker/source/sandbox.h"
#include "tests/worker/transform/npz_file.h"

static struct fby_guess guess; /* too large for a stack */

static const struct fby_guess_split *look(
    const struct sandbox *sb, const char *path)
{
    struct fby_error_detail why = {0};
    fby_guess_fini(&guess);
    if (fby_source_guess(sandbox_path(sb, path), 0, &guess, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    return &guess.splits[0];
}

/* The message is "looking at DIRECTORY: " and `words`. */
static void assert_refused(
    const struct sandbox *sb, const char *path, const char *words)
{
    char                    right[512];
    struct fby_error_detail why = {0};
    snprintf(right, sizeof(right), "looking at %s: %s", sandbox_path(sb, path),
        words);
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, path), 0, &guess, &why), FBY_CONFIG);
    assert_string_equal(why.text, right);
}

static void assert_table(const struct sandbox *sb, const char *path,
    const char *pattern, uint32_t shards, uint64_t samples)
{
    const struct fby_guess_split *split = look(sb, path);
    assert_int_equal(guess.kind, FBY_SOURCE_COLUMNS);
    assert_int_equal(guess.n_splits, 1);
    assert_int_equal(guess.n_left_out, 0);
    assert_string_equal(split->name, "train");
    assert_string_equal(split->pattern, sandbox_path(sb, pattern));
    assert_int_equal(split->shards, shards);
    assert_int_equal(split->samples, samples);
    assert_int_equal(split->counted_all, shards == 1);
    assert_int_equal(split->classes, 0);
    assert_int_equal(split->n_members, 0);
    assert_int_equal(split->n_file_columns, 0);
    assert_int_equal(split->n_columns, 1);
    assert_string_equal(split->columns[0].name, "a");
}

static void assert_class_folders(
    const struct sandbox *sb, const char *path, uint32_t classes)
{
    const struct fby_guess_split *split = look(sb, path);
    assert_int_equal(guess.kind, FBY_SOURCE_FOLDER);
    assert_int_equal(guess.n_splits, 1);
    assert_int_equal(split->classes, classes);
    assert_int_equal(split->n_columns, 0);
    assert_int_equal(split->shards, 0);
}

/* A column of `rows` bytes, at most 99. */
static void write_npy(const struct sandbox *sb, const char *path, unsigned rows)
{
    static const uint8_t values[99];
    char                 shape[16];
    struct fby_buffer    file = {0};
    snprintf(shape, sizeof(shape), "(%u,)", rows);
    put_npy_header(&file, "|u1", shape);
    fby_put_bytes(&file, values, rows);
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
}

static void end_file(
    const struct sandbox *sb, const char *path, struct npz_file *file)
{
    end_npz(file);
    sandbox_write(sb, path, file->bytes.data, file->bytes.size);
    npz_fini(file);
}

/* A file of np.savez: column a. */
static void write_table(
    const struct sandbox *sb, const char *path, unsigned rows)
{
    static const uint8_t values[99];
    char                 shape[16];
    struct npz_file      file = {.n = 0};
    snprintf(shape, sizeof(shape), "(%u,)", rows);
    put_npz_array(&file, "a", "|u1", shape, values, rows);
    end_file(sb, path, &file);
}

/* A file of scipy.sparse.save_npz without any entry; one saved as "coo" is
 * refused. */
static void write_matrix(const struct sandbox *sb, const char *path,
    const char *format, unsigned rows)
{
    static const uint8_t zeros[100];
    int64_t              shape[] = {rows, 7};
    char                 text[16];
    struct npz_file      file = {.n = 0};
    snprintf(text, sizeof(text), "(%u,)", rows + 1);
    put_npz_array(&file, "format", "|S3", "()", format, 3);
    put_npz_array(&file, "data", "|u1", "(0,)", zeros, 0);
    put_npz_array(&file, "indices", "|u1", "(0,)", zeros, 0);
    put_npz_array(&file, "indptr", "|u1", text, zeros, rows + 1);
    put_npz_array(&file, "shape", "<i8", "(2,)", shape, sizeof(shape));
    end_file(sb, path, &file);
}

static void a_folder_of_npy_files_is_one_shard(void **state)
{
    const struct sandbox *sb = *state;
    write_npy(sb, "p/a.npy", 5);
    sandbox_write_text(sb, "p/0.txt", "beside it");
    sandbox_write_text(sb, "p/0.jpg", "beside it");
    sandbox_write_text(sb, "p/z/1.jpg", "below it");
    assert_table(sb, "p", "p", 1, 5);
    look(sb, "p/a.npy");
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p"));
    write_npy(sb, "p/b.npy", 5);
    look(sb, "p");
    assert_int_equal(guess.splits[0].n_columns, 2);
    assert_string_equal(guess.splits[0].columns[1].name, "b");
    assert_int_equal(guess.splits[0].columns[1].row_bytes, 1);
    write_npy(sb, "p/b.npy", 4);
    assert_refused(sb, "p",
        "b.npy: it has 4 rows, and column a has 5; all columns of a "
        "shard have the same number, at least 1");
}

static void of_many_columns_the_first_are_kept(void **state)
{
    const struct sandbox *sb = *state;
    char                  path[32];
    for (unsigned i = 0; i < FBY_GUESS_COLUMNS; i++) {
        snprintf(path, sizeof(path), "p/c%02u.npy", i);
        write_npy(sb, path, 3);
    }
    assert_int_equal(look(sb, "p")->n_columns, FBY_GUESS_COLUMNS);
    write_npy(sb, "p/d.npy", 3);
    const struct fby_guess_split *split = look(sb, "p");
    assert_int_equal(split->n_columns, FBY_GUESS_COLUMNS);
    assert_string_equal(split->columns[0].name, "c00");
    assert_string_equal(split->columns[31].name, "c31");
}

static void folders_of_npy_files_are_shards(void **state)
{
    const struct sandbox *sb = *state;
    write_npy(sb, "p/d-1/a.npy", 7);
    assert_table(sb, "p", "p/*", 1, 7);
    write_npy(sb, "p/d-0/a.npy", 5);
    sandbox_write_text(sb, "p/README.txt", "no shard");
    sandbox_write_text(sb, "p/e/a.txt", "no shard");
    sandbox_mkdir(sb, "p/f/a.npy");
    assert_table(sb, "p", "p/*", 2, 5);
    write_npy(sb, "p/d-0/b.npy", 4);
    assert_refused(sb, "p",
        "shard d-0: b.npy: it has 4 rows, and column a has 5; all columns of a "
        "shard have the same number, at least 1");
}

static void npz_files_are_shards(void **state)
{
    const struct sandbox *sb = *state;
    write_table(sb, "p/t-1.npz", 7);
    write_table(sb, "p/t-0.npz", 5);
    sandbox_mkdir(sb, "p/s-0.npz");
    assert_table(sb, "p", "p/*", 2, 5);
    assert_table(sb, "p/t-1.npz", "p/t-1.npz", 1, 7);
}

static void columns_are_found_in_folders_of_splits(void **state)
{
    const struct sandbox *sb = *state;
    write_table(sb, "p/train/t-0.npz", 5);
    write_npy(sb, "p/val/a.npy", 3);
    look(sb, "p");
    assert_int_equal(guess.n_splits, 2);
    assert_string_equal(guess.splits[0].name, "train");
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p/train/*"));
    assert_string_equal(guess.splits[1].name, "val");
    assert_string_equal(guess.splits[1].pattern, sandbox_path(sb, "p/val"));
    assert_int_equal(guess.splits[1].samples, 3);
}

static void matrices_alone_are_columns_of_their_folder(void **state)
{
    const struct sandbox *sb = *state;
    write_matrix(sb, "p/a.npz", "csr", 3);
    assert_table(sb, "p", "p", 1, 3);
    assert_table(sb, "p/a.npz", "p", 1, 3);
    assert_int_equal(guess.splits[0].columns[0].role, FBY_COLUMN_CSR);
    write_matrix(sb, "p/b.npz", "csr", 3);
    assert_int_equal(look(sb, "p")->n_columns, 2);
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p"));
    write_matrix(sb, "q/a.npz", "csr", 1);
    assert_table(sb, "q", "q", 1, 1);
    write_matrix(sb, "r/a.npz", "coo", 3);
    assert_refused(
        sb, "r", "a.npz: format.npy: it is saved as coo; save tocsr() instead");
}

static void a_matrix_among_tables_is_named(void **state)
{
    static const char words[] =
        "b.npz is a matrix of scipy.sparse.save_npz, so a column of its "
        "folder, but a.npz is a shard; put them into separate folders";
    const struct sandbox *sb = *state;
    write_table(sb, "p/a.npz", 5);
    write_table(sb, "p/d.npz", 5);
    write_matrix(sb, "p/b.npz", "csr", 3);
    assert_refused(sb, "p", words);
    write_matrix(sb, "p/c.npz", "csr", 3);
    assert_refused(sb, "p", words);
    sandbox_mkdir(sb, "p/e");
    assert_refused(sb, "p", words);
}

static void a_file_that_cannot_be_read_is_a_shard_among_others(void **state)
{
    const struct sandbox *sb = *state;
    write_table(sb, "p/a.npz", 5);
    write_matrix(sb, "p/b.npz", "coo", 3);
    sandbox_write_text(sb, "p/c.npz", "no .zip at all");
    assert_table(sb, "p", "p/*", 3, 5);
}

static void folders_of_matrices_are_shards(void **state)
{
    const struct sandbox *sb = *state;
    write_matrix(sb, "p/c/a.npz", "csr", 3);
    write_matrix(sb, "p/d/a.npz", "csr", 4);
    assert_table(sb, "p", "p/*", 2, 3);
    write_matrix(sb, "q/c/a.npz", "coo", 3);
    assert_refused(sb, "q",
        "shard c: a.npz: format.npy: it is saved as coo; save tocsr() instead");
}

static void beside_other_folders_matrices_are_no_columns(void **state)
{
    const struct sandbox *sb = *state;
    write_matrix(sb, "p/a.npz", "csr", 3);
    sandbox_write_text(sb, "p/c/1.jpg", "x");
    assert_class_folders(sb, "p", 0);
}

static void files_beside_pictures_or_of_one_row_are_members_of_samples(
    void **state)
{
    const struct sandbox *sb = *state;
    write_matrix(sb, "p/c/1.npz", "csr", 3);
    sandbox_write_text(sb, "p/c/1.jpg", "x");
    write_matrix(sb, "p/d/1.npz", "csr", 3);
    sandbox_write_text(sb, "p/d/2.jpg", "x");
    assert_class_folders(sb, "p", 2);
    write_matrix(sb, "q/c/1.npz", "csr", 1);
    write_matrix(sb, "q/c/2.npz", "csr", 3); /* the first one decides */
    assert_class_folders(sb, "q", 1);
    write_table(sb, "r/c/1.npz", 3);
    assert_class_folders(sb, "r", 1);
}

static void only_the_first_npz_files_are_read(void **state)
{
    const struct sandbox *sb = *state;
    char                  path[32];
    for (unsigned i = 0; i < 63; i++) {
        snprintf(path, sizeof(path), "p/t-%02u.npz", i);
        write_table(sb, path, 2);
    }
    write_matrix(sb, "p/u.npz", "csr", 3);
    assert_refused(sb, "p",
        "u.npz is a matrix of scipy.sparse.save_npz, so a column of its "
        "folder, but t-00.npz is a shard; put them into separate folders");
    write_table(sb, "p/t-63.npz", 2);
    assert_table(sb, "p", "p/*", 65, 2);
}

static void a_directory_with_letters_of_patterns_is_refused(void **state)
{
    const struct sandbox *sb = *state;
    write_npy(sb, "p,q/a.npy", 3);
    struct fby_error_detail why = {0};
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, "p,q"), 0, &guess, &why), FBY_CONFIG);
    assert_says(&why, "/p,q has a special character of patterns; ");
}

static void a_file_whose_name_is_a_pattern_is_refused(void **state)
{
    const struct sandbox *sb = *state;
    write_table(sb, "p/a.npz", 5);
    write_table(sb, "p/{a,b}.npz", 3);
    assert_refused(sb, "p/{a,b}.npz",
        "the name of {a,b}.npz has a special character of patterns; rename it");
    write_table(sb, "p/*.npz", 3);
    assert_refused(sb, "p/*.npz",
        "the name of *.npz has a special character of patterns; rename it");
    write_table(sb, "p/a,b.npz", 3);
    assert_table(sb, "p/a,b.npz", "p/a,b.npz", 1, 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_folder_of_npy_files_is_one_shard),
        TEST(of_many_columns_the_first_are_kept),
        TEST(folders_of_npy_files_are_shards),
        TEST(npz_files_are_shards),
        TEST(columns_are_found_in_folders_of_splits),
        TEST(matrices_alone_are_columns_of_their_folder),
        TEST(a_matrix_among_tables_is_named),
        TEST(a_file_that_cannot_be_read_is_a_shard_among_others),
        TEST(folders_of_matrices_are_shards),
        TEST(beside_other_folders_matrices_are_no_columns),
        TEST(files_beside_pictures_or_of_one_row_are_members_of_samples),
        TEST(only_the_first_npz_files_are_read),
        TEST(a_directory_with_letters_of_patterns_is_refused),
        TEST(a_file_whose_name_is_a_pattern_is_refused),
    };
    return cmocka_run_group_tests_name(
        "worker.source.guess_columns", tests, NULL, NULL);
}
