/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of columns: checks of columns, and every way to copy and cast rows, from
 * files of one dtype and of several. */
#include "tests/test.h"

#include <string.h>

#include "tests/says.h"
#include "tests/worker/kit.h"
#include "tests/worker/table.h"
#include "worker/plan/rows.h"

enum { ROWS = 300, RUN_ROWS = 200, GUARD = 64 };

struct bench {
    struct fby_content    *content;
    struct fby_dataset    *dataset;
    struct fby_rows       *rows;
    struct fby_row_reader *reader;
};

#define COLUMNS "{forebay: 1, splits: {s: {columns: t}}, global_batch: 9, "

static fby_err try_open(struct bench *bench, const struct sandbox *sb,
    const char *pattern, const char *fields, struct fby_error_detail *why)
{
    char text[2048];
    snprintf(text, sizeof(text), COLUMNS "fields: {%s}}", fields);
    *bench = (struct bench){.content = content_of(text),
        .dataset                     = open_columns(sb, pattern),
        .reader                      = fby_row_reader_create()};
    return fby_rows_create(bench->content, bench->dataset, &bench->rows, why);
}

static void bench_open(struct bench *bench, const struct sandbox *sb,
    const char *pattern, const char *fields)
{
    struct fby_error_detail why = {{0}};
    if (try_open(bench, sb, pattern, fields, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static void bench_close(struct bench *bench)
{
    fby_rows_destroy(&bench->rows);
    assert_null(bench->rows);
    fby_rows_destroy(&bench->rows);
    fby_row_reader_destroy(&bench->reader);
    fby_dataset_destroy(&bench->dataset);
    free(bench->content);
}

/* ---- Columns that fit a field -------------------------------------------- */

static void refuses(
    const struct sandbox *sb, const char *fields, const char *text)
{
    struct bench            bench;
    struct fby_error_detail why = {{0}};
    assert_int_equal(try_open(&bench, sb, "data:t", fields, &why), FBY_CONFIG);
    assert_string_equal(why.text, text);
    bench_close(&bench);
}

static void zeros(const struct sandbox *sb, const char *name, const char *descr,
    const char *shape, size_t bytes)
{
    struct fby_buffer values = {0};
    for (size_t i = 0; i < bytes; i++) {
        fby_put_u8(&values, 0);
    }
    write_column(sb, name, descr, shape, &values);
}

static void columns_that_do_not_fit_are_refused_by_name(void **state)
{
    struct bench bench;
    zeros(*state, "t/a", "<f4", "(3, 4, 5)", 240);
    zeros(*state, "t/n", "<f8", "(3,)", 24);
    zeros(*state, "t/i", "<i2", "(3, 9)", 54);
    bench_open(&bench, *state, "data:t",
        "a: {from: a, decode: array, shape: [4, 5], wire: f32}, "
        "n: {from: n, decode: number}, "
        "i: {from: i, decode: array, shape: [9], wire: bits, "
        "out: {dtype: u8}}");
    bench_close(&bench);
    refuses(*state, "x: {from: a, decode: array, shape: [4, 6], wire: f32}",
        "field x: shard t, column a: the shape of its rows is [4, 5], the "
        "field's [4, 6]");
    refuses(*state, "x: {from: a, decode: array, shape: [5, 5], wire: f32}",
        "field x: shard t, column a: the shape of its rows is [4, 5], the "
        "field's [5, 5]");
    refuses(*state, "x: {from: a, decode: array, shape: [4], wire: f32}",
        "field x: shard t, column a: the shape of its rows is [4, 5], the "
        "field's [4]");
    refuses(*state, "x: {from: n, decode: label, classes: 3}",
        "field x: shard t, column n: its dtype is float64; a label is made of "
        "whole numbers");
    refuses(*state,
        "x: {from: a, decode: array, shape: [4, 5], wire: bits, "
        "out: {dtype: u8}}",
        "field x: shard t, column a: its dtype is float32; bits come from "
        "bools or whole numbers");
}

/* The narrowest float is refused, too. */
static void halves_are_neither_labels_nor_bits(void **state)
{
    zeros(*state, "t/h", "<f2", "(3, 4)", 24);
    zeros(*state, "t/n", "<f2", "(3,)", 6);
    refuses(*state, "x: {from: n, decode: label, classes: 3}",
        "field x: shard t, column n: its dtype is float16; a label is made of "
        "whole numbers");
    refuses(*state,
        "x: {from: h, decode: array, shape: [4], wire: bits, "
        "out: {dtype: u8}}",
        "field x: shard t, column h: its dtype is float16; bits come from "
        "bools or whole numbers");
}

static void a_field_that_fits_hides_no_earlier_error(void **state)
{
    zeros(*state, "t/a", "<f2", "(3, 4)", 24);
    zeros(*state, "t/b", "<f4", "(3, 4)", 48);
    refuses(*state,
        "x: {from: a, decode: array, shape: [5], wire: f32}, "
        "y: {from: b, decode: array, shape: [4], wire: f32}",
        "field x: shard t, column a: the shape of its rows is [4], the "
        "field's [5]");
}

static void every_shard_is_checked(void **state)
{
    struct bench            bench;
    struct fby_error_detail why = {{0}};
    zeros(*state, "t-0/a", "<f4", "(3, 4)", 48);
    zeros(*state, "t-1/a", "<f2", "(3, 5)", 30);
    assert_int_equal(
        try_open(&bench, *state, "data:t-*",
            "x: {from: a, decode: array, shape: [4], wire: f32}", &why),
        FBY_CONFIG);
    assert_string_equal(why.text,
        "field x: shard t-1, column a: the shape of its rows is [5], the "
        "field's [4]");
    bench_close(&bench);
}

/* ---- Copies and casts ---------------------------------------------------- */

/* The i-th value of row `row`, at most 100. */
static uint32_t value_at(uint64_t row, uint32_t i)
{
    return (uint32_t)(row * 7 + UINT64_C(3) * i + i / 100) % 101;
}

static void put_value(struct fby_buffer *out, const char *descr, uint32_t value)
{
    float   f     = (float)value;
    uint8_t le[8] = {0};
    int     n     = descr[2] - '0';
    if (descr[1] == 'f') {
        memcpy(le, &f, sizeof(f));
    } else {
        le[0] = (uint8_t)value;
    }
    for (int i = 0; i < n; i++) {
        fby_put_u8(out, descr[0] == '>' ? le[n - 1 - i] : le[i]);
    }
}

/* Rows [first, first + ROWS) of `width` values each. */
static void write_values(const struct sandbox *sb, const char *name,
    const char *descr, uint64_t first, uint32_t width)
{
    struct fby_buffer values = {0};
    char              shape[32];
    snprintf(shape, sizeof(shape), "(%d, %u)", ROWS, width);
    for (uint64_t row = first; row < first + ROWS; row++) {
        for (uint32_t i = 0; i < width; i++) {
            put_value(&values, descr, value_at(row, i));
        }
    }
    write_column(sb, name, descr, shape, &values);
}

/* The i-th sample of a run, scattered over both shards. */
static uint64_t sample_at(uint32_t i, uint64_t samples)
{
    return (i * UINT64_C(37) + i / 9) % samples;
}

static uint64_t wire_value(
    const struct fby_field_content *field, const uint8_t *at)
{
    float f = 0;
    if (field->wire_type == FBY_F32) {
        memcpy(&f, at, sizeof(f));
        return (uint64_t)f;
    }
    size_t            width = fby_type_bytes(field->wire_type);
    struct fby_reader r     = fby_reader(at, width);
    return fby_read_le(&r, width);
}

static void make_run(struct bench *bench, uint32_t first,
    uint8_t *dst, /* NOLINT(readability-non-const-parameter): written to */
    bool    *bad)
{
    uint64_t                samples[RUN_ROWS];
    struct fby_error_detail why = {{0}};
    for (uint32_t i = 0; i < RUN_ROWS; i++) {
        samples[i] = sample_at(i, fby_dataset_sample_count(bench->dataset));
    }
    fby_row_reader_begin_run(bench->reader, bench->dataset, samples, RUN_ROWS);
    assert_ok(fby_rows_open(bench->rows, 0, bench->reader, &why));
    const struct fby_rows_group part = {
        .first = first, .n = RUN_ROWS - first, .dst = dst};
    fby_rows_write(bench->rows, 0, bench->reader, part, bad);
    assert_ok(fby_rows_close(bench->rows, 0, bench->reader, &why));
}

/* Check the bytes of rows 3 and on of a run, and that no byte follows. */
static void check_run(const struct sandbox *sb, const char *pattern,
    uint32_t width, const char *wire)
{
    enum { FIRST = 3 };
    struct bench bench;
    char         field[128];
    bool         bad[RUN_ROWS] = {false};
    snprintf(field, sizeof(field),
        "x: {from: x, decode: array, shape: [%u], wire: %s}", width, wire);
    bench_open(&bench, sb, pattern, field);
    const struct fby_field_content *x     = &bench.content->fields[0];
    size_t                          one   = fby_type_bytes(x->wire_type);
    size_t                          bytes = one * width * (RUN_ROWS - FIRST);
    uint8_t                        *dst   = fby_zalloc(bytes + GUARD);
    memset(dst + bytes, 0xa5, GUARD);
    make_run(&bench, FIRST, dst, bad);
    for (uint32_t i = FIRST; i < RUN_ROWS; i++) {
        uint64_t sample = sample_at(i, fby_dataset_sample_count(bench.dataset));
        for (uint32_t k = 0; k < width; k++) {
            assert_int_equal(
                wire_value(x, dst + ((size_t)(i - FIRST) * width + k) * one),
                value_at(sample, k));
        }
        assert_false(bad[i]);
    }
    for (int i = 0; i < GUARD; i++) {
        assert_int_equal(dst[bytes + (size_t)i], 0xa5);
    }
    free(dst);
    bench_close(&bench);
}

static void rows_of_every_width_are_copied(void **state)
{
    static const uint32_t widths[] = {1, 2, 3, 4, 8, 100, 5000};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        write_values(*state, "t-0/x", "|u1", 0, widths[i]);
        write_values(*state, "t-1/x", "|u1", ROWS, widths[i]);
        check_run(*state, "data:t-*", widths[i], "u8");
        check_run(*state, "data:t-0", widths[i], "u8");
    }
}

/* Rows of 4096 bytes are cast from the file; smaller rows are gathered first,
 * as many as 32768 bytes hold. */
static void rows_of_every_size_are_cast(void **state)
{
    static const uint32_t widths[] = {1, 150, 1023, 1024};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        write_values(*state, "t-0/x", "<i4", 0, widths[i]);
        write_values(*state, "t-1/x", "<i4", ROWS, widths[i]);
        check_run(*state, "data:t-*", widths[i], "f32");
        check_run(*state, "data:t-0", widths[i], "u8");
    }
}

/* A row is cast from the dtype of its own file. */
static void files_may_differ_in_dtype_and_byte_order(void **state)
{
    static const char *const pairs[][2] = {{"<i4", ">i4"}, {"<f4", ">f4"},
        {"<f4", "<i2"}, {"|u1", "<i4"}, {">i2", ">i4"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        write_values(*state, "t-0/x", pairs[i][0], 0, 20);
        write_values(*state, "t-1/x", pairs[i][1], ROWS, 20);
        check_run(*state, "data:t-*", 20, "f32");
    }
}

/* ---- Refused rows -------------------------------------------------------- */

static void write_labels(const struct sandbox *sb)
{
    struct fby_buffer labels = {0};
    for (uint64_t row = 0; row < ROWS; row++) {
        fby_put_u64(&labels, row % 50 == 7 ? 5 : row % 5);
    }
    write_column(sb, "t/x", "<i8", "(300,)", &labels);
}

static void labels_beyond_the_last_class_are_marked(void **state)
{
    struct bench bench;
    uint8_t      dst[RUN_ROWS];
    bool         bad[RUN_ROWS] = {[0] = true, [5] = true};
    write_labels(*state);
    bench_open(
        &bench, *state, "data:t", "x: {from: x, decode: label, classes: 5}");
    make_run(&bench, 3, dst, bad);
    for (uint32_t i = 0; i < RUN_ROWS; i++) {
        uint64_t sample = sample_at(i, ROWS);
        bool     right  = i >= 3 ? sample % 50 == 7 || i == 5 : i == 0;
        assert_int_equal(bad[i], right);
        if (i >= 3 && sample % 50 != 7) {
            assert_int_equal(dst[i - 3], sample % 5);
        }
    }
    bench_close(&bench);
}

static void values_that_do_not_fit_mark_their_row_alone(void **state)
{
    struct bench      bench;
    struct fby_buffer values = {0};
    uint8_t           dst[RUN_ROWS * 2];
    bool              bad[RUN_ROWS] = {false};
    for (uint64_t row = 0; row < ROWS; row++) {
        fby_put_u16(&values, (uint16_t)(row % 100));
        fby_put_u16(&values, row % 60 == 11 ? 256 : 255);
    }
    write_column(*state, "t/x", "<u2", "(300, 2)", &values);
    bench_open(&bench, *state, "data:t",
        "x: {from: x, decode: array, shape: [2], wire: u8}");
    make_run(&bench, 0, dst, bad);
    for (uint32_t i = 0; i < RUN_ROWS; i++) {
        uint64_t sample = sample_at(i, ROWS);
        assert_int_equal(bad[i], sample % 60 == 11);
        if (!bad[i]) {
            const uint8_t *row = dst + (size_t)2 * i;
            assert_int_equal(row[0], sample % 100);
            assert_int_equal(row[1], 255);
        }
    }
    bench_close(&bench);
}

static fby_err one_row(struct bench *bench, uint64_t sample, uint8_t *dst,
    struct fby_error_detail *why)
{
    const struct fby_row_request ask = {.sample = sample};
    *why                             = (struct fby_error_detail){{0}};
    return fby_rows_write_one(bench->rows, &ask, bench->reader, dst, why);
}

static void a_refused_row_has_a_reason(void **state)
{
    struct bench            bench;
    struct fby_error_detail why;
    uint8_t                 dst[4];
    struct fby_buffer       bits = {0};
    write_labels(*state);
    bench_open(
        &bench, *state, "data:t", "x: {from: x, decode: label, classes: 5}");
    assert_ok(one_row(&bench, 299, dst, &why));
    assert_int_equal(dst[0], 4);
    assert_int_equal(one_row(&bench, 57, dst, &why), FBY_BAD_SAMPLE);
    assert_string_equal(why.text,
        "field x: label 5 is too large: it must be 0 to 4; or raise classes");
    bench_close(&bench);
    bench_open(&bench, *state, "data:t", "x: {from: x, decode: number}");
    assert_ok(one_row(&bench, 57, dst, &why));
    bench_close(&bench);

    fby_put_bytes(&bits, "\0\1\1\0\2\1", 6);
    write_column(*state, "t/x", "|u1", "(2, 3)", &bits);
    bench_open(&bench, *state, "data:t",
        "x: {from: x, decode: array, shape: [3], wire: bits, "
        "out: {dtype: u8}}");
    assert_ok(one_row(&bench, 0, dst, &why));
    assert_int_equal(one_row(&bench, 1, dst, &why), FBY_BAD_SAMPLE);
    assert_string_equal(
        why.text, "field x: value 1 is 2 (uint8); a bit is 0 or 1");
    bench_close(&bench);
}

/* The bytes of a file that changed are discarded, so they do not prove that the
 * row is bad. */
static void a_file_that_changed_is_the_reason_before_a_refused_row(void **state)
{
    struct bench            bench;
    struct fby_error_detail why;
    uint8_t                 dst[4];
    write_labels(*state);
    bench_open(
        &bench, *state, "data:t", "x: {from: x, decode: label, classes: 5}");
    assert_int_equal(one_row(&bench, 57, dst, &why), FBY_BAD_SAMPLE);
    sandbox_append(*state, "data/t/x.npy", "x", 1);
    assert_int_equal(one_row(&bench, 57, dst, &why), FBY_STALE);
    assert_says(&why, "field x: column x: ");
    assert_says(&why, "bytes when it was indexed");
    bench_close(&bench);
}

static void write_lists(const struct sandbox *sb)
{
    struct fby_buffer    ends   = {0};
    struct fby_buffer    values = {0};
    static const int64_t at[]   = {0, 2, 5, 9, 7, 9};
    for (int i = 0; i < 6; i++) {
        fby_put_u64(&ends, (uint64_t)at[i]);
    }
    for (uint64_t i = 0; i < 9; i++) {
        fby_put_u64(&values, i + 300);
    }
    write_column(sb, "t/x.offsets", "<i8", "(6,)", &ends);
    write_column(sb, "t/x.values", "<i8", "(9,)", &values);
}

/* Rows of 2, 3, 4, -2 and 2 entries; at most 3 are allowed. */
static void open_lists(struct bench *bench, const struct sandbox *sb)
{
    write_lists(sb);
    bench_open(bench, sb, "data:t",
        "x: {from: x, decode: array, shape: [], max_length: 3, wire: i32}");
}

static void lists_are_made_and_refused_by_their_offsets(void **state)
{
    static const uint64_t   samples[] = {4, 3, 2, 1, 0};
    static const uint32_t   right[]   = {2, 0, 0, 3, 2};
    struct bench            bench;
    struct fby_error_detail why        = {{0}};
    uint32_t                lengths[5] = {9, 9, 9, 9, 9};
    bool                    bad[5]     = {false};
    int32_t                 dst[5][3];
    open_lists(&bench, *state);
    fby_row_reader_begin_run(bench.reader, bench.dataset, samples, 5);
    assert_ok(fby_rows_open(bench.rows, 0, bench.reader, &why));
    const struct fby_rows_group part = {
        .n = 5, .dst = (uint8_t *)dst, .lengths = lengths};
    fby_rows_write(bench.rows, 0, bench.reader, part, bad);
    assert_ok(fby_rows_close(bench.rows, 0, bench.reader, &why));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(bad[i], i == 1 || i == 2);
        assert_int_equal(lengths[i], right[i]);
    }
    assert_int_equal(dst[0][0], 307);
    assert_int_equal(dst[3][2], 304);
    assert_int_equal(dst[4][1], 301);
    bench_close(&bench);
}

static void one_list_is_refused_by_its_offsets(void **state)
{
    struct bench            bench;
    struct fby_error_detail why = {{0}};
    int32_t                 dst[3];
    uint32_t                length = 0;
    struct fby_row_request  ask    = {.sample = 2, .length = &length};
    open_lists(&bench, *state);
    assert_int_equal(fby_rows_write_one(
                         bench.rows, &ask, bench.reader, (uint8_t *)dst, &why),
        FBY_BAD_SAMPLE);
    assert_says(&why, "field x: ");
    assert_says(&why, "4");
    ask.sample = 3;
    assert_int_equal(fby_rows_write_one(
                         bench.rows, &ask, bench.reader, (uint8_t *)dst, &why),
        FBY_BAD_SAMPLE);
    ask.sample = 1;
    assert_ok(fby_rows_write_one(
        bench.rows, &ask, bench.reader, (uint8_t *)dst, &why));
    assert_int_equal(length, 3);
    assert_int_equal(dst[0], 302);
    bench_close(&bench);
}

/* Two rows of two and three entries each, first .. first + 4. */
static void write_pair_of_lists(
    const struct sandbox *sb, unsigned shard, const char *descr, uint32_t first)
{
    static const uint64_t at[]   = {0, 2, 5};
    struct fby_buffer     ends   = {0};
    struct fby_buffer     values = {0};
    char                  name[32];
    for (int i = 0; i < 3; i++) {
        fby_put_u64(&ends, at[i]);
    }
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t b = 0; b < (uint32_t)(descr[2] - '0'); b++) {
            fby_put_u8(&values, (uint8_t)(b < 4 ? (first + i) >> 8 * b : 0));
        }
    }
    snprintf(name, sizeof(name), "t-%u/x.offsets", shard);
    write_column(sb, name, "<i8", "(3,)", &ends);
    snprintf(name, sizeof(name), "t-%u/x.values", shard);
    write_column(sb, name, descr, "(5,)", &values);
}

