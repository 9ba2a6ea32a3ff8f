/* SPDX-License-Identifier: Apache-2.0 */
/* example_shards.h - a small shard of each kind of source. */
#ifndef FBY_TESTS_EXAMPLE_SHARDS_H
#define FBY_TESTS_EXAMPLE_SHARDS_H

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/says.h"
#include "worker/source/columns/columns.h"
#include "worker/source/list/list.h"
#include "worker/source/manifest.h"
#include "worker/source/shard.h"

/* The worked example of PROTOCOL.md, "Manifest". */
static inline void example_tar(struct fby_shard *shard)
{
    static const struct fby_stamp stamp;
    fby_shard_init(shard, "t-0.tar", FBY_SOURCE_SHARDS);
    assert_ok(fby_shard_add_sample(shard, "0001", 4, FBY_SHARD_NO_CLASS, NULL));
    assert_ok(fby_shard_add_member(shard, "jpg", 512, 5, NULL));
    assert_ok(fby_shard_add_member(shard, "cls", 1536, 1, NULL));
    assert_ok(fby_shard_add_sample(shard, "0002", 4, FBY_SHARD_NO_CLASS, NULL));
    assert_ok(fby_shard_add_member(shard, "jpg", 2560, 700, NULL));
    shard->size   = 5120;
    shard->stamps = fby_memdup(&stamp, sizeof(stamp));
    assert_ok(fby_shard_finish(shard, NULL));
}

static inline void example_folder(struct fby_shard *shard)
{
    fby_shard_init(shard, "part-0000000", FBY_SOURCE_FOLDER);
    assert_ok(fby_shard_add_sample(shard, "a/1", 3, 0, NULL));
    assert_ok(fby_shard_add_member(shard, "JPG", 0, 5, NULL));
    assert_ok(fby_shard_add_sample(shard, "b/1", 3, 1, NULL));
    assert_ok(fby_shard_add_member(shard, "jpg", 0, 7, NULL));
    shard->size         = 12;
    shard->has_checksum = true;
    memset(shard->sum.bytes, 0xab, sizeof(shard->sum.bytes));
    assert_ok(fby_shard_finish(shard, NULL));
}

static inline void example_tokens(struct fby_shard *shard)
{
    static const struct fby_tokens how = {.format = FBY_TOKENS_MEGATRON,
        .type                                     = FBY_U16,
        .length                                   = 4,
        .shift                                    = 1};
    fby_shard_init(shard, "c.bin", FBY_SOURCE_TOKENS);
    shard->size      = 1000;
    shard->sequences = fby_sequences_create(&how);
    assert_ok(fby_sequences_add_run(shard->sequences, 0, 21, NULL));
    assert_ok(fby_sequences_add_run(shard->sequences, 100, 5, NULL));
    assert_ok(fby_shard_finish_sequences(shard, NULL));
}

/* The same, with documents of 2, 20 and 4 tokens. */
static inline void example_packed(struct fby_shard *shard)
{
    static const struct fby_tokens how = {.format = FBY_TOKENS_MEGATRON,
        .type                                     = FBY_U16,
        .length                                   = 4,
        .shift                                    = 1,
        .packed                                   = true};
    fby_shard_init(shard, "c.bin", FBY_SOURCE_TOKENS);
    shard->size      = 1000;
    shard->sequences = fby_sequences_create(&how);
    assert_ok(fby_sequences_add_run(shard->sequences, 0, 2, NULL));
    assert_ok(fby_sequences_end_document(shard->sequences, NULL));
    assert_ok(fby_sequences_add_run(shard->sequences, 4, 19, NULL));
    assert_ok(fby_sequences_add_run(shard->sequences, 100, 1, NULL));
    assert_ok(fby_sequences_end_document(shard->sequences, NULL));
    assert_ok(fby_sequences_add_run(shard->sequences, 102, 4, NULL));
    assert_ok(fby_sequences_end_document(shard->sequences, NULL));
    assert_ok(fby_shard_finish_sequences(shard, NULL));
}

