/* SPDX-License-Identifier: Apache-2.0 */
/* parse.h - read a pipeline file and make its splits (such as train and val).
 *
 * docs/pipeline.md describes the file. Loading a file checks all its splits. An
 * error is one line: `FILE:LINE:COL: what is wrong; what would be right`. */
#ifndef FBY_PIPELINE_PARSE_H
#define FBY_PIPELINE_PARSE_H

#include "common/err.h"
#include "pipeline/types.h"

enum { FBY_PIPELINE_MAX_BYTES = 1 << 20, FBY_MAX_SPLITS = 16 };

struct fby_pipeline;

struct fby_pipeline_text {
    const char *text;
    size_t      size;
    const char *name;   /* file name for messages */
    const char *folder; /* absolute; relative paths of the file start there */
};

/* One split; types.h has its parts. It is large: keep it on the heap. */
struct fby_split {
    struct fby_content  content;
    struct fby_location location;
    /* The folder whose class folders number those of this split; "": they are
     * numbered by themselves. */
    struct fby_location classes;
    char                name[FBY_NAME_SIZE];
    char classes_from[FBY_NAME_SIZE]; /* the split with the folder `classes` */
    struct fby_delivery delivery;
};

/* Parse the file at `path`, the open file `fd` up to its end, or a text. The
 * caller owns *out. fby_pipeline_read takes `path` as the file's name; without
 * a slash in it, relative paths of the file start at the current directory.
 * Errors: FBY_IO if the file cannot be read, FBY_CONFIG if it is wrong. */
FBY_CHECKED fby_err fby_pipeline_load(
    const char *path, struct fby_pipeline **out, struct fby_error_detail *why);
FBY_CHECKED fby_err fby_pipeline_read(int fd, const char *path,
    struct fby_pipeline **out, struct fby_error_detail *why);
FBY_CHECKED fby_err fby_pipeline_parse(const struct fby_pipeline_text *text,
    struct fby_pipeline **out, struct fby_error_detail *why);
void                fby_pipeline_destroy(struct fby_pipeline **self_p);

/* The number of splits; the name of split `i` in the file; the key `seed`. */
size_t      fby_pipeline_n_splits(const struct fby_pipeline *self);
const char *fby_pipeline_split_name(const struct fby_pipeline *self, size_t i);
uint64_t    fby_pipeline_seed(const struct fby_pipeline *self);

/* The absolute path of the file that the key `exclude` of split `i` names; NULL
 * if there is none. */
const char *fby_pipeline_exclude_path(
    const struct fby_pipeline *self, size_t i);

/* Make the split `name`; NULL means the only split, or else `train`. The caller
 * owns *out. Errors: FBY_USAGE if there is no such split; `why` lists all. */
FBY_CHECKED fby_err fby_pipeline_make_split(const struct fby_pipeline *self,
    const char *name, struct fby_split **out, struct fby_error_detail *why);
void                fby_split_destroy(struct fby_split **self_p);

/* Say before an error of the location `classes` why the split needs it. Returns
 * `err`. */
fby_err fby_split_prefix_classes(
    const struct fby_split *self, fby_err err, struct fby_error_detail *why);

#endif
