/* SPDX-License-Identifier: Apache-2.0 */
/* findings.h - decide what to improve in a pipeline file.
 *
 * The functions are pure: they turn facts that were measured on samples of the
 * data (measure.h) into findings, each with its saving. */
#ifndef FBY_CLI_LINT_FINDINGS_H
#define FBY_CLI_LINT_FINDINGS_H

#include "cli/class_folders.h"
#include "codec/codec.h"

enum {
    FBY_LINT_MOVES       = 32,  /* largest number of moves tried per field */
    FBY_LINT_FINDINGS    = 805, /* at most: 1 per op, 9 per field, and 5 more */
    FBY_LINT_TEXT        = 640, /* bytes for one text of a finding */
    FBY_LINT_OPEN_SHARDS = 128, /* shards that a worker keeps open */
    FBY_LINT_MIN_SAMPLES = 8    /* with fewer samples, equality may be chance */
};

/* A trial of a changed field, compared with the field of the pipeline file. */
struct fby_lint_trial {
    bool   succeeded;  /* false: the changed field refuses a sample */
    double before_ms;  /* CPU ms of a worker per sample, unchanged field */
    double after_ms;   /* CPU ms of a worker per sample, changed field */
    double difference; /* mean difference of the values, in levels (0 to 255) */
};

/* An op of a field that is moved to an earlier position. */
struct fby_lint_move {
    uint32_t              from, to; /* its index before and after the move */
    struct fby_lint_trial trial;
};

struct fby_lint_values { /* the values of a field in all samples */
    bool   constant;     /* all samples have the same value */
    bool   are_numbers;  /* false: the members below are unset */
    bool   are_whole;    /* all values are whole numbers */
    double min, max;
};

struct fby_lint_encoding { /* a measured encoding of a field */
    struct fby_coding coding;
    double            bytes; /* mean bytes on the wire per sample */
    double            ms;    /* CPU ms of encoding per sample */
};

struct fby_lint_lines { /* line numbers of keys in the pipeline file */
    size_t field, dct_scale, classes, type, codec, normalize, out;
    size_t ops[FBY_MAX_OPS];
};

struct fby_lint_field {                      /* the measurements of one field */
    const struct fby_field_content *content; /* borrowed */
    struct fby_lint_lines           lines;
    double                          bytes; /* mean raw bytes per sample */
    uint32_t classes;  /* class folders; 0: the field is no folder id */
    bool     is_float; /* the trainer gets floats (f32, f16, bf16) */
    uint32_t clipped;  /* samples whose picture is clipped (picture.h) */
    uint32_t same_as;  /* first field with equal values; or its own index */
    struct fby_lint_values   values;
    struct fby_lint_encoding current; /* the encoding in the pipeline file */
    struct fby_lint_encoding best;    /* the encoding that `auto` chooses */
    struct fby_lint_trial scale; /* with dct_scale: faithful instead of off */
    /* The moves of one op follow each other, the shortest first. */
    struct fby_lint_move moves[FBY_LINT_MOVES];
    uint32_t             n_moves;
};

/* Flat token files, which are divided into documents at an end token. */
struct fby_lint_ends {
    uint32_t undivided; /* number of files with a single document */
    uint32_t files;     /* number of all files */
    uint32_t end;       /* the end token, from the pipeline file */
    size_t   line;      /* line number of the key `end` in the pipeline file */
};

struct fby_lint_token_type { /* of flat token files */
    enum fby_type declared;  /* in the pipeline file */
    enum fby_type found; /* by the bytes of samples; 0: the same, or unknown */
    size_t        line;  /* line number of the key `type` */
};

struct fby_lint_facts {        /* the measurements of a pipeline and its data */
    uint32_t    samples;       /* number of samples measured */
    uint32_t    refused;       /* bad samples, not among `samples` */
    const char *refusal;       /* cause of the first refusal; borrowed */
    uint32_t    refused_field; /* field index of this refusal */
    struct fby_class_folders_difference classes; /* compared between splits */
    struct fby_lint_ends                ends;
    struct fby_lint_token_type          token_type;
    bool                  substitutes; /* true: pull replaces bad samples */
    uint32_t              n_fields;
    struct fby_lint_field fields[FBY_MAX_FIELDS];
    const char           *split;        /* name of the split; borrowed */
    bool                  is_shuffled;  /* the split has an order at random */
    size_t                shuffle_line; /* line of the key `shuffle` */
    double   shards; /* mean number of shards per batch; 0: unused */
    uint32_t block;  /* K of the tried shuffle: {block: K}; 0: none tried */
    double   block_shards; /* mean number of shards per batch with it */
};

enum fby_finding_kind {
    FBY_FINDING_REFUSED,     /* some samples are bad */
    FBY_FINDING_PAIR,        /* a picture and its mask are moved differently */
    FBY_FINDING_COORDINATES, /* a picture moves, but not its boxes */
    FBY_FINDING_CLASSES,     /* the class folders of the splits differ */
    FBY_FINDING_NO_END,      /* token files do not contain the end token */
    FBY_FINDING_TOKEN_TYPE,  /* token files seem to have another type */
    FBY_FINDING_RANDOM,      /* random ops in a split for evaluation */
    FBY_FINDING_CLIPPED,     /* pictures in grey of 16 bits */
    FBY_FINDING_LEVELS,      /* normalize is in units of 0 to 255, or missing */
    FBY_FINDING_OP_ORDER,    /* an op works on pixels that are dropped later */
    FBY_FINDING_DCT_SCALE,   /* pictures are decoded larger than needed */
    FBY_FINDING_WIRE_TYPE,   /* a narrower type holds all values */
    FBY_FINDING_CODEC,       /* another encoding has fewer bytes */
    FBY_FINDING_CONSTANT,    /* a field has the same value in all samples */
    FBY_FINDING_TWICE,       /* two fields have the same values */
    FBY_FINDING_SHARDS       /* a batch comes from very many shards */
};

struct fby_finding {
    enum fby_finding_kind kind;
    size_t                line;  /* in the pipeline file */
    const char           *field; /* borrowed from the facts; NULL: none */
    char                  found[FBY_LINT_TEXT];
    char                  advice[FBY_LINT_TEXT];
    double                before, after; /* in `unit` */
    const char           *unit;          /* NULL: no saving */
    bool changes_content; /* the advice changes the content digest */
};

/* Find what to improve, and write the findings to `out`: first those of the
 * data set, then those of each field. Returns the number of findings. */
uint32_t fby_lint_find(const struct fby_lint_facts *facts,
    struct fby_finding                              out[FBY_LINT_FINDINGS]);

#endif
