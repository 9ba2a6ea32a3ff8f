/* SPDX-License-Identifier: Apache-2.0 */
/* npy_reader.h - read the headers of NumPy files (.npy), and find the members
 * of zip archives of them (.npz).
 *
 * These functions read bytes from an open object (object.h), and worker/npy/
 * parses the bytes. Only headers and the directory of an archive are read.
 * Files are untrusted: every offset and size is validated against the size of
 * the file before it is returned. */
#ifndef FBY_WORKER_SOURCE_NPY_READER_H
#define FBY_WORKER_SOURCE_NPY_READER_H

#include "worker/npy/npy.h"
#include "worker/npy/zip.h"
#include "worker/source/object.h"

/* Read the header of the NumPy file that is in `extent` of `object`. out->data
 * stays NULL; *head_size is the size of the header, in bytes.
 * Errors: FBY_BAD_SAMPLE  it is not a NumPy file;  FBY_IO */
FBY_CHECKED fby_err fby_npy_file_read_head(const struct fby_object *object,
    struct fby_extent extent, struct fby_npy *out, size_t *head_size,
    struct fby_error_detail *why);

/* An open archive, whose members are visited in the order of its directory. */
struct fby_zip_file {
    const struct fby_object *object; /* the archive; borrowed */
    uint64_t                 size;   /* bytes of the archive */
    struct fby_zip_directory directory;
    uint8_t                 *window; /* some bytes of the directory; owned */
    struct fby_reader unread; /* those that fby_zip_file_next has not visited */
    uint64_t          next;   /* offset in the archive of those after them */
};

/* Find the directory of the archive `object`. Release `self` with
 * fby_zip_file_fini(), also after an error. Errors: FBY_CONFIG, FBY_IO. */
FBY_CHECKED fby_err fby_zip_file_open(struct fby_zip_file *self,
    const struct fby_object *object, uint64_t size,
    struct fby_error_detail *why);
void                fby_zip_file_fini(struct fby_zip_file *self);

/* Has the directory more members to visit? */
bool fby_zip_file_has_more(const struct fby_zip_file *self);

/* Visit the next member, which there must be. Its `name`, which may be NULL, is
 * valid until the next call.
 * Errors: FBY_CONFIG  the directory is damaged
 *         FBY_IO. */
FBY_CHECKED fby_err fby_zip_file_next(struct fby_zip_file *self,
    struct fby_zip_member *out, struct fby_zip_name *name,
    struct fby_error_detail *why);

/* Set *out to the offset of a member's content in the archive, in bytes.
 * Errors: FBY_CONFIG  the member is compressed or encrypted, or its header is
 *                     damaged;  FBY_IO */
FBY_CHECKED fby_err fby_zip_file_find_content(const struct fby_zip_file *self,
    const struct fby_zip_member *member, uint64_t *out,
    struct fby_error_detail *why);

#endif
