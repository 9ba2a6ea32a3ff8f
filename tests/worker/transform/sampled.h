/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.h - JPEG files of ramps, with any chroma sampling. */
#ifndef FBY_TESTS_WORKER_TRANSFORM_SAMPLED_H
#define FBY_TESTS_WORKER_TRANSFORM_SAMPLED_H

#include <stdio.h>
/* after stdio.h */
#include <jpeglib.h>

#include "tests/worker/transform/pictures.h"
#include "worker/transform/orient.h"

enum { RAMP_SIDE = 230 /* pixels that a ramp spans in x and in y, at most */ };

struct sampling {                /* blocks of an MCU in x and y */
    uint32_t h, v;               /* of Y */
    uint32_t chroma_h, chroma_v; /* of Cb and of Cr */
};

/* The brightness rises to the right and down, or to the left and down; the
 * colour changes slightly. */
enum ramp { RAMP_RIGHT, RAMP_LEFT, N_RAMPS };

/* Red, green or blue at a point of the upright picture. */
static inline double ramp_at(enum ramp ramp, int channel, double x, double y)
{
    static const double tints[FBY_RGB][2] = {
        {0.04, -0.03}, {-0.02, 0.04}, {0.03, 0.05}};
    double light =
        ramp == RAMP_RIGHT ? 15 + 0.5 * x + 0.4 * y : 130 - 0.5 * x + 0.4 * y;
    return light + tints[channel][0] * x + tints[channel][1] * y;
}

/* The ramps as a camera with that orientation stores them. */
static inline struct fby_image stored_ramp(
    enum ramp ramp, uint32_t width, uint32_t height, uint32_t orientation)
{
    static const uint32_t undo[9] = {1, 1, 2, 3, 4, 5, 8, 7, 6};
    bool                  turns   = fby_orientation_turns(orientation);
    struct fby_image      upright = new_picture(width, height);
    struct fby_image      stored =
        new_picture(turns ? height : width, turns ? width : height);
    for (uint32_t i = 0; i < width * height * FBY_RGB; i++) {
        uint32_t x        = i / FBY_RGB % width;
        uint32_t y        = i / FBY_RGB / width;
        double   level    = ramp_at(ramp, (int)(i % FBY_RGB), x, y);
        upright.pixels[i] = (uint8_t)(level + 0.5);
    }
    fby_orient_rows(&upright, 0, undo[orientation], &stored);
    free(upright.pixels);
    return stored;
}

/* An EXIF block with one entry: the orientation. */
static inline void write_orientation(
    struct jpeg_compress_struct *jpeg, uint32_t orientation)
{
    uint8_t block[] = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1,
        0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, (uint8_t)orientation, 0, 0, 0, 0, 0, 0,
        0};
    jpeg_write_marker(jpeg, JPEG_APP0 + 1, block, sizeof(block));
}

static inline void set_samplings(
    struct jpeg_compress_struct *jpeg, const struct sampling *sampling)
{
    for (int c = 0; c < FBY_RGB; c++) {
        jpeg->comp_info[c].h_samp_factor =
            (int)(c == 0 ? sampling->h : sampling->chroma_h);
        jpeg->comp_info[c].v_samp_factor =
            (int)(c == 0 ? sampling->v : sampling->chroma_v);
    }
}

/* A file of `width` x `height` pixels, upright. */
static inline struct fby_buffer ramp_file(enum ramp ramp,
    const struct sampling *sampling, uint32_t width, uint32_t height,
    uint32_t orientation)
{
    struct fby_image image = stored_ramp(ramp, width, height, orientation);
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr       errors;
    struct fby_buffer           out   = {0};
    unsigned char              *bytes = NULL;
    unsigned long               size  = 0;
    jpeg.err                          = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width      = image.width;
    jpeg.image_height     = image.height;
    jpeg.input_components = FBY_RGB;
    jpeg.in_color_space   = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    set_samplings(&jpeg, sampling);
    jpeg_start_compress(&jpeg, TRUE);
    write_orientation(&jpeg, orientation);
    while (jpeg.next_scanline < image.height) {
        JSAMPROW row = image.pixels + jpeg.next_scanline * image.stride;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fby_put_bytes(&out, bytes, size);
    free(bytes);
    free(image.pixels);
    return out;
}

#endif
