/* tile.h - unpack a tile of photo format 1 by many threads.
 *
 * In the photo format a run is eight values of a row, and a group is two runs,
 * one above the other, with a common bit width. The steps of a block of
 * FBY_BLOCK_THREADS threads on one tile:
 *     stage     copy the packed tile to shared memory
 *     sums      for each 16 groups, the sum of their widths
 *     unpack    each thread adds up the sums before its two groups, extracts
 *               their numbers and adds them up within a run
 *     rows      one thread per row carries the sums from run to run
 *     columns   one thread per four columns carries them from row to row
 *     store     four pixels per thread: join the colours, then as for any image
 * In yuv420 the planes of colour are half as wide and high, and the store
 * upsamples them (yuv.h). Raw planes are staged unpacked.
 * Threads synchronize only at the barriers between these steps; every step is a
 * function of the thread's number. The input was checked on the CPU before
 * (fby_codec_check); all reads are bounded by the tile even so. */
#ifndef FBY_CLIENT_EXPAND_TILE_H
#define FBY_CLIENT_EXPAND_TILE_H

#include "trainer_client/expand/pixels.h"
#include "trainer_client/expand/yuv.h"

enum { FBY_SUM_GROUPS = 16, FBY_SUMS = 32 };

struct fby_tile_plane { /* values */
    uint32_t width, height;
};

/* In shared memory. */
struct fby_tile {
    uint32_t              width, height; /* pixels */
    uint32_t              x, y;          /* of its first pixel in the picture */
    uint32_t              image;         /* its picture in the segment */
    uint32_t              bytes;         /* packed */
    uint32_t              mirror;        /* of its picture */
    uint64_t              at;            /* offset in the arena */
    struct fby_tile_plane plane[3];
    uint32_t              plane_at[4]; /* offset of each plane in the tile */
    uint32_t              sums[FBY_SUMS];
};

/* Groups side by side. */
FBY_BLOCK_INLINE uint32_t fby_tile_across(
    const struct fby_tile *tile, uint32_t plane)
{
    return (tile->plane[plane].width + 7) / 8;
}

/* Lines of a plane, rounded up to an even number. */
FBY_BLOCK_INLINE uint32_t fby_tile_lines(
    const struct fby_tile *tile, uint32_t plane)
{
    return (tile->plane[plane].height + 1) / 2 * 2;
}

FBY_BLOCK_INLINE uint32_t fby_tile_groups(
    const struct fby_tile *tile, uint32_t plane)
{
    return fby_tile_across(tile, plane) * (fby_tile_lines(tile, plane) / 2);
}

/* Bytes of a plane's widths. */
FBY_BLOCK_INLINE uint32_t fby_tile_widths(
    const struct fby_tile *tile, uint32_t plane)
{
    return (fby_tile_groups(tile, plane) + 7) / 8 * 4;
}

/* ---- geometry ------------------------------------------------------------ */

/* Set the tile's geometry. Called by one thread. */
FBY_BLOCK_INLINE void fby_tile_find(const struct fby_segment *s,
    const uint8_t *arena, uint32_t number, struct fby_tile *tile)
{
    uint32_t across = (s->width + 255) / 256;
    uint32_t down   = (s->lines + 31) / 32;
    tile->x         = number % across * 256;
    tile->y         = number / across % down * 32;
    tile->image     = number / across / down;
    tile->mirror    = fby_mirror(s, arena, tile->image);
    tile->width     = fby_min(s->width - tile->x, 256);
    tile->height    = fby_min(s->lines - tile->y, 32);
    FBY_NO_UNROLL
    for (uint32_t p = 0; p < 3; p++) {
        bool half            = s->yuv420 != 0 && p > 0;
        tile->plane[p].width = half ? fby_yuv_half(tile->width) : tile->width;
        tile->plane[p].height =
            half ? fby_yuv_half(tile->height) : tile->height;
    }
}

/* Set the packed bytes of the tile. Called by one thread. */
FBY_BLOCK_INLINE void fby_tile_find_packed(const struct fby_segment *s,
    const uint8_t *arena, uint32_t number, struct fby_tile *tile)
{
    const uint32_t *table = (const uint32_t *)(const void *)(arena + s->in);
    uint32_t        begin = fby_min(table[number], s->bytes / 16);
    uint32_t        end   = fby_min(table[number + 1], s->bytes / 16);
    tile->at              = s->in + 16 * (uint64_t)begin;
    tile->bytes =
        fby_min(end > begin ? 16 * (end - begin) : 0, FBY_TILE_PACKED);
    tile->plane_at[0] = 0;
}

/* ---- stage --------------------------------------------------------------- */

/* Copy the packed tile, which begins at a multiple of 16, and append zeros that
 * reads beyond its end may hit. */
