/* jpeg.c - decode untrusted files with libjpeg-turbo.
 *
 * The library reports errors by callbacks, and the callbacks leave by longjmp.
 * A jpeg_decoder holds all state of a call, so that no local variable is used
 * after the jump. Each file gets a new decompressor: a used one would apply
 * the tables of the last file to a file without tables. */
#include "worker/transform/jpeg.h"

#include <setjmp.h>
#include <stdio.h>
/* after stdio.h */
#include <jerror.h>
#include <jpeglib.h>
#include <string.h>

#include "worker/transform/orient.h"

enum {
    APP1          = JPEG_APP0 + 1,
    ROWS_AT_ONCE  = 16, /* rows of a strip, which stays in the cache */
    ROW_SLACK     = 64, /* bytes after a strip's row */
    OFF_ALIGNMENT = 8,  /* bytes before a strip's first row: see strip_of */
    BESIDE        = 2 * 2 * MAX_SAMP_FACTOR * DCTSIZE, /* most pixels decoded
                                                          beside an area */
    FIXED_BYTES   = 128 << 10, /* the library's tables etc. for any file */
    ROWS_BUFFERED = 32         /* most rows, of all channels, in the library */
};

struct jpeg_decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr         errors;
    struct jpeg_progress_mgr      progress;
    jmp_buf                       leave;
    struct fby_why               *why;
    fby_err                       err;
    bool     has_scans;   /* several scans: kept as coefficients */
    uint32_t orientation; /* 1 to 8; 0: no EXIF block found yet */
};

static _Noreturn void leave(struct jpeg_decoder *d, fby_err err)
{
    d->err = err;
    longjmp(d->leave, 1);
}

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
        leave(d, fby_because(d->why, FBY_FULL, "%s", message));
    }
    leave(d, fby_because(d->why, FBY_BAD_SAMPLE, "JPEG: %s", message));
}

/* The library warns of data that it repairs; such pictures are refused. Two
 * warnings concern version numbers in headers, and no pixel. */
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
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG has more than %d scans, the most that is decoded",
                     FBY_JPEG_MAX_SCANS));
    }
}

static void no_output(j_common_ptr jpeg)
{
    (void)jpeg;
}

/* Read the first EXIF block in place: the library would copy every APP1 segment
 * of the file. Then skip the segment as the library skips others: its length
 * includes the two length bytes, and skipping finds the end of the file. */
static boolean on_app1(j_decompress_ptr jpeg)
{
    struct jpeg_decoder    *d      = jpeg->client_data;
    struct jpeg_source_mgr *source = jpeg->src;
    const uint8_t          *bytes  = source->next_input_byte;
    size_t                  left   = source->bytes_in_buffer;
    size_t                  size   = 2;
    if (left >= 2 && (bytes[0] << 8 | bytes[1]) > 2) {
        size = (size_t)(bytes[0] << 8 | bytes[1]);
    }
    if (d->orientation == 0 && size <= left) {
        d->orientation = fby_exif_orientation(bytes + 2, size - 2);
    }
    source->skip_input_data(jpeg, (long)size);
    return TRUE;
}

/* jpeg_create_decompress clears the struct except `err` and `client_data`. It
 * may already leave when memory is short. */
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

static const char *refused_colour(J_COLOR_SPACE space)
{
    if (space == JCS_CMYK) {
        return "CMYK";
    }
    return space == JCS_YCCK ? "YCCK" : NULL;
}

static void check_kind(struct jpeg_decoder *d)
{
    const struct jpeg_decompress_struct *jpeg = &d->jpeg;
    const char *colour = refused_colour(jpeg->jpeg_color_space);
    if (colour != NULL) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG is %s; grey, YCbCr or RGB is needed", colour));
    }
    if (jpeg->num_components != 1 && jpeg->num_components != 3) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG has %d channels; 1 or 3 are needed",
                     jpeg->num_components));
    }
    if (jpeg->arith_code) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG is arithmetic-coded; Huffman coding is needed"));
    }
}

static uint64_t rounded_up(uint64_t value, int step)
{
    uint64_t wide = (uint64_t)step;
    return (value + wide - 1) / wide * wide;
}

/* Bytes of all coefficients of a file of several scans. The library rounds up
 * to whole groups of blocks. */
static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *jpeg)
{
    uint64_t blocks = 0;
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *part = &jpeg->comp_info[i];
        blocks += rounded_up(part->width_in_blocks, part->h_samp_factor) *
                  rounded_up(part->height_in_blocks, part->v_samp_factor);
    }
    return blocks * sizeof(JBLOCK);
}

