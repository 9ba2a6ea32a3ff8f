/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_batch.h - synthetic batches in the form that is uploaded to a GPU.
 *
 * An arena has the chunks of a field, and then the list of segments, which
 * tells the kernels how to expand them. A case is a field of a pipeline. Its
 * batch also has the host's expansion, with which that of a GPU is compared. */
#ifndef FBY_BENCH_GPU_BATCH_H
#define FBY_BENCH_GPU_BATCH_H

#include <stdint.h>

#include "bench/gpu_cases.h"

struct gpu_batch {
    uint8_t *arena;        /* host memory */
    uint64_t bytes;        /* size of chunks and list in the arena */
    uint64_t arena_bytes;  /* size of the arena, the kernels' memory included */
    uint64_t list_offset;  /* position of the list in the arena, bytes */
    uint64_t out_bytes;    /* size of the memory for the expanded batch */
    uint64_t moved_bytes;  /* bytes of chunks, list and tensors */
    uint8_t *expected;     /* `out_bytes` as the host expands the batch */
    uint32_t blocks[3];    /* number of thread blocks of each kernel */
    uint32_t shared_bytes; /* shared memory of a thread block */
};

/* The value of the bytes of `expected` that belong to no tensor. Set the memory
 * for the expanded batch to it before a comparison. */
enum { GPU_UNTOUCHED = 0x5a };

/* Make a batch of `rows` rows, and expand it on the host. */
struct gpu_batch gpu_batch_make(enum gpu_case_number number, uint32_t rows);
void             gpu_batch_free(struct gpu_batch *self);

#endif
