/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/setup/options.h"

/* An image, a label and rows of several lengths. */
static const struct fby_content content = {
    .n_fields = 3,
    .fields   = {{.name = "ids", .decode = FBY_DECODE_TEXT, .max_length = 8},
          {.name = "image", .decode = FBY_DECODE_RGB8},
          {.name = "label", .decode = FBY_DECODE_LABEL}},
};

static void refused(const struct forebay_options *o, const char *words)
{
    static struct fby_delivery delivery;
    struct fby_error_detail    why  = {""};
    uint64_t                   bits = 0;
    fby_err err = fby_options_select_fields(o, &content, &bits, &why);
    if (err == FBY_OK) {
        err = fby_options_apply_outputs(o, &content, &delivery, &why);
    }
    assert_int_equal(err, FBY_USAGE);
    if (strstr(why.text, words) == NULL) {
        fail_msg("'%s' lacks '%s'", why.text, words);
    }
}

/* ---- Structs of other versions ------------------------------------------- */

static void a_shorter_struct_has_defaults_for_the_rest(void **state)
{
    (void)state;
    struct forebay_options given = forebay_options();
    struct forebay_options read;
    given.rank        = 3;
    given.digests     = true;
    given.struct_size = offsetof(struct forebay_options, seed);
    assert_ok(fby_options_read(&given, &read, NULL));
    assert_int_equal(read.rank, 3);
    assert_false(read.digests);
}

static void a_longer_struct_passes_while_its_end_is_zero(void **state)
{
    (void)state;
    struct {
        struct forebay_options known;
        uint64_t               unknown;
    } given = {.known = forebay_options()};
    struct forebay_options  read;
    struct fby_error_detail why = {""};
    given.known.struct_size     = sizeof(given);
    assert_ok(fby_options_read(&given.known, &read, &why));
    given.unknown = 1;
    assert_int_equal(fby_options_read(&given.known, &read, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "does not know"));
}

static void a_struct_without_size_is_refused(void **state)
{
    (void)state;
    struct forebay_options given = forebay_options();
    struct forebay_options read;
    given.struct_size = 0;
    assert_int_equal(fby_options_read(&given, &read, NULL), FBY_USAGE);
}

static void arrays_that_are_not_there_are_refused(void **state)
{
    (void)state;
    struct forebay_options read;
    for (int i = 0; i < 3; i++) {
        struct forebay_options  given = forebay_options();
        struct fby_error_detail why   = {""};
        size_t *const n[] = {&given.n_roots, &given.n_fields, &given.n_outputs};
        const char *const names[] = {"roots", "fields", "outputs"};
        *n[i]                     = 2;
        assert_int_equal(fby_options_read(&given, &read, &why), FBY_USAGE);
        assert_non_null(strstr(why.text, names[i]));
    }
}

static void outputs_have_the_stride_of_the_first(void **state)
{
    (void)state;
    static struct fby_delivery delivery;
    struct fby_error_detail    why = {""};
    struct {
        struct forebay_output known;
        uint64_t              unknown;
    } all[2] = {
        {.known = forebay_output("image")}, {.known = forebay_output("label")}};
    struct forebay_options o = forebay_options();
    o.outputs                = &all[0].known;
    o.n_outputs              = 2;
    all[0].known.struct_size = sizeof(all[0]);
    refused(&o, "struct_size of element 1");
    all[1].known.struct_size = sizeof(all[0]);
    all[0].known.layout      = FOREBAY_LAYOUT_CHW;
    all[1].known.dtype       = FOREBAY_DTYPE_I32;
    assert_ok(fby_options_apply_outputs(&o, &content, &delivery, &why));
    assert_int_equal(delivery.fields[1].layout, FBY_LAYOUT_CHW);
    assert_int_equal(delivery.fields[2].dtype, FBY_I32);
    all[1].unknown = 1;
    refused(&o, "element 1 sets a member that this version");
}

/* ---- Fields -------------------------------------------------------------- */

static void fields_are_found_by_name_and_all_are_the_default(void **state)
{
    (void)state;
    const char *const       some[] = {"label", "ids", "label"};
    struct fby_error_detail why    = {""};
    uint64_t                bits   = 0;
    struct forebay_options  o      = forebay_options();
    assert_ok(fby_options_select_fields(&o, &content, &bits, &why));
    assert_int_equal(bits, 7);
    o.fields   = some;
    o.n_fields = 3;
    assert_ok(fby_options_select_fields(&o, &content, &bits, &why));
    assert_int_equal(bits, 5);
    o.n_fields = 0;
    refused(&o, "none is selected");
}

/* ---- Outputs ------------------------------------------------------------- */

