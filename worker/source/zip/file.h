/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - an open zip file: its members, in the order of its directory.
 *
 * The bytes come from an open object (object.h), and worker/zip/ parses them.
 * Only the directory and headers of members are read. Files are untrusted:
 * every offset and size is validated against the size of the file before it is
 * returned. */
#ifndef FBY_WORKER_SOURCE_ZIP_FILE_H
#define FBY_WORKER_SOURCE_ZIP_FILE_H

#include "worker/source/object.h"
#include "worker/zip/zip.h"

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

/* The error of a compressed member has this text, by which `forebay init` knows
 * it. */
#define FBY_ZIP_COMPRESSED \
    "it is compressed, so its rows cannot be read in place"

/* Set *out to the offset of a member's content in the archive, in bytes. The
 * member is an array (.npy) whose rows are read in place.
 * Errors: FBY_CONFIG  the member is compressed or encrypted, or its header is
 *                     damaged;  FBY_IO */
FBY_CHECKED fby_err fby_zip_file_find_content(const struct fby_zip_file *self,
    const struct fby_zip_member *member, uint64_t *out,
    struct fby_error_detail *why);

#endif