static void check_size(struct jpeg_decoder *d, size_t size)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    uint64_t pixels = (uint64_t)jpeg->image_width * jpeg->image_height;
    if (pixels > FBY_PICTURE_MAX_PIXELS) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG claims %u x %u pixels; at most %llu are decoded",
                     jpeg->image_width, jpeg->image_height,
                     (unsigned long long)FBY_PICTURE_MAX_PIXELS));
    }
    if (pixels / FBY_JPEG_MAX_PIXELS_PER_BYTE > size) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG claims %u x %u pixels in %zu bytes; no JPEG packs "
                     "so many",
                     jpeg->image_width, jpeg->image_height, size));
    }
    if (d->has_scans &&
        coefficient_bytes(jpeg) > FBY_JPEG_MAX_COEFFICIENT_BYTES) {
        leave(d,
            fby_because(d->why, FBY_BAD_SAMPLE,
                "JPEG of several scans claims %u x %u pixels; at most %d MiB "
                "of coefficients are kept",
                jpeg->image_width, jpeg->image_height,
                FBY_JPEG_MAX_COEFFICIENT_BYTES >> 20));
    }
}

static void read_header(
    struct jpeg_decoder *d, const struct fby_picture_file *file)
{
    if (file->size == 0) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE, "JPEG file of 0 bytes"));
    }
    open_decoder(d);
    jpeg_set_marker_processor(&d->jpeg, APP1, on_app1);
    jpeg_mem_src(&d->jpeg, file->bytes, file->size);
    jpeg_read_header(&d->jpeg, TRUE);
    check_kind(d);
    d->has_scans = jpeg_has_multiple_scans(&d->jpeg) != FALSE;
    check_size(d, file->size);
    d->orientation = d->orientation == 0 ? 1 : d->orientation;
}

/* Before 3.0 the library makes wrong pixels when it scales samplings with four
 * blocks in one direction and two in the other. None with more than four blocks
 * is scaled. */
static bool scales_right(const struct jpeg_decompress_struct *jpeg)
{
    return jpeg->max_h_samp_factor * jpeg->max_v_samp_factor <= 4;
}

static struct fby_picture_head head_of(const struct jpeg_decoder *d)
{
    const struct jpeg_decompress_struct *jpeg = &d->jpeg;

    bool     turns = fby_orientation_turns(d->orientation);
    uint32_t w     = jpeg->image_width;
    uint32_t h     = jpeg->image_height;
    uint64_t rows =
        fby_image_bytes(w + DCTSIZE * MAX_SAMP_FACTOR, ROWS_BUFFERED);
    return (struct fby_picture_head){
        .width       = turns ? h : w,
        .height      = turns ? w : h,
        .orientation = d->orientation,
        .channels    = FBY_RGB,
        .is_scalable = scales_right(jpeg),
        .is_ycbcr    = jpeg->jpeg_color_space == JCS_YCbCr,
        .library_bytes =
            FIXED_BYTES + rows + (d->has_scans ? coefficient_bytes(jpeg) : 0),
    };
}

/* ---- which part ---------------------------------------------------------- */

/* The pixels to decode, in the picture as it is stored. */
struct jpeg_area {
    uint32_t unit;
    uint32_t x, y, w, h;     /* pixels of `unit` */
    uint32_t lead_x, lead_y; /* pixels of the area before the box */
    uint32_t tail_x, tail_y; /* pixels of the area after the box */
};

static struct jpeg_area area_of(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    struct fby_box b = fby_orient_box(
        &part->box, head->width, head->height, head->orientation);
    uint32_t         unit = part->unit;
    struct jpeg_area area = {.unit = unit,
        .x                         = b.x / unit,
        .y                         = b.y / unit,
        .lead_x                    = b.x % unit,
        .lead_y                    = b.y % unit};
    area.w                = (area.lead_x + b.w + unit - 1) / unit;
    area.h                = (area.lead_y + b.h + unit - 1) / unit;
    area.tail_x           = area.w * unit - area.lead_x - b.w;
    area.tail_y           = area.h * unit - area.lead_y - b.h;
    return area;
}

