/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/worker/source/example_shards.h"
#include "worker/source/manifest.h"

static void texts_of_a_list_are_checked(void **state)
{
    (void)state;
    struct fby_shard  shard;
    struct fby_shard  back;
    struct fby_buffer bytes = {0};
    example_list(&shard);
    fby_shard_encode(&shard, &bytes);
    assert_ok(fby_shard_decode(bytes.data, bytes.size, &back, NULL));
    assert_true(fby_shard_is_value(&back, 1) && !fby_shard_is_value(&back, 0));
    assert_memory_equal(back.texts.data, "a/1.jpg17o,k", 12);
    fby_shard_fini(&back);
    for (size_t cut = 1; cut < 60; cut++) { /* into the three last entries */
        assert_int_equal(
            fby_shard_decode(bytes.data, bytes.size - cut, &back, NULL),
            FBY_PROTO);
        fby_shard_fini(&back);
    }
    shard.text_size[1] = 3; /* a value that is larger than its member */
    shard.text_size[2] = 2;
    bytes.size         = 0;
    fby_shard_encode(&shard, &bytes);
    assert_int_equal(
        fby_shard_decode(bytes.data, bytes.size, &back, NULL), FBY_PROTO);
    fby_shard_fini(&back);
    fby_buffer_fini(&bytes);
    fby_shard_fini(&shard);
}

static void columns_are_read_back_and_lie_within_their_files(void **state)
{
    (void)state;
    struct fby_shard        shard;
    struct fby_shard        back;
    struct fby_buffer       bytes = {0};
    struct fby_error_detail why   = {{0}};
    example_columns(&shard);
    fby_shard_encode(&shard, &bytes);
    assert_ok(fby_shard_decode(bytes.data, bytes.size, &back, NULL));
    assert_int_equal(back.n_samples, 1000);
    assert_int_equal(back.n_columns, 2);
    assert_int_equal(fby_shard_count_stamps(&back), 2);
    assert_int_equal(back.columns[1].row_bytes, 24);
    assert_true(back.columns[1].big_endian);
    fby_shard_fini(&back);
    shard.n_samples = 1100; /* b.npy would be longer than all */
    bytes.size      = 0;
    fby_shard_encode(&shard, &bytes);
    assert_int_equal(
        fby_shard_decode(bytes.data, bytes.size, &back, &why), FBY_PROTO);
    assert_string_equal(
        why.text, "manifest of a shard: a column beyond the end");
    fby_shard_fini(&back);
    fby_shard_fini(&shard);
    fby_buffer_fini(&bytes);
}

static void parts_of_ragged_columns_are_read_back_in_pairs(void **state)
{
    (void)state;
    struct fby_shard  shard;
    struct fby_shard  back;
    struct fby_buffer bytes = {0};
    example_ragged(&shard);
    fby_shard_encode(&shard, &bytes);
    assert_ok(fby_shard_decode(bytes.data, bytes.size, &back, NULL));
    assert_int_equal(back.columns[0].rows, 1001);
    assert_int_equal(back.columns[0].partner, 1);
    assert_int_equal(back.columns[1].rows, 5000);
    assert_int_equal(back.columns[1].partner, 0);
    fby_shard_fini(&back);
    fby_buffer_fini(&bytes);
    shard.columns[0].type = FBY_NPY_F8;
    assert_shard_refused(&shard, "offsets that are no whole numbers");
    shard.columns[0].type = FBY_NPY_I8;
    shard.columns[1].rows = 100000;
    assert_shard_refused(&shard, "a column beyond the end");
    shard.columns[1].rows    = 5000;
    shard.columns[1].name[0] = 'b';
    assert_shard_refused(&shard, "a ragged column without offsets or values");
    fby_shard_fini(&shard);
}

/* A record may say of a column named as a part that it is none: its rows are
 * one too few for offsets, and of any type and shape. */
static void the_partner_of_a_part_is_the_other_part(void **state)
{
    (void)state;
    struct fby_shard shard;
    example_ragged(&shard);
    shard.columns[0].role = FBY_COLUMN_WHOLE;
    assert_shard_refused(&shard, "a ragged column without offsets or values");
    shard.columns[0].type    = FBY_NPY_F8;
    shard.columns[0].n_dims  = 1;
    shard.columns[0].dims[0] = 2;
    assert_shard_refused(&shard, "a ragged column without offsets or values");
    fby_shard_fini(&shard);
    example_ragged(&shard);
    shard.columns[1].role = FBY_COLUMN_WHOLE;
    assert_shard_refused(&shard, "a ragged column without offsets or values");
    fby_shard_fini(&shard);
}

