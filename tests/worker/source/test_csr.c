/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of sparse rows: files of scipy.sparse.save_npz. */
#include "tests/worker/source/columns_run.h"

#include "tests/worker/source/memory_object.h"
#include "worker/source/columns/csr.h"

struct csr { /* members of a.npz; those without a descr are left out */
    const char *format;
    struct {
        const char *descr;
        const char *shape;
        const void *values;
        size_t      bytes;
    } data, indices, indptr, shape;
    bool deflated;
    bool encrypted;
};

static const float    csr_data[]    = {1, 2, 3, 4};
static const uint16_t csr_indices[] = {7, 0, 9, 5};
static const int64_t  csr_indptr[]  = {0, 2, 2, 4};
static const int64_t  csr_shape[]   = {3, 10};

static struct csr good_csr(void)
{
    return (struct csr){.format = "csr",
        .data                   = {"<f4", "(4,)", csr_data, sizeof(csr_data)},
        .indices = {"<u2", "(4,)", csr_indices, sizeof(csr_indices)},
        .indptr  = {"<i8", "(4,)", csr_indptr, sizeof(csr_indptr)},
        .shape   = {"<i8", "(2,)", csr_shape, sizeof(csr_shape)}};
}

static struct npz_file csr_file(const struct csr *csr)
{
    struct npz_file file = {
        .deflated = csr->deflated, .encrypted = csr->encrypted};
    put_npz_array(&file, "format", "|S3", "()", csr->format, 3);
    put_npz_array(&file, "data", csr->data.descr, csr->data.shape,
        csr->data.values, csr->data.bytes);
    put_npz_array(&file, "indices", csr->indices.descr, csr->indices.shape,
        csr->indices.values, csr->indices.bytes);
    if (csr->indptr.descr != NULL) {
        put_npz_array(&file, "indptr", csr->indptr.descr, csr->indptr.shape,
            csr->indptr.values, csr->indptr.bytes);
    }
    put_npz_array(&file, "shape", csr->shape.descr, csr->shape.shape,
        csr->shape.values, csr->shape.bytes);
    end_npz(&file);
    return file;
}

static void save_csr(const struct sandbox *sb, const struct csr *csr)
{
    struct npz_file file = csr_file(csr);
    sandbox_write(sb, "data/d/a.npz", file.bytes.data, file.bytes.size);
    npz_fini(&file);
}

static const struct fby_field_content sparse_a = {
    .from = {"a"}, .n_from = 1, .decode = FBY_DECODE_SPARSE, .max_length = 9};

