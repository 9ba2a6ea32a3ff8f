/* The tiles of a payload: their positions, table and edges. A kernel
 * (photo_kernel.h) encodes and decodes the pixels of a tile. */
#include "codec/photo.h"

#include <string.h>

#include "codec/photo_kernel.h"
#include "common/bytes.h"
#include "common/yuv420.h"

enum { ENTRY = 4 };

/* ---- positions of tiles -------------------------------------------------- */

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

/* The position of a tile. */
struct tile {
    uint32_t image;
    uint32_t x, y; /* first pixel, in the image */
    uint32_t width, height;
};

static struct tile tile_at(
    const struct fby_pictures *photo, const struct grid *grid, size_t i)
{
    size_t   line = i / grid->across;
    uint32_t x    = (uint32_t)(i % grid->across) * FBY_PHOTO_TILE_W;
    uint32_t y    = (uint32_t)(line % grid->down) * FBY_PHOTO_TILE_H;
    return (struct tile){
        .image  = (uint32_t)(line / grid->down),
        .x      = x,
        .y      = y,
        .width  = at_most(photo->width - x, FBY_PHOTO_TILE_W),
        .height = at_most(photo->height - y, FBY_PHOTO_TILE_H),
    };
}

/* The size of plane `p` of a tile. */
static struct photo_size plane_size(
    const struct fby_pictures *photo, const struct tile *tile, uint32_t p)
{
    bool half = photo->yuv420 && p > 0;
    return (struct photo_size){
        .width  = half ? fby_yuv_half(tile->width) : tile->width,
        .height = half ? fby_yuv_half(tile->height) : tile->height,
    };
}

/* The offset of a tile's interleaved pixels. */
static size_t pixels_at(
    const struct fby_pictures *photo, const struct tile *tile)
{
    size_t line = (size_t)tile->image * photo->height + tile->y;
    return (line * photo->width + tile->x) * photo->planes;
}

/* The rows of one plane of a tile in raw bytes of yuv420. */
struct plane_lines {
    size_t at;     /* offset of the first row */
    size_t stride; /* bytes */
};

_Static_assert(
    (int)FBY_YUV_LINES == (int)FBY_PHOTO_TILE_H, "a tile is in one strip");

