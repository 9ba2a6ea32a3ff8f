/* SPDX-License-Identifier: Apache-2.0 */
/* tile.h - unpack a tile of photo format 1 with a block of threads.
 *
 * In the photo format a run is eight values of a row. A group is two runs, one
 * above the other, with one bit width. A tile is expanded in these steps:
 *     stage     copy the packed tile to shared memory
 *     sums      each thread adds up the bit widths of 16 groups
 *     unpack    each thread finds the offsets of its groups from the sums of
 *               widths, extracts their residues, and replaces each residue by
 *               the prefix sum within its run
 *     rows      each thread continues the prefix sums along one row
 *     columns   each thread adds up the values down four columns
 *     store     each thread joins the channels of four pixels and stores them
 * In yuv420 the planes of Cb and Cr are half as wide and high, and the store
 * upsamples them (yuv.h). Raw planes skip the steps from sums to columns. Each
 * step is a C function with the number of the thread as a parameter. The CPU
 * has checked the input (fby_codec_check). Even so, no read leaves the tile. */
#ifndef FBY_CLIENT_EXPAND_TILE_H
#define FBY_CLIENT_EXPAND_TILE_H

#include "trainer_client/expand/pixels.h"
#include "trainer_client/expand/yuv.h"

/* A plane has at most 16 x 32 groups, so 32 sums of 16 bit widths suffice. */
enum { FBY_GROUPS_PER_SUM = 16, FBY_TILE_SUMS = 32 };

struct fby_tile_plane {
    uint32_t width, height; /* values */
};

/* The tile of a block, in shared memory. */
struct fby_tile {
    uint32_t              width, height; /* pixels */
    uint32_t              x, y;          /* of the first pixel in the picture */
    uint32_t              image;  /* number of the picture in the segment */
    uint32_t              mirror; /* FBY_MIRROR_X and _Y of the picture */
    uint64_t              packed_offset; /* of the packed tile in the arena */
    uint32_t              packed_bytes;
    struct fby_tile_plane plane[3];
    uint32_t plane_offset[4]; /* of each plane in the packed tile; its end */
    uint32_t sums[FBY_TILE_SUMS]; /* of 16 bit widths each, of one plane */
};

FBY_BLOCK_INLINE uint32_t fby_tile_groups_per_row(
    const struct fby_tile *tile, uint32_t plane)
{
    return (tile->plane[plane].width + 7) / 8;
}

/* The height of a plane, rounded up to an even number of rows. */
FBY_BLOCK_INLINE uint32_t fby_tile_padded_height(
    const struct fby_tile *tile, uint32_t plane)
{
    return (tile->plane[plane].height + 1) / 2 * 2;
}

FBY_BLOCK_INLINE uint32_t fby_tile_groups(
    const struct fby_tile *tile, uint32_t plane)
{
    return fby_tile_groups_per_row(tile, plane) *
           (fby_tile_padded_height(tile, plane) / 2);
}

/* The bytes of a plane's bit widths: 4 bits for each group, in whole words. */
FBY_BLOCK_INLINE uint32_t fby_tile_bit_width_bytes(
    const struct fby_tile *tile, uint32_t plane)
{
    return (fby_tile_groups(tile, plane) + 7) / 8 * 4;
}

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
    tile->plane_offset[0] = 0;
}