FBY_BLOCK_INLINE void fby_tile_stage_packed(const struct fby_tile *tile,
    const uint8_t *arena, uint32_t thread, uint32_t *packed)
{
    for (uint32_t i = thread; i < tile->bytes / 16; i += FBY_BLOCK_THREADS) {
        fby_copy_16(arena + tile->at + (size_t)16 * i,
            (uint8_t *)(packed + (size_t)4 * i));
    }
    if (thread < FBY_TILE_READ_OVER / 4) {
        packed[tile->bytes / 4 + thread] = 0;
    }
}

/* Load 64 bits from byte `at` on; an offset beyond the tile means its end. */
FBY_BLOCK_INLINE uint64_t fby_tile_bits(
    const struct fby_tile *tile, const uint32_t *packed, uint32_t at)
{
    uint32_t inside = fby_min(at, tile->bytes);
    uint32_t word   = inside / 4;
    uint32_t shift  = inside % 4 * 8;
    uint64_t low    = packed[word] | (uint64_t)packed[word + 1] << 32;
    uint64_t high   = packed[word + 2];
    return shift == 0 ? low : low >> shift | high << (64 - shift);
}

/* ---- sums of widths ------------------------------------------------------ */

/* The sum of sixteen widths of four bits. */
FBY_BLOCK_INLINE uint32_t fby_nibble_sum(uint64_t widths)
{
    uint64_t pairs = (widths & UINT64_C(0x0f0f0f0f0f0f0f0f)) +
                     (widths >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    return (uint32_t)(pairs * UINT64_C(0x0101010101010101) >> 56);
}

/* Keep the lowest `n` of sixteen widths. */
FBY_BLOCK_INLINE uint64_t fby_nibbles_below(uint64_t widths, uint32_t n)
{
    return n >= 16 ? widths : widths & ((UINT64_C(1) << (4 * n)) - 1);
}

/* Widths of groups 16 i to 16 i + 15 of a plane; 0 beyond the last. */
FBY_BLOCK_INLINE uint64_t fby_tile_sixteen(const struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t i)
{
    uint32_t groups = fby_tile_groups(tile, plane);
    uint32_t first  = FBY_SUM_GROUPS * i;
    uint64_t all = fby_tile_bits(tile, packed, tile->plane_at[plane] + 8 * i);
    return fby_nibbles_below(all, groups > first ? groups - first : 0);
}

FBY_BLOCK_INLINE void fby_tile_sum(struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t thread)
{
    if (thread < FBY_SUMS) {
        tile->sums[thread] =
            fby_nibble_sum(fby_tile_sixteen(tile, packed, plane, thread));
    }
}

FBY_BLOCK_INLINE uint32_t fby_tile_sums_before(
    const struct fby_tile *tile, uint32_t n)
{
    uint32_t sum = 0;
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < n; i++) {
        sum += tile->sums[i];
    }
    return sum;
}

/* ---- unpack -------------------------------------------------------------- */

/* Add the bytes of `a` and `b` modulo 256, each by itself. */
FBY_BLOCK_INLINE uint32_t fby_add_4(uint32_t a, uint32_t b)
{
    return ((a & 0x7f7f7f7fU) + (b & 0x7f7f7f7fU)) ^ ((a ^ b) & 0x80808080U);
}

FBY_BLOCK_INLINE uint64_t fby_add_8(uint64_t a, uint64_t b)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ((a & low) + (b & low)) ^ ((a ^ b) & ~low);
}

/* 0, 1, 2, 3, ... to 0, -1, 1, -2, ..., in each byte. */
FBY_BLOCK_INLINE uint64_t fby_unfold_8(uint64_t folded)
{
    uint64_t odd = folded & UINT64_C(0x0101010101010101);
    return (folded >> 1 & UINT64_C(0x7f7f7f7f7f7f7f7f)) ^ odd * 0xff;
}

/* Unpack eight numbers of `bits` bits to eight bytes. */
FBY_BLOCK_INLINE uint64_t fby_spread_8(uint64_t packed, uint32_t bits)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t out  = 0;
    FBY_UNROLL
    for (uint32_t i = 0; i < 8; i++) {
        out |= (packed & mask) << (8 * i);
        packed >>= bits;
    }
    return out;
}

/* Each byte becomes the sum of all bytes up to it. */
FBY_BLOCK_INLINE uint64_t fby_sum_8(uint64_t bytes)
{
    bytes = fby_add_8(bytes, bytes << 8);
    bytes = fby_add_8(bytes, bytes << 16);
    return fby_add_8(bytes, bytes << 32);
}

/* Row `y` of an unpacked plane. */
FBY_BLOCK_INLINE uint8_t *fby_tile_row(
    uint8_t *pixels, uint32_t plane, uint32_t y)
{
    uint32_t row = plane * FBY_TILE_ROWS + y;
    return pixels + (size_t)row * FBY_TILE_STRIDE;
}

