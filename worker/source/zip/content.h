/* SPDX-License-Identifier: Apache-2.0 */
/* content.h - read the content of an entry of a zip archive: stored bytes as
 * they are, or deflated bytes through zlib. */
#ifndef FBY_WORKER_SOURCE_ZIP_CONTENT_H
#define FBY_WORKER_SOURCE_ZIP_CONTENT_H

#include <pthread.h>

#include "worker/source/zip/entries.h"

struct fby_zip_scratch;

/* Memory for reads, kept for the next ones: 400 KiB for each read that runs at
 * the same time. */
struct fby_zip_scratch_pool {
    pthread_mutex_t         lock; /* of `first`; held for no read */
    struct fby_zip_scratch *first;
};

void fby_zip_scratch_pool_init(struct fby_zip_scratch_pool *self);
void fby_zip_scratch_pool_fini(struct fby_zip_scratch_pool *self);

struct fby_zip_content {               /* what to read; all is borrowed */
    const struct fby_object     *file; /* the archive */
    uint64_t                     file_size;
    const struct fby_zip_entry  *entry;
    size_t                       name_bytes; /* of the entry */
    struct fby_zip_scratch_pool *pool;
};

/* Read at most *size bytes of the content from byte `offset` on, and set *size
 * to the number read: fewer only at the end. An entry of at most 256 KiB takes
 * one read of the archive. The CRC-32 sum is checked if the whole content is
 * read at once.
 * Thread: any; several at once.
 * Errors: FBY_BAD_SAMPLE  the entry is damaged
 *         FBY_STALE       the archive ends early;  FBY_IO */
FBY_CHECKED fby_err fby_zip_content_read(const struct fby_zip_content *self,
    uint64_t offset, void *buffer, size_t *size, struct fby_error_detail *why);

/* Give the whole content to `visit`, in one pass (object.h), and check its
 * CRC-32 sum. Errors: also those of `visit`. */
FBY_CHECKED fby_err fby_zip_content_visit(const struct fby_zip_content *self,
    fby_object_visit_fn *visit, void *arg, struct fby_error_detail *why);

#endif
