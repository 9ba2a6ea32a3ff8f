/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.cu - the kernels, and the table of CUDA functions (cuda.h).
 *
 * A batch is expanded to tensors in three passes (enum fby_pass). Each pass has
 * its own kernel, because a common kernel would need the registers of the
 * largest pass. The code is in expand/block.h. This file is linked with the
 * static CUDA runtime, which loads the driver at the first call. On a machine
 * without a driver every call returns an error. */
#include "trainer_client/gpu/cuda.h"

#include <cstdio>
#include <cuda_runtime.h>

#include "trainer_client/expand/block.h"
#include "trainer_client/gpu/pass_grid.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define FBY_HAS_NVTX 1
#else
#define FBY_HAS_NVTX 0
#endif

/* A multiprocessor has 65536 registers. With four blocks of 256 threads on it,
 * each thread has 64. `list` is the offset of the list of segments in
 * `arena`. */
__global__ void __launch_bounds__(FBY_BLOCK_THREADS, 4)
    fby_expand(uint8_t *arena, uint64_t list, uint8_t *out)
{
    __shared__ struct fby_block_shared block;
    extern __shared__ uint4            pixels[];
    const struct fby_block_memory      memory = {
             arena, out, list, &block, reinterpret_cast<uint8_t *>(pixels)};
    fby_block_run_expand(&memory, blockIdx.x);
}

/* The next two kernels run FBY_PASS_GREYS and FBY_PASS_OPS. Blocks are numbered
 * over all passes, and `first` is the number of the kernel's first block. */
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

static_assert(3 * FBY_TILE_ROWS * FBY_TILE_STRIDE + FBY_TILE_PACKED +
                      FBY_TILE_READ_OVER + sizeof(struct fby_block_shared) <=
                  FBY_CUDA_SHARED,
    "the largest tile fits into the shared memory");

/* ---- one call of the runtime --------------------------------------------- */

static thread_local const char *failed_function = "";

/* Record `function` as the last one that failed, if `code` is an error. */
static int record_failure(const char *function, cudaError_t code)
{
    if (code != cudaSuccess && code != cudaErrorNotReady) {
        failed_function = function;
    }
    return code;
}

#define CALL(function, ...) record_failure(#function, function(__VA_ARGS__))

static cudaStream_t stream_of(void *stream)
{
    return static_cast<cudaStream_t>(stream);
}

static cudaEvent_t event_of(void *event)
{
    return static_cast<cudaEvent_t>(event);
}

/* ---- functions of the table with more than one call ---------------------- */

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
    /* sysfs has hexadecimal digits in lower case. */
    for (char *c = out->pci; err == cudaSuccess && *c != '\0'; c++) {
        *c = *c >= 'A' && *c <= 'F' ? static_cast<char>(*c - 'A' + 'a') : *c;
    }
    return err;
}

/* Load all kernels. CUDA would otherwise load a kernel at its first launch,
 * which must not happen while a graph is captured. */
static int load_kernels(void)
{
    const int dynamic_shared_bytes =
        FBY_CUDA_SHARED - (int)sizeof(fby_block_shared);
    cudaFuncAttributes about;
    int                err = CALL(cudaFuncGetAttributes, &about, fby_expand);
    if (err == cudaSuccess) {
        err = CALL(cudaFuncGetAttributes, &about, fby_expand_greys);
    }
    if (err == cudaSuccess) {
        err = CALL(cudaFuncGetAttributes, &about, fby_expand_ops);
    }
    if (err == cudaSuccess) {
        err = CALL(cudaFuncSetAttribute, fby_expand,
            cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_shared_bytes);
    }
    return err;
}

/* Create a pool that keeps freed memory for the next allocation. */
static int pool_create(int device, void **out)
{
    cudaMemPool_t    pool     = nullptr;
    uint64_t         keep_all = UINT64_MAX; /* freed bytes that are kept */
    cudaMemPoolProps props    = {};
    props.allocType           = cudaMemAllocationTypePinned;
    props.location.type       = cudaMemLocationTypeDevice;
    props.location.id         = device;
    int err                   = CALL(cudaMemPoolCreate, &pool, &props);
    if (err == cudaSuccess) {
        err = CALL(cudaMemPoolSetAttribute, pool,
            cudaMemPoolAttrReleaseThreshold, &keep_all);
    }
    if (err != cudaSuccess && pool != nullptr) {
        (void)CALL(cudaMemPoolDestroy, pool);
        pool = nullptr;
    }
    *out = pool;
    return err;
}

static int exchange_capture_mode(int *mode)
{
    auto previous = static_cast<cudaStreamCaptureMode>(*mode);
    int  err      = CALL(cudaThreadExchangeStreamCaptureMode, &previous);
    *mode         = previous;
    return err;
}

/* Launch a kernel, unless it has no blocks. Returns an error of this launch
 * only. The application can still query an earlier error of the thread. */
static int launch_pass(const void *kernel, const struct fby_pass_grid *grid,
    void **args, void *stream)
{
    return grid->blocks == 0 ? cudaSuccess
                             : CALL(cudaLaunchKernel, kernel,
                                   dim3(grid->blocks), dim3(FBY_BLOCK_THREADS),
                                   args, grid->shared, stream_of(stream));
}

