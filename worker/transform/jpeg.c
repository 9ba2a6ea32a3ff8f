/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg.c - decode untrusted files with libjpeg-turbo.
 *
 * The library reports errors by callbacks, and the callbacks leave by longjmp.
 * A jpeg_decoder holds all state of a call, so that no local variable is used
 * after the jump. Each file gets a new decompressor of the library. A used one
 * would decode a file without Huffman tables with those of an earlier file. */
#include "worker/transform/jpeg.h"

#include <setjmp.h>
#include <stdio.h>
/* Both headers of the library need stdio.h. */
#include <jerror.h>
#include <jpeglib.h>
#include <string.h>

#include "worker/transform/orient.h"

enum {
    APP1           = JPEG_APP0 + 1,
    CMYK           = 4,  /* channels of CMYK and YCCK */
    STRIP_ROWS     = 16, /* rows that are decoded at a time; few enough to stay
                            in the cache */
    ROW_SLACK      = 64, /* readable bytes after a row of a strip */
    MISALIGN_BYTES = 8,  /* bytes before a strip's first row: see read_area */
    /* An MCU is the smallest unit of coded blocks, at most MAX_SAMP_FACTOR
     * blocks wide and high. On each side of the wanted part of a row, at most
     * two MCUs are decoded as well (see crop_columns). */
    EXTRA_PIXELS  = 2 * 2 * MAX_SAMP_FACTOR * DCTSIZE,
    FIXED_BYTES   = 128 << 10, /* tables and state of the library, for any
                                  file */
    ROWS_BUFFERED = 32         /* most rows that the library buffers */
};

/* The arguments and the state of a call. `scratch` is as for
 * fby_picture_stream. */
struct jpeg_decoder {
    const struct fby_picture_file *file;
    const struct fby_picture_sink *sink;    /* NULL: read only the header */
    struct fby_scratch            *scratch; /* two buffers */
    struct fby_picture_head        head;
    struct jpeg_decompress_struct  jpeg;
    struct jpeg_error_mgr          errors;
    struct jpeg_progress_mgr       progress;
    jmp_buf                        exit_point;
    struct fby_error_detail       *why;
    fby_err                        err;
    bool     has_several_scans; /* the library keeps all coefficients */
    uint32_t orientation;       /* 1 to 8; 0: no EXIF block found yet */
};

/* End the decoding: run_decoder returns `err`. */
static _Noreturn void fail(struct jpeg_decoder *d, fby_err err)
{
    d->err = err;
    longjmp(d->exit_point, 1);
}

/* Refuse the file with a message. */
#define REFUSE(d, ...) \
    fail(d, fby_error_set((d)->why, FBY_BAD_SAMPLE, __VA_ARGS__))

static struct jpeg_decoder *decoder_of(j_common_ptr jpeg)
{
    return jpeg->client_data;
}

static _Noreturn void refuse_with_message(j_common_ptr jpeg)
{
    struct jpeg_decoder *d = decoder_of(jpeg);
    char                 message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY) {
        fail(d, fby_error_set(d->why, FBY_FULL, "%s", message));
    }
    REFUSE(d, "JPEG: %s", message);
}

/* A negative level is a warning: the library repairs damaged data. The picture
 * is refused, except for two warnings about version numbers in headers. */
static void on_message(j_common_ptr jpeg, int level)
{
    int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM) {
        refuse_with_message(jpeg);
    }
}

static void on_progress(j_common_ptr jpeg)
{
    struct jpeg_decoder *d = decoder_of(jpeg);
    if (d->jpeg.input_scan_number > FBY_JPEG_MAX_SCANS) {
        REFUSE(d, "JPEG has more than %d scans, the most that is decoded",
            FBY_JPEG_MAX_SCANS);
    }
}

static void no_output(j_common_ptr jpeg)
{
    (void)jpeg;
}

/* Read the orientation from an APP1 segment, unless an earlier one had EXIF.
 * The segment is read in place, because the library would copy it, and then
 * skipped. It begins with its size in bytes, which includes these two bytes. If
 * it is longer than the file, the library reports the end of the file. */
