/* SPDX-License-Identifier: Apache-2.0 */
/* tile.h - unpack a tile of photo format 1 with a block of threads.
 *
 * In the photo format a run is eight values of a row. A group is two runs, one
 * above the other, with one bit width. A tile is expanded in these steps:
 *     stage     copy the packed tile to shared memory
 *     sums      each thread adds up the bit widths of 16 groups
 *     offsets   each thread adds up the sums before its own
 *     unpack    each thread finds the offsets of its groups, extracts their
 *               residues, and replaces each residue by the prefix sum within
 *               its run
 *     rows      each thread adds up the runs before each run of one row
 *     columns   each thread adds these sums to the values of eight columns, and
 *               adds up the values down each
 *     store     each thread joins the channels of four pixels and stores them
 * In yuv420 the planes of Cb and Cr are half as wide and high, and the store
 * upsamples them (yuv.h). Raw planes skip the steps from sums to columns. Each
 * step is a C function with the number of the thread as a parameter. The CPU
 * has checked the input (fby_codec_can_decode). Even so, no read leaves the
 * tile. */
#ifndef FBY_CLIENT_EXPAND_TILE_H
#define FBY_CLIENT_EXPAND_TILE_H

#include "trainer_client/expand/pixels.h"
#include "trainer_client/expand/yuv.h"

/* A plane has at most 16 x 32 groups, so 32 sums of 16 bit widths suffice. */
enum { FBY_GROUPS_PER_SUM = 16, FBY_TILE_SUMS = 32 };

struct fby_tile_plane {
    uint32_t width, height;  /* values */
    uint32_t groups_per_row; /* groups side by side */
    uint32_t groups;
    uint32_t reciprocal; /* 2^16 / groups_per_row + 1 */
    uint32_t offset;     /* of the bit widths in the packed tile */
    uint32_t groups_at;  /* offset of the groups, which follow them */
    uint16_t before[FBY_TILE_SUMS]; /* sum of the widths of all groups before
                                       16 i */
};

/* The tile of a block, in shared memory. */
struct fby_tile {
    uint32_t              width, height; /* pixels */
    uint32_t              x, y;          /* of the first pixel in the picture */
    uint32_t              image;  /* number of the picture in the segment */
    uint32_t              mirror; /* FBY_MIRROR_X and _Y of the picture */
    uint64_t              packed_offset; /* of the packed tile in the arena */
    uint32_t              packed_bytes;
    uint32_t              row_quads;      /* (width + 3) / 4 */
    uint32_t              row_reciprocal; /* 2^20 / row_quads + 1 */
    struct fby_tile_plane plane[3];
    uint32_t sums[FBY_TILE_SUMS / 4]; /* of 16 bit widths each, of one plane,
                                         four in each word, at most 240 */
};

/* ---- geometry ------------------------------------------------------------ */

/* Set offset and size of the packed tile. The payload begins with a table of
 * the offsets of all tiles, in units of 16 bytes. */
FBY_BLOCK_INLINE void fby_tile_set_packed(const struct fby_segment *s,
    const uint8_t *arena, uint32_t number, struct fby_tile *tile)
{
    const uint32_t *table = (const uint32_t *)(const void *)(arena + s->in);
    uint32_t        begin = fby_min(table[number], s->bytes / 16);
    uint32_t        end   = fby_min(table[number + 1], s->bytes / 16);
    tile->packed_offset   = s->in + 16 * (uint64_t)begin;
    tile->packed_bytes =
        fby_min(end > begin ? 16 * (end - begin) : 0, FBY_TILE_PACKED);
    tile->plane[0].offset = 0;
}

FBY_BLOCK_INLINE void fby_tile_set_plane(
    struct fby_tile_plane *plane, uint32_t width, uint32_t height)
{
    plane->width          = width;
    plane->height         = height;
    plane->groups_per_row = (width + 7) / 8;
    plane->groups         = plane->groups_per_row * ((height + 1) / 2);
    plane->reciprocal     = (1U << 16) / plane->groups_per_row + 1;
}

