/* cuda.cu - the only file that includes CUDA: the table of calls, and the
 * kernels.
 *
 * A kernel runs the functions of expand/block.h and nothing else. One expands,
 * two are for the ops of the device: one kernel for all would need the
 * registers of the largest. Linked with the static runtime, which looks for a
 * driver when the first call needs one. On a machine without a driver every
 * call returns an error. */
#include "trainer_client/gpu/cuda.h"

#include <cstdio>
#include <cuda_runtime.h>

#include "trainer_client/expand/block.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define FBY_STAGES 1
#else
#define FBY_STAGES 0
#endif

/* 64 registers per thread allow four blocks on every multiprocessor. */
__global__ void __launch_bounds__(FBY_BLOCK_THREADS, 4)
    fby_expand(uint8_t *arena, uint64_t list, uint8_t *out)
{
    __shared__ struct fby_block_shared block;
    extern __shared__ uint4            pixels[];
    const struct fby_block_memory      memory = {
             arena, out, list, &block, reinterpret_cast<uint8_t *>(pixels)};
    fby_block_run(&memory, blockIdx.x);
}

/* The kernels of the second and the third pass; `first` is the pass's first
 * block in the list. */
__global__ void __launch_bounds__(FBY_BLOCK_THREADS, 4)
    fby_expand_greys(uint8_t *arena, uint64_t list, uint32_t first)
{
    __shared__ struct fby_block_shared block;
    __shared__ struct fby_pair         pair;
    const struct fby_block_memory      memory = {
             arena, nullptr, list, &block, reinterpret_cast<uint8_t *>(&pair)};
    fby_block_run_greys(&memory, first + blockIdx.x);
}

__global__ void __launch_bounds__(FBY_BLOCK_THREADS, 4)
    fby_expand_ops(uint8_t *arena, uint64_t list, uint8_t *out, uint32_t first)
{
    __shared__ struct fby_block_shared block;
    __shared__ struct fby_pair         pair;
    const struct fby_block_memory      memory = {
             arena, out, list, &block, reinterpret_cast<uint8_t *>(&pair)};
    fby_block_run_ops(&memory, first + blockIdx.x);
}

static_assert(sizeof(struct fby_segment) % 8 == 0, "segments form an array");
static_assert(3 * FBY_TILE_ROWS * FBY_TILE_STRIDE + FBY_TILE_PACKED +
                      FBY_TILE_READ_OVER + sizeof(struct fby_block_shared) <=
                  FBY_CUDA_SHARED,
    "the largest tile fits");

/* ---- every call goes through here ---------------------------------------- */

static thread_local const char *last_failed = "";

static int answer(const char *function, cudaError_t code)
{
    if (code != cudaSuccess && code != cudaErrorNotReady) {
        last_failed = function;
    }
    return code;
}

#define CALL(function, ...) answer(#function, function(__VA_ARGS__))

static cudaStream_t stream_of(void *stream)
{
    return static_cast<cudaStream_t>(stream);
}

static cudaEvent_t event_of(void *event)
{
    return static_cast<cudaEvent_t>(event);
}

/* ---- devices ------------------------------------------------------------- */

static int driver_version(int *out)
{
    return CALL(cudaDriverGetVersion, out);
}

static int runtime_version(int *out)
{
    return CALL(cudaRuntimeGetVersion, out);
}

static int count(int *out)
{
    return CALL(cudaGetDeviceCount, out);
}

static int describe(int device, struct fby_cuda_about *out)
{
    cudaDeviceProp about;
    int            err = CALL(cudaGetDeviceProperties, &about, device);
    if (err == cudaSuccess) {
        snprintf(out->name, sizeof(out->name), "%s", about.name);
        out->major = about.major;
        out->minor = about.minor;
        out->bytes = about.totalGlobalMem;
        err        = CALL(cudaDeviceGetPCIBusId, out->pci,
                   static_cast<int>(sizeof(out->pci)), device);
    }
    for (char *c = out->pci; err == cudaSuccess && *c != '\0'; c++) {
        *c = *c >= 'A' && *c <= 'F' ? static_cast<char>(*c - 'A' + 'a') : *c;
    }
    return err;
}

static int use(int device)
{
    return CALL(cudaSetDevice, device);
}

static int chosen(int *out)
{
    return CALL(cudaGetDevice, out);
}

static int capture_mode(int *mode)
{
    auto was = static_cast<cudaStreamCaptureMode>(*mode);
    int  err = CALL(cudaThreadExchangeStreamCaptureMode, &was);
    *mode    = was;
    return err;
}

/* This also loads the kernels, which must not happen while a graph is captured.
 */
static int prepare(void)
{
    cudaFuncAttributes about;
    int                err = CALL(cudaFuncGetAttributes, &about, fby_expand);
    if (err == cudaSuccess) {
        err = CALL(cudaFuncGetAttributes, &about, fby_expand_greys);
    }
    if (err == cudaSuccess) {
        err = CALL(cudaFuncGetAttributes, &about, fby_expand_ops);
    }
    return err != cudaSuccess
               ? err
               : CALL(cudaFuncSetAttribute, fby_expand,
                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                     FBY_CUDA_SHARED -
                         static_cast<int>(sizeof(fby_block_shared)));
}

/* ---- memory -------------------------------------------------------------- */

static int pin(void *memory, size_t size)
{
    return CALL(cudaHostRegister, memory, size, cudaHostRegisterPortable);
}

static int unpin(void *memory)
{
    return CALL(cudaHostUnregister, memory);
}

static int allocate(void **out, size_t size)
{
    return CALL(cudaMalloc, out, size);
}

