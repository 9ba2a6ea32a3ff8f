/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of YAML: texts that are numbers, errors with their position, and
 * iteration of mappings. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/yaml.h"

/* The error for `text`; "" if it opens, and then `yaml` is open. */
static const char *open_text(const char *text, struct fby_yaml *yaml)
{
    static struct fby_error_detail why;
    struct fby_yaml_input          input = {text, strlen(text), "f"};
    why.text[0]                          = '\0';
    fby_err err                          = fby_yaml_open(&input, yaml, &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_CONFIG);
    return why.text;
}

/* The error for `text`; it is closed again if it opens. */
static const char *said_of(const char *text)
{
    struct fby_yaml yaml;
    const char     *said = open_text(text, &yaml);
    if (said[0] == '\0') {
        fby_yaml_close(&yaml);
    }
    return said;
}

/* Entry `i` of the list that is the whole text. */
static yaml_node_t *item_of(struct fby_yaml *yaml, size_t i)
{
    return fby_yaml_item(yaml, yaml_document_get_root_node(&yaml->document), i);
}

/* ---- scalars ---- */

static void integers_are_digits_without_a_leading_zero(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool        ok;
        int64_t     value;
    } cases[] = {{"0", true, 0}, {"-0", true, 0}, {"7", true, 7},
        {"-12", true, -12}, {"10", true, 10}, {"00", false, 0},
        {"-01", false, 0}, {"01", false, 0}, {"-", false, 0}, {"", false, 0},
        {"+1", false, 0}, {"1x", false, 0}, {"1 ", true, 1}, {"1.0", false, 0},
        {"'1'", false, 0}, {"\"1\"", false, 0}, {"[1]", false, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_yaml yaml;
        char            text[64];
        int64_t         value = 0;
        snprintf(text, sizeof(text), "[%s, 2]", cases[i].text);
        if (cases[i].text[0] == '\0') {
            snprintf(text, sizeof(text), "['', 2]");
        }
        assert_string_equal(open_text(text, &yaml), "");
        bool ok = fby_yaml_read_integer(item_of(&yaml, 0), &value);
        if (ok != cases[i].ok || (ok && value != cases[i].value)) {
            fail_msg("%s", cases[i].text);
        }
        fby_yaml_close(&yaml);
    }
}

static void reals_are_numbers_of_json(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double      value; /* NAN: it is none */
    } cases[] = {{"0", 0}, {"-0", 0}, {"-0.0", 0}, {"1.5", 1.5}, {"-2", -2},
        {"1e3", 1000}, {"1E+2", 100}, {"1.25e-2", 0.0125}, {"0.1", 0.1},
        {"1e308", 1e308}, {"1e309", NAN}, {"1e", NAN}, {"1e+", NAN},
        {"1.", NAN}, {".5", NAN}, {"1.e3", NAN}, {"1.5.5", NAN}, {"1.-5", NAN},
        {"01.5", NAN}, {"1e3e3", NAN}, {"1e3.5", NAN}, {"'1.5'", NAN},
        {"nan", NAN}, {".inf", NAN}, {"0x10", NAN}, {"1_0", NAN},
        {"[1.5]", NAN}, {"-", NAN}, {"1e++3", NAN}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_yaml yaml;
        char            text[64];
        double          value = 0;
        snprintf(text, sizeof(text), "[%s, 2]", cases[i].text);
        assert_string_equal(open_text(text, &yaml), "");
        bool ok = fby_yaml_read_real(item_of(&yaml, 0), &value);
        if (ok == (isnan(cases[i].value) != 0) ||
            (ok && (value != cases[i].value ||
                       signbit(value) != (cases[i].value < 0)))) {
            fail_msg("%s", cases[i].text);
        }
        fby_yaml_close(&yaml);
    }
}

static void nothing_and_null_are_not_given(void **state)
{
    (void)state;
    static const bool given[] = {
        false, false, false, true, true, true, true, false, false, false};
    struct fby_yaml yaml;
    assert_string_equal(
        open_text(
            "[ , ~, null, '~', \"null\", Null, x, '', [a], {a: b}]\n", &yaml),
        "f:1:3: did not find expected node content while parsing a flow node");
    assert_string_equal(
        open_text("- \n- ~\n- null\n- '~'\n- \"null\"\n- Null\n- x\n- ''\n"
                  "- [a]\n- {a: b}\n",
            &yaml),
        "");
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        assert_int_equal(fby_yaml_is_given(item_of(&yaml, i)), given[i]);
        assert_int_equal(fby_yaml_pos(item_of(&yaml, i)).line, i + 1);
    }
    assert_string_equal(fby_yaml_text(item_of(&yaml, 6)), "x");
    assert_string_equal(fby_yaml_text(item_of(&yaml, 8)), "");
    assert_int_equal(
        fby_yaml_length(yaml_document_get_root_node(&yaml.document)), 10);
    fby_yaml_close(&yaml);
}

