/* SPDX-License-Identifier: Apache-2.0 */
/* text_file.h - read the text files that a pipeline file names. */
#ifndef FBY_PIPELINE_TEXT_FILE_H
#define FBY_PIPELINE_TEXT_FILE_H

#include "common/bytes.h"
#include "common/err.h"

/* Append the bytes of a regular file of at most `max_bytes` to `out`.
 * Blocks: for the file.
 * Errors: FBY_CONFIG  the file cannot be read, is no regular file, or is too
 *                     long. */
FBY_CHECKED fby_err fby_text_file_read(const char *path, size_t max_bytes,
    struct fby_buffer *out, struct fby_error_detail *why);

#endif