struct fby_picture_region fby_jpeg_region(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    struct jpeg_area a      = area_of(head, part);
    uint32_t         o      = head->orientation;
    bool             turns  = fby_orientation_turns(o);
    bool             right  = o == 2 || o == 3 || o == 7 || o == 8;
    bool             bottom = o == 3 || o == 4 || o == 6 || o == 7;
    uint32_t         x = right ? a.tail_x : a.lead_x; /* along stored rows */
    uint32_t         y = bottom ? a.tail_y : a.lead_y;
    return (struct fby_picture_region){
        .width  = turns ? a.h : a.w,
        .height = turns ? a.w : a.h,
        .skew_x = turns ? y : x,
        .skew_y = turns ? x : y,
    };
}

/* Bytes of a strip's row: the region and the pixels decoded beside it. */
static size_t strip_stride(uint32_t width)
{
    size_t bytes = (size_t)(width + BESIDE) * FBY_RGB + ROW_SLACK;
    return (bytes + ROW_SLACK - 1) / ROW_SLACK * ROW_SLACK;
}

struct fby_picture_need fby_jpeg_need(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    struct jpeg_area area = area_of(head, part);
    return (struct fby_picture_need){
        .scratch = {OFF_ALIGNMENT + strip_stride(area.w) * ROWS_AT_ONCE,
            head->orientation == 1
                ? 0
                : fby_image_bytes(area.w, area.h) + ROW_SLACK}};
}

/* ---- decoding ------------------------------------------------------------ */

static void start_decoding(
    struct jpeg_decoder *d, const struct fby_picture_part *part)
{
    d->jpeg.out_color_space     = part->ycbcr ? JCS_YCbCr : JCS_RGB;
    d->jpeg.dct_method          = JDCT_ISLOW;
    d->jpeg.do_fancy_upsampling = TRUE;
    d->jpeg.do_block_smoothing  = FALSE;
    d->jpeg.scale_num           = 1;
    d->jpeg.scale_denom         = part->unit;
    jpeg_start_decompress(&d->jpeg);
}

/* Pixels, in x or y, that the library decodes at a time. */
static uint32_t group_of(int samp_factor, uint32_t unit)
{
    return (uint32_t)samp_factor * DCTSIZE / unit;
}

/* Do not decode the columns of blocks beside the area, except one group on each
 * side, which upsampling needs. Returns the number of decoded pixels before the
 * area. */
static uint32_t crop_columns(
    struct jpeg_decoder *d, const struct jpeg_area *area)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    uint32_t   beside = group_of(jpeg->max_h_samp_factor, area->unit);
    JDIMENSION x      = area->x > beside ? area->x - beside : 0;
    JDIMENSION end    = area->x + area->w + beside;
    end               = end < jpeg->output_width ? end : jpeg->output_width;
    JDIMENSION width  = end - x;
    if (width < jpeg->output_width) {
        jpeg_crop_scanline(jpeg, &x, &width);
    }
    return area->x - x;
}

/* Skip the rows above the area. The library does this correctly only once, from
 * row 0. It decodes the group of blocks above the area, which upsampling needs,
 * by itself. */
static void skip_rows(struct jpeg_decoder *d, const struct jpeg_area *area)
{
    if (area->y > 0) {
        jpeg_skip_scanlines(&d->jpeg, area->y);
    }
}

static void take_memory(
    struct jpeg_decoder *d, struct fby_scratch *scratch, uint64_t bytes)
{
    if (fby_scratch_need(scratch, bytes) != FBY_OK) {
        leave(d, fby_because(d->why, FBY_FULL,
                     "no memory for a picture of %u x %u pixels",
                     d->jpeg.image_width, d->jpeg.image_height));
    }
}

/* Read rows into the strip until it is full or row `end` is reached, and set
 * strip->height. */
static void fill_strip(
    struct jpeg_decoder *d, struct fby_image *strip, uint32_t end)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    JSAMPROW                       at[ROWS_AT_ONCE];
    for (uint32_t i = 0; i < ROWS_AT_ONCE; i++) {
        at[i] = strip->pixels + i * strip->stride;
    }
    strip->height = 0;
    while (strip->height < ROWS_AT_ONCE && jpeg->output_scanline < end) {
        uint32_t left = end - jpeg->output_scanline;
        uint32_t room = ROWS_AT_ONCE - strip->height;
        uint32_t n    = jpeg_read_scanlines(
               jpeg, at + strip->height, left < room ? left : room);
        if (n == 0) {
            leave(d,
                fby_because(d->why, FBY_BAD_SAMPLE, "JPEG ends at row %u of %u",
                    jpeg->output_scanline, jpeg->output_height));
        }
        strip->height += n;
    }
}