static int launch_passes(const struct fby_cuda_launch *launch)
{
    uint8_t             *arena         = static_cast<uint8_t *>(launch->arena);
    uint8_t             *out           = static_cast<uint8_t *>(launch->out);
    uint64_t             list          = launch->list;
    struct fby_pass_grid expand        = fby_pass_grid(launch, FBY_PASS_EXPAND);
    struct fby_pass_grid greys         = fby_pass_grid(launch, FBY_PASS_GREYS);
    struct fby_pass_grid ops           = fby_pass_grid(launch, FBY_PASS_OPS);
    void                *expand_args[] = {&arena, &list, &out};
    void                *greys_args[]  = {&arena, &list, &greys.first};
    void                *ops_args[]    = {&arena, &list, &out, &ops.first};

    int code = launch_pass(reinterpret_cast<const void *>(fby_expand), &expand,
        expand_args, launch->stream);
    if (code == cudaSuccess) {
        code = launch_pass(reinterpret_cast<const void *>(fby_expand_greys),
            &greys, greys_args, launch->stream);
    }
    if (code == cudaSuccess) {
        code = launch_pass(reinterpret_cast<const void *>(fby_expand_ops), &ops,
            ops_args, launch->stream);
    }
    return code;
}

/* ---- the table ----------------------------------------------------------- */

static constexpr void add_device_calls(struct fby_cuda *table)
{
    table->no_device      = cudaErrorNoDevice;
    table->driver_version = [](int *out) {
        return CALL(cudaDriverGetVersion, out);
    };
    table->runtime_version = [](int *out) {
        return CALL(cudaRuntimeGetVersion, out);
    };
    table->device_count = [](int *out) {
        return CALL(cudaGetDeviceCount, out);
    };
    table->describe   = describe;
    table->use_device = [](int device) { return CALL(cudaSetDevice, device); };
    table->current_device = [](int *out) { return CALL(cudaGetDevice, out); };
    table->exchange_capture_mode = exchange_capture_mode;
    table->thread_local_mode     = cudaStreamCaptureModeThreadLocal;
    table->load_kernels          = load_kernels;
}

static constexpr void add_memory_calls(struct fby_cuda *table)
{
    table->pin = [](void *memory, size_t size) {
        return CALL(cudaHostRegister, memory, size, cudaHostRegisterPortable);
    };
    table->unpin = [](void *memory) {
        return CALL(cudaHostUnregister, memory);
    };
    table->allocate = [](void **out, size_t size) {
        return CALL(cudaMalloc, out, size);
    };
    table->free         = [](void *memory) { return CALL(cudaFree, memory); };
    table->pool_create  = pool_create;
    table->pool_destroy = [](void *pool) {
        return CALL(cudaMemPoolDestroy, static_cast<cudaMemPool_t>(pool));
    };
    table->pool_allocate = [](void **out, size_t size, void *pool,
                               void *stream) {
        return CALL(cudaMallocFromPoolAsync, out, size,
            static_cast<cudaMemPool_t>(pool), stream_of(stream));
    };
    table->pool_free = [](void *memory, void *stream) {
        return CALL(cudaFreeAsync, memory, stream_of(stream));
    };
}

static constexpr void add_stream_calls(struct fby_cuda *table)
{
    table->not_ready     = cudaErrorNotReady;
    table->stream_create = [](void **out) {
        return CALL(cudaStreamCreateWithFlags,
            reinterpret_cast<cudaStream_t *>(out), cudaStreamNonBlocking);
    };
    table->stream_destroy = [](void *stream) {
        return CALL(cudaStreamDestroy, stream_of(stream));
    };
    table->stream_wait = [](void *stream, void *event) {
        return CALL(cudaStreamWaitEvent, stream_of(stream), event_of(event), 0);
    };
    table->stream_sync = [](void *stream) {
        return CALL(cudaStreamSynchronize, stream_of(stream));
    };
    table->event_create = [](void **out) {
        return CALL(cudaEventCreateWithFlags,
            reinterpret_cast<cudaEvent_t *>(out), cudaEventDisableTiming);
    };
    table->event_destroy = [](void *event) {
        return CALL(cudaEventDestroy, event_of(event));
    };
    table->event_record = [](void *event, void *stream) {
        return CALL(cudaEventRecord, event_of(event), stream_of(stream));
    };
    table->event_query = [](void *event) {
        return CALL(cudaEventQuery, event_of(event));
    };
    table->copy = [](void *to, const void *from, size_t size, void *stream) {
        return CALL(cudaMemcpyAsync, to, from, size, cudaMemcpyHostToDevice,
            stream_of(stream));
    };
    table->launch = launch_passes;
}

static constexpr void add_error_calls(struct fby_cuda *table)
{
    table->failed_function = []() { return failed_function; };
    table->error_name      = [](int code) {
        return cudaGetErrorName(static_cast<cudaError_t>(code));
    };
    table->error_text = [](int code) {
        return cudaGetErrorString(static_cast<cudaError_t>(code));
    };
#if FBY_HAS_NVTX
    table->begin_range = [](const char *name) { (void)nvtxRangePushA(name); };
    table->end_range   = []() { (void)nvtxRangePop(); };
#else
    table->begin_range = [](const char *) {};
    table->end_range   = []() {};
#endif
}

static constexpr struct fby_cuda make_table()
{
    struct fby_cuda table = {};
    add_device_calls(&table);
    add_memory_calls(&table);
    add_stream_calls(&table);
    add_error_calls(&table);
    return table;
}

const struct fby_cuda *fby_cuda(void)
{
    static constexpr struct fby_cuda cuda_table = make_table();
    return &cuda_table;
}
