/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - index a folder of class folders, or one without classes.
 *
 * Each class folder is a class; classes are in byte order of their names. The
 * key of a file is its path up to the first dot of the file name. All files
 * with the same key are one sample: sample "c00/0001" has the members
 * c00/0001.jpg and c00/0001.json. A class folder may contain other folders.
 * Samples are in byte order of their keys, in virtual shards of 1,024 samples
 * (shard_builder.h). Skipped are files without an extension, files beside the
 * class folders, entries that a listing skips (listing.h), and samples without
 * a file that a field reads. */
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
    char                   *name;       /* relative to the location's folder */
    struct fby_folder_file *files;      /* in order of key, then suffix */
    uint32_t                count;      /* number of files */
    uint32_t                n_left_out; /* files that are no samples */
    uint32_t n_dangling; /* skipped links, in the first folder also those
                            beside the folders */
};

/* Says which files the fields read, by their suffixes ("jpg"). */
struct fby_folder_filter {
    bool (*reads)(const void *arg, const char *suffix);
    const void *arg;
    const char *suffixes; /* those it reads, for errors: "jpg, png" */
};

/* List the class folders, which are `depth` levels below `path`, in byte order
 * of their paths: "a", or with depth 2 "a/b". Their files are not listed. With
 * depth 0 there are no classes: the only entry is the folder itself, named "".
 * Errors: FBY_CONFIG  there are no class folders;  those of listing.h. */
FBY_CHECKED fby_err fby_folder_list_classes(const struct fby_root *root,
    const char *path, uint32_t depth, struct fby_folder **classes,
    uint32_t *count, struct fby_error_detail *why);

/* The levels down to the class folders of a folder source; NULL: 1. */
uint32_t fby_folder_class_depth(const struct fby_content *content);
void     fby_folders_free(struct fby_folder *folders, uint32_t count);

/* Free the files of all folders, but keep the names of the folders. */
void fby_folders_free_files(struct fby_folder *folders, uint32_t count);

/* Set self->files to the files, if any, in the folder `path`/self->name.
 * Thread: any, but only one for each folder.
 * Errors: FBY_CONFIG  a name that cannot be a key, or a loop of links
 *         FBY_GONE    *stop became true;  those of listing.h. */
FBY_CHECKED fby_err fby_folder_find_files(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why);

enum { FBY_FOLDER_MAX_DEPTH = 16 }; /* levels of folders below a class folder */

struct fby_folder_ancestors { /* the folders from a class folder to a folder */
    uint32_t         depth;   /* 0: the class folder itself */
    struct fby_stamp stamps[FBY_FOLDER_MAX_DEPTH]; /* [i]: at depth i + 1 */
};

/* Go down one level, into the folder `path` with that stamp. The caller goes up
 * with depth--.
 * Errors: FBY_CONFIG  too deep, or a link back to a folder above, which would
 *                     be an endless loop. */
FBY_CHECKED fby_err fby_folder_enter(struct fby_folder_ancestors *self,
    const char *path, const struct fby_stamp *stamp,
    struct fby_error_detail *why);

/* The error of a class folder without files has this text, by which `forebay init`
 * knows it. */
#define FBY_FOLDER_WITHOUT_FILES "has no files with an extension"

/* Like fby_folder_find_files(), but refuse a class folder without files.
 * Errors: also FBY_CONFIG  the folder has no files. */
FBY_CHECKED fby_err fby_folder_find_class_files(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why);

/* The number of skipped links of all folders. */
uint64_t fby_folders_count_dangling(
    const struct fby_folder *folders, uint32_t count);

/* Remove the samples without any file that `filter` reads, such as notes.txt
 * beside pictures. The other samples keep all their files.
 * Errors: FBY_CONFIG  no sample is left: the folder would be an empty class. */
FBY_CHECKED fby_err fby_folder_select_samples(struct fby_folder *self,
    const struct fby_folder_filter *filter, struct fby_error_detail *why);

/* Compare the paths of two files by key, then by suffix: the order of files in
 * a folder. Returns less than, equal to or greater than 0. */
int fby_folder_compare_paths(const char *a, const char *b);

/* Cut the samples of all classes into virtual shards (shard_builder.h), and
 * finish the shards. The caller calls fby_shard_fini() for each shard and then
 * frees the array, also after an error. Errors: those of shard_builder.h. */
FBY_CHECKED fby_err fby_folders_to_shards(const struct fby_folder *classes,
    uint32_t n_classes, struct fby_shard **shards, uint32_t *n_shards,
    struct fby_error_detail *why);

#endif
