/* guess_columns.h - recognise columns in a directory, for `forebay init`. */
#ifndef FBY_CLI_INIT_GUESS_COLUMNS_H
#define FBY_CLI_INIT_GUESS_COLUMNS_H

#include "cli/init/guess.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"

/* The shards of columns of a directory. A shard is a folder of .npy files or of
 * sparse matrices of SciPy, or an .npz file of NumPy. */
struct fby_guess_columns {
    uint32_t shards;                   /* 0: none */
    bool     sure;                     /* .npy files are always columns */
    char     first[FBY_PATH_SIZE];     /* the first shard, below the root */
    char     pattern[FBY_PATH_SIZE];   /* all shards, below the root */
    char     misplaced[FBY_PATH_SIZE]; /* a matrix among shards, or "" */
};

/* Find the shards of columns in the listing of `path`.
 * Errors: those of listing and reading them. */
FBY_CHECKED fby_err fby_guess_columns(const struct fby_root *root,
    const char *path, const struct fby_listing *listing,
    struct fby_guess_columns *out, struct fby_why *why);

/* Read the headers of the first shard into `split`.
 * Errors: those of fby_columns_scan, with the path; FBY_CONFIG if a matrix is
 *         misplaced. */
FBY_CHECKED fby_err fby_guess_look_at_columns(const struct fby_root *root,
    const struct fby_guess_columns *found, struct fby_guess_split *split,
    struct fby_why *why);

#endif