static void what_stands_there_instead_is_shown(void **state)
{
    (void)state;
    static const char *const wanted[] = {"f:1:3: expected it, not 'a b'",
        "f:2:3: expected it, not the text 'c'",
        "f:3:3: expected it, not the text 'd'",
        "f:4:3: expected it, not a list of 2",
        "f:5:3: expected it, not a mapping {...}",
        "f:6:3: expected it, not an empty value",
        "f:7:3: expected it, not an empty value",
        "f:8:3: expected it, not the text '~'",
        "f:9:3: expected it, not the text 'x?'"};
    struct fby_yaml          yaml;
    struct fby_error_detail  why = {{0}};
    assert_string_equal(
        open_text("- a b\n- 'c'\n- \"d\"\n- [e, f]\n- {g: h}\n- ~\n- ''\n"
                  "- '~'\n- \"x\\n\"\n",
            &yaml),
        "");
    yaml.why = &why;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_int_equal(
            fby_yaml_error_expected(&yaml, item_of(&yaml, i), "it"),
            FBY_CONFIG);
        assert_string_equal(why.text, wanted[i]);
    }
    yaml.why = NULL;
    assert_int_equal(
        fby_yaml_error_expected(&yaml, item_of(&yaml, 0), "it"), FBY_CONFIG);
    fby_yaml_close(&yaml);
}

/* ---- opening ---- */

static void lists_and_mappings_nest_16_deep(void **state)
{
    (void)state;
    assert_string_equal(said_of("[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"), "");
    assert_string_equal(said_of("[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]"),
        "f:1:17: lists and mappings are nested too deeply");
    assert_string_equal(said_of("[[[[[[[[[[[[[[[{a: 1}]]]]]]]]]]]]]]]"), "");
    assert_string_equal(said_of("[[[[[[[[[[[[[[[[{a: 1}]]]]]]]]]]]]]]]]"),
        "f:1:17: lists and mappings are nested too deeply");
    assert_string_equal(said_of("[[[[[[[[[1]]]]]]]],\n [[[[[[[[2]]]]]]]],\n"
                                " {a: {b: {c: 1}}, d: {e: {f: 2}}}]"),
        "");
}

static void what_yaml_has_and_no_pipeline_needs_is_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a: &x 1", "f:1:4: anchors (&name) are not supported"},
        {"a: &x [1]", "f:1:4: anchors (&name) are not supported"},
        {"a: &x {b: 1}", "f:1:4: anchors (&name) are not supported"},
        {"a: !x 1", "f:1:4: tags (!name) are not supported"},
        {"a: !x [1]", "f:1:4: tags (!name) are not supported"},
        {"a: !x {b: 1}", "f:1:4: tags (!name) are not supported"},
        {"a: 1\nb: *x", "f:2:4: aliases (*name) are not supported"},
        {"%YAML 1.1\n---\na: 1", "f:1:1: directives (%...) are not supported"},
        {"%TAG ! t:\n---\na: 1", "f:1:1: directives (%...) are not supported"},
        {"a: 1\n---\nb: 1",
            "f:2:1: a second document; a pipeline file has one"},
        {"---\na: 1\n", ""},
        {"a: \"x\\0y\"", "f:1:4: a text must not hold NUL"},
        {"", "f:1:1: the file is empty"},
        {"\n# x\n", "f:1:1: the file is empty"},
        {"\xef\xbb\xbf", "f:1:1: the file is empty"},
        {"\xef\xbb", "f:1:1: this line is not UTF-8 text without NUL"},
        {"a: 1\nb: \xff", "f:2:1: this line is not UTF-8 text without NUL"},
        {"a: 1\nb: 2\n\xff\n", "f:3:1: this line is not UTF-8 text without "
                               "NUL"},
        {"a: [1", "f:2:1: did not find expected ',' or ']' while parsing a "
                  "flow sequence"},
        {"a: @", "f:1:4: found character that cannot start any token while "
                 "scanning for the next token"},
        {"a: 1\n b: 2", "f:2:3: mapping values are not allowed in this "
                        "context"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(said_of(cases[i][0]), cases[i][1]);
    }
}

static void a_mark_at_the_beginning_is_no_text(void **state)
{
    (void)state;
    struct fby_yaml yaml;
    assert_string_equal(open_text("\xef\xbb\xbf[x]", &yaml), "");
    assert_string_equal(fby_yaml_text(item_of(&yaml, 0)), "x");
    assert_int_equal(fby_yaml_pos(item_of(&yaml, 0)).column, 2);
    fby_yaml_close(&yaml);
    assert_string_equal(open_text("\xef\xbb\xbf\xef\xbb\xbf[x]", &yaml), "");
    assert_int_equal(fby_yaml_pos(item_of(&yaml, 0)).column, 3);
    fby_yaml_close(&yaml);
}

