/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/stages/fair_share.h"

#include "common/clock.h"

/* So much more CPU time than another stream may a stream use in one go. */
#define TURN_NS (50 * FBY_NS_PER_MS)

struct fby_fair_stream *fby_fair_share_stream(
    struct fby_fair_share *self, const void *plan, uint64_t seed)
{
    struct fby_fair_stream *oldest = &self->streams[0];
    for (int i = 0; i < FBY_FAIR_STREAMS; i++) {
        struct fby_fair_stream *stream = &self->streams[i];
        if (stream->plan == plan && stream->seed == seed) {
            stream->last_use = ++self->n_uses;
            return stream;
        }
        oldest = stream->last_use < oldest->last_use ? stream : oldest;
    }
    *oldest = (struct fby_fair_stream){.plan = plan,
        .seed                                = seed,
        .used_ns                             = self->floor_ns,
        .last_use                            = ++self->n_uses};
    return oldest;
}

void fby_fair_share_begin(
    const struct fby_fair_share *self, struct fby_fair_stream *stream)
{
    if (stream->used_ns < self->floor_ns) {
        stream->used_ns = self->floor_ns;
    }
}

int64_t fby_fair_share_take(
    struct fby_fair_share *self, struct fby_fair_stream *stream, uint32_t rows)
{
    int64_t expected_ns = stream->row_ns * rows;
    if (stream->used_ns > self->floor_ns) {
        self->floor_ns = stream->used_ns;
    }
    stream->used_ns += expected_ns;
    return expected_ns;
}

void fby_fair_share_made(struct fby_fair_stream *stream, uint32_t rows,
    int64_t expected_ns, int64_t cpu_ns)
{
    stream->used_ns += cpu_ns - expected_ns;
    if (rows > 0) { /* a moving average; the first row sets it */
        int64_t row_ns = cpu_ns / rows;
        stream->row_ns +=
            stream->row_ns == 0 ? row_ns : (row_ns - stream->row_ns) / 8;
    }
}

bool fby_fair_share_goes_on(
    const struct fby_fair_stream *started, const struct fby_fair_stream *other)
{
    return started->used_ns <= other->used_ns + TURN_NS;
}
