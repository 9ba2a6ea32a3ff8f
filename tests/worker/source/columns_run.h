/* SPDX-License-Identifier: Apache-2.0 */
/* columns_run.h - NumPy columns of a sandbox, opened as a dataset with a run
 * over one of them. */
#ifndef FBY_TESTS_WORKER_SOURCE_COLUMNS_RUN_H
#define FBY_TESTS_WORKER_SOURCE_COLUMNS_RUN_H

#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/worker/source/sandbox.h"
#include "tests/worker/transform/npz_file.h"
#include "worker/source/columns/columns.h"
#include "worker/source/dataset_state.h"
#include "worker/source/row_reader.h"

/* `rows` rows of u1 [2]: row i holds i and i + base. */
static inline void column(
    const struct sandbox *sb, const char *path, unsigned rows, unsigned base)
{
    char              shape[32];
    struct fby_buffer file = {0};
    snprintf(shape, sizeof(shape), "(%u, 2)", rows);
    put_npy_header(&file, "|u1", shape);
    for (unsigned i = 0; i < rows; i++) {
        fby_put_u8(&file, (uint8_t)i);
        fby_put_u8(&file, (uint8_t)(i + base));
    }
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
}

static const struct fby_field_content plain_a = {
    .decode = FBY_DECODE_ARRAY, .from = {"a"}, .n_from = 1};
static const struct fby_field_content ragged_a = {
    .decode = FBY_DECODE_ARRAY, .from = {"a"}, .n_from = 1, .max_length = 9};

struct table { /* an open dataset, and a run over it */
    struct fby_dataset    *dataset;
    struct fby_row_reader *reader;
    uint16_t              *pick;
};

static inline struct table open_field(
    struct fby_dataset_spec spec, const struct fby_field_content *field)
{
    struct table t = {sandbox_dataset(&spec), fby_row_reader_create(), NULL};
    assert_ok(fby_dataset_pick_columns(t.dataset, field, &t.pick, NULL));
    return t;
}

static inline struct table open_table(struct fby_dataset_spec spec)
{
    return open_field(spec, &plain_a);
}

static inline void close_table(struct table *t)
{
    free(t->pick);
    fby_row_reader_destroy(&t->reader);
    fby_dataset_destroy(&t->dataset);
}

/* Read a byte of each row of a run, as a copy would. */
static inline unsigned read_rows(const struct fby_row_reader *run)
{
    unsigned sum = 0;
    for (uint32_t i = 0; i < run->n_rows; i++) {
        sum += run->at[i][0];
    }
    return sum;
}

static inline void refuses_with(
    struct sandbox *sb, const char *pattern, fby_err err, const char *words)
{
    const struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_COLUMNS, pattern);
    sandbox_refuses(&spec, err, words);
}

static inline void refuses(
    struct sandbox *sb, const char *pattern, const char *words)
{
    refuses_with(sb, pattern, FBY_CONFIG, words);
}

#endif
