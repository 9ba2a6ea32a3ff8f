/* guess.h - look at a directory and say how a pipeline would name its data.
 *
 * For `forebay init`: class folders, tar shards or columns of NumPy files, and
 * the splits among them.
 * It looks at names, and into the first shard only; it never reads payloads. */
#ifndef FBY_WORKER_SOURCE_GUESS_H
#define FBY_WORKER_SOURCE_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/pipeline/types.h"
#include "worker/source/shard.h"

enum {
    FBY_GUESS_SPLITS     = 8,
    FBY_GUESS_EXTENSIONS = 16,
    FBY_GUESS_COLUMNS    = 32
};

struct fby_guess_split {
    char     name[FBY_NAME_SIZE];    /* "train", "val", ... */
    char     pattern[FBY_PATH_SIZE]; /* plain path, braces for shards */
    uint32_t shards;      /* tar files, tables of columns; of a folder 0 */
    uint32_t classes;     /* class folders; of shards 0 */
    uint64_t samples;     /* of a folder, or of the first shard */
    bool     counted_all; /* false: there are more than `samples` */
    char extensions[FBY_GUESS_EXTENSIONS][FBY_NAME_SIZE]; /* most used first */
    uint32_t          n_extensions;
    struct fby_column columns[FBY_GUESS_COLUMNS]; /* of the first shard */
    uint32_t          n_columns;
};

struct fby_guess {
    enum fby_source_kind   kind;
    uint32_t               n_splits;
    struct fby_guess_split splits[FBY_GUESS_SPLITS]; /* train first, if any */
};

/* Errors: FBY_NOT_FOUND, FBY_CONFIG (none of the three: says
 *         what was found and what was expected), FBY_IO. */
FBY_CHECKED fby_err fby_source_guess(
    const char *dir, struct fby_guess *out, struct fby_why *why);

#endif
