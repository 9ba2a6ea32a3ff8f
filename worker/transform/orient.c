/* orient.c - read the EXIF orientation, and copy pixels in its eight ways.
 *
 * The source is copied row by row. The eight orientations differ in the
 * position of the first pixel in the result, and in the distance there between
 * two neighbours of a row and of a column. */
#include "worker/transform/orient.h"

#include <string.h>

enum {
    TIFF_HEADER_BYTES = 8,
    ENTRY_BYTES       = 12,
    TAG_ORIENTATION   = 0x0112,
    TYPE_SHORT        = 3,
    AS_STORED         = 1
};

struct tiff {
    const uint8_t *bytes;
    size_t         size;
    bool           big_endian;
};

/* The number of `width` bytes at `at`, which must be inside the block. */
static uint32_t number_at(const struct tiff *tiff, size_t at, size_t width)
{
    uint32_t value = 0;
    for (size_t i = 0; i < width; i++) {
        size_t byte = tiff->big_endian ? width - 1 - i : i;
        value |= (uint32_t)tiff->bytes[at + i] << (8 * byte);
    }
    return value;
}

static bool holds(const struct tiff *tiff, size_t at, size_t size)
{
    return at <= tiff->size && size <= tiff->size - at;
}

static uint32_t entry_orientation(const struct tiff *tiff, size_t at)
{
    if (number_at(tiff, at + 2, 2) != TYPE_SHORT ||
        number_at(tiff, at + 4, 4) != 1) {
        return AS_STORED;
    }
    uint32_t value = number_at(tiff, at + 8, 2);
    return value >= 1 && value <= 8 ? value : AS_STORED;
}

static uint32_t directory_orientation(const struct tiff *tiff, size_t at)
{
    if (!holds(tiff, at, 2)) {
        return AS_STORED;
    }
    uint32_t n = number_at(tiff, at, 2);
    at += 2;
    for (uint32_t i = 0; i < n && holds(tiff, at, ENTRY_BYTES); i++) {
        if (number_at(tiff, at, 2) == TAG_ORIENTATION) {
            return entry_orientation(tiff, at);
        }
        at += ENTRY_BYTES;
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
        number_at(&tiff, 2, 2) != 42) {
        return AS_STORED;
    }
    return directory_orientation(&tiff, number_at(&tiff, 4, 4));
}

/* The source's pixel (x, y) is copied to first + x * along + y * down. */
struct turn {
    ptrdiff_t first, along, down; /* bytes */
};

static struct turn turn_of(uint32_t orientation, const struct fby_image *out)
{
    ptrdiff_t pixel  = FBY_RGB;
    ptrdiff_t row    = (ptrdiff_t)out->stride;
    ptrdiff_t right  = (ptrdiff_t)(out->width - 1) * pixel;
    ptrdiff_t bottom = (ptrdiff_t)(out->height - 1) * row;
    switch (orientation) {
    case 2: /* mirrored left to right */
        return (struct turn){right, -pixel, row};
    case 3: /* half a turn */
        return (struct turn){right + bottom, -pixel, -row};
    case 4: /* mirrored top to bottom */
        return (struct turn){bottom, pixel, -row};
    case 5: /* mirrored at the falling diagonal */
        return (struct turn){0, row, pixel};
    case 6: /* a quarter turn clockwise */
        return (struct turn){right, row, -pixel};
    case 7: /* mirrored at the rising diagonal */
        return (struct turn){right + bottom, -row, -pixel};
    case 8: /* a quarter turn counter-clockwise */
        return (struct turn){bottom, -row, pixel};
    default:
        return (struct turn){0, pixel, row};
    }
}

void fby_orient(const struct fby_image *in, uint32_t first_row,
    uint32_t orientation, const struct fby_image *out)
{
    struct turn turn = turn_of(orientation, out);
    for (uint32_t y = 0; y < in->height; y++) {
        const uint8_t *from = in->pixels + y * in->stride;
        uint8_t       *to =
            out->pixels + turn.first + (ptrdiff_t)(first_row + y) * turn.down;
        for (uint32_t x = 0; x < in->width; x++) {
            memcpy(to, from, FBY_RGB);
            from += FBY_RGB;
            to += turn.along;
        }
    }
}

struct fby_box fby_orient_box(const struct fby_box *upright, uint32_t width,
    uint32_t height, uint32_t orientation)
{
    uint32_t from_right  = width - upright->x - upright->w;
    uint32_t from_bottom = height - upright->y - upright->h;
    bool     turns       = fby_orientation_turns(orientation);
    bool     right = orientation == 2 || orientation == 3 || orientation == 6 ||
                 orientation == 7;
    bool bottom = orientation == 3 || orientation == 4 || orientation == 7 ||
                  orientation == 8;
    uint32_t x = right ? from_right : upright->x;
    uint32_t y = bottom ? from_bottom : upright->y;
    return (struct fby_box){
        .x = turns ? y : x,
        .y = turns ? x : y,
        .w = turns ? upright->h : upright->w,
        .h = turns ? upright->w : upright->h,
    };
}
