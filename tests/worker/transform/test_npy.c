/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard.h"
#include "tests/says.h"
#include "tests/test.h"

#include "tests/worker/transform/npy_file.h"
#include "worker/npy/npy.h"

/* The result of reading a version 1.0 file with this text and `size` bytes of
 * values. */
static fby_err read_as(uint8_t major, const char *text, size_t size,
    struct fby_npy *out, struct fby_error_detail *why)
{
    static const uint8_t values[64];
    struct fby_buffer    file = {0};
    put_npy_text(&file, major, text);
    fby_put_bytes(&file, values, size);
    struct fby_guarded copy = fby_guarded_copy(file.data, file.size);
    fby_err            err  = fby_npy_read(copy.bytes, copy.size, out, why);
    if (err == FBY_OK) {
        assert_ptr_equal(out->data, copy.bytes + copy.size - size);
    }
    fby_guarded_free(&copy);
    fby_buffer_fini(&file);
    return err;
}

static void assert_refused(const char *text, size_t size, const char *words)
{
    struct fby_npy          npy;
    struct fby_error_detail why = {{0}};
    assert_int_equal(read_as(1, text, size, &npy, &why), FBY_BAD_SAMPLE);
    if (strstr(why.text, words) == NULL) {
        fail_msg("%s: '%s' does not say '%s'", text, why.text, words);
    }
}

static struct fby_npy read_right(uint8_t major, const char *text, size_t size)
{
    struct fby_npy          npy;
    struct fby_error_detail why = {{0}};
    if (read_as(major, text, size, &npy, &why) != FBY_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    return npy;
}

static const char usual[] =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }    \n";

static void a_header_says_type_order_and_shape(void **state)
{
    (void)state;
    for (uint8_t major = 1; major <= 3; major++) {
        struct fby_npy npy = read_right(major, usual, 48);
        assert_int_equal(npy.type, FBY_NPY_F4);
        assert_false(npy.big_endian);
        assert_false(npy.fortran);
        assert_int_equal(npy.n_dims, 2);
        assert_int_equal(npy.dims[0], 3);
        assert_int_equal(npy.dims[1], 4);
        assert_int_equal(npy.n_values, 12);
    }
}

static void every_type_is_known_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < FBY_NPY_TYPES; i++) {
        enum fby_npy_type type  = (enum fby_npy_type)i;
        size_t            bytes = fby_npy_type_bytes(type);
        for (const char *order = bytes == 1 ? "|<>" : "<>"; *order != '\0';
             order++) {
            char text[128];
            snprintf(text, sizeof(text),
                "{'descr':'%c%s','fortran_order':False,'shape':()}", *order,
                fby_npy_type_name(type));
            struct fby_npy npy = read_right(1, text, bytes);
            assert_int_equal(npy.type, type);
            assert_int_equal(npy.big_endian, *order == '>' && bytes > 1);
            assert_int_equal(npy.n_dims, 0);
            assert_int_equal(npy.n_values, 1);
        }
    }
}

static void types_have_the_names_and_sizes_of_numpy(void **state)
{
    (void)state;
    static const struct {
        const char *name, *dtype;
        size_t      bytes;
        bool        whole;
    } right[FBY_NPY_TYPES] = {{"b1", "bool", 1, false}, {"i1", "int8", 1, true},
        {"u1", "uint8", 1, true}, {"i2", "int16", 2, true},
        {"u2", "uint16", 2, true}, {"i4", "int32", 4, true},
        {"u4", "uint32", 4, true}, {"i8", "int64", 8, true},
        {"u8", "uint64", 8, true}, {"f2", "float16", 2, false},
        {"f4", "float32", 4, false}, {"f8", "float64", 8, false}};
    for (int i = 0; i < FBY_NPY_TYPES; i++) {
        enum fby_npy_type type = (enum fby_npy_type)i;
        assert_string_equal(fby_npy_type_name(type), right[i].name);
        assert_string_equal(fby_npy_dtype_name(type), right[i].dtype);
        assert_int_equal(fby_npy_type_bytes(type), right[i].bytes);
        assert_int_equal(fby_npy_is_integer(type), right[i].whole);
    }
}

