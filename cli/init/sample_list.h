/* SPDX-License-Identifier: Apache-2.0 */
/* sample_list.h - folders that are samples: their files, and the command that writes a
 * list of them. See refuse_samples.c. */
#ifndef FBY_CLI_INIT_SAMPLE_LIST_H
#define FBY_CLI_INIT_SAMPLE_LIST_H

#include "cli/init/guess_search.h"

#define FBY_SAMPLE_LIST "samples.csv"

enum { FBY_SAMPLE_FILES = 8 };

struct fby_sample_file {
    char name[FBY_NAME_SIZE]; /* with * for the name of the folder */
};

struct fby_sample_folder {
    const char            *name; /* borrowed from the listing */
    struct fby_sample_file files[FBY_SAMPLE_FILES];
    uint32_t               n;
};

/* The role of a file, `size` bytes: its name without the folder's and without the
 * extension. */
const char *fby_sample_role(const struct fby_sample_file *file, size_t *size);

enum fby_samples_kind { /* what folders with the same files are */
    FBY_SAMPLES_NONE,   /* classes, or tables */
    FBY_SAMPLES_EITHER, /* tables, or samples of arrays */
    FBY_SAMPLES_ARRAYS, /* samples of arrays */
    FBY_SAMPLES_FILES   /* samples of pictures, and maybe other files */
};

/* Tell samples of arrays from tables by the shapes in the folder, which is in
 * `path`, and has no pictures (refuse_sample_arrays.c). */
enum fby_samples_kind fby_sample_arrays_kind(const struct fby_search *search,
    const char *path, const struct fby_sample_folder *folder);

/* Set the command of the search to the one that writes a list of the folders in
 * `path`, or, if `are_grouped`, in the folders there; for samples of arrays it is a
 * table. The list is in `path`, or, if that is the folder of a split, one is in that
 * of each split. Returns ":", or "" if there is none. */
const char *fby_sample_list_advise(const struct fby_search *search,
    const char *path, const struct fby_sample_folder *folder,
    enum fby_samples_kind kind, bool are_grouped);

#endif
