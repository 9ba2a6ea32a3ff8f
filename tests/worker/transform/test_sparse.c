/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse rows from the files of scipy.sparse.save_npz. */
#include "tests/worker/transform/sparse_file.h"

static void csr_is_put_in_order(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, list);
    struct parts             parts = csr();
    for (int i = 0; i < 2; i++) {
        parts.deflated                = i == 1;
        struct written       out      = write_parts(&field, &parts);
        static const uint8_t at[]     = {0, 0, 7, 0, 0x2b, 1};
        static const int32_t values[] = {-2, 3, 1};
        assert_int_equal(out.length, 3);
        assert_memory_equal(out.indices, at, sizeof(at));
        assert_memory_equal(out.values, values, sizeof(values));
    }
}

/* More than fit into the room of a member's header. */
static void many_values_of_a_deflated_file_keep_their_indices(void **state)
{
    (void)state;
    enum { MANY = 100 };
    int64_t                  places[MANY];
    int64_t                  values[MANY];
    static const int64_t     offsets[] = {0, MANY};
    uint32_t                 length    = 0;
    uint8_t                  indices[MANY * 2];
    uint8_t                  out[MANY * 4];
    struct fby_field_content field = field_of(FBY_I32, list);
    struct parts             parts = csr();
    field.max_length               = MANY;
    for (int64_t i = 0; i < MANY; i++) {
        places[i] = 299 - 3 * i;
        values[i] = 1000 + i;
    }
    parts.deflated            = true;
    parts.indices.at          = places;
    parts.indices.n           = MANY;
    parts.data.at             = values;
    parts.data.n              = MANY;
    parts.indptr.at           = offsets;
    struct npz_file      file = file_of(&parts);
    struct fby_field_job job  = {.field = &field,
         .bytes                         = file.bytes.data,
         .size                          = file.bytes.size,
         .length                        = &length,
         .indices                       = indices};
    assert_ok(fby_field_write(transform, &job, out, NULL));
    assert_int_equal(length, MANY);
    for (size_t i = 0; i < MANY; i++) {
        struct fby_reader at    = fby_reader(indices + i * 2, 2);
        struct fby_reader value = fby_reader(out + i * 4, 4);
        assert_int_equal(fby_read_u16(&at), 2 + 3 * i);
        assert_int_equal(fby_read_u32(&value), 1000 + MANY - 1 - i);
    }
    npz_fini(&file);
}

static void coo_of_the_field_s_shape_is_flattened(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_U8, table);
    struct parts             parts = coo();
    struct written           out   = write_parts(&field, &parts);
    assert_int_equal(out.length, 2);
    assert_memory_equal(out.indices, "\x03\x09", 2);
    assert_memory_equal(out.values, "\x06\x05", 2);
}

static void csr_may_have_the_field_s_shape_too(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_U8, table);
    struct parts             parts = {.format = "csr",
                    .shape                    = NUMBERS(3, 4),
                    .indices                  = NUMBERS(1, 0, 3),
                    .indptr                   = NUMBERS(0, 1, 1, 3),
                    .data                     = NUMBERS(7, 8, 9)};
    struct written           out   = write_parts(&field, &parts);
    assert_int_equal(out.length, 3);
    assert_memory_equal(out.indices, "\x01\x08\x0b", 3);
    assert_memory_equal(out.values, "\x07\x08\x09", 3);
}

static void one_row_fits_any_shape_of_as_many_values(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_U8, table);
    struct parts             parts = coo();
    parts.shape                    = NUMBERS(1, 12);
    parts.row                      = NUMBERS(0, 0);
    parts.col                      = NUMBERS(11, 2);
    assert_memory_equal(write_parts(&field, &parts).indices, "\x02\x0b", 2);
    parts.shape = NUMBERS(12);
    assert_memory_equal(write_parts(&field, &parts).indices, "\x02\x0b", 2);
}

