/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - write the text of a first pipeline file for data that was guessed.
 *
 * The functions are pure: guess.h reads the data. */
#ifndef FBY_CLI_INIT_TEXT_H
#define FBY_CLI_INIT_TEXT_H

#include "cli/init/member.h"
#include "common/bytes.h"
#include "common/err.h"
#include "pipeline/types.h"

/* A column of NumPy or SciPy files. Rows of a ragged column have any number of
 * entries. Rows of a sparse column store only some values and their indices. */
struct fby_init_column {
    char          name[FBY_NAME_SIZE];
    enum fby_type wire; /* on the wire; 0: the column cannot be a field */
    /* Shape of a row; ragged: of an entry; sparse: of a row with its zeros. */
    struct fby_shape row;
    uint32_t max_length; /* guess of the most entries of a row; 0: dense */
    bool     sparse;
};

struct fby_init_split { /* where the data of a split is */
    const char *name;
    const char *path; /* folder, list or pattern */
    const char (
        *files)[FBY_NAME_SIZE]; /* list: names of the columns that hold paths */
    size_t                   n_files;
    const struct fby_tokens *tokens; /* settings for token files */
};

struct fby_init_roots { /* the roots that the data needs */
    const char *data;   /* the directory of the root "data"; NULL, "": none */
    const char (*linked)[FBY_PATH_SIZE]; /* directories to which links lead */
    size_t n_linked;
};

struct fby_init_root {
    char        name[FBY_NAME_SIZE];
    const char *dir;                            /* borrowed */
    char option[FBY_NAME_SIZE + FBY_PATH_SIZE]; /* NAME=DIR, for --data */
};

struct fby_init_summary { /* the known facts about the first split */
    const char
        *evaluation_split; /* the split, if it is another than train; or NULL */
    enum fby_source_kind kind;
    const char          *path;          /* folder, list or pattern */
    uint64_t             samples;       /* exact number; 0: not counted */
    uint64_t             least_samples; /* number that was read; 0: unknown */
    uint32_t             shards;      /* number of tar, table or token files */
    uint32_t             classes;     /* class folders; 0: unknown */
    bool                 flat;        /* folder: files without classes */
    bool                 has_sides;   /* class folders: left and right */
    uint32_t             class_depth; /* levels down to class folders; 0: 1 */
    const struct fby_init_member *members; /* the most frequent first */
    size_t                        n_members;
    const char (*measured_keys)[FBY_NAME_SIZE]; /* the keys of the samples whose
                                           pictures were measured; NULL: none */
    bool allow_stretch; /* also masks of another aspect ratio */
    const struct fby_init_column *columns; /* of NumPy or SciPy files */
    size_t                        n_columns;
    const char (
        *files)[FBY_NAME_SIZE]; /* list: names of the columns that hold paths */
    size_t                       n_files;
    const struct fby_tokens     *tokens; /* settings for token files */
    struct fby_init_roots        roots;
    const struct fby_init_split *others; /* splits for validation and tests */
    size_t                       n_others;
};

/* Append a commented pipeline file that works without editing. It has the split
 * `train`, the `others`, which are neither shuffled nor augmented, and batches
 * of 64 samples (4,096 for columns). If the first split is one for evaluation,
 * it is as the others. If fewer samples than one batch were read,
 * the file keeps the last batch although it is short.
 *   pictures: 224 x 224, normalised f32 in CHW, and labels; train:
 *             random_resized_crop and flip, others: resize and center_crop;
 *             masks that each sample has follow their picture; with a
 *             column of coordinates only resize
 *   lists:    each column of values is a further field, unchanged
 *   columns:  each column is a field, unchanged
 *   tokens:   the fields are tokens and targets
 * Errors: FBY_CONFIG  no field is possible: no JPEG or PNG extension, no usable
 *                     value of a list, and no usable column; or a mask has
 *                     another aspect ratio than its picture. */
FBY_CHECKED fby_err fby_init_text(const struct fby_init_summary *data,
    struct fby_buffer *out, struct fby_error_detail *why);

/* Append lines for the terminal: members that the pipeline leaves out, and what
 * can be done about that. */
void fby_init_append_notes(
    const struct fby_init_summary *data, struct fby_buffer *out);

/* Set `out` to root `i`: "data", then those of links, which are called links0,
 * links1 and so on. Returns false if there are fewer. */
bool fby_init_get_root(
    const struct fby_init_roots *roots, size_t i, struct fby_init_root *out);

/* Append the argument `data={"NAME": "DIR", ...}` of Python's forebay.Loader for
 * the roots; nothing if there are none. */
void fby_init_append_python_roots(
    struct fby_buffer *out, const struct fby_init_roots *roots);

#endif
