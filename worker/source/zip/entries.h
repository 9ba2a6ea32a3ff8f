/* SPDX-License-Identifier: Apache-2.0 */
/* entries.h - the entries of a zip archive, from its directory.
 *
 * The directory at the end of the archive has the name, size and position of
 * each entry, so the archive is not read as a whole. The archive is untrusted:
 * names are relative and lead nowhere else, no name occurs twice, and the bytes
 * of entries lie in the file and do not overlap. */
#ifndef FBY_WORKER_SOURCE_ZIP_ENTRIES_H
#define FBY_WORKER_SOURCE_ZIP_ENTRIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"
#include "worker/source/object.h"

struct fby_zip_entry {
    uint64_t header_offset; /* of its header, which its bytes follow */
    uint64_t packed_bytes;  /* in the archive; equal to `size` if stored */
    uint64_t size;          /* bytes of the content */
    uint32_t crc32;         /* of the content */
    uint32_t name;          /* offset in fby_zip_entries.names */
    bool     is_deflated;   /* false: stored */
};

struct fby_zip_entries {
    struct fby_zip_entry *list; /* in byte order of names */
    uint32_t              count;
    struct fby_buffer     names;   /* each ends with NUL */
    uint64_t              n_links; /* symbolic links, which are not in `list` */
};

/* Read the directory of the archive `object`, which has `size` bytes and the
 * file name `file` (for errors). The names of folders end with a slash; a
 * leading "./" is removed, and an entry "./" is skipped. Release `out` with
 * fini, also after an error.
 * Errors: FBY_CONFIG  no archive, a damaged one, or an entry that is encrypted,
 *                     neither stored nor deflated, or has an invalid name
 *         FBY_GONE    *stop became true;  FBY_IO */
FBY_CHECKED fby_err fby_zip_entries_read(const struct fby_object *object,
    uint64_t size, const char *file, const atomic_bool *stop,
    struct fby_zip_entries *out, struct fby_error_detail *why);
void                fby_zip_entries_fini(struct fby_zip_entries *self);

static inline const char *fby_zip_entry_name(
    const struct fby_zip_entries *self, uint32_t i)
{
    return (const char *)self->names.data + self->list[i].name;
}

/* The number of the first entry whose name is not below `name`; `count` if
 * there is none. */
uint32_t fby_zip_entries_find(
    const struct fby_zip_entries *self, const char *name);

#endif
