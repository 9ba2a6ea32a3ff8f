/* SPDX-License-Identifier: Apache-2.0 */
/* picture_format.h - tell the format of a picture file by its first bytes, and
 * choose its decoder. */
#ifndef FBY_WORKER_TRANSFORM_PICTURE_FORMAT_H
#define FBY_WORKER_TRANSFORM_PICTURE_FORMAT_H

#include "worker/transform/picture.h"

/* Choose the decoder for a picture file of this field. Any thread.
 * Errors: FBY_BAD_SAMPLE
 *           a PNG or WebP in a field whose `from` does not name the format;
 *           a mask that is not a PNG;
 *           a format without a decoder, which the message names with a command
 *           that converts the file;
 *           a file of an unknown format. Where `from` names neither png nor
 *           webp, the JPEG decoder is chosen, which says what is wrong. */
FBY_CHECKED fby_err fby_picture_decoder_for(
    const struct fby_field_content *field, const struct fby_picture_file *file,
    const struct fby_picture_decoder **out, struct fby_error_detail *why);

#endif
