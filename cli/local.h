/* SPDX-License-Identifier: Apache-2.0 */
/* local.h - the dataset of one split, opened in this process, and the position
 * of one of its batches.
 *
 * Used by commands that read the data themselves (`plan`, `lint`, ...). Plain
 * paths of the pipeline become roots, as in an embedded cluster (served.h). */
#ifndef FBY_CLI_LOCAL_H
#define FBY_CLI_LOCAL_H

#include "cli/served.h"
#include "pipeline/parse.h"
#include "pipeline/plan/order.h"
#include "worker/source/dataset.h"

struct fby_local {
    struct fby_served_roots served_roots; /* from --data and plain paths */
    struct fby_pipeline    *pipeline;
    struct fby_split       *split;
    struct fby_roots       *roots; /* the served roots, for `dataset` */
    struct fby_dataset     *dataset;
    struct fby_buckets     *buckets; /* samples by length; NULL: no bucket_by */
};

struct fby_local_options {
    const char      *pipeline; /* path of the pipeline file */
    const char      *split;    /* name; NULL: the only split, or train */
    struct fby_words data;     /* "NAME=DIR", for paths NAME:path */
    const char      *cache;    /* folder of manifests; NULL: the user's cache */
    bool             hash;     /* also hash all bytes of the data */
    bool             must_store; /* fail if the manifest cannot be stored */
};

/* Entries for a table of options, which set `local`, a struct fby_local_options
 * in a struct `type`. Ownership: the caller frees `local.data`. */
/* clang-format off */
#define FBY_LOCAL_OPTIONS(type, local)                                         \
    {"pipeline", 'p', "FILE", "The pipeline file (required)",                  \
        FBY_REQUIRED(FBY_TEXT, type, local.pipeline, FBY_WHY_PIPELINE)},       \
    {"split", 's', "NAME",                                                     \
        "The split (default: the only one, or train; for index and lint: "     \
        "all)",                                                                \
        FBY_VALUE(FBY_TEXT, type, local.split)},                               \
    {"data", 'd', "NAME=DIR",                                                  \
        "Where NAME: of the pipeline is on this host (repeatable)",            \
        FBY_VALUE(FBY_WORDS, type, local.data)},                               \
    {"cache", 0, "DIR", "Where manifests are kept",                            \
        FBY_VALUE(FBY_TEXT, type, local.cache)}
/* clang-format on */

/* Load the pipeline and open the data, with a progress line if it takes long.
 * Close `self` also after an error. Errors: those of the two steps below. */
FBY_CHECKED fby_err fby_local_open(struct fby_local *self,
    const struct fby_local_options *options, struct fby_error_detail *why);

/* First step of fby_local_open: load the pipeline, its split and the roots.
 * Errors: those of fby_served_collect, fby_pipeline_load and
 *         fby_pipeline_make_split. */
FBY_CHECKED fby_err fby_local_load(struct fby_local *self,
    const struct fby_local_options *options, struct fby_error_detail *why);

/* Second step: open the data, check its fields, and sort it into buckets. If
 * `progress` returns false, the scan of the data ends with FBY_GONE.
 * Errors: those of fby_dataset_open, of the check and of the sort. */
FBY_CHECKED fby_err fby_local_open_data(struct fby_local *self,
    const struct fby_local_options *options, struct fby_progress progress,
    struct fby_error_detail *why);

/* Turn `location`, a member of `split`, into NAME:path below one of the roots.
 * Errors: those of fby_location_find_root. */
FBY_CHECKED fby_err fby_local_find_root(const struct fby_local *self,
    const struct fby_split *split, const struct fby_location *location,
    struct fby_location *out, struct fby_error_detail *why);

/* Check that an epoch over the open dataset has a step.
 * Errors: FBY_CONFIG  `why` has what to change; FBY_SYS. */
FBY_CHECKED fby_err fby_local_check_steps(
    const struct fby_local *self, struct fby_error_detail *why);

/* Returns the parameters for fby_order_create: the order of an epoch over the
 * open dataset. They borrow from `self`. */
struct fby_order_spec fby_local_order_spec(
    const struct fby_local *self, uint64_t seed, uint64_t epoch);

/* Free everything. Call it also after an error of the functions above. */
void fby_local_close(struct fby_local *self);

/* ---- The position of a batch ---- */

struct fby_position {
    uint64_t        epoch, step; /* the step within the epoch; from 0 */
    struct fby_seed seed;
};

/* The entries of --epoch, --step and --seed, which set `position`, a struct
 * fby_position in a struct `type`. */
/* clang-format off */
#define FBY_POSITION_OPTIONS(type, position)                                   \
    {"epoch", 'e', "E", "The epoch, from 0 (default 0)",                       \
        FBY_RANGE(FBY_NUMBER, type, position.epoch, 0, UINT32_MAX)},           \
    {"step", 'n', "S", "The step in it, from 0 (default 0)",                   \
        FBY_RANGE(FBY_NUMBER, type, position.step, 0, INT64_MAX)},             \
    {"seed", 0, "X", "Use this seed, not that of the pipeline file",           \
        FBY_VALUE(FBY_SEED, type, position.seed)}
/* clang-format on */

/* Create the order of the epoch, and check that it has the step. If no seed was
 * given, first set it to the pipeline's. Ownership: the caller destroys *out.
 * Errors: FBY_USAGE when the epoch has no such step; those of the order. */
FBY_CHECKED fby_err fby_position_create_order(struct fby_position *position,
    const struct fby_local *local, struct fby_order **out,
    struct fby_error_detail *why);

#endif
