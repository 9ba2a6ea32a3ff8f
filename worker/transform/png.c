/* png.c - decode untrusted files with libspng.
 *
 * Rows are decoded one by one. Those above the part are decoded and dropped,
 * since a row is stored as a difference from the row before. */
#include "worker/transform/png.h"

#include <spng.h>
#include <string.h>
#include <zlib.h>

enum {
    ROW_SLACK   = 64,        /* bytes after a row */
    FIXED_BYTES = 160 << 10, /* state of the decoder and of inflate */
    ROWS_HELD   = 4,         /* rows in the library, at most 4 bytes a pixel */
    CHUNK_HEAD  = 8,         /* length, type */
    CHUNK_FRAME = 12         /* length, type, checksum */
};

static const uint8_t magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

bool fby_png_is(const struct fby_picture_file *file)
{
    return file->size >= sizeof(magic) &&
           memcmp(file->bytes, magic, sizeof(magic)) == 0;
}

struct png_decoder {
    spng_ctx        *png;
    struct spng_ihdr head;
    bool             is_mask;
    bool            has_sums; /* checksums are verified: the library need not */
    struct fby_why *why;
};

static fby_err refuse(struct png_decoder *d, int error)
{
    if (error == SPNG_EMEM) {
        return fby_because(d->why, FBY_FULL, "PNG: out of memory");
    }
    if (error == SPNG_ECHUNK_LIMITS) {
        return fby_because(d->why, FBY_BAD_SAMPLE,
            "PNG has ancillary chunks of more than %d MiB",
            FBY_PNG_MAX_CHUNK_BYTES >> 20);
    }
    return fby_because(d->why, FBY_BAD_SAMPLE, "PNG: %s", spng_strerror(error));
}

/* ---- checksums ----------------------------------------------------------- */