static void rows_of_a_scipy_file_lie_where_its_offsets_say(void **state)
{
    static const uint64_t samples[] = {2, 0, 1};
    struct csr            csr       = good_csr();
    save_csr(*state, &csr);
    struct table t = open_field(
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d"), &sparse_a);
    assert_int_equal(fby_dataset_sample_count(t.dataset), 3);
    assert_int_equal(fby_dataset_column(t.dataset, t.pick, 0)->dense_width, 10);
    fby_row_reader_begin_run(t.reader, t.dataset, samples, 3);
    assert_ok(fby_row_reader_open_column(t.reader, t.dataset, t.pick, NULL));
    for (unsigned i = 0; i < 3; i++) {
        int64_t begin = csr_indptr[samples[i]];
        size_t  n     = (size_t)(csr_indptr[samples[i] + 1] - begin);
        assert_int_equal(t.reader->begin[i], begin);
        assert_int_equal(t.reader->end[i] - begin, n);
        assert_memory_equal(
            t.reader->at[i], csr_data + begin, n * sizeof(float));
        assert_memory_equal(fby_row_reader_find_indices(t.reader, i),
            csr_indices + begin, n * sizeof(uint16_t));
    }
    assert_ok(fby_row_reader_close(t.reader, t.dataset, NULL));
    close_table(&t);
}

/* Save it, and see it refused with these words. */
static void refuses_csr(
    struct sandbox *sb, const struct csr *csr, const char *words)
{
    save_csr(sb, csr);
    refuses(sb, "data:d", words);
}

static void offsets_and_shapes_of_scipy_files_are_refused_with_their_numbers(
    void **state)
{
    static const int64_t out[]  = {0, 2, 2, 5};
    static const int64_t late[] = {1, 2, 2, 4};
    static const int64_t back[] = {0, 2, 2, -1};
    static const int64_t none[] = {3, 0};
    static const int64_t most[] = {3, -1}; /* without a sign 2^64 - 1 */
    struct csr           csr    = good_csr();
    csr.indptr.values           = out;
    refuses_csr(*state, &csr,
        "shard d: a.npz: its indptr.npy goes from 0 to 5; it must begin at "
        "0, and there are 4 values");
    csr.indptr.values = late;
    refuses_csr(*state, &csr, "its indptr.npy goes from 1 to 4");
    csr              = good_csr();
    csr.shape.values = none;
    refuses_csr(*state, &csr, "a.npz: its shape is [3, 0]");
    csr.shape.values = most;
    csr.shape.descr  = "<u8";
    refuses_csr(*state, &csr, "a.npz: its shape is [3, 18446744073709551615]");
    csr               = good_csr();
    csr.indptr.values = back;
    csr.indptr.descr  = "<u8";
    refuses_csr(*state, &csr, "goes from 0 to 9223372036854775807 or more;");
}

static void scipy_files_that_cannot_be_mapped_are_refused(void **state)
{
    struct csr csr   = good_csr();
    csr.indptr.descr = NULL;
    refuses_csr(*state, &csr, "a.npz: indptr.npy: it is missing");
    csr          = good_csr();
    csr.deflated = true;
    refuses_csr(*state, &csr, "a.npz: format.npy: it is compressed");
    csr           = good_csr();
    csr.encrypted = true;
    refuses_csr(*state, &csr, "a.npz: format.npy: it is encrypted; save it ");
    csr        = good_csr();
    csr.format = "coo";
    refuses_csr(*state, &csr, "it is saved as coo; save tocsr() instead");
    csr = good_csr();
    csr.indices.bytes -= 2;
    refuses_csr(*state, &csr, "a.npz: indices.npy: 6 bytes follow the header");
    csr = good_csr();
    save_csr(*state, &csr);
    column(*state, "data/d/b.npy", 4, 1);
    refuses(*state, "data:d", "b.npy: it has 4 rows, and column a has 3");
}

static void assert_within(
    uint64_t size, uint64_t offset, uint64_t n, uint64_t width)
{
    assert_true(offset <= size && width > 0 && n <= (size - offset) / width);
}

/* For every value of every byte, all parts stay within the file. */
static void a_damaged_scipy_file_never_leads_out_of_itself(void **state)
{
    (void)state;
    static const uint8_t flips[] = {0x01, 0x10, 0x80, 0xff};
    struct csr           csr     = good_csr();
    struct npz_file      file    = csr_file(&csr);
    size_t               size    = file.bytes.size;
    for (size_t i = 0; i < 4 * size; i++) {
        struct fby_column       column = {.name = ""};
        struct fby_error_detail why    = {{0}};
        uint64_t                rows   = 0;
        struct memory           memory = memory_of(file.bytes.data, size);
        struct fby_object       object = memory_object(&memory);
        file.bytes.data[i / 4] ^= flips[i % 4];
        fby_err err = fby_csr_scan(&object, size, &column, &rows, &why);
        file.bytes.data[i / 4] ^= flips[i % 4];
        if (err == FBY_OK) {
            assert_within(size, column.offset, column.rows, column.row_bytes);
            assert_within(size, column.indices.offset, column.rows,
                column.indices.item_size);
            assert_within(
                size, column.indptr.offset, rows + 1, column.indptr.item_size);
            assert_true(rows > 0 && column.dense_width > 0);
        } else {
            assert_true(err == FBY_CONFIG || err == FBY_NOT_FOUND);
        }
    }
    npz_fini(&file);
}

static void every_form_of_column_has_its_own_fields(void **state)
{
    struct csr              csr  = good_csr();
    struct fby_error_detail why  = {{0}};
    uint16_t               *pick = NULL;
    save_csr(*state, &csr);
    struct fby_dataset_spec spec =
        sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:d");
    struct fby_dataset *one = sandbox_dataset(&spec);
    assert_int_equal(
        fby_dataset_pick_columns(one, &plain_a, &pick, &why), FBY_CONFIG);
    assert_says(&why, "column a is sparse; say decode: sparse, and a max_");
    fby_dataset_destroy(&one);
    column(*state, "data/e/a.npy", 2, 1);
    spec = sandbox_source(*state, FBY_SOURCE_COLUMNS, "data:e");
    one  = sandbox_dataset(&spec);
    assert_int_equal(
        fby_dataset_pick_columns(one, &sparse_a, &pick, &why), FBY_CONFIG);
    assert_says(&why, "column a has rows of one shape; say decode: array");
    fby_dataset_destroy(&one);
}

static void parts_of_scipy_files_fit_each_other(void **state)
{
    static const int64_t cube[] = {3, 10, 2};
    struct csr           csr    = good_csr();
    csr.data.shape              = "(2, 2)";
    refuses_csr(
        *state, &csr, "a.npz: data.npy: it has 2 dimensions; it must have one");
    csr               = good_csr();
    csr.indices.descr = "<f2";
    refuses_csr(*state, &csr,
        "a.npz: indices.npy: it is of float16; it must be of integers");
    csr              = good_csr();
    csr.shape.shape  = "(3,)";
    csr.shape.values = cube;
    csr.shape.bytes  = sizeof(cube);
    refuses_csr(*state, &csr,
        "a.npz: its shape has 3 dimensions; it must have 2: rows, and values "
        "of a row");
    csr.shape.shape = "(1,)";
    csr.shape.bytes = sizeof(cube[0]);
    refuses_csr(*state, &csr, "a.npz: its shape has 1 dimension; it must");
    csr              = good_csr();
    csr.indptr.shape = "(3,)";
    csr.indptr.bytes = 24;
    refuses_csr(
        *state, &csr, "a.npz: its indptr.npy has 3 offsets; 3 rows need 4");
    csr            = good_csr();
    csr.data.shape = "(3,)";
    csr.data.bytes = 12;
    refuses_csr(
        *state, &csr, "a.npz: its data.npy has 3 values, its indices.npy 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(parts_of_scipy_files_fit_each_other),
        IN_SANDBOX(rows_of_a_scipy_file_lie_where_its_offsets_say),
        IN_SANDBOX(
            offsets_and_shapes_of_scipy_files_are_refused_with_their_numbers),
        IN_SANDBOX(scipy_files_that_cannot_be_mapped_are_refused),
        cmocka_unit_test(a_damaged_scipy_file_never_leads_out_of_itself),
        IN_SANDBOX(every_form_of_column_has_its_own_fields),
    };
    return cmocka_run_group_tests_name("worker.source.csr", tests, NULL, NULL);
}
