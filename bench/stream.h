/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - a consumer inside the bench that uses only Forebay's public
 * header. Errors end the bench. */
#ifndef FBY_BENCH_STREAM_H
#define FBY_BENCH_STREAM_H

#include "bench/cluster.h"
#include "forebay/forebay.h"

/* Open the cluster's pipeline at the cluster's server. The server, pipeline and
 * roots in `options` are ignored. */
struct forebay *bench_stream_open(
    const struct bench_cluster *cluster, const struct forebay_options *options);

/* Take and release one batch. Returns the duration of forebay_next() in ns. */
int64_t bench_stream_take(struct forebay *stream);

/* Take and release `n` batches. */
void bench_stream_take_many(struct forebay *stream, uint64_t n);

struct forebay_stats bench_stream_stats(const struct forebay *stream);

#endif
