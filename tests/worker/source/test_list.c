/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of samples: the shards of a text, and the errors of invalid texts. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/guard.h"
#include "tests/says.h"
#include "worker/source/list/json_line.h"
#include "worker/source/list/list.h"
#include "worker/source/list/path.h"
#include "worker/source/manifest.h"

static const char files[1][FBY_NAME_SIZE] = {"image"};

static fby_err read_list(const char *text, bool json,
    struct fby_shard_builder *out, struct fby_error_detail *why)
{
    const struct fby_list list = {.text = text,
        .size                           = strlen(text),
        .json                           = json,
        .files                          = files,
        .n_files                        = 1};
    return fby_list_build_shards(&list, out, why);
}

static void forget(struct fby_shard_builder *builder)
{
    for (uint32_t i = 0; i < builder->count; i++) {
        fby_shard_fini(&builder->shards[i]);
    }
    free(builder->shards);
}

/* "17: image.jpg=a/1.jpg label=3;" for each sample of the first shard. */
static char *shown(const struct fby_shard_builder *builder)
{
    const struct fby_shard *shard = &builder->shards[0];
    struct fby_buffer       out   = {0};
    for (uint32_t i = 0; i < shard->n_samples; i++) {
        const char *key = fby_shard_key(shard, i);
        fby_put_bytes(&out, key, strlen(key));
        fby_put_bytes(&out, ":", 1);
        for (uint32_t m = shard->first_member[i];
             m < shard->first_member[i + 1]; m++) {
            const char *suffix = fby_shard_suffix(shard, m);
            const char *is     = fby_shard_is_value(shard, m) ? "=" : "@";
            fby_put_bytes(&out, " ", 1);
            fby_put_bytes(&out, suffix, strlen(suffix));
            fby_put_bytes(&out, is, 1);
            fby_put_bytes(&out, shard->texts.data + shard->text_offset[m],
                shard->text_size[m]);
        }
        fby_put_bytes(&out, ";", 1);
    }
    fby_put_u8(&out, 0);
    return (char *)out.data;
}