static void lists_of_files_that_differ_are_cast_as_each_file_says(void **state)
{
    static const uint64_t   samples[] = {0, 2, 1, 3};
    static const uint32_t   right[]   = {10, 20, 12, 22};
    struct bench            bench;
    struct fby_error_detail why        = {{0}};
    uint32_t                lengths[4] = {0};
    bool                    bad[4]     = {false};
    int32_t                 dst[4][3];
    write_pair_of_lists(*state, 0, "<i4", 10); /* as it is sent */
    write_pair_of_lists(*state, 1, "<i2", 20);
    bench_open(&bench, *state, "data:t-*",
        "x: {from: x, decode: array, shape: [], max_length: 3, wire: i32}");
    fby_row_reader_begin_run(bench.reader, bench.dataset, samples, 4);
    assert_ok(fby_rows_open(bench.rows, 0, bench.reader, &why));
    const struct fby_rows_group part = {
        .n = 4, .dst = (uint8_t *)dst, .lengths = lengths};
    fby_rows_write(bench.rows, 0, bench.reader, part, bad);
    assert_ok(fby_rows_close(bench.rows, 0, bench.reader, &why));
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(bad[i]);
        assert_int_equal(lengths[i], i < 2 ? 2 : 3);
        for (uint32_t k = 0; k < lengths[i]; k++) {
            assert_int_equal(dst[i][k], right[i] + k);
        }
    }
    bench_close(&bench);
}

