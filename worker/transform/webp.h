/* SPDX-License-Identifier: Apache-2.0 */
/* webp.h - decode a WebP in memory to rows of RGB.
 *
 * A picture is what Pillow's `convert("RGB")` makes of the file: lossy and
 * lossless files are decoded as libwebp does by default, and an alpha channel
 * is dropped. Colour profiles and EXIF data are not applied.
 *
 * Files are untrusted. These are refused (FBY_BAD_SAMPLE), and the message
 * names the reason: an animation; more pixels than FBY_PICTURE_MAX_PIXELS,
 * before memory is allocated for them; a truncated or damaged file. The format
 * has no checksums, so damage may also change pixels.
 *
 * The whole picture is decoded, also for a part of it, and never smaller.
 *
 * head.library_bytes is enough for the files of usual encoders. But a lossless
 * file may have a set of code tables for every 16 pixels, of which the library
 * keeps all. A file that was made for it can so cost 1.3 GB for the time of its
 * decoding, and the library offers no limit. */
#ifndef FBY_WORKER_TRANSFORM_WEBP_H
#define FBY_WORKER_TRANSFORM_WEBP_H

#include "worker/transform/picture.h"

/* True if the file begins as a WebP. */
bool fby_picture_is_webp(const struct fby_picture_file *file);

/* The decoder. The unit of a part must be 1. scratch[1] holds the picture. */
extern const struct fby_picture_decoder fby_webp_picture;

#endif
