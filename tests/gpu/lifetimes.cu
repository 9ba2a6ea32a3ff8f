/* SPDX-License-Identifier: Apache-2.0 */
/* lifetimes.cu - upload 100,000 batches to a real GPU, with slow consumers on
 * each kind of stream. Every arena is overwritten as soon as it is free, and no
 * consumer may see a value of another batch. Then three times the usual batches
 * are held at once, and a captured graph is replayed 1,000 times at fixed
 * addresses while batches are uploaded. Skipped, with a message, without a GPU.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>

extern "C" {
#include "trainer_client/gpu/upload.h"
}
#include "bench/gpu_require.h"
#include "trainer_client/expand/segment.h"

enum { BYTES = 1 << 20, ARENAS = 5, OUTS = 4, BATCHES = 100000 };

#define CHECK(call)                                                       \
    do {                                                                  \
        int code_ = static_cast<int>(call);                               \
        if (code_ != 0) {                                                 \
            fprintf(stderr, "line %d: %s: %d\n", __LINE__, #call, code_); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

/* Wait a little, then count the words that are not `number`. */
__global__ void consume(
    const uint32_t *values, const uint32_t *number, unsigned long long *wrong)
{
    long long begun = clock64();
    while (clock64() - begun < 50000) {
    }
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < BYTES / 4;
         i += gridDim.x * blockDim.x) {
        if (values[i] != *number) {
            atomicAdd(wrong, 1ULL);
        }
    }
}

__global__ void set(uint32_t *number, uint32_t value)
{
    *number = value;
}

struct rig {
    struct fby_gpu_upload *upload;
    uint32_t              *number; /* expected by the next consumer */
    unsigned long long    *wrong;
    uint32_t               sent;
};

static void begin(struct rig *rig, bool fixed)
{
    struct fby_error_detail      why    = {""};
    struct fby_gpu_upload_config config = {};
    config.cuda                         = fby_cuda();
    config.n_arenas                     = ARENAS;
    config.arena_bytes                  = BYTES + 4096;
    config.n_outs                       = OUTS;
    config.out_bytes                    = BYTES;
    config.fixed_address                        = fixed;
    *rig                                = {};
    if (fby_gpu_upload_create(&config, &rig->upload, &why) != FBY_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    CHECK(cudaMalloc(&rig->number, 4));
    CHECK(cudaMalloc(&rig->wrong, 8));
    CHECK(cudaMemset(rig->wrong, 0, 8));
}

static void end(struct rig *rig, const char *what)
{
    unsigned long long wrong = 0;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&wrong, rig->wrong, 8, cudaMemcpyDefault));
    fby_gpu_upload_destroy(&rig->upload);
    CHECK(cudaFree(rig->number));
    CHECK(cudaFree(rig->wrong));
    printf("%s: %u batches, %llu wrong values\n", what, rig->sent, wrong);
    if (wrong != 0) {
        exit(1);
    }
}

/* Fill an arena with the batch's number, and write its list. */
static uint64_t fill(uint8_t *memory, uint32_t number)
{
    struct fby_segment_list list    = {1, {}, 0, 0};
    struct fby_segment      segment = {};
    list.blocks[0] = (BYTES + FBY_BLOCK_BYTES - 1) / FBY_BLOCK_BYTES;
    segment.n      = BYTES;
    segment.kind   = FBY_SEGMENT_COPY;
    for (uint32_t i = 0; i < BYTES / 4; i++) {
        memcpy(memory + 4 * i, &number, 4);
    }
    uint8_t *at = memory + BYTES;
    memcpy(at, &list, sizeof(list));
    at += sizeof(list);
    uint32_t table_words = (list.blocks[0] + 1) / 2 * 2;
    /* The offset of the segment, in units of 8 bytes. */
    uint32_t segment_at = (sizeof(list) + 4 * table_words) / 8;
    for (uint32_t i = 0; i < table_words; i++, at += 4) {
        memcpy(at, &segment_at, 4);
    }
    memcpy(at, &segment, sizeof(segment));
    at += sizeof(segment);
    return static_cast<uint64_t>(at - memory);
}

