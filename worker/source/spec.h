/* SPDX-License-Identifier: Apache-2.0 */
/* spec.h - which dataset to open, and how the progress is reported. */
#ifndef FBY_WORKER_SOURCE_SPEC_H
#define FBY_WORKER_SOURCE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/types.h"

/* A function for the progress of opening a dataset. The thread that opens it
 * calls the function several times a second, with the number of shards indexed
 * so far and of all shards (for a folder: of class folders). The function
 * returns false to give up. */
struct fby_progress {
    bool (*fn)(void *arg, uint64_t done, uint64_t total); /* may be NULL */
    void *arg;
};

struct fby_dataset_spec {
    const struct fby_roots *roots; /* borrowed until the dataset is destroyed */
    enum fby_source_kind    kind;
    const char             *pattern;    /* "NAME:path"; borrowed for open */
    const struct fby_tokens *tokens;    /* token files; borrowed for open */
    const char              *cache_dir; /* NULL: the user's; "": no cache */
    bool                     hash;      /* compute checksums of all shards */
    bool must_store;   /* fail if the manifest cannot be written to the cache */
    uint32_t threads;  /* threads of a scan; 0: one per core, max. 16 */
    uint32_t max_open; /* files kept open; 0: as in file_cache.h */
    const char (*file_columns)[FBY_NAME_SIZE]; /* list source: its columns
                                                  of paths; borrowed */
    uint32_t n_file_columns;
    /* Samples to leave out. Borrowed; NULL: none. */
    const struct fby_excluded *excluded;
    /* The field of bucket_by. The manifest must have its lengths: the number of
     * entries of each row or NumPy member. Borrowed; NULL: none. */
    const struct fby_field_content *length_field;
    /* Folder source: the location, as `pattern`, whose class folders number
     * those of this dataset. Borrowed for open; NULL or "": its own. */
    const char *classes;
    /* Folder source: files that none of its fields reads are no samples.
     * Borrowed for open; NULL: all files are. */
    const struct fby_content *content;
};

#endif
