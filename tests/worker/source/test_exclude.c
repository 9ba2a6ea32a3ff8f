/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/exclude.h"
#include "tests/worker/source/sandbox.h"

static struct fby_excluded *excluded_of(const char *names)
{
    struct fby_excluded *out = calloc(1, sizeof(*out));
    assert_ok(fby_excluded_parse(names, strlen(names), "bad.txt",
        &(const struct fby_exclude_splits){.wanted = "train"}, out, NULL,
        NULL));
    return out;
}

static struct fby_dataset *open_without(
    struct fby_dataset_spec spec, const char *names)
{
    struct fby_excluded *excluded = excluded_of(names);
    spec.excluded                 = excluded;
    struct fby_dataset *dataset   = sandbox_dataset(&spec);
    free(excluded);
    return dataset;
}

/* Assert that the source without `names` has the samples `keys`. */
static void check_keys(const struct fby_dataset_spec *spec, const char *names,
    const char *const *keys)
{
    struct fby_dataset *dataset = open_without(*spec, names);
    uint64_t            n       = 0;
    for (; keys[n] != NULL; n++) {
        assert_string_equal(fby_dataset_key(dataset, n, NULL), keys[n]);
    }
    assert_int_equal(fby_dataset_sample_count(dataset), n);
    fby_dataset_destroy(&dataset);
}

static void a_file_is_left_out_by_its_path_or_its_key(void **state)
{
    const struct sandbox *sb      = *state;
    static const char    *names[] = {"b/2.jpg", "b/2", "./b/2.jpg\r\n# b/1"};
    sandbox_write_text(sb, "data/f/a/1.jpg", "a1");
    sandbox_write_text(sb, "data/f/b/1.jpg", "b1");
    sandbox_write_text(sb, "data/f/b/2.jpg", "b2");
    const struct fby_dataset_spec spec   = sandbox_folder(sb, "data:f");
    const char *const             keys[] = {"a/1", "b/1", NULL};
    for (size_t i = 0; i < 3; i++) {
        check_keys(&spec, names[i], keys);
    }
    /* The data is the same as if the file had never been there. */
    struct fby_dataset *dataset = open_without(spec, "b/2.jpg\n");
    struct fby_digest   digest  = fby_dataset_digest(dataset);
    struct fby_member   member;
    char                bytes[3] = "";
    assert_ok(fby_dataset_find_member(
        dataset, 1, (const char[][FBY_NAME_SIZE]){"jpg"}, 1, &member));
    assert_ok(fby_dataset_read(dataset, &member, bytes, 2, NULL));
    assert_string_equal(bytes, "b1");
    fby_dataset_destroy(&dataset);
    sandbox_remove(sb, "data/f/b/2.jpg");
    dataset                 = sandbox_dataset(&spec);
    struct fby_digest other = fby_dataset_digest(dataset);
    assert_true(fby_digest_equal(&digest, &other));
    fby_dataset_destroy(&dataset);
}

static void a_sample_of_a_tar_is_left_out_by_shard_and_key(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_shard(sb, "data/t-0.tar", 0, 3);
    sandbox_shard(sb, "data/t-1.tar", 3, 1);
    const struct fby_dataset_spec spec = sandbox_shards(sb, "data:t-*.tar");
    struct fby_dataset           *all  = sandbox_dataset(&spec);
    char                          name[FBY_PATH_SIZE];
    char                          names[2 * FBY_PATH_SIZE];
    assert_true(fby_dataset_write_name(all, 3, name));
    snprintf(names, sizeof(names), "%s\n", name);
    assert_true(fby_dataset_write_name(all, 1, name));
    assert_non_null(strstr(name, "t-0.tar/"));
    size_t used = strlen(names);
    snprintf(names + used, sizeof(names) - used, "%s", name);
    const char *const keys[] = {
        fby_dataset_key(all, 0, NULL), fby_dataset_key(all, 2, NULL), NULL};
    check_keys(&spec, names, keys);
    /* A shard that has no sample left is no shard. */
    struct fby_dataset *rest = open_without(spec, names);
    assert_int_equal(fby_dataset_shard_count(rest), 1);
    struct fby_member member;
    char              text[8] = "";
    assert_ok(fby_dataset_find_member(
        rest, 1, (const char[][FBY_NAME_SIZE]){"cls"}, 1, &member));
    assert_ok(fby_dataset_read(rest, &member, text, sizeof(text) - 1, NULL));
    assert_string_equal(text, "2");
    fby_dataset_destroy(&rest);
    fby_dataset_destroy(&all);
}

static void a_row_of_a_list_is_left_out_by_its_file_or_line(void **state)
{
    const struct sandbox   *sb = *state;
    struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_LIST, "data:l.csv");
    static const char columns[1][FBY_NAME_SIZE] = {"image"};
    spec.file_columns                           = columns;
    spec.n_file_columns                         = 1;
    sandbox_write_text(sb, "data/x.jpg", "x");
    sandbox_write_text(sb, "data/y.jpg", "y");
    sandbox_write_text(
        sb, "data/l.csv", "image,label\nx.jpg,1\ny.jpg,2\nx.jpg,3\n");
    check_keys(&spec, "y.jpg", (const char *const[]){"2", "4", NULL});
    check_keys(&spec, "x.jpg", (const char *const[]){"3", NULL});
    check_keys(&spec, "line 4", (const char *const[]){"2", "3", NULL});
}

static void a_name_of_no_sample_changes_nothing(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/f/a/1.jpg", "a1");
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:f");
    check_keys(&spec, "a/2.jpg\n1\n", (const char *const[]){"a/1", NULL});
}

static void at_least_one_sample_must_be_left(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/f/a/1.jpg", "a1");
    struct fby_dataset_spec spec     = sandbox_folder(sb, "data:f");
    struct fby_excluded    *excluded = excluded_of("a/1.jpg");
    spec.excluded                    = excluded;
    sandbox_refuses(&spec, FBY_CONFIG, "exclude leaves no sample");
    free(excluded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_file_is_left_out_by_its_path_or_its_key),
        IN_SANDBOX(a_sample_of_a_tar_is_left_out_by_shard_and_key),
        IN_SANDBOX(a_row_of_a_list_is_left_out_by_its_file_or_line),
        IN_SANDBOX(a_name_of_no_sample_changes_nothing),
        IN_SANDBOX(at_least_one_sample_must_be_left),
    };
    return cmocka_run_group_tests_name("source.exclude", tests, NULL, NULL);
}
