/* stream.h - a consumer inside the bench that uses only the public header.
 *
 * An error ends the bench. */
#ifndef FBY_BENCH_STREAM_H
#define FBY_BENCH_STREAM_H

#include "bench/farm.h"
#include "forebay/forebay.h"

/* Open the farm's pipeline at its server. `more` has the other options; its
 * server, pipeline and roots are ignored. */
struct forebay *bench_stream_open(
    const struct bench_farm *farm, const struct forebay_options *more);

/* Take one batch and release it; return the time of taking it in ns. */
int64_t bench_stream_take(struct forebay *stream);

/* Take and release `n` batches. */
void bench_stream_skip(struct forebay *stream, uint64_t n);

/* The counters of the stream. */
struct forebay_stats bench_stream_stats(const struct forebay *stream);

#endif
