/* SPDX-License-Identifier: Apache-2.0 */
/* fair_share.h - shares CPU time between the streams that use the stages.
 *
 * A row of one stream may take a thousand times as long as that of another. So
 * streams take turns by the CPU time that they used, not by rows or batches:
 * the stream that used least goes next. A stream that was started goes on for a
 * while, so that short batches are made in one go. The cost of rows in work is
 * expected to be that of the rows before, and corrected when they are made. A
 * stream that was idle gets no credit for that time.
 * Pure: no clock, no lock. Thread: one at a time. */
#ifndef FBY_WORKER_STAGES_FAIR_SHARE_H
#define FBY_WORKER_STAGES_FAIR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

enum { FBY_FAIR_STREAMS = 64 }; /* more streams share entries */

struct fby_fair_stream {
    const void *plan; /* with `seed` the key; NULL: unused entry */
    uint64_t    seed;
    int64_t     used_ns;  /* CPU time used and expected */
    int64_t     row_ns;   /* mean CPU time of a row */
    uint64_t    last_use; /* number of the last use of an entry */
};

struct fby_fair_share { /* starts zeroed */
    struct fby_fair_stream streams[FBY_FAIR_STREAMS];
    int64_t                floor_ns; /* used_ns of the stream that went last */
    uint64_t               n_uses;
};

/* The stream with this key; never NULL. A new one replaces the entry that was
 * not used for longest, and begins as if it had used as much as the others. */
struct fby_fair_stream *fby_fair_share_stream(
    struct fby_fair_share *self, const void *plan, uint64_t seed);

/* The stream had no rows to make, and has some now. */
void fby_fair_share_begin(
    const struct fby_fair_share *self, struct fby_fair_stream *stream);

/* `rows` of the stream are taken. Returns the CPU time that they are expected
 * to take, for fby_fair_share_made. */
int64_t fby_fair_share_take(
    struct fby_fair_share *self, struct fby_fair_stream *stream, uint32_t rows);

/* These rows took `cpu_ns`. With 0 rows: other work of the stream. */
void fby_fair_share_made(struct fby_fair_stream *stream, uint32_t rows,
    int64_t expected_ns, int64_t cpu_ns);

/* True if a stream that was started goes on, although `other` has rows. */
bool fby_fair_share_goes_on(
    const struct fby_fair_stream *started, const struct fby_fair_stream *other);

#endif
