/* SPDX-License-Identifier: Apache-2.0 */
/* index_build.h - an index while it is built, and the steps that the kinds of
 * sources share. The function `index` of a kind (ops.h) calls these steps. */
#ifndef FBY_WORKER_SOURCE_INDEX_BUILD_H
#define FBY_WORKER_SOURCE_INDEX_BUILD_H

#include <stdatomic.h>

#include "common/bytes.h"
#include "worker/source/cache.h"
#include "worker/source/expand.h"
#include "worker/source/index.h"
#include "worker/source/object.h"

struct fby_build { /* an index while it is built */
    const struct fby_dataset_spec *spec;
    struct fby_progress            progress;
    struct fby_index              *out;
    /* The identity of the source, a text with NUL. It is the cache's key. */
    struct fby_buffer identity;
    /* The manifest from the cache; may be empty. */
    struct fby_cached_manifest cached;
    /* Set by fby_build_run_job_per_name: the names of the shards, and per name
     * the cached shard or NULL. */
    struct fby_names   names;
    struct fby_shard **cached_shards;
    atomic_uint        reused; /* number of shards taken from the cache */
    atomic_uint        n_read; /* number of shards scanned or read */
};

/* A job of fby_jobs (jobs.h) with number `i`. */
typedef fby_err fby_build_job(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why);

/* Run jobs 0 to jobs - 1 with the threads and progress of the dataset's spec.
 * Errors: those of fby_jobs_run. */
FBY_CHECKED fby_err fby_build_run_jobs(struct fby_build *self, uint32_t jobs,
    fby_build_job *job, void *arg, struct fby_error_detail *why);

/* Expand the location of the source into names of shards, and run a job for
 * each. Job i fills self->out->shards[i], whose name is self->names.list[i].
 * Only job i uses self->cached_shards[i].
 * Errors: those of fby_pattern_expand and fby_jobs_run. */
FBY_CHECKED fby_err fby_build_run_job_per_name(struct fby_build *self,
    enum fby_expand_want want, fby_build_job *job, void *arg,
    struct fby_error_detail *why);

/* Returns the cached shard of this name, or NULL. */
struct fby_shard *fby_build_find_cached(
    struct fby_build *self, const char *name);

/* Add to a shard the lengths of its samples and its checksum, if the index
 * needs them: from the cache if the stamps are equal, else from the files.
 * Errors: those of sample_lengths.h and fby_checksum_add_file. */
FBY_CHECKED fby_err fby_build_complete_shard(struct fby_build *self,
    struct fby_shard *shard, const atomic_bool *stop,
    struct fby_error_detail *why);

/* Call fby_build_complete_shard() for all shards, in parallel. */
FBY_CHECKED fby_err fby_build_complete_shards(
    struct fby_build *self, struct fby_error_detail *why);

enum { FBY_SHARD_FILES = 2 }; /* a data file, and perhaps its index file */

struct fby_shard_files {     /* the open files of one shard */
    const char        *name; /* name of the shard */
    uint32_t           n;    /* number of files */
    struct fby_object  objects[FBY_SHARD_FILES];
    struct fby_stamp   stamps[FBY_SHARD_FILES];
    const atomic_bool *stop; /* true: give up soon */
};

/* How to index shards of one file each, perhaps with an index file. */
struct fby_file_kind {
    /* Refuse a shard because of its name. NULL: none is refused. */
    fby_err (*check_name)(const struct fby_dataset_spec *spec, const char *name,
        struct fby_error_detail *why);
    /* ".idx" replaces the last four bytes of the name; NULL: no index file. */
    const char *index_suffix;
    /* Add samples and members to `out`, whose name, stamps and size are set,
     * and then call fby_shard_finish(). The members of a sample are adjacent.
     * The caller refuses a shard without samples, and reads the lengths. */
    fby_err (*scan)(const struct fby_dataset_spec *spec,
        const struct fby_shard_files *files, struct fby_shard *out,
        struct fby_error_detail *why);
};

/* Index all shards of the source, one job for each. A shard that the cache has
 * with equal stamps is not scanned. A file must not change while it is scanned.
 * Errors: those of fby_build_run_job_per_name and of opening and scanning. */
FBY_CHECKED fby_err fby_build_file_shards(struct fby_build *self,
    const struct fby_file_kind *kind, struct fby_error_detail *why);

#endif
