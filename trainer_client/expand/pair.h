/* pair.h - ops of the device on a picture and its partner, by many threads.
 *
 * A block makes consecutive pixels of one picture. The random parameters of its
 * row and of its partner's are copied to shared memory, and each thread makes
 * whole pixels of the result, as in ops.h. Contrast needs the mean grey of the
 * picture first. An earlier launch sums it in integers: each block its own
 * pixels, then once into the picture's sum. The order of addition does not
 * matter. */
#ifndef FBY_CLIENT_EXPAND_PAIR_H
#define FBY_CLIENT_EXPAND_PAIR_H

#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/pixels.h"

enum { FBY_SUM_GREYS = 16 };

/* In shared memory. */
struct fby_pair {
    struct fby_ops_plan plan;
    struct fby_ops_row  row[2];                     /* own, partner's */
    float               mine[3][FBY_BLOCK_THREADS]; /* mixup: own levels */
    uint64_t            greys[FBY_BLOCK_THREADS];
    uint64_t            sums[FBY_BLOCK_THREADS / FBY_SUM_GREYS];
};

FBY_BLOCK_INLINE void fby_add_at(uint64_t *at, uint64_t n)
{
#ifdef __CUDACC__
    atomicAdd(reinterpret_cast<unsigned long long *>(at), n);
#else
    *at += n;
#endif
}

FBY_BLOCK_INLINE void fby_copy_words(
    const void *from, void *to, uint32_t bytes, uint32_t thread)
{
    if (thread < bytes / 4) {
        ((uint32_t *)to)[thread] = ((const uint32_t *)from)[thread];
    }
}

/* Load plan and parameters of picture `image`. */
FBY_BLOCK_INLINE void fby_pair_load(const struct fby_segment *s,
    const uint8_t *arena, uint32_t image, uint32_t thread,
    struct fby_pair *pair)
{
    const struct fby_ops_row *rows =
        (const struct fby_ops_row *)(const void *)(arena + s->draws);
    fby_copy_words(arena + s->ops, &pair->plan, sizeof(pair->plan), thread);
    fby_copy_words(&rows[image], &pair->row[0], sizeof(*rows), thread);
    fby_copy_words(
        &rows[rows[image].partner], &pair->row[1], sizeof(*rows), thread);
}

/* Set the mean greys, if an earlier pass summed them. */
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

FBY_BLOCK_INLINE struct fby_ops_at fby_pair_at(
    const struct fby_segment *s, uint32_t i)
{
    struct fby_ops_at at;
    at.x = i % s->width;
    at.y = i / s->width;
    return at;
}

/* The levels of the raw pixel from which pixel `at` of a row is made. */
FBY_BLOCK_INLINE void fby_pair_pixel(const struct fby_ops_plan *plan,
    const struct fby_ops_row *row, const uint8_t *picture, struct fby_ops_at at,
    float rgb[3])
{
    const uint8_t *from =
        picture + (size_t)3 * fby_ops_source(plan, row, at.x, at.y);
    FBY_UNROLL
    for (uint32_t c = 0; c < 3; c++) {
        rgb[c] = fby_ops_level(from[c]);
    }
}

/* ---- greys --------------------------------------------------------------- */

FBY_BLOCK_INLINE bool fby_pair_needs_grey(const struct fby_pair *pair)
{
    bool needs = false;
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < pair->row[0].n_jitter; i++) {
        needs = needs || pair->row[0].jitter[i] == FBY_OPS_CONTRAST;
    }
    return needs;
}

FBY_BLOCK_INLINE void fby_pair_sum(const struct fby_segment *s,
    const uint8_t *picture, uint32_t first, uint32_t thread,
    struct fby_pair *pair)
{
    uint64_t sum = 0;
    FBY_NO_UNROLL
    for (uint32_t i = first + thread;
         i < fby_min(s->pixels, first + FBY_BLOCK_PIXELS);
         i += FBY_BLOCK_THREADS) {
        float             rgb[3];
        struct fby_ops_at at = fby_pair_at(s, i);
        fby_pair_pixel(&pair->plan, &pair->row[0], picture, at, rgb);
        fby_ops_pixel(&pair->plan, &pair->row[0], at, 1, rgb);
        sum += fby_ops_grey_q24(rgb);
    }
    pair->greys[thread] = sum;
}

