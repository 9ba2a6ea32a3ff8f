/* jpeg_parts.h - does the installed libjpeg decode parts as it does wholes?
 *
 * We take only the part of a picture that is wanted. Whether that gives the
 * pixels of the whole picture depends on the library, which is not ours: some
 * releases return wrong rows or columns. A worker asks before it starts. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_JPEG_PARTS_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_JPEG_PARTS_H

#include "worker/transform/jpeg.h"

/* Parts of the built-in files, at their size and decoded smaller, against the
 * whole. A few milliseconds. Any thread.
 * Errors: FBY_USAGE when a pixel differs, with the file and part; FBY_FULL. */
FBY_CHECKED fby_err fby_jpeg_parts_check(struct fby_why *why);

/* The same for one file; `decode` stands for fby_jpeg_stream.
 * Errors: as above, and those of `decode`. */
FBY_CHECKED fby_err fby_jpeg_parts_check_file(
    const struct fby_picture_file *file, fby_picture_stream *decode,
    struct fby_why *why);

#endif
