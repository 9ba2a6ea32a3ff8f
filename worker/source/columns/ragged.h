/* SPDX-License-Identifier: Apache-2.0 */
/* ragged.h - columns whose rows are lists of different lengths.
 *
 * A ragged column NAME is two columns, which are each other's partner. Each row
 * of NAME.values.npy is an entry. NAME.offsets.npy has one offset more than
 * samples: sample i has the entries offsets[i] to offsets[i + 1] - 1. Offsets
 * are integers of any type and never decrease. Indexing checks only the first
 * and the last offset of a file, so that it is fast for billions of rows. The
 * other offsets are checked when they are used. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_RAGGED_H
#define FBY_WORKER_SOURCE_COLUMNS_RAGGED_H

#include "common/err.h"
#include "worker/source/shard.h"

/* Returns the role of a column by its name, such as "ids.values": the offsets
 * or the values of a ragged column, or a whole column. Sets *stem to the length
 * of the name that both have in common ("ids"), unless whole. */
enum fby_column_role fby_ragged_role(const char *name, size_t *stem);

/* Does `column` have the values of the ragged column `name`? */
bool fby_ragged_has_values_name(
    const struct fby_column *column, const char *name);

/* Set `partner` of all columns of offsets or values. It is an index in
 * shard->columns, so the order of columns must not change afterwards.
 * Errors: FBY_CONFIG  offsets without values, or values without offsets. */
FBY_CHECKED fby_err fby_ragged_pair(
    struct fby_shard *shard, struct fby_error_detail *why);

/* The type of a column of offsets, and its position in the file. */
struct fby_file_array fby_column_as_file_array(
    const struct fby_column *offsets);

/* The same for the offsets that belong to a column of values, or a CSR one. */
struct fby_file_array fby_ragged_offsets(
    const struct fby_shard *shard, const struct fby_column *column);

/* Load the offset at address `at`, of the type of `offsets`. An unsigned number
 * above INT64_MAX becomes INT64_MAX. */
int64_t fby_ragged_load_offset(
    const struct fby_file_array *offsets, const uint8_t *at);

/* Set column->first_offset and last_offset to the first and the last of `n` > 0
 * offsets. Errors: FBY_IO. */
FBY_CHECKED fby_err fby_ragged_read_ends(const struct fby_object *object,
    const struct fby_file_array *offsets, uint64_t n, struct fby_column *column,
    struct fby_error_detail *why);

/* An offset as text for messages: "17"; for INT64_MAX with " or more". */
struct fby_shown_offset {
    char text[32];
};
struct fby_shown_offset fby_ragged_offset_text(int64_t offset);

/* Does `values` have the entries `begin` to end - 1? */
static inline bool fby_ragged_within(
    const struct fby_column *values, int64_t begin, int64_t end)
{
    return begin >= 0 && end >= begin && (uint64_t)end <= values->rows;
}

/* Set `why` to the reason that fby_ragged_within() is false. Returns
 * FBY_BAD_SAMPLE. */
fby_err fby_ragged_refuse(const struct fby_column *values, int64_t begin,
    int64_t end, struct fby_error_detail *why);

#endif
