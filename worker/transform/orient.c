/* SPDX-License-Identifier: Apache-2.0 */
/* orient.c - read the EXIF orientation, and copy pixels to the upright picture.
 *
 * The stored picture is copied row by row. The eight orientations differ in
 * three properties of the upright picture: where the first stored pixel goes,
 * how far apart two neighbours of a stored row are, and how far apart two
 * neighbours of a stored column are. */
#include "worker/transform/orient.h"

#include <string.h>

enum {
    TIFF_HEADER_BYTES = 8,
    TIFF_MAGIC        = 42, /* at offset 2; the first directory's offset at 4 */
    ENTRY_BYTES       = 12, /* an entry: tag, type, count, value */
    ENTRY_TYPE        = 2,  /* offsets in an entry, whose tag is at 0 */
    ENTRY_COUNT       = 4,
    ENTRY_VALUE       = 8,
    TAG_ORIENTATION   = 0x0112,
    TYPE_SHORT        = 3,
    AS_STORED         = 1
};

/* The EXIF block: a TIFF header, then directories. */
struct tiff {
    const uint8_t *bytes;
    size_t         size;
    bool           big_endian;
};

/* The number of `width` bytes at `offset`, which must be inside the block. */
static uint32_t number_at(const struct tiff *tiff, size_t offset, size_t width)
{
    uint32_t value = 0;
    for (size_t i = 0; i < width; i++) {
        size_t byte = tiff->big_endian ? width - 1 - i : i;
        value |= (uint32_t)tiff->bytes[offset + i] << (8 * byte);
    }
    return value;
}

/* True if `size` bytes at `offset` are inside the block. */
static bool is_inside(const struct tiff *tiff, size_t offset, size_t size)
{
    return offset <= tiff->size && size <= tiff->size - offset;
}

/* The orientation in the directory at `offset`: a count of 2 bytes, then the
 * entries. */
static uint32_t directory_orientation(const struct tiff *tiff, size_t offset)
{
    uint32_t count =
        is_inside(tiff, offset, 2) ? number_at(tiff, offset, 2) : 0;
    size_t entry = offset + 2;
    for (uint32_t i = 0; i < count; i++, entry += ENTRY_BYTES) {
        if (!is_inside(tiff, entry, ENTRY_BYTES)) {
            break;
        }
        if (number_at(tiff, entry, 2) == TAG_ORIENTATION) {
            uint32_t value = number_at(tiff, entry + ENTRY_VALUE, 2);
            bool valid = number_at(tiff, entry + ENTRY_TYPE, 2) == TYPE_SHORT &&
                         number_at(tiff, entry + ENTRY_COUNT, 4) == 1;
            return valid && value >= 1 && value <= 8 ? value : AS_STORED;
        }
    }
    return AS_STORED;
}

uint32_t fby_exif_orientation(const uint8_t *payload, size_t size_bytes)
{
    static const uint8_t mark[6] = {'E', 'x', 'i', 'f', 0, 0};
    if (size_bytes < sizeof(mark) || memcmp(payload, mark, sizeof(mark)) != 0) {
        return 0;
    }
    struct tiff tiff = {
        payload + sizeof(mark), size_bytes - sizeof(mark), false};
    if (tiff.size < TIFF_HEADER_BYTES) {
        return AS_STORED;
    }
    tiff.big_endian = memcmp(tiff.bytes, "MM", 2) == 0;
    if ((!tiff.big_endian && memcmp(tiff.bytes, "II", 2) != 0) ||
        number_at(&tiff, 2, 2) != TIFF_MAGIC) {
        return AS_STORED;
    }
    return directory_orientation(&tiff, number_at(&tiff, 4, 4));
}

void fby_orient_rows(const struct fby_image *in, uint32_t first_row,
    uint32_t orientation, const struct fby_image *out)
{
    bool      turns      = fby_orientation_turns(orientation);
    ptrdiff_t pixel_step = FBY_RGB;
    ptrdiff_t row_step   = (ptrdiff_t)out->stride;
    uint8_t  *origin     = out->pixels; /* where stored pixel (0, 0) goes */
    if (fby_orientation_from_right(orientation)) {
        origin += (ptrdiff_t)(out->width - 1) * pixel_step;
        pixel_step = -pixel_step;
    }
    if (fby_orientation_from_bottom(orientation)) {
        origin += (ptrdiff_t)(out->height - 1) * row_step;
        row_step = -row_step;
    }
    ptrdiff_t next_in_row    = turns ? row_step : pixel_step;
    ptrdiff_t next_in_column = turns ? pixel_step : row_step;
    for (uint32_t y = 0; y < in->height; y++) {
        const uint8_t *from = in->pixels + y * in->stride;
        uint8_t *to = origin + (ptrdiff_t)(first_row + y) * next_in_column;
        for (uint32_t x = 0; x < in->width; x++) {
            memcpy(to, from, FBY_RGB);
            from += FBY_RGB;
            to += next_in_row;
        }
    }
}

struct fby_box fby_orient_stored_box(const struct fby_box *upright,
    uint32_t width, uint32_t height, uint32_t orientation)
{
    bool     turns = fby_orientation_turns(orientation);
    uint32_t x     = fby_orientation_from_right(orientation)
                         ? width - upright->x - upright->w
                         : upright->x;
    uint32_t y     = fby_orientation_from_bottom(orientation)
                         ? height - upright->y - upright->h
                         : upright->y;
    return (struct fby_box){
        .x = turns ? y : x,
        .y = turns ? x : y,
        .w = turns ? upright->h : upright->w,
        .h = turns ? upright->w : upright->h,
    };
}
