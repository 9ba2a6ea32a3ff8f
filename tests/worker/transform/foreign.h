/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.h - JPEG files that photos.h cannot make. */
#ifndef FBY_TESTS_WORKER_TRANSFORM_FOREIGN_H
#define FBY_TESTS_WORKER_TRANSFORM_FOREIGN_H

#include <stdio.h>
/* after stdio.h */
#include <jpeglib.h>

#include "tests/worker/transform/pictures.h"

struct foreign {
    J_COLOR_SPACE space;
    int           channels;
    bool          arithmetic;
    bool          planes; /* one scan per channel */
};

static inline struct fby_buffer foreign_file(struct foreign kind)
{
    static const jpeg_scan_info scans[3] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr       errors;
    struct fby_buffer           out   = {0};
    unsigned char              *bytes = NULL;
    unsigned long               size  = 0;
    uint8_t                     row[160];
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width      = 40;
    jpeg.image_height     = 24;
    jpeg.input_components = kind.channels;
    jpeg.in_color_space   = kind.space;
    jpeg_set_defaults(&jpeg);
    jpeg.arith_code = kind.arithmetic;
    if (kind.planes) {
        jpeg.scan_info = scans;
        jpeg.num_scans = 3;
    }
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW rows = row;
        for (size_t i = 0; i < sizeof(row); i++) {
            row[i] = (uint8_t)(i * 3 + (size_t)jpeg.next_scanline * 5);
        }
        jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fby_put_bytes(&out, bytes, size);
    free(bytes);
    return out;
}

#endif
