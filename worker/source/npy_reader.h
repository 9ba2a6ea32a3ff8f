/* SPDX-License-Identifier: Apache-2.0 */
/* npy_reader.h - read the headers of NumPy files (.npy).
 *
 * The bytes come from an open object (object.h), and worker/npy/ parses them.
 * Files are untrusted: every size is validated before it is returned. */
#ifndef FBY_WORKER_SOURCE_NPY_READER_H
#define FBY_WORKER_SOURCE_NPY_READER_H

#include "worker/npy/npy.h"
#include "worker/source/object.h"

/* Read the header of the NumPy file that is in `extent` of `object`. out->data
 * stays NULL; *head_size is the size of the header, in bytes.
 * Errors: FBY_BAD_SAMPLE  it is not a NumPy file;  FBY_IO */
FBY_CHECKED fby_err fby_npy_file_read_head(const struct fby_object *object,
    struct fby_extent extent, struct fby_npy *out, size_t *head_size,
    struct fby_error_detail *why);

#endif
