/* SPDX-License-Identifier: Apache-2.0 */
/* The number of entries of NumPy members, from their headers, in the manifest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "tests/worker/source/sandbox.h"
#include "tests/worker/transform/npy_file.h"
#include "worker/source/cache.h"

static const struct fby_field_content words = {.from = {"npy", "alt.npy"},
    .n_from                                          = 2,
    .decode                                          = FBY_DECODE_ARRAY,
    .max_length                                      = 9};

/* A NumPy file whose header says `descr` and `shape`, and `bytes` zeros. */
static struct fby_buffer npy(const char *descr, const char *shape, size_t bytes)
{
    struct fby_buffer file = {0};
    put_npy_header(&file, descr, shape);
    for (size_t i = 0; i < bytes; i++) {
        fby_put_u8(&file, 0);
    }
    return file;
}

static void write_npy(const struct sandbox *sb, const char *path,
    const char *descr, const char *shape, size_t bytes)
{
    struct fby_buffer file = npy(descr, shape, bytes);
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
}

static void tar_npy(struct fby_buffer *tar, const char *name, const char *descr,
    const char *shape, size_t bytes)
{
    struct fby_buffer file = npy(descr, shape, bytes);
    tar_header(tar, name, '0', file.size);
    tar_payload(tar, file.data, file.size);
    fby_buffer_fini(&file);
}

static void assert_lengths(
    const struct fby_dataset *dataset, const uint32_t *right, uint32_t n)
{
    assert_int_equal(fby_dataset_sample_count(dataset), n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(fby_dataset_sample_length(dataset, i), right[i]);
    }
}

/* Three samples of 3, no and 7 entries, the last under its other name. */
static struct fby_dataset_spec one_tar(const struct sandbox *sb)
{
    struct fby_buffer tar = {0};
    tar_npy(&tar, "0.npy", "<i8", "(3,)", 24);
    tar_file(&tar, "1.txt", "none");
    tar_npy(&tar, "2.alt.npy", "|u1", "(7, 2)", 14);
    tar_end(&tar);
    sandbox_tar(sb, "data/s/t.tar", &tar);
    struct fby_dataset_spec spec = sandbox_shards(sb, "data:s/t.tar");
    spec.length_field            = &words;
    return spec;
}

static void those_of_a_tar_come_from_the_headers_of_its_members(void **state)
{
    static const uint32_t   right[] = {3, 0, 7};
    struct fby_dataset_spec spec    = one_tar(*state);
    struct fby_dataset     *first   = sandbox_dataset(&spec);
    struct fby_dataset     *again   = sandbox_dataset(&spec);
    assert_lengths(first, right, 3);
    assert_lengths(again, right, 3);
    assert_int_equal(fby_dataset_reused_shard_count(first), 0);
    assert_int_equal(fby_dataset_reused_shard_count(again), 1);
    fby_dataset_destroy(&first);
    fby_dataset_destroy(&again);
}

static void a_manifest_without_lengths_is_another_one(void **state)
{
    static const uint32_t   right[] = {3, 0, 7};
    struct fby_dataset_spec spec    = one_tar(*state);
    spec.length_field               = NULL;
    struct fby_dataset *without     = sandbox_dataset(&spec);
    spec.length_field               = &words;
    struct fby_dataset *with        = sandbox_dataset(&spec);
    struct fby_digest   one         = fby_dataset_digest(without);
    struct fby_digest   two         = fby_dataset_digest(with);
    assert_lengths(with, right, 3);
    assert_int_equal(fby_dataset_reused_shard_count(with), 0);
    assert_false(fby_digest_equal(&one, &two));
    fby_dataset_destroy(&without);
    fby_dataset_destroy(&with);
}

