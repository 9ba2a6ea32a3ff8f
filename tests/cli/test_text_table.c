/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/text_table.h"

static bool find_in(const char *text, bool is_cut, struct fby_text_table *out)
{
    char  *copy  = strdup(text);
    size_t n     = strlen(text);
    bool   found = fby_text_table_find(copy, n, is_cut, out);
    free(copy);
    return found;
}

static struct fby_text_table find(const char *text)
{
    struct fby_text_table table;
    if (!find_in(text, false, &table)) {
        fail_msg("no table: %s", text);
    }
    return table;
}

static void assert_no_table(const char *text)
{
    struct fby_text_table table;
    if (find_in(text, false, &table)) {
        fail_msg("a table of %u columns: %s", table.n_columns, text);
    }
}

static void assert_columns(
    const char *text, const char *separator, uint32_t n_columns)
{
    struct fby_text_table table = find(text);
    assert_string_equal(table.separator, separator);
    assert_int_equal(table.n_columns, n_columns);
}

static void the_separator_splits_all_lines_alike(void **state)
{
    (void)state;
    assert_columns("1,a\n2,b\n", ",", 2);
    assert_columns("\n1;2,5;3\r\n\r\n4;5;6\r\n", ";", 3);
    assert_columns("1::A (1995)::x|y\n2::B::z\n", "::", 3);
    assert_columns("1|a, b|\n2|c|\n", "|", 3);
    assert_columns("ham\tso, it\nspam\tfree\n", "\t", 2);
    assert_columns("39, a b, 1\n50, c d, 2\n", ",", 3);
    assert_columns(" 0.1  2 3\n 14 5.   6 \n", " ", 3);
    assert_columns("1  2\t\"a b\"\n3  4\t\"c\"\n", " ", 3);
    assert_columns("New York\t5\nLos Angeles\t6\n", "\t", 2);
    assert_columns("1\t\t2\n3\t4\n", " ", 2);
}

static void other_texts_are_no_tables(void **state)
{
    (void)state;
    assert_no_table("");
    assert_no_table("1,2\n");
    assert_no_table("a\nb\n");
    assert_no_table("1,2\n3\n");
    assert_no_table("once upon\na time\n"); /* blanks need numbers */
    assert_no_table("the end\nis, near\n");
    struct fby_text_table table;
    char                  bytes[] = "1,2\n3,\0004\n";
    assert_false(fby_text_table_find(bytes, sizeof(bytes) - 1, false, &table));
}

static void a_line_that_is_cut_is_not_looked_at(void **state)
{
    struct fby_text_table table;
    (void)state;
    assert_true(find_in("1,2\n3,4\n5", true, &table));
    assert_false(find_in("1,2\n3,4\n5", false, &table));
    assert_false(find_in("1,2\n3,4", true, &table));
}

static void quotes_are_around_cells_or_mean_themselves(void **state)
{
    (void)state;
    assert_true(find("1,\"a, b\"\n2,c\n").has_quotes);
    assert_true(find("1,a\n2,b\n").has_quotes); /* later rows may have some */
    assert_false(find("1\ta\n2\tb\n").has_quotes);
    assert_false(find("1\t\"a\n2\tb\" c\n3\td\n").has_quotes);
    assert_true(find("1\t\"a\"\n2\t\"b \"\" c\"\n").has_quotes);
    assert_true(find("1\t\"a\tb\"\n2\tb\n3\tc\n").has_quotes);
}

static void a_header_has_names_and_no_values(void **state)
{
    (void)state;
    assert_true(find("age,kind\n1,cat\n2,dog\n").has_header);
    assert_true(find("\"age\",\"kind\"\n1,cat\n2,dog\n").has_header);
    assert_true(find("sepal length,kind\n1,cat\n2,dog\n").has_header);
    assert_true(find("label\ttext\nham\thi\n").has_header);
    assert_false(find("5.1,setosa\n4.9,other\n").has_header);
    assert_false(find("ham\thi\nspam\tyou\nham\tall\n").has_header);
    assert_false(find("no-events,30-39\nevents,40-49\n").has_header);
    assert_false(find("f,f,won\nt,a,lost\n").has_header);
    assert_false(find("a,,b\nc,d,1\n").has_header);
}

static void columns_of_numbers_are_noted(void **state)
{
    (void)state;
    assert_true(find("a,1\nb,-2.5e3 \n").has_numbers);
    assert_true(find("age,x\n1,y\n").has_numbers);
    assert_false(find("a,1\nb,?\n").has_numbers);
    assert_false(find("a,b\nc,d\n").has_numbers);
}

static void a_line_before_the_header_may_have_the_number_of_rows(void **state)
{
    (void)state;
    struct fby_text_table table =
        find("2\nname  split\na.jpg train\nb.jpg val\n");
    assert_string_equal(table.separator, " ");
    assert_int_equal(table.n_columns, 2);
    assert_true(table.has_count && table.has_header && !table.lacks_name);
    table = find("2\nBald Young \na.jpg -1  1\nb.jpg  1 1\n");
    assert_int_equal(table.n_columns, 3);
    assert_true(table.has_count && table.lacks_name && !table.has_header);
    table = find("2\nname attributes\na 1 0 1\nb 1 1 1\n");
    assert_int_equal(table.n_columns, 4);
    assert_true(table.has_count && !table.lacks_name && !table.has_header);
    table = find("1,2\n3,4\n");
    assert_false(table.has_count);
    assert_no_table("2\n3\n4\n");
    assert_no_table("2\nonce upon\na time there\n");
}

static void rows_may_have_very_many_cells(void **state)
{
    char   text[4000];
    size_t used = 0;
    (void)state;
    for (int row = 0; row < 2; row++) {
        for (int i = 0; i < 784; i++) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%d%s",
                row, i < 783 ? "," : "\n");
        }
    }
    assert_int_equal(find(text).n_columns, 784);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_separator_splits_all_lines_alike),
        cmocka_unit_test(other_texts_are_no_tables),
        cmocka_unit_test(a_line_that_is_cut_is_not_looked_at),
        cmocka_unit_test(quotes_are_around_cells_or_mean_themselves),
        cmocka_unit_test(a_header_has_names_and_no_values),
        cmocka_unit_test(columns_of_numbers_are_noted),
        cmocka_unit_test(a_line_before_the_header_may_have_the_number_of_rows),
        cmocka_unit_test(rows_may_have_very_many_cells),
    };
    return cmocka_run_group_tests_name("cli.text_table", tests, NULL, NULL);
}