static void a_row_may_be_empty_or_hold_zeros(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_F32, list);
    struct parts             parts = csr();
    parts.data                     = NUMBERS(0, 0, 0);
    assert_int_equal(write_parts(&field, &parts).length, 3);
    parts.data = parts.indices = (struct numbers){0, parts.data.at};
    parts.indptr               = NUMBERS(0, 0);
    assert_int_equal(write_parts(&field, &parts).length, 0);
}

static void what_is_beyond_its_shape_is_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, list);
    struct parts             parts = csr();
    parts.indices                  = NUMBERS(1, 300, 2);
    assert_refused(&field, &parts, "index 300 is beyond the 300 of its shape");
    parts.indices = NUMBERS(1, -4, 2);
    assert_refused(&field, &parts, "index -4 is beyond the 300");
    field     = field_of(FBY_I32, table);
    parts     = coo();
    parts.row = NUMBERS(3, 0);
    assert_refused(&field, &parts, "row 3 is beyond the 3 of its shape");
    parts       = coo();
    parts.shape = NUMBERS(4, 3);
    assert_refused(&field, &parts,
        "its shape is [4, 3], the field's [3, 4]; a row has [1, 12]");
    parts.shape = NUMBERS(3, 4, 1);
    assert_refused(&field, &parts, "its shape has 3 dimensions");
}

/* One row of all values, or the field's two dimensions; both sides count. */
static void only_the_two_right_shapes_are_taken(void **state)
{
    (void)state;
    static const int64_t     wrong[][2] = {{1, 11}, {1, 13}, {1, 4}, {3, 12},
            {2, 12}, {0, 12}, {3, 5}, {3, 3}, {2, 4}, {4, 4}, {12, 1}, {3, 0},
            {-1, 12}, {3, -4}};
    struct fby_field_content field      = field_of(FBY_I32, table);
    struct fby_field_content row        = field_of(FBY_I32, list);
    struct parts             parts      = coo();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        parts.shape = (struct numbers){2, wrong[i]};
        assert_refused(&field, &parts, "a row has [1, 12]");
    }
    parts.shape = NUMBERS(11);
    assert_refused(&field, &parts, "its shape is [1, 11], the field's [3, 4]");
    parts.shape = NUMBERS(300, 1);
    assert_refused(&row, &parts, "its shape is [300, 1], the field's [300]");
    parts.shape = (struct numbers){0, table_shape};
    assert_refused(&field, &parts, "its shape has 0 dimensions");
}

/* A megabyte in one member is too large for such a row. */
static void a_member_has_at_most_the_bytes_of_such_a_row(void **state)
{
    (void)state;
    static const struct {
        const char *name, *words;
    } cases[] = {
        {"shape", "its shape.npy has 1048704 bytes; a row of max_length 6 "
                  "has at most 65611"},
        {"format", "at most 65611"}, {"data", "at most 65595"},
        {"indices", "at most 65595"}, {"row", "at most 65595"},
        {"col", "at most 65595"}, {"indptr", "at most 65579"}};
    static uint8_t           zeros[1 << 20];
    struct fby_field_content field = field_of(FBY_I32, table);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct npz_file file = {.deflated = true};
        put_npz_array(
            &file, cases[i].name, "<i8", "(131072,)", zeros, sizeof(zeros));
        end_npz(&file);
        assert_refused_file(&field, &file, cases[i].words);
        npz_fini(&file);
    }
}

/* Adding the values of the rows before it would overflow. */
static void the_largest_index_is_refused_in_any_row(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, table);
    struct parts             parts = coo();
    parts.col                      = NUMBERS(INT64_MAX, 3);
    assert_refused(&field, &parts, "index 9223372036854775807 is beyond the 4");
    parts = (struct parts){.format = "csr",
        .shape                     = NUMBERS(3, 4),
        .indices                   = NUMBERS(1, INT64_MAX, 3),
        .indptr                    = NUMBERS(0, 1, 2, 3),
        .data                      = NUMBERS(7, 8, 9)};
    assert_refused(&field, &parts, "index 9223372036854775807 is beyond the 4");
}

static void values_at_one_place_are_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, list);
    struct parts             parts = csr();
    parts.indices                  = NUMBERS(9, 2, 9);
    assert_refused(&field, &parts, "index 9 occurs twice, in values 0 and 2");
}

