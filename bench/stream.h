/* stream.h - a consumer inside the bench, through the public header alone.
 *
 * What cannot work ends the bench. */
#ifndef FBY_BENCH_STREAM_H
#define FBY_BENCH_STREAM_H

#include "bench/farm.h"
#include "forebay/forebay.h"

/* Open the farm's pipeline at its server. `more` says what is asked for beside
 * that; its server, pipeline and roots are ignored. */
struct forebay *bench_stream_open(
    const struct bench_farm *farm, const struct forebay_options *more);

/* Take one batch and give it back; how long taking it took, ns. */
int64_t bench_stream_take(struct forebay *stream);

/* Take `n` of them. */
void bench_stream_skip(struct forebay *stream, uint64_t n);

struct forebay_stats bench_stream_stats(const struct forebay *stream);

#endif
