/* SPDX-License-Identifier: Apache-2.0 */
/* pass_grid.h - the grid of blocks of each pass of a launch.
 *
 * A pass (enum fby_pass) has a kernel of its own. Blocks are numbered over all
 * passes, and a CUDA kernel counts its blocks from 0, so a kernel adds the
 * number of its first block. C and CUDA compile the same lines: cuda.cu and
 * tests without a GPU launch blocks by them. Pure. */
#ifndef FBY_CLIENT_GPU_PASS_GRID_H
#define FBY_CLIENT_GPU_PASS_GRID_H

#include "trainer_client/expand/segment.h"
#include "trainer_client/gpu/cuda.h"

struct fby_pass_grid {
    uint32_t first;  /* number of the kernel's first block */
    uint32_t blocks; /* number of blocks; 0: the kernel is not launched */
    uint32_t shared; /* bytes of dynamic shared memory of a block */
};

static inline struct fby_pass_grid fby_pass_grid(
    const struct fby_cuda_launch *launch, enum fby_pass pass)
{
    struct fby_pass_grid grid = {
        0, launch->blocks[pass], pass == FBY_PASS_EXPAND ? launch->shared : 0};
    for (uint32_t before = 0; before < (uint32_t)pass; before++) {
        grid.first += launch->blocks[before];
    }
    return grid;
}

#endif
