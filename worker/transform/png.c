/* SPDX-License-Identifier: Apache-2.0 */
/* png.c - decode untrusted files with libspng.
 *
 * Rows are decoded one by one. The rows above the wanted part are decoded and
 * dropped, because a row is stored as a difference from the previous row. */
#include "worker/transform/png.h"

#include <spng.h>
#include <string.h>
#include <zlib.h>

enum {
    ROW_SLACK   = 64,        /* readable bytes after a row */
    FIXED_BYTES = 160 << 10, /* state of the decoder and of inflate */
    ROWS_HELD   = 4,         /* most rows that the library keeps */
    PIXEL_BYTES = 4,         /* most bytes of a pixel in these rows, ... */
    WIDE_BYTES  = 8,         /* ... or of one with 16 bits a channel */
    CHUNK_HEAD  = 8,         /* bytes of a chunk's length and type */
    CHUNK_FRAME = 12         /* bytes of a chunk's length, type and checksum */
};

static const uint8_t signature[8] = {
    0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

bool fby_picture_is_png(const struct fby_picture_file *file)
{
    return file->size >= sizeof(signature) &&
           memcmp(file->bytes, signature, sizeof(signature)) == 0;
}

/* The arguments and the state of a call. `scratch` is as for
 * fby_picture_stream. */
struct png_decoder {
    const struct fby_picture_file *file;
    const struct fby_picture_sink *sink;
    struct fby_scratch            *scratch; /* two buffers */
    struct fby_error_detail       *why;
    bool                           is_mask;
    bool             checksums_are_verified; /* so the library need not */
    spng_ctx        *png;
    struct spng_ihdr ihdr;
    struct fby_picture_head head;
    struct fby_picture_part part; /* the wanted pixels */
};

/* Turn an error of the library into a message. */
static fby_err refuse(struct png_decoder *d, int error)
{
    if (error == SPNG_EMEM) {
        return fby_error_set(d->why, FBY_FULL, "PNG: out of memory");
    }
    if (error == SPNG_ECHUNK_LIMITS) {
        return fby_error_set(d->why, FBY_BAD_SAMPLE,
            "PNG has ancillary chunks of more than %d MiB",
            FBY_PNG_MAX_CHUNK_BYTES >> 20);
    }
    return fby_error_set(
        d->why, FBY_BAD_SAMPLE, "PNG: %s", spng_strerror(error));
}

/* ---- checksums ----------------------------------------------------------- */

static uint32_t read_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

/* `bytes_left` is the number of bytes from `chunk` to the end of the file. */
static bool is_pixel_chunk(const uint8_t *chunk, size_t bytes_left)
{
    return bytes_left >= CHUNK_HEAD && memcmp(chunk + 4, "IDAT", 4) == 0;
}

/* Returns the size of a chunk with its frame, or 0 if its checksum is wrong or
 * it does not end within the file. `bytes_left` is as for is_pixel_chunk. */
static size_t verified_chunk_bytes(const uint8_t *chunk, size_t bytes_left)
{
    size_t length = bytes_left >= CHUNK_FRAME ? read_be32(chunk) : 0;
    if (bytes_left < CHUNK_FRAME || length > bytes_left - CHUNK_FRAME) {
        return 0;
    }
    uint32_t sum = (uint32_t)crc32_z(0, chunk + 4, 4 + length);
    return sum == read_be32(chunk + CHUNK_HEAD + length) ? CHUNK_FRAME + length
                                                         : 0;
}

/* Verify the checksums of all chunks up to the last of the pixel chunks, which
 * are consecutive. The library verifies a chunk when it reads the one after it,
 * so it would not verify the last chunk with wanted rows. */
static fby_err verify_checksums(struct png_decoder *d)
{
    const struct fby_picture_file *file         = d->file;
    bool                           found_pixels = false;
    size_t                         offset       = sizeof(signature);
    while (!found_pixels ||
           is_pixel_chunk(file->bytes + offset, file->size - offset)) {
        const uint8_t *chunk = file->bytes + offset;
        size_t         size  = verified_chunk_bytes(chunk, file->size - offset);
        if (size == 0) {
            return fby_error_set(d->why, FBY_BAD_SAMPLE,
                "PNG: the chunk at byte %zu is damaged or truncated", offset);
        }
        found_pixels = is_pixel_chunk(chunk, size);
        offset += size;
    }
    d->checksums_are_verified = true;
    return FBY_OK;
}

/* ---- the header ---------------------------------------------------------- */

/* Returns why this kind of mask is refused, or NULL if it is accepted. */
static const char *mask_refusal(const struct spng_ihdr *ihdr)
{
    switch (ihdr->color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
        return "an alpha channel";
    case SPNG_COLOR_TYPE_TRUECOLOR:
        return "three channels: colours are not ids";
    default:
        return ihdr->bit_depth == 16 ? "16 bits a channel" : NULL;
    }
}

static fby_err check_kind(struct png_decoder *d)
{
    const char *reason = d->is_mask ? mask_refusal(&d->ihdr) : NULL;
    return reason == NULL
               ? FBY_OK
               : fby_error_set(d->why, FBY_BAD_SAMPLE,
                     "PNG has %s; a mask is grey of up to 8 bits, or has a "
                     "palette",
                     reason);
}

static fby_err set_limits(struct png_decoder *d)
{
    int wrong_sum_action =
        d->checksums_are_verified ? SPNG_CRC_USE : SPNG_CRC_ERROR;
    int error = spng_set_chunk_limits(
        d->png, FBY_PNG_MAX_CHUNK_BYTES, FBY_PNG_MAX_CHUNK_BYTES);
    if (error == SPNG_OK) {
        error = spng_set_crc_action(d->png, wrong_sum_action, wrong_sum_action);
    }
    return error == SPNG_OK ? FBY_OK : refuse(d, error);
}

/* True for a picture in grey of 16 bits. The library would make 8 bits of them
 * by a shift, Pillow clips. */
static bool is_grey16(const struct png_decoder *d)
{
    return !d->is_mask && d->ihdr.color_type == SPNG_COLOR_TYPE_GRAYSCALE &&
           d->ihdr.bit_depth == 16;
}

static struct fby_picture_head head_of(const struct png_decoder *d)
{
    uint64_t pixel_bytes = d->ihdr.bit_depth == 16 ? WIDE_BYTES : PIXEL_BYTES;
    return (struct fby_picture_head){
        .width         = d->ihdr.width,
        .height        = d->ihdr.height,
        .orientation   = 1,
        .channels      = d->is_mask ? 1 : FBY_RGB,
        .is_clipped    = is_grey16(d),
        .needs_whole   = d->ihdr.interlace_method != SPNG_INTERLACE_NONE,
        .library_bytes = FIXED_BYTES + FBY_PNG_MAX_CHUNK_BYTES +
                         (uint64_t)d->ihdr.width * ROWS_HELD * pixel_bytes,
    };
}

/* Open the library's decoder, which the caller frees, and read the header. */
static fby_err read_header(struct png_decoder *d)
{
    d->png      = spng_ctx_new(0);
    fby_err err = d->png == NULL ? refuse(d, SPNG_EMEM) : set_limits(d);
    if (err != FBY_OK) {
        return err;
    }
    int error = spng_set_png_buffer(d->png, d->file->bytes, d->file->size);
    if (error == SPNG_OK) {
        error = spng_get_ihdr(d->png, &d->ihdr);
    }
    if (error != SPNG_OK) {
        return refuse(d, error);
    }
    d->head = head_of(d);
    err     = check_kind(d);
    return err == FBY_OK
               ? fby_picture_check_size("PNG", d->file, d->ihdr.width,
                     d->ihdr.height, FBY_PNG_MAX_PIXELS_PER_BYTE, d->why)
               : err;
}

static fby_err read_head(const struct fby_picture_file *file, bool is_mask,
    struct fby_picture_head *out, struct fby_error_detail *why)
{
    struct png_decoder d   = {.file = file, .is_mask = is_mask, .why = why};
    fby_err            err = read_header(&d);
    if (err == FBY_OK) {
        *out = d.head;
    }
    spng_ctx_free(d.png);
    return err;
}

/* ---- the part to decode -------------------------------------------------- */

static struct fby_picture_region region_of(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    (void)head;
    return (struct fby_picture_region){
        .width = part->box.w, .height = part->box.h};
}

/* Bytes of a decoded row. A mask's row of fewer than 8 bits a pixel is unpacked
 * in place, so it also has a byte for each pixel. */
static size_t row_bytes(const struct fby_picture_head *head)
{
    return (size_t)head->width * head->channels;
}

static struct fby_picture_need need_of(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    (void)part;
    uint64_t rows = head->needs_whole ? head->height : 0;
    return (struct fby_picture_need){.scratch = {row_bytes(head) + ROW_SLACK,
                                         row_bytes(head) * rows + ROW_SLACK}};
}

/* ---- pixels -------------------------------------------------------------- */

/* Unpack values of `bits` bits (1, 2, 4 or 8) to a byte each, in place. The
 * first value of a byte is in its highest bits. The last value is unpacked
 * first, so that no value is overwritten before it is read. */
static void unpack_row(uint8_t *row, uint32_t width, uint32_t bits)
{
    if (bits >= 8) {
        return; /* nothing to unpack */
    }
    uint32_t per_byte = 8 / bits;
    for (uint32_t x = width; x-- > 0;) {
        uint32_t shift = 8 - bits * (x % per_byte + 1);
        uint32_t byte  = row[x / per_byte];
        row[x]         = (uint8_t)(byte >> shift & ((1U << bits) - 1));
    }
}

/* Make RGB of grey values of 16 bits, in place: values above 255 become 255.
 * The last pixel is written first, because a result is longer than a value. */
static void clip_grey16_row(uint8_t *row, uint32_t width)
{
    for (size_t x = width; x-- > 0;) {
        uint16_t value;
        memcpy(&value, row + x * sizeof(value), sizeof(value));
        memset(
            row + x * FBY_RGB, value < UINT8_MAX ? value : UINT8_MAX, FBY_RGB);
    }
}

static int output_format(const struct png_decoder *d)
{
    return d->is_mask || d->head.is_clipped ? SPNG_FMT_PNG : SPNG_FMT_RGB8;
}

/* Bytes of a row as the library decodes it, before deliver_row changes it. */
static size_t packed_row_bytes(const struct png_decoder *d)
{
    return output_format(d) == SPNG_FMT_PNG
               ? ((size_t)d->ihdr.width * d->ihdr.bit_depth + 7) / 8
               : (size_t)d->ihdr.width * FBY_RGB;
}

/* Pass the wanted columns of a decoded row to the sink. */
static void deliver_row(const struct png_decoder *d, uint8_t *row)
{
    const struct fby_box *box = &d->part.box;
    struct fby_image rows = {.pixels = row + (size_t)box->x * d->head.channels,
        .stride                      = row_bytes(&d->head),
        .width                       = box->w,
        .height                      = 1};
    if (d->is_mask) {
        unpack_row(row, d->ihdr.width, d->ihdr.bit_depth);
    } else if (d->head.is_clipped) {
        clip_grey16_row(row, d->ihdr.width);
    }
    d->sink->rows(d->sink->arg, &rows);
}

static int decode_rows(struct png_decoder *d)
{
    const struct fby_box *box = &d->part.box;
    uint8_t              *row = d->scratch[0].memory;

    int error = spng_decode_image(
        d->png, NULL, 0, output_format(d), SPNG_DECODE_PROGRESSIVE);
    for (uint32_t y = 0; error == SPNG_OK && y < box->y + box->h; y++) {
        error = spng_decode_row(d->png, row, packed_row_bytes(d));
        if (error == SPNG_EOI && y + 1 == d->ihdr.height) {
            error = SPNG_OK; /* after the last row, the end is no error */
        }
        if (error == SPNG_OK && y >= box->y) {
            deliver_row(d, row);
        }
    }
    return error;
}

/* Decode an interlaced file: any of its rows needs the whole picture. */
static int decode_whole(struct png_decoder *d)
{
    const struct fby_box *box    = &d->part.box;
    uint8_t              *row    = d->scratch[0].memory;
    uint8_t              *whole  = d->scratch[1].memory;
    size_t                stride = packed_row_bytes(d);
    size_t                size   = stride * d->ihdr.height;
    memset(whole, 0, size); /* pixels of a few bits are ORed into bytes */
    int error = spng_decode_image(d->png, whole, size, output_format(d), 0);
    for (uint32_t y = box->y; error == SPNG_OK && y < box->y + box->h; y++) {
        memcpy(row, whole + y * stride, stride);
        deliver_row(d, row);
    }
    return error;
}

static fby_err decode_part(struct png_decoder *d)
{
    d->part.unit = 1;
    fby_err err  = d->sink->head(d->sink->arg, &d->head, &d->part, d->why);
    if (err == FBY_OK) {
        struct fby_picture_need need = need_of(&d->head, &d->part);
        err = fby_picture_alloc_scratch(&need, &d->head, d->scratch, d->why);
    }
    if (err != FBY_OK) {
        return err;
    }
    int error = d->head.needs_whole ? decode_whole(d) : decode_rows(d);
    return error == SPNG_OK ? FBY_OK : refuse(d, error);
}

static fby_err stream(const struct fby_picture_file *file, bool is_mask,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_error_detail *why)
{
    struct png_decoder d      = {.file = file,
             .sink                     = sink,
             .scratch                  = scratch,
             .why                      = why,
             .is_mask                  = is_mask};
    bool               is_png = fby_picture_is_png(file);
    fby_err err = is_png ? verify_checksums(&d) : refuse(&d, SPNG_ESIGNATURE);
    if (err == FBY_OK) {
        err = read_header(&d);
    }
    if (err == FBY_OK) {
        err = decode_part(&d);
    }
    spng_ctx_free(d.png);
    return err;
}

/* ---- the decoders of pictures and masks ---------------------------------- */

/* Define the functions of fby_png_NAME. The caller adds the semicolon. */
#define DECODER(name, is_mask)                                              \
    static fby_err name##_head(const struct fby_picture_file *file,         \
        struct fby_picture_head *out, struct fby_error_detail *why)         \
    {                                                                       \
        return read_head(file, is_mask, out, why);                          \
    }                                                                       \
    static fby_err name##_stream(const struct fby_picture_file *file,       \
        const struct fby_picture_sink *sink, struct fby_scratch scratch[2], \
        struct fby_error_detail *why)                                       \
    {                                                                       \
        return stream(file, is_mask, sink, scratch, why);                   \
    }                                                                       \
    const struct fby_picture_decoder fby_png_##name = {                     \
        name##_head, region_of, need_of, name##_stream}
DECODER(picture, false);
DECODER(mask, true);