static uint32_t number(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

static bool has_pixels(const uint8_t *chunk, size_t left)
{
    return left >= CHUNK_HEAD && memcmp(chunk + 4, "IDAT", 4) == 0;
}

/* Bytes of the chunk at `chunk`, `left` bytes before the end of the file; 0 if
 * its checksum is wrong or it is truncated. */
static size_t sound_chunk(const uint8_t *chunk, size_t left)
{
    size_t length = left >= CHUNK_FRAME ? number(chunk) : 0;
    if (left < CHUNK_FRAME || length > left - CHUNK_FRAME) {
        return 0;
    }
    uint32_t sum = (uint32_t)crc32_z(0, chunk + 4, 4 + length);
    return sum == number(chunk + CHUNK_HEAD + length) ? CHUNK_FRAME + length
                                                      : 0;
}

/* Check all chunks up to the last one with pixels. The library checks a chunk
 * when it reads the next one. For most files that is after the wanted rows, and
 * therefore never. */
static fby_err check_sums(
    struct png_decoder *d, const struct fby_picture_file *file)
{
    bool   met = false;
    size_t at  = sizeof(magic);
    while (!met || has_pixels(file->bytes + at, file->size - at)) {
        const uint8_t *chunk = file->bytes + at;
        size_t         size  = sound_chunk(chunk, file->size - at);
        if (size == 0) {
            return fby_because(d->why, FBY_BAD_SAMPLE,
                "PNG: the chunk at byte %zu is damaged or truncated", at);
        }
        met = has_pixels(chunk, size);
        at += size;
    }
    d->has_sums = true;
    return FBY_OK;
}

/* ---- the header ---------------------------------------------------------- */

static const char *refused_kind(const struct png_decoder *d)
{
    uint8_t colour = d->head.color_type;
    if (d->head.bit_depth == 16) {
        return "16 bits a channel; 8 are needed";
    }
    if (colour == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ||
        colour == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA) {
        return "an alpha channel; grey, RGB or a palette is needed";
    }
    if (d->is_mask && colour == SPNG_COLOR_TYPE_TRUECOLOR) {
        return "three channels; a mask is grey or has a palette";
    }
    return NULL;
}

static fby_err check_size(struct png_decoder *d, size_t size)
{
    uint64_t pixels = (uint64_t)d->head.width * d->head.height;
    if (pixels > FBY_PICTURE_MAX_PIXELS) {
        return fby_because(d->why, FBY_BAD_SAMPLE,
            "PNG claims %u x %u pixels; at most %llu are decoded",
            d->head.width, d->head.height,
            (unsigned long long)FBY_PICTURE_MAX_PIXELS);
    }
    if (pixels / FBY_PNG_MAX_PIXELS_PER_BYTE > size) {
        return fby_because(d->why, FBY_BAD_SAMPLE,
            "PNG claims %u x %u pixels in %zu bytes; no PNG packs so many",
            d->head.width, d->head.height, size);
    }
    return FBY_OK;
}

static fby_err check_kind(struct png_decoder *d)
{
    const char *kind = refused_kind(d);
    return kind == NULL
               ? FBY_OK
               : fby_because(d->why, FBY_BAD_SAMPLE, "PNG has %s", kind);
}

/* Transparency is known only after all chunks before the pixels were read. */
static fby_err check_transparency(struct png_decoder *d)
{
    struct spng_trns trns;
    int              error = spng_get_trns(d->png, &trns);
    if (error == SPNG_OK && !d->is_mask) {
        return fby_because(d->why, FBY_BAD_SAMPLE,
            "PNG has a transparent colour; grey, RGB or a palette without one "
            "is needed");
    }
    return error == SPNG_OK || error == SPNG_ECHUNKAVAIL ? FBY_OK
                                                         : refuse(d, error);
}

static fby_err set_limits(struct png_decoder *d)
{
    int sums  = d->has_sums ? SPNG_CRC_USE : SPNG_CRC_ERROR;
    int error = spng_set_image_limits(d->png, FBY_MAX_SIDE, FBY_MAX_SIDE);
    if (error == SPNG_OK) {
        error = spng_set_chunk_limits(
            d->png, FBY_PNG_MAX_CHUNK_BYTES, FBY_PNG_MAX_CHUNK_BYTES);
    }
    if (error == SPNG_OK) {
        error = spng_set_crc_action(d->png, sums, sums);
    }
    return error == SPNG_OK ? FBY_OK : refuse(d, error);
}

static fby_err read_header(
    struct png_decoder *d, const struct fby_picture_file *file)
{
    fby_err err = d->png == NULL ? refuse(d, SPNG_EMEM) : set_limits(d);
    if (err != FBY_OK) {
        return err;
    }
    int error = spng_set_png_buffer(d->png, file->bytes, file->size);
    if (error == SPNG_OK) {
        error = spng_get_ihdr(d->png, &d->head);
    }
    if (error != SPNG_OK) {
        return refuse(d, error);
    }
    err = check_kind(d);
    return err == FBY_OK ? check_size(d, file->size) : err;
}

static struct fby_picture_head head_of(const struct png_decoder *d)
{
    return (struct fby_picture_head){
        .width         = d->head.width,
        .height        = d->head.height,
        .orientation   = 1,
        .channels      = d->is_mask ? 1 : FBY_RGB,
        .is_whole      = d->head.interlace_method != SPNG_INTERLACE_NONE,
        .library_bytes = FIXED_BYTES + FBY_PNG_MAX_CHUNK_BYTES +
                         (uint64_t)d->head.width * ROWS_HELD * 4,
    };
}

static fby_err read_head(const struct fby_picture_file *file, bool is_mask,
    struct fby_picture_head *out, struct fby_why *why)
{
    struct png_decoder d = {
        .png = spng_ctx_new(0), .is_mask = is_mask, .why = why};
    fby_err err = read_header(&d, file);
    *out        = head_of(&d);
    spng_ctx_free(d.png);
    return err;
}

/* ---- which part ---------------------------------------------------------- */

static struct fby_picture_region region(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    (void)head;
    return (struct fby_picture_region){
        .width = part->box.w, .height = part->box.h};
}

/* Bytes of a decoded row. A mask's row of fewer bits is unpacked in place. */
static size_t row_bytes(const struct fby_picture_head *head)
{
    return (size_t)head->width * head->channels;
}

static struct fby_picture_need need(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    (void)part;
    uint64_t rows = head->is_whole ? head->height : 0;
    return (struct fby_picture_need){.scratch = {row_bytes(head) + ROW_SLACK,
                                         row_bytes(head) * rows + ROW_SLACK}};
}

/* ---- pixels -------------------------------------------------------------- */

/* Unpack values of `bits` each, the first in the highest bits, to bytes. Done
 * from last to first, so that no value is overwritten before it is read. */
static void unpack(uint8_t *row, uint32_t width, uint32_t bits)
{
    uint32_t in_byte = bits > 0 ? 8 / bits : 8;
    for (uint32_t x = width; bits < 8 && x-- > 0;) {
        uint32_t shift = 8 - bits * (x % in_byte + 1);
        uint32_t byte  = row[x / in_byte];
        row[x]         = (uint8_t)(byte >> shift & ((1U << bits) - 1));
    }
}

static int format_of(const struct png_decoder *d)
{
    return d->is_mask ? SPNG_FMT_PNG : SPNG_FMT_RGB8;
}

static size_t packed_bytes(const struct png_decoder *d)
{
    return d->is_mask ? ((size_t)d->head.width * d->head.bit_depth + 7) / 8
                      : (size_t)d->head.width * FBY_RGB;
}

/* The wanted pixels and where they go. */
struct png_request {
    const struct fby_picture_sink *sink;
    struct fby_scratch            *scratch;
    struct fby_picture_head        head;
    struct fby_picture_part        part;
};

static void deliver(const struct png_decoder *d,
    const struct png_request *request, uint8_t *row)
{
    const struct fby_box *box  = &request->part.box;
    struct fby_image      rows = {
             .pixels = row + (size_t)box->x * request->head.channels,
             .stride = row_bytes(&request->head),
             .width  = box->w,
             .height = 1};
    if (d->is_mask) {
        unpack(row, d->head.width, d->head.bit_depth);
    }
    request->sink->rows(request->sink->arg, &rows);
}

static fby_err decode_rows(
    struct png_decoder *d, const struct png_request *request)
{
    const struct fby_box *box = &request->part.box;
    uint8_t              *row = request->scratch[0].memory;

    int error = spng_decode_image(
        d->png, NULL, 0, format_of(d), SPNG_DECODE_PROGRESSIVE);
    for (uint32_t y = 0; error == SPNG_OK && y < box->y + box->h; y++) {
        error = spng_decode_row(d->png, row, packed_bytes(d));
        if (error == SPNG_EOI && y + 1 == d->head.height) {
            error = SPNG_OK; /* the last row ends the image */
        }
        if (error == SPNG_OK && y >= box->y) {
            deliver(d, request, row);
        }
    }
    return error == SPNG_OK ? FBY_OK : refuse(d, error);
}

static fby_err decode_whole(
    struct png_decoder *d, const struct png_request *request)
{
    const struct fby_box *box   = &request->part.box;
    uint8_t              *whole = request->scratch[1].memory;
    size_t                step  = packed_bytes(d);
    size_t                size  = step * d->head.height;
    memset(whole, 0, size); /* few bits a pixel are or-ed in */
    int error = spng_decode_image(d->png, whole, size, format_of(d), 0);
    for (uint32_t y = box->y; error == SPNG_OK && y < box->y + box->h; y++) {
        memcpy(request->scratch[0].memory, whole + y * step, step);
        deliver(d, request, request->scratch[0].memory);
    }
    return error == SPNG_OK ? FBY_OK : refuse(d, error);
}

static fby_err take_memory(
    struct png_decoder *d, const struct png_request *request)
{
    struct fby_picture_need bytes = need(&request->head, &request->part);
    for (int i = 0; i < 2; i++) {
        if (fby_scratch_need(&request->scratch[i], bytes.scratch[i]) !=
            FBY_OK) {
            return fby_because(d->why, FBY_FULL,
                "no memory for a picture of %u x %u pixels", d->head.width,
                d->head.height);
        }
    }
    return FBY_OK;
}

static fby_err decode(struct png_decoder *d, struct png_request *request)
{
    request->head      = head_of(d);
    request->part.unit = 1;
    fby_err err        = request->sink->head(
               request->sink->arg, &request->head, &request->part, d->why);
    if (err == FBY_OK) {
        err = check_transparency(d);
    }
    if (err == FBY_OK) {
        err = take_memory(d, request);
    }
    if (err != FBY_OK) {
        return err;
    }
    return request->head.is_whole ? decode_whole(d, request)
                                  : decode_rows(d, request);
}

static fby_err stream(struct png_decoder *d,
    const struct fby_picture_file *file, struct png_request *request)
{
    fby_err err =
        fby_png_is(file) ? check_sums(d, file) : refuse(d, SPNG_ESIGNATURE);
    if (err == FBY_OK) {
        d->png = spng_ctx_new(0);
        err    = read_header(d, file);
    }
    if (err == FBY_OK) {
        err = decode(d, request);
    }
    spng_ctx_free(d->png);
    return err;
}

/* ---- as a picture, as a mask --------------------------------------------- */

static fby_err picture_head(const struct fby_picture_file *file,
    struct fby_picture_head *out, struct fby_why *why)
{
    return read_head(file, false, out, why);
}

static fby_err mask_head(const struct fby_picture_file *file,
    struct fby_picture_head *out, struct fby_why *why)
{
    return read_head(file, true, out, why);
}

static fby_err picture_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_why *why)
{
    struct png_decoder d       = {.is_mask = false, .why = why};
    struct png_request request = {.sink = sink, .scratch = scratch};
    return stream(&d, file, &request);
}

static fby_err mask_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_why *why)
{
    struct png_decoder d       = {.is_mask = true, .why = why};
    struct png_request request = {.sink = sink, .scratch = scratch};
    return stream(&d, file, &request);
}

const struct fby_picture_decoder fby_png_picture = {
    picture_head, region, need, picture_stream};
const struct fby_picture_decoder fby_png_mask = {
    mask_head, region, need, mask_stream};
