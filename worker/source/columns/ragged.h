/* ragged.h - columns whose rows are lists of any length.
 *
 * Such a column is two files (or one that SciPy wrote, csr.h): of
 * NAME.values.npy each row is an entry, and row i of NAME.offsets.npy says
 * where the entries of sample i begin, row i + 1 where they end. Offsets are
 * whole numbers of any type that never go back; the first and the last of a
 * file are looked at when it is indexed, the others when they are used, so that
 * a file of billions is open at once. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_RAGGED_H
#define FBY_WORKER_SOURCE_COLUMNS_RAGGED_H

#include "common/err.h"
#include "worker/source/shard.h"

/* Which part a column of that name is, "ids.values"; the name alone decides.
 * *stem is how much of it both parts share. */
enum fby_column_part fby_ragged_part(const char *name, size_t *stem);

/* Is it the values of the column that a field names so? */
bool fby_ragged_is(const struct fby_column *column, const char *name);

/* Find the partner of every part. The columns are in order.
 * Errors: FBY_CONFIG when one has none. */
FBY_CHECKED fby_err fby_ragged_pair(
    struct fby_shard *shard, struct fby_why *why);

/* The numbers that a column of offsets is, and those that say where the entries
 * of `column`, which are values or CSR, begin. */
struct fby_numbers fby_column_numbers(const struct fby_column *offsets);
struct fby_numbers fby_ragged_offsets(
    const struct fby_shard *shard, const struct fby_column *column);

/* The offset at `at`, among numbers of that type; of u8 what is too large is
 * INT64_MAX. */
int64_t fby_ragged_offset(const struct fby_numbers *offsets, const uint8_t *at);

/* An offset for people, who are not told INT64_MAX of what is larger. */
struct fby_shown_offset {
    char text[32];
};
struct fby_shown_offset fby_ragged_show(int64_t offset);

/* Is [begin, end) within the values? */
static inline bool fby_ragged_within(
    const struct fby_column *values, int64_t begin, int64_t end)
{
    return begin >= 0 && end >= begin && (uint64_t)end <= values->rows;
}

/* Why it is not. Returns FBY_BAD_SAMPLE. */
fby_err fby_ragged_refuse(const struct fby_column *values, int64_t begin,
    int64_t end, struct fby_why *why);

#endif