/* Set the position and the size of the tile. The first thread does this. */
FBY_BLOCK_INLINE void fby_tile_init(const struct fby_segment *s,
    const uint8_t *arena, uint32_t number, uint32_t thread,
    struct fby_tile *tile)
{
    if (thread > 0) {
        return;
    }
    uint32_t n_across    = (s->width + FBY_TILE_COLUMNS - 1) / FBY_TILE_COLUMNS;
    uint32_t n_down      = (s->lines + FBY_TILE_ROWS - 1) / FBY_TILE_ROWS;
    tile->x              = number % n_across * FBY_TILE_COLUMNS;
    tile->y              = number / n_across % n_down * FBY_TILE_ROWS;
    tile->image          = number / n_across / n_down;
    tile->mirror         = fby_mirror_bits(s, arena, tile->image);
    tile->width          = fby_min(s->width - tile->x, FBY_TILE_COLUMNS);
    tile->height         = fby_min(s->lines - tile->y, FBY_TILE_ROWS);
    tile->row_quads      = (tile->width + 3) / 4;
    tile->row_reciprocal = (1U << 20) / tile->row_quads + 1;
    FBY_NO_UNROLL
    for (uint32_t p = 0; p < 3; p++) {
        bool half = s->yuv420 != 0 && p > 0;
        fby_tile_set_plane(&tile->plane[p],
            half ? fby_yuv_chroma_dim(tile->width) : tile->width,
            half ? fby_yuv_chroma_dim(tile->height) : tile->height);
    }
    if (s->kind == FBY_SEGMENT_TILES) {
        fby_tile_set_packed(s, arena, number, tile);
    }
}

/* ---- stage --------------------------------------------------------------- */

/* Copy the packed tile, which begins at a multiple of 16 bytes, and append
 * zeros for reads beyond its end. */
FBY_BLOCK_INLINE void fby_tile_stage_packed(const struct fby_tile *tile,
    const uint8_t *arena, uint32_t thread, uint32_t *packed)
{
    for (uint32_t i = thread; i < tile->packed_bytes / 16;
         i += FBY_BLOCK_THREADS) {
        fby_copy_16(arena + tile->packed_offset + (size_t)16 * i,
            (uint8_t *)(packed + (size_t)4 * i));
    }
    if (thread < FBY_TILE_READ_OVER / 4) {
        packed[tile->packed_bytes / 4 + thread] = 0;
    }
}

/* Load 64 bits from byte `offset` of the packed tile, or from its end if the
 * offset is larger. The 64 bits lie in three words. */
FBY_BLOCK_INLINE struct fby_bits_64 fby_tile_load_64(
    const uint32_t *packed, uint32_t packed_bytes, uint32_t offset)
{
    uint32_t                 begin = fby_min(offset, packed_bytes);
    const uint32_t          *from  = packed + begin / 4;
    uint32_t                 shift = begin % 4 * 8;
    const struct fby_bits_64 low   = {from[0], from[1]};
    const struct fby_bits_64 high  = {from[1], from[2]};
    const struct fby_bits_64 bits  = {
         fby_shift_right(low, shift), fby_shift_right(high, shift)};
    return bits;
}

/* ---- sums of widths ------------------------------------------------------ */

/* The sum of the first `n` of sixteen widths of four bits. The highest byte of
 * the product is the sum of all four bytes, at most 240. */
FBY_BLOCK_INLINE uint32_t fby_sum_widths(struct fby_bits_64 widths, uint32_t n)
{
    const uint32_t even  = 0x0f0f0f0fU;
    uint32_t       begun = (1U << (4 * (n % 8))) - 1; /* in width n's word */
    uint32_t       low   = n < 8 ? widths.low & begun : widths.low;
    uint32_t high = n < 8 ? 0 : n < 16 ? widths.high & begun : widths.high;
    uint32_t sums =
        (low & even) + (low >> 4 & even) + (high & even) + (high >> 4 & even);
    return sums * 0x01010101U >> 24;
}

