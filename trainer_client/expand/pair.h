/* SPDX-License-Identifier: Apache-2.0 */
/* pair.h - apply the ops of the device (ops.h) with a block of threads.
 *
 * A block writes consecutive pixels of one picture. Mixup and cutmix mix in a
 * second picture of the batch, the partner. The block copies the random
 * parameters of both rows to shared memory. Then each thread computes whole
 * pixels. For contrast, an earlier launch sums up the greys of each picture, in
 * integers, so that the order of the additions does not matter. */
#ifndef FBY_CLIENT_EXPAND_PAIR_H
#define FBY_CLIENT_EXPAND_PAIR_H

#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/pixels.h"

enum { FBY_THREADS_PER_SUM = 16 };

/* The shared memory of a block. */
struct fby_pair {
    struct fby_ops_plan plan;
    struct fby_ops_row  row[2]; /* [0]: of the picture, [1]: of its partner */
    float    own_levels[3][FBY_BLOCK_THREADS]; /* mixup: before the mix */
    uint64_t greys[FBY_BLOCK_THREADS];         /* sum of grey of each thread */
    uint64_t sums[FBY_BLOCK_THREADS / FBY_THREADS_PER_SUM]; /* of 16 greys */
};

/* NOLINTNEXTLINE(readability-non-const-parameter): the builtin writes it */
FBY_BLOCK_INLINE void fby_atomic_add(uint64_t *sum, uint64_t addend)
{
#ifdef __CUDACC__
    atomicAdd(reinterpret_cast<unsigned long long *>(sum), addend);
#else
    (void)__atomic_fetch_add(sum, addend, __ATOMIC_RELAXED);
#endif
}

/* Copy `bytes` bytes. Each thread copies at most one word of 4 bytes. */
FBY_BLOCK_INLINE void fby_copy_words(
    const void *from, void *to, uint32_t bytes, uint32_t thread)
{
    if (thread < bytes / 4) {
        ((uint32_t *)to)[thread] = ((const uint32_t *)from)[thread];
    }
}

/* Load the plan, and the parameters of picture `image` and of its partner. */
FBY_BLOCK_INLINE void fby_pair_load(const struct fby_segment *s,
    const uint8_t *arena, uint32_t image, uint32_t thread,
    struct fby_pair *pair)
{
    const struct fby_ops_row *rows =
        (const struct fby_ops_row *)(const void *)(arena + s->params);
    fby_copy_words(arena + s->ops, &pair->plan, sizeof(pair->plan), thread);
    fby_copy_words(&rows[image], &pair->row[0], sizeof(*rows), thread);
    fby_copy_words(
        &rows[rows[image].partner], &pair->row[1], sizeof(*rows), thread);
}

/* Set the mean greys of both pictures if FBY_PASS_GREYS has summed greys. */
FBY_BLOCK_INLINE void fby_pair_load_greys(const struct fby_segment *s,
    const uint8_t *arena, uint32_t image, uint32_t thread,
    struct fby_pair *pair)
{
    const uint64_t *sums = (const uint64_t *)(const void *)(arena + s->values);
    if (s->values != 0 && thread < 2) {
        uint64_t sum = sums[thread == 0 ? image : pair->row[0].partner];
        pair->row[thread].grey = fby_ops_mean_grey(sum, s->pixels);
    }
}

FBY_BLOCK_INLINE struct fby_ops_position fby_pair_position(
    const struct fby_segment *s, uint32_t i)
{
    struct fby_ops_position pos;
    pos.x = i % s->width;
    pos.y = i / s->width;
    return pos;
}

/* Load the levels of the raw pixel that becomes pixel `pos` of the output. */
FBY_BLOCK_INLINE void fby_pair_load_pixel(const struct fby_ops_plan *plan,
    const struct fby_ops_row *row, const uint8_t *picture,
    struct fby_ops_position pos, float rgb[3])
{
    const uint8_t *from =
        picture + (size_t)3 * fby_ops_source_pixel(plan, row, pos.x, pos.y);
    FBY_UNROLL
    for (uint32_t c = 0; c < 3; c++) {
        rgb[c] = fby_ops_level_of_byte(from[c]);
    }
}

/* ---- greys --------------------------------------------------------------- */

/* Each thread sums up the greys of its pixels, from pixel `first` on. */
FBY_BLOCK_INLINE void fby_pair_sum_greys(const struct fby_segment *s,
    const uint8_t *picture, uint32_t first, uint32_t thread,
    struct fby_pair *pair)
{
    uint64_t sum = 0;
    FBY_NO_UNROLL
    for (uint32_t i = first + thread;
         i < fby_min(s->pixels, first + FBY_BLOCK_PIXELS);
         i += FBY_BLOCK_THREADS) {
        float                   rgb[3];
        struct fby_ops_position pos = fby_pair_position(s, i);
        fby_pair_load_pixel(&pair->plan, &pair->row[0], picture, pos, rgb);
        fby_ops_apply_stages(
            &pair->plan, &pair->row[0], pos, FBY_OPS_BEFORE_CONTRAST, rgb);
        sum += fby_ops_grey_q24(rgb);
    }
    pair->greys[thread] = sum;
}