static void of_a_long_file_name_the_end_is_shown(void **state)
{
    (void)state;
    char                    name[200];
    struct fby_error_detail why = {{0}};
    memset(name, 'x', sizeof(name));
    name[0]   = 'a';
    name[160] = '\0';
    fby_yaml_set_error(&why, name, (struct fby_source_pos){12, 34}, "%s", "so");
    assert_memory_equal(why.text, "axx", 3);
    assert_string_equal(why.text + 160, ":12:34: so");
    name[160] = 'y';
    name[161] = '\0';
    fby_yaml_set_error(&why, name, (struct fby_source_pos){12, 34}, "%s", "so");
    assert_memory_equal(why.text, "xxx", 3);
    assert_string_equal(why.text + 159, "y:12:34: so");
}

/* ---- mappings ---- */

struct entries {
    char   text[200];
    size_t left; /* entries until one fails */
};

static fby_err note(
    struct fby_yaml *yaml, yaml_node_t *value, size_t i, void *target)
{
    struct entries *entries = target;
    size_t          n       = strlen(entries->text);
    snprintf(entries->text + n, sizeof(entries->text) - n, "%zu=%s ", i,
        fby_yaml_text(value));
    return entries->left-- > 0 ? FBY_OK : fby_yaml_error(yaml, value, "enough");
}

/* The error for a mapping with the keys one, two and three. */
static const char *read_map(
    const char *text, struct entries *entries, struct fby_source_pos places[3])
{
    static const char *const       names[] = {"one", "two", "three"};
    static struct fby_error_detail why;
    struct fby_yaml                yaml;
    struct fby_yaml_map            map = {names, 3, places, note, entries};
    memset(places, 0, 3 * sizeof(*places));
    why.text[0] = '\0';
    assert_string_equal(open_text(text, &yaml), "");
    yaml.why    = &why;
    fby_err err = fby_yaml_read_map(
        &yaml, yaml_document_get_root_node(&yaml.document), "three keys", &map);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_CONFIG);
    fby_yaml_close(&yaml);
    return why.text;
}

static void keys_are_read_once_and_in_the_order_of_the_file(void **state)
{
    (void)state;
    struct fby_source_pos places[3];
    struct entries        all = {.left = 9};
    assert_string_equal(read_map("three: c\none: a\n", &all, places), "");
    assert_string_equal(all.text, "2=c 0=a ");
    assert_int_equal(places[0].line, 2);
    assert_int_equal(places[0].column, 6);
    assert_int_equal(places[1].line, 0);
    assert_int_equal(places[2].line, 1);
    struct entries few = {.left = 1};
    assert_string_equal(
        read_map("one: a\ntwo: b\nthree: c\n", &few, places), "f:2:6: enough");
    assert_string_equal(few.text, "0=a 1=b ");
}

static void keys_that_are_not_known_are_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{one: 1, one: 2}",
            "f:1:10: key 'one' is given twice (first in line 1)"},
        {"{thre: 1}",
            "f:1:2: key 'thre' is not known here; did you mean 'three'?"},
        {"{seventy: 1}",
            "f:1:2: key 'seventy' is not known here; known: one, two, three"},
        {"{[a]: 1}", "f:1:2: expected a key, not a list of 1"},
        {"{{a: b}: 1}", "f:1:2: expected a key, not a mapping {...}"},
        {"[]", "f:1:1: expected three keys, not a list of 0"},
        {"x", "f:1:1: expected three keys, not 'x'"},
        {"{}", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_source_pos places[3];
        struct entries        entries = {.left = 9};
        assert_string_equal(
            read_map(cases[i][0], &entries, places), cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_digits_without_a_leading_zero),
        cmocka_unit_test(reals_are_numbers_of_json),
        cmocka_unit_test(nothing_and_null_are_not_given),
        cmocka_unit_test(what_stands_there_instead_is_shown),
        cmocka_unit_test(lists_and_mappings_nest_16_deep),
        cmocka_unit_test(what_yaml_has_and_no_pipeline_needs_is_refused),
        cmocka_unit_test(a_mark_at_the_beginning_is_no_text),
        cmocka_unit_test(of_a_long_file_name_the_end_is_shown),
        cmocka_unit_test(keys_are_read_once_and_in_the_order_of_the_file),
        cmocka_unit_test(keys_that_are_not_known_are_named),
    };
    return cmocka_run_group_tests_name("pipeline.yaml", tests, NULL, NULL);
}