FBY_BLOCK_INLINE void fby_tile_sum_widths(struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t thread)
{
    uint32_t first  = FBY_GROUPS_PER_SUM * thread;
    uint32_t groups = tile->plane[plane].groups;
    if (thread < FBY_TILE_SUMS) {
        uint32_t n = groups > first ? fby_min(groups - first, 16) : 0;
        ((uint8_t *)tile->sums)[thread] =
            (uint8_t)fby_sum_widths(fby_tile_load_64(packed, tile->packed_bytes,
                                        tile->plane[plane].offset + 8 * thread),
                n);
    }
}

/* The sum of `before` and the lowest `n` of four bytes. For n above 4, of all
 * four; below 0, of none. */
FBY_BLOCK_INLINE uint32_t fby_add_bytes(
    uint32_t bytes, int32_t n, uint32_t before)
{
    uint32_t left = n < 0 ? 0 : fby_min((uint32_t)n, 4);
#ifdef __CUDACC__
    const struct fby_bits_64 ones = {0x01010101U, 0};
    return __dp4a(bytes, fby_shift_right(ones, 32 - 8 * left), before);
#else
    for (uint32_t i = 0; i < left; i++) {
        before += bytes >> (8 * i) & 0xff;
    }
    return before;
#endif
}

/* Set before[] of the plane, where its groups are, and where the next plane is:
 * after the widths, which are 4 bits for each group in whole words, and after
 * the groups, which are 2 bytes for each bit of width. */
FBY_BLOCK_INLINE void fby_tile_set_offsets(
    struct fby_tile *tile, uint32_t plane, uint32_t thread)
{
    struct fby_tile_plane *p   = &tile->plane[plane];
    uint32_t               sum = 0;
    if (thread >= FBY_TILE_SUMS) {
        return;
    }
    FBY_UNROLL
    for (uint32_t i = 0; i < FBY_TILE_SUMS / 4; i++) {
        sum = fby_add_bytes(tile->sums[i], (int32_t)(thread - 4 * i), sum);
    }
    p->before[thread] = (uint16_t)sum;
    if (thread == FBY_TILE_SUMS - 1) {
        p->groups_at = p->offset + (p->groups + 7) / 8 * 4;
        if (plane < 2) {
            tile->plane[plane + 1].offset =
                p->groups_at +
                2 * (sum + (tile->sums[FBY_TILE_SUMS / 4 - 1] >> 24));
        }
    }
}

/* ---- unpack -------------------------------------------------------------- */

/* Add each byte of `a` to the same byte of `b`, modulo 256. XOR adds the high
 * bits, so that no carry reaches the next byte. */
FBY_BLOCK_INLINE uint32_t fby_add_4(uint32_t a, uint32_t b)
{
    return ((a & 0x7f7f7f7fU) + (b & 0x7f7f7f7fU)) ^ ((a ^ b) & 0x80808080U);
}

/* Replace each byte 0, 1, 2, 3, ... by 0, -1, 1, -2, ... Each byte is halved,
 * and XOR inverts those that were odd. */
FBY_BLOCK_INLINE uint32_t fby_zigzag_decode_4(uint32_t zigzag)
{
    return (zigzag >> 1 & 0x7f7f7f7fU) ^ (zigzag & 0x01010101U) * 0xff;
}

/* Masks and factors that put each field of `bits` bits, 0 to 8, into a byte of
 * its own. */
struct fby_spread {
    uint32_t bits;
    uint32_t four;        /* ones in the bits of four fields */
    uint32_t second;      /* ones in a field of each half */
    uint32_t to_16, to_8; /* factors: 2^16 - 2^(2 bits), 2^8 - 2^bits */
};

