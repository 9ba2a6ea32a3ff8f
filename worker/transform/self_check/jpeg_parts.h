/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg_parts.h - check that the installed libjpeg decodes parts of pictures
 * correctly.
 *
 * The worker decodes only the part of a picture that is wanted. Some releases
 * of libjpeg return wrong rows or columns of a part. The worker checks this
 * before it starts. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_JPEG_PARTS_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_JPEG_PARTS_H

#include "worker/transform/jpeg.h"

/* Compare parts of the built-in files, in full size and decoded smaller, with
 * the whole pictures. Takes a few milliseconds. Any thread.
 * Errors: FBY_USAGE when a pixel differs, with the picture's size and the part;
 *         FBY_FULL when memory is short. */
FBY_CHECKED fby_err fby_jpeg_parts_check(struct fby_error_detail *why);

/* Check one file. `decoder` is fby_jpeg_picture, or a test's.
 * Errors: as fby_jpeg_parts_check, and those of `decoder`. */
FBY_CHECKED fby_err fby_jpeg_parts_check_file(
    const struct fby_picture_file    *file,
    const struct fby_picture_decoder *decoder, struct fby_error_detail *why);

#endif
