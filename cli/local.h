/* local.h - the dataset of one split, opened in this process, and the position
 * of one of its batches.
 *
 * Used by commands that read the data themselves (`plan`, `lint`, ...). Plain
 * paths of the pipeline become roots, as for an embedded cluster. */
#ifndef FBY_CLI_LOCAL_H
#define FBY_CLI_LOCAL_H

#include "cli/served.h"
#include "pipeline/parse.h"
#include "pipeline/plan/order.h"
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
    struct fby_words data;  /* "NAME=DIR", for paths NAME:path */
    const char      *cache; /* folder of manifests; NULL: the user's */
    bool             hash;  /* also hash all bytes of the data */
};

/* The table entries of these options, for a struct fby_local_options `local` in
 * a struct `type`. Ownership: the caller frees `local.data`. */
/* clang-format off */
#define FBY_LOCAL_OPTIONS(type, local)                                         \
    {"pipeline", 'p', "FILE", "The pipeline file (required)",                  \
        FBY_REQUIRED(FBY_TEXT, type, local.pipeline, FBY_HOW_TO_START)},       \
    {"split", 's', "NAME",                                                     \
        "The split (default: the only one, or train; for index: all)",         \
        FBY_VALUE(FBY_TEXT, type, local.split)},                               \
    {"data", 'd', "NAME=DIR",                                                  \
        "Where NAME: of the pipeline is on this host (repeatable)",            \
        FBY_VALUE(FBY_WORDS, type, local.data)},                               \
    {"cache", 0, "DIR", "Where manifests are kept",                            \
        FBY_VALUE(FBY_TEXT, type, local.cache)}
/* clang-format on */

/* Load the pipeline and open the data, showing progress when it takes long.
 * Close `self` also after an error. Errors: those of the two steps below. */
FBY_CHECKED fby_err fby_local_open(struct fby_local *self,
    const struct fby_local_options *options, struct fby_error_detail *why);

/* First step of fby_local_open: load the pipeline, its split and the roots.
 * Errors: those of fby_served_collect, fby_pipeline_load and
 *         fby_pipeline_split. */
FBY_CHECKED fby_err fby_local_load(struct fby_local *self,
    const struct fby_local_options *options, struct fby_error_detail *why);

/* Second step: open the data and check the fields against it.
 * Errors: those of fby_dataset_open and of the checks. */
FBY_CHECKED fby_err fby_local_index(struct fby_local *self,
    const struct fby_local_options *options, struct fby_progress progress,
    struct fby_error_detail *why);

/* The order of an epoch over the open dataset. It borrows from `self`. */
struct fby_order_spec fby_local_order(
    const struct fby_local *self, uint64_t seed, uint64_t epoch);

/* Free everything. Also for a `self` whose open or load failed. */
void fby_local_close(struct fby_local *self);

/* ---- The position of a batch ---- */

struct fby_position {
    uint64_t        epoch, step;
    struct fby_seed seed;
};

/* The table entries of --epoch, --step and --seed, for a struct fby_position
 * `position` in a struct `type`. */
/* clang-format off */
#define FBY_POSITION_OPTIONS(type, position)                                   \
    {"epoch", 'e', "E", "The epoch, from 0 (default 0)",                       \
        FBY_RANGE(FBY_NUMBER, type, position.epoch, 0, UINT32_MAX)},           \
    {"step", 'n', "S", "The step in it, from 0 (default 0)",                   \
        FBY_RANGE(FBY_NUMBER, type, position.step, 0, INT64_MAX)},             \
    {"seed", 0, "X", "Another seed than the file's",                           \
        FBY_VALUE(FBY_SEED, type, position.seed)}
/* clang-format on */

/* Set the value of the seed if none was given, and create the order of the
 * epoch. Ownership: the caller destroys *out.
 * Errors: FBY_USAGE when the epoch has no such step; those of the order. */
FBY_CHECKED fby_err fby_position_find(struct fby_position *position,
    const struct fby_local *local, struct fby_order **out,
    struct fby_error_detail *why);

#endif