FBY_BLOCK_INLINE struct fby_spread fby_spread_of(uint32_t bits)
{
    const struct fby_bits_64 ones   = {UINT32_MAX, 0};
    struct fby_spread        spread = {bits, 0, 0, 0, 0};
    spread.four                     = fby_shift_right(ones, 32 - 4 * bits);
    spread.second                   = ((1U << bits) - 1) * 0x00010001U;
    spread.to_16                    = (1U << 16) - (1U << (2 * bits));
    spread.to_8                     = (1U << 8) - (1U << bits);
    return spread;
}

/* Spread the four lowest fields to bytes: first the upper two to the upper
 * half, then the upper one of each half. A field h at bit n moves to bit m if h
 * times 2^m - 2^n is added. */
FBY_BLOCK_INLINE uint32_t fby_spread_4(
    uint32_t packed, struct fby_spread spread)
{
    uint32_t fields = packed & spread.four;
    uint32_t halves = fields + (fields >> (2 * spread.bits)) * spread.to_16;
    return halves + (halves >> spread.bits & spread.second) * spread.to_8;
}

/* Replace each byte by the sum of itself, all lower bytes and `before`, modulo
 * 256. Sets *sum to that of all four, of which only the lowest byte counts. */
FBY_BLOCK_INLINE uint32_t fby_prefix_sum_4(
    uint32_t bytes, uint32_t before, uint32_t *sum)
{
#ifdef __CUDACC__
    uint32_t first  = __dp4a(bytes, 0x00000001U, before);
    uint32_t second = __dp4a(bytes, 0x00000101U, before);
    uint32_t third  = __dp4a(bytes, 0x00010101U, before);
    *sum            = __dp4a(bytes, 0x01010101U, before);
    return __byte_perm(__byte_perm(first, second, 0x0040),
        __byte_perm(third, *sum, 0x0040), 0x5410);
#else
    bytes = fby_add_4(bytes, bytes << 8);
    bytes = fby_add_4(bytes, bytes << 16);
    bytes = fby_add_4(bytes, (before & 0xff) * 0x01010101U);
    *sum  = bytes >> 24;
    return bytes;
#endif
}

/* The address of row `y` of an unpacked plane. */
FBY_BLOCK_INLINE uint8_t *fby_tile_row(
    uint8_t *unpacked, uint32_t plane, uint32_t y)
{
    uint32_t row = plane * FBY_TILE_ROWS + y;
    return unpacked + (size_t)row * FBY_TILE_STRIDE;
}

/* Unpack a run of eight fields, and write their prefix sums to `to`, which is a
 * multiple of 8. */
FBY_BLOCK_INLINE void fby_tile_write_run(
    struct fby_bits_64 packed, struct fby_spread spread, uint8_t *to)
{
    uint32_t sum = 0;
    uint32_t fourth =
        fby_shift_right(packed, 4 * spread.bits); /* and later ones */
    uint32_t low = fby_prefix_sum_4(
        fby_zigzag_decode_4(fby_spread_4(packed.low, spread)), 0, &sum);
    uint32_t high = fby_prefix_sum_4(
        fby_zigzag_decode_4(fby_spread_4(fourth, spread)), sum, &sum);
    *(uint64_t *)(void *)to = low | (uint64_t)high << 32;
}

/* The numbers that unpacking the groups of a plane needs, copied to local
 * variables: the compiler would load members of fby_tile again after each
 * store. */
struct fby_tile_groups {
    const uint32_t *packed;
    uint32_t        packed_bytes;
    uint32_t        offset, groups_at, groups, groups_per_row, reciprocal;
    const uint16_t *before;
    uint8_t        *unpacked; /* the first row of the plane */
};

FBY_BLOCK_INLINE struct fby_tile_groups fby_tile_groups_of(
    const struct fby_tile *tile, const uint32_t *packed, uint32_t plane,
    uint8_t *unpacked)
{
    const struct fby_tile_plane *p = &tile->plane[plane];
    struct fby_tile_groups       groups;
    groups.packed         = packed;
    groups.packed_bytes   = tile->packed_bytes;
    groups.offset         = p->offset;
    groups.groups_at      = p->groups_at;
    groups.groups         = p->groups;
    groups.groups_per_row = p->groups_per_row;
    groups.reciprocal     = p->reciprocal;
    groups.before         = p->before;
    groups.unpacked       = fby_tile_row(unpacked, plane, 0);
    return groups;
}

