/* findings.h - what could be written better in a pipeline file: decisions.
 *
 * Pure: facts that were measured on a sample of the data go in, findings come
 * out, each with what it would save. measure.h makes the facts. */
#ifndef FBY_CLI_LINT_FINDINGS_H
#define FBY_CLI_LINT_FINDINGS_H

#include "cli/class_folders.h"
#include "codec/codec.h"

enum {
    FBY_LINT_MOVES    = 32,  /* of ops of a field that are tried */
    FBY_LINT_FINDINGS = 740, /* an order an op, seven more a field, and four */
    FBY_LINT_TEXT     = 640,
    FBY_LINT_OPEN     = 128, /* shards that a worker keeps open */
    FBY_LINT_FEW      = 8    /* samples that say nothing of all others */
};

/* A field made in another way. */
struct fby_lint_trial {
    bool   made;      /* else the other way was not possible */
    double before_ms; /* CPU of a worker, a sample */
    double after_ms;
    double difference; /* of the values, in the mean: levels of 255 */
};

/* Op `from` moved to where op `to` < from stands, which follows it then. */
struct fby_lint_move {
    uint32_t              from, to;
    struct fby_lint_trial trial;
};

struct fby_lint_values {
    bool numbers;  /* of one number or an array; else `constant` alone counts */
    bool whole;    /* all are whole numbers */
    bool constant; /* all samples have the same */
    double least, most;
};

struct fby_lint_coding {
    struct fby_coding coding;
    double            bytes; /* a sample, on the wire */
    double            ms;    /* CPU a sample, to encode */
};

struct fby_lint_lines {
    size_t field, dct_scale, classes, type, codec, normalize;
    size_t ops[FBY_MAX_OPS];
};

struct fby_lint_field {
    const struct fby_field_content *content; /* borrowed */
    struct fby_lint_lines           lines;
    double                          bytes;   /* raw, a sample */
    uint32_t                        classes; /* of folders; else 0 */
    uint32_t same_as; /* a field before it with equal values; else itself */
    struct fby_lint_values values;
    struct fby_lint_coding coded; /* as the file asks for */
    struct fby_lint_coding best;  /* as `auto` would choose */
    struct fby_lint_trial  scale; /* dct_scale: faithful instead of off */
    struct fby_lint_move   moves[FBY_LINT_MOVES];
    uint32_t               n_moves;
};

/* Flat token files whose documents are packed. */
struct fby_lint_ends {
    uint32_t undivided; /* of these each is one document */
    uint32_t files;
    uint32_t end; /* the token behind a document, as the pipeline says */
    size_t   line;
};

struct fby_lint_facts {
    uint32_t                 samples; /* that were looked at */
    uint32_t                 refused; /* beside these, bad ones */
    const char              *refusal; /* why the first is; borrowed */
    uint32_t                 refused_field;
    struct fby_class_folders classes;
    struct fby_lint_ends     ends;
    bool                     substitutes; /* pull goes on with another sample */
    uint32_t                 n_fields;
    struct fby_lint_field    fields[FBY_MAX_FIELDS];
    size_t                   shuffle_line;
    double                   shards; /* read for a batch, in the mean */
    uint32_t                 block;  /* a K of {block: K} that reads fewer */
    double                   shards_block; /* with that; 0: there is none */
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
    const char           *field; /* borrowed of the facts; NULL: of none */
    char                  what[FBY_LINT_TEXT];
    char                  instead[FBY_LINT_TEXT];
    double                before, after; /* in `unit` */
    const char           *unit;          /* NULL: there is nothing to save */
    bool changes_content; /* and with it the digest; the values a little */
};

/* Returns how many there are, in the order of the fields. */
uint32_t fby_lint_find(const struct fby_lint_facts *facts,
    struct fby_finding                              out[FBY_LINT_FINDINGS]);

#endif
