/* parse.h - from a pipeline file to the content, location and delivery of one
 * split. docs/pipeline.md describes the file.
 *
 * A file is read once, and all its splits are checked then: what loads, works.
 * Errors are one line, `FILE:LINE:COL: what is wrong; what would be right`. */
#ifndef FBY_PIPELINE_PARSE_H
#define FBY_PIPELINE_PARSE_H

#include "common/err.h"
#include "pipeline/types.h"

enum { FBY_PIPELINE_MAX_BYTES = 1 << 20, FBY_MAX_SPLITS = 16 };

struct fby_pipeline;

struct fby_pipeline_text {
    const char *text;
    size_t      size;
    const char *name;   /* of the file, for messages */
    const char *folder; /* absolute: relative paths are below it */
};

/* One split, ready to use; large: it lives on the heap. */
struct fby_split {
    struct fby_content  content;
    struct fby_location location;
    struct fby_delivery delivery;
};

/* Errors: FBY_IO when the file cannot be read, FBY_CONFIG when it is wrong. */
FBY_CHECKED fby_err fby_pipeline_load(
    const char *path, struct fby_pipeline **out, struct fby_why *why);
FBY_CHECKED fby_err fby_pipeline_parse(const struct fby_pipeline_text *text,
    struct fby_pipeline **out, struct fby_why *why);
void                fby_pipeline_destroy(struct fby_pipeline **self_p);

/* Splits stand in the order of the file. */
size_t      fby_pipeline_n_splits(const struct fby_pipeline *self);
const char *fby_pipeline_split_name(const struct fby_pipeline *self, size_t i);
uint64_t    fby_pipeline_seed(const struct fby_pipeline *self);

/* The split called `name`; NULL stands for the only one, or for `train`.
 * The caller owns *out. Errors: FBY_USAGE when there is none of that name,
 * with the names there are. */
FBY_CHECKED fby_err fby_pipeline_split(const struct fby_pipeline *self,
    const char *name, struct fby_split **out, struct fby_why *why);
void                fby_split_destroy(struct fby_split **self_p);

#endif