/* Lengths of `n` samples, all 0 but the last, change the digest and come back
 * from `bytes`. */
static void assert_lengths_travel(struct fby_shard *shard, uint32_t n,
    uint32_t last, struct fby_buffer *bytes)
{
    struct fby_shard  back;
    struct fby_digest without = fby_shard_digest(shard);
    shard->lengths            = fby_zalloc(n * sizeof(*shard->lengths));
    shard->lengths[n - 1]     = last;
    struct fby_digest with    = fby_shard_digest(shard);
    assert_false(fby_digest_equal(&with, &without));
    fby_shard_encode(shard, bytes);
    assert_ok(fby_shard_decode(bytes->data, bytes->size, &back, NULL));
    assert_int_equal(back.lengths[n - 2], 0);
    assert_int_equal(back.lengths[n - 1], last);
    fby_shard_fini(&back);
}

static void lengths_of_rows_are_part_of_the_manifest(void **state)
{
    (void)state;
    struct fby_shard  shard;
    struct fby_shard  back;
    struct fby_buffer bytes = {0};
    example_ragged(&shard);
    assert_lengths_travel(&shard, 1000, 70000, &bytes);
    bytes.data[bytes.size - 4004] = 0xf; /* as if they were of other rows */
    bytes.data[bytes.size - 4003] = 0xf;
    assert_int_equal(
        fby_shard_decode(bytes.data, bytes.size, &back, NULL), FBY_PROTO);
    fby_shard_fini(&back);
    fby_buffer_fini(&bytes);
    fby_shard_fini(&shard);
}

static void lengths_of_members_are_part_of_the_manifest(void **state)
{
    (void)state;
    struct fby_shard  shard;
    struct fby_shard  back;
    struct fby_buffer bytes = {0};
    example_tar(&shard);
    assert_lengths_travel(&shard, 2, UINT32_MAX, &bytes);
    bytes.data[bytes.size - 12] = 4; /* of one sample, and 4 bytes less */
    assert_int_equal(
        fby_shard_decode(bytes.data, bytes.size - 4, &back, NULL), FBY_PROTO);
    fby_shard_fini(&back);
    fby_buffer_fini(&bytes);
    fby_shard_fini(&shard);
}

static void a_csr_column_lies_within_its_file(void **state)
{
    (void)state;
    struct fby_shard  shard;
    struct fby_shard  back;
    struct fby_buffer bytes = {0};
    example_csr(&shard);
    fby_shard_encode(&shard, &bytes);
    assert_ok(fby_shard_decode(bytes.data, bytes.size, &back, NULL));
    assert_int_equal(back.columns[0].rows, 5000);
    assert_int_equal(back.columns[0].indptr.item_size, 4);
    assert_int_equal(back.columns[0].dense_width, 300);
    fby_shard_fini(&back);
    fby_buffer_fini(&bytes);
    struct fby_column *column = &shard.columns[0];
    column->indices.offset    = 48900 - 19999;
    assert_shard_refused(&shard, "a column beyond the end");
    column->indices.offset = 128;
    column->indptr.offset  = 48900 - 4003;
    assert_shard_refused(&shard, "a column beyond the end");
    column->indptr.offset = 20200;
    column->indices.type  = FBY_NPY_F4;
    assert_shard_refused(&shard, "indices that are no whole numbers");
    fby_shard_fini(&shard);
}