static void keys_stand_in_any_order_with_blanks_anywhere(void **state)
{
    (void)state;
    struct fby_npy npy = read_right(1,
        " {\"shape\" :( 2 , 5, ) ,\n'fortran_order': True, "
        "'descr': \"|u1\"}\n\n",
        10);
    assert_true(npy.fortran);
    assert_int_equal(npy.n_dims, 2);
    npy = read_right(
        1, "{'descr': '<i2', 'fortran_order': False, 'shape': (7,)}", 14);
    assert_int_equal(npy.dims[0], 7);
    npy = read_right(
        1, "{'descr': '<i2', 'fortran_order': False, 'shape': (7, 0)}", 0);
    assert_int_equal(npy.n_values, 0);
}

struct wrong_text {
    const char *text, *words;
};

/* Each of them ends the file. */
static void assert_all_refused(const struct wrong_text *wrong, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_refused(wrong[i].text, 0, wrong[i].words);
    }
}

static void a_header_that_is_no_dict_of_three_keys_is_refused(void **state)
{
    (void)state;
    static const struct wrong_text wrong[] = {
        {"", "not a dict"},
        {"[1]", "not a dict"},
        {"{", "not a dict of"},
        {"{}", "is missing"},
        {"{'descr': '|u1', 'shape': (1,)}", "is missing"},
        {"{'descr' '|u1'}", "not a dict of"},
        {"{'descr': '|u1' 'shape': (1,)}", "not a dict of"},
        {"{descr: '|u1'}", "not a dict of"},
        {"{'descr': '|u1', 'descr': '|u1'}", "key twice"},
        {"{'descr': '|u1', 'other': 1}", "an unknown key"},
        {"{'fortran_order': 0, ", "not True or False"},
        {"{'shape'", "not a dict of"},
        {"{'fortran_order': Fals", "not True or False"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': ()} x", "follows"},
    };
    assert_all_refused(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

static void other_dtypes_are_refused(void **state)
{
    (void)state;
    static const struct wrong_text wrong[] = {
        {"{'descr': '|u1", "not a plain dtype"},
        {"{'descr': [('a', '<f4')], }", "structured"},
        {"{'descr': '', ", "its dtype is ''"},
        {"{'descr': '<f3', ", "its dtype is '<f3'"},
        {"{'descr': '<c8', ", "its dtype is '<c8'"},
        {"{'descr': '|O', ",
            "64 bits are read; save rows of one shape with numpy.stack, "},
        {"{'descr': '<U7', ", "its dtype is '<U7'"},
        {"{'descr': '|f4', ", "its dtype is '|f4'"},
        {"{'descr': '=f4', ", "its dtype is '=f4'"},
        {"{'descr': 'f4', ", "its dtype is 'f4'"},
        {"{'descr': '<M8[\x01ns]', ", "its dtype is '<M8[?ns]'"},
        {"{'descr': '", "not a plain dtype"},
        {"{'descr': ", "not a plain dtype"},
        {"{'descr': '1234567890123456789012345'",
            "its dtype is '123456789012345678901234'"},
    };
    assert_all_refused(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

static void a_shape_that_is_no_tuple_is_refused(void **state)
{
    (void)state;
    static const struct wrong_text wrong[] = {
        {"{'shape': 3, ", "shape is not a tuple"},
        {"{'shape': (3), ", "shape is not a tuple"},
        {"{'shape': [3], ", "shape is not a tuple"},
        {"{'shape': (3 4), ", "not a tuple of numbers"},
        {"{'shape': (3,,4), ", "not a tuple of numbers"},
        {"{'shape': (,), ", "not a tuple of numbers"},
        {"{'shape': (-1,), ", "not a tuple of numbers"},
        {"{'shape': (03,), ", "not a tuple of numbers"},
        {"{'shape': (3.0,), ", "tuple"},
        {"{'shape': (18446744073709551616,), ", "not a tuple of numbers"},
        {"{'shape': (3,", "not a tuple of numbers"},
        {"{'shape': (3", "not a tuple of numbers"},
        {"{'shape': (", "not a tuple of numbers"},
        {"{'shape': ", "shape is not a tuple"},
    };
    assert_all_refused(wrong, sizeof(wrong) / sizeof(wrong[0]));
    assert_refused(
        "{'shape': (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, "
        "15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, "
        "30, 31, 32, 33), ",
        1, "more than 32");
}

static void values_end_with_the_file(void **state)
{
    (void)state;
    assert_refused(
        usual, 47, "47 bytes follow the header; [3, 4] of float32 are 48");
    assert_refused(usual, 49, "49 bytes follow");
    assert_refused(usual, 0, "0 bytes follow");
}

static void shapes_whose_product_overflows_are_refused(void **state)
{
    (void)state;
    assert_refused("{'descr': '<f8', 'fortran_order': False, 'shape': "
                   "(4294967296, 4294967296)}",
        0, "[4294967296, 4294967296] is too large");
    assert_refused("{'descr': '<f8', 'fortran_order': False, 'shape': "
                   "(2305843009213693952,)}",
        0, "too large");
    assert_refused("{'descr': '|u1', 'fortran_order': False, 'shape': "
                   "(18446744073709551615, 2)}",
        64, "too large");
    struct fby_npy npy = read_right(1,
        "{'descr': '<f8', 'fortran_order': False, 'shape': "
        "(4294967296, 4294967296, 0)}",
        0);
    assert_int_equal(npy.n_values, 0);
}

static void a_file_that_is_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct fby_buffer file = {0};
    struct fby_npy    npy;
    put_npy_text(&file, 2, usual);
    fby_put_bytes(
        &file, "123456781234567812345678123456781234567812345678", 48);
    assert_ok(fby_npy_read(file.data, file.size, &npy, NULL));
    for (size_t n = 0; n < file.size; n++) {
        struct fby_guarded cut = fby_guarded_copy(file.data, n);
        assert_int_equal(
            fby_npy_read(cut.bytes, n, &npy, NULL), FBY_BAD_SAMPLE);
        fby_guarded_free(&cut);
    }
    fby_buffer_fini(&file);
}

static void refuse_start(const char *start, size_t n, const char *words)
{
    struct fby_npy          npy;
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        fby_npy_read((const uint8_t *)start, n, &npy, &why), FBY_BAD_SAMPLE);
    assert_says(&why, words);
}

static void other_files_versions_and_lengths_are_refused(void **state)
{
    (void)state;
    refuse_start("PK\3\4\0\0\0\0\0\0\0\0", 12, "does not begin as");
    refuse_start("\x93NUMPY\0\0\0\0\0\0", 12, "version 0.0");
    refuse_start("\x93NUMPY\4\0\0\0\0\0", 12, "version 4.0");
    refuse_start("\x93NUMPY\1\1\0\0\0\0", 12, "version 1.1");
    refuse_start("\x93NUMPY\2\0\xff\xff\xff\xff", 12, "more than 65535");
    refuse_start("\x93NUMPY\2\0\xff\xff\0\0", 12, "ends within it");
    refuse_start("\x93NUMPY\1\0\1", 9, "ends within it");
}

static void the_head_alone_says_where_values_begin(void **state)
{
    (void)state;
    struct fby_buffer file = {0};
    put_npy_text(&file, 2, usual);
    size_t right = file.size;
    fby_put_bytes(&file, "12345678", 8); /* not all of them */
    for (size_t size = 0; size <= file.size; size++) {
        struct fby_guarded cut  = fby_guarded_copy(file.data, size);
        struct fby_npy     npy  = {.n_dims = 9};
        size_t             head = 0;
        fby_err err = fby_npy_read_head(cut.bytes, size, &npy, &head, NULL);
        assert_int_equal(err, size < right ? FBY_BAD_SAMPLE : FBY_OK);
        if (err == FBY_OK) {
            assert_int_equal(head, right);
            assert_int_equal(npy.n_values, 12);
            assert_int_equal(npy.n_dims, 2);
            assert_null(npy.data);
        }
        fby_guarded_free(&cut);
    }
    fby_buffer_fini(&file);
}

/* The result of reading a word into `room` bytes. */
static fby_err read_word(const char *descr, const char *shape,
    const char *letters, size_t n, size_t room, char out[8])
{
    struct fby_buffer file = {0};
    put_npy_header(&file, descr, shape);
    fby_put_bytes(&file, letters, n);
    struct fby_guarded copy = fby_guarded_copy(file.data, file.size);
    fby_err err = fby_npy_read_word(copy.bytes, copy.size, out, room, NULL);
    fby_guarded_free(&copy);
    fby_buffer_fini(&file);
    return err;
}

static void a_word_is_of_bytes_or_of_unicode(void **state)
{
    (void)state;
    char word[8] = "";
    assert_ok(read_word("|S3", "()", "csr", 3, 4, word));
    assert_string_equal(word, "csr");
    assert_ok(read_word("<U3", "()", "c\0\0\0o\0\0\0o\0\0\0", 12, 8, word));
    assert_string_equal(word, "coo");
    assert_ok(read_word("|S1", "(1,)", "~", 1, 2, word));
    assert_string_equal(word, "~");
    assert_ok(read_word("|S2", "(1, 1)", "!!", 2, 3, word));
    assert_string_equal(word, "!!");
}

static void what_is_no_single_word_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *descr, *shape, *letters;
        size_t      n, room;
    } wrong[] = {
        {"|S3", "()", "csr", 3, 3},      /* no room for the NUL */
        {"|S3", "()", "csr", 2, 8},      /* cut */
        {"|S3", "()", "csrx", 4, 8},     /* more follows */
        {"|S3", "(2,)", "csrcsr", 6, 8}, /* two words */
        {"|S3", "(0,)", "", 0, 8},       /* none */
        {"|S3", "()", "c r", 3, 8},      /* a blank */
        {"|S3", "()", "c\x7fr", 3, 8},
        {"|S3", "()", "cs\0", 3, 8},
        {"<U1", "()", "c\0\0\1", 4, 8}, /* a letter beyond ASCII */
        {"<U1", "()", "c\1\0\0", 4, 8},
        {"<U3", "()", "csr", 3, 8},
        {">U1", "()", "c\0\0\0", 4, 8},
        {"|U1", "()", "c\0\0\0", 4, 8},
        {"<S1", "()", "c", 1, 8},
        {"|S", "()", "c", 1, 8},
        {"|S1x", "()", "c", 1, 8},
        {"|u1", "()", "c", 1, 8},
        {"|S01", "()", "c", 1, 8},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char word[8] = "";
        if (read_word(wrong[i].descr, wrong[i].shape, wrong[i].letters,
                wrong[i].n, wrong[i].room, word) != FBY_BAD_SAMPLE) {
            fail_msg("case %zu is a word: %s", i, word);
        }
    }
}

static void fortran_order_matters_from_two_real_dimensions(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        size_t      bytes;
        bool        c_order;
    } cases[] = {{"()", 1, true}, {"(5,)", 5, true}, {"(1, 5, 1)", 5, true},
        {"(2, 1)", 2, true}, {"(2, 2)", 4, false}, {"(1, 3, 2)", 6, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text),
            "{'descr': '|i1', 'fortran_order': True, 'shape': %s}",
            cases[i].shape);
        struct fby_npy npy = read_right(1, text, cases[i].bytes);
        assert_int_equal(fby_npy_is_c_order(&npy), cases[i].c_order);
        npy.fortran = false;
        assert_true(fby_npy_is_c_order(&npy));
    }
}

