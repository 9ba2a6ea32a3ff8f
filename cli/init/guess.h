/* SPDX-License-Identifier: Apache-2.0 */
/* guess.h - guess the kind and the splits of the data in a directory.
 *
 * `forebay init` writes a pipeline file from the guess. The known kinds are
 * class folders, tar shards, columns of NumPy files, lists, parallel folders
 * (such as images and masks) and token files. A guess reads file names, the
 * first shard of each split, whole lists, and the header of one PNG file of
 * each extension. */
#ifndef FBY_CLI_INIT_GUESS_H
#define FBY_CLI_INIT_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/init/text.h"
#include "common/err.h"
#include "pipeline/types.h"
#include "worker/source/shard.h"

/* The most splits, and the most members and columns of a split. */
enum { FBY_GUESS_SPLITS = 8, FBY_GUESS_MEMBERS = 32, FBY_GUESS_COLUMNS = 32 };

struct fby_guess_split {             /* the data of one split */
    char     name[FBY_NAME_SIZE];    /* "train", "val", ... */
    char     pattern[FBY_PATH_SIZE]; /* path, or a pattern of paths */
    uint32_t shards;  /* number of tar files, tables or token files; else 0 */
    uint32_t classes; /* number of class folders; else 0 */
    uint64_t samples; /* number of samples that were read */
    bool     counted_all; /* all samples were read; false: there are more */
    struct fby_init_member members[FBY_GUESS_MEMBERS]; /* most used first */
    uint32_t               n_members;
    /* list: columns that hold paths */
    char              file_columns[FBY_MAX_FILES][FBY_NAME_SIZE];
    uint32_t          n_file_columns;
    struct fby_tokens tokens;                     /* settings for token files */
    struct fby_column columns[FBY_GUESS_COLUMNS]; /* of the first table */
    uint32_t          n_columns;
};

struct fby_guess {
    enum fby_source_kind kind;
    uint32_t             n_splits;
    uint32_t n_left_out; /* splits found beyond FBY_GUESS_SPLITS, not read */
    struct fby_guess_split splits[FBY_GUESS_SPLITS]; /* train first, if any */
};

/* Guess the data at `path`, a directory or a single file of a known kind.
 * `token_type` is for token files that do not store it; 0: they are skipped.
 * Errors: FBY_NOT_FOUND, FBY_CONFIG (no known data; the message names the files
 *         that were found and the known kinds), FBY_IO. */
FBY_CHECKED fby_err fby_source_guess(const char *path, enum fby_type token_type,
    struct fby_guess *out, struct fby_error_detail *why);

#endif