static void assert_golden(const char *name, const void *data, size_t size)
{
    char path[4096];
    char expected[8192] = "";
    snprintf(path, sizeof(path), "%s/manifest/%s", FBY_TEST_DATA, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t n = read(fd, expected, sizeof(expected) - 1);
    close(fd);
    char *hex = fby_zalloc(2 * size + 2);
    fby_hex(data, size, hex);
    hex[2 * size] = '\n';
    assert_int_equal(n, 2 * size + 1);
    assert_string_equal(hex, expected);
    free(hex);
}

static void the_bytes_of_a_shard_are_those_of_the_protocol(void **state)
{
    (void)state;
    static const struct {
        const char    *golden;
        example_shard *example;
        uint32_t       samples;
    } shards[] = {{"tar.hex", example_tar, 2},
        {"lengths.hex", example_lengths, 2}, {"folder.hex", example_folder, 2},
        {"tokens.hex", example_tokens, 6}, {"packed.hex", example_packed, 7},
        {"columns.hex", example_columns, 1000},
        {"ragged.hex", example_ragged, 1000}, {"csr.hex", example_csr, 1000},
        {"list.hex", example_list, 2}};
    for (size_t i = 0; i < sizeof(shards) / sizeof(shards[0]); i++) {
        struct fby_shard  shard;
        struct fby_buffer bytes = {0};
        shards[i].example(&shard);
        assert_int_equal(shard.n_samples, shards[i].samples);
        fby_shard_encode(&shard, &bytes);
        assert_golden(shards[i].golden, bytes.data, bytes.size);
        fby_buffer_fini(&bytes);
        fby_shard_fini(&shard);
    }
}

static void the_data_digest_is_that_of_the_protocol(void **state)
{
    (void)state;
    struct fby_shard  tar;
    struct fby_shard  folder;
    struct fby_digest digests[2];
    example_tar(&tar);
    example_folder(&folder);
    digests[0]               = fby_shard_digest(&folder);
    digests[1]               = fby_shard_digest(&tar);
    struct fby_digest digest = fby_data_digest(digests, 2);
    assert_golden("digest.hex", digest.bytes, sizeof(digest.bytes));
    fby_shard_fini(&tar);
    fby_shard_fini(&folder);
}

static void anything_that_a_sample_is_made_of_changes_the_digest(void **state)
{
    (void)state;
    struct fby_shard  shard;
    struct fby_digest seen[6];
    example_tar(&shard);
    seen[0] = fby_shard_digest(&shard);
    shard.member_offset[0]++;
    seen[1] = fby_shard_digest(&shard);
    shard.member_bytes[1]++;
    seen[2]            = fby_shard_digest(&shard);
    shard.keys.data[0] = '1';
    seen[3]            = fby_shard_digest(&shard);
    shard.name[0]      = 'u';
    seen[4]            = fby_shard_digest(&shard);
    shard.has_checksum = true;
    seen[5]            = fby_shard_digest(&shard);
    for (int i = 1; i < 6; i++) {
        assert_false(fby_digest_equal(&seen[i - 1], &seen[i]));
    }
    fby_shard_fini(&shard);
}

static void a_million_samples_take_tens_of_bytes_each(void **state)
{
    (void)state;
    struct fby_shard shard;
    fby_shard_init(&shard, "t.tar", FBY_SOURCE_SHARDS);
    for (unsigned i = 0; i < 1000000; i++) {
        char key[16];
        int  n = snprintf(key, sizeof(key), "%07u", i);
        assert_ok(fby_shard_add_sample(
            &shard, key, (size_t)n, FBY_SHARD_NO_CLASS, NULL));
        assert_ok(fby_shard_add_member(&shard, "jpg", 512, 5, NULL));
    }
    assert_ok(fby_shard_finish(&shard, NULL));
    assert_int_equal(shard.keys.capacity, 8 * 1000000);
    assert_string_equal(fby_shard_key(&shard, 999999), "0999999");
    assert_int_equal(fby_shard_sample_of(&shard, 777777), 777777);
    fby_shard_fini(&shard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_read_back_and_lie_within_their_files),
        cmocka_unit_test(parts_of_ragged_columns_are_read_back_in_pairs),
        cmocka_unit_test(the_partner_of_a_part_is_the_other_part),
        cmocka_unit_test(a_csr_column_lies_within_its_file),
        cmocka_unit_test(lengths_of_rows_are_part_of_the_manifest),
        cmocka_unit_test(lengths_of_members_are_part_of_the_manifest),
        cmocka_unit_test(texts_of_a_list_are_checked),
        cmocka_unit_test(the_bytes_of_a_shard_are_those_of_the_protocol),
        cmocka_unit_test(the_data_digest_is_that_of_the_protocol),
        cmocka_unit_test(anything_that_a_sample_is_made_of_changes_the_digest),
        cmocka_unit_test(a_million_samples_take_tens_of_bytes_each),
    };
    return cmocka_run_group_tests_name(
        "worker.source.manifest", tests, NULL, NULL);
}