static void check(const char *text, bool json, const char *expected)
{
    struct fby_shard_builder builder = {.count = 0};
    struct fby_error_detail  why     = {{0}};
    if (read_list(text, json, &builder, &why) != FBY_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    char *is = shown(&builder);
    assert_string_equal(is, expected);
    free(is);
    forget(&builder);
}

static void refuse(const char *text, bool json, const char *words)
{
    struct fby_shard_builder builder = {.count = 0};
    struct fby_error_detail  why     = {{0}};
    assert_int_equal(read_list(text, json, &builder, &why), FBY_CONFIG);
    assert_says(&why, words);
    forget(&builder);
}

static fby_err receive_any(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    (void)arg, (void)row, (void)why;
    return FBY_OK;
}

static void refuse_nul(void)
{
    static const char          text[] = "image\na\0b\n";
    const struct fby_list_sink sink   = {.receive = receive_any};
    struct fby_error_detail    why    = {{0}};
    assert_int_equal(
        fby_list_csv(text, sizeof(text) - 1, &sink, &why), FBY_CONFIG);
    assert_says(&why, "line 2: a NUL byte; a list is UTF-8 text");
}

static void a_csv_row_is_a_sample_and_a_column_a_member(void **state)
{
    (void)state;
    check("image,label\na/1.jpg,3\nb.c/2.x.PNG,4\n", false,
        "2: image.jpg@a/1.jpg label=3;3: image.x.PNG@b.c/2.x.PNG label=4;");
    check("Image,Label,the text,folder\n1,3,x,y", false,
        "2: image@1 label=3 folder=y;");
}

static void quotes_line_ends_and_marks_are_those_of_rfc_4180(void **state)
{
    (void)state;
    check(
        "\xef\xbb\xbf\"image\",text\r\n\"a,b.jpg\",\"one \"\"two\"\"\r\n3\"\r\n"
        "\r\nc.jpg, four \r\n",
        false,
        "2: image.jpg@a,b.jpg text=one \"two\"\r\n3;"
        "5: image.jpg@c.jpg text= four ;");
    check("image,text\na.jpg,\"\"\nb.jpg,x", false,
        "2: image.jpg@a.jpg;3: image.jpg@b.jpg text=x;");
}

/* pandas writes one by default. */
static void a_first_csv_column_without_a_name_numbers_the_rows(void **state)
{
    (void)state;
    check(",image,label\n0,a.jpg,3\n1,b.jpg,\n", false,
        "2: image.jpg@a.jpg label=3;3: image.jpg@b.jpg;");
    refuse(",image,b\n0,x,y\n1,,\n", false, "line 3: a row without any value");
    refuse(",image\n0,x\n1\n", false, "line 3: 1 field, but the header has 2");
}

static void a_csv_that_is_wrong_is_refused_with_its_line(void **state)
{
    (void)state;
    refuse("", false, "it is empty");
    refuse("image\n", false, "it has no rows");
    refuse("image,b\nx.jpg\n", false, "line 2: 1 field, but the header has 2");
    refuse("image\nx.jpg,y\n", false, "line 2: 2 fields, but the header has 1");
    refuse("image\n\n\"x.jpg\n\n", false, "line 3: a quote that is not closed");
    refuse("image\nx\"y.jpg\n", false, "line 2: a quote within a field");
    refuse("image\n\"x\"y\n", false, "line 2: text after a closing quote");
    refuse("image\nx\ry\n", false, "line 2: a lone carriage return");
    refuse("image,IMAGE\nx,y\n", false, "column 'IMAGE' is there twice");
    refuse("image,\nx,y\n", false, "a column without a name");
    refuse(",\nx,y\n", false, "a column without a name");
    refuse("\"\"\nx\n", false, "a column without a name");
    refuse("image;label\na;3\n", false, "no comma, but ';'; columns are");
    refuse("\"image\";\"a\"\na;3\n", false, "no comma, but ';'; columns are");
    refuse("\"x\",y\n\"x\";y\n", false, "line 2: text after a closing quote");
    refuse("image\tlabel\na\t3\n", false, "no comma, but tabs; columns");
    refuse("image\n\xff\n", false, "line 2: is not UTF-8 text");
    refuse_nul();
    refuse("b\nx\n", false, "no row has a path in the column 'image'");
    refuse("image,b\nx,y\n,\n", false, "line 3: a row without any value");
}

static void rows_and_columns_are_bounded(void **state)
{
    (void)state;
    char *text = malloc((2U << 20) + 64);
    int   n    = sprintf(text, "image\n\"");
    memset(text + n, 'x', 2U << 20);
    memcpy(text + n + (2U << 20), "\"\n", 3);
    refuse(text, false, "line 2: a row of more than 1 MiB");
    memcpy(text, "image\nx", 7);
    memcpy(text + n + (2U << 20), "x\n", 3);
    refuse(text, false, "line 2: a row of more than 1 MiB");
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + n + (2U << 20), "\"}", 3);
    refuse(text, true, "line 1: a row of more than 1 MiB");
    memset(text, ',', 300);
    text[300] = '\0';
    refuse(text, false, "more than 256 columns");
    free(text);
}

/* `n` columns, as a header and a row, or as a line of JSON; the first is
 * `image`. */
static char *columns_of(unsigned n, bool json)
{
    struct fby_buffer out = {0};
    for (int row = 0; row < (json ? 1 : 2); row++) {
        for (unsigned i = 0; i < n; i++) {
            char cell[40];
            if (json) {
                snprintf(cell, sizeof(cell), "%c\"%s%.0u\":\"x\"",
                    i == 0 ? '{' : ',', i == 0 ? "image" : "c", i);
            } else {
                snprintf(cell, sizeof(cell), "%s%s%.0u", i == 0 ? "" : ",",
                    row == 1 ? "x"
                    : i == 0 ? "image"
                             : "c",
                    i);
            }
            fby_put_bytes(&out, cell, strlen(cell));
        }
        fby_put_bytes(&out, json ? "}" : "\n", 1);
    }
    fby_put_u8(&out, 0);
    return (char *)out.data;
}

static void a_row_has_at_most_256_columns(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct fby_shard_builder builder = {.count = 0};
        char                    *text    = columns_of(256, json);
        assert_ok(read_list(text, json, &builder, NULL));
        assert_int_equal(builder.shards[0].n_members, 256);
        forget(&builder);
        free(text);
        text = columns_of(257, json);
        refuse(text, json, "line 1: more than 256 columns");
        free(text);
    }
}