/* The arguments of a call; without a sink only the head is read. */
struct jpeg_request {
    const struct fby_picture_file *file;
    const struct fby_picture_sink *sink;
    struct fby_scratch            *scratch;
    struct fby_picture_head       *head;
};

/* Pass rows to the sink, or copy them to `turned` if the orientation is not 1.
 * `first` is the number of the first row in the area. */
static void deliver(struct jpeg_decoder *d, const struct fby_picture_sink *sink,
    const struct fby_image *rows, uint32_t first,
    const struct fby_image *turned)
{
    if (turned->pixels == NULL) {
        sink->rows(sink->arg, rows);
    } else {
        fby_orient(rows, first, d->orientation, turned);
    }
}

/* The library writes rows at multiples of 16 or 32 bytes past the cache. These
 * rows are read again at once, so they begin off such multiples. */
static struct fby_image strip_of(
    const struct fby_scratch *scratch, const struct jpeg_area *area)
{
    return (struct fby_image){
        .pixels = (uint8_t *)scratch->memory + OFF_ALIGNMENT,
        .stride = strip_stride(area->w)};
}

static void read_area(struct jpeg_decoder *d, const struct jpeg_area *area,
    const struct jpeg_request *request, const struct fby_image *turned)
{
    uint32_t         beside = crop_columns(d, area);
    struct fby_image strip  = strip_of(&request->scratch[0], area);
    skip_rows(d, area);
    while (d->jpeg.output_scanline < area->y) {
        fill_strip(d, &strip, area->y);
    }
    while (d->jpeg.output_scanline < area->y + area->h) {
        uint32_t first = d->jpeg.output_scanline - area->y;
        fill_strip(d, &strip, area->y + area->h);
        struct fby_image rows = strip;
        rows.pixels += (size_t)beside * FBY_RGB;
        rows.width = area->w;
        deliver(d, request->sink, &rows, first, turned);
    }
}

static void decode(struct jpeg_decoder *d, const struct jpeg_request *request,
    const struct fby_picture_part *part)
{
    const struct fby_picture_sink *sink = request->sink;
    struct fby_picture_need        need = fby_jpeg_need(request->head, part);
    struct fby_picture_region region    = fby_jpeg_region(request->head, part);
    struct jpeg_area          area      = area_of(request->head, part);
    struct fby_image          turned    = {0};
    take_memory(d, &request->scratch[0], need.scratch[0]);
    if (d->orientation != 1) {
        take_memory(d, &request->scratch[1], need.scratch[1]);
        turned = (struct fby_image){request->scratch[1].memory,
            (size_t)region.width * FBY_RGB, region.width, region.height};
    }
    start_decoding(d, part);
    read_area(d, &area, request, &turned);
    if (d->orientation != 1) {
        sink->rows(sink->arg, &turned);
    }
}

static void serve(struct jpeg_decoder *d, const struct jpeg_request *request)
{
    struct fby_picture_part part = {.unit = 1};
    read_header(d, request->file);
    *request->head = head_of(d);
    if (request->sink == NULL) {
        return;
    }
    fby_err err =
        request->sink->head(request->sink->arg, request->head, &part, d->why);
    if (err != FBY_OK) {
        leave(d, err);
    }
    decode(d, request, &part);
}

/* The only function that calls setjmp. */
static fby_err run(struct jpeg_decoder *d, const struct jpeg_request *request)
{
    if (setjmp(d->leave) == 0) {
        serve(d, request);
    }
    jpeg_destroy_decompress(&d->jpeg); /* harmless when never created */
    return d->err;
}

fby_err fby_jpeg_read_head(const struct fby_picture_file *file,
    struct fby_picture_head *out, struct fby_why *why)
{
    struct jpeg_decoder d = {.why = why};
    return run(&d, &(struct jpeg_request){.file = file, .head = out});
}

fby_err fby_jpeg_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_why *why)
{
    struct jpeg_decoder     d    = {.why = why};
    struct fby_picture_head head = {0};
    return run(&d, &(struct jpeg_request){file, sink, scratch, &head});
}

/* ---- whole pictures ------------------------------------------------------ */

const struct fby_picture_decoder fby_jpeg_picture = {
    fby_jpeg_read_head, fby_jpeg_region, fby_jpeg_need, fby_jpeg_stream};

fby_err fby_jpeg_decode(const struct fby_picture_file *file,
    struct fby_scratch *whole, struct fby_image *out, struct fby_why *why)
{
    return fby_picture_decode(&fby_jpeg_picture, file, whole, out, why);
}
