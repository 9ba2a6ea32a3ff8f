/* ragged.h - columns whose rows are lists of different lengths.
 *
 * A ragged column NAME is two columns, which are each other's partner. Each row
 * of NAME.values.npy is an entry. NAME.offsets.npy has samples + 1 offsets:
 * sample i has the entries offsets[i] to offsets[i + 1] - 1. (A file that SciPy
 * wrote has both; see csr.h.) Offsets are integers of any type and never
 * decrease. Indexing checks only the first and the last
 * offset of a file, so that it is fast for billions of rows; the other offsets
 * are checked when they are used. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_RAGGED_H
#define FBY_WORKER_SOURCE_COLUMNS_RAGGED_H

#include "common/err.h"
#include "worker/source/shard.h"

/* Tell from the name of a column ("ids.values") whether it is the offsets or
 * the values of a ragged column. *stem is the length of the common name
 * ("ids"). */
enum fby_column_role fby_ragged_part(const char *name, size_t *stem);

/* True if `column` has the values of the ragged column `name`. */
bool fby_ragged_has_values_name(
    const struct fby_column *column, const char *name);

/* Set `partner` of all columns of offsets or values. It is an index, so the
 * columns must not be moved afterwards.
 * Errors: FBY_CONFIG  offsets without values, or values without offsets. */
FBY_CHECKED fby_err fby_ragged_pair(
    struct fby_shard *shard, struct fby_error_detail *why);

/* The type and file offset of the numbers of a column of offsets. */
struct fby_file_array fby_column_as_file_array(
    const struct fby_column *offsets);

/* The same for the offsets that belong to a column of values or CSR. */
struct fby_file_array fby_ragged_offsets(
    const struct fby_shard *shard, const struct fby_column *column);

/* Load the offset at address `at`, of the type of `offsets`. An unsigned number
 * above INT64_MAX becomes INT64_MAX. */
int64_t fby_ragged_load_offset(
    const struct fby_file_array *offsets, const uint8_t *at);

/* Read the first and the last of `n` > 0 offsets into column->first and last.
 * Errors: FBY_IO. */
FBY_CHECKED fby_err fby_ragged_read_ends(const struct fby_object *object,
    const struct fby_file_array *offsets, uint64_t n, struct fby_column *column,
    struct fby_error_detail *why);

/* An offset as text for messages; after INT64_MAX it says "or more". */
struct fby_shown_offset {
    char text[32];
};
struct fby_shown_offset fby_ragged_offset_text(int64_t offset);

/* True if `values` has the entries [begin, end). */
static inline bool fby_ragged_within(
    const struct fby_column *values, int64_t begin, int64_t end)
{
    return begin >= 0 && end >= begin && (uint64_t)end <= values->rows;
}

/* Set `why` to the reason why fby_ragged_within() is false. Returns
 * FBY_BAD_SAMPLE. */
fby_err fby_ragged_refuse(const struct fby_column *values, int64_t begin,
    int64_t end, struct fby_error_detail *why);

#endif
