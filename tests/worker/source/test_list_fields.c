/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that name columns which the list does not have. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/test.h"
#include "tests/worker/source/sandbox.h"

/* One field, from `a`, else from `b` where it is not "". */
static struct fby_content *content_of(const char *a, const char *b)
{
    struct fby_content       *content = fby_zalloc(sizeof(*content));
    struct fby_field_content *field   = &content->fields[0];
    content->source                   = FBY_SOURCE_LIST;
    content->n_fields                 = 1;
    field->decode                     = FBY_DECODE_LABEL;
    field->n_from                     = b[0] != '\0' ? 2 : 1;
    snprintf(field->name, sizeof(field->name), "f");
    snprintf(field->from[0], sizeof(field->from[0]), "%s", a);
    snprintf(field->from[1], sizeof(field->from[1]), "%s", b);
    return content;
}

static fby_err check(const struct sandbox *sb, const char *list,
    const struct fby_content *content, struct fby_error_detail *why)
{
    const struct fby_dataset_spec spec    = {.roots = sb->roots,
           .kind                                    = FBY_SOURCE_LIST,
           .pattern                                 = list,
           .cache_dir                               = sb->cache};
    struct fby_dataset           *dataset = NULL;
    assert_ok(fby_dataset_open(&spec, (struct fby_progress){0}, &dataset, why));
    fby_err err = fby_dataset_check_fields(dataset, content, why);
    fby_dataset_destroy(&dataset);
    return err;
}

static void accept(const struct sandbox *sb, const char *a, const char *b)
{
    struct fby_error_detail why     = {{0}};
    struct fby_content     *content = content_of(a, b);
    assert_ok(check(sb, "data:l.csv", content, &why));
    free(content);
}

static void refuse(const struct sandbox *sb, const char *list,
    struct fby_content *content, const char *words)
{
    struct fby_error_detail why = {{0}};
    assert_int_equal(check(sb, list, content, &why), FBY_CONFIG);
    assert_says(&why, words);
    free(content);
}

static void a_column_that_no_row_has_is_refused(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/l.csv", "Label,note\n1,\n2,x\n");
    sandbox_write_text(
        sb, "data/l.jsonl", "{\"label\": 1}\n{\"label\": 2, \"id\": 3}\n");
    accept(sb, "label", "");
    accept(sb, "note", "");
    accept(sb, "folder", "");
    accept(sb, "labl", "label");
    refuse(sb, "data:l.csv", content_of("labl", ""),
        "l.csv: field f: no row has a value in a column labl; did you mean "
        "'label'?; columns: label, note");
    refuse(sb, "data:l.jsonl", content_of("size", "other"),
        "in a column size; columns: label, id");
}

static void maps_need_all_of_their_columns(void **state)
{
    const struct sandbox *sb      = *state;
    struct fby_content   *content = content_of("label", "other");
    sandbox_write_text(sb, "data/l.csv", "label\n1\n");
    content->fields[0].decode = FBY_DECODE_MAPS;
    refuse(sb, "data:l.csv", content, "a column other;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_column_that_no_row_has_is_refused),
        IN_SANDBOX(maps_need_all_of_their_columns),
    };
    return cmocka_run_group_tests_name(
        "worker.source.list_fields", tests, NULL, NULL);
}
