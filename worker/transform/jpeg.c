/* jpeg.c - libjpeg-turbo, kept on a short lead.
 *
 * The library reports by callbacks and leaves by longjmp. A `decoder` holds
 * everything a call needs, so that no local variable lives across the jump.
 * Each file gets a fresh decompressor: a used one would lend the tables of the
 * last file to one that lacks its own, and values would depend on history. */
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
    ROWS_AT_ONCE  = 16,        /* of a picture that is turned */
    FIXED_BYTES   = 128 << 10, /* tables and the like, of any file */
    ROWS_BUFFERED = 32         /* in the library, of all channels, at most */
};

struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr         errors;
    struct jpeg_progress_mgr      progress;
    jmp_buf                       leave;
    struct fby_why               *why;
    fby_err                       err;
    uint32_t orientation; /* 1 to 8; 0: no EXIF block was met */
};

static _Noreturn void leave(struct decoder *d, fby_err err)
{
    d->err = err;
    longjmp(d->leave, 1);
}

static struct decoder *decoder_of(j_common_ptr jpeg)
{
    return jpeg->client_data;
}

static _Noreturn void refuse_with_message(j_common_ptr jpeg)
{
    struct decoder *d = decoder_of(jpeg);
    char            message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY) {
        leave(d, fby_because(d->why, FBY_FULL, "%s", message));
    }
    leave(d, fby_because(d->why, FBY_BAD_SAMPLE, "JPEG: %s", message));
}

/* The library mends what it warns of; we do not deliver mended pictures. Two
 * warnings concern a header's version numbers and no pixel. */
static void on_message(j_common_ptr jpeg, int level)
{
    int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM) {
        refuse_with_message(jpeg);
    }
}

static void on_progress(j_common_ptr jpeg)
{
    struct decoder *d = decoder_of(jpeg);
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

/* The first EXIF block counts. It is looked at where it lies, in the file: the
 * library would keep a copy of every segment, as many as a file has. It is
 * passed over as the library passes others: the length counts itself, and the
 * end of the file shows by itself. */
static boolean on_app1(j_decompress_ptr jpeg)
{
    struct decoder         *d      = jpeg->client_data;
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

/* jpeg_create_decompress clears the struct but for `err` and `client_data`;
 * it may already leave, for want of memory. */
static void open_decoder(struct decoder *d)
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

static void check_kind(struct decoder *d)
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

/* Coefficients of all blocks, which a file in several scans is held as: whole
 * groups of blocks, as the library rounds them. */
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

static void check_size(struct decoder *d, size_t size)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    uint64_t pixels = (uint64_t)jpeg->image_width * jpeg->image_height;
    if (pixels > FBY_JPEG_MAX_PIXELS) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG claims %u x %u pixels; at most %llu are decoded",
                     jpeg->image_width, jpeg->image_height,
                     (unsigned long long)FBY_JPEG_MAX_PIXELS));
    }
    if (pixels / FBY_JPEG_MAX_PIXELS_PER_BYTE > size) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG claims %u x %u pixels in %zu bytes, which cannot be",
                     jpeg->image_width, jpeg->image_height, size));
    }
    if (jpeg_has_multiple_scans(jpeg) &&
        coefficient_bytes(jpeg) > FBY_JPEG_MAX_COEFFICIENT_BYTES) {
        leave(d,
            fby_because(d->why, FBY_BAD_SAMPLE,
                "JPEG in several scans claims %u x %u pixels; at most %d MiB "
                "of coefficients are held",
                jpeg->image_width, jpeg->image_height,
                FBY_JPEG_MAX_COEFFICIENT_BYTES >> 20));
    }
}

static void read_header(struct decoder *d, const struct fby_jpeg_file *file)
{
    if (file->size == 0) {
        leave(
            d, fby_because(d->why, FBY_BAD_SAMPLE, "JPEG file holds no byte"));
    }
    open_decoder(d);
    jpeg_set_marker_processor(&d->jpeg, APP1, on_app1);
    jpeg_mem_src(&d->jpeg, file->bytes, file->size);
    jpeg_read_header(&d->jpeg, TRUE);
    check_kind(d);
    check_size(d, file->size);
    d->orientation = d->orientation == 0 ? 1 : d->orientation;
}

static struct fby_jpeg_head head_of(struct decoder *d)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;

    bool     turns = fby_orientation_turns(d->orientation);
    uint32_t w     = jpeg->image_width;
    uint32_t h     = jpeg->image_height;
    uint64_t rows =
        fby_image_bytes(w + DCTSIZE * MAX_SAMP_FACTOR, ROWS_BUFFERED);
    return (struct fby_jpeg_head){
        .width         = turns ? h : w,
        .height        = turns ? w : h,
        .scratch_bytes = {fby_image_bytes(w, h),
            d->orientation != 1 ? fby_image_bytes(w, ROWS_AT_ONCE) : 0},
        .library_bytes =
            FIXED_BYTES + rows +
            (jpeg_has_multiple_scans(jpeg) ? coefficient_bytes(jpeg) : 0),
    };
}

