/* SPDX-License-Identifier: Apache-2.0 */
/* real_cuda.cu - fake_cuda.h implemented with the first GPU, so that the tests
 * of the fake also run on a real one. It is the real table with counts of the
 * existing objects; tests can let calls fail, or hide the driver.
 *
 * Linked with --wrap=fby_cuda. Skipped, with a message, without a GPU. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

extern "C" {
#include "bench/gpu_require.h"
#include "tests/trainer_client/fake_cuda.h"

const struct fby_cuda *__real_fby_cuda(void);
const struct fby_cuda *__wrap_fby_cuda(void);
}

enum { BROKEN = 719 };

static std::atomic<int64_t>      live;
static std::atomic<const char *> broken;
static int                       driver  = -1; /* -1: the real version */
static int                       devices = 0;

static const struct fby_cuda *real(void)
{
    return __real_fby_cuda();
}

static void check(int code, const char *what)
{
    if (code != 0) {
        fprintf(stderr, "%s: %s\n", what, real()->error_text(code));
        exit(1);
    }
}

/* ---- the table ----------------------------------------------------------- */

static thread_local const char *pretended; /* the last pretended failure */

static bool fails(const char *function)
{
    const char *name = broken;
    if (name == nullptr || strcmp(name, function) != 0) {
        return false;
    }
    pretended = function;
    return true;
}

static const char *failed(void)
{
    return pretended != nullptr ? pretended : real()->failed_function();
}

static int counted(int code, int made)
{
    live += code == 0 ? made : 0;
    return code;
}

static int driver_version(int *out)
{
    *out = driver;
    return driver < 0 ? real()->driver_version(out) : 0;
}

static int count(int *out)
{
    *out = devices;
    return driver < 0    ? real()->device_count(out)
           : devices > 0 ? 0
                         : static_cast<int>(cudaErrorInsufficientDriver);
}

static int prepare(void)
{
    return fails("cudaFuncGetAttributes") ? static_cast<int>(BROKEN)
                                          : real()->load_kernels();
}

static int pin(void *memory, size_t size)
{
    return counted(real()->pin(memory, size), 1);
}

static int unpin(void *memory)
{
    return counted(real()->unpin(memory), -1);
}

static int allocate(void **out, size_t size)
{
    return fails("cudaMalloc") ? static_cast<int>(cudaErrorMemoryAllocation)
                               : counted(real()->allocate(out, size), 1);
}

static int free_memory(void *memory)
{
    return counted(real()->free(memory), -1);
}

static int pool_create(int device, void **out)
{
    return fails("cudaMemPoolCreate")
               ? static_cast<int>(cudaErrorNotSupported)
               : counted(real()->pool_create(device, out), 1);
}

static int pool_destroy(void *pool)
{
    return counted(real()->pool_destroy(pool), -1);
}

static int pool_allocate(void **out, size_t size, void *pool, void *stream)
{
    return counted(real()->pool_allocate(out, size, pool, stream), 1);
}

static int pool_free(void *memory, void *stream)
{
    return counted(real()->pool_free(memory, stream), -1);
}

static int stream_create(void **out)
{
    return counted(real()->stream_create(out), 1);
}

static int stream_destroy(void *stream)
{
    return counted(real()->stream_destroy(stream), -1);
}

static int event_create(void **out)
{
    return counted(real()->event_create(out), 1);
}

static int event_destroy(void *event)
{
    return counted(real()->event_destroy(event), -1);
}

static int launch(const struct fby_cuda_launch *given)
{
    return fails("cudaLaunchKernel") ? static_cast<int>(BROKEN)
                                     : real()->launch(given);
}

static struct fby_cuda table(void)
{
    struct fby_cuda calls = *real();
    calls.driver_version  = driver_version;
    calls.device_count    = count;
    calls.load_kernels    = prepare;
    calls.pin             = pin;
    calls.unpin           = unpin;
    calls.allocate        = allocate;
    calls.free            = free_memory;
    calls.pool_create     = pool_create;
    calls.pool_destroy    = pool_destroy;
    calls.pool_allocate   = pool_allocate;
    calls.pool_free       = pool_free;
    calls.stream_create   = stream_create;
    calls.stream_destroy  = stream_destroy;
    calls.event_create    = event_create;
    calls.event_destroy   = event_destroy;
    calls.launch          = launch;
    calls.failed_function = failed;
    return calls;
}

const struct fby_cuda *__wrap_fby_cuda(void)
{
    static struct fby_cuda calls; /* filled by begin, before threads start */
    if (calls.launch == nullptr) {
        calls = table();
    }
    return &calls;
}

/* ---- fake_cuda.h --------------------------------------------------------- */

void fake_cuda_begin(uint64_t seed)
{
    int code = fby_gpu_require("gpu_client");
    (void)seed; /* a GPU has an order of its own */
    if (code != 0) {
        exit(code);
    }
    (void)__wrap_fby_cuda();
    check(real()->use_device(0), "use");
    broken = nullptr;
    driver = -1;
    live   = 0;
}

void fake_cuda_end(void)
{
    check(cudaDeviceSynchronize(), "synchronize");
}

void fake_cuda_fail(const char *function)
{
    broken = function;
}

void fake_cuda_driver(int version, int n)
{
    driver  = n > 0 ? -1 : version;
    devices = n;
}

struct fake_cuda_counts fake_cuda_counts(void)
{
    struct fake_cuda_counts counts = {};
    counts.live                    = static_cast<uint64_t>(live.load());
    return counts;
}

void *fake_cuda_take(void *stream, size_t size)
{
    void *memory = nullptr;
    check(cudaMallocAsync(&memory, size, static_cast<cudaStream_t>(stream)),
        "take");
    return memory;
}

void fake_cuda_give(void *stream, void *memory)
{
    check(cudaFreeAsync(memory, static_cast<cudaStream_t>(stream)), "give");
}

void fake_cuda_read(void *stream, void *to, const void *from, size_t size)
{
    check(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost,
              static_cast<cudaStream_t>(stream)),
        "read");
}

void fake_cuda_fill(void *stream, void *to, size_t size)
{
    check(cudaMemsetAsync(to, 0xee, size, static_cast<cudaStream_t>(stream)),
        "fill");
}

/* A real GPU makes progress by itself. */
void fake_cuda_hurry(void)
{
}
