/* index_build.h - what the files of the index share while it is built. */
#ifndef FBY_WORKER_SOURCE_INDEX_BUILD_H
#define FBY_WORKER_SOURCE_INDEX_BUILD_H

#include <stdatomic.h>

#include "common/bytes.h"
#include "worker/source/cache.h"
#include "worker/source/expand.h"
#include "worker/source/index.h"
#include "worker/source/object.h"

struct fby_build {
    const struct fby_dataset_spec *spec;
    struct fby_progress            progress;
    struct fby_index              *out;
    struct fby_buffer              source; /* text; what the cache is for */
    struct fby_cached              cached;
    struct fby_names               names;  /* of fby_build_named's shards */
    struct fby_shard             **known;  /* beside them; cached, or NULL */
    atomic_uint                    reused; /* shards, by any thread */
    atomic_uint                    fresh;  /* shards that the cache lacks */
};

/* Job i of something, as fby_jobs has it. */
typedef fby_err fby_build_job(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why);

/* Run numbered jobs with the threads and progress of the dataset's spec. */
FBY_CHECKED fby_err fby_build_run(struct fby_build *self, uint32_t jobs,
    fby_build_job *job, void *arg, struct fby_why *why);

/* The shards that the source's location names: job i fills shard i of
 * self->out, named self->names.at[i]. self->known[i] is that job's own. */
FBY_CHECKED fby_err fby_build_named(struct fby_build *self,
    enum fby_expand_want want, fby_build_job *job, void *arg,
    struct fby_why *why);

/* The cached shard of that name, or NULL. */
struct fby_shard *fby_build_cached(struct fby_build *self, const char *name);

/* What is read of a shard's files: lengths of members or rows and the sum of
 * all bytes, each if it is wanted, or those of the cached one.
 * Errors: as fby_member_lengths_read, fby_row_lengths_read,
 *         fby_sum_add_file. */
FBY_CHECKED fby_err fby_build_read(struct fby_build *self,
    struct fby_shard *shard, const atomic_bool *stop, struct fby_why *why);

enum { FBY_SHARD_FILES = 2 }; /* of one shard: itself, and one beside it */

struct fby_shard_files { /* held open */
    const char        *name;
    uint32_t           n;
    struct fby_object  objects[FBY_SHARD_FILES];
    struct fby_stamp   stamps[FBY_SHARD_FILES];
    const atomic_bool *stop;
};

/* Shards each of which is a file, perhaps with another one beside it. */
struct fby_file_kind {
    /* May a shard be called so? NULL: always. */
    fby_err (*check_name)(const struct fby_dataset_spec *spec, const char *name,
        struct fby_why *why);
    const char *beside; /* ".idx" in place of four bytes; NULL: nothing is */
    /* Fill what fby_shard_init began and the stamps tell apart. */
    fby_err (*scan)(const struct fby_dataset_spec *spec,
        const struct fby_shard_files *files, struct fby_shard *out,
        struct fby_why *why);
};

/* One job a shard: of one that the cache knows with the same stamps nothing is
 * read, any other one is scanned, and must not change meanwhile. */
FBY_CHECKED fby_err fby_build_files(struct fby_build *self,
    const struct fby_file_kind *kind, struct fby_why *why);

/* The same of all shards, one file a member; what the cache knows with the same
 * stamps is taken from it. */
FBY_CHECKED fby_err fby_build_read_all(
    struct fby_build *self, struct fby_why *why);

#endif