/* Unpack group `g`, of width `bits` and at byte `offset`: two runs of `bits`
 * bytes. */
FBY_BLOCK_INLINE void fby_tile_unpack_group(const struct fby_tile_groups *plane,
    uint32_t g, uint32_t bits, uint32_t offset)
{
    struct fby_spread spread = fby_spread_of(bits);
    uint32_t          pair   = g * plane->reciprocal >> 16; /* of rows */
    uint8_t *to = plane->unpacked + (size_t)2 * FBY_TILE_STRIDE * pair +
                  (size_t)8 * (g - pair * plane->groups_per_row);
    fby_tile_write_run(
        fby_tile_load_64(plane->packed, plane->packed_bytes, offset), spread,
        to);
    fby_tile_write_run(
        fby_tile_load_64(plane->packed, plane->packed_bytes, offset + bits),
        spread, to + FBY_TILE_STRIDE);
}

/* Unpack groups `g`, which is even, and g + 1. A group of bit width w takes 2 w
 * bytes. The groups follow the widths of the plane without gaps. */
FBY_BLOCK_INLINE void fby_tile_unpack_two_groups(
    const struct fby_tile_groups *plane, uint32_t g)
{
    uint32_t           i      = g / FBY_GROUPS_PER_SUM;
    uint32_t           n      = g % FBY_GROUPS_PER_SUM;
    struct fby_bits_64 widths = fby_tile_load_64(
        plane->packed, plane->packed_bytes, plane->offset + 8 * i);
    uint32_t word  = (n < 8 ? widths.low : widths.high) >> (4 * (n % 8));
    uint32_t first = word & 15; /* above 8 only in a damaged tile */
    uint32_t offset =
        plane->groups_at + 2 * (plane->before[i] + fby_sum_widths(widths, n));
    fby_tile_unpack_group(plane, g, fby_min(first, 8), offset);
    if (g + 1 < plane->groups) {
        fby_tile_unpack_group(
            plane, g + 1, fby_min(word >> 4 & 15, 8), offset + 2 * first);
    }
}

FBY_BLOCK_INLINE void fby_tile_unpack(const struct fby_tile *tile,
    const uint32_t *packed, uint32_t planes, uint32_t thread, uint8_t *unpacked)
{
    FBY_NO_UNROLL
    for (uint32_t p = 0; p < planes; p++) {
        const struct fby_tile_groups plane =
            fby_tile_groups_of(tile, packed, p, unpacked);
        FBY_NO_UNROLL
        for (uint32_t g = 2 * thread; g < plane.groups;
             g += 2 * FBY_BLOCK_THREADS) {
            fby_tile_unpack_two_groups(&plane, g);
        }
    }
}

/* ---- sums along rows and columns ----------------------------------------- */

/* The sums of the bytes of words: those of bytes 0 and 2, and of bytes 1 and 3,
 * in 16 bits each. */
struct fby_byte_sums {
    uint32_t even, odd;
};

/* Byte `k` of a word, in both halves of the result. */
FBY_BLOCK_INLINE uint32_t fby_byte_twice(uint32_t bytes, uint32_t k)
{
    return fby_select_bytes(bytes, 0, 0x4040 + 0x0101 * k);
}

/* Add the bytes of a word, and `twice` to each half. Returns the lowest 8 bits
 * of the four sums. */
FBY_BLOCK_INLINE uint32_t fby_sum_bytes(
    struct fby_byte_sums *sums, uint32_t word, uint32_t twice)
{
    sums->even += fby_select_bytes(word, 0, 0x4240) + twice;
    sums->odd += fby_select_bytes(word, 0, 0x4341) + twice;
    return fby_select_bytes(sums->even, sums->odd, 0x6240);
}

