/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_run.cu - launch on the first GPU, for tests that otherwise emulate the
 * launch on the host. Skipped, with a message, without a GPU. */
#include "tests/trainer_client/kernel_run.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#include "bench/gpu_require.h"

static uint32_t kinds_now; /* for kernel_run_kinds() */

static void check(int code, const char *what)
{
    if (code != 0) {
        fprintf(stderr, "%s: %s\n", what, fby_cuda()->error_text(code));
        exit(1);
    }
}

static void begin(void)
{
    int code = fby_gpu_require("gpu_expand_block");
    if (code != 0) {
        exit(code);
    }
    check(fby_cuda()->load_kernels(), "prepare");
}

void run_kernel(const struct kernel_run *r)
{
    static bool begun = false;
    void       *arena = nullptr;
    void       *out   = nullptr;
    if (!begun) {
        begin();
        begun = true;
    }
    kinds_now |= r->kinds;
    check(cudaMalloc(&arena, r->arena_bytes), "malloc");
    check(cudaMalloc(&out, r->out_bytes + 1), "malloc"); /* never 0 bytes */
    check(cudaMemcpy(arena, r->arena, r->arena_bytes, cudaMemcpyDefault), "in");
    check(cudaMemcpy(out, r->out, r->out_bytes, cudaMemcpyDefault), "in");
    struct fby_cuda_launch launch = kernel_run_launch(r);
    launch.arena                  = arena;
    launch.out                    = out;
    check(fby_cuda()->launch(&launch), "launch");
    check(cudaMemcpy(r->out, out, r->out_bytes, cudaMemcpyDefault), "out");
    check(cudaFree(arena), "free");
    check(cudaFree(out), "free");
}

uint32_t kernel_run_kinds(void)
{
    return kinds_now;
}