static void outputs_change_what_they_name_and_nothing_else(void **state)
{
    (void)state;
    static struct fby_delivery delivery;
    struct fby_error_detail    why    = {""};
    struct forebay_output      output = forebay_output("ids");
    struct forebay_options     o      = forebay_options();
    delivery.fields[0] =
        (struct fby_field_delivery){.dtype = FBY_I64, .offsets = FBY_I64};
    output.as      = FOREBAY_AS_RAGGED;
    output.offsets = FOREBAY_DTYPE_I32;
    output.has_pad = true;
    output.pad     = -1;
    o.outputs      = &output;
    o.n_outputs    = 1;
    assert_ok(fby_options_apply_outputs(&o, &content, &delivery, &why));
    assert_int_equal(delivery.fields[0].dtype, FBY_I64);
    assert_int_equal(delivery.fields[0].as, FBY_AS_RAGGED);
    assert_int_equal(delivery.fields[0].offsets, FBY_I32);
    assert_true(delivery.fields[0].pad == -1.0);
    assert_int_equal(delivery.fields[1].dtype, 0);
}

static void outputs_that_mean_nothing_are_refused(void **state)
{
    (void)state;
    const struct {
        struct forebay_output output;
        const char           *words;
    } all[] = {
        {{.field = NULL}, "no field without a name"},
        {{.field = "depth"}, "no field depth"},
        {{.field = "image", .dtype = 10}, "dtype is 10"},
        {{.field = "image", .layout = 77}, "layout is 77"},
        {{.field = "image", .as = 9}, "as is 9"},
        {{.field = "image", .pad_to = 9}, "pad_to is 9"},
        {{.field = "image", .offsets = 99}, "offsets is 99"},
        {{.field = "image", .pad_to = FOREBAY_PAD_TO_MAX}, "need no padding"},
        {{.field = "image", .has_pad = true}, "need no padding"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct forebay_output  output = all[i].output;
        struct forebay_options o      = forebay_options();
        output.struct_size            = sizeof(output);
        o.outputs                     = &output;
        o.n_outputs                   = 1;
        refused(&o, all[i].words);
        const struct forebay_output both[] = {output, forebay_output("label")};
        o.outputs                          = both;
        o.n_outputs                        = 2;
        refused(&o, all[i].words); /* though the last is right */
    }
}

/* ---- At the edges -------------------------------------------------------- */

static fby_err read_with(size_t struct_size, const char **text)
{
    static struct fby_error_detail why;
    union { /* as long as a struct may be said to be */
        struct forebay_options options;
        uint8_t                bytes[65 * sizeof(struct forebay_options)];
    } *given = calloc(1, sizeof(*given));
    struct forebay_options read;
    given->options             = forebay_options();
    given->options.struct_size = struct_size;
    why.text[0]                = '\0';
    fby_err err                = fby_options_read(&given->options, &read, &why);
    *text                      = why.text;
    free(given);
    return err;
}

static void a_struct_has_a_size_that_can_be(void **state)
{
    (void)state;
    const size_t ours = sizeof(struct forebay_options);
    const char  *text = "";
    assert_int_equal(read_with(sizeof(size_t) - 1, &text), FBY_USAGE);
    assert_string_equal(
        text, "struct_size is 7; set it to sizeof(struct forebay_options)");
    assert_int_equal(read_with(sizeof(size_t), &text), FBY_OK);
    assert_int_equal(read_with(ours - 1, &text), FBY_OK);
    assert_int_equal(read_with(ours, &text), FBY_OK);
    assert_int_equal(read_with(ours + 1, &text), FBY_OK);
    assert_int_equal(read_with(64 * ours, &text), FBY_OK);
    assert_int_equal(read_with(64 * ours + 1, &text), FBY_USAGE);
}

/* The last byte counts, and the first behind what is known. */
static void every_byte_that_is_not_known_has_to_be_zero(void **state)
{
    (void)state;
    union {
        struct forebay_options options;
        uint8_t                bytes[sizeof(struct forebay_options) + 9];
    } given;
    struct forebay_options read;
    for (size_t i = 0; i < 9; i++) {
        memset(&given, 0, sizeof(given));
        given.options             = forebay_options();
        given.options.struct_size = sizeof(given.options) + 8;

        given.bytes[sizeof(given.options) + i] = 1;
        assert_int_equal(fby_options_read(&given.options, &read, NULL),
            i < 8 ? FBY_USAGE : FBY_OK);
    }
}

static void an_array_that_is_there_may_be_of_any_length(void **state)
{
    (void)state;
    const char *const      names[1] = {"label"};
    struct forebay_options read;
    struct forebay_options given = forebay_options();
    given.fields                 = names;
    given.n_fields               = 1;
    assert_ok(fby_options_read(&given, &read, NULL));
    assert_ptr_equal(read.fields, names);
    assert_int_equal(read.n_fields, 1);
}

/* The last value of each enum means something, the next one nothing. */
static void each_enum_has_a_last_value(void **state)
{
    (void)state;
    const int last[5] = {FOREBAY_DTYPE_BOOL, FOREBAY_LAYOUT_HW, FOREBAY_AS_MASK,
        FOREBAY_PAD_TO_LONGEST, FOREBAY_DTYPE_BOOL};
    for (int i = 0; i < 5; i++) {
        for (int beyond = 0; beyond < 2; beyond++) {
            static struct fby_delivery delivery;
            struct fby_error_detail    why       = {""};
            struct forebay_output      output    = forebay_output("ids");
            struct forebay_options     o         = forebay_options();
            int                        values[5] = {0};
            values[i]                            = last[i] + beyond;
            output.dtype   = (enum forebay_dtype)values[0];
            output.layout  = (enum forebay_layout)values[1];
            output.as      = (enum forebay_as)values[2];
            output.pad_to  = (enum forebay_pad_to)values[3];
            output.offsets = (enum forebay_dtype)values[4];
            o.outputs      = &output;
            o.n_outputs    = 1;
            assert_int_equal(
                fby_options_apply_outputs(&o, &content, &delivery, &why),
                beyond == 0 ? FBY_OK : FBY_USAGE);
        }
    }
}

static void outputs_are_taken_over_member_by_member(void **state)
{
    (void)state;
    static struct fby_delivery      delivery;
    struct fby_error_detail         why    = {""};
    struct forebay_output           output = forebay_output("ids");
    struct forebay_options          o      = forebay_options();
    const struct fby_field_delivery before = {.dtype = FBY_I64,
        .layout                                      = FBY_LAYOUT_CHW,
        .as                                          = FBY_AS_RAGGED,
        .longest                                     = true,
        .offsets                                     = FBY_I32,
        .pad                                         = 4};
    delivery.fields[0]                     = before;
    o.outputs                              = &output;
    o.n_outputs                            = 1;
    assert_ok(fby_options_apply_outputs(&o, &content, &delivery, &why));
    assert_memory_equal(&delivery.fields[0], &before, sizeof(before));
    output.pad     = 9; /* not said to be set */
    output.pad_to  = FOREBAY_PAD_TO_MAX;
    output.dtype   = FOREBAY_DTYPE_F32;
    output.layout  = FOREBAY_LAYOUT_HWC;
    output.as      = FOREBAY_AS_PADDED;
    output.offsets = FOREBAY_DTYPE_I64;
    assert_ok(fby_options_apply_outputs(&o, &content, &delivery, &why));
    const struct fby_field_delivery *got = &delivery.fields[0];
    assert_int_equal(got->dtype, FBY_F32);
    assert_int_equal(got->layout, FBY_LAYOUT_HWC);
    assert_int_equal(got->as, FBY_AS_PADDED);
    assert_int_equal(got->offsets, FBY_I64);
    assert_false(got->longest);
    assert_true(got->pad == 4.0);
    output.pad_to = FOREBAY_PAD_TO_LONGEST;
    assert_ok(fby_options_apply_outputs(&o, &content, &delivery, &why));
    assert_true(got->longest);
}

static void an_unknown_field_is_refused_with_the_names_there_are(void **state)
{
    (void)state;
    const char *const       name = "depth";
    struct fby_error_detail why  = {""};
    uint64_t                bits = 0;
    struct forebay_options  o    = forebay_options();
    o.fields                     = &name;
    o.n_fields                   = 1;
    assert_int_equal(
        fby_options_select_fields(&o, &content, &bits, &why), FBY_USAGE);
    assert_string_equal(
        why.text, "no field depth; the pipeline has ids, image, label");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shorter_struct_has_defaults_for_the_rest),
        cmocka_unit_test(a_longer_struct_passes_while_its_end_is_zero),
        cmocka_unit_test(a_struct_without_size_is_refused),
        cmocka_unit_test(arrays_that_are_not_there_are_refused),
        cmocka_unit_test(outputs_have_the_stride_of_the_first),
        cmocka_unit_test(fields_are_found_by_name_and_all_are_the_default),
        cmocka_unit_test(outputs_change_what_they_name_and_nothing_else),
        cmocka_unit_test(outputs_that_mean_nothing_are_refused),
        cmocka_unit_test(a_struct_has_a_size_that_can_be),
        cmocka_unit_test(every_byte_that_is_not_known_has_to_be_zero),
        cmocka_unit_test(an_array_that_is_there_may_be_of_any_length),
        cmocka_unit_test(each_enum_has_a_last_value),
        cmocka_unit_test(outputs_are_taken_over_member_by_member),
        cmocka_unit_test(an_unknown_field_is_refused_with_the_names_there_are),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.options", tests, NULL, NULL);
}