/* Write the sums before four runs of a row, which begin at `run`. *sum is the
 * sum of all earlier runs of the row, and is updated. The sum of a run is its
 * last byte. */
FBY_BLOCK_INLINE void fby_tile_sum_row_runs(
    const uint8_t *run, uint8_t *before, uint32_t *sum)
{
    uint32_t last[4];
    FBY_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        last[i] = run[8 * i + 7];
    }
    FBY_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        before[(size_t)FBY_TILE_BEFORE_STRIDE * i] = (uint8_t)*sum;
        *sum += last[i];
    }
}

/* Thread t handles row t % 32 of plane t / 32: it finds for each run the sum of
 * all runs before it. Of a run it reads one byte, so this is an eighth of the
 * work of adding that sum to all bytes, which fby_tile_sum_columns does. */
FBY_BLOCK_INLINE void fby_tile_sum_rows(const struct fby_tile *tile,
    uint32_t planes, uint32_t thread, uint8_t *unpacked, uint8_t *before)
{
    uint32_t plane = thread / FBY_TILE_ROWS;
    uint32_t sum   = 0;
    if (plane >= planes) {
        return;
    }
    const uint8_t *row = fby_tile_row(unpacked, plane, thread % FBY_TILE_ROWS);
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < tile->plane[plane].groups_per_row; i += 4) {
        fby_tile_sum_row_runs(row + (size_t)8 * i,
            before + (size_t)FBY_TILE_BEFORE_STRIDE * i + thread, &sum);
    }
}

/* Replace the runs at `run` in four rows by the sums of their columns, sums[]
 * included. The bytes of `before` are the sums of the rows before the runs. */
FBY_BLOCK_INLINE void fby_tile_sum_column_runs(
    uint8_t *run, uint32_t before, struct fby_byte_sums sums[2])
{
    uint64_t rows[4];
    FBY_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        rows[i] = *(uint64_t *)(void *)(run + (size_t)FBY_TILE_STRIDE * i);
    }
    FBY_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t twice = fby_byte_twice(before, i);
        uint32_t low   = fby_sum_bytes(&sums[0], (uint32_t)rows[i], twice);
        uint32_t high =
            fby_sum_bytes(&sums[1], (uint32_t)(rows[i] >> 32), twice);
        *(uint64_t *)(void *)(run + (size_t)FBY_TILE_STRIDE * i) =
            low | (uint64_t)high << 32;
    }
}

/* Thread t handles run t % runs of plane t / runs, eight columns: its run of
 * each row becomes the sum of the rows up to it. Rows up to a multiple of four
 * are there, though they may be undefined. */
FBY_BLOCK_INLINE void fby_tile_sum_columns(const struct fby_tile *tile,
    uint32_t planes, uint32_t thread, uint8_t *unpacked, const uint8_t *before)
{
    struct fby_byte_sums sums[2] = {{0, 0}, {0, 0}};
    uint32_t             plane   = thread * tile->plane[0].reciprocal >> 16;
    uint32_t             run = thread - plane * tile->plane[0].groups_per_row;
    if (plane >= planes || run >= tile->plane[plane].groups_per_row) {
        return;
    }
    uint8_t       *top    = fby_tile_row(unpacked, plane, 0) + (size_t)8 * run;
    const uint8_t *of_run = before + (size_t)FBY_TILE_BEFORE_STRIDE * run +
                            (size_t)FBY_TILE_ROWS * plane;
    FBY_NO_UNROLL
    for (uint32_t y = 0; y < tile->plane[plane].height; y += 4) {
        fby_tile_sum_column_runs(top + (size_t)FBY_TILE_STRIDE * y,
            *(const uint32_t *)(const void *)(of_run + y), sums);
    }
}

/* ---- raw planes ---------------------------------------------------------- */

