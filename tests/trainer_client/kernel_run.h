/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_run.h - runs the CUDA kernel on the host, one block after another and
 * within a step one thread after another. tests/gpu/kernel_run.cu has the same
 * function for a GPU, so that the same tests run on both. */
#ifndef FBY_TEST_KERNEL_RUN_H
#define FBY_TEST_KERNEL_RUN_H

#include <stdint.h>
#include <string.h>

#include "trainer_client/expand/segment.h"
#include "trainer_client/gpu/cuda.h"

struct kernel_run {
    uint8_t *arena;
    uint64_t list; /* offset of the list in the arena */
    uint8_t *out;
    uint64_t arena_bytes; /* this and out_bytes are only for a GPU */
    uint64_t out_bytes;
    uint32_t kinds; /* of the segments, as bits 1 << enum fby_segment_kind */
};

/* The launch that the upload makes of the list of a run. */
static inline struct fby_cuda_launch kernel_run_launch(
    const struct kernel_run *run)
{
    struct fby_segment_list list;
    struct fby_cuda_launch  launch = {
         run->arena, run->list, run->out, {0}, 0, NULL};
    memcpy(&list, run->arena + run->list, sizeof(list));
    memcpy(launch.blocks, list.blocks, sizeof(launch.blocks));
    launch.shared = list.shared;
    return launch;
}

#ifdef __cplusplus
extern "C" {
#endif
void run_kernel(const struct kernel_run *run);

/* Only on the host: run the kernels of a launch. Its list is not read for how
 * many blocks there are. */
void run_launch(const struct fby_cuda_launch *launch);

/* The kinds of all lists that have run. In a test with kernel_threads.c, only
 * those that have run with real threads. */
uint32_t kernel_run_kinds(void);
#ifdef __cplusplus
}
#endif

#endif
