/* SPDX-License-Identifier: Apache-2.0 */
/* Encode and decode pictures in photo format 1: cut them into tiles, and write
 * or check the table of tiles. A payload is the table, then the tiles. The
 * table has the offset of each tile and the end of the last tile: one u32 each,
 * in units of FBY_PHOTO_ALIGN bytes. A kernel (photo_kernel.h), the code for
 * one vector instruction set, packs and unpacks the planes of a tile. */
#include "codec/photo.h"

#include <string.h>

#include "codec/photo_kernel.h"
#include "common/bytes.h"
#include "common/yuv420.h"

enum {
    ENTRY_BYTES = 4, /* size of an entry of the table */
    ROW_ALIGN   = 32 /* rows are padded to a multiple of this many values */
};

/* ---- positions of tiles -------------------------------------------------- */

struct grid {              /* how pictures are cut into tiles */
    uint32_t across, down; /* tiles of one picture, in each direction */
    size_t   n_tiles;      /* sum over all pictures */
};

static struct grid grid_of(const struct fby_pictures *pictures)
{
    struct grid grid = {
        .across = (pictures->width + FBY_PHOTO_TILE_W - 1) / FBY_PHOTO_TILE_W,
        .down   = (pictures->height + FBY_PHOTO_TILE_H - 1) / FBY_PHOTO_TILE_H,
    };
    grid.n_tiles = (size_t)pictures->images * grid.across * grid.down;
    return grid;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

struct tile {
    uint32_t picture;       /* index of the picture */
    uint32_t x, y;          /* position of the first pixel in the picture */
    uint32_t width, height; /* pixels */
};

/* Tile `i` of all pictures, in the order of the table. */
static struct tile tile_at(
    const struct fby_pictures *pictures, const struct grid *grid, size_t i)
{
    size_t   tile_row = i / grid->across; /* counted over all pictures */
    uint32_t x        = (uint32_t)(i % grid->across) * FBY_PHOTO_TILE_W;
    uint32_t y        = (uint32_t)(tile_row % grid->down) * FBY_PHOTO_TILE_H;
    return (struct tile){
        .picture = (uint32_t)(tile_row / grid->down),
        .x       = x,
        .y       = y,
        .width   = min_u32(pictures->width - x, FBY_PHOTO_TILE_W),
        .height  = min_u32(pictures->height - y, FBY_PHOTO_TILE_H),
    };
}

/* The size of plane `p` of a tile. */
static struct photo_size plane_size(
    const struct fby_pictures *pictures, const struct tile *tile, uint32_t p)
{
    bool is_chroma = pictures->yuv420 && p > 0;
    return (struct photo_size){
        .width  = is_chroma ? fby_yuv_chroma_dim(tile->width) : tile->width,
        .height = is_chroma ? fby_yuv_chroma_dim(tile->height) : tile->height,
    };
}

/* The offset of a tile's first pixel in raw bytes of interleaved pixels. */
static size_t pixel_offset(
    const struct fby_pictures *pictures, const struct tile *tile)
{
    size_t line = (size_t)tile->picture * pictures->height + tile->y;
    return (line * pictures->width + tile->x) * pictures->planes;
}

/* The rows of one plane of a tile, in raw bytes of yuv420. */
struct yuv_rows {
    size_t offset; /* bytes before the plane's first value in the tile */
    size_t stride; /* bytes from a row to the next */
};

_Static_assert((int)FBY_YUV_LINES == (int)FBY_PHOTO_TILE_H,
    "a tile is within one strip of yuv420");

static struct yuv_rows yuv_rows_of(
    const struct fby_pictures *pictures, const struct tile *tile, uint32_t p)
{
    struct fby_yuv_strip strip =
        fby_yuv_strip_at(pictures->width, pictures->height, tile->y);
    uint64_t start =
        fby_yuv_bytes(pictures->width, pictures->height) * tile->picture;
    uint32_t width = pictures->width;
    return (struct yuv_rows){
        .offset =
            (size_t)(start + strip.at[p] + (p > 0 ? tile->x / 2 : tile->x)),
        .stride = p > 0 ? fby_yuv_chroma_dim(width) : width,
    };
}

/* The size of a tile or of the table with its padding. */
static size_t padded_size(size_t size)
{
    return (size + FBY_PHOTO_ALIGN - 1) / FBY_PHOTO_ALIGN * FBY_PHOTO_ALIGN;
}

static size_t table_bytes(const struct grid *grid)
{
    return padded_size(ENTRY_BYTES * (grid->n_tiles + 1));
}

/* The most packed bytes of a plane. */
static size_t plane_bound(struct photo_size size)
{
    uint32_t groups = photo_groups(size);
    return photo_bit_widths_bytes(groups) + PHOTO_GROUP_MAX * (size_t)groups;
}

/* The most packed bytes of a tile; 0 if it has no pixels. */
static size_t tile_bound(
    const struct fby_pictures *pictures, uint32_t width, uint32_t height)
{
    struct tile tile       = {.width = width, .height = height};
    bool        has_pixels = width > 0 && height > 0;
    size_t      bytes      = 0;
    for (uint32_t p = 0; has_pixels && p < pictures->planes; p++) {
        bytes += plane_bound(plane_size(pictures, &tile, p));
    }
    return padded_size(bytes);
}

/* The most packed bytes of a picture, without the table. */
static size_t picture_bound(const struct fby_pictures *pictures)
{
    /* The size of the partial tiles at the right and lower edge; 0: none. */
    uint32_t w = pictures->width % FBY_PHOTO_TILE_W;
    uint32_t h = pictures->height % FBY_PHOTO_TILE_H;
    /* The number of whole tiles in each direction. */
    size_t across = pictures->width / FBY_PHOTO_TILE_W;
    size_t down   = pictures->height / FBY_PHOTO_TILE_H;
    return down * across *
               tile_bound(pictures, FBY_PHOTO_TILE_W, FBY_PHOTO_TILE_H) +
           down * tile_bound(pictures, w, FBY_PHOTO_TILE_H) +
           across * tile_bound(pictures, FBY_PHOTO_TILE_W, h) +
           tile_bound(pictures, w, h);
}

size_t fby_photo_encode_capacity(const struct fby_pictures *pictures)
{
    struct grid grid = grid_of(pictures);
    return table_bytes(&grid) + pictures->images * picture_bound(pictures) +
           PHOTO_OVERRUN;
}

/* ---- working memory of a thread ------------------------------------------ */

struct scratch {
    struct photo_plane plane[3];
    /* A copy of a tile near the end of a payload, because kernels read beyond
     * the end of a tile. Each of its three planes has bit widths (half a byte
     * for each group) and groups. */
    uint8_t last_tile[3 * (PHOTO_MAX_GROUPS / 2 +
                              PHOTO_MAX_GROUPS * PHOTO_GROUP_MAX) +
                      PHOTO_OVERRUN];
};
_Static_assert(sizeof(struct scratch) <= FBY_PHOTO_SCRATCH_BYTES,
    "the scratch memory of callers is large enough");

/* Clear the borders of the planes in `memory`. Kernels never write to the
 * borders, so one call is enough for all tiles of a payload. */
static struct scratch *init_scratch(void *memory)
{
    struct scratch *scratch = memory;
    for (uint32_t p = 0; p < 3; p++) {
        struct photo_plane *plane = &scratch->plane[p];
        memset(plane->bytes[0], 0, PHOTO_STRIDE);
        for (uint32_t y = 0; y < FBY_PHOTO_TILE_H; y++) {
            photo_row(plane, y)[-1] = 0;
        }
    }
    return scratch;
}

struct plane_rows { /* one row of each plane */
    uint8_t *row[3];
};

static struct plane_rows rows_at(struct scratch *scratch, uint32_t y)
{
    return (struct plane_rows){{photo_row(&scratch->plane[0], y),
        photo_row(&scratch->plane[1], y), photo_row(&scratch->plane[2], y)}};
}

/* ---- encoding ------------------------------------------------------------ */

/* Pad each row to a multiple of ROW_ALIGN values with its last value, and an
 * odd number of rows with a copy of the last one. All padding has residue 0. */
static void pad_plane(struct photo_size size, struct photo_plane *plane)
{
    uint32_t w   = size.width;
    uint32_t end = (w + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    /* Most tiles have w == end. They skip the loop, which is slow. */
    for (uint32_t y = 0; y < size.height && w < end; y++) {
        uint8_t *row = photo_row(plane, y);
        memset(row + w, row[w - 1], end - w);
    }
    if (size.height % 2 != 0) {
        memcpy(photo_row(plane, size.height), photo_row(plane, size.height - 1),
            end);
    }
}

static void load_pixels(const struct photo_kernel *kernel,
    const struct fby_pictures *pictures, const struct tile *tile,
    const uint8_t *raw, struct scratch *scratch)
{
    const uint8_t *pixels = raw + pixel_offset(pictures, tile);
    for (uint32_t y = 0; y < tile->height; y++) {
        struct plane_rows rows = rows_at(scratch, y);
        if (pictures->planes == 1) {
            memcpy(rows.row[0], pixels, tile->width);
        } else {
            kernel->split(pixels, tile->width, rows.row);
        }
        pixels += (size_t)pictures->width * pictures->planes;
    }
}

static void load_yuv(const struct fby_pictures *pictures,
    const struct tile *tile, const uint8_t *raw, struct scratch *scratch)
{
    for (uint32_t p = 0; p < pictures->planes; p++) {
        struct photo_size size = plane_size(pictures, tile, p);
        struct yuv_rows   rows = yuv_rows_of(pictures, tile, p);
        for (uint32_t y = 0; y < size.height; y++) {
            memcpy(photo_row(&scratch->plane[p], y),
                raw + rows.offset + y * rows.stride, size.width);
        }
    }
}

/* Load a tile into the planes of `scratch`, padded. */
static void load_tile(const struct photo_kernel *kernel,
    const struct fby_pictures *pictures, const struct tile *tile,
    const uint8_t *raw, struct scratch *scratch)
{
    if (pictures->yuv420) {
        load_yuv(pictures, tile, raw, scratch);
    } else {
        load_pixels(kernel, pictures, tile, raw, scratch);
    }
    for (uint32_t p = 0; p < pictures->planes; p++) {
        pad_plane(plane_size(pictures, tile, p), &scratch->plane[p]);
    }
}

/* Pack a loaded tile to `out`, followed by zeros up to a multiple of
 * FBY_PHOTO_ALIGN bytes. Returns the size of the tile with these zeros. */
static size_t pack_tile(const struct photo_kernel *kernel,
    const struct fby_pictures *pictures, const struct tile *tile,
    struct scratch *scratch, uint8_t *out)
{
    size_t end = 0;
    for (uint32_t p = 0; p < pictures->planes; p++) {
        end += kernel->pack(
            plane_size(pictures, tile, p), &scratch->plane[p], out + end);
    }
    memset(out + end, 0, padded_size(end) - end);
    return padded_size(end);
}

size_t fby_photo_encode(const struct fby_pictures *pictures, const uint8_t *raw,
    uint8_t *out, void *scratch)
{
    const struct photo_kernel *kernel = photo_kernel_of(fby_simd_level());
    struct scratch            *work   = init_scratch(scratch);
    struct grid                grid   = grid_of(pictures);
    size_t                     end    = table_bytes(&grid);
    memset(out, 0, end);
    for (size_t i = 0; i < grid.n_tiles; i++) {
        struct tile tile = tile_at(pictures, &grid, i);
        fby_store_le(out + ENTRY_BYTES * i, end / FBY_PHOTO_ALIGN, ENTRY_BYTES);
        load_tile(kernel, pictures, &tile, raw, work);
        end += pack_tile(kernel, pictures, &tile, work, out + end);
    }
    fby_store_le(
        out + ENTRY_BYTES * grid.n_tiles, end / FBY_PHOTO_ALIGN, ENTRY_BYTES);
    return end;
}

/* ---- decoding ------------------------------------------------------------ */

/* The offset of tile `i`, from the table; for n_tiles, the payload's end. */
static size_t tile_offset(const uint8_t *payload, size_t i)
{
    uint64_t entry = fby_load_le(payload + ENTRY_BYTES * i, ENTRY_BYTES);
    return (size_t)entry * FBY_PHOTO_ALIGN;
}

/* True if `in` holds exactly the packed planes of a tile and less than
 * FBY_PHOTO_ALIGN bytes of padding. A bit width above 8 gives a size of
 * SIZE_MAX, which is more than is left. */
static bool is_tile_valid(const struct photo_kernel *kernel,
    const struct fby_pictures *pictures, const struct tile *tile,
    struct fby_reader in)
{
    for (uint32_t p = 0; p < pictures->planes; p++) {
        uint32_t groups = photo_groups(plane_size(pictures, tile, p));
        if (in.left < photo_bit_widths_bytes(groups)) {
            return false;
        }
        size_t bytes = kernel->measure(in.at, groups);
        if (bytes > in.left) {
            return false;
        }
        in = fby_reader(in.at + bytes, in.left - bytes);
    }
    return in.left < FBY_PHOTO_ALIGN;
}

/* True if the tiles follow the table without gaps, each with a valid size. */
static bool is_payload_valid(const struct fby_pictures *pictures,
    const struct grid *grid, const struct photo_kernel *kernel,
    struct fby_reader payload)
{
    const uint8_t *bytes = payload.at;
    size_t         start = table_bytes(grid);
    if (payload.left < start || tile_offset(bytes, 0) != start ||
        tile_offset(bytes, grid->n_tiles) != payload.left) {
        return false;
    }
    for (size_t i = 0; i < grid->n_tiles; i++) {
        struct tile tile = tile_at(pictures, grid, i);
        size_t      end  = tile_offset(bytes, i + 1);
        if (end < start || end > payload.left ||
            !is_tile_valid(kernel, pictures, &tile,
                fby_reader(bytes + start, end - start))) {
            return false;
        }
        start = end;
    }
    return true;
}

static void unpack_tile(const struct photo_kernel *kernel,
    const struct fby_pictures *pictures, const struct tile *tile,
    const uint8_t *in, struct scratch *scratch)
{
    for (uint32_t p = 0; p < pictures->planes; p++) {
        in += kernel->unpack(
            plane_size(pictures, tile, p), in, &scratch->plane[p]);
    }
}

enum output { /* how pixels are written */
    INTERLEAVED,
    STREAMED, /* interleaved, with streaming stores where possible */
    PLANAR    /* see fby_photo_decode_planar */
};

struct decode_target {
    const struct photo_kernel *kernel;
    uint8_t                   *raw;
    enum output                output;
};

/* True if all rows of a tile at `pixels` can be streamed. */
static bool can_stream(const struct fby_pictures *pictures,
    const struct tile *tile, const uint8_t *pixels)
{
    size_t stride = (size_t)pictures->width * pictures->planes;
    return ((uintptr_t)pixels | stride | tile->width) % PHOTO_STREAM_ALIGN == 0;
}

static void store_pixels(const struct decode_target *target,
    const struct fby_pictures *pictures, const struct tile *tile,
    struct scratch *scratch)
{
    uint8_t *pixels = target->raw + pixel_offset(pictures, tile);
    bool     streaming =
        target->output == STREAMED && can_stream(pictures, tile, pixels);
    for (uint32_t y = 0; y < tile->height; y++) {
        struct plane_rows rows = rows_at(scratch, y);
        if (pictures->planes == 1) {
            memcpy(pixels, rows.row[0], tile->width);
        } else if (streaming) {
            target->kernel->join_streaming(rows.row, tile->width, pixels);
        } else {
            target->kernel->join(rows.row, tile->width, pixels);
        }
        pixels += (size_t)pictures->width * pictures->planes;
    }
}

static void store_planar(const struct decode_target *target,
    const struct fby_pictures *pictures, const struct tile *tile,
    struct scratch *scratch)
{
    size_t   plane_bytes   = (size_t)pictures->width * pictures->height;
    size_t   planes_before = (size_t)tile->picture * pictures->planes;
    size_t   pixels_before = (size_t)tile->y * pictures->width + tile->x;
    uint8_t *red = target->raw + planes_before * plane_bytes + pixels_before;
    for (uint32_t y = 0; y < tile->height; y++) {
        struct plane_rows rows = rows_at(scratch, y);
        target->kernel->join_planar(rows.row, tile->width, red, plane_bytes);
        red += pictures->width;
    }
}

static void store_yuv(const struct decode_target *target,
    const struct fby_pictures *pictures, const struct tile *tile,
    struct scratch *scratch)
{
    for (uint32_t p = 0; p < pictures->planes; p++) {
        struct photo_size size = plane_size(pictures, tile, p);
        struct yuv_rows   rows = yuv_rows_of(pictures, tile, p);
        for (uint32_t y = 0; y < size.height; y++) {
            memcpy(target->raw + rows.offset + y * rows.stride,
                photo_row(&scratch->plane[p], y), size.width);
        }
    }
}

/* Write a tile from the planes of `scratch` to the raw bytes. */
static void store_tile(const struct decode_target *target,
    const struct fby_pictures *pictures, const struct tile *tile,
    struct scratch *scratch)
{
    if (pictures->yuv420) {
        store_yuv(target, pictures, tile, scratch);
    } else if (target->output == PLANAR && pictures->planes == 3) {
        store_planar(target, pictures, tile, scratch);
    } else {
        store_pixels(target, pictures, tile, scratch);
    }
}

/* Returns the packed bytes of tile `i`. PHOTO_OVERRUN bytes after them can also
 * be read. Near the payload's end, the result is a copy in `scratch`. */
static const uint8_t *overrun_safe_tile(
    const uint8_t *payload, size_t size, size_t i, struct scratch *scratch)
{
    size_t start = tile_offset(payload, i);
    size_t end   = tile_offset(payload, i + 1);
    if (size - end >= PHOTO_OVERRUN) {
        return payload + start;
    }
    memcpy(scratch->last_tile, payload + start, end - start);
    return scratch->last_tile;
}

/* Decode a valid payload. */
static void decode(const struct fby_pictures *pictures, enum output output,
    /* NOLINTNEXTLINE(readability-non-const-parameter): written via `target` */
    struct fby_reader payload, uint8_t *raw, void *scratch)
{
    struct decode_target target = {.kernel = photo_kernel_of(fby_simd_level()),
        .raw                               = raw,
        .output                            = output};
    struct grid          grid   = grid_of(pictures);
    struct scratch      *work   = init_scratch(scratch);
    for (size_t i = 0; i < grid.n_tiles; i++) {
        struct tile tile = tile_at(pictures, &grid, i);
        unpack_tile(target.kernel, pictures, &tile,
            overrun_safe_tile(payload.at, payload.left, i, work), work);
        store_tile(&target, pictures, &tile, work);
    }
    target.kernel->fence();
}

bool fby_photo_is_valid(
    const struct fby_pictures *pictures, const uint8_t *payload, size_t size)
{
    struct grid grid = grid_of(pictures);
    return is_payload_valid(pictures, &grid, photo_kernel_of(fby_simd_level()),
        fby_reader(payload, size));
}

void fby_photo_decode_valid(const struct fby_pictures *pictures,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch)
{
    decode(pictures, INTERLEAVED, fby_reader(payload, size), raw, scratch);
}

void fby_photo_stream_valid(const struct fby_pictures *pictures,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch)
{
    decode(pictures, STREAMED, fby_reader(payload, size), raw, scratch);
}

bool fby_photo_decode(const struct fby_pictures *pictures,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch)
{
    if (!fby_photo_is_valid(pictures, payload, size)) {
        return false;
    }
    fby_photo_decode_valid(pictures, payload, size, raw, scratch);
    return true;
}

bool fby_photo_decode_planar(const struct fby_pictures *pictures,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch)
{
    if (!fby_photo_is_valid(pictures, payload, size)) {
        return false;
    }
    decode(pictures, PLANAR, fby_reader(payload, size), raw, scratch);
    return true;
}