/* Fields end with a NUL each: of one column a byte is left for it. */
static void a_row_has_at_most_a_mebibyte(void **state)
{
    (void)state;
    enum { MOST = 1 << 20 };
    static const struct {
        const char *head, *tail;
        size_t      most; /* bytes between them */
        bool        json;
    } cases[] = {{"image,t\nx,", "\n", MOST - 3, false},
        {"image,t\nx,\"", "\"\n", MOST - 3, false},
        {"image,t\n\"x\",\"\"\"", "\"\n", MOST - 4, false},
        {"{\"image\":\"x\",\"t\":\"", "\"}\n", MOST - 20, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_shard_builder builder = {.count = 0};
        size_t                   head    = strlen(cases[i].head);
        size_t                   size    = cases[i].most;
        char                    *text    = malloc(head + size + 10);
        memcpy(text, cases[i].head, head);
        memset(text + head, 'y', size + 1);
        memcpy(text + head + size, cases[i].tail, strlen(cases[i].tail) + 1);
        assert_ok(read_list(text, cases[i].json, &builder, NULL));
        assert_int_equal(
            builder.shards[0].text_size[1], size + (i == 2 ? 1 : 0));
        forget(&builder);
        text[head + size] = 'y';
        memcpy(
            text + head + size + 1, cases[i].tail, strlen(cases[i].tail) + 1);
        refuse(text, cases[i].json, "a row of more than 1 MiB");
        free(text);
    }
}

/* Cut anywhere, it is read or refused, and nothing behind it is looked at. */
static void a_list_that_ends_early_is_read_no_further(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\xef\xbb\xbfimage,t\r\n\"a \"\"b\"\"\",\"c\r\nd\"\r\nx,\xc3\xa9\r\n",
        "\xef\xbb\xbf{\"image\": \"a\", \"t\": [1.5e+7, {\"u\": "
        "\"\\\"}\"}]}\r\n"
        "{\"image\": \"\\u00e9\", \"n\": -0.1}\n"};
    for (int json = 0; json < 2; json++) {
        for (size_t n = 0; n <= strlen(texts[json]); n++) {
            struct fby_guarded copy = fby_guarded_copy(texts[json], n + 1);
            struct fby_shard_builder builder = {.count = 0};
            struct fby_error_detail  why     = {{0}};
            const struct fby_list    list = {.text = (const char *)copy.bytes,
                   .size                           = n,
                   .json                           = json == 1,
                   .files                          = files,
                   .n_files                        = 1};
            copy.bytes[n] = '\0'; /* as read_file puts it there */
            fby_err err   = fby_list_build_shards(&list, &builder, &why);
            assert_true(err == FBY_OK || err == FBY_CONFIG);
            assert_true(n < strlen(texts[json]) || err == FBY_OK);
            forget(&builder);
            fby_guarded_free(&copy);
        }
    }
}

static void paths_do_not_lead_out_of_the_root(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/etc/passwd", "../x.jpg", "a/../../x.jpg", "a/..", "."};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "image\n%s\n", paths[i]);
        refuse(text, false,
            "line 2, column image: a path outside the list's root; add a root "
            "that contains both (--data NAME=DIR), and write the list as "
            "NAME:PATH");
    }
    refuse("image\na/\n", false, "a path without the name of a file");
    check("image\n./a//b/../x.jpg\n", false, "2: image.jpg@a/x.jpg;");
    refuse("image\n\"a\nb.jpg\"\n", false, "a control character");
    check("image\n..a/.b.jpg\n", false, "2: image.b.jpg@..a/.b.jpg;");
}

static void assert_resolved(
    const char *base, const char *root, const char *path, const char *wanted)
{
    char        out[FBY_PATH_SIZE];
    const char *fault =
        fby_list_resolve_path(base, root, path, strlen(path), out);
    if (wanted == NULL) {
        assert_non_null(fault);
    } else {
        assert_null(fault);
        assert_string_equal(out, wanted);
    }
}