/* 1,000 rows: a.npy of i2 and b.npy of big-endian f4 [2, 3]. */
static inline void example_columns(struct fby_shard *shard)
{
    struct fby_column a = {.name = "a", .type = FBY_NPY_I2, .offset = 128};
    struct fby_column b = {.name = "b",
        .type                    = FBY_NPY_F4,
        .big_endian              = true,
        .n_dims                  = 2,
        .dims                    = {2, 3},
        .offset                  = 128};
    fby_shard_init(shard, "day-00", FBY_SOURCE_COLUMNS);
    assert_ok(fby_shard_add_column(shard, &a, NULL));
    assert_ok(fby_shard_add_column(shard, &b, NULL));
    shard->n_samples = 1000;
    shard->size      = 128 + 2000 + 128 + 24000;
}

/* 1,000 lists of i4, 5,000 numbers in all, with offsets of i8. */
static inline void example_ragged(struct fby_shard *shard)
{
    struct fby_column offsets = {.name = "a.offsets",
        .type                          = FBY_NPY_I8,
        .role                          = FBY_COLUMN_OFFSETS,
        .offset                        = 128};
    struct fby_column values  = {.name = "a.values",
         .type                         = FBY_NPY_I4,
         .role                         = FBY_COLUMN_VALUES,
         .rows                         = 5000,
         .offset                       = 128};
    fby_shard_init(shard, "day-00", FBY_SOURCE_COLUMNS);
    assert_ok(fby_shard_add_column(shard, &offsets, NULL));
    assert_ok(fby_shard_add_column(shard, &values, NULL));
    shard->n_samples = 1000;
    shard->size      = 128 + 8008 + 128 + 20000;
}

/* 1,000 sparse rows of 300 values, 5,000 of them of f4; a.npz. */
static inline void example_csr(struct fby_shard *shard)
{
    struct fby_column a = {.name = "a",
        .type                    = FBY_NPY_F4,
        .role                    = FBY_COLUMN_CSR,
        .rows                    = 5000,
        .offset                  = 24300,
        .dense_width             = 300,
        .indices                 = {FBY_NPY_I4, false, 4, 128},
        .indptr                  = {FBY_NPY_I4, false, 4, 20200}};
    fby_shard_init(shard, "day-00", FBY_SOURCE_COLUMNS);
    assert_ok(fby_shard_add_column(shard, &a, NULL));
    shard->n_samples = 1000;
    shard->size      = 48900;
}

/* Rows of lines 2 and 5; the row of line 5 names no file. */
static inline void example_list(struct fby_shard *shard)
{
    static const char     files[1][FBY_NAME_SIZE] = {"image"};
    static const char     text[] = "image,label\na/1.jpg,17\n\n\n,\"o,k\"\n";
    const struct fby_list list   = {
          .text = text, .size = strlen(text), .files = files, .n_files = 1};
    struct fby_shard_builder builder = {.count = 0};
    assert_ok(fby_list_build_shards(&list, &builder, NULL));
    assert_int_equal(builder.count, 1);
    *shard = builder.shards[0];
    free(builder.shards);
    shard->member_bytes[0] = 40; /* size of the image file */
    shard->size += 40;
}

/* The tar with lengths of its samples. */
static inline void example_lengths(struct fby_shard *shard)
{
    example_tar(shard);
    shard->lengths    = fby_zalloc(2 * sizeof(*shard->lengths));
    shard->lengths[1] = 70000;
}

typedef void example_shard(struct fby_shard *shard);

static example_shard *const example_shards[] = {example_tar, example_folder,
    example_list, example_lengths, example_tokens, example_packed,
    example_columns, example_ragged, example_csr};

/* Assert that the manifest of `shard` is refused with these words. */
static inline void assert_shard_refused(
    const struct fby_shard *shard, const char *words)
{
    struct fby_shard        back;
    struct fby_error_detail why   = {0};
    struct fby_buffer       bytes = {0};
    fby_shard_encode(shard, &bytes);
    assert_int_equal(
        fby_shard_decode(bytes.data, bytes.size, &back, &why), FBY_PROTO);
    assert_says(&why, words);
    fby_shard_fini(&back);
    fby_buffer_fini(&bytes);
}

enum { EXAMPLE_SHARDS = sizeof(example_shards) / sizeof(example_shards[0]) };

#endif
