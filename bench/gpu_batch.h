/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_batch.h - a synthetic batch in the form that is uploaded to a GPU.
 *
 * An arena has the bytes of the pictures, and then the list of segments, which
 * tells the kernel how to expand them. */
#ifndef FBY_BENCH_GPU_BATCH_H
#define FBY_BENCH_GPU_BATCH_H

#include <stdbool.h>
#include <stdint.h>

enum gpu_input { GPU_RAW, GPU_PACKED /* photo format 1 */ };
enum gpu_output { GPU_F32, GPU_BF16 };

struct gpu_batch {
    uint8_t *arena;        /* host memory; the caller frees it with free() */
    uint64_t bytes;        /* size of pictures and list in the arena */
    uint64_t list_offset;  /* position of the list in the arena, bytes */
    uint64_t out_bytes;    /* size of the expanded batch */
    uint32_t blocks;       /* number of thread blocks of the kernel */
    uint32_t shared_bytes; /* shared memory of a thread block */
};

/* Write `n` bytes of synthetic pictures: a slope with noise of one bit. */
void gpu_paint_pixels(uint8_t *raw, uint64_t n);

/* Make a batch of `rows` pictures of 224 x 224 that the kernel expands to
 * normalised planes of `output`. GPU_PACKED pictures have about 0.4 of the size
 * of GPU_RAW ones. */
struct gpu_batch gpu_batch_make(
    uint32_t rows, enum gpu_input input, enum gpu_output output);

#endif
