/* text.h - write the text of a first pipeline file for data that was guessed.
 * The functions are pure; guess.h reads the data. */
#ifndef FBY_CLI_INIT_TEXT_H
#define FBY_CLI_INIT_TEXT_H

#include "common/bytes.h"
#include "common/err.h"
#include "pipeline/types.h"

struct fby_init_column {
    char             name[FBY_NAME_SIZE];
    enum fby_type    wire; /* wire type; 0: the column cannot be a field */
    struct fby_shape row;  /* of a row; if ragged, of one entry; if sparse, of
                              a dense row */
    uint32_t         max_length; /* a guess; 0: all rows have one shape */
    bool             sparse;
};

/* The kind of the values of a list's column. A column of kind NUMBER may also
 * have values of kind WHOLE, and a column of kind TEXT values of both. */
enum fby_init_value {
    FBY_INIT_NO_VALUE = 0, /* members are files */
    FBY_INIT_WHOLE    = 1, /* digits only, as class ids */
    FBY_INIT_NUMBER   = 2,
    FBY_INIT_TEXT     = 3,
    FBY_INIT_NUMBERS  = 4, /* JSON lists of numbers, or empty ones */
    FBY_INIT_TEXTS    = 5, /* JSON lists of texts, none empty */
    FBY_INIT_LISTS    = 6, /* other JSON lists */
    FBY_INIT_OBJECT   = 7, /* JSON objects */
    FBY_INIT_MIXED    = 8  /* values of several of these kinds */
};

/* The members with one extension. For lists and parallel folders the extension
 * begins with the name of the column or folder. */
struct fby_init_member {
    char     extension[FBY_NAME_SIZE]; /* lower case */
    uint64_t count;                    /* samples with such a member */
    bool     always;                   /* all samples that were read have one */
    bool     header_read; /* the PNG header of the first such file was read */
    bool     ids;         /* that file is grey or has a palette, as masks do */
    enum fby_init_value value;
    uint32_t            longest; /* bytes of the longest value */
    uint32_t            most; /* entries of the longest list; for TEXTS, bytes
                                    of the longest text */
    char                inside[128]; /* keys of an object, separated by ", " */
    enum fby_init_value first; /* kind at the first key: NUMBER, TEXT, MIXED */
};

struct fby_init_summary {
    enum fby_source_kind          kind;
    const char                   *path;    /* folder, list or pattern */
    uint64_t                      samples; /* 0: not counted */
    uint64_t                      about;   /* samples, from the first shard */
    uint32_t                      shards;  /* tars, tables or token files */
    uint32_t                      classes; /* class folders; 0: unknown */
    const struct fby_init_member *members; /* the most frequent first */
    size_t                        n_members;
    const struct fby_init_column *columns; /* of a source of columns */
    size_t                        n_columns;
    const char (*files)[FBY_NAME_SIZE]; /* of a list: columns of paths */
    size_t                   n_files;
    const struct fby_tokens *tokens; /* of token files */
};

/* Append a commented pipeline file that works without editing. It has the split
 * `train` and batches of 64 samples (4,096 for columns). With fewer samples the
 * last batch is short.
 *   pictures: random_resized_crop 224, flip, normalised f32 in CHW, and labels;
 *             masks that each sample has follow their picture
 *   lists:    the values are further fields, unchanged
 *   columns:  each is a field, unchanged
 *   tokens:   the fields are tokens and targets
 * Errors: FBY_CONFIG when no field is possible: no JPEG or PNG extension (and
 *         no usable value of a list), or no usable column. */
FBY_CHECKED fby_err fby_init_text(const struct fby_init_summary *summary,
    struct fby_buffer *out, struct fby_error_detail *why);

/* True for names that are usual for pictures ("images"). */
bool fby_init_names_pictures(const char *name);

/* True for names that are usual for data beside pictures ("masks"). */
bool fby_init_names_partners(const char *name);

#endif