static struct fby_gpu_output *send(struct rig *rig, bool further)
{
    struct fby_error_detail     why   = {""};
    uint32_t                    arena = rig->sent % ARENAS;
    struct fby_gpu_upload_batch batch = {};
    while (fby_gpu_upload_poll_copied(rig->upload, arena, &why) == FBY_AGAIN) {
    }
    batch.step  = rig->sent;
    batch.arena = arena;
    batch.bytes = fill(fby_gpu_upload_arena(rig->upload, arena), rig->sent++);
    batch.list  = BYTES;
    batch.out   = fby_gpu_upload_take_output(rig->upload, further);
    if (batch.out == nullptr ||
        fby_gpu_upload_submit(rig->upload, &batch, &why) != FBY_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    return batch.out;
}

static void hand(struct rig *rig, struct fby_gpu_output *out,
    uint32_t number, cudaStream_t s)
{
    struct fby_error_detail why = {""};
    if (fby_gpu_upload_await(rig->upload, out, s, &why) != FBY_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    set<<<1, 1, 0, s>>>(rig->number, number);
    consume<<<32, 256, 0, s>>>(
        reinterpret_cast<uint32_t *>(out->memory), rig->number, rig->wrong);
    CHECK(cudaGetLastError());
}

static void release(
    struct rig *rig, struct fby_gpu_output *out, cudaStream_t s)
{
    fby_gpu_upload_release(rig->upload, out, s);
    fby_gpu_upload_recycle(rig->upload, out);
}

static void on_stream(const char *what, cudaStream_t s, uint32_t batches)
{
    struct rig                 rig;
    struct fby_gpu_output *before = nullptr;
    begin(&rig, false);
    for (uint32_t i = 0; i < batches; i++) {
        struct fby_gpu_output *out = send(&rig, false);
        hand(&rig, out, i, s);
        if (before != nullptr) {
            release(&rig, before, s);
        }
        before = out;
    }
    release(&rig, before, s);
    end(&rig, what);
}

static void three_rings(cudaStream_t s)
{
    struct rig                 rig;
    struct fby_gpu_output *held[3 * OUTS];
    begin(&rig, false);
    for (uint32_t round = 0; round < 100; round++) {
        for (uint32_t i = 0; i < 3 * OUTS; i++) {
            held[i] = send(&rig, i >= OUTS);
            hand(&rig, held[i], round * 3 * OUTS + i, s);
        }
        for (uint32_t i = 0; i < 3 * OUTS; i++) {
            release(&rig, held[i], s);
        }
    }
    end(&rig, "three rings held");
}

/* Sends a batch on another thread, as the receiver does. */
struct sending {
    struct rig                *rig;
    struct fby_gpu_output *out;
};

static void *send_there(void *opaque)
{
    struct sending *sending = static_cast<struct sending *>(opaque);
    sending->out            = send(sending->rig, false);
    return nullptr;
}

/* The graph is a step that reads the one address of the values. A batch is sent
 * during the capture, which must not invalidate it. */
static void graph(cudaStream_t s)
{
    struct rig                 rig;
    cudaGraph_t                graph = nullptr;
    cudaGraphExec_t            run   = nullptr;
    struct fby_error_detail    why   = {""};
    struct fby_gpu_output *next[2];
    struct sending             sending = {&rig, nullptr};
    pthread_t                  thread;
    begin(&rig, true);
    next[0] = send(&rig, false);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(pthread_create(&thread, nullptr, send_there, &sending));
    consume<<<32, 256, 0, s>>>(
        reinterpret_cast<uint32_t *>(next[0]->memory), rig.number, rig.wrong);
    CHECK(pthread_join(thread, nullptr));
    CHECK(cudaStreamEndCapture(s, &graph));
    next[1] = sending.out;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    for (uint32_t i = 0; i < 1000; i++) {
        if (fby_gpu_upload_await(rig.upload, next[0], s, &why) != FBY_OK) {
            fprintf(stderr, "%s\n", why.text);
            exit(1);
        }
        set<<<1, 1, 0, s>>>(rig.number, i);
        CHECK(cudaGraphLaunch(run, s));
        release(&rig, next[0], s);
        next[0] = next[1];
        next[1] = send(&rig, false);
    }
    fby_gpu_upload_recycle(rig.upload, next[0]);
    fby_gpu_upload_recycle(rig.upload, next[1]);
    end(&rig, "graph at fixed addresses");
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    int      code    = fby_gpu_require("gpu_lifetimes");
    uint32_t batches = argc > 1 ? strtoul(argv[1], nullptr, 10) : BATCHES;
    if (code != 0) {
        return code;
    }
    if (batches < 10) {
        fputs("usage: gpu_lifetimes [BATCHES], 10 or more\n", stderr);
        return 2;
    }
    cudaStream_t own = nullptr;
    CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    on_stream("default stream", nullptr, batches);
    on_stream("legacy stream", cudaStreamLegacy, batches / 10);
    on_stream("stream of the thread", cudaStreamPerThread, batches);
    on_stream("stream of its own", own, batches);
    three_rings(own);
    graph(own);
    CHECK(cudaStreamDestroy(own));
    return 0;
}