static boolean on_app1(j_decompress_ptr jpeg)
{
    struct jpeg_decoder    *d      = jpeg->client_data;
    struct jpeg_source_mgr *source = jpeg->src;
    const uint8_t          *bytes  = source->next_input_byte;
    size_t                  left   = source->bytes_in_buffer;
    size_t stored_size = left >= 2 ? (size_t)(bytes[0] << 8 | bytes[1]) : 0;
    size_t size = stored_size > 2 ? stored_size : 2; /* below 2 is invalid */
    if (d->orientation == 0 && size <= left) {
        d->orientation = fby_exif_orientation(bytes + 2, size - 2);
    }
    source->skip_input_data(jpeg, (long)size);
    return TRUE;
}

/* jpeg_create_decompress clears the struct except `err` and `client_data`, so
 * `progress` is set after it. When memory is short, it calls error_exit. */
static void open_decoder(struct jpeg_decoder *d)
{
    d->jpeg.err                  = jpeg_std_error(&d->errors);
    d->errors.error_exit         = refuse_with_message;
    d->errors.emit_message       = on_message;
    d->errors.output_message     = no_output;
    d->jpeg.client_data          = d;
    d->progress.progress_monitor = on_progress;
    jpeg_create_decompress(&d->jpeg);
    d->jpeg.progress = &d->progress;
}

static void check_kind(struct jpeg_decoder *d)
{
    const struct jpeg_decompress_struct *jpeg = &d->jpeg;
    if (jpeg->num_components != 1 && jpeg->num_components != 3 &&
        jpeg->num_components != CMYK) {
        REFUSE(d, "JPEG has %d channels; 1, 3 or 4 are needed",
            jpeg->num_components);
    }
    if (jpeg->arith_code) {
        REFUSE(d, "JPEG is arithmetic-coded; Huffman coding is needed");
    }
}

static uint64_t rounded_up(uint64_t value, int step)
{
    uint64_t unit = (uint64_t)step;
    return (value + unit - 1) / unit * unit;
}

/* Bytes of all coefficients of a file of several scans. The library allocates
 * whole MCUs. */
static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *jpeg)
{
    uint64_t blocks = 0;
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *channel = &jpeg->comp_info[i];
        blocks += rounded_up(channel->width_in_blocks, channel->h_samp_factor) *
                  rounded_up(channel->height_in_blocks, channel->v_samp_factor);
    }
    return blocks * sizeof(JBLOCK);
}

static void check_size(struct jpeg_decoder *d)
{
    const struct jpeg_decompress_struct *jpeg = &d->jpeg;
    fby_err err = fby_picture_check_size("JPEG", d->file, jpeg->image_width,
        jpeg->image_height, FBY_JPEG_MAX_PIXELS_PER_BYTE, d->why);
    if (err != FBY_OK) {
        fail(d, err);
    }
    if (d->has_several_scans &&
        coefficient_bytes(jpeg) > FBY_JPEG_MAX_COEFFICIENT_BYTES) {
        REFUSE(d,
            "JPEG of several scans claims %u x %u pixels; at most %d MiB "
            "of coefficients are kept",
            jpeg->image_width, jpeg->image_height,
            FBY_JPEG_MAX_COEFFICIENT_BYTES >> 20);
    }
}

static void read_header(struct jpeg_decoder *d)
{
    if (d->file->size == 0) {
        REFUSE(d, "JPEG file of 0 bytes");
    }
    open_decoder(d);
    jpeg_set_marker_processor(&d->jpeg, APP1, on_app1);
    jpeg_mem_src(&d->jpeg, d->file->bytes, d->file->size);
    jpeg_read_header(&d->jpeg, TRUE);
    check_kind(d);
    d->has_several_scans = jpeg_has_multiple_scans(&d->jpeg) != FALSE;
    check_size(d);
    d->orientation = d->orientation == 0 ? 1 : d->orientation;
}

/* Pictures whose MCUs have more than four luma blocks are not decoded smaller.
 * From some of them (4 x 2 or 2 x 4 blocks) libjpeg-turbo before 3.0 would make
 * wrong pixels. */
