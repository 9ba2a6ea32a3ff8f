/* SPDX-License-Identifier: Apache-2.0 */
/* numbering.h - class ids from the class folders of another split.
 *
 * A validation set may lack some classes of the training set. Its class folders
 * then have the ids that folders of the same name have in the training set. */
#ifndef FBY_WORKER_SOURCE_NUMBERING_H
#define FBY_WORKER_SOURCE_NUMBERING_H

#include <stdatomic.h>

#include "common/hash.h"
#include "worker/source/index.h"

/* List the class folders at a location, which may lead into a zip archive, in
 * byte order of their paths (folder.h). The caller frees *out with
 * fby_folders_free(), also after an error.
 *
 * Blocks: while the folders, or the archive's directory, are read.
 * Errors: FBY_USAGE  the location is not valid, or beneath no root
 *         FBY_GONE   *stop (may be NULL) became true
 *         those of fby_folder_list_classes and fby_archive_open. */
FBY_CHECKED fby_err fby_class_folders_list(const struct fby_roots *roots,
    const char *location, uint32_t depth, const atomic_bool *stop,
    struct fby_folder **out, uint32_t *n, struct fby_error_detail *why);

struct fby_class_numbering {
    struct fby_folder *folders; /* the other split's class folders, without
                                   files, in order of ids; NULL if the dataset
                                   has the same, which then number themselves */
    uint32_t           n;
    uint32_t          *ids; /* per class folder of the dataset: its class id */
};

/* Number the class folders of `index` by those at the location spec->classes.
 * If it is NULL or "", or the source has no classes, *out is zero. Release *out
 * with fby_class_numbering_fini(), also after an error. A location in the
 * archive of `index` is listed there.
 *
 * Blocks: while the class folders, but no files in them, are listed. Meanwhile
 *         it calls `progress` as fby_index_build does.
 * Errors: FBY_CONFIG     the location lacks a class folder of the dataset;
 *                        `why` has its name
 *         FBY_NOT_FOUND  the location does not exist
 *         FBY_USAGE      it is beneath no root
 *         FBY_GONE       progress returned false; also those of listing.h. */
FBY_CHECKED fby_err fby_class_numbering_open(
    const struct fby_dataset_spec *spec, struct fby_progress progress,
    const struct fby_index *index, struct fby_class_numbering *out,
    struct fby_error_detail *why);
void fby_class_numbering_fini(struct fby_class_numbering *self);

/* The data digest of a dataset whose shards have the digest `shards`. It
 * includes the names of the classes unless the dataset numbers its own. */
struct fby_digest fby_class_numbering_digest(
    const struct fby_class_numbering *self, struct fby_digest shards);

/* Set ids[i] to the index in `classes` of the folder with the name of
 * folders[i]. Both are in byte order of names. Returns the number of folders
 * with an id; if it is below `n`, folders[it] is the first without. Pure. */
uint32_t fby_class_ids_find(const struct fby_folder *folders, uint32_t n,
    const struct fby_folder *classes, uint32_t n_classes, uint32_t *ids);

#endif