FBY_BLOCK_INLINE void fby_put_run(
    uint64_t packed, uint32_t bits, uint8_t *row, uint32_t x)
{
    uint64_t run = fby_sum_8(fby_unfold_8(fby_spread_8(packed, bits)));
    *(uint64_t *)(void *)(row + x) = run;
}

/* Unpack group `g`. Its bits begin `before` widths after the first group's. */
FBY_BLOCK_INLINE void fby_tile_group(const struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t g, uint8_t *pixels)
{
    uint32_t i      = g / FBY_SUM_GROUPS;
    uint64_t widths = fby_tile_sixteen(tile, packed, plane, i);
    uint32_t part   = g % FBY_SUM_GROUPS;
    uint32_t bits   = fby_min((uint32_t)(widths >> (4 * part)) & 15, 8);
    uint32_t before = fby_tile_sums_before(tile, i) +
                      fby_nibble_sum(fby_nibbles_below(widths, part));
    uint32_t at =
        tile->plane_at[plane] + fby_tile_widths(tile, plane) + 2 * before;
    uint32_t y = g / fby_tile_across(tile, plane) * 2;
    uint32_t x = g % fby_tile_across(tile, plane) * 8;
    fby_put_run(fby_tile_bits(tile, packed, at), bits,
        fby_tile_row(pixels, plane, y), x);
    fby_put_run(fby_tile_bits(tile, packed, at + bits), bits,
        fby_tile_row(pixels, plane, y + 1), x);
}

FBY_BLOCK_INLINE void fby_tile_unpack(struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t thread, uint8_t *pixels)
{
    uint32_t groups = fby_tile_groups(tile, plane);
    FBY_NO_UNROLL
    for (uint32_t g = thread; g < groups; g += FBY_BLOCK_THREADS) {
        fby_tile_group(tile, packed, plane, g, pixels);
    }
    if (thread == 0) {
        tile->plane_at[plane + 1] = tile->plane_at[plane] +
                                    fby_tile_widths(tile, plane) +
                                    2 * fby_tile_sums_before(tile, FBY_SUMS);
    }
}

/* ---- sums along rows and columns ----------------------------------------- */

/* No plane is larger than the first. */
FBY_BLOCK_INLINE void fby_tile_rows(const struct fby_tile *tile,
    uint32_t planes, uint32_t thread, uint8_t *pixels)
{
    uint32_t lines = fby_tile_lines(tile, 0);
    uint32_t plane = thread / lines;
    if (plane >= planes || thread % lines >= fby_tile_lines(tile, plane)) {
        return;
    }
    uint8_t *row   = fby_tile_row(pixels, plane, thread % lines);
    uint64_t carry = 0;
    for (uint32_t i = 0; i < fby_tile_across(tile, plane); i++) {
        uint64_t *run = (uint64_t *)(void *)(row + (size_t)8 * i);
        uint64_t  sum = fby_add_8(*run, carry * UINT64_C(0x0101010101010101));
        *run          = sum;
        carry         = sum >> 56;
    }
}

FBY_BLOCK_INLINE void fby_tile_columns(const struct fby_tile *tile,
    uint32_t planes, uint32_t thread, uint8_t *pixels)
{
    uint32_t words = 2 * fby_tile_across(tile, 0);
    uint32_t plane = thread / words;
    if (plane >= planes || thread % words >= 2 * fby_tile_across(tile, plane)) {
        return;
    }
    uint8_t *top = fby_tile_row(pixels, plane, 0);
    uint32_t sum = 0;
    for (uint32_t y = 0; y < tile->plane[plane].height; y++) {
        uint32_t *word =
            (uint32_t *)(void *)(top + (size_t)y * FBY_TILE_STRIDE +
                                 (size_t)4 * (thread % words));
        sum   = fby_add_4(sum, *word);
        *word = sum;
    }
}

/* ---- raw planes ---------------------------------------------------------- */

/* Load `n` values, at most four. */
FBY_BLOCK_INLINE uint32_t fby_load_four(const uint8_t *from, uint32_t n)
{
    uint32_t word = 0;
    if (n == 4 && (uintptr_t)from % 4 == 0) {
        return *(const uint32_t *)(const void *)from;
    }
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < n; i++) {
        word |= (uint32_t)from[i] << (8 * i);
    }
    return word;
}

