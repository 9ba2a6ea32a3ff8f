/* SPDX-License-Identifier: Apache-2.0 */
/* guess.h - guess the kind and the splits of the data in a directory.
 *
 * `forebay init` writes a pipeline file from the guess. The known kinds are
 * class folders, tar shards, columns of NumPy files, lists, parallel folders
 * (such as images and masks) and token files. A guess reads all file names, the
 * first shards of each split (tar: until 20,000 members), whole lists, the
 * header of one PNG file of each extension and of 256 samples with masks, and
 * the pictures of the first samples that have masks. */
#ifndef FBY_CLI_INIT_GUESS_H
#define FBY_CLI_INIT_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/init/member.h"
#include "common/err.h"
#include "pipeline/types.h"
#include "worker/source/shard.h"
#include "worker/source/spec.h"

/* The most splits, and the most members and columns of a split. */
enum { FBY_GUESS_SPLITS = 8, FBY_GUESS_MEMBERS = 32, FBY_GUESS_COLUMNS = 32 };

struct fby_guess_left_out { /* files that are no samples, of one type */
    char     extension[FBY_NAME_SIZE];
    uint64_t count;
};

/* The samples of a split whose masks are checked. */
enum { FBY_GUESS_MASKS = 256 };

enum { FBY_REASON_SIZE = 4096 /* bytes of the reason to leave a split out */ };

struct fby_guess_split {                      /* the data of one split */
    char                 name[FBY_NAME_SIZE]; /* "train", "val", ... */
    enum fby_source_kind kind;
    char     pattern[FBY_PATH_SIZE]; /* path, or a pattern of paths */
    uint32_t shards;  /* number of tar files, tables or token files; else 0 */
    uint32_t classes; /* number of class folders; else 0 */
    uint32_t shards_read;  /* tar: number of shards whose samples were read */
    uint32_t class_depth;  /* folder: levels down to them; 0: no classes */
    bool     has_sides;    /* class folders: one is left, another right */
    bool     only_folders; /* the class folders hold no files, but folders */
    char     mismatch
        [FBY_REASON_SIZE]; /* a class folder that train lacks, as text; "": none */
    bool     only_pictures; /* tar: samples have nothing more */
    bool     in_folder;     /* and one folder in the tar has all of them */
    uint64_t samples;       /* number of samples that were read */
    bool     counted_all;   /* all samples were read; false: there are more */
    struct fby_init_member members[FBY_GUESS_MEMBERS]; /* most used first */
    uint32_t               n_members;
    bool     sizes_read;    /* those of the first pictures and masks */
    uint32_t masks_checked; /* samples; at most FBY_GUESS_MASKS */
    char     measured_keys[FBY_INIT_SIZES]
                      [FBY_NAME_SIZE]; /* the keys of these samples */
    /* Class folders: files without a picture of their sample. */
    struct fby_guess_left_out left_out[FBY_GUESS_MEMBERS];
    uint32_t                  n_left_out;
    /* list: columns that hold paths */
    char              file_columns[FBY_MAX_FILES][FBY_NAME_SIZE];
    uint32_t          n_file_columns;
    struct fby_tokens tokens;                     /* settings for token files */
    struct fby_column columns[FBY_GUESS_COLUMNS]; /* of the first table */
    uint32_t          n_columns;
};

enum { FBY_GUESS_LINKED = 4, FBY_GUESS_NOTES = 16384 };

/* Bytes of a command: a program and some paths. */
enum { FBY_GUESS_COMMAND = 4 * FBY_PATH_SIZE };

struct fby_guess {
    /* Directories outside the searched one to which links lead. */
    char                 linked[FBY_GUESS_LINKED][FBY_PATH_SIZE];
    uint32_t             n_linked;
    uint64_t             n_dangling; /* links that lead to no file; skipped */
    enum fby_source_kind kind;       /* of splits[0] */
    uint32_t             n_splits;
    /* A directory that has the lists and all their files, if those are not all
     * below the folders of the lists; "": they are. */
    char     data_root[FBY_PATH_SIZE];
    uint32_t n_left_out; /* splits found beyond FBY_GUESS_SPLITS, not read */
    char     notes[FBY_GUESS_NOTES]; /* for the user: whole lines */
    /* After an error: the command that its text ends with; "": none. */
    char                   command[FBY_GUESS_COMMAND];
    struct fby_guess_split splits[FBY_GUESS_SPLITS]; /* train first, if any */
};

/* Guess the data at `path`, a directory or a single file of a known kind.
 * `token_type` is for token files that do not store it; 0: they are skipped.
 * Errors: FBY_NOT_FOUND, FBY_CONFIG (no known data; the message names the files
 *         that were found and the known kinds), FBY_IO. */
FBY_CHECKED fby_err fby_source_guess(const char *path, enum fby_type token_type,
    struct fby_guess *out, struct fby_error_detail *why);

/* Release what a guess owns, which is nothing after an error. `self` may be
 * zero. */
void fby_guess_fini(struct fby_guess *self);

enum { FBY_GUESS_ANY_DEPTH = INT32_MAX };

/* The same, with the levels down to class folders as the user gives them: 0 is
 * a folder without classes. With FBY_GUESS_ANY_DEPTH, which fby_source_guess()
 * passes, a single folder of folders is refused: it may be one level too high.
 * `progress` is called with the number of files looked at and a total of 0 for
 * folders, and for other kinds with numbers of shards. */
FBY_CHECKED fby_err fby_source_guess_at_depth(const char *path,
    enum fby_type token_type, uint32_t class_depth,
    struct fby_progress progress, struct fby_guess *out,
    struct fby_error_detail *why);

#endif
