/* local.h - a split's dataset, opened in this process.
 *
 * For commands that look at the data themselves (`plan`, `lint`, ...): the
 * pipeline's plain paths become roots, as an own cluster would make them. */
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
    const char      *cache; /* NULL: the user's */
    bool             hash;
};

/* --pipeline (required), --split, --data, --cache, and no words beside options:
 * a child of a command's own argp, its input is a struct fby_local_options,
 * whose words are the caller's to free. */
extern const struct argp fby_local_argp;

/* Open it; says how far it is when that takes long. Close it also after an
 * error. Errors: as of what it opens. */
FBY_CHECKED fby_err fby_local_open(struct fby_local *self,
    const struct fby_local_options *options, struct fby_why *why);

/* The same in two parts: the pipeline, its split and the roots; and the data.
 */
FBY_CHECKED fby_err fby_local_load(struct fby_local *self,
    const struct fby_local_options *options, struct fby_why *why);
FBY_CHECKED fby_err fby_local_index(struct fby_local *self,
    const struct fby_local_options *options, struct fby_progress progress,
    struct fby_why *why);
void                fby_local_close(struct fby_local *self);

#endif