static void offsets_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, table);
    struct parts             parts = {.format = "csr",
                    .shape                    = NUMBERS(3, 4),
                    .indices                  = NUMBERS(1, 0, 3),
                    .indptr                   = NUMBERS(0, 2, 1, 3),
                    .data                     = NUMBERS(7, 8, 9)};
    assert_refused(&field, &parts, "its offsets decrease, from 2 to 1");
    parts.indptr = NUMBERS(0, 1, 4, 3);
    assert_refused(&field, &parts, "an offset is 4, but there are 3 values");
    parts.indptr = NUMBERS(1, 1, 1, 3);
    assert_refused(&field, &parts, "its offsets begin at 1");
    parts.indptr = NUMBERS(0, 1, 1, 2);
    assert_refused(&field, &parts, "its offsets end at 2, but there are 3");
    parts.indptr = NUMBERS(0, 3);
    assert_refused(&field, &parts, "has 2 offsets; 3 rows need 4");
}

static void rows_that_are_too_long_are_refused(void **state)
{
    (void)state;
    int64_t                  many[4000] = {0};
    struct fby_field_content field      = field_of(FBY_I32, list);
    struct parts             parts      = csr();
    parts.data = parts.indices = (struct numbers){7, many};
    parts.indptr               = NUMBERS(0, 7);
    assert_refused(&field, &parts, "the row has 7 values, max_length is 6");
    parts.deflated = true;
    assert_refused(&field, &parts, "the row has 7 values, max_length is 6");
    field.shape = field.as.sparse.shape = (struct fby_shape){2, {40, 100}};
    parts                               = coo();
    parts.shape                         = NUMBERS(40, 100);
    parts.deflated                      = true;
    struct npz_file file                = {.deflated = true};
    static uint8_t  zeros[1 << 20];
    put_npz_array(&file, "data", "<i8", "(131072,)", zeros, sizeof(zeros));
    end_npz(&file);
    assert_refused_file(&field, &file, "a row of max_length 6 has at most");
    npz_fini(&file);
}

/* Deflated, so that only the directory gives its size. */
static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, list);
    struct parts             parts = csr();
    static uint8_t           zeros[1 << 20];
    field.shape = field.as.sparse.shape = (struct fby_shape){2, {1 << 30, 2}};
    parts.shape                         = NUMBERS(1 << 30, 2);
    parts.deflated                      = true;
    struct npz_file file                = file_of(&parts);
    uint8_t *at = memmem(file.directory.data, file.directory.size, "indptr", 6);
    at          = file.bytes.data + file.bytes.size - 22 - file.directory.size +
         (at - file.directory.data);
    fby_store_le(at - 22, 900000000, 4); /* bytes of it */
    assert_refused_file(
        &field, &file, "its indptr.npy is damaged: 900000000 bytes deflated");
    npz_fini(&file);
    field = field_of(FBY_I32, table);
    file  = (struct npz_file){.deflated = true};
    put_numbers(&file, "shape", NUMBERS(1, 12));
    put_npz_array(&file, "indptr", "<i8", "(131072,)", zeros, sizeof(zeros));
    end_npz(&file);
    assert_refused_file(&field, &file, "its indptr.npy has 1048");
    npz_fini(&file);
}

static void members_that_do_not_agree_are_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_U8, list);
    struct parts             parts = csr();
    assert_refused(&field, &parts, "value 1 is -2 (int64)");
    parts.indices = NUMBERS(1, 2);
    assert_refused(
        &field, &parts, "its data.npy has 3 values, its indices.npy 2");
    parts         = csr();
    parts.indices = (struct numbers){0};
    assert_refused(&field, &parts, "it has no indices.npy");
    parts        = csr();
    parts.format = "csc";
    assert_refused(&field, &parts, "it is saved as csc; save tocsr()");
    parts.format = NULL;
    assert_refused(&field, &parts, "it has no format.npy");
}