static bool can_scale(const struct jpeg_decompress_struct *jpeg)
{
    return jpeg->max_h_samp_factor * jpeg->max_v_samp_factor <= 4;
}

static bool is_cmyk(const struct jpeg_decompress_struct *jpeg)
{
    return jpeg->num_components == CMYK;
}

/* Bytes of a pixel as the library delivers it. */
static uint32_t decoded_channels(bool is_cmyk_file)
{
    return is_cmyk_file ? CMYK : FBY_RGB;
}

static struct fby_picture_head head_of(const struct jpeg_decoder *d)
{
    const struct jpeg_decompress_struct *jpeg = &d->jpeg;

    bool     turns = fby_orientation_turns(d->orientation);
    uint32_t w     = jpeg->image_width;
    uint32_t h     = jpeg->image_height;
    /* The library rounds the width up to whole MCUs, which adds less than the
     * width of the widest MCU. */
    uint64_t row_bytes = (uint64_t)(w + DCTSIZE * MAX_SAMP_FACTOR) *
                         ROWS_BUFFERED * decoded_channels(is_cmyk(jpeg));
    return (struct fby_picture_head){
        .width         = turns ? h : w,
        .height        = turns ? w : h,
        .orientation   = d->orientation,
        .channels      = FBY_RGB,
        .is_scalable   = can_scale(jpeg),
        .is_ycbcr      = jpeg->jpeg_color_space == JCS_YCbCr,
        .is_cmyk       = is_cmyk(jpeg),
        .library_bytes = FIXED_BYTES + row_bytes +
                         (d->has_several_scans ? coefficient_bytes(jpeg) : 0),
    };
}

/* ---- the part to decode -------------------------------------------------- */

/* The area to decode: the part's box in the picture as it is stored, extended
 * to whole pixels of the decoded picture. */
struct jpeg_area {
    uint32_t unit;       /* a decoded pixel is unit x unit full-size pixels */
    uint32_t x, y, w, h; /* decoded pixels */
    uint32_t lead_x, lead_y; /* full-size pixels of the area before the box */
    uint32_t tail_x, tail_y; /* full-size pixels of the area after the box */
};

static struct jpeg_area area_of(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    struct fby_box box = fby_orient_stored_box(
        &part->box, head->width, head->height, head->orientation);
    uint32_t         unit = part->unit;
    struct jpeg_area area = {.unit = unit,
        .x                         = box.x / unit,
        .y                         = box.y / unit,
        .lead_x                    = box.x % unit,
        .lead_y                    = box.y % unit};
    area.w                = (area.lead_x + box.w + unit - 1) / unit;
    area.h                = (area.lead_y + box.h + unit - 1) / unit;
    area.tail_x           = area.w * unit - area.lead_x - box.w;
    area.tail_y           = area.h * unit - area.lead_y - box.h;
    return area;
}

static struct fby_picture_region region_of(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    struct jpeg_area area        = area_of(head, part);
    uint32_t         orientation = head->orientation;
    bool             turns       = fby_orientation_turns(orientation);
    /* The lead and the tail along the axes of the upright picture. If storage
     * begins at its right side, the tail is at its left side. */
    uint32_t lead_x = turns ? area.lead_y : area.lead_x;
    uint32_t tail_x = turns ? area.tail_y : area.tail_x;
    uint32_t lead_y = turns ? area.lead_x : area.lead_y;
    uint32_t tail_y = turns ? area.tail_x : area.tail_y;
    return (struct fby_picture_region){
        .width    = turns ? area.h : area.w,
        .height   = turns ? area.w : area.h,
        .offset_x = fby_orientation_from_right(orientation) ? tail_x : lead_x,
        .offset_y = fby_orientation_from_bottom(orientation) ? tail_y : lead_y,
    };
}

/* Bytes from one row of a strip to the next. A row has the pixels of the area
 * and the extra pixels on both sides of the area. */
static size_t strip_stride(const struct fby_picture_head *head, uint32_t width)
{
    size_t pixel_bytes = decoded_channels(head->is_cmyk);
    size_t bytes       = (width + EXTRA_PIXELS) * pixel_bytes + ROW_SLACK;
    return (bytes + ROW_SLACK - 1) / ROW_SLACK * ROW_SLACK;
}

