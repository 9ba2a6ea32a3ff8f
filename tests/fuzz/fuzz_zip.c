/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_zip.c - any bytes as a .npz file: an error, or columns within it.
 *
 * The bytes are a file of a root, so that all steps of opening a table run:
 * directory, members, NumPy headers. */
#include "tests/fuzz/input_file.h"
#include "worker/source/columns/columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct fby_shard *shard, size_t size)
{
    demand(shard->n_samples > 0 && shard->n_columns > 0);
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        const struct fby_column *column = &shard->columns[i];
        demand(column->row_bytes > 0 && column->offset <= size);
        demand(column->rows <= (size - column->offset) / column->row_bytes);
        if (column->role == FBY_COLUMN_WHOLE) {
            demand(column->rows == shard->n_samples);
        } else {
            const struct fby_column *partner = &shard->columns[column->partner];
            demand(column->partner < shard->n_columns);
            demand(&shard->columns[partner->partner] == column);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fby_root  *root = set_input_file("a.npz", data, size);
    struct fby_shard        shard;
    struct fby_error_detail why = {{0}};
    fby_shard_init(&shard, "a.npz", FBY_SOURCE_COLUMNS);
    fby_err err = fby_columns_scan(root, "a.npz", &shard, &why);
    demand((err == FBY_OK) == (why.text[0] == '\0'));
    if (err == FBY_OK) {
        check(&shard, size);
    }
    fby_shard_fini(&shard);
    return 0;
}
