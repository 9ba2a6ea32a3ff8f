/* local.h - a split's dataset, opened in this process.
 *
 * For commands that look at the data themselves (`plan`, `index`): the
 * pipeline's plain paths become roots, as an own cluster would make them. */
#ifndef FBY_CLI_LOCAL_H
#define FBY_CLI_LOCAL_H

#include "cli/served.h"
#include "common/pipeline/parse.h"
#include "worker/source/dataset.h"

struct fby_local {
    struct fby_served    served;
    struct fby_pipeline *pipeline;
    struct fby_split    *split;
    struct fby_roots    *roots;
    struct fby_dataset  *dataset;
};

struct fby_local_options {
    const char      *pipeline;
    const char      *split; /* NULL: the only one, or train */
    struct fby_words data;  /* NAME=DIR for paths NAME:... */
    const char      *cache; /* NULL: the user's */
    bool             hash;
};

/* Open it; says how far it is when that takes long. Errors: as of what it opens. Close it
 * also after an error. */
FBY_CHECKED fby_err fby_local_open(struct fby_local *self,
    const struct fby_local_options *options, struct fby_why *why);
void                fby_local_close(struct fby_local *self);

#endif
