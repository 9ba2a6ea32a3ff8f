/* local.h - the dataset of one split, opened in this process.
 *
 * Used by commands that read the data themselves (`plan`, `lint`, ...). Plain
 * paths of the pipeline become roots, as for an embedded cluster. */
#ifndef FBY_CLI_LOCAL_H
#define FBY_CLI_LOCAL_H

#include "cli/served.h"
#include "pipeline/parse.h"
#include "worker/source/dataset.h"

struct fby_local {
    struct fby_served    served;
    struct fby_pipeline *pipeline;
    struct fby_split    *split;
    struct fby_roots    *roots;
    struct fby_dataset  *dataset;
    struct fby_buckets  *buckets; /* NULL without bucket_by */
};

struct fby_local_options {
    const char      *pipeline;
    const char      *split; /* NULL: the only one, or train */
    struct fby_words data;  /* NAME=DIR for paths NAME:... */
    const char      *cache; /* of manifests; NULL: the user's */
    bool             hash;  /* also hash all bytes of the data */
};

/* Parser of --pipeline (required), --split, --data and --cache; it refuses
 * other arguments. It is a child of a command's argp, with a struct
 * fby_local_options as input. Ownership: the caller frees `data`. */
extern const struct argp fby_local_argp;

/* Load the pipeline and open the data, showing progress when it takes long.
 * Close `self` also after an error. Errors: those of the two parts below. */
FBY_CHECKED fby_err fby_local_open(struct fby_local *self,
    const struct fby_local_options *options, struct fby_why *why);

/* First part: load the pipeline, its split and the roots.
 * Errors: those of fby_served_collect, fby_pipeline_load and
 *         fby_pipeline_split. */
FBY_CHECKED fby_err fby_local_load(struct fby_local *self,
    const struct fby_local_options *options, struct fby_why *why);

/* Second part: open the data and check the fields against it.
 * Errors: those of fby_dataset_open and of the checks. */
FBY_CHECKED fby_err fby_local_index(struct fby_local *self,
    const struct fby_local_options *options, struct fby_progress progress,
    struct fby_why *why);

/* Free everything; accepts a `self` whose open or load failed. */
void fby_local_close(struct fby_local *self);

#endif
