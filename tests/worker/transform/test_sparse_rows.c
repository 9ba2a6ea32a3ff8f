/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse rows from arrays in memory, such as those of columns. */
#include "tests/worker/transform/sparse_file.h"

static void rows_in_any_order_are_the_same_row(void **state)
{
    (void)state;
    struct fby_field_content field    = field_of(FBY_U16, list);
    int64_t                  at[MOST] = {280, 3, 17, 0, 299, 100};
    uint8_t                  from[MOST];
    struct written           sorted = {0};
    for (int turn = 0; turn < MOST; turn++) {
        int64_t turned[MOST];
        uint8_t spare[MOST * FBY_SPARSE_SCRATCH_BYTES];
        for (int i = 0; i < MOST; i++) {
            turned[i] = at[(i + turn) % MOST];
            from[i]   = (uint8_t)(turned[i] % 251);
        }
        const struct fby_npy npy = {
            .type = FBY_NPY_U1, .n_dims = 1, .n_values = MOST, .data = from};
        struct fby_sparse_row row = {turned, &npy, spare};
        struct written        out = {0};
        struct fby_field_job  job = {
             .field = &field, .length = &out.length, .indices = out.indices};
        assert_int_equal(
            fby_sparse_write(&job, &row, out.values, NULL), FBY_OK);
        if (turn > 0) {
            assert_memory_equal(&out, &sorted, sizeof(out));
        }
        sorted = out;
    }
    assert_memory_equal(sorted.indices, "\0\0\x03\0\x11\0\x64\0", 8);
}

/* Write these indices with the values 1, 2, ... by a transform that has no
 * memory yet. */
static fby_err write_row(struct fby_shape shape, const int64_t *at, uint64_t n,
    struct written *out, struct fby_error_detail *why)
{
    static const uint8_t     values[] = {1, 2, 3, 4, 5, 6};
    struct fby_field_content field    = field_of(FBY_U8, shape);
    struct fby_transform    *fresh    = fby_transform_create(NULL);
    struct fby_field_job     job      = {
                 .field = &field, .length = &out->length, .indices = out->indices};
    struct fby_sparse_lists lists = {.indices = {.type = FBY_NPY_I8,
                                         .n_values     = n,
                                         .data         = (const void *)at},
        .values = {.type = FBY_NPY_U1, .n_values = n, .data = values}};
    memset(out, 0xee, sizeof(*out));
    fby_err err = fby_sparse_write_lists(fresh, &job, &lists, out->values, why);
    fby_transform_destroy(&fresh);
    return err;
}

static void indices_in_any_order_lie_within_the_row(void **state)
{
    (void)state;
    static const int64_t rows[][3] = {{0, 5, 299}, {299, 0, 5}, {0, 5, 300},
        {-1, 5, 299}, {300, 0, 5}, {5, -1, 0}, {300, 301, 302}, {-3, -2, -1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct written          out;
        struct fby_error_detail why  = {{0}};
        bool                    fits = i < 2;
        assert_int_equal(write_row(list, rows[i], 3, &out, &why),
            fits ? FBY_OK : FBY_BAD_SAMPLE);
        if (fits) {
            assert_memory_equal(out.indices, "\0\0\5\0\x2b\1\xee", 7);
            assert_memory_equal(
                out.values, i == 0 ? "\1\2\3\xee" : "\2\3\1\xee", 4);
        } else {
            assert_non_null(
                strstr(why.text, " is beyond the 300 values of its shape"));
        }
    }
    struct written out;
    assert_ok(write_row(list, rows[0], 0, &out, NULL));
    assert_int_equal(out.length, 0);
}

/* Two neighbours in the wrong order, or the same, are seen. */
static void neighbours_that_do_not_ascend_are_sorted_or_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_U8, list);
    for (size_t i = 0; i + 1 < MOST; i++) {
        int64_t room[MOST + 1] = {INT64_MIN, 10, 20, 30, 40, 50, 60};
        uint8_t values[MOST]   = {1, 2, 3, 4, 5, 6};
        uint8_t spare[MOST * FBY_SPARSE_SCRATCH_BYTES];
        const struct fby_npy npy = {
            .type = FBY_NPY_U1, .n_dims = 1, .n_values = MOST, .data = values};
        struct fby_sparse_row row = {room + 1, &npy, spare};
        struct written        out = {0};
        struct fby_field_job  job = {
             .field = &field, .length = &out.length, .indices = out.indices};
        room[1 + i] = room[2 + i] + 5;
        assert_ok(fby_sparse_write(&job, &row, out.values, NULL));
        for (size_t k = 0; k < MOST; k++) {
            size_t from = k == i ? i + 1 : k == i + 1 ? i : k;
            assert_int_equal(out.values[k], 1 + from);
        }
        int64_t twice[MOST + 1] = {INT64_MIN, 10, 20, 30, 40, 50, 60};
        twice[1 + i]            = twice[2 + i];
        row.indices             = twice + 1;
        assert_int_equal(
            fby_sparse_write(&job, &row, out.values, NULL), FBY_BAD_SAMPLE);
    }
}

