/* SPDX-License-Identifier: Apache-2.0 */
/* about.cu - print what the first GPU is, as lines of "WORD VALUE": device,
 * capability, memory, runtime, and clock. The clock is measured while the GPU
 * computes for half a second, since an idle one is slower. Skipped without a
 * GPU. */
#include <cstdio>
#include <cuda_runtime.h>

#include "bench/gpu_require.h"
#include "trainer_client/gpu/cuda.h"

static const double SECONDS = 0.5;

/* Compute for `ns` nanoseconds. Then *mhz is the clock of this time. */
__global__ void compute(unsigned long long ns, double *mhz)
{
    unsigned long long begun  = 0;
    unsigned long long now    = 0;
    long long          cycles = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begun));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begun < ns);
    *mhz = static_cast<double>(clock64() - cycles) * 1e3 /
           static_cast<double>(now - begun);
}

static int check(cudaError_t code)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "gpu_about: %s\n", cudaGetErrorString(code));
    }
    return code == cudaSuccess ? 0 : 1;
}

/* The clock in MHz, or 0 after an error. */
static double measure_clock(void)
{
    double  mhz    = 0;
    double *result = nullptr;
    if (check(cudaMallocHost(&result, sizeof(*result))) == 0) {
        compute<<<1, 1>>>(
            static_cast<unsigned long long>(SECONDS * 1e9), result);
        mhz = check(cudaDeviceSynchronize()) == 0 ? *result : 0;
        (void)cudaFreeHost(result);
    }
    return mhz;
}

int main(void)
{
    struct fby_cuda_about about   = {};
    int                   driver  = 0;
    int                   runtime = 0;
    int                   most    = 0; /* kHz */
    int                   code    = fby_gpu_require("gpu_about");
    if (code != 0) {
        return code;
    }
    code = fby_cuda()->describe(0, &about);
    if (code != 0) {
        return check(static_cast<cudaError_t>(code));
    }
    (void)fby_cuda()->driver_version(&driver);
    (void)fby_cuda()->runtime_version(&runtime);
    (void)cudaDeviceGetAttribute(&most, cudaDevAttrClockRate, 0);
    double mhz = measure_clock();
    printf("device %s\ncapability %d.%d\nmemory %.1f GiB\n", about.name,
        about.major, about.minor, static_cast<double>(about.bytes) / (1 << 30));
    printf("runtime CUDA %d.%d, driver for %d.%d\n", runtime / 1000,
        runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
    printf("clock %.0f MHz measured, %d MHz at most\n", mhz, most / 1000);
    return mhz > 0 ? 0 : 1;
}
