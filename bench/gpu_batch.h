/* gpu_batch.h - a synthetic batch in the form that is uploaded to a GPU. */
#ifndef FBY_BENCH_GPU_BATCH_H
#define FBY_BENCH_GPU_BATCH_H

#include <stdbool.h>
#include <stdint.h>

struct gpu_batch {
    uint8_t *arena;     /* ordinary memory; the caller frees it with free() */
    uint64_t bytes;     /* of pictures and list of segments in the arena */
    uint64_t list;      /* offset in the arena of the list of segments */
    uint64_t out_bytes; /* of the expanded batch */
    uint32_t blocks;    /* thread blocks of the kernel */
    uint32_t shared;    /* bytes of shared memory of a thread block */
};

/* True if there is a GPU. Otherwise print that `bench` measures nothing. */
bool gpu_exists(const char *bench);

/* Write `n` bytes of synthetic pictures: a slope with noise of one bit. */
void gpu_batch_paint(uint8_t *raw, uint64_t n);

/* Make a batch of `rows` pictures of 224 x 224 for normalised planes of f32, or
 * of bf16 if `bf16`. If `packed`, the pictures are in photo format 1, at about
 * 0.4 of their size; otherwise they are plain pixels. */
struct gpu_batch gpu_batch_make(uint32_t rows, bool packed, bool bf16);

#endif