static void an_entry_that_does_not_fit_is_named_by_its_position(void **state)
{
    struct bench            bench;
    struct fby_error_detail why    = {{0}};
    uint32_t                length = 0;
    uint8_t                 dst[3];
    struct fby_row_request  ask = {.sample = 1, .length = &length};
    write_pair_of_lists(*state, 0, "<i4", 252); /* the last is 256 */
    bench_open(&bench, *state, "data:t-0",
        "x: {from: x, decode: array, shape: [], max_length: 3, wire: u8}");
    assert_int_equal(
        fby_rows_write_one(bench.rows, &ask, bench.reader, dst, &why),
        FBY_BAD_SAMPLE);
    assert_says(&why, "field x: value 2 is 256");
    ask.sample = 0;
    assert_ok(fby_rows_write_one(bench.rows, &ask, bench.reader, dst, &why));
    assert_int_equal(dst[1], 253);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(columns_that_do_not_fit_are_refused_by_name),
        IN_SANDBOX(halves_are_neither_labels_nor_bits),
        IN_SANDBOX(a_field_that_fits_hides_no_earlier_error),
        IN_SANDBOX(every_shard_is_checked),
        IN_SANDBOX(rows_of_every_width_are_copied),
        IN_SANDBOX(rows_of_every_size_are_cast),
        IN_SANDBOX(files_may_differ_in_dtype_and_byte_order),
        IN_SANDBOX(labels_beyond_the_last_class_are_marked),
        IN_SANDBOX(values_that_do_not_fit_mark_their_row_alone),
        IN_SANDBOX(a_refused_row_has_a_reason),
        IN_SANDBOX(a_file_that_changed_is_the_reason_before_a_refused_row),
        IN_SANDBOX(lists_are_made_and_refused_by_their_offsets),
        IN_SANDBOX(one_list_is_refused_by_its_offsets),
        IN_SANDBOX(lists_of_files_that_differ_are_cast_as_each_file_says),
        IN_SANDBOX(an_entry_that_does_not_fit_is_named_by_its_position),
    };
    return cmocka_run_group_tests_name("worker.rows", tests, NULL, NULL);
}
