/* gpu_batch.h - a synthetic batch in the form that is uploaded to a GPU. */
#ifndef FBY_BENCH_GPU_BATCH_H
#define FBY_BENCH_GPU_BATCH_H

#include <stdbool.h>
#include <stdint.h>

struct gpu_batch {
    uint8_t *arena; /* ordinary memory; the caller frees it with free() */
    uint64_t bytes; /* of the arena, list included */
    uint64_t list;  /* offset of the list */
    uint64_t out_bytes;
    uint32_t blocks, shared;
};

/* Write `n` bytes of synthetic pictures: a slope with noise of one bit. */
void gpu_batch_paint(uint8_t *raw, uint64_t n);

/* Make a batch of `rows` pictures of 224 x 224 that become normalised CHW of
 * bf16 or f32. With `packed` they are in photo format 1, about 0.4 of the size.
 * Returns false if out of memory. */
bool gpu_batch_make(
    uint32_t rows, bool packed, bool bf16, struct gpu_batch *out);

#endif
