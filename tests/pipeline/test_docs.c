/* SPDX-License-Identifier: Apache-2.0 */
/* The examples in docs/pipeline.md: each ```yaml block must be accepted, and
 * each block marked `yaml error: TEXT` must fail with this text. */
#include "tests/test.h"

#include <stdio.h>

#include "common/mem.h"
#include "pipeline/op.h"
#include "tests/pipeline/sample.h"

static const char fence[]     = "\n```yaml";
static const char expecting[] = " error: ";

static char *read_docs(void)
{
    FILE *file = fopen(FBY_TEST_DATA "/../../docs/pipeline.md", "r");
    assert_non_null(file);
    char  *text = fby_zalloc(1 << 20);
    size_t n    = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_in_range(n, 1000, (1 << 20) - 2);
    return text;
}

/* `head` is the rest of the fence's line, `body` the example; both end with
 * NUL. */
static void check_block(const char *head, const char *body)
{
    struct fby_pipeline    *pipeline = NULL;
    struct fby_error_detail why      = {{0}};
    fby_err                 err      = parse_text(body, &pipeline, &why);
    fby_pipeline_destroy(&pipeline);
    if (head[0] == '\0' && err != FBY_OK) {
        fail_msg("an example is wrong: %s\n%s", why.text, body);
    }
    if (head[0] != '\0') {
        assert_memory_equal(head, expecting, strlen(expecting));
        if (strstr(why.text, head + strlen(expecting)) == NULL) {
            fail_msg("expected%s\n     got %s", head, why.text);
        }
    }
}

/* How many blocks there were, of both kinds. */
static void check_all(char *docs, unsigned *right, unsigned *wrong)
{
    for (char *at = docs; (at = strstr(at, fence)) != NULL;) {
        char *head = at + strlen(fence);
        char *body = strchr(head, '\n');
        char *end  = strstr(body, "\n```\n");
        assert_non_null(end);
        *body++ = '\0';
        end[1]  = '\0';
        check_block(head, body);
        *(head[0] == '\0' ? right : wrong) += 1;
        at = end + 2;
    }
}

static void every_example_of_the_reference_is_as_it_says(void **state)
{
    (void)state;
    unsigned right = 0;
    unsigned wrong = 0;
    char    *docs  = read_docs();
    check_all(docs, &right, &wrong);
    assert_in_range(right, 3, 100);
    assert_in_range(wrong, 4, 100);
    free(docs);
}

/* Its row of a table, and behind it its parameters. */
static void op_is_in(const char *docs, const struct fby_op *op)
{
    char quoted[80];
    snprintf(quoted, sizeof(quoted), "| `%s` |", op->name);
    const char *row = strstr(docs, quoted);
    assert_non_null(row);
    for (size_t k = 0; k < op->n_params; k++) {
        snprintf(quoted, sizeof(quoted), "`%s`", op->params[k].name);
        assert_non_null(strstr(row, quoted));
    }
}

/* A key that is not documented does not exist for a user. */
static void every_op_and_its_parameters_are_in_the_reference(void **state)
{
    (void)state;
    char       *docs   = read_docs();
    const char *device = strstr(docs, "### device");
    assert_non_null(device);
    for (size_t i = 0; i < fby_n_ops; i++) {
        op_is_in(docs, fby_ops[i]);
    }
    for (size_t i = 0; i < fby_n_device_ops; i++) {
        op_is_in(device, fby_device_ops[i]);
    }
    free(docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_of_the_reference_is_as_it_says),
        cmocka_unit_test(every_op_and_its_parameters_are_in_the_reference),
    };
    return cmocka_run_group_tests_name("pipeline.docs", tests, NULL, NULL);
}