FBY_BLOCK_INLINE void fby_pair_sum_16(uint32_t thread, struct fby_pair *pair)
{
    uint64_t sum = 0;
    if (thread >= FBY_BLOCK_THREADS / FBY_THREADS_PER_SUM) {
        return;
    }
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < FBY_THREADS_PER_SUM; i++) {
        sum += pair->greys[thread * FBY_THREADS_PER_SUM + i];
    }
    pair->sums[thread] = sum;
}

/* The first thread adds the sum of the block to the sum of the picture. */
FBY_BLOCK_INLINE void fby_pair_add_to_picture(const struct fby_segment *s,
    const struct fby_pair *pair, uint32_t image, uint32_t thread,
    uint8_t *arena)
{
    uint64_t *sums = (uint64_t *)(void *)(arena + s->values);
    uint64_t  sum  = 0;
    if (thread > 0) {
        return;
    }
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < FBY_BLOCK_THREADS / FBY_THREADS_PER_SUM; i++) {
        sum += pair->sums[i];
    }
    fby_atomic_add(&sums[image], sum);
}

/* ---- pixels -------------------------------------------------------------- */

/* Compute the levels of pixel `i`. They are from the picture (k = 0), for mixup
 * from both pictures, and in the box of cutmix from the partner (k = 1). */
FBY_BLOCK_INLINE void fby_pair_compute_levels(const struct fby_segment *s,
    struct fby_pair *pair, const uint8_t *pictures, uint32_t image, uint32_t i,
    uint32_t thread, float rgb[3])
{
    struct fby_ops_position pos   = fby_pair_position(s, i);
    bool                    mixed = pair->row[0].pair == FBY_OPS_MIXUP;
    bool                    cut   = pair->row[0].pair == FBY_OPS_CUTMIX &&
               fby_ops_box_contains(&pair->row[0].cut, pos.x, pos.y) != 0;
    FBY_NO_UNROLL
    for (uint32_t k = cut ? 1 : 0; k < (mixed || cut ? 2 : 1); k++) {
        uint64_t row = k == 0 ? image : pair->row[0].partner;
        fby_pair_load_pixel(&pair->plan, &pair->row[k],
            pictures + row * s->pixels * 3, pos, rgb);
        fby_ops_apply_stages(
            &pair->plan, &pair->row[k], pos, FBY_OPS_ALL_STAGES, rgb);
        FBY_UNROLL
        for (uint32_t c = 0; c < 3 && k == 0 && mixed; c++) {
            pair->own_levels[c][thread] = rgb[c];
        }
    }
    FBY_UNROLL
    for (uint32_t c = 0; c < 3 && mixed; c++) {
        rgb[c] = fby_ops_mix(pair->own_levels[c][thread], rgb[c],
            pair->row[0].share, pair->row[0].partner_share);
    }
}

/* The bits of a level in type `to`, which is f32, bf16, f16 or u8. */
FBY_BLOCK_INLINE uint32_t fby_level_bits(uint32_t to, float level)
{
    if (to == FBY_F32) {
        return fby_f32_bits(level);
    }
    if (to == FBY_BF16) {
        return fby_f32_to_bf16(level);
    }
    return to == FBY_F16 ? fby_f32_to_f16(level)
                         : (uint32_t)fby_f32_to_int(level, 0, UINT8_MAX);
}

FBY_BLOCK_INLINE void fby_pair_store_pixel(const struct fby_segment *s,
    const struct fby_pair *pair, uint32_t i, const float rgb[3], uint8_t *image)
{
    uint32_t width = fby_width_of(s->to);
    uint64_t index = s->planar != 0 ? i : (uint64_t)i * 3;
    uint64_t step  = s->planar != 0 ? s->pixels : 1;
    FBY_NO_UNROLL
    for (uint32_t c = 0; c < 3; c++) {
        float level = c == 0 ? rgb[0] : c == 1 ? rgb[1] : rgb[2];
        level = pair->plan.normalized ? level : fby_ops_scale_to_255(level);
        fby_store_value(fby_level_bits(s->to, level), width,
            image + (index + c * step) * width);
    }
}

FBY_BLOCK_INLINE void fby_pair_expand(const struct fby_segment *s,
    struct fby_pair *pair, const uint8_t *pictures, uint32_t number,
    uint32_t thread, uint8_t *out)
{
    uint32_t image = number / s->parts;
    uint32_t first = number % s->parts * FBY_BLOCK_PIXELS;
    FBY_NO_UNROLL
    for (uint32_t i = first + thread;
         i < fby_min(s->pixels, first + FBY_BLOCK_PIXELS);
         i += FBY_BLOCK_THREADS) {
        float rgb[3] = {0, 0, 0};
        fby_pair_compute_levels(s, pair, pictures, image, i, thread, rgb);
        fby_pair_store_pixel(s, pair, i, rgb, out + image * s->image_bytes);
    }
}

#endif