static void indices_have_as_many_bytes_as_the_row_needs(void **state)
{
    (void)state;
    static const int64_t at[]    = {0, 255};
    static const int64_t far[]   = {1, 65535};
    static const int64_t large[] = {2, 69999};
    struct written       out;
    assert_ok(write_row((struct fby_shape){1, {256}}, at, 2, &out, NULL));
    assert_memory_equal(out.indices, "\0\xff\xee", 3);
    assert_ok(write_row((struct fby_shape){1, {65536}}, far, 2, &out, NULL));
    assert_memory_equal(out.indices, "\1\0\xff\xff\xee", 5);
    assert_ok(write_row((struct fby_shape){1, {70000}}, large, 2, &out, NULL));
    assert_memory_equal(out.indices, "\2\0\0\0\x6f\x11\1\0\xee", 9);
}

static void a_row_in_memory_is_written_as_one_of_a_file(void **state)
{
    (void)state;
    struct fby_field_content field    = field_of(FBY_U16, list);
    static const uint8_t     at[]     = {1, 43, 0, 7, 0, 0}; /* >u2 */
    static const uint8_t     values[] = {30, 10, 20};
    struct written           out      = {0};
    struct fby_error_detail  why      = {{0}};
    struct fby_field_job     job      = {
                 .field   = &field,
                 .length  = &out.length,
                 .indices = out.indices,
    };
    struct fby_sparse_lists lists = {
        .indices = {.type = FBY_NPY_U2,
            .big_endian   = true,
            .n_dims       = 1,
            .n_values     = 3,
            .data         = at},
        .values  = {.type = FBY_NPY_U1,
             .n_dims      = 1,
             .n_values    = 3,
             .data        = values},
    };
    assert_int_equal(
        fby_sparse_write_lists(transform, &job, &lists, out.values, NULL),
        FBY_OK);
    assert_int_equal(out.length, 3);
    assert_memory_equal(out.indices, "\0\0\x07\0\x2b\x01", 6);
    assert_memory_equal(out.values, "\x14\0\x0a\0\x1e\0", 6);
    lists.values.n_values = lists.indices.n_values = MOST + 1;
    assert_int_equal(
        fby_sparse_write_lists(transform, &job, &lists, out.values, &why),
        FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, "the row has 7 values, max_length is 6"));
}

static void an_index_that_no_integer_holds_is_refused(void **state)
{
    (void)state;
    struct fby_field_content field    = field_of(FBY_U8, list);
    static const uint64_t    at[]     = {3, UINT64_MAX};
    static const uint8_t     values[] = {1, 2};
    struct written           out      = {0};
    struct fby_error_detail  why      = {{0}};
    struct fby_field_job     job      = {
                 .field   = &field,
                 .length  = &out.length,
                 .indices = out.indices,
    };
    struct fby_sparse_lists lists = {.indices = {.type = FBY_NPY_U8,
                                         .n_values     = 2,
                                         .data         = (const void *)at},
        .values = {.type = FBY_NPY_U1, .n_values = 2, .data = values}};
    assert_int_equal(
        fby_sparse_write_lists(transform, &job, &lists, out.values, &why),
        FBY_BAD_SAMPLE);
    assert_non_null(strstr(
        why.text, "index 1 is 18446744073709551615 (uint64); it must be"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_any_order_are_the_same_row),
        cmocka_unit_test(indices_in_any_order_lie_within_the_row),
        cmocka_unit_test(neighbours_that_do_not_ascend_are_sorted_or_refused),
        cmocka_unit_test(indices_have_as_many_bytes_as_the_row_needs),
        cmocka_unit_test(a_row_in_memory_is_written_as_one_of_a_file),
        cmocka_unit_test(an_index_that_no_integer_holds_is_refused),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.sparse_rows", tests, open_transform, close_transform);
}