/* As if an earlier version had kept the manifest under this name. */
static void a_cached_shard_without_lengths_is_read_again(void **state)
{
    static const uint32_t      right[] = {3, 0, 7};
    const struct sandbox      *sb      = *state;
    char                       source[256];
    char                       path[FBY_PATH_SIZE];
    struct fby_cached_manifest cached = {0};
    struct fby_dataset_spec    spec   = one_tar(sb);
    struct fby_dataset        *with   = sandbox_dataset(&spec);
    snprintf(source, sizeof(source), "shards %s/s/t.tar lengths npy alt.npy",
        sandbox_path(sb, "data"));
    assert_ok(fby_cache_path(sb->cache, source, path));
    assert_ok(fby_cache_load(path, source, &cached, NULL));
    free(cached.shards[0].lengths);
    cached.shards[0].lengths = NULL;
    assert_ok(fby_cache_store(path, source, &cached, NULL));
    fby_cached_manifest_fini(&cached);
    struct fby_dataset *again = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_reused_shard_count(again), 0);
    assert_lengths(again, right, 3);
    fby_dataset_destroy(&with);
    fby_dataset_destroy(&again);
}

static void what_is_no_whole_file_with_a_first_dimension_has_none(void **state)
{
    static const uint32_t none[] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct fby_buffer     tar    = {0};
    tar_npy(&tar, "0.npy", "<i8", "()", 8);
    tar_npy(&tar, "1.npy", "|O", "(3,)", 24);
    tar_npy(&tar, "2.npy", "<i8", "(3,)", 23);
    tar_npy(&tar, "3.npy", "<i8", "(18446744073709551615,)", 8);
    tar_npy(&tar, "4.npy", "<i8", "(2305843009213693952, 2)", 0);
    tar_npy(&tar, "5.npy", "<i8", "(18446744073709551615, 0)", 0);
    tar_file(&tar, "6.npy", "\x93NUMPY\x01");
    tar_file(&tar, "7.npy", "not one");
    tar_file(&tar, "8.npy", "");
    tar_end(&tar);
    sandbox_tar(*state, "data/s/t.tar", &tar);
    struct fby_dataset_spec spec = sandbox_shards(*state, "data:s/t.tar");
    spec.length_field            = &words;
    struct fby_dataset *dataset  = sandbox_dataset(&spec);
    assert_lengths(dataset, none, 9);
    fby_dataset_destroy(&dataset);
}

/* Blanks after the dict, as version 2.0 may have: more than a first look. */
static void a_long_header_is_read_to_its_end(void **state)
{
    static const uint32_t right[] = {5};
    static const char     dict[]  = "{'descr': '|u1', 'fortran_order': False, "
                                    "'shape': (5,), }";
    struct fby_buffer     file    = {0};
    fby_put_bytes(&file, "\x93NUMPY\x02\x00", 8);
    fby_put_u32(&file, 60000);
    fby_put_bytes(&file, dict, strlen(dict));
    for (size_t i = strlen(dict); i < 60005; i++) {
        fby_put_u8(&file, i < 60000 ? ' ' : 0);
    }
    sandbox_write(*state, "data/f/c/0.npy", file.data, file.size);
    fby_buffer_fini(&file);
    struct fby_dataset_spec spec = sandbox_folder(*state, "data:f");
    spec.length_field            = &words;
    struct fby_dataset *dataset  = sandbox_dataset(&spec);
    assert_lengths(dataset, right, 1);
    fby_dataset_destroy(&dataset);
}

static void files_of_a_folder_are_looked_into_once(void **state)
{
    static const uint32_t   first[]  = {3, 4};
    static const uint32_t   second[] = {3, 5};
    struct fby_dataset_spec spec     = sandbox_folder(*state, "data:f");
    spec.length_field                = &words;
    write_npy(*state, "data/f/c/0.npy", "<f4", "(3,)", 12);
    write_npy(*state, "data/f/c/1.npy", "<f4", "(4, 1)", 16);
    struct fby_dataset *one   = sandbox_dataset(&spec);
    struct fby_dataset *again = sandbox_dataset(&spec);
    assert_lengths(one, first, 2);
    assert_lengths(again, first, 2);
    assert_int_equal(fby_dataset_reused_shard_count(one), 0);
    assert_int_equal(fby_dataset_reused_shard_count(again), 1);
    write_npy(*state, "data/f/c/1.npy", "<f4", "(5, 1)", 20);
    struct fby_dataset *changed = sandbox_dataset(&spec);
    assert_lengths(changed, second, 2);
    fby_dataset_destroy(&one);
    fby_dataset_destroy(&again);
    fby_dataset_destroy(&changed);
}