static void start_decoding(struct decoder *d)
{
    d->jpeg.out_color_space     = JCS_RGB;
    d->jpeg.dct_method          = JDCT_ISLOW;
    d->jpeg.do_fancy_upsampling = TRUE;
    d->jpeg.do_block_smoothing  = FALSE;
    jpeg_start_decompress(&d->jpeg);
}

static void take_memory(struct decoder *d, struct fby_scratch *scratch,
    uint32_t width, uint32_t height, struct fby_image *out)
{
    if (fby_image_in(scratch, width, height, out) != FBY_OK) {
        leave(
            d, fby_because(d->why, FBY_FULL,
                   "no memory for a picture of %u x %u pixels", width, height));
    }
}

/* The next rows, up to as many as `rows` has. */
static uint32_t read_rows(struct decoder *d, const struct fby_image *rows)
{
    JSAMPROW at[ROWS_AT_ONCE];
    uint32_t first = d->jpeg.output_scanline;
    uint32_t n     = rows->height < ROWS_AT_ONCE ? rows->height : ROWS_AT_ONCE;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = rows->pixels + i * rows->stride;
    }
    n = jpeg_read_scanlines(&d->jpeg, at, n);
    if (n == 0) {
        leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                     "JPEG ends at row %u of %u", first, d->jpeg.image_height));
    }
    return n;
}

static void read_upright(struct decoder *d, const struct fby_image *out)
{
    while (d->jpeg.output_scanline < out->height) {
        uint32_t         first = d->jpeg.output_scanline;
        struct fby_image rest  = *out;
        rest.pixels += first * out->stride;
        rest.height -= first;
        (void)read_rows(d, &rest);
    }
}

/* A strip of rows at a time: a second picture would need as much memory. */
static void read_turned(
    struct decoder *d, struct fby_scratch *scratch, const struct fby_image *out)
{
    struct fby_image strip;
    take_memory(d, scratch, d->jpeg.image_width, ROWS_AT_ONCE, &strip);
    while (d->jpeg.output_scanline < d->jpeg.image_height) {
        uint32_t         first = d->jpeg.output_scanline;
        struct fby_image rows  = strip;
        rows.height            = read_rows(d, &strip);
        fby_orient(&rows, first, d->orientation, out);
    }
}

/* What a call asks of the decoder; `scratch` is NULL for the head alone. */
struct wish {
    const struct fby_jpeg_file *file;
    const struct fby_jpeg_gate *gate;
    struct fby_scratch         *scratch;
    struct fby_jpeg_head       *head;
    struct fby_image           *out;
};

static void do_wish(struct decoder *d, const struct wish *wish)
{
    const struct fby_jpeg_gate *gate = wish->gate;
    read_header(d, wish->file);
    *wish->head = head_of(d);
    if (wish->scratch == NULL) {
        return;
    }
    fby_err err =
        gate != NULL ? gate->fn(gate->arg, wish->head, d->why) : FBY_OK;
    if (err != FBY_OK) {
        leave(d, err);
    }
    take_memory(
        d, &wish->scratch[0], wish->head->width, wish->head->height, wish->out);
    start_decoding(d);
    if (d->orientation == 1) {
        read_upright(d, wish->out);
    } else {
        read_turned(d, &wish->scratch[1], wish->out);
    }
}

/* The one place that is jumped back to. */
static fby_err run(struct decoder *d, const struct wish *wish)
{
    if (setjmp(d->leave) == 0) {
        do_wish(d, wish);
    }
    jpeg_destroy_decompress(&d->jpeg); /* harmless when never created */
    return d->err;
}

fby_err fby_jpeg_read_head(const struct fby_jpeg_file *file,
    struct fby_jpeg_head *out, struct fby_why *why)
{
    struct decoder d = {.why = why};
    return run(&d, &(struct wish){.file = file, .head = out});
}

fby_err fby_jpeg_decode(const struct fby_jpeg_file *file,
    const struct fby_jpeg_gate *gate, struct fby_scratch scratch[2],
    struct fby_image *out, struct fby_why *why)
{
    struct decoder       d     = {.why = why};
    struct fby_jpeg_head head  = {0};
    struct fby_image     image = {0};
    fby_err              err   = run(&d, &(struct wish){.file = file,
                                             .gate            = gate,
                                             .scratch         = scratch,
                                             .head            = &head,
                                             .out             = &image});
    if (err == FBY_OK) {
        *out = image;
    }
    return err;
}
