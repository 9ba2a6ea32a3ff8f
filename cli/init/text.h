/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - write the text of a first pipeline file for data that was guessed.
 *
 * The functions are pure: guess.h reads the data. */
#ifndef FBY_CLI_INIT_TEXT_H
#define FBY_CLI_INIT_TEXT_H

#include "common/bytes.h"
#include "common/err.h"
#include "pipeline/plan/geometry.h"
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

/* The kind of a value in a list (.csv, .jsonl), or of all values of a column.
 * A column of kind NUMBER may contain DIGITS, too, and a column of kind TEXT
 * may contain both. */
enum fby_init_value {
    FBY_INIT_NO_VALUE     = 0, /* members are files */
    FBY_INIT_DIGITS       = 1, /* 1 to 9 digits, such as class ids */
    FBY_INIT_NUMBER       = 2, /* other JSON numbers */
    FBY_INIT_TEXT         = 3, /* other values, also true, false and null */
    FBY_INIT_NUMBER_LISTS = 4, /* JSON lists of numbers, or empty ones */
    FBY_INIT_TEXT_LISTS   = 5, /* JSON lists of texts, none empty */
    FBY_INIT_OTHER_LISTS  = 6, /* other JSON lists */
    FBY_INIT_OBJECT       = 7, /* JSON objects */
    FBY_INIT_MIXED = 8 /* column: values of kinds that no field can combine */
};

enum { FBY_INIT_SIZES = 8 }; /* samples whose pictures are measured */

/* The members (files or values of samples) with one extension. For lists and
 * parallel folders, the extension begins with the name of the column or
 * folder. */
struct fby_init_member {
    char     extension[FBY_NAME_SIZE]; /* lower case */
    uint64_t count;                    /* number of these members */
    bool     always;                   /* each sample that was read has one */
    bool     header_read; /* the PNG header of the first such file was read */
    bool     may_be_ids;  /* by this header: pixels are grey or of a palette */
    bool     is_grey16;   /* by this header: pixels are grey, of 16 bits */
    bool     has_grey16;  /* folder: so are those of a file that was read */
    bool     has_255;     /* in the pixels of the first masks */
    bool     has_other_ids; /* than 0 and 255, likewise */
    /* The sizes of the pictures of the first samples; {0, 0}: unknown. */
    struct fby_size sizes[FBY_INIT_SIZES];
    bool            has_words; /* cls: some of those that were read are no id */
    /* The different values, if they can be names of classes; NULL: they cannot,
     * or none were read. Owned by the guess. */
    struct fby_init_words *words;
    bool no_classes;                 /* the values cannot be names of classes */
    bool too_many_classes;           /* because there are too many of them */
    bool some_words_unread;          /* not all values were read */
    char other_words[FBY_NAME_SIZE]; /* the split that has other values; "" */
    char unknown_class[160]; /* "split val has 'a'", which is no class; "" */
    char key[FBY_NAME_SIZE]; /* a value in these JSON files; "": a file */
    uint32_t            values_read; /* cls, JSON: files that were read */
    enum fby_init_value value;       /* kind of the values */
    bool                has_real;    /* a number has a fraction */
    bool                has_wide;    /* f32 cannot hold a whole number */
    uint32_t            longest;     /* bytes of the longest value */
    /* Entries of the longest list; TEXT_LISTS: bytes of the longest text. */
    uint32_t max_length;
    bool     has_inner_lists; /* lists: an entry is a list */
    char     keys[128];       /* OBJECT: its keys: "KEY, KEY.KEY, KEY" */
    /* OBJECT: kind of the value of its first key: NUMBER, TEXT, else MIXED. */
    enum fby_init_value first_key_kind;
};

struct fby_init_split { /* where the data of a split is */
    const char *name;
    const char *path; /* folder, list or pattern */
    const char (
        *files)[FBY_NAME_SIZE]; /* list: names of the columns that hold paths */
    size_t                   n_files;
    const struct fby_tokens *tokens; /* settings for token files */
};

struct fby_init_summary { /* the known facts about the data of split train */
    enum fby_source_kind kind;
    const char          *path;          /* folder, list or pattern */
    uint64_t             samples;       /* exact number; 0: not counted */
    uint64_t             least_samples; /* number that was read; 0: unknown */
    uint32_t             shards;      /* number of tar, table or token files */
    uint32_t             classes;     /* class folders; 0: unknown */
    bool                 flat;        /* folder: files without classes */
    uint32_t             class_depth; /* levels down to class folders; 0: 1 */
    const struct fby_init_member *members; /* the most frequent first */
    size_t                        n_members;
    const struct fby_init_column *columns; /* of NumPy or SciPy files */
    size_t                        n_columns;
    const char (
        *files)[FBY_NAME_SIZE]; /* list: names of the columns that hold paths */
    size_t                   n_files;
    const struct fby_tokens *tokens; /* settings for token files */
    const char
        *data_root; /* the directory of the root "data"; NULL, "": none */
    const struct fby_init_split *others; /* splits for validation and tests */
    size_t                       n_others;
    const char (*linked)[FBY_PATH_SIZE]; /* directories to which links lead */
    size_t n_linked;
};

/* Append a commented pipeline file that works without editing. It has the split
 * `train`, the `others`, which are neither shuffled nor augmented, and batches
 * of 64 samples (4,096 for columns). If fewer samples than one batch were read,
 * the file keeps the last batch although it is short.
 *   pictures: 224 x 224, normalised f32 in CHW, and labels; train:
 *             random_resized_crop and flip, others: resize and center_crop;
 *             masks that each sample has follow their picture; with a
 *             column of coordinates only resize
 *   lists:    each column of values is a further field, unchanged
 *   columns:  each column is a field, unchanged
 *   tokens:   the fields are tokens and targets
 * Errors: FBY_CONFIG  no field is possible: no JPEG or PNG extension, no usable
 *                     value of a list, and no usable column. */
FBY_CHECKED fby_err fby_init_text(const struct fby_init_summary *data,
    struct fby_buffer *out, struct fby_error_detail *why);

/* Append lines for the terminal: members that the pipeline leaves out, and what
 * can be done about that. */
void fby_init_append_notes(
    const struct fby_init_summary *data, struct fby_buffer *out);

/* Append the argument `data={"NAME": "DIR", ...}` of Python's forebay.Loader for
 * the roots that the data needs; nothing if it needs none. */
void fby_init_append_python_roots(struct fby_buffer *out, const char *data_root,
    const char (*linked)[FBY_PATH_SIZE], size_t                       n_linked);

/* True for names that are usual for pictures ("images"). */
bool fby_init_is_picture_name(const char *name);

/* True for names that are usual for the partners of pictures ("masks"). */
bool fby_init_is_partner_name(const char *name);

#endif