static void members_of_other_types_are_refused(void **state)
{
    (void)state;
    struct fby_field_content field    = field_of(FBY_U8, list);
    struct npz_file          file     = {0};
    static const double      shape[2] = {1, 300};
    put_npz_array(&file, "shape", "<f8", "(2,)", shape, sizeof(shape));
    end_npz(&file);
    assert_refused_file(
        &field, &file, "its shape.npy has float64; whole numbers");
    npz_fini(&file);
    file = (struct npz_file){0};
    put_npz_array(&file, "shape", "<i8", "(1, 2)", shape, sizeof(shape));
    end_npz(&file);
    assert_refused_file(&field, &file, "its shape.npy has 2 dimensions");
    npz_fini(&file);
}

/* Every byte of a file, changed: refused, or still a row within its shape. */
static void damaged_files_are_refused_or_rows(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, list);
    for (int deflated = 0; deflated < 2; deflated++) {
        struct parts parts   = csr();
        parts.deflated       = deflated == 1;
        struct npz_file file = file_of(&parts);
        for (size_t i = 0; i < file.bytes.size; i++) {
            struct written out = {0};
            file.bytes.data[i] ^= 0x41;
            fby_err err = write_bytes(&field, &file.bytes, &out, NULL);
            assert_true(err == FBY_OK || err == FBY_BAD_SAMPLE);
            assert_true(err != FBY_OK || out.length <= MOST);
            file.bytes.data[i] ^= 0x41;
        }
        for (size_t size = 0; size < file.bytes.size; size++) {
            struct written     out   = {0};
            struct fby_guarded cut   = fby_guarded_copy(file.bytes.data, size);
            struct fby_buffer  bytes = {cut.bytes, size, 0};
            assert_int_equal(
                write_bytes(&field, &bytes, &out, NULL), FBY_BAD_SAMPLE);
            fby_guarded_free(&cut);
        }
        npz_fini(&file);
    }
}

static void a_member_that_is_not_what_its_sum_says_is_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, list);
    struct parts             parts = csr();
    struct npz_file          file  = file_of(&parts);
    for (size_t i = 0; i + 8 < file.bytes.size; i++) {
        int64_t value = 0;
        memcpy(&value, file.bytes.data + i, sizeof(value));
        if (value == 299) { /* an index */
            file.bytes.data[i] ^= 1;
            assert_refused_file(&field, &file, "its indices.npy is damaged");
            break;
        }
    }
    npz_fini(&file);
}

static void a_directory_that_lacks_members_is_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_I32, list);
    struct npz_file          file  = {.n = 1};
    put_npz_array(&file, "data", "<i8", "(0,)", "", 0);
    end_npz(&file);
    assert_refused_file(&field, &file,
        "damaged zip file: the number of members is 2 in its end record and 1 "
        "in its directory");
    npz_fini(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csr_is_put_in_order),
        cmocka_unit_test(many_values_of_a_deflated_file_keep_their_indices),
        cmocka_unit_test(coo_of_the_field_s_shape_is_flattened),
        cmocka_unit_test(csr_may_have_the_field_s_shape_too),
        cmocka_unit_test(one_row_fits_any_shape_of_as_many_values),
        cmocka_unit_test(a_row_may_be_empty_or_hold_zeros),
        cmocka_unit_test(what_is_beyond_its_shape_is_refused),
        cmocka_unit_test(only_the_two_right_shapes_are_taken),
        cmocka_unit_test(a_member_has_at_most_the_bytes_of_such_a_row),
        cmocka_unit_test(the_largest_index_is_refused_in_any_row),
        cmocka_unit_test(values_at_one_place_are_refused),
        cmocka_unit_test(offsets_that_do_not_fit_are_refused),
        cmocka_unit_test(rows_that_are_too_long_are_refused),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(members_that_do_not_agree_are_refused),
        cmocka_unit_test(members_of_other_types_are_refused),
        cmocka_unit_test(damaged_files_are_refused_or_rows),
        cmocka_unit_test(a_member_that_is_not_what_its_sum_says_is_refused),
        cmocka_unit_test(a_directory_that_lacks_members_is_refused),
    };
    return cmocka_run_group_tests(tests, open_transform, close_transform);
}
