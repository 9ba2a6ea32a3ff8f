/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - index a folder of class folders.
 *
 * Each class folder is a class; classes are in byte order of their names. The
 * key of a file is its path up to the first dot of the file name. All files
 * with the same key are one sample: sample "c00/0001" has the members
 * c00/0001.jpg and c00/0001.json. A class folder may contain other folders.
 * Samples are in byte order of their keys, in virtual shards of 1,024 samples
 * (shard_builder.h). Hidden files, files without an extension, and files beside
 * the class folders are skipped. */
#ifndef FBY_WORKER_SOURCE_FOLDER_H
#define FBY_WORKER_SOURCE_FOLDER_H

#include <stdatomic.h>

#include "common/err.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"
#include "worker/source/shard.h"

struct fby_folder_file {
    char            *path; /* begins with the class folder: "c00/0001.jpg" */
    struct fby_stamp stamp;
};

/* A class folder, or one of several parallel folders. */
struct fby_folder {
    char                   *name;  /* relative to the location's folder */
    struct fby_folder_file *files; /* in order of key, then suffix */
    uint32_t                count; /* number of files */
};

/* List the class folders of the folder at `path`. Their files are not listed.
 * Errors: FBY_CONFIG  there are no class folders;  those of listing.h. */
FBY_CHECKED fby_err fby_folder_list_classes(const struct fby_root *root,
    const char *path, struct fby_folder **classes, uint32_t *count,
    struct fby_error_detail *why);
void fby_folders_free(struct fby_folder *folders, uint32_t count);

/* Free the files of all folders, but keep the names of the folders. */
void fby_folders_free_files(struct fby_folder *folders, uint32_t count);

/* Set self->files to the files, if any, in the folder `path`/self->name.
 * Thread: any, but only one for each folder.
 * Errors: FBY_CONFIG  a name that cannot be a key, or a loop of links
 *         FBY_GONE    *stop became true;  those of listing.h. */
FBY_CHECKED fby_err fby_folder_find_files(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why);

/* Like fby_folder_find_files(), but refuse a class folder without files.
 * Errors: also FBY_CONFIG  the folder has no files. */
FBY_CHECKED fby_err fby_folder_find_class_files(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why);

/* Cut the samples of all classes into virtual shards (shard_builder.h), and
 * finish the shards. The caller calls fby_shard_fini() for each shard and then
 * frees the array, also after an error. Errors: those of shard_builder.h. */
FBY_CHECKED fby_err fby_folders_to_shards(const struct fby_folder *classes,
    uint32_t n_classes, struct fby_shard **shards, uint32_t *n_shards,
    struct fby_error_detail *why);

#endif
