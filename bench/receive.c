/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/receive.h"

#include <stdlib.h>

#include "bench/bench.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/mem.h"
#include "trainer_client/expand/device.h"

static fby_err expand_nothing(const struct fby_expansion *plan, const void *raw,
    uint32_t rows, void *out, struct fby_error_detail *why)
{
    (void)plan;
    (void)raw;
    (void)rows;
    (void)out;
    (void)why;
    return FBY_OK;
}

static fby_err decode_nothing(const struct fby_codec_job *job,
    /* NOLINTNEXTLINE(readability-non-const-parameter): the type of a device */
    struct fby_bytes_in payload, uint8_t *out, size_t raw_bytes)
{
    (void)job;
    (void)payload;
    (void)out;
    (void)raw_bytes;
    return FBY_OK;
}

const struct fby_device *__wrap_fby_device_named(const char *name)
{
    static struct fby_device device;
    (void)name;
    device        = fby_device_host;
    device.expand = expand_nothing;
    device.decode = decode_nothing;
    return &device;
}

void bench_receive_start(
    struct bench_receive *self, const struct bench_batch *batch, uint64_t mib)
{
    struct forebay_options options = forebay_options();
    options.window_bytes           = BENCH_SLOTS_BYTES;
    self->batch                    = batch;
    self->batches                  = (mib << 20) / batch->layout.raw_bytes + 1;
    self->tcp_slots                = fby_zalloc(BENCH_SLOTS_BYTES);
    bench_prepared_start(&self->prepared, batch, 1, NULL);
    bench_tcp_start(&self->tcp, batch);
    self->stream = bench_stream_open(&self->prepared.cluster, &options);
}

void bench_receive_stop(struct bench_receive *self)
{
    forebay_close(&self->stream);
    bench_tcp_stop(&self->tcp);
    bench_prepared_stop(&self->prepared);
    free(self->tcp_slots);
}

struct run_clocks { /* clocks at one moment, in ns */
    double wall_ns, receive_cpu_ns, sender_cpu_ns;
};

static struct run_clocks read_clocks(pid_t sender)
{
    return (struct run_clocks){.wall_ns = (double)fby_now_ns(),
        .receive_cpu_ns = (double)bench_cpu_ns(BENCH_THIS_PROCESS),
        .sender_cpu_ns  = (double)bench_cpu_ns(sender)};
}

static struct bench_cost cost_since(const struct bench_receive *self,
    const struct run_clocks *begin, pid_t sender)
{
    struct run_clocks now = read_clocks(sender);
    double bytes = (double)(self->batches * self->batch->layout.raw_bytes);
    return (struct bench_cost){
        .wall_ns        = (now.wall_ns - begin->wall_ns) / bytes,
        .receive_cpu_ns = (now.receive_cpu_ns - begin->receive_cpu_ns) / bytes,
        .sender_cpu_ns  = (now.sender_cpu_ns - begin->sender_cpu_ns) / bytes,
    };
}

struct bench_cost bench_receive_stream(struct bench_receive *self)
{
    pid_t sender = self->prepared.workers[0];
    /* These were received before the run. */
    bench_stream_take_many(
        self->stream, 2 * BENCH_SLOTS_BYTES / self->batch->layout.raw_bytes);
    struct run_clocks begin = read_clocks(sender);
    bench_stream_take_many(self->stream, self->batches);
    return cost_since(self, &begin, sender);
}

struct bench_cost bench_receive_tcp(struct bench_receive *self)
{
    size_t slot_bytes = self->batch->layout.raw_bytes;
    size_t n_slots    = BENCH_SLOTS_BYTES / slot_bytes;
    /* After a run of the stream, its threads still receive until its window is
     * full. Their CPU time must not count in this run. */
    bench_wait_idle();
    struct run_clocks begin = read_clocks(self->tcp.sender_pid);
    bench_tcp_request(&self->tcp, self->batches);
    for (uint64_t i = 0; i < self->batches; i++) {
        self->receive_batch(self, self->tcp_slots + i % n_slots * slot_bytes);
    }
    return cost_since(self, &begin, self->tcp.sender_pid);
}