/* Set the position and the size of the tile. The first thread does this. */
FBY_BLOCK_INLINE void fby_tile_init(const struct fby_segment *s,
    const uint8_t *arena, uint32_t number, uint32_t thread,
    struct fby_tile *tile)
{
    if (thread > 0) {
        return;
    }
    uint32_t n_across = (s->width + FBY_TILE_COLUMNS - 1) / FBY_TILE_COLUMNS;
    uint32_t n_down   = (s->lines + FBY_TILE_ROWS - 1) / FBY_TILE_ROWS;
    tile->x           = number % n_across * FBY_TILE_COLUMNS;
    tile->y           = number / n_across % n_down * FBY_TILE_ROWS;
    tile->image       = number / n_across / n_down;
    tile->mirror      = fby_mirror_bits(s, arena, tile->image);
    tile->width       = fby_min(s->width - tile->x, FBY_TILE_COLUMNS);
    tile->height      = fby_min(s->lines - tile->y, FBY_TILE_ROWS);
    FBY_NO_UNROLL
    for (uint32_t p = 0; p < 3; p++) {
        bool half = s->yuv420 != 0 && p > 0;
        tile->plane[p].width =
            half ? fby_yuv_chroma_dim(tile->width) : tile->width;
        tile->plane[p].height =
            half ? fby_yuv_chroma_dim(tile->height) : tile->height;
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
FBY_BLOCK_INLINE uint64_t fby_tile_load_64(
    const struct fby_tile *tile, const uint32_t *packed, uint32_t offset)
{
    uint32_t begin = fby_min(offset, tile->packed_bytes);
    uint32_t word  = begin / 4;
    uint32_t shift = begin % 4 * 8;
    uint64_t low   = packed[word] | (uint64_t)packed[word + 1] << 32;
    uint64_t high  = packed[word + 2];
    return shift == 0 ? low : low >> shift | high << (64 - shift);
}

/* ---- sums of widths ------------------------------------------------------ */

/* The sum of sixteen widths of four bits. The highest byte of the product is
 * the sum of all eight bytes, each of which is the sum of a pair of widths. */
FBY_BLOCK_INLINE uint32_t fby_nibble_sum(uint64_t widths)
{
    uint64_t pairs = (widths & UINT64_C(0x0f0f0f0f0f0f0f0f)) +
                     (widths >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    return (uint32_t)(pairs * UINT64_C(0x0101010101010101) >> 56);
}

/* Keep the lowest `n` of sixteen widths. */
FBY_BLOCK_INLINE uint64_t fby_lowest_nibbles(uint64_t widths, uint32_t n)
{
    return n >= 16 ? widths : widths & ((UINT64_C(1) << (4 * n)) - 1);
}

/* The widths of groups 16 i to 16 i + 15 of a plane. Missing ones are 0. */
FBY_BLOCK_INLINE uint64_t fby_tile_16_widths(const struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t i)
{
    uint32_t groups = fby_tile_groups(tile, plane);
    uint32_t first  = FBY_GROUPS_PER_SUM * i;
    uint64_t widths =
        fby_tile_load_64(tile, packed, tile->plane_offset[plane] + 8 * i);
    return fby_lowest_nibbles(widths, groups > first ? groups - first : 0);
}

FBY_BLOCK_INLINE void fby_tile_sum_widths(struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t thread)
{
    if (thread < FBY_TILE_SUMS) {
        tile->sums[thread] =
            fby_nibble_sum(fby_tile_16_widths(tile, packed, plane, thread));
    }
}

/* The sum of the first `n` of tile->sums. */
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

/* Add each byte of `a` to the same byte of `b`, modulo 256. XOR adds the high
 * bits, so that no carry reaches the next byte. */
FBY_BLOCK_INLINE uint32_t fby_add_4(uint32_t a, uint32_t b)
{
    return ((a & 0x7f7f7f7fU) + (b & 0x7f7f7f7fU)) ^ ((a ^ b) & 0x80808080U);
}

FBY_BLOCK_INLINE uint64_t fby_add_8(uint64_t a, uint64_t b)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ((a & low) + (b & low)) ^ ((a ^ b) & ~low);
}

/* Replace each byte 0, 1, 2, 3, ... by 0, -1, 1, -2, ... Each byte is halved,
 * and XOR inverts those that were odd. */
FBY_BLOCK_INLINE uint64_t fby_zigzag_decode_8(uint64_t zigzag)
{
    uint64_t odd = zigzag & UINT64_C(0x0101010101010101);
    return (zigzag >> 1 & UINT64_C(0x7f7f7f7f7f7f7f7f)) ^ odd * 0xff;
}

/* Unpack eight numbers of `bits` bits to eight bytes. */
FBY_BLOCK_INLINE uint64_t fby_unpack_8(uint64_t packed, uint32_t bits)
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

/* Replace each byte by the sum of itself and all lower bytes, modulo 256. */
FBY_BLOCK_INLINE uint64_t fby_prefix_sum_8(uint64_t bytes)
{
    bytes = fby_add_8(bytes, bytes << 8);
    bytes = fby_add_8(bytes, bytes << 16);
    return fby_add_8(bytes, bytes << 32);
}

/* The address of row `y` of an unpacked plane. */
FBY_BLOCK_INLINE uint8_t *fby_tile_row(
    uint8_t *unpacked, uint32_t plane, uint32_t y)
{
    uint32_t row = plane * FBY_TILE_ROWS + y;
    return unpacked + (size_t)row * FBY_TILE_STRIDE;
}

/* Unpack a run and write its prefix sums to `row` from column `x` on. */
FBY_BLOCK_INLINE void fby_tile_write_run(
    uint64_t packed, uint32_t bits, uint8_t *row, uint32_t x)
{
    uint64_t run =
        fby_prefix_sum_8(fby_zigzag_decode_8(fby_unpack_8(packed, bits)));
    *(uint64_t *)(void *)(row + x) = run;
}

/* Unpack group `g`. A group of bit width w takes 2 w bytes, which are two runs.
 * The groups follow the widths of the plane without gaps. */
FBY_BLOCK_INLINE void fby_tile_unpack_group(const struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t g, uint8_t *unpacked)
{
    uint32_t i           = g / FBY_GROUPS_PER_SUM;
    uint64_t widths      = fby_tile_16_widths(tile, packed, plane, i);
    uint32_t index_in_16 = g % FBY_GROUPS_PER_SUM;
    uint32_t bits = fby_min((uint32_t)(widths >> (4 * index_in_16)) & 15, 8);
    uint32_t widths_before =
        fby_tile_sums_before(tile, i) +
        fby_nibble_sum(fby_lowest_nibbles(widths, index_in_16));
    uint32_t offset = tile->plane_offset[plane] +
                      fby_tile_bit_width_bytes(tile, plane) + 2 * widths_before;
    uint32_t y = g / fby_tile_groups_per_row(tile, plane) * 2;
    uint32_t x = g % fby_tile_groups_per_row(tile, plane) * 8;
    fby_tile_write_run(fby_tile_load_64(tile, packed, offset), bits,
        fby_tile_row(unpacked, plane, y), x);
    fby_tile_write_run(fby_tile_load_64(tile, packed, offset + bits), bits,
        fby_tile_row(unpacked, plane, y + 1), x);
}

FBY_BLOCK_INLINE void fby_tile_unpack(struct fby_tile *tile,
    const uint32_t *packed, uint32_t plane, uint32_t thread, uint8_t *unpacked)
{
    uint32_t groups = fby_tile_groups(tile, plane);
    FBY_NO_UNROLL
    for (uint32_t g = thread; g < groups; g += FBY_BLOCK_THREADS) {
        fby_tile_unpack_group(tile, packed, plane, g, unpacked);
    }
    if (thread == 0) {
        tile->plane_offset[plane + 1] =
            tile->plane_offset[plane] + fby_tile_bit_width_bytes(tile, plane) +
            2 * fby_tile_sums_before(tile, FBY_TILE_SUMS);
    }
}

/* ---- sums along rows and columns ----------------------------------------- */

/* Thread t handles row t % rows of plane t / rows: it adds the last sum of each
 * run to the next run. The first plane has the most rows. */
FBY_BLOCK_INLINE void fby_tile_sum_rows(const struct fby_tile *tile,
    uint32_t planes, uint32_t thread, uint8_t *unpacked)
{
    uint32_t rows  = fby_tile_padded_height(tile, 0);
    uint32_t plane = thread / rows;
    if (plane >= planes ||
        thread % rows >= fby_tile_padded_height(tile, plane)) {
        return;
    }
    uint8_t *row   = fby_tile_row(unpacked, plane, thread % rows);
    uint64_t carry = 0;
    for (uint32_t i = 0; i < fby_tile_groups_per_row(tile, plane); i++) {
        uint64_t *run = (uint64_t *)(void *)(row + (size_t)8 * i);
        uint64_t  sum = fby_add_8(*run, carry * UINT64_C(0x0101010101010101));
        *run          = sum;
        carry         = sum >> 56;
    }
}

/* Thread t handles one word (four columns) of plane t / words: word t % words
 * of each row becomes the sum of that word in this row and all rows above. */
FBY_BLOCK_INLINE void fby_tile_sum_columns(const struct fby_tile *tile,
    uint32_t planes, uint32_t thread, uint8_t *unpacked)
{
    uint32_t words = 2 * fby_tile_groups_per_row(tile, 0);
    uint32_t plane = thread / words;
    if (plane >= planes ||
        thread % words >= 2 * fby_tile_groups_per_row(tile, plane)) {
        return;
    }
    uint8_t *top = fby_tile_row(unpacked, plane, 0);
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

FBY_BLOCK_INLINE void fby_tile_store(const struct fby_segment *s,
    const struct fby_tile *tile, uint32_t thread, uint8_t *unpacked,
    uint8_t *out)
{
    uint32_t row_quads = (tile->width + 3) / 4;
    uint8_t *image     = out + s->out + tile->image * s->image_bytes;
    FBY_NO_UNROLL
    for (uint32_t i = thread; i < row_quads * tile->height;
         i += FBY_BLOCK_THREADS) {
        uint32_t        y    = i / row_quads;
        uint32_t        x    = i % row_quads * 4;
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

#endif
