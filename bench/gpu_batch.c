#include "bench/gpu_batch.h"

#include <stdlib.h>
#include <string.h>

#include "codec/photo.h"
#include "trainer_client/expand/segments.h"

enum { SIDE = 224 };

static bool make_plan(bool bf16, struct fby_expansion *plan)
{
    struct fby_why                  why;
    const struct fby_field_content  field = {.name = "image",
         .decode                                   = FBY_DECODE_RGB8,
         .wire_type                                = FBY_U8,
         .as.rgb8.normalize                        = true,
         .as.rgb8.mean                             = {0.485, 0.456, 0.406},
         .as.rgb8.std                              = {0.229, 0.224, 0.225},
         .shape                                    = {3, {SIDE, SIDE, 3}}};
    const struct fby_field_delivery to    = {
           .dtype = bf16 ? FBY_BF16 : FBY_F32, .layout = FBY_LAYOUT_CHW};
    return fby_expansion_init(plan, &field, &to, &why) == FBY_OK;
}

void gpu_batch_paint(uint8_t *raw, uint64_t n)
{
    uint32_t state = 1;
    for (uint64_t i = 0; i < n; i++) {
        state  = state * 1664525 + 1013904223;
        raw[i] = (uint8_t)(i / 301 + (state >> 31));
    }
}

static uint32_t pack(uint32_t rows, const uint8_t *raw, uint8_t *out)
{
    static _Alignas(64) uint8_t scratch[FBY_PHOTO_SCRATCH_BYTES];
    const struct fby_pictures   photo = {rows, SIDE, SIDE, 3, false};
    return (uint32_t)fby_photo_encode(&photo, raw, out, scratch);
}

static void fill(const struct fby_expansion *plan, uint32_t rows, bool packed,
    struct gpu_batch *out)
{
    struct fby_segments list;
    struct fby_piece    piece = {
           .raw_bytes = rows * plan->raw_bytes, .packed = packed};
    uint8_t *raw = malloc(piece.raw_bytes);
    gpu_batch_paint(raw, piece.raw_bytes);
    if (packed) {
        piece.bytes = pack(rows, raw, out->arena);
    } else {
        memcpy(out->arena, raw, piece.raw_bytes);
    }
    free(raw);
    fby_segments_begin(
        &list, out->arena, packed ? piece.bytes : piece.raw_bytes);
    fby_segments_add(&list, plan, &piece);
    out->bytes     = fby_segments_finish(&list);
    out->list      = list.list;
    out->blocks    = list.blocks[0];
    out->shared    = list.shared;
    out->out_bytes = rows * plan->out_bytes;
}

bool gpu_batch_make(
    uint32_t rows, bool packed, bool bf16, struct gpu_batch *out)
{
    struct fby_expansion     *plan  = calloc(1, sizeof(*plan));
    const struct fby_pictures photo = {rows, SIDE, SIDE, 3, false};
    uint64_t                  room  = fby_photo_bound(&photo) + (1 << 20);
    *out =
        (struct gpu_batch){.arena = aligned_alloc(64, (room + 63) / 64 * 64)};
    bool ok = plan != NULL && out->arena != NULL && make_plan(bf16, plan);
    if (ok) {
        fill(plan, rows, packed, out);
    }
    free(plan);
    return ok;
}