static void paths_are_relative_to_the_list_or_absolute(void **state)
{
    (void)state;
    assert_resolved("lists", "/d", "x/1.jpg", "x/1.jpg");
    assert_resolved("lists", "/d", "../x/1.jpg", "/x/1.jpg");
    assert_resolved("lists", "/d", "/d/x/1.jpg", "/x/1.jpg");
    assert_resolved("lists", "/d", "/d/lists/1.jpg", "1.jpg");
    assert_resolved("lists", "/d", "/d/lists2/1.jpg", "/lists2/1.jpg");
    assert_resolved("a/b", "/d", "../../x.jpg", "/x.jpg");
    assert_resolved("a/b", "/d", "../../../x.jpg", NULL);
    assert_resolved("", "/d", "/d/x.jpg", "x.jpg");
    assert_resolved("", "/", "/x.jpg", "x.jpg");
    assert_resolved("", "/d", "/dd/x.jpg", NULL);
    assert_resolved("", "/d", "/d/../x.jpg", NULL);
    assert_resolved("", "/d", "/d", NULL);
    assert_resolved("", "", "/x.jpg", NULL);
}

static void a_json_line_is_a_sample(void **state)
{
    (void)state;
    check(
        "{\"image\": \"a/1.jpg\", \"label\": 3, \"ok\": true, \"no\": null}\r\n"
        "\n  \r\n{\"image\":\"2.png\",\"at\":{\"x\":[1, "
        "2.5]},\"t\":\"\\u00e9\"}",
        true,
        "1: image.jpg@a/1.jpg label=3 ok=1;"
        "4: image.png@2.png at={\"x\":[1,2.5]} t=\xc3\xa9;");
}

static void numbers_of_json_lines_are_their_text(void **state)
{
    (void)state;
    check("{\"image\":\"a\",\"a\":0.1,\"b\":1e0,\"c\":-0,\"d\":1.10 ,"
          "\"e\" : 1E+05\t,\"f\":0}",
        true, "1: image@a a=0.1 b=1e0 c=-0 d=1.10 e=1E+05 f=0;");
    check("{\"image\":\"a\",\"a\":9223372036854775808,\"b\":1e400}", true,
        "1: image@a a=9223372036854775808 b=1e400;");
    check("{\"image\":\"a\",\"a\\\"1:\":-1,\"no\":null,\"b\":false,"
          "\"c\":[ 1.50, {\"x\": \"1, 2\\\" ] }\", \"y\" : 1e999 } ], \"d\":2}",
        true,
        "1: image@a b=0 c=[1.50,{\"x\":\"1, 2\\\" ] }\",\"y\":1e999}] d=2;");
}

static void what_is_no_number_of_json_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"01", "1.", ".5", "+1", "-", "1e",
        "1e+", "1-2", "1 2", "0x1", "1.2.3", "--1", "-01", "NaN", "1true",
        "1\"a\""};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "{\"image\": \"a\", \"x\": %s}", wrong[i]);
        refuse(text, true, "line 1: JSON:");
        snprintf(
            text, sizeof(text), "{\"image\": \"a\", \"x\": [%s]}", wrong[i]);
        refuse(text, true, "line 1: JSON:");
    }
}