/* Load `n` bytes, at most four, to the lowest bytes of a word. */
FBY_BLOCK_INLINE uint32_t fby_load_bytes(const uint8_t *from, uint32_t n)
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
    uint32_t thread, uint8_t *unpacked)
{
    struct fby_yuv_strip strip = fby_yuv_strip_at(s->width, s->lines, tile->y);
    uint64_t image_at = tile->image * fby_yuv_bytes(s->width, s->lines);
    uint32_t stride   = p == 0 ? s->width : fby_yuv_chroma_dim(s->width);
    uint64_t row_at = p == 0 ? strip.at[0] : p == 1 ? strip.at[1] : strip.at[2];
    const uint8_t *from =
        arena + s->in + image_at + row_at + (p == 0 ? tile->x : tile->x / 2);
    uint32_t width = tile->plane[p].width;
    uint32_t words = (width + 3) / 4;
    FBY_NO_UNROLL
    for (uint32_t i = thread; i < words * tile->plane[p].height;
         i += FBY_BLOCK_THREADS) {
        uint32_t y = i / words;
        uint32_t x = i % words * 4;
        *(uint32_t *)(void *)(fby_tile_row(unpacked, p, y) + x) =
            fby_load_bytes(
                from + (uint64_t)y * stride + x, fby_min(width - x, 4));
    }
}

FBY_BLOCK_INLINE void fby_tile_stage_planes(const struct fby_segment *s,
    const struct fby_tile *tile, const uint8_t *arena, uint32_t thread,
    uint8_t *unpacked)
{
    FBY_NO_UNROLL
    for (uint32_t p = 0; p < 3; p++) {
        fby_tile_stage_plane(s, tile, arena, p, thread, unpacked);
    }
}

/* ---- store --------------------------------------------------------------- */

/* Four pixels from unpacked planes. If there are three planes, they hold green,
 * red minus green, and blue minus green. */
FBY_BLOCK_INLINE struct fby_quad fby_tile_quad(
    uint32_t planes, uint8_t *unpacked, uint32_t x, uint32_t y)
{
    struct fby_quad quad = {{0, 0, 0, 0}};
    FBY_UNROLL
    for (uint32_t p = 0; p < 3; p++) {
        if (p < planes) {
            quad.channel[p] =
                *(const uint32_t *)(const void *)(fby_tile_row(unpacked, p, y) +
                                                  x);
        }
    }
    if (planes == 3) {
        uint32_t green  = quad.channel[0];
        quad.channel[0] = fby_add_4(quad.channel[1], green);
        quad.channel[1] = green;
        quad.channel[2] = fby_add_4(quad.channel[2], green);
    }
    return quad;
}

/* Four RGB pixels from YUV planes. Those beyond the tile are undefined. */
FBY_BLOCK_INLINE struct fby_quad fby_tile_quad_yuv(
    const struct fby_tile *tile, uint8_t *unpacked, uint32_t x, uint32_t y)
{
    struct fby_quad     quad = {{0, 0, 0, 0}};
    struct fby_yuv_line line;
    uint32_t            adjacent = fby_yuv_neighbour(y, tile->plane[1].height);
    line.y                       = fby_tile_row(unpacked, 0, y);
    line.width                   = tile->width;
    FBY_UNROLL
    for (uint32_t c = 0; c < 2; c++) {
        line.near[c]     = fby_tile_row(unpacked, 1 + c, y / 2);
        line.adjacent[c] = fby_tile_row(unpacked, 1 + c, adjacent);
    }
    FBY_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        struct fby_rgb pixel = fby_yuv_pixel(&line, x + i);
        quad.channel[0] |= (uint32_t)pixel.r << (8 * i);
        quad.channel[1] |= (uint32_t)pixel.g << (8 * i);
        quad.channel[2] |= (uint32_t)pixel.b << (8 * i);
    }
    return quad;
}

/* The `n` pixels of the tile from (x, y) on go to `n` pixels of the output
 * picture, after mirroring. Returns the index of the leftmost of these. */
