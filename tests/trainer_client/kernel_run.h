/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_run.h - runs the CUDA kernel on the host, one block after another and
 * within a step one thread after another. tests/gpu/kernel_run.cu has the same
 * function for a GPU, so that the same tests run on both. */
#ifndef FBY_TEST_KERNEL_RUN_H
#define FBY_TEST_KERNEL_RUN_H

#include <stdint.h>

struct kernel_run {
    uint8_t *arena;
    uint64_t list; /* offset of the list in the arena */
    uint8_t *out;
    uint64_t arena_bytes; /* this and out_bytes are only for a GPU */
    uint64_t out_bytes;
};

#ifdef __cplusplus
extern "C"
#endif
    void
    run_kernel(const struct kernel_run *run);

#endif
