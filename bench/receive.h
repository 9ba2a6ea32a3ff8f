/* SPDX-License-Identifier: Apache-2.0 */
/* receive.h - receive a prepared batch (encoded before the run) in two ways: by
 * a Forebay stream, and over a bare TCP connection as the baseline.
 *
 * Programs that link receive.c replace fby_device_named() (linker option
 * --wrap), so that the client neither unpacks photos nor makes tensors. A batch
 * of a stream is then ready when its checked bytes are in a slot (the client's
 * buffer of a batch). */
#ifndef FBY_BENCH_RECEIVE_H
#define FBY_BENCH_RECEIVE_H

#include "bench/prepared_cluster.h"
#include "bench/tcp.h"
#include "forebay/forebay.h"

struct bench_receive {
    const struct bench_batch     *batch;
    struct bench_prepared_cluster prepared; /* its one worker sends `batch` */
    struct bench_tcp tcp;       /* sends `batch`, with hashes if tcp.hash */
    struct forebay  *stream;    /* from `prepared` */
    uint8_t         *tcp_slots; /* BENCH_SLOTS_BYTES, filled from `tcp` */
    uint64_t         batches;   /* number of batches per run */
    /* Receive a batch over `tcp` into `slot`, for bench_receive_tcp(). */
    void (*receive_batch)(const struct bench_receive *self, uint8_t *slot);
};

struct bench_cost { /* cost of one run, per byte of raw data */
    double wall_ns;
    double receive_cpu_ns; /* of all threads of this process */
    double sender_cpu_ns;  /* of the process that sends */
};

#define BENCH_SLOTS_BYTES (UINT64_C(64) << 20) /* size of all slots */

/* Start the senders of `prepared` and `tcp`, and open the stream. Each run gets
 * at least `mib` MiB of raw data. Set `receive_batch` and tcp.hash before. */
void bench_receive_start(
    struct bench_receive *self, const struct bench_batch *batch, uint64_t mib);
void bench_receive_stop(struct bench_receive *self);

/* Receive the batches of one run. bench_receive_stream() first skips the
 * batches that the stream received before the run. */
struct bench_cost bench_receive_stream(struct bench_receive *self);
struct bench_cost bench_receive_tcp(struct bench_receive *self);

/* For any name, returns a device that neither unpacks nor makes tensors. */
const struct fby_device *__wrap_fby_device_named(const char *name);

#endif
