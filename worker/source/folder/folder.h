/* folder.h - index a folder of class folders.
 *
 * Classes are the folders below it, in byte order; a class's files are grouped
 * by their path up to the first dot of the name ("c00/0001": 0001.jpg,
 * 0001.json), also in folders nested below, and ordered by it. Every 1,024
 * samples make a virtual shard. Hidden files and those without an extension
 * are passed over, as are files beside the class folders. */
#ifndef FBY_WORKER_SOURCE_FOLDER_H
#define FBY_WORKER_SOURCE_FOLDER_H

#include <stdatomic.h>

#include "common/err.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"
#include "worker/source/shard.h"

struct fby_folder_file {
    char            *path; /* relative to the folder: "c00/0001.jpg" */
    struct fby_stamp stamp;
};

/* The files of one class, in order of (key, suffix). */
struct fby_folder_class {
    char                   *name;
    struct fby_folder_file *files;
    uint32_t                count;
};

/* The classes of the folder at `path`, named but not walked yet.
 * Errors: as a listing; FBY_CONFIG when there are no class folders. */
FBY_CHECKED fby_err fby_folder_classes(const struct fby_root *root,
    const char *path, struct fby_folder_class **classes, uint32_t *count,
    struct fby_why *why);
void fby_folder_classes_free(struct fby_folder_class *classes, uint32_t count);
/* Once they are cut into shards: only the name is kept. */
void fby_folder_forget_files(struct fby_folder_class *self);

/* All files of a folder `self->name` below `path`, in their order; there may be
 * none. Folders may be walked at once by several threads.
 * Errors: as a listing; FBY_CONFIG for names that cannot be keys, loops of
 *         links; FBY_GONE (stopped). */
FBY_CHECKED fby_err fby_folder_gather(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_folder_class *self,
    struct fby_why *why);

/* Walk one class. Classes may be walked at once by several threads.
 * Errors: as a listing; FBY_CONFIG when it has no sample, for names that
 *         cannot be keys, loops of links; FBY_GONE (stopped). */
FBY_CHECKED fby_err fby_folder_walk(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_folder_class *self,
    struct fby_why *why);

/* Cut the walked classes into finished shards; the caller frees the array
 * after fby_shard_fini of each, also after an error. */
FBY_CHECKED fby_err fby_folder_cut(const struct fby_folder_class *classes,
    uint32_t n_classes, struct fby_shard **shards, uint32_t *n_shards,
    struct fby_why *why);

#endif