static struct plane_lines lines_of(
    const struct fby_pictures *photo, const struct tile *tile, uint32_t p)
{
    struct fby_yuv_strip strip =
        fby_yuv_strip_at(photo->width, photo->height, tile->y);
    uint64_t image = fby_yuv_bytes(photo->width, photo->height) * tile->image;
    uint32_t w     = photo->width;
    return (struct plane_lines){
        .at = (size_t)(image + strip.at[p] + (p > 0 ? tile->x / 2 : tile->x)),
        .stride = p > 0 ? fby_yuv_half(w) : w,
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

static size_t plane_bound(struct photo_size size)
{
    uint32_t groups = photo_groups(size);
    return photo_widths_bytes(groups) + PHOTO_GROUP_MAX * (size_t)groups;
}

static size_t tile_bound(
    const struct fby_pictures *photo, uint32_t width, uint32_t height)
{
    struct tile tile  = {.width = width, .height = height};
    size_t      bytes = 0;
    for (uint32_t p = 0; p < photo->planes && width > 0 && height > 0; p++) {
        bytes += plane_bound(plane_size(photo, &tile, p));
    }
    return aligned(bytes);
}

static size_t image_bound(const struct fby_pictures *photo)
{
    uint32_t w    = photo->width % FBY_PHOTO_TILE_W;
    uint32_t h    = photo->height % FBY_PHOTO_TILE_H;
    size_t   wide = photo->width / FBY_PHOTO_TILE_W; /* whole tiles */
    size_t   high = photo->height / FBY_PHOTO_TILE_H;
    return high * wide * tile_bound(photo, FBY_PHOTO_TILE_W, FBY_PHOTO_TILE_H) +
           high * tile_bound(photo, w, FBY_PHOTO_TILE_H) +
           wide * tile_bound(photo, FBY_PHOTO_TILE_W, h) +
           tile_bound(photo, w, h);
}

size_t fby_photo_bound(const struct fby_pictures *photo)
{
    struct grid grid = grid_of(photo);
    return table_bytes(&grid) + photo->images * image_bound(photo) +
           PHOTO_OVERRUN;
}

/* ---- working memory of a thread ------------------------------------------ */

struct scratch {
    struct photo_plane plane[3];
    /* A copy of a tile at the end of a payload: kernels read beyond its end. */
    uint8_t
        tail[3 * (PHOTO_MAX_GROUPS / 2 + PHOTO_MAX_GROUPS * PHOTO_GROUP_MAX) +
             PHOTO_OVERRUN];
};
_Static_assert(sizeof(struct scratch) <= FBY_PHOTO_SCRATCH_BYTES,
    "the scratch memory that callers provide is large enough");

/* Kernels never write to the borders, so each call clears them only once. */
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

/* One row of each plane. */
struct plane_rows {
    uint8_t *of[3];
};

static struct plane_rows rows_at(struct scratch *scratch, uint32_t y)
{
    return (struct plane_rows){{photo_row(&scratch->plane[0], y),
        photo_row(&scratch->plane[1], y), photo_row(&scratch->plane[2], y)}};
}

/* ---- encoding ------------------------------------------------------------ */

/* Pad by repetition, so that all residues of the padding are 0. */
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

static void load_pixels(const struct photo_kernel *kernel,
    const struct fby_pictures *photo, const struct tile *tile,
    const uint8_t *raw, struct scratch *scratch)
{
    const uint8_t *pixels = raw + pixels_at(photo, tile);
    for (uint32_t y = 0; y < tile->height; y++) {
        struct plane_rows rows = rows_at(scratch, y);
        if (photo->planes == 1) {
            memcpy(rows.of[0], pixels, tile->width);
        } else {
            kernel->split(pixels, tile->width, rows.of);
        }
        pixels += (size_t)photo->width * photo->planes;
    }
}

static void load_planes(const struct fby_pictures *photo,
    const struct tile *tile, const uint8_t *raw, struct scratch *scratch)
{
    for (uint32_t p = 0; p < photo->planes; p++) {
        struct photo_size  size  = plane_size(photo, tile, p);
        struct plane_lines lines = lines_of(photo, tile, p);
        for (uint32_t y = 0; y < size.height; y++) {
            memcpy(photo_row(&scratch->plane[p], y),
                raw + lines.at + y * lines.stride, size.width);
        }
    }
}

static void load(const struct photo_kernel *kernel,
    const struct fby_pictures *photo, const struct tile *tile,
    const uint8_t *raw, struct scratch *scratch)
{
    if (photo->yuv420) {
        load_planes(photo, tile, raw, scratch);
    } else {
        load_pixels(kernel, photo, tile, raw, scratch);
    }
    for (uint32_t p = 0; p < photo->planes; p++) {
        pad(plane_size(photo, tile, p), &scratch->plane[p]);
    }
}

/* Pack a tile to `out` with zeros up to FBY_PHOTO_ALIGN; returns its bytes. */
static size_t pack(const struct photo_kernel *kernel,
    const struct fby_pictures *photo, const struct tile *tile,
    struct scratch *scratch, uint8_t *out)
{
    size_t end = 0;
    for (uint32_t p = 0; p < photo->planes; p++) {
        end += kernel->pack(
            plane_size(photo, tile, p), &scratch->plane[p], out + end);
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
    size_t                     at     = table_bytes(&grid);
    memset(out, 0, at);
    for (size_t i = 0; i < grid.n; i++) {
        struct tile tile = tile_at(photo, &grid, i);
        fby_store_le(out + ENTRY * i, at / FBY_PHOTO_ALIGN, ENTRY);
        load(kernel, photo, &tile, raw, work);
        at += pack(kernel, photo, &tile, work, out + at);
    }
    fby_store_le(out + ENTRY * grid.n, at / FBY_PHOTO_ALIGN, ENTRY);
    return at;
}

/* ---- decoding ------------------------------------------------------------ */

/* The offset of tile `i`, from the table. */
static size_t tile_offset(const uint8_t *payload, size_t i)
{
    struct fby_reader reader = fby_reader(payload + ENTRY * i, ENTRY);
    return (size_t)fby_read_u32(&reader) * FBY_PHOTO_ALIGN;
}

/* Whether `in` holds exactly the planes of a tile and its padding. */
static bool tile_is_valid(const struct photo_kernel *kernel,
    const struct fby_pictures *photo, const struct tile *tile,
    struct fby_reader in)
{
    for (uint32_t p = 0; p < photo->planes; p++) {
        uint32_t groups = photo_groups(plane_size(photo, tile, p));
        if (in.left < photo_widths_bytes(groups)) {
            return false;
        }
        size_t plane = kernel->measure(in.at, groups);
        if (plane > in.left) {
            return false;
        }
        in = fby_reader(in.at + plane, in.left - plane);
    }
    return in.left < FBY_PHOTO_ALIGN;
}

static bool is_valid(const struct fby_pictures *photo, const struct grid *grid,
    const struct photo_kernel *kernel, struct fby_reader payload)
{
    const uint8_t *bytes = payload.at;
    size_t         at    = table_bytes(grid);
    if (payload.left < at || tile_offset(bytes, 0) != at ||
        tile_offset(bytes, grid->n) != payload.left) {
        return false;
    }
    for (size_t i = 0; i < grid->n; i++) {
        struct tile tile = tile_at(photo, grid, i);
        size_t      end  = tile_offset(bytes, i + 1);
        if (end < at || end > payload.left ||
            !tile_is_valid(
                kernel, photo, &tile, fby_reader(bytes + at, end - at))) {
            return false;
        }
        at = end;
    }
    return true;
}

static void unpack(const struct photo_kernel *kernel,
    const struct fby_pictures *photo, const struct tile *tile,
    const uint8_t *in, struct scratch *scratch)
{
    for (uint32_t p = 0; p < photo->planes; p++) {
        in +=
            kernel->unpack(plane_size(photo, tile, p), in, &scratch->plane[p]);
    }
}

struct decode_target {
    const struct photo_kernel *kernel;
    uint8_t                   *raw;
    bool                       planar;
};

static void store_pixels(const struct decode_target *to,
    const struct fby_pictures *photo, const struct tile *tile,
    struct scratch *scratch)
{
    uint8_t *pixels = to->raw + pixels_at(photo, tile);
    for (uint32_t y = 0; y < tile->height; y++) {
        struct plane_rows rows = rows_at(scratch, y);
        if (photo->planes == 1) {
            memcpy(pixels, rows.of[0], tile->width);
        } else {
            to->kernel->join(rows.of, tile->width, pixels);
        }
        pixels += (size_t)photo->width * photo->planes;
    }
}

static void store_planar(const struct decode_target *to,
    const struct fby_pictures *photo, const struct tile *tile,
    struct scratch *scratch)
{
    size_t   plane = (size_t)photo->width * photo->height;
    uint8_t *out   = to->raw + (size_t)tile->image * photo->planes * plane +
                   (size_t)tile->y * photo->width + tile->x;
    for (uint32_t y = 0; y < tile->height; y++) {
        struct plane_rows rows = rows_at(scratch, y);
        to->kernel->join_planar(rows.of, tile->width, out, plane);
        out += photo->width;
    }
}

static void store_yuv(const struct decode_target *to,
    const struct fby_pictures *photo, const struct tile *tile,
    struct scratch *scratch)
{
    for (uint32_t p = 0; p < photo->planes; p++) {
        struct photo_size  size  = plane_size(photo, tile, p);
        struct plane_lines lines = lines_of(photo, tile, p);
        for (uint32_t y = 0; y < size.height; y++) {
            memcpy(to->raw + lines.at + y * lines.stride,
                photo_row(&scratch->plane[p], y), size.width);
        }
    }
}

static void store(const struct decode_target *to,
    const struct fby_pictures *photo, const struct tile *tile,
    struct scratch *scratch)
{
    if (photo->yuv420) {
        store_yuv(to, photo, tile, scratch);
    } else if (to->planar && photo->planes == 3) {
        store_planar(to, photo, tile, scratch);
    } else {
        store_pixels(to, photo, tile, scratch);
    }
}

/* The bytes of tile `i`; a copy when kernels would read beyond the payload. */
static const uint8_t *tile_bytes(
    const uint8_t *payload, size_t size, size_t i, struct scratch *scratch)
{
    size_t at  = tile_offset(payload, i);
    size_t end = tile_offset(payload, i + 1);
    if (size - end >= PHOTO_OVERRUN) {
        return payload + at;
    }
    memcpy(scratch->tail, payload + at, end - at);
    return scratch->tail;
}

static bool decode(const struct fby_pictures *photo, bool planar,
    struct fby_reader payload, uint8_t *raw, void *scratch)
{
    struct decode_target to   = {.kernel = photo_kernel_of(fby_simd())};
    struct grid          grid = grid_of(photo);
    to.raw                    = raw;
    to.planar                 = planar;
    if (!is_valid(photo, &grid, to.kernel, payload)) {
        return false;
    }
    struct scratch *work = clear_borders(scratch);
    for (size_t i = 0; i < grid.n; i++) {
        struct tile tile = tile_at(photo, &grid, i);
        unpack(to.kernel, photo, &tile,
            tile_bytes(payload.at, payload.left, i, work), work);
        store(&to, photo, &tile, work);
    }
    to.kernel->fence();
    return true;
}

bool fby_photo_check(
    const struct fby_pictures *photo, const uint8_t *payload, size_t size)
{
    struct grid grid = grid_of(photo);
    return is_valid(
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