FBY_BLOCK_INLINE void fby_pair_sums(uint32_t thread, struct fby_pair *pair)
{
    uint64_t sum = 0;
    if (thread >= FBY_BLOCK_THREADS / FBY_SUM_GREYS) {
        return;
    }
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < FBY_SUM_GREYS; i++) {
        sum += pair->greys[thread * FBY_SUM_GREYS + i];
    }
    pair->sums[thread] = sum;
}

/* One thread adds the block's sum to the picture's. */
FBY_BLOCK_INLINE void fby_pair_add(const struct fby_segment *s,
    const struct fby_pair *pair, uint32_t image, uint8_t *arena)
{
    uint64_t *sums = (uint64_t *)(void *)(arena + s->values);
    uint64_t  sum  = 0;
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < FBY_BLOCK_THREADS / FBY_SUM_GREYS; i++) {
        sum += pair->sums[i];
    }
    fby_add_at(&sums[image], sum);
}

/* ---- pixels -------------------------------------------------------------- */

/* The levels of a pixel: of the picture, its partner, or both mixed. */
FBY_BLOCK_INLINE void fby_pair_levels(const struct fby_segment *s,
    struct fby_pair *pair, const uint8_t *pictures, uint32_t image, uint32_t i,
    uint32_t thread, float rgb[3])
{
    struct fby_ops_at at    = fby_pair_at(s, i);
    bool              mixed = pair->row[0].pair == FBY_OPS_MIXUP;
    bool              cut   = pair->row[0].pair == FBY_OPS_CUTMIX &&
               fby_ops_is_in(&pair->row[0].cut, at.x, at.y) != 0;
    FBY_NO_UNROLL
    for (uint32_t k = cut ? 1 : 0; k < (mixed || cut ? 2 : 1); k++) {
        uint64_t of = k == 0 ? image : pair->row[0].partner;
        fby_pair_pixel(
            &pair->plan, &pair->row[k], pictures + of * s->pixels * 3, at, rgb);
        fby_ops_pixel(&pair->plan, &pair->row[k], at, 0, rgb);
        FBY_UNROLL
        for (uint32_t c = 0; c < 3 && k == 0 && mixed; c++) {
            pair->mine[c][thread] = rgb[c];
        }
    }
    FBY_UNROLL
    for (uint32_t c = 0; c < 3 && mixed; c++) {
        rgb[c] = fby_ops_mix(pair->mine[c][thread], rgb[c], pair->row[0].share,
            pair->row[0].rest);
    }
}

/* Device ops only make f32, bf16, f16 and u8. */
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

FBY_BLOCK_INLINE void fby_pair_store(const struct fby_segment *s,
    const struct fby_pair *pair, uint32_t i, const float rgb[3], uint8_t *image)
{
    uint32_t width = fby_width_of(s->to);
    uint64_t at    = s->planar != 0 ? i : (uint64_t)i * 3;
    uint64_t step  = s->planar != 0 ? s->pixels : 1;
    FBY_NO_UNROLL
    for (uint32_t c = 0; c < 3; c++) {
        float level = c == 0 ? rgb[0] : c == 1 ? rgb[1] : rgb[2];
        level       = pair->plan.normalized ? level : fby_ops_byte(level);
        fby_store_1(fby_level_bits(s->to, level), width,
            image + (at + c * step) * width);
    }
}

FBY_BLOCK_INLINE void fby_pair_pixels(const struct fby_segment *s,
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
        fby_pair_levels(s, pair, pictures, image, i, thread, rgb);
        fby_pair_store(s, pair, i, rgb, out + image * s->image_bytes);
    }
}

#endif