static void lengths_and_sums_are_kept_together(void **state)
{
    static const uint32_t   right[] = {3};
    struct fby_dataset_spec spec    = sandbox_folder(*state, "data:f");
    spec.length_field               = &words;
    write_npy(*state, "data/f/c/0.npy", "<f4", "(3,)", 12);
    struct fby_dataset *plain = sandbox_dataset(&spec);
    spec.hash                 = true;
    struct fby_dataset *first = sandbox_dataset(&spec);
    spec.hash                 = false;
    struct fby_dataset *again = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_reused_shard_count(first), 0);
    assert_int_equal(fby_dataset_reused_shard_count(again), 1);
    assert_true(fby_dataset_has_checksums(again));
    assert_lengths(again, right, 1);
    fby_dataset_destroy(&plain);
    fby_dataset_destroy(&first);
    fby_dataset_destroy(&again);
}

static void each_of_parallel_folders_is_a_file(void **state)
{
    static const uint32_t                 right[] = {3, 4};
    static const struct fby_field_content side    = {.decode = FBY_DECODE_ARRAY,
           .from                                             = {"b.npy"},
           .n_from                                           = 1,
           .max_length                                       = 9};
    struct fby_dataset_spec spec = sandbox_folder(*state, "data:{a,b}");
    spec.kind                    = FBY_SOURCE_PARALLEL;
    spec.length_field            = &side;
    sandbox_write_text(*state, "data/a/0.txt", "a");
    sandbox_write_text(*state, "data/a/1.txt", "b");
    write_npy(*state, "data/b/0.npy", "|u1", "(3,)", 3);
    write_npy(*state, "data/b/1.npy", "|u1", "(4,)", 4);
    struct fby_dataset *dataset = sandbox_dataset(&spec);
    assert_lengths(dataset, right, 2);
    fby_dataset_destroy(&dataset);
}

static void of_a_list_files_have_lengths_and_values_have_none(void **state)
{
    static const uint32_t                 right[]                = {3, 4};
    static const uint32_t                 none[]                 = {0, 0};
    static const char                     files[][FBY_NAME_SIZE] = {"x"};
    static const struct fby_field_content file  = {.decode = FBY_DECODE_ARRAY,
         .from                                             = {"x.npy"},
         .n_from                                           = 1,
         .max_length                                       = 9};
    static const struct fby_field_content value = {.decode = FBY_DECODE_ARRAY,
        .from                                              = {"y"},
        .n_from                                            = 1,
        .max_length                                        = 9};
    write_npy(*state, "data/0.npy", "|u1", "(3,)", 3);
    write_npy(*state, "data/1.npy", "|u1", "(4,)", 4);
    sandbox_write_text(*state, "data/l.csv", "x,y\n0.npy,a\n1.npy,bc\n");
    struct fby_dataset_spec spec = sandbox_folder(*state, "data:l.csv");
    spec.kind                    = FBY_SOURCE_LIST;
    spec.file_columns            = files;
    spec.n_file_columns          = 1;
    spec.length_field            = &file;
    struct fby_dataset *paths    = sandbox_dataset(&spec);
    spec.length_field            = &value;
    struct fby_dataset *values   = sandbox_dataset(&spec);
    assert_lengths(paths, right, 2);
    assert_lengths(values, none, 2);
    fby_dataset_destroy(&paths);
    fby_dataset_destroy(&values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(those_of_a_tar_come_from_the_headers_of_its_members),
        IN_SANDBOX(a_manifest_without_lengths_is_another_one),
        IN_SANDBOX(a_cached_shard_without_lengths_is_read_again),
        IN_SANDBOX(what_is_no_whole_file_with_a_first_dimension_has_none),
        IN_SANDBOX(a_long_header_is_read_to_its_end),
        IN_SANDBOX(files_of_a_folder_are_looked_into_once),
        IN_SANDBOX(lengths_and_sums_are_kept_together),
        IN_SANDBOX(each_of_parallel_folders_is_a_file),
        IN_SANDBOX(of_a_list_files_have_lengths_and_values_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
