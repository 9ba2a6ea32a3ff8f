/* zip_file.h - an open zip file, for what is read where it lies: its members,
 * one after another, and where the bytes of each begin.
 *
 * Nothing in it is believed: what is said to lie in the file does. */
#ifndef FBY_WORKER_SOURCE_ZIP_FILE_H
#define FBY_WORKER_SOURCE_ZIP_FILE_H

#include "worker/npy/zip.h"
#include "worker/source/object.h"

struct fby_zip_file {
    const struct fby_object *object; /* borrowed */
    uint64_t                 size;
    uint8_t                 *directory;
    struct fby_reader        left; /* of it */
};

/* Read its directory. Release it with fini, also after an error.
 * Errors: FBY_CONFIG, FBY_IO. */
FBY_CHECKED fby_err fby_zip_file_open(struct fby_zip_file *self,
    const struct fby_object *object, uint64_t size, struct fby_why *why);
void                fby_zip_file_fini(struct fby_zip_file *self);

/* Is there another member? */
static inline bool fby_zip_file_more(const struct fby_zip_file *self)
{
    return self->left.left > 0;
}

/* The next one. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_zip_file_next(
    struct fby_zip_file *self, struct fby_zip_member *out, struct fby_why *why);

/* Where the bytes of a stored member begin: all of them lie in the file.
 * Errors: FBY_CONFIG, also of one that is compressed; FBY_IO. */
FBY_CHECKED fby_err fby_zip_file_place(const struct fby_zip_file *self,
    const struct fby_zip_member *member, uint64_t *out, struct fby_why *why);

#endif
