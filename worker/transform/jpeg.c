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

enum { APP1 = JPEG_APP0 + 1, SEGMENT_BYTES = 0xffff, ROWS_AT_ONCE = 16 };

struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr         errors;
    struct jpeg_progress_mgr      progress;
    jmp_buf                       leave;
    struct fby_why               *why;
    fby_err                       err;
    uint32_t                      orientation; /* 1 to 8 */
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

static uint32_t find_orientation(const struct jpeg_decompress_struct *jpeg)
{
    for (jpeg_saved_marker_ptr m = jpeg->marker_list; m != NULL; m = m->next) {
        uint32_t orientation = fby_exif_orientation(m->data, m->data_length);
        if (orientation != 0) {
            return orientation;
        }
    }
    return 1;
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

/* Coefficients of all blocks, which a file in several scans is held as. */
static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *jpeg)
{
    uint64_t blocks = 0;
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *part = &jpeg->comp_info[i];
        blocks += (uint64_t)part->width_in_blocks * part->height_in_blocks;
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
    jpeg_save_markers(&d->jpeg, APP1, SEGMENT_BYTES);
    jpeg_mem_src(&d->jpeg, file->bytes, file->size);
    jpeg_read_header(&d->jpeg, TRUE);
    check_kind(d);
    check_size(d, file->size);
    d->orientation = find_orientation(&d->jpeg);
}

static void start_decoding(struct decoder *d)
{
    d->jpeg.out_color_space     = JCS_RGB;
    d->jpeg.dct_method          = JDCT_ISLOW;
    d->jpeg.do_fancy_upsampling = TRUE;
    d->jpeg.do_block_smoothing  = FALSE;
    jpeg_start_decompress(&d->jpeg);
}

static void read_rows(struct decoder *d, const struct fby_image *out)
{
    while (d->jpeg.output_scanline < out->height) {
        JSAMPROW rows[ROWS_AT_ONCE];
        uint32_t first = d->jpeg.output_scanline;
        uint32_t n     = out->height - first;
        n              = n < ROWS_AT_ONCE ? n : ROWS_AT_ONCE;
        for (uint32_t i = 0; i < n; i++) {
            rows[i] = out->pixels + (first + i) * out->stride;
        }
        if (jpeg_read_scanlines(&d->jpeg, rows, n) == 0) {
            leave(d, fby_because(d->why, FBY_BAD_SAMPLE,
                         "JPEG ends at row %u of %u", first, out->height));
        }
    }
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

static void put_upright(
    struct decoder *d, struct fby_scratch *scratch, struct fby_image *image)
{
    struct fby_image stored  = *image;
    struct fby_image upright = {0};
    bool             turns   = fby_orientation_turns(d->orientation);
    take_memory(d, scratch, turns ? stored.height : stored.width,
        turns ? stored.width : stored.height, &upright);
    fby_orient(&stored, d->orientation, &upright);
    *image = upright;
}

/* What a call asks of the decoder; `scratch` is NULL for the size alone. */
struct wish {
    const struct fby_jpeg_file *file;
    struct fby_scratch         *scratch;
    struct fby_image           *out;
};

static void do_wish(struct decoder *d, const struct wish *wish)
{
    struct fby_image *out = wish->out;
    read_header(d, wish->file);
    if (wish->scratch == NULL) {
        bool turns  = fby_orientation_turns(d->orientation);
        out->width  = turns ? d->jpeg.image_height : d->jpeg.image_width;
        out->height = turns ? d->jpeg.image_width : d->jpeg.image_height;
        return;
    }
    take_memory(
        d, &wish->scratch[0], d->jpeg.image_width, d->jpeg.image_height, out);
    start_decoding(d);
    read_rows(d, out);
    if (d->orientation != 1) {
        put_upright(d, &wish->scratch[1], out);
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

fby_err fby_jpeg_size(const struct fby_jpeg_file *file, uint32_t *out_width,
    uint32_t *out_height, struct fby_why *why)
{
    struct decoder   d     = {.why = why};
    struct fby_image image = {0};
    fby_err          err   = run(&d, &(struct wish){file, NULL, &image});
    if (err == FBY_OK) {
        *out_width  = image.width;
        *out_height = image.height;
    }
    return err;
}

fby_err fby_jpeg_decode(const struct fby_jpeg_file *file,
    struct fby_scratch scratch[2], struct fby_image *out, struct fby_why *why)
{
    struct decoder   d     = {.why = why};
    struct fby_image image = {0};
    fby_err          err   = run(&d, &(struct wish){file, scratch, &image});
    if (err == FBY_OK) {
        *out = image;
    }
    return err;
}
