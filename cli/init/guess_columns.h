/* guess_columns.h - the columns in a directory, for `forebay init`. */
#ifndef FBY_CLI_INIT_GUESS_COLUMNS_H
#define FBY_CLI_INIT_GUESS_COLUMNS_H

#include "cli/init/guess.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"

/* Are there shards of columns in the listing of `path`: .npy files, sparse
 * matrices of SciPy, .npz files of NumPy, or folders of the first two? Then
 * *shards is how many, and `first` the path of the first one beneath the root,
 * `pattern` that of all of them. Errors: as of listing and reading them. */
struct fby_guess_columns {
    uint32_t shards;
    bool     sure; /* .npy files: they can be nothing else */
    char     first[FBY_PATH_SIZE];
    char     pattern[FBY_PATH_SIZE];
    char     odd[FBY_PATH_SIZE]; /* a matrix among shards, or "" */
};
FBY_CHECKED fby_err fby_guess_columns(const struct fby_root *root,
    const char *path, const struct fby_listing *listing,
    struct fby_guess_columns *out, struct fby_why *why);

/* Look at the headers of the first shard.
 * Errors: as of fby_columns_scan, with its path; FBY_CONFIG of an odd one. */
FBY_CHECKED fby_err fby_guess_look_at_columns(const struct fby_root *root,
    const struct fby_guess_columns *found, struct fby_guess_split *split,
    struct fby_why *why);

#endif
