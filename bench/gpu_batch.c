/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/gpu_batch.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/photos.h"
#include "codec/photo.h"
#include "common/mem.h"
#include "trainer_client/expand/segments.h"

enum { ALIGN = 64, LIST_BYTES = 1 << 20 /* more than the list needs */ };
enum { SLOPE_BYTES = 301 }; /* bytes after which the slope rises by 1 */

void gpu_paint_pixels(uint8_t *raw, uint64_t n)
{
    uint32_t state = 1;
    for (uint64_t i = 0; i < n; i++) {
        state  = state * 1664525 + 1013904223; /* next random number */
        raw[i] = (uint8_t)(i / SLOPE_BYTES + (state >> 31));
    }
}

struct gpu_batch gpu_batch_make(
    uint32_t rows, enum gpu_input input, enum gpu_output output)
{
    bool                           packed = input == GPU_PACKED;
    static _Alignas(ALIGN) uint8_t scratch[FBY_PHOTO_SCRATCH_BYTES];
    const struct fby_pictures      pictures = {
             rows, BENCH_CROP, BENCH_CROP, .planes = 3};
    struct fby_expansion *plan = fby_zalloc(sizeof(*plan));
    bench_crop_expansion_init(plan, BENCH_RGB,
        output == GPU_BF16 ? FBY_BF16 : FBY_F32, FBY_LAYOUT_CHW);
    struct fby_piece piece = {
        .raw_bytes = rows * plan->raw_bytes, .packed = packed};
    size_t max_bytes       = fby_photo_encode_capacity(&pictures); /* >= raw */
    size_t arena_bytes     = (max_bytes / ALIGN + 1) * ALIGN + LIST_BYTES;
    struct gpu_batch batch = {.arena = aligned_alloc(ALIGN, arena_bytes)};
    uint8_t         *raw   = packed ? fby_zalloc(piece.raw_bytes) : batch.arena;
    gpu_paint_pixels(raw, piece.raw_bytes);
    if (packed) {
        piece.bytes =
            (uint32_t)fby_photo_encode(&pictures, raw, batch.arena, scratch);
        free(raw);
    }
    struct fby_segments list;
    fby_segments_begin(
        &list, batch.arena, packed ? piece.bytes : piece.raw_bytes);
    fby_segments_add(&list, plan, &piece);
    batch.bytes        = fby_segments_finish(&list);
    batch.list_offset  = list.list;
    batch.blocks       = list.blocks[0];
    batch.shared_bytes = list.shared;
    batch.out_bytes    = rows * plan->out_bytes;
    free(plan);
    return batch;
}
