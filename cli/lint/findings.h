/* findings.h - decide what to improve in a pipeline file.
 *
 * The functions are pure: they turn facts that were measured on samples of the
 * data (measure.h) into findings, each with its saving. */
#ifndef FBY_CLI_LINT_FINDINGS_H
#define FBY_CLI_LINT_FINDINGS_H

#include "cli/class_folders.h"
#include "codec/codec.h"

enum {
    FBY_LINT_MOVES    = 32,  /* largest number of moves tried per field */
    FBY_LINT_FINDINGS = 740, /* at most: 1 per op, 7 per field, and 4 more */
    FBY_LINT_TEXT     = 640, /* bytes */
    FBY_LINT_OPEN     = 128, /* shards that a worker keeps open */
    FBY_LINT_FEW      = 8    /* with fewer samples, equal values are chance */
};

/* The comparison of a changed field with the field of the pipeline file. */
struct fby_lint_trial {
    bool   made;       /* false: the changed field is not possible */
    double before_ms;  /* CPU time of a worker per sample */
    double after_ms;   /* the same for the changed field */
    double difference; /* mean difference of the values, in levels of 255 */
};

/* Op `from` moved to directly before op `to` < from. */
struct fby_lint_move {
    uint32_t              from, to;
    struct fby_lint_trial trial;
};

struct fby_lint_values {
    bool   numbers;  /* the values are numbers; else only `constant` is set */
    bool   whole;    /* all values are whole numbers */
    bool   constant; /* all samples have the same value */
    double least, most;
};

struct fby_lint_encoding {
    struct fby_coding coding;
    double            bytes; /* on the wire, per sample */
    double            ms;    /* CPU time of encoding, per sample */
};

struct fby_lint_lines { /* line numbers of keys in the pipeline file */
    size_t field, dct_scale, classes, type, codec, normalize;
    size_t ops[FBY_MAX_OPS];
};

struct fby_lint_field {
    const struct fby_field_content *content; /* borrowed */
    struct fby_lint_lines           lines;
    double                          bytes;   /* raw, per sample */
    uint32_t                        classes; /* class folders; else 0 */
    uint32_t same_as; /* index of the first field with equal values */
    struct fby_lint_values   values;
    struct fby_lint_encoding current; /* the encoding in the pipeline file */
    struct fby_lint_encoding best;    /* the encoding that `auto` chooses */
    struct fby_lint_trial    scale;   /* dct_scale: faithful instead of off */
    struct fby_lint_move     moves[FBY_LINT_MOVES];
    uint32_t                 n_moves;
};

/* Flat token files whose documents are packed. */
struct fby_lint_ends {
    uint32_t undivided; /* number of files with a single document */
    uint32_t files;     /* number of all files */
    uint32_t end;       /* the token after each document, from the pipeline */
    size_t   line;      /* of `end` in the pipeline file */
};

struct fby_lint_facts {
    uint32_t                 samples; /* measured */
    uint32_t                 refused; /* bad samples, not among `samples` */
    const char              *refusal; /* cause of the first one; borrowed */
    uint32_t                 refused_field; /* index of its field */
    struct fby_class_folders classes;
    struct fby_lint_ends     ends;
    bool                     substitutes; /* bad samples are replaced */
    uint32_t                 n_fields;
    struct fby_lint_field    fields[FBY_MAX_FIELDS];
    size_t                   shuffle_line;
    double                   shards; /* read per batch, in the mean; 0: none */
    uint32_t                 block;  /* a K of {block: K}; 0: not tried */
    double                   shards_block; /* `shards` with that block */
};

enum fby_finding_kind {
    FBY_FINDING_REFUSED,
    FBY_FINDING_PAIR,
    FBY_FINDING_CLASSES,
    FBY_FINDING_NO_END,
    FBY_FINDING_LEVELS,
    FBY_FINDING_OP_ORDER,
    FBY_FINDING_DCT_SCALE,
    FBY_FINDING_WIRE_TYPE,
    FBY_FINDING_CODEC,
    FBY_FINDING_CONSTANT,
    FBY_FINDING_TWICE,
    FBY_FINDING_SHARDS
};

struct fby_finding {
    enum fby_finding_kind kind;
    size_t                line;
    const char           *field; /* borrowed from the facts; NULL: none */
    char                  found[FBY_LINT_TEXT];
    char                  advice[FBY_LINT_TEXT];
    double                before, after; /* in `unit` */
    const char           *unit;          /* NULL: no saving */
    bool changes_content; /* the advice changes the content digest */
};

/* Write the findings in the order of the fields; returns their number. */
uint32_t fby_lint_find(const struct fby_lint_facts *facts,
    struct fby_finding                              out[FBY_LINT_FINDINGS]);

#endif