/* The text with its numbers replaced by 0; nothing behind it is read. */
static void numbers_are_found_up_to_the_end_of_a_text(void **state)
{
    static const char *const rows[][2] = {{"1", "0"}, {"12", "0 "}, {"-", "-"},
        {"-1", "0 "}, {"1.", "1."}, {"1.5", "0  "}, {"1e", "1e"},
        {"1e5", "0  "}, {"1E+", "1E+"}, {"1e-5", "0   "}, {"01", "01"},
        {"[1,2", "[0,0"}, {"\"1", "\"1"}, {"\"\\", "\"\\"},
        {"\"\\\"1\"2", "\"\\\"1\"0"}, {"a", "a"}, {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t             size = strlen(rows[i][0]);
        struct fby_guarded text = fby_guarded_copy(rows[i][0], size);
        fby_json_zero_numbers((char *)text.bytes, size);
        assert_memory_equal(text.bytes, rows[i][1], size);
        fby_guarded_free(&text);
    }
}

static void a_path_has_at_most_4095_bytes(void **state)
{
    (void)state;
    for (int n = 4095; n <= 4096; n++) {
        char                     text[4200];
        struct fby_shard_builder builder = {.count = 0};
        struct fby_error_detail  why     = {{0}};
        snprintf(text, sizeof(text), "image\n%0*d/a.jpg\n", n - 6, 0);
        fby_err err = read_list(text, false, &builder, &why);
        assert_int_equal(err, n == 4095 ? FBY_OK : FBY_CONFIG);
        assert_string_equal(why.text,
            n == 4095 ? ""
                      : "line 2, column image: a path of more than 4095 bytes");
        forget(&builder);
    }
}

static void json_lines_that_are_wrong_are_refused(void **state)
{
    (void)state;
    refuse("", true, "it has no rows");
    refuse("{\"image\": \"a\"}\n[1]\n", true, "line 2: a list where an object");
    refuse("{\"image\": \"a\"}\n{\"image\": \n", true, "line 2: JSON:");
    refuse("{\"image\": \"a\", \"image\": \"b\"}", true, "duplicate");
    refuse("{\"image\": \"a.jpg\", \"x\": 1, \"X\": 2}", true,
        "line 1: sample 1 has two members named .x");
    refuse("{\"image\": \"a\", \"x\": \"\\u0000\"}", true,
        "line 1: JSON: \\u0000, which no text may have");
    refuse("{\"image\": 7}\n{\"image\": \"../a\"}", true,
        "line 2, column image: a path outside the list's root");
    refuse("{\"\xff\": 1}", true, "line 1: JSON:");
    refuse("{}", true, "line 1: a row without any value");
    refuse("{\"image\": \"a\"} x", true, "line 1: JSON:");
    refuse("12", true, "line 1: JSON: '[' or '{' expected near '12'");
    refuse("{\"x\": 17 18}", true, "'}' expected near '18'");
    refuse("{\"x\": 1e999, \"y\": 17 18}", true, "'}' expected near '0'");
}

static void a_long_list_is_cut_and_survives_its_bytes(void **state)
{
    (void)state;
    struct fby_buffer        text    = {0};
    struct fby_shard_builder builder = {.count = 0};
    struct fby_error_detail  why     = {{0}};
    fby_put_bytes(&text, "image,n\n", 8);
    for (int i = 0; i < 2500; i++) {
        char line[40];
        int  n = snprintf(line, sizeof(line), "f%d.jpg,%d\n", i, i);
        fby_put_bytes(&text, line, (size_t)n);
    }
    fby_put_u8(&text, 0);
    assert_ok(read_list((const char *)text.data, false, &builder, &why));
    assert_int_equal(builder.count, 3);
    assert_int_equal(builder.shards[2].n_samples, 2500 - 2048);
    for (uint32_t i = 0; i < builder.count; i++) {
        struct fby_buffer bytes = {0};
        struct fby_shard  back;
        fby_shard_encode(&builder.shards[i], &bytes);
        assert_ok(fby_shard_decode(bytes.data, bytes.size, &back, &why));
        struct fby_digest was = fby_shard_digest(&builder.shards[i]);
        struct fby_digest is  = fby_shard_digest(&back);
        assert_true(fby_digest_equal(&was, &is));
        fby_shard_fini(&back);
        fby_buffer_fini(&bytes);
    }
    forget(&builder);
    fby_buffer_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_csv_row_is_a_sample_and_a_column_a_member),
        cmocka_unit_test(quotes_line_ends_and_marks_are_those_of_rfc_4180),
        cmocka_unit_test(a_first_csv_column_without_a_name_numbers_the_rows),
        cmocka_unit_test(a_csv_that_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(rows_and_columns_are_bounded),
        cmocka_unit_test(a_row_has_at_most_256_columns),
        cmocka_unit_test(a_row_has_at_most_a_mebibyte),
        cmocka_unit_test(a_list_that_ends_early_is_read_no_further),
        cmocka_unit_test(paths_do_not_lead_out_of_the_root),
        cmocka_unit_test(paths_are_relative_to_the_list_or_absolute),
        cmocka_unit_test(a_json_line_is_a_sample),
        cmocka_unit_test(numbers_of_json_lines_are_their_text),
        cmocka_unit_test(what_is_no_number_of_json_is_refused),
        cmocka_unit_test(numbers_are_found_up_to_the_end_of_a_text),
        cmocka_unit_test(a_path_has_at_most_4095_bytes),
        cmocka_unit_test(json_lines_that_are_wrong_are_refused),
        cmocka_unit_test(a_long_list_is_cut_and_survives_its_bytes),
    };
    return cmocka_run_group_tests_name("worker.source.list", tests, NULL, NULL);
}