static struct fby_picture_need need_of(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    struct jpeg_area area = area_of(head, part);
    return (struct fby_picture_need){
        .scratch = {MISALIGN_BYTES + strip_stride(head, area.w) * STRIP_ROWS,
            head->orientation == 1
                ? 0
                : fby_image_bytes(area.w, area.h) + ROW_SLACK}};
}

/* ---- decoding ------------------------------------------------------------ */

static void start_decoding(
    struct jpeg_decoder *d, const struct fby_picture_part *part)
{
    d->jpeg.out_color_space     = d->head.is_cmyk ? JCS_CMYK
                                  : part->ycbcr   ? JCS_YCbCr
                                                  : JCS_RGB;
    d->jpeg.dct_method          = JDCT_ISLOW;
    d->jpeg.do_fancy_upsampling = TRUE;
    d->jpeg.do_block_smoothing  = FALSE;
    d->jpeg.scale_num           = 1;
    d->jpeg.scale_denom         = part->unit;
    jpeg_start_decompress(&d->jpeg);
}

/* Let the library decode only the columns of the area and, because upsampling
 * reads neighbours, of one MCU on each side. The library rounds to whole MCUs.
 * Returns the number of decoded pixels to the left of the area. */
static uint32_t crop_columns(
    struct jpeg_decoder *d, const struct jpeg_area *area)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    uint32_t   mcu_w = (uint32_t)jpeg->max_h_samp_factor * DCTSIZE / area->unit;
    JDIMENSION x     = area->x > mcu_w ? area->x - mcu_w : 0;
    JDIMENSION end   = area->x + area->w + mcu_w;
    end              = end < jpeg->output_width ? end : jpeg->output_width;
    JDIMENSION width = end - x;
    if (width < jpeg->output_width) {
        jpeg_crop_scanline(jpeg, &x, &width); /* may lower x */
    }
    return area->x - x;
}

/* Read rows into the strip until it is full or row `end` is reached, and set
 * strip->height. */
static void read_strip(
    struct jpeg_decoder *d, struct fby_image *strip, uint32_t end)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    JSAMPROW                       rows[STRIP_ROWS];
    for (uint32_t i = 0; i < STRIP_ROWS; i++) {
        rows[i] = strip->pixels + i * strip->stride;
    }
    strip->height = 0;
    while (strip->height < STRIP_ROWS && jpeg->output_scanline < end) {
        uint32_t rows_left = end - jpeg->output_scanline;
        uint32_t room      = STRIP_ROWS - strip->height;
        uint32_t n_read    = jpeg_read_scanlines(
               jpeg, rows + strip->height, rows_left < room ? rows_left : room);
        if (n_read == 0) {
            REFUSE(d, "JPEG ends at row %u of %u", jpeg->output_scanline,
                jpeg->output_height);
        }
        strip->height += n_read;
    }
}

/* a * b / 255, rounded to the nearest. */
static uint32_t multiply_255(uint32_t a, uint32_t b)
{
    uint32_t product = a * b + 128;
    return (product + (product >> 8)) >> 8;
}

/* Make RGB of a row of CMYK, in place. The inks are stored inverted, as Adobe's
 * programs and Pillow do: 255 is no ink. With c = 255 - stored c, and k
 * likewise, red is (255 - k) - c (255 - k) / 255. */
static void make_rgb_of_cmyk(uint8_t *row, uint32_t width)
{
    for (size_t x = 0; x < width; x++) {
        const uint8_t inks[CMYK] = {row[x * CMYK], row[x * CMYK + 1],
            row[x * CMYK + 2], row[x * CMYK + 3]};
        uint32_t      light      = inks[3];
        for (size_t k = 0; k < FBY_RGB; k++) {
            row[x * FBY_RGB + k] =
                (uint8_t)(light - multiply_255(UINT8_MAX - inks[k], light));
        }
    }
}

