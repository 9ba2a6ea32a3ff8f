/* gpu_batch.h - a batch of pictures as it reaches a GPU, for benches of one. */
#ifndef FBY_BENCH_GPU_BATCH_H
#define FBY_BENCH_GPU_BATCH_H

#include <stdbool.h>
#include <stdint.h>

struct gpu_batch {
    uint8_t *arena; /* ordinary memory; the caller's, for free() */
    uint64_t bytes; /* of it, list included */
    uint64_t list;
    uint64_t out_bytes;
    uint32_t blocks, shared;
};

/* `n` bytes of made-up pictures: a slope with noise of one bit. */
void gpu_batch_paint(uint8_t *raw, uint64_t n);

/* `rows` made-up pictures of 224 x 224 to normalised CHW of bf16 or f32;
 * packed: in photo format 1, which shrinks them to about 0.4. False: there is
 * no memory. */
bool gpu_batch_make(
    uint32_t rows, bool packed, bool bf16, struct gpu_batch *out);

#endif
