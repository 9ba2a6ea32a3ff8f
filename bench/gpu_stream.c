/* gpu_stream.c - pictures per second that reach a GPU as bf16 tensors.
 *
 * Workers have the batches ready, packed, so that the figure includes wire,
 * checks, bus and kernel, but no decoding. Each worker is a process with one
 * connection. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/gpu_batch.h"
#include "bench/ready.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/mem.h"
#include "trainer_client/gpu/cuda.h"

enum { ROWS = 256, SIDE = 224, WORKERS = 4, WARM = 40, ROUNDS = 7 };

static uint64_t batches = 200;

static double images_a_second(struct forebay *stream)
{
    int64_t begun = fby_now_ns();
    bench_stream_skip(stream, batches);
    (void)fby_cuda()->stream_sync(NULL); /* the last values are complete */
    return (double)(batches * ROWS) * 1e9 / (double)(fby_now_ns() - begun);
}

static struct forebay *open_stream(const struct bench_farm *farm)
{
    struct forebay_options options = forebay_options();
    struct forebay_output  output  = forebay_output("image");
    output.dtype                   = FOREBAY_DTYPE_BF16;
    output.layout                  = FOREBAY_LAYOUT_CHW;
    options.device                 = "cuda";
    options.outputs                = &output;
    options.n_outputs              = 1;
    options.window_bytes           = UINT64_C(1) << 30;
    return bench_stream_open(farm, &options);
}

static void make_stock(struct bench_stock *stock)
{
    uint64_t n      = (uint64_t)ROWS * SIDE * SIDE * 3;
    uint8_t *pixels = fby_zalloc(n);
    gpu_batch_paint(pixels, n);
    bench_stock_make(stock,
        (struct fby_coding){FBY_FILTER_PHOTO, FBY_CODEC_PACK}, pixels, ROWS,
        SIDE);
    free(pixels);
}

/* Workers must be forked before this process uses the GPU. */
static void run(double *rates)
{
    struct bench_farm  farm;
    struct bench_stock stock;
    struct bench_ready ready[WORKERS];
    make_stock(&stock);
    const struct bench_ready_plan plan = {
        .workers = 1, .stock = &stock, .samples = 1000 * ROWS};
    bench_farm_begin(&farm);
    bench_ready_pipeline(&farm, &stock);
    bench_farm_start_server(&farm);
    for (int i = 0; i < WORKERS; i++) {
        bench_ready_start(&ready[i], &farm, &plan);
    }
    struct forebay *stream = open_stream(&farm);
    bench_stream_skip(stream, WARM);
    for (int i = 0; i < ROUNDS; i++) {
        rates[i] = images_a_second(stream);
    }
    forebay_close(&stream);
    for (int i = 0; i < WORKERS; i++) {
        bench_ready_stop(&ready[i]);
    }
    bench_farm_remove(&farm);
    bench_stock_free(&stock);
}

static bool has_gpu(void)
{
    int n = 0;
    return fby_cuda() != NULL && fby_cuda()->count(&n) == 0 && n > 0;
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"batches", &batches, 1, 1000000, "Batches per round (200)", NULL},
        {0},
    };
    double rates[ROUNDS];
    bench_options(
        argc, argv, options, "Pictures a second that reach a GPU as tensors.");
    if (!has_gpu()) {
        puts("gpu_stream: there is no GPU, nothing is measured");
        return 0;
    }
    bench_begin("gpu_stream");
    run(rates);
    bench_goal("gpu_stream_images_s", bench_median(rates, ROUNDS),
        BENCH_AT_LEAST, 60000);
    return 0;
}
