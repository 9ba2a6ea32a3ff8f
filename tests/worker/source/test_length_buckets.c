/* SPDX-License-Identifier: Apache-2.0 */
/* Samples sorted by the bytes of a member, as the manifest has them. */
#include "worker/source/length_buckets.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/test.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/sample_lengths.h"

/* Bounds 2 and 4 on field `text`, from txt, else from md. */
static struct fby_content *content_of_text(void)
{
    struct fby_content *content = fby_zalloc(sizeof(*content));
    content->source             = FBY_SOURCE_SHARDS;
    content->n_fields           = 2;
    content->bucket_by          = (struct fby_bucket_by){
                 .field = "text", .n_bounds = 2, .bounds = {2, 4}};
    content->fields[0].decode = FBY_DECODE_TEXT;
    content->fields[1].decode = FBY_DECODE_TEXT;
    strcpy(content->fields[0].name, "other");
    strcpy(content->fields[1].name, "text");
    strcpy(content->fields[1].from[0], "txt");
    strcpy(content->fields[1].from[1], "md");
    content->fields[1].n_from = 2;
    return content;
}

static struct fby_dataset *open_folder(const struct sandbox *sb)
{
    const struct fby_dataset_spec spec    = {.roots = sb->roots,
           .kind                                    = FBY_SOURCE_FOLDER,
           .pattern                                 = "data:f",
           .cache_dir                               = sb->cache};
    struct fby_dataset           *dataset = NULL;
    struct fby_error_detail       why     = {{0}};
    assert_ok(
        fby_dataset_open(&spec, (struct fby_progress){0}, &dataset, &why));
    return dataset;
}

static void a_sample_is_in_the_first_bucket_that_it_fits(void **state)
{
    static const uint32_t   right[] = {0, 1, 5, 2, 3, 6, 4};
    const struct sandbox   *sb      = *state;
    struct fby_content     *content = content_of_text();
    struct fby_buckets     *buckets = NULL;
    struct fby_error_detail why     = {{0}};
    sandbox_write_text(sb, "data/f/c/0.txt", "");
    sandbox_write_text(sb, "data/f/c/1.txt", "12");
    sandbox_write_text(sb, "data/f/c/2.txt", "123");
    sandbox_write_text(sb, "data/f/c/3.txt", "1234");
    sandbox_write_text(sb, "data/f/c/4.txt", "12345");
    sandbox_write_text(sb, "data/f/c/5.other", "12345"); /* it has none: 0 */
    sandbox_write_text(sb, "data/f/c/6.md", "123");
    struct fby_dataset *dataset = open_folder(sb);
    assert_ok(fby_dataset_sort_into_buckets(dataset, content, &buckets, &why));
    assert_int_equal(buckets->n, 3);
    assert_int_equal(buckets->samples, 7);
    assert_int_equal(buckets->begins[1], 3);
    assert_int_equal(buckets->begins[2], 6);
    assert_memory_equal(buckets->sorted, right, sizeof(right));
    fby_buckets_destroy(&buckets);
    fby_dataset_destroy(&dataset);
    free(content);
}

static void without_bounds_nothing_is_sorted(void **state)
{
    const struct sandbox   *sb      = *state;
    struct fby_content     *content = content_of_text();
    struct fby_buckets     *buckets = NULL;
    struct fby_error_detail why     = {{0}};
    sandbox_write_text(sb, "data/f/c/0.txt", "");
    content->bucket_by.n_bounds = 0;
    struct fby_dataset *dataset = open_folder(sb);
    assert_ok(fby_dataset_sort_into_buckets(dataset, content, &buckets, &why));
    assert_null(buckets);
    fby_dataset_destroy(&dataset);
    free(content);
}

/* A manifest holds the length of each row. */
static void a_shard_of_too_many_rows_is_cut_first(void **state)
{
    const struct fby_index         index = {0};
    const struct fby_field_content field = {
        .name = "text", .decode = FBY_DECODE_TEXT};
    struct fby_error_detail why   = {{0}};
    struct fby_shard        shard = {.n_samples = (1U << 29) + 1};
    (void)state;
    assert_int_equal(
        fby_row_lengths_read(&index, &shard, &field, NULL, &why), FBY_CONFIG);
    assert_string_equal(why.text,
        "bucket_by keeps the lengths of at most 536870912 rows a shard, and "
        "the shard has 536870913; cut it into several");
    shard.name = (char[]){"d"};
    shard.n_samples--;
    assert_int_equal(
        fby_row_lengths_read(&index, &shard, &field, NULL, &why), FBY_CONFIG);
    assert_says(&why, "shard d has no ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_sample_is_in_the_first_bucket_that_it_fits),
        IN_SANDBOX(without_bounds_nothing_is_sorted),
        cmocka_unit_test(a_shard_of_too_many_rows_is_cut_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