FBY_BLOCK_INLINE uint32_t fby_tile_out_index(const struct fby_segment *s,
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
    return fby_first_out_pixel(s, tile->mirror) + line * s->width + column;
}

/* The row of quad `i` of the tile. A tile has at most 2048 quads in rows of 64,
 * for which the reciprocal is exact. */
FBY_BLOCK_INLINE uint32_t fby_tile_quad_row(
    const struct fby_tile *tile, uint32_t i)
{
    return i * tile->row_reciprocal >> 20;
}

FBY_BLOCK_INLINE void fby_tile_store_any_quads(const struct fby_segment *s,
    const struct fby_tile *tile, uint32_t thread, uint8_t *unpacked,
    uint8_t *image)
{
    FBY_NO_UNROLL
    for (uint32_t i = thread; i < tile->row_quads * tile->height;
         i += FBY_BLOCK_THREADS) {
        uint32_t        y    = fby_tile_quad_row(tile, i);
        uint32_t        x    = 4 * (i - y * tile->row_quads);
        struct fby_quad quad = s->yuv420 != 0
                                   ? fby_tile_quad_yuv(tile, unpacked, x, y)
                                   : fby_tile_quad(s->channels, unpacked, x, y);
        uint32_t        n    = fby_min(tile->width - x, 4);
        if ((tile->mirror & FBY_MIRROR_X) != 0) {
            quad = fby_reverse_quad(quad, n);
        }
        fby_store_quad(
            s, &quad, fby_tile_out_index(s, tile, x, y, n), n, image);
    }
}

/* The same for three channels and lines of whole quads (fby_quads_are_whole).
 * `type` is s->to: as a constant, the compiler keeps only what it needs. */
FBY_BLOCK_INLINE void fby_tile_store_whole_quads(const struct fby_segment *s,
    const struct fby_tile *tile, uint32_t thread, uint8_t *unpacked,
    uint8_t *image, uint32_t type)
{
    bool     mirror_x = (tile->mirror & FBY_MIRROR_X) != 0;
    bool     mirror_y = (tile->mirror & FBY_MIRROR_Y) != 0;
    uint32_t first    = fby_tile_out_index(s, tile, 0, 0, 4);
    FBY_NO_UNROLL
    for (uint32_t i = thread; i < tile->row_quads * tile->height;
         i += FBY_BLOCK_THREADS) {
        uint32_t        y    = fby_tile_quad_row(tile, i);
        uint32_t        x    = 4 * (i - y * tile->row_quads);
        uint32_t        down = y * s->width;
        struct fby_quad quad = fby_tile_quad(3, unpacked, x, y);
        if (mirror_x) {
            quad = fby_reverse_quad(quad, 4);
        }
        fby_store_whole_quad(s, 3, type, &quad,
            first + (mirror_y ? 0 - down : down) + (mirror_x ? 0 - x : x),
            image);
    }
}

FBY_BLOCK_INLINE void fby_tile_store(const struct fby_segment *s,
    const struct fby_tile *tile, uint32_t thread, uint8_t *unpacked,
    uint8_t *out)
{
    uint8_t *image = out + s->out + tile->image * s->image_bytes;
    if (s->yuv420 != 0 || s->channels != 3 || s->width % 4 != 0 ||
        !fby_quads_are_whole(s, out + s->out)) {
        fby_tile_store_any_quads(s, tile, thread, unpacked, image);
    } else if (s->to == FBY_BF16) {
        fby_tile_store_whole_quads(s, tile, thread, unpacked, image, FBY_BF16);
    } else if (s->to == FBY_F16) {
        fby_tile_store_whole_quads(s, tile, thread, unpacked, image, FBY_F16);
    } else if (s->to == FBY_F32) {
        fby_tile_store_whole_quads(s, tile, thread, unpacked, image, FBY_F32);
    } else {
        fby_tile_store_whole_quads(s, tile, thread, unpacked, image, s->to);
    }
}

#endif
