/* Tiles, one after another: where they lie, their table, their edges. What is
 * done to the pixels of a tile is a kernel's business. */
#include "common/codec/photo.h"

#include <string.h>

#include "common/bytes.h"
#include "common/codec/photo_kernel.h"

enum { ENTRY = 4 };

/* ---- where tiles lie ----------------------------------------------------- */

struct grid {
    uint32_t across, down; /* tiles of one image */
    size_t   n;            /* tiles of all images */
};

static struct grid grid_of(const struct fby_pictures *photo)
{
    struct grid grid = {
        .across = (photo->width + FBY_PHOTO_TILE_W - 1) / FBY_PHOTO_TILE_W,
        .down   = (photo->height + FBY_PHOTO_TILE_H - 1) / FBY_PHOTO_TILE_H,
    };
    grid.n = (size_t)photo->images * grid.across * grid.down;
    return grid;
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

/* The size of tile `i`; *offset says where its first pixel lies. */
static struct photo_size tile_at(const struct fby_pictures *photo,
    const struct grid *grid, size_t i, size_t *offset)
{
    uint32_t x     = (uint32_t)(i % grid->across) * FBY_PHOTO_TILE_W;
    size_t   line  = i / grid->across;
    uint32_t y     = (uint32_t)(line % grid->down) * FBY_PHOTO_TILE_H;
    size_t   image = line / grid->down;
    *offset = ((image * photo->height + y) * photo->width + x) * photo->planes;
    return (struct photo_size){
        .width  = at_most(photo->width - x, FBY_PHOTO_TILE_W),
        .height = at_most(photo->height - y, FBY_PHOTO_TILE_H),
        .planes = photo->planes,
    };
}

static size_t aligned(size_t size)
{
    return (size + FBY_PHOTO_ALIGN - 1) / FBY_PHOTO_ALIGN * FBY_PHOTO_ALIGN;
}

static size_t table_bytes(const struct grid *grid)
{
    return aligned(ENTRY * (grid->n + 1));
}

static size_t tile_bound(uint32_t width, uint32_t height, uint32_t planes)
{
    if (width == 0 || height == 0) {
        return 0;
    }
    uint32_t groups = photo_groups((struct photo_size){width, height, planes});
    return aligned(planes * (photo_widths_bytes(groups) +
                                PHOTO_GROUP_MAX * (size_t)groups));
}

static size_t image_bound(const struct fby_pictures *photo)
{
    uint32_t w    = photo->width % FBY_PHOTO_TILE_W;
    uint32_t h    = photo->height % FBY_PHOTO_TILE_H;
    uint32_t n    = photo->planes;
    size_t   wide = photo->width / FBY_PHOTO_TILE_W; /* whole tiles */
    size_t   high = photo->height / FBY_PHOTO_TILE_H;
    return high * wide * tile_bound(FBY_PHOTO_TILE_W, FBY_PHOTO_TILE_H, n) +
           high * tile_bound(w, FBY_PHOTO_TILE_H, n) +
           wide * tile_bound(FBY_PHOTO_TILE_W, h, n) + tile_bound(w, h, n);
}

size_t fby_photo_bound(const struct fby_pictures *photo)
{
    struct grid grid = grid_of(photo);
    return table_bytes(&grid) + photo->images * image_bound(photo) +
           PHOTO_OVERRUN;
}

/* ---- a thread's memory --------------------------------------------------- */

struct scratch {
    struct photo_plane plane[3];
    /* A copy of the payload's end, which kernels may read beyond. */
    uint8_t
        tail[3 * (PHOTO_MAX_GROUPS / 2 + PHOTO_MAX_GROUPS * PHOTO_GROUP_MAX) +
             PHOTO_OVERRUN];
};
_Static_assert(sizeof(struct scratch) <= FBY_PHOTO_SCRATCH_BYTES,
    "the scratch memory that callers bring is large enough");

/* Kernels never write to the borders, so this is done once a call. */
static struct scratch *clear_borders(void *memory)
{
    struct scratch *scratch = memory;
    for (uint32_t p = 0; p < 3; p++) {
        struct photo_plane *plane = &scratch->plane[p];
        memset(plane->at[0], 0, PHOTO_STRIDE);
        for (uint32_t y = 0; y < FBY_PHOTO_TILE_H; y++) {
            photo_row(plane, y)[-1] = 0;
        }
    }
    return scratch;
}

/* Row y of each plane. */
struct rows {
    uint8_t *of[3];
};

static struct rows rows_at(struct scratch *scratch, uint32_t y)
{
    return (struct rows){{photo_row(&scratch->plane[0], y),
        photo_row(&scratch->plane[1], y), photo_row(&scratch->plane[2], y)}};
}

/* ---- encoding ------------------------------------------------------------ */

/* Pad so that what is added predicts itself: its residues are 0. */
static void pad(struct photo_size size, struct photo_plane *plane)
{
    uint32_t w   = size.width;
    uint32_t end = (w + 31) / 32 * 32;
    for (uint32_t y = 0; y < size.height && w < end; y++) {
        uint8_t *row = photo_row(plane, y);
        memset(row + w, row[w - 1], end - w);
    }
    if (size.height % 2 != 0) {
        memcpy(photo_row(plane, size.height), photo_row(plane, size.height - 1),
            end);
    }
}

static void load(const struct photo_kernel *kernel, struct photo_size size,
    const uint8_t *pixels, size_t stride, struct scratch *scratch)
{
    for (uint32_t y = 0; y < size.height; y++) {
        struct rows rows = rows_at(scratch, y);
        if (size.planes == 1) {
            memcpy(rows.of[0], pixels, size.width);
        } else {
            kernel->split(pixels, size.width, rows.of);
        }
        pixels += stride;
    }
    for (uint32_t p = 0; p < size.planes; p++) {
        pad(size, &scratch->plane[p]);
    }
}

/* The tile's bytes at `out`, padded; returns how many. */
static size_t pack(const struct photo_kernel *kernel, struct photo_size size,
    struct scratch *scratch, uint8_t *out)
{
    size_t end = 0;
    for (uint32_t p = 0; p < size.planes; p++) {
        end += kernel->pack(size, &scratch->plane[p], out + end);
    }
    memset(out + end, 0, aligned(end) - end);
    return aligned(end);
}

size_t fby_photo_encode(const struct fby_pictures *photo, const uint8_t *raw,
    uint8_t *out, void *scratch)
{
    const struct photo_kernel *kernel = photo_kernel_of(fby_simd());
    struct scratch            *work   = clear_borders(scratch);
    struct grid                grid   = grid_of(photo);
    size_t                     stride = (size_t)photo->width * photo->planes;
    size_t                     at     = table_bytes(&grid);
    memset(out, 0, at);
    for (size_t i = 0; i < grid.n; i++) {
        size_t            offset;
        struct photo_size size = tile_at(photo, &grid, i, &offset);
        fby_store_le(out + ENTRY * i, at / FBY_PHOTO_ALIGN, ENTRY);
        load(kernel, size, raw + offset, stride, work);
        at += pack(kernel, size, work, out + at);
    }
    fby_store_le(out + ENTRY * grid.n, at / FBY_PHOTO_ALIGN, ENTRY);
    return at;
}

/* ---- decoding ------------------------------------------------------------ */

/* Where tile `i` begins, as the table says. */
static size_t entry(const uint8_t *payload, size_t i)
{
    struct fby_reader reader = fby_reader(payload + ENTRY * i, ENTRY);
    return (size_t)fby_read_u32(&reader) * FBY_PHOTO_ALIGN;
}

/* Whether `bytes` bytes at `in` are exactly the planes of a tile. */
static bool tile_is_whole(const struct photo_kernel *kernel,
    struct photo_size size, const uint8_t *in, size_t bytes)
{
    uint32_t groups = photo_groups(size);
    size_t   at     = 0;
    for (uint32_t p = 0; p < size.planes; p++) {
        if (bytes - at < photo_widths_bytes(groups)) {
            return false;
        }
        size_t plane = kernel->measure(in + at, groups);
        if (plane > bytes - at) {
            return false;
        }
        at += plane;
    }
    return aligned(at) == bytes;
}

static bool is_whole(const struct fby_pictures *photo, const struct grid *grid,
    const struct photo_kernel *kernel, struct fby_reader payload)
{
    const uint8_t *bytes = payload.at;
    size_t         at    = table_bytes(grid);
    if (payload.left < at || entry(bytes, 0) != at ||
        entry(bytes, grid->n) != payload.left) {
        return false;
    }
    for (size_t i = 0; i < grid->n; i++) {
        size_t            offset;
        struct photo_size size = tile_at(photo, grid, i, &offset);
        size_t            end  = entry(bytes, i + 1);
        if (end < at || end > payload.left ||
            !tile_is_whole(kernel, size, bytes + at, end - at)) {
            return false;
        }
        at = end;
    }
    return true;
}

static void unpack(const struct photo_kernel *kernel, struct photo_size size,
    const uint8_t *in, struct scratch *scratch)
{
    for (uint32_t p = 0; p < size.planes; p++) {
        in += kernel->unpack(size, in, &scratch->plane[p]);
    }
}

struct tile { /* being decoded */
    const struct photo_kernel *kernel;
    struct photo_size          size;
    size_t                     offset; /* of its first pixel, interleaved */
};

static void store_pixels(const struct photo_kernel *kernel,
    struct photo_size size, struct scratch *scratch, uint8_t *pixels,
    size_t stride)
{
    for (uint32_t y = 0; y < size.height; y++) {
        struct rows rows = rows_at(scratch, y);
        if (size.planes == 1) {
            memcpy(pixels, rows.of[0], size.width);
        } else {
            kernel->join(rows.of, size.width, pixels);
        }
        pixels += stride;
    }
}

static void store(const struct fby_pictures *photo, bool planar,
    const struct tile *tile, struct scratch *scratch, uint8_t *raw)
{
    size_t plane = (size_t)photo->width * photo->height;
    if (!planar || photo->planes == 1) {
        store_pixels(tile->kernel, tile->size, scratch, raw + tile->offset,
            (size_t)photo->width * photo->planes);
        return;
    }
    size_t   pixel = tile->offset / photo->planes;
    size_t   image = pixel / plane;
    uint8_t *to    = raw + pixel + image * (photo->planes - 1) * plane;
    for (uint32_t y = 0; y < tile->size.height; y++) {
        struct rows rows = rows_at(scratch, y);
        tile->kernel->part(rows.of, tile->size.width, to, plane);
        to += photo->width;
    }
}

/* Tile `i` where kernels may read beyond its end. */
static const uint8_t *tile_bytes(
    const uint8_t *payload, size_t size, size_t i, struct scratch *scratch)
{
    size_t at  = entry(payload, i);
    size_t end = entry(payload, i + 1);
    if (size - end >= PHOTO_OVERRUN) {
        return payload + at;
    }
    memcpy(scratch->tail, payload + at, end - at);
    return scratch->tail;
}

static bool decode(const struct fby_pictures *photo, bool planar,
    struct fby_reader payload, uint8_t *raw, void *scratch)
{
    struct grid grid = grid_of(photo);
    struct tile tile = {.kernel = photo_kernel_of(fby_simd())};
    if (!is_whole(photo, &grid, tile.kernel, payload)) {
        return false;
    }
    struct scratch *work = clear_borders(scratch);
    for (size_t i = 0; i < grid.n; i++) {
        tile.size = tile_at(photo, &grid, i, &tile.offset);
        unpack(tile.kernel, tile.size,
            tile_bytes(payload.at, payload.left, i, work), work);
        store(photo, planar, &tile, work, raw);
    }
    tile.kernel->settle();
    return true;
}

bool fby_photo_check(
    const struct fby_pictures *photo, const uint8_t *payload, size_t size)
{
    struct grid grid = grid_of(photo);
    return is_whole(
        photo, &grid, photo_kernel_of(fby_simd()), fby_reader(payload, size));
}

bool fby_photo_decode(const struct fby_pictures *photo, const uint8_t *payload,
    size_t size, uint8_t *raw, void *scratch)
{
    return decode(photo, false, fby_reader(payload, size), raw, scratch);
}

bool fby_photo_decode_planar(const struct fby_pictures *photo,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch)
{
    return decode(photo, true, fby_reader(payload, size), raw, scratch);
}
