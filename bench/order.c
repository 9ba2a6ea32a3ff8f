/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - time and memory of computing the order of samples.
 *
 * Computes which samples are in batches of 1,024 rows at random steps, as a
 * client or a worker does, for increasingly large data sets. The permutation is
 * never stored, so time and memory must not grow with the data set. Buckets are
 * groups of samples of similar length, from which batches are made. */
#include "pipeline/plan/order.h"

#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "common/clock.h"
#include "common/mem.h"

enum {
    BATCH            = 1024,
    MAX_ROUNDS       = 99,
    N_SHARDS         = 4096,
    SHARDS_PER_BLOCK = 4, /* shards that are shuffled together */
    N_BUCKETS        = 6,
    IMAGENET         = 1281167 /* samples of ImageNet's training data */
};

static uint64_t rows   = 4000000; /* per round */
static uint64_t rounds = 7;
static uint64_t seed   = 1;
static double   max_noise;               /* of all measurements so far */
static uint32_t shard_samples[N_SHARDS]; /* number of samples of each shard */
static struct fby_buckets *buckets;      /* of the next order; NULL: none */

static struct fby_order *make_order(enum fby_shuffle shuffle, uint64_t samples)
{
    struct fby_error_detail why = {{0}};
    struct fby_order       *order;
    struct fby_order_spec   spec = {
          .samples       = samples,
          .shard_samples = shard_samples,
          .n_shards      = N_SHARDS,
          .shuffle       = shuffle,
          .block         = SHARDS_PER_BLOCK,
          .buckets       = buckets,
          .last          = FBY_LAST_DROP,
          .global_batch  = BATCH,
          .seed          = seed,
    };
    for (size_t i = 0; i < N_SHARDS; i++) {
        shard_samples[i] = (uint32_t)(samples / N_SHARDS);
    }
    if (fby_order_create(&spec, &order, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
    return order;
}

/* Compute the samples of random batches. Returns the ns per row. */
static double fill_ns(const struct fby_order *order, uint64_t *state)
{
    static uint64_t samples[BATCH];
    uint64_t        batches = (rows + BATCH - 1) / BATCH;
    int64_t         begun   = fby_now_ns();
    for (uint64_t i = 0; i < batches; i++) {
        uint64_t step = bench_random(state) % fby_order_steps(order);
        fby_order_fill_samples(order, step, 0, BATCH, samples);
    }
    return (double)(fby_now_ns() - begun) / (double)(batches * BATCH);
}

/* Bytes of heap that an order of `samples` samples uses. */
static double order_bytes(enum fby_shuffle shuffle, uint64_t samples)
{
    size_t            before = mallinfo2().uordblks;
    struct fby_order *order  = make_order(shuffle, samples);
    size_t            after  = mallinfo2().uordblks;
    fby_order_destroy(&order);
    return (double)(after - before);
}

/* Measure an order and print a row. Returns the ns per row. */
static double measure_ns(
    const char *name, enum fby_shuffle shuffle, uint64_t samples)
{
    double            ns[MAX_ROUNDS];
    uint64_t          state = seed;
    struct fby_order *order = make_order(shuffle, samples);
    for (uint64_t i = 0; i < rounds; i++) {
        ns[i] = fill_ns(order, &state);
    }
    fby_order_destroy(&order);
    struct bench_figure figure = bench_figure_of(ns, rounds);
    bench_print(name, "%14" PRIu64 "  %7.1f  %5.1f %%  %8.0f", samples,
        figure.median, figure.noise, order_bytes(shuffle, samples));
    max_noise = fmax(max_noise, figure.noise);
    return figure.median;
}

/* Measure all `sizes`, which end with a 0. Returns the most ns per row. */
static double measure_sizes_ns(
    const char *name, enum fby_shuffle shuffle, const uint64_t *sizes)
{
    double slowest_ns = 0;
    for (; *sizes != 0; sizes++) {
        slowest_ns = fmax(slowest_ns, measure_ns(name, shuffle, *sizes));
    }
    return slowest_ns;
}

/* Measure an order with samples spread evenly over buckets. Returns the ns per
 * row, and sets *bytes to the memory of the buckets per sample. */
static double measure_buckets_ns(uint32_t samples, double *bytes)
{
    uint8_t *bucket_of = fby_zalloc(samples); /* [sample] */
    uint64_t state     = seed;
    for (uint32_t i = 0; i < samples; i++) {
        bucket_of[i] = (uint8_t)(bench_random(&state) % N_BUCKETS);
    }
    /* Bytes in the heap, and in blocks that malloc() mapped one by one. */
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    buckets       = fby_buckets_create(bucket_of, samples, N_BUCKETS);
    size_t after  = mallinfo2().uordblks + mallinfo2().hblkhd;
    double ns     = measure_ns("buckets", FBY_SHUFFLE_FULL, samples);
    *bytes        = (double)(after - before) / samples;
    fby_buckets_destroy(&buckets);
    free(bucket_of);
    return ns;
}

/* Growth of memory per sample, from `few` to `many` samples. */
static double bytes_per_sample(
    enum fby_shuffle shuffle, uint64_t few, uint64_t many)
{
    return (order_bytes(shuffle, many) - order_bytes(shuffle, few)) /
           (double)(many - few);
}

int main(int argc, char **argv)
{
    static const uint64_t full_sizes[] = {
        IMAGENET, UINT64_C(1) << 30, UINT64_C(1000000000000), 0};
    static const uint64_t block_sizes[] = {
        UINT64_C(1) << 22, UINT64_C(1) << 30, UINT64_C(1) << 40, 0};
    const struct bench_option options[] = {
        {"indices", &rows, BATCH, UINT32_MAX, "Rows per round (4000000)"},
        {"rounds", &rounds, 1, MAX_ROUNDS, "Rounds per size (7)"},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the order and the steps (1)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "Time and memory of the order of samples: full shuffle, blocks of 4 "
        "of 4,096 shards, and 6 buckets of length; batches of 1,024 rows at "
        "random steps.",
        NULL);
    bench_begin("order");
    bench_print("order", "%14s  %7s  %7s  %8s", "samples", "ns/index", "noise",
        "bytes");
    double full_ns  = measure_sizes_ns("full", FBY_SHUFFLE_FULL, full_sizes);
    double block_ns = measure_sizes_ns("block", FBY_SHUFFLE_BLOCK, block_sizes);
    double bucket_bytes = 0;
    double bucket_ns    = measure_buckets_ns(IMAGENET, &bucket_bytes);
    bench_print_reliability(max_noise, BENCH_NEEDS_ONE_CORE);
    bench_judge("order.full_ns", full_ns, BENCH_AT_MOST, 150);
    bench_judge("order.block_ns", block_ns, BENCH_AT_MOST, 150);
    bench_judge("order.bucket_ns", bucket_ns, BENCH_AT_MOST, 150);
    bench_judge("order.bucket_bytes", bucket_bytes, BENCH_AT_MOST, 4.1);
    bench_judge("order.full_bytes",
        bytes_per_sample(FBY_SHUFFLE_FULL, full_sizes[0], full_sizes[2]),
        BENCH_AT_MOST, 0);
    bench_judge("order.block_bytes",
        bytes_per_sample(FBY_SHUFFLE_BLOCK, block_sizes[0], block_sizes[2]),
        BENCH_AT_MOST, 0);
    return 0;
}