static void shapes_are_written_out_until_they_are_too_long(void **state)
{
    (void)state;
    char     text[FBY_NPY_SHAPE_TEXT];
    uint64_t dims[FBY_NPY_MAX_DIMS] = {240, 320};
    assert_string_equal(fby_npy_shape_text(dims, 0, text), "[]");
    assert_string_equal(fby_npy_shape_text(dims, 2, text), "[240, 320]");
    memset(dims, 0xff, sizeof(dims));
    fby_npy_shape_text(dims, FBY_NPY_MAX_DIMS, text);
    assert_in_range(strlen(text), 220, FBY_NPY_SHAPE_TEXT - 1);
    assert_string_equal(text + strlen(text) - 4, "...]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_says_type_order_and_shape),
        cmocka_unit_test(every_type_is_known_by_its_name),
        cmocka_unit_test(types_have_the_names_and_sizes_of_numpy),
        cmocka_unit_test(keys_stand_in_any_order_with_blanks_anywhere),
        cmocka_unit_test(a_header_that_is_no_dict_of_three_keys_is_refused),
        cmocka_unit_test(other_dtypes_are_refused),
        cmocka_unit_test(a_shape_that_is_no_tuple_is_refused),
        cmocka_unit_test(values_end_with_the_file),
        cmocka_unit_test(shapes_whose_product_overflows_are_refused),
        cmocka_unit_test(a_file_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(other_files_versions_and_lengths_are_refused),
        cmocka_unit_test(the_head_alone_says_where_values_begin),
        cmocka_unit_test(a_word_is_of_bytes_or_of_unicode),
        cmocka_unit_test(what_is_no_single_word_is_refused),
        cmocka_unit_test(fortran_order_matters_from_two_real_dimensions),
        cmocka_unit_test(shapes_are_written_out_until_they_are_too_long),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.npy", tests, NULL, NULL);
}
