/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_stream.c - pictures per second that reach a GPU as bf16 tensors.
 *
 * Workers send prepared batches (encoded before the run) in photo format 1. So
 * the figure includes the network, the checks, the copy to the GPU and the
 * kernel, but not the making of batches. */
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/gpu_cases.h"
#include "bench/gpu_require.h"
#include "bench/prepared_cluster.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/mem.h"
#include "trainer_client/gpu/cuda.h"

enum { ROWS = 256, SIDE = 224, WORKERS = 4, WARM_BATCHES = 40, ROUNDS = 7 };

static uint64_t batches = 200;

/* Take batches for at least half a second. */
static void warm_up(struct forebay *stream)
{
    int64_t until_ns = fby_now_ns() + FBY_NS_PER_S / 2;
    while (fby_now_ns() < until_ns) {
        bench_stream_take_many(stream, WARM_BATCHES);
    }
}

static double images_per_second(struct forebay *stream)
{
    int64_t begun = fby_now_ns();
    bench_stream_take_many(stream, batches);
    (void)fby_cuda()->stream_sync(NULL); /* wait for the last kernel */
    return (double)(batches * ROWS) * 1e9 / (double)(fby_now_ns() - begun);
}

static struct forebay *open_stream(const struct bench_cluster *cluster)
{
    struct forebay_options options = forebay_options();
    struct forebay_output  output  = forebay_output("image");
    output.dtype                   = FOREBAY_DTYPE_BF16;
    output.layout                  = FOREBAY_LAYOUT_CHW;
    options.device                 = "cuda";
    options.outputs                = &output;
    options.n_outputs              = 1;
    options.window_bytes           = UINT64_C(1) << 30;
    return bench_stream_open(cluster, &options);
}

/* Set `rates` to the images per second of each round. The workers are forked
 * before CUDA is used, because CUDA does not survive a fork. */
static void run(double *rates)
{
    struct bench_batch            batch;
    struct bench_prepared_cluster prepared;
    uint64_t                      bytes  = (uint64_t)ROWS * SIDE * SIDE * 3;
    uint8_t                      *pixels = fby_zalloc(bytes);
    gpu_fill_pixels(pixels, bytes);
    bench_batch_make(&batch, BENCH_PACK, pixels, ROWS, SIDE);
    free(pixels);
    bench_prepared_start(&prepared, &batch, WORKERS, NULL);
    struct forebay *stream = open_stream(&prepared.cluster);
    warm_up(stream);
    for (int i = 0; i < ROUNDS; i++) {
        rates[i] = images_per_second(stream);
    }
    forebay_close(&stream);
    bench_prepared_stop(&prepared);
    bench_batch_free(&batch);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"batches", &batches, 1, 1000000, "Batches per round (200)"},
        {0},
    };
    double rates[ROUNDS];
    bench_parse_options(argc, argv, options,
        "Pictures a second that reach a GPU as tensors.", NULL);
    int code = fby_gpu_require("gpu_stream");
    if (code != 0) {
        return code;
    }
    bench_begin("gpu_stream");
    run(rates);
    bench_judge("gpu_stream_images_s", bench_median(rates, ROUNDS),
        BENCH_AT_LEAST, 60000);
    return 0;
}