static int free_memory(void *memory)
{
    return CALL(cudaFree, memory);
}

/* A pool of our own that keeps freed memory for the next allocation. */
static int pool_create(int device, void **out)
{
    cudaMemPool_t    pool  = nullptr;
    uint64_t         keep  = UINT64_MAX;
    cudaMemPoolProps props = {};
    props.allocType        = cudaMemAllocationTypePinned;
    props.location.type    = cudaMemLocationTypeDevice;
    props.location.id      = device;
    int err                = CALL(cudaMemPoolCreate, &pool, &props);
    if (err == cudaSuccess) {
        err = CALL(cudaMemPoolSetAttribute, pool,
            cudaMemPoolAttrReleaseThreshold, &keep);
    }
    if (err != cudaSuccess && pool != nullptr) {
        (void)CALL(cudaMemPoolDestroy, pool);
        pool = nullptr;
    }
    *out = pool;
    return err;
}

static int pool_destroy(void *pool)
{
    return CALL(cudaMemPoolDestroy, static_cast<cudaMemPool_t>(pool));
}

static int pool_take(void **out, size_t size, void *pool, void *stream)
{
    return CALL(cudaMallocFromPoolAsync, out, size,
        static_cast<cudaMemPool_t>(pool), stream_of(stream));
}

static int pool_give(void *memory, void *stream)
{
    return CALL(cudaFreeAsync, memory, stream_of(stream));
}

/* ---- order --------------------------------------------------------------- */

static int stream_create(void **out)
{
    return CALL(cudaStreamCreateWithFlags,
        reinterpret_cast<cudaStream_t *>(out), cudaStreamNonBlocking);
}

static int stream_destroy(void *stream)
{
    return CALL(cudaStreamDestroy, stream_of(stream));
}

static int stream_wait(void *stream, void *event)
{
    return CALL(cudaStreamWaitEvent, stream_of(stream), event_of(event), 0);
}

static int stream_sync(void *stream)
{
    return CALL(cudaStreamSynchronize, stream_of(stream));
}

static int event_create(void **out)
{
    return CALL(cudaEventCreateWithFlags, reinterpret_cast<cudaEvent_t *>(out),
        cudaEventDisableTiming);
}

static int event_destroy(void *event)
{
    return CALL(cudaEventDestroy, event_of(event));
}

static int event_record(void *event, void *stream)
{
    return CALL(cudaEventRecord, event_of(event), stream_of(stream));
}

static int event_query(void *event)
{
    return CALL(cudaEventQuery, event_of(event));
}

/* ---- work ---------------------------------------------------------------- */

static int copy(void *to, const void *from, size_t size, void *stream)
{
    return CALL(cudaMemcpyAsync, to, from, size, cudaMemcpyHostToDevice,
        stream_of(stream));
}

/* Returns the error of this launch only. An earlier error of the thread, from a
 * call of the application, is left for the application. */
static int launch_one(
    const void *kernel, uint32_t blocks, size_t shared, void **args, void *on)
{
    return blocks == 0
               ? cudaSuccess
               : CALL(cudaLaunchKernel, kernel, dim3(blocks),
                     dim3(FBY_BLOCK_THREADS), args, shared, stream_of(on));
}

static int launch(const struct fby_cuda_launch *l)
{
    uint8_t *arena = static_cast<uint8_t *>(l->arena);
    uint8_t *out   = static_cast<uint8_t *>(l->out);
    uint64_t list  = l->list;
    uint32_t greys = l->blocks[FBY_PASS_EXPAND]; /* the first block of each */
    uint32_t ops   = greys + l->blocks[FBY_PASS_GREYS];
    void    *of_expand[] = {&arena, &list, &out};
    void    *of_greys[]  = {&arena, &list, &greys};
    void    *of_ops[]    = {&arena, &list, &out, &ops};

    int code = launch_one(reinterpret_cast<const void *>(fby_expand),
        l->blocks[FBY_PASS_EXPAND], l->shared, of_expand, l->stream);
    if (code == cudaSuccess) {
        code = launch_one(reinterpret_cast<const void *>(fby_expand_greys),
            l->blocks[FBY_PASS_GREYS], 0, of_greys, l->stream);
    }
    if (code == cudaSuccess) {
        code = launch_one(reinterpret_cast<const void *>(fby_expand_ops),
            l->blocks[FBY_PASS_OPS], 0, of_ops, l->stream);
    }
    return code;
}

static const char *failed(void)
{
    return last_failed;
}

static const char *name(int code)
{
    return cudaGetErrorName(static_cast<cudaError_t>(code));
}

static const char *text(int code)
{
    return cudaGetErrorString(static_cast<cudaError_t>(code));
}

/* ---- profilers ----------------------------------------------------------- */

static void stage(const char *name)
{
#if FBY_STAGES
    (void)nvtxRangePushA(name);
#else
    (void)name;
#endif
}

static void stage_end(void)
{
#if FBY_STAGES
    (void)nvtxRangePop();
#endif
}

const struct fby_cuda *fby_cuda(void)
{
    static const struct fby_cuda calls = {cudaErrorNotReady, driver_version,
        runtime_version, count, describe, use, chosen, capture_mode,
        cudaStreamCaptureModeThreadLocal, prepare, pin, unpin, allocate,
        free_memory, pool_create, pool_destroy, pool_take, pool_give,
        stream_create, stream_destroy, stream_wait, stream_sync, event_create,
        event_destroy, event_record, event_query, copy, launch, failed, name,
        text, stage, stage_end};
    return &calls;
}