/* Copy plane `p` of the tile from the raw bytes of its picture. */
FBY_BLOCK_INLINE void fby_tile_stage_plane(const struct fby_segment *s,
    const struct fby_tile *tile, const uint8_t *arena, uint32_t p,
    uint32_t thread, uint8_t *pixels)
{
    struct fby_yuv_strip strip = fby_yuv_strip_at(s->width, s->lines, tile->y);
    uint64_t image  = tile->image * fby_yuv_bytes(s->width, s->lines);
    uint32_t stride = p == 0 ? s->width : fby_yuv_half(s->width);
    uint64_t at     = p == 0 ? strip.at[0] : p == 1 ? strip.at[1] : strip.at[2];
    const uint8_t *from =
        arena + s->in + image + at + (p == 0 ? tile->x : tile->x / 2);
    uint32_t width = tile->plane[p].width;
    uint32_t words = (width + 3) / 4;
    FBY_NO_UNROLL
    for (uint32_t i = thread; i < words * tile->plane[p].height;
         i += FBY_BLOCK_THREADS) {
        uint32_t y                                            = i / words;
        uint32_t x                                            = i % words * 4;
        *(uint32_t *)(void *)(fby_tile_row(pixels, p, y) + x) = fby_load_four(
            from + (uint64_t)y * stride + x, fby_min(width - x, 4));
    }
}

/* ---- store --------------------------------------------------------------- */

/* Four pixels from the planes. With three planes the first is green, the others
 * are red and blue minus green. */
FBY_BLOCK_INLINE struct fby_quad fby_tile_quad(
    uint32_t planes, uint8_t *pixels, uint32_t x, uint32_t y)
{
    struct fby_quad quad = {{0, 0, 0, 0}};
    FBY_UNROLL
    for (uint32_t p = 0; p < 3; p++) {
        if (p < planes) {
            quad.of[p] = *(
                const uint32_t *)(const void *)(fby_tile_row(pixels, p, y) + x);
        }
    }
    if (planes == 3) {
        uint32_t green = quad.of[0];
        quad.of[0]     = fby_add_4(quad.of[1], green);
        quad.of[1]     = green;
        quad.of[2]     = fby_add_4(quad.of[2], green);
    }
    return quad;
}

/* Four RGB pixels from YUV planes; pixels beyond the edge are undefined. */
FBY_BLOCK_INLINE struct fby_quad fby_tile_quad_yuv(
    const struct fby_tile *tile, uint8_t *pixels, uint32_t x, uint32_t y)
{
    struct fby_quad     quad = {{0, 0, 0, 0}};
    struct fby_yuv_line line;
    uint32_t            other = fby_yuv_neighbour(y, tile->plane[1].height);
    line.y                    = fby_tile_row(pixels, 0, y);
    line.width                = tile->width;
    FBY_UNROLL
    for (uint32_t c = 0; c < 2; c++) {
        line.near[c] = fby_tile_row(pixels, 1 + c, y / 2);
        line.down[c] = fby_tile_row(pixels, 1 + c, other);
    }
    FBY_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        struct fby_rgb pixel = fby_yuv_pixel(&line, x + i);
        quad.of[0] |= (uint32_t)pixel.r << (8 * i);
        quad.of[1] |= (uint32_t)pixel.g << (8 * i);
        quad.of[2] |= (uint32_t)pixel.b << (8 * i);
    }
    return quad;
}

/* The first pixel in the result of the `n` pixels from x, y of the tile on. */
FBY_BLOCK_INLINE uint32_t fby_tile_pixel(const struct fby_segment *s,
    const struct fby_tile *tile, uint32_t x, uint32_t y, uint32_t n)
{
    uint32_t line   = tile->y + y;
    uint32_t column = tile->x + x;
    if ((tile->mirror & FBY_MIRROR_Y) != 0) {
        line = s->lines - 1 - line;
    }
    if ((tile->mirror & FBY_MIRROR_X) != 0) {
        column = s->width - n - column;
    }
    return fby_mirror_first(s, tile->mirror) + line * s->width + column;
}

FBY_BLOCK_INLINE void fby_tile_store(const struct fby_segment *s,
    const struct fby_tile *tile, uint32_t thread, uint8_t *pixels, uint8_t *out)
{
    uint32_t across = (tile->width + 3) / 4;
    uint8_t *image  = out + s->out + tile->image * s->image_bytes;
    FBY_NO_UNROLL
    for (uint32_t i = thread; i < across * tile->height;
         i += FBY_BLOCK_THREADS) {
        uint32_t        y    = i / across;
        uint32_t        x    = i % across * 4;
        struct fby_quad quad = s->yuv420 != 0
                                   ? fby_tile_quad_yuv(tile, pixels, x, y)
                                   : fby_tile_quad(s->channels, pixels, x, y);
        uint32_t        n    = fby_min(tile->width - x, 4);
        if ((tile->mirror & FBY_MIRROR_X) != 0) {
            quad = fby_reverse_quad(quad, n);
        }
        fby_put_quad(s, &quad, fby_tile_pixel(s, tile, x, y, n), n, image);
    }
}

#endif
