/* SPDX-License-Identifier: Apache-2.0 */
/* Runs over NumPy columns, plain and ragged, and over sequences of tokens:
 * addresses of rows, and files that change while they are read. */
#include "tests/worker/source/columns_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include "worker/source/columns/ragged.h"

static void rows_are_found_in_their_shards(void **state)
{
    static const uint64_t samples[] = {299, 0, 250, 251, 249, 0};
    column(*state, "data/d-0/a.npy", 250, 1);
    column(*state, "data/d-1/A.npy", 50, 9);
    struct table t =
        open_table(sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d-{0,1}"));
    struct fby_row_key key;
    assert_true(fby_dataset_has_rows(t.dataset));
    assert_int_equal(fby_dataset_sample_count(t.dataset), 300);
    assert_string_equal(fby_dataset_key(t.dataset, 299, &key), "row 49");
    fby_row_reader_begin_run(t.reader, t.dataset, samples, 6);
    assert_int_equal(t.reader->n_shards, 2);
    assert_ok(fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
    static const uint8_t right[][2] = {
        {49, 58}, {0, 1}, {0, 9}, {1, 10}, {249, 250}, {0, 1}};
    for (int i = 0; i < 6; i++) {
        assert_memory_equal(t.reader->at[i], right[i], 2);
    }
    assert_ok(fby_row_reader_close(t.reader, t.dataset, NULL));
    close_table(&t);
}

static void more_files_are_used_than_are_kept(void **state)
{
    uint64_t samples[40];
    for (unsigned i = 0; i < 40; i++) {
        char path[32];
        snprintf(path, sizeof(path), "data/d-%02u/a.npy", i);
        column(*state, path, 1, i);
        samples[i] = i;
    }
    struct fby_dataset_spec spec =
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d-*");
    spec.max_open  = 3;
    struct table t = open_table(spec);
    for (int turn = 0; turn < 3; turn++) {
        fby_row_reader_begin_run(t.reader, t.dataset, samples, 40);
        assert_ok(
            fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
        for (unsigned i = 0; i < 40; i++) {
            assert_int_equal(t.reader->at[i][1], i);
        }
        assert_ok(fby_row_reader_close(t.reader, t.dataset, NULL));
    }
    close_table(&t);
}

static void a_file_cut_short_while_it_is_read_is_stale(void **state)
{
    const uint64_t          samples[] = {0, 19999, 10000};
    struct fby_error_detail why       = {{0}};
    column(*state, "data/d-0/a.npy", 20000, 1);
    struct table t =
        open_table(sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d-0"));
    fby_row_reader_begin_run(t.reader, t.dataset, samples, 3);
    assert_ok(fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
    assert_int_equal(truncate(sandbox_path(*state, "data/d-0/a.npy"), 0), 0);
    assert_int_equal(read_rows(t.reader), 0); /* zeros stand there */
    assert_int_equal(
        fby_row_reader_close(t.reader, t.dataset, &why), FBY_STALE);
    assert_says(&why, "column a: was cut short: 40128 bytes when it was "
                      "indexed, 0 now");
    assert_int_equal(
        fby_row_reader_open_column(t.reader, t.dataset, t.pick, &why),
        FBY_STALE);
    close_table(&t);
}

static void a_file_that_was_replaced_is_stale_after_it_was_read(void **state)
{
    const uint64_t          sample = 1;
    struct fby_error_detail why    = {{0}};
    column(*state, "data/d-0/a.npy", 5, 1);
    column(*state, "data/new.npy", 5, 2);
    struct table t =
        open_table(sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d-0"));
    fby_row_reader_begin_run(t.reader, t.dataset, &sample, 1);
    assert_ok(fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
    char *from = strdup(sandbox_path(*state, "data/new.npy"));
    assert_int_equal(rename(from, sandbox_path(*state, "data/d-0/a.npy")), 0);
    free(from);
    assert_int_equal(
        fby_row_reader_close(t.reader, t.dataset, &why), FBY_STALE);
    assert_says(&why, "was replaced or removed");
    close_table(&t);
}

static void what_is_no_table_is_refused_with_its_numbers(void **state)
{
    column(*state, "data/d/a.npy", 5, 1);
    sandbox_append(*state, "data/d/a.npy", "x", 1);
    refuses(*state, "data:d",
        "shard d: a.npy: 11 bytes follow the header; 5 rows of 2 bytes are 10");
    column(*state, "data/d/a.npy", 5, 1);
    column(*state, "data/d/b.npy", 6, 1);
    refuses(*state, "data:d",
        "b.npy: it has 6 rows, and column a has 5; all columns of a shard have "
        "the same number");
    sandbox_mkdir(*state, "data/e");
    refuses(*state, "data:e", "it holds no column");
    refuses_with(*state, "data:f*", FBY_NOT_FOUND, "no file matches data:f*");
    sandbox_write_text(*state, "data/g.npz", "PK or something else");
    refuses(*state, "data:g.npz", "the file does not end as a zip file");
}

/* ---- ragged -------------------------------------------------------------- */

static void put_offset(
    struct fby_buffer *out, const char *descr, int64_t offset)
{
    uint8_t  le[8];
    unsigned width = (unsigned)(descr[2] - '0');
    fby_store_le(le, (uint64_t)offset, 8);
    for (unsigned i = 0; i < width; i++) {
        fby_put_u8(out, le[descr[0] == '>' ? width - 1 - i : i]);
    }
}

/* `entries` entries of u1 [3], of which each holds its number; offsets of n
 * rows. */
static void lists(const struct sandbox *sb, const char *descr,
    const int64_t *offsets, unsigned n, unsigned entries)
{
    char              shape[32];
    struct fby_buffer file = {0};
    snprintf(shape, sizeof(shape), "(%u,)", n + 1);
    put_npy_header(&file, descr, shape);
    for (unsigned i = 0; i <= n; i++) {
        put_offset(&file, descr, offsets[i]);
    }
    sandbox_write(sb, "data/d/a.offsets.npy", file.data, file.size);
    fby_buffer_fini(&file);
    snprintf(shape, sizeof(shape), "(%u, 3)", entries);
    put_npy_header(&file, "|u1", shape);
    for (unsigned i = 0; i < 3 * entries; i++) {
        fby_put_u8(&file, (uint8_t)(i / 3));
    }
    sandbox_write(sb, "data/d/a.values.npy", file.data, file.size);
    fby_buffer_fini(&file);
}

static void offsets_of_every_type_say_where_lists_lie(void **state)
{
    static const char *const types[]   = {"|i1", "|u1", "<i2", ">i2", "<u2",
          ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8"};
    static const int64_t     offsets[] = {2, 2, 5, 100, 126};
    static const uint64_t    samples[] = {3, 0, 1, 2, 1};
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        lists(*state, types[t], offsets, 4, 127);
        struct table table = open_field(
            sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d"), &ragged_a);
        assert_int_equal(fby_dataset_sample_count(table.dataset), 4);
        fby_row_reader_begin_run(table.reader, table.dataset, samples, 5);
        assert_ok(fby_row_reader_open_column(
            table.reader, table.dataset, table.pick, NULL));
        for (unsigned i = 0; i < 5; i++) {
            assert_int_equal(table.reader->begin[i], offsets[samples[i]]);
            assert_int_equal(table.reader->end[i], offsets[samples[i] + 1]);
            assert_int_equal(table.reader->at[i][2], offsets[samples[i]]);
        }
        assert_ok(fby_row_reader_close(table.reader, table.dataset, NULL));
        close_table(&table);
    }
}

static void offsets_that_go_back_or_out_point_nowhere(void **state)
{
    static const int64_t  offsets[] = {0, 4, 3, 11, -1, 10};
    static const uint64_t samples[] = {0, 1, 2, 3, 4};
    static const bool     right[]   = {true, false, false, false, false};
    static const uint64_t before[]  = {0, 0, 0, 0, 0}; /* by the same run */
    lists(*state, "<i4", offsets, 5, 10);
    struct table t = open_field(
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d"), &ragged_a);
    fby_row_reader_begin_run(t.reader, t.dataset, before, 5);
    assert_ok(fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
    assert_non_null(t.reader->at[4]);
    assert_ok(fby_row_reader_close(t.reader, t.dataset, NULL));
    fby_row_reader_begin_run(t.reader, t.dataset, samples, 5);
    assert_ok(fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(t.reader->at[i] != NULL, right[i]);
    }
    assert_ok(fby_row_reader_close(t.reader, t.dataset, NULL));
    close_table(&t);
}

static void offsets_and_values_match_in_any_case(void **state)
{
    static const int64_t  offsets[] = {2, 2, 5};
    static const uint64_t samples[] = {0, 1};
    lists(*state, "<i4", offsets, 2, 5);
    assert_int_equal(rename(sandbox_path(*state, "data/d/a.offsets.npy"),
                         sandbox_path(*state, "data/d/A.OFFSETS.npy")),
        0);
    struct table t = open_field(
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d"), &ragged_a);
    fby_row_reader_begin_run(t.reader, t.dataset, samples, 2);
    assert_ok(fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
    assert_int_equal(t.reader->begin[1], 2);
    assert_int_equal(t.reader->end[1], 5);
    assert_ok(fby_row_reader_close(t.reader, t.dataset, NULL));
    close_table(&t);
}

static void lists_without_any_entry_are_rows(void **state)
{
    static const int64_t  offsets[] = {0, 0, 0};
    static const uint64_t samples[] = {1, 0};
    lists(*state, "<u8", offsets, 2, 0);
    struct table t = open_field(
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d"), &ragged_a);
    fby_row_reader_begin_run(t.reader, t.dataset, samples, 2);
    assert_ok(fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
    assert_non_null(t.reader->at[1]);
    assert_int_equal(t.reader->end[1], 0);
    assert_ok(fby_row_reader_close(t.reader, t.dataset, NULL));
    close_table(&t);
}

static void offsets_cut_short_under_a_reader_are_named(void **state)
{
    static int64_t          offsets[20001];
    const uint64_t          samples[] = {19999};
    struct fby_error_detail why       = {{0}};
    lists(*state, "<i8", offsets, 20000, 10);
    struct table t = open_field(
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d"), &ragged_a);
    fby_row_reader_begin_run(t.reader, t.dataset, samples, 1);
    assert_int_equal(
        truncate(sandbox_path(*state, "data/d/a.offsets.npy"), 0), 0);
    assert_int_equal(
        fby_row_reader_open_column(t.reader, t.dataset, t.pick, &why),
        FBY_STALE);
    assert_says(&why, "column a.offsets: was cut short");
    close_table(&t);
}

static void ragged_columns_are_refused_with_their_numbers(void **state)
{
    static const int64_t out[]      = {0, 4, 11};
    static const int64_t negative[] = {-1, 4, 10};
    static const int64_t back[]     = {7, 4, 6};
    lists(*state, "<i4", out, 2, 10);
    refuses(*state, "data:d",
        "shard d: a.offsets.npy: its offsets go from 0 to 11; a.values.npy has "
        "10 entries");
    lists(*state, "<i4", negative, 2, 10);
    refuses(*state, "data:d", "its offsets go from -1 to 10");
    lists(*state, ">u8", negative, 2, 10);
    refuses(*state, "data:d",
        "its offsets go from 9223372036854775807 or more to 10");
    lists(*state, "<i4", back, 2, 10);
    refuses(*state, "data:d", "its offsets go from 7 to 6");
    lists(*state, "<f4", back, 2, 10);
    refuses(*state, "data:d",
        "a.offsets.npy: its rows are [] of float32; offsets are whole numbers");
    lists(*state, "<i4", back, 0, 10);
    refuses(*state, "data:d", "it has 0 rows (its offsets are one more)");
    lists(*state, "<i4", out, 1, 10);
    column(*state, "data/d/b.npy", 2, 1);
    refuses(*state, "data:d", "it has 2 rows, and column a.offsets has 1");
    column(*state, "data/e/a.values.npy", 5, 1);
    refuses(*state, "data:e",
        "shard e: a.values.npy has no a.offsets.npy beside it; a ragged column "
        "is both");
}

static void a_field_says_whether_its_column_is_ragged(void **state)
{
    static const int64_t    offsets[] = {0, 4, 10};
    struct fby_error_detail why       = {{0}};
    uint16_t               *pick      = NULL;
    lists(*state, "<i4", offsets, 2, 10);
    column(*state, "data/e/a.npy", 2, 1);
    struct fby_dataset_spec spec =
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d");
    struct fby_dataset *one = sandbox_dataset(&spec);
    assert_int_equal(
        fby_dataset_pick_columns(one, &plain_a, &pick, &why), FBY_CONFIG);
    assert_says(&why, "column a is ragged; say the max_length of its rows");
    fby_dataset_destroy(&one);
    spec = sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:e");
    one  = sandbox_dataset(&spec);
    assert_int_equal(
        fby_dataset_pick_columns(one, &ragged_a, &pick, &why), FBY_CONFIG);
    assert_says(&why, "column a has rows of one shape; leave out max_length");
    fby_dataset_destroy(&one);
}

/* ---- lengths ------------------------------------------------------------- */

static void lengths_of_rows_are_what_their_offsets_say(void **state)
{
    static int64_t offsets[20001];
    for (int64_t i = 0; i <= 20000; i++) {
        offsets[i] = i / 2;
    }
    offsets[9000] = 3; /* row 8999 goes back; row 9000 is long */
    lists(*state, "<u2", offsets, 20000, 10000);
    struct fby_dataset_spec spec =
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d");
    struct fby_dataset *plain   = sandbox_dataset(&spec);
    spec.length_field           = &ragged_a;
    struct fby_dataset *dataset = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_length(dataset, 0), 0);
    assert_int_equal(fby_dataset_sample_length(dataset, 1), 1);
    assert_int_equal(fby_dataset_sample_length(dataset, 8191), 1);
    assert_int_equal(fby_dataset_sample_length(dataset, 8999), 0);
    assert_int_equal(fby_dataset_sample_length(dataset, 9000), 4497);
    assert_int_equal(fby_dataset_sample_length(dataset, 19999), 1);
    struct fby_digest one = fby_dataset_digest(plain);
    struct fby_digest two = fby_dataset_digest(dataset);
    assert_false(fby_digest_equal(&one, &two));
    fby_dataset_destroy(&plain);
    fby_dataset_destroy(&dataset);
}

static void lengths_of_rows_are_read_once_and_again_when_the_file_changed(
    void **state)
{
    static const int64_t offsets[] = {0, 4, 10};
    static const int64_t others[]  = {0, 3, 10};
    const uint32_t       reused[]  = {0, 1, 0};
    lists(*state, "<i4", offsets, 2, 10);
    struct fby_dataset_spec spec =
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d");
    spec.length_field = &ragged_a;
    for (uint32_t i = 0; i < 3; i++) {
        if (i == 2) {
            lists(*state, "<i4", others, 2, 10);
        }
        struct fby_dataset *dataset = sandbox_dataset(&spec);
        assert_int_equal(fby_dataset_reused_shard_count(dataset), reused[i]);
        assert_int_equal(fby_dataset_sample_length(dataset, 0), i < 2 ? 4 : 3);
        assert_int_equal(fby_dataset_sample_length(dataset, 1), i < 2 ? 6 : 7);
        fby_dataset_destroy(&dataset);
    }
}

static void lengths_need_a_column_that_has_some(void **state)
{
    struct fby_dataset_spec spec =
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d");
    column(*state, "data/d/a.npy", 5, 1);
    spec.length_field = &ragged_a;
    sandbox_refuses(&spec, FBY_CONFIG, "column a has rows of one shape");
}

/* ---- what is refused of one column --------------------------------------- */

static void write_column(const struct sandbox *sb, const char *path,
    const char *descr, const char *shape, size_t bytes)
{
    struct fby_buffer file = {0};
    put_npy_header(&file, descr, shape);
    for (size_t i = 0; i < bytes; i++) {
        fby_put_u8(&file, 0);
    }
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
}

static void a_column_has_samples_of_values(void **state)
{
    static const struct {
        const char *shape;
        const char *shown;
    } rows[] = {{"()", "[]"}, {"(0,)", "[0]"}, {"(3, 0)", "[3, 0]"}};
    char words[200];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        write_column(*state, "data/d/a.npy", "|u1", rows[i].shape, i == 0);
        snprintf(words, sizeof(words),
            "shard d: a.npy: its shape is %s: the first dimension of a column "
            "counts its samples, and no dimension may be 0",
            rows[i].shown);
        refuses(*state, "data:d", words);
    }
    write_column(*state, "data/e/a.values.npy", "|u1", "()", 1);
    refuses(*state, "data:e", "shard e: a.values.npy: its shape is []: the ");
    write_column(*state, "data/f/a.offsets.npy", "<i4", "(3, 2)", 24);
    refuses(*state, "data:f",
        "shard f: a.offsets.npy: its rows are [2] of int32; offsets are whole "
        "numbers in one dimension");
}

static void values_in_fortran_order_are_refused(void **state)
{
    struct fby_buffer file = {0};
    put_npy_text(&file, 1,
        "{'descr': '|u1', 'fortran_order': True, 'shape': (3, 2), }\n");
    fby_put_bytes(&file, "123456", 6);
    sandbox_write(*state, "data/d/a.npy", file.data, file.size);
    fby_buffer_fini(&file);
    refuses(*state, "data:d",
        "a.npy: its values are in Fortran order; save np.ascontiguousarray(x)");
}

static void a_column_has_a_name_that_can_be_shown(void **state)
{
    char path[100];
    snprintf(path, sizeof(path), "data/d/%063d.npy", 0);
    column(*state, path, 3, 1);
    struct fby_dataset_spec spec =
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d");
    struct fby_dataset *dataset = sandbox_dataset(&spec);
    assert_int_equal(strlen(dataset->index.shards[0].columns[0].name), 63);
    fby_dataset_destroy(&dataset);
    snprintf(path, sizeof(path), "data/d/%064d.npy", 0);
    column(*state, path, 3, 1);
    refuses(*state, "data:d", ": a column's name has at most 63 bytes");
    static const char *const names[] = {"a\tb", "a\x7f", "\xff"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "data/e%zu/%s.npy", i, names[i]);
        column(*state, path, 3, 1);
        snprintf(path, sizeof(path), "data:e%zu", i);
        refuses(*state, path,
            "a column's name is UTF-8 without control characters");
    }
    column(*state, "data/f/a.npy", 3, 1);
    column(*state, "data/f/A.npy", 3, 1);
    refuses(*state, "data:f",
        "shard f: two columns named a (the case of letters does not tell them "
        "apart)");
}

static uint32_t columns_in(struct sandbox *sb, const char *pattern)
{
    struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_COLUMNS, pattern);
    struct fby_dataset *dataset = sandbox_dataset(&spec);
    uint32_t            n       = dataset->index.shards[0].n_columns;
    fby_dataset_destroy(&dataset);
    return n;
}

static void what_is_no_column_is_passed_over(void **state)
{
    static const uint8_t values[3];
    struct npz_file      file = {.n = 0};
    struct fby_buffer    text = {0};
    fby_put_bytes(&text, "no array", 8);
    put_npz_member(&file, "notes.txt", &text);
    put_npz_array(&file, "a", "|u1", "(3,)", values, 3);
    put_npz_member(&file, ".npy", &text);
    put_npz_member(&file, "a.npy.bak", &text);
    end_npz(&file);
    sandbox_write(*state, "data/t.npz", file.bytes.data, file.bytes.size);
    sandbox_write(*state, "data/d/t.npz", file.bytes.data, file.bytes.size);
    column(*state, "data/d/b.npy", 4, 1);
    sandbox_write_text(*state, "data/d/.npy", "no column");
    sandbox_mkdir(*state, "data/d/c.npy");
    assert_int_equal(columns_in(*state, "data:t.npz"), 1);
    assert_int_equal(columns_in(*state, "data:d"), 1);
    npz_fini(&file);
    put_npz_member(&file, "x.npy", &text);
    end_npz(&file);
    sandbox_write(*state, "data/u.npz", file.bytes.data, file.bytes.size);
    refuses(*state, "data:u.npz", "shard u.npz: x.npy: ");
    npz_fini(&file);
    fby_buffer_fini(&text);
}

static void a_directory_that_lacks_members_is_refused(void **state)
{
    static const uint8_t values[3];
    struct npz_file      file = {0};
    put_npz_array(&file, "a", "|u1", "(3,)", values, 3);
    file.n++; /* in the end record only */
    end_npz(&file);
    sandbox_write(*state, "data/t.npz", file.bytes.data, file.bytes.size);
    refuses(*state, "data:t.npz",
        "damaged zip file: the number of members is 2 in its end record and 1 "
        "in its directory");
    npz_fini(&file);
}

static void a_column_that_no_shard_has_is_told_what_it_has(void **state)
{
    struct fby_field_content field = {
        .decode = FBY_DECODE_ARRAY, .from = {"z", "y"}, .n_from = 2};
    struct fby_error_detail why  = {{0}};
    uint16_t               *pick = NULL;
    struct fby_dataset_spec spec =
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d-{0,1}");
    column(*state, "data/d-0/Y.npy", 3, 1);
    column(*state, "data/d-1/a.npy", 3, 1);
    column(*state, "data/d-1/b.npy", 3, 1);
    struct fby_dataset *dataset = sandbox_dataset(&spec);
    assert_int_equal(
        fby_dataset_pick_columns(dataset, &field, &pick, &why), FBY_CONFIG);
    assert_string_equal(why.text, "shard d-1 has no column z; it has a, b");
    field.max_length = 3;
    assert_int_equal(
        fby_dataset_pick_columns(dataset, &field, &pick, &why), FBY_CONFIG);
    assert_string_equal(why.text, "shard d-0 has no ragged column z; it has Y");
    field.decode = FBY_DECODE_SPARSE;
    assert_int_equal(
        fby_dataset_pick_columns(dataset, &field, &pick, &why), FBY_CONFIG);
    assert_string_equal(why.text, "shard d-0 has no sparse column z; it has Y");
    assert_null(pick);
    fby_dataset_destroy(&dataset);
}

/* ---- tokens -------------------------------------------------------------- */

static const struct fby_tokens threes = {
    .format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 3, .shift = 1};

/* Token i of `path` is first + i; 10,000 of them. */
static void tokens(const struct sandbox *sb, const char *path, unsigned first)
{
    struct fby_buffer file = {0};
    for (unsigned i = 0; i < 10000; i++) {
        fby_put_u16(&file, (uint16_t)(first + i));
    }
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
}

static struct fby_dataset *open_tokens(struct sandbox *sb)
{
    struct fby_dataset_spec spec = sandbox_shards(sb, "data:{a,b}.bin");
    spec.kind                    = FBY_SOURCE_TOKENS;
    spec.tokens                  = &threes;
    tokens(sb, "data/a.bin", 0);
    tokens(sb, "data/b.bin", 20000);
    return sandbox_dataset(&spec);
}

static void sequences_lie_in_the_mapped_files(void **state)
{
    static const uint64_t  samples[] = {3333 + 7, 0, 3332};
    static const unsigned  right[]   = {20000 + 21, 0, 9996};
    struct fby_dataset    *dataset   = open_tokens(*state);
    struct fby_row_reader *run       = fby_row_reader_create();
    assert_true(fby_dataset_has_unpacked_tokens(dataset));
    assert_int_equal(fby_dataset_sample_count(dataset), 2 * 3333);
    fby_row_reader_begin_run(run, dataset, samples, 3);
    assert_ok(fby_row_reader_open_tokens(run, dataset, NULL));
    for (unsigned i = 0; i < 3; i++) {
        for (uint32_t first = 0; first < 2; first++) {
            struct fby_token_view piece =
                fby_row_reader_find_tokens(run, dataset, i, first, 3);
            struct fby_reader r = fby_reader(piece.at, 2);
            assert_int_equal(fby_read_u16(&r), right[i] + first);
            assert_int_equal(piece.tokens, 3);
            assert_int_equal(piece.width, 2);
        }
    }
    assert_ok(fby_row_reader_close(run, dataset, NULL));
    fby_row_reader_destroy(&run);
    fby_dataset_destroy(&dataset);
}

static void tokens_cut_short_under_a_reader_are_stale(void **state)
{
    const uint64_t          samples[] = {1, 3333};
    struct fby_error_detail why       = {{0}};
    struct fby_dataset     *dataset   = open_tokens(*state);
    struct fby_row_reader  *run       = fby_row_reader_create();
    fby_row_reader_begin_run(run, dataset, samples, 2);
    assert_ok(fby_row_reader_open_tokens(run, dataset, NULL));
    assert_int_equal(truncate(sandbox_path(*state, "data/b.bin"), 0), 0);
    assert_int_equal(
        fby_row_reader_find_tokens(run, dataset, 1, 0, 3).at[0], 0);
    assert_int_equal(fby_row_reader_close(run, dataset, &why), FBY_STALE);
    assert_says(&why, "was cut short: 20000 bytes when it was indexed, 0 now");
    assert_int_equal(run->failed, 1);
    assert_int_equal(fby_row_reader_open_tokens(run, dataset, &why), FBY_STALE);
    fby_row_reader_destroy(&run);
    fby_dataset_destroy(&dataset);
}

static void a_file_of_fewer_tokens_than_indexed_is_named_by_its_row(
    void **state)
{
    const uint64_t          samples[] = {0, 3333, 1};
    struct fby_error_detail why       = {{0}};
    struct fby_dataset     *dataset   = open_tokens(*state);
    struct fby_row_reader  *run       = fby_row_reader_create();
    dataset->index.shards[1].size++; /* a manifest that is wrong */
    fby_row_reader_begin_run(run, dataset, samples, 3);
    assert_int_equal(fby_row_reader_open_tokens(run, dataset, &why), FBY_STALE);
    assert_says(&why, "is shorter than was indexed");
    assert_int_equal(run->failed, 1);
    fby_row_reader_destroy(&run);
    fby_dataset_destroy(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(sequences_lie_in_the_mapped_files),
        IN_SANDBOX(a_file_of_fewer_tokens_than_indexed_is_named_by_its_row),
        IN_SANDBOX(tokens_cut_short_under_a_reader_are_stale),
        IN_SANDBOX(lengths_of_rows_are_what_their_offsets_say),
        IN_SANDBOX(
            lengths_of_rows_are_read_once_and_again_when_the_file_changed),
        IN_SANDBOX(lengths_need_a_column_that_has_some),
        IN_SANDBOX(offsets_of_every_type_say_where_lists_lie),
        IN_SANDBOX(offsets_that_go_back_or_out_point_nowhere),
        IN_SANDBOX(offsets_and_values_match_in_any_case),
        IN_SANDBOX(lists_without_any_entry_are_rows),
        IN_SANDBOX(offsets_cut_short_under_a_reader_are_named),
        IN_SANDBOX(ragged_columns_are_refused_with_their_numbers),
        IN_SANDBOX(a_field_says_whether_its_column_is_ragged),
        IN_SANDBOX(rows_are_found_in_their_shards),
        IN_SANDBOX(more_files_are_used_than_are_kept),
        IN_SANDBOX(a_file_cut_short_while_it_is_read_is_stale),
        IN_SANDBOX(a_file_that_was_replaced_is_stale_after_it_was_read),
        IN_SANDBOX(what_is_no_table_is_refused_with_its_numbers),
        IN_SANDBOX(a_column_has_samples_of_values),
        IN_SANDBOX(values_in_fortran_order_are_refused),
        IN_SANDBOX(a_column_has_a_name_that_can_be_shown),
        IN_SANDBOX(what_is_no_column_is_passed_over),
        IN_SANDBOX(a_directory_that_lacks_members_is_refused),
        IN_SANDBOX(a_column_that_no_shard_has_is_told_what_it_has),
    };
    return cmocka_run_group_tests_name(
        "worker.source.columns", tests, NULL, NULL);
}