/* Return the wanted columns of a strip, as RGB (or Y, Cb, Cr). */
static struct fby_image rows_of_strip(const struct jpeg_decoder *d,
    const struct fby_image *strip, uint32_t extra_left, uint32_t width)
{
    struct fby_image rows    = *strip;
    bool             convert = d->head.is_cmyk;
    rows.pixels += (size_t)extra_left * decoded_channels(convert);
    rows.width = width;
    for (uint32_t y = 0; convert && y < rows.height; y++) {
        make_rgb_of_cmyk(rows.pixels + y * rows.stride, width);
    }
    return rows;
}

/* Decode the area strip by strip. Rows go to the sink, or to `upright` if the
 * orientation is not 1. */
static void read_area(struct jpeg_decoder *d, const struct jpeg_area *area,
    const struct fby_image *upright)
{
    uint32_t extra_left = crop_columns(d, area);
    /* The library bypasses the cache when it writes to addresses that are
     * multiples of 16 or 32. The rows of a strip are read again at once and
     * should be cached, so they begin at other addresses. */
    struct fby_image strip = {
        .pixels = (uint8_t *)d->scratch[0].memory + MISALIGN_BYTES,
        .stride = strip_stride(&d->head, area->w)};
    /* The library skips rows correctly only once, from row 0. If that skip ends
     * before the area, read the other rows. The library itself decodes the
     * row of MCUs above the area, because upsampling reads neighbours. */
    if (area->y > 0) {
        jpeg_skip_scanlines(&d->jpeg, area->y);
    }
    while (d->jpeg.output_scanline < area->y) {
        read_strip(d, &strip, area->y);
    }
    while (d->jpeg.output_scanline < area->y + area->h) {
        uint32_t first_row = d->jpeg.output_scanline - area->y;
        read_strip(d, &strip, area->y + area->h);
        struct fby_image rows = rows_of_strip(d, &strip, extra_left, area->w);
        if (d->orientation == 1) {
            d->sink->rows(d->sink->arg, &rows);
        } else {
            fby_orient_rows(&rows, first_row, d->orientation, upright);
        }
    }
}

static void decode_part(
    struct jpeg_decoder *d, const struct fby_picture_part *part)
{
    struct fby_picture_need   need   = need_of(&d->head, part);
    struct fby_picture_region region = region_of(&d->head, part);
    struct jpeg_area          area   = area_of(&d->head, part);
    fby_err                   err =
        fby_picture_alloc_scratch(&need, &d->head, d->scratch, d->why);
    if (err != FBY_OK) {
        fail(d, err);
    }
    struct fby_image upright = {d->scratch[1].memory,
        (size_t)region.width * FBY_RGB, region.width, region.height};
    start_decoding(d, part);
    read_area(d, &area, &upright);
    if (d->orientation != 1) {
        d->sink->rows(d->sink->arg, &upright);
    }
}

static void decode_file(struct jpeg_decoder *d)
{
    struct fby_picture_part part = {.unit = 1};
    read_header(d);
    d->head = head_of(d);
    if (d->sink == NULL) {
        return; /* only the header is wanted */
    }
    fby_err err = d->sink->head(d->sink->arg, &d->head, &part, d->why);
    if (err != FBY_OK) {
        fail(d, err);
    }
    decode_part(d, &part);
}

/* Call decode_file. After an error `fail` jumps back to here. */
static fby_err run_decoder(struct jpeg_decoder *d)
{
    if (setjmp(d->exit_point) == 0) {
        decode_file(d);
    }
    jpeg_destroy_decompress(&d->jpeg); /* no effect if it was not created */
    return d->err;
}

static fby_err read_head(const struct fby_picture_file *file,
    struct fby_picture_head *out, struct fby_error_detail *why)
{
    struct jpeg_decoder d   = {.file = file, .why = why};
    fby_err             err = run_decoder(&d);
    if (err == FBY_OK) {
        *out = d.head;
    }
    return err;
}

static fby_err stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_error_detail *why)
{
    struct jpeg_decoder d = {
        .file = file, .sink = sink, .scratch = scratch, .why = why};
    return run_decoder(&d);
}

const struct fby_picture_decoder fby_jpeg_picture = {
    read_head, region_of, need_of, stream};
