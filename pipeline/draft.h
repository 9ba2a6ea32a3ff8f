/* draft.h - a pipeline file as read, before a split is picked out of it.
 *
 * Private to the parser (parse.c, field.c, split.c). Every struct that a
 * schema fills begins with the places of its keys, see schema.h. */
#ifndef FBY_PIPELINE_DRAFT_H
#define FBY_PIPELINE_DRAFT_H

#include "pipeline/fields/check.h"
#include "pipeline/op.h"
#include "pipeline/parse.h"
#include "pipeline/schema.h"
#include "pipeline/sources/traits.h"

enum { /* keys of a split; those before are its sources, see SPLIT_SOURCE */
    SPLIT_FILES = FBY_N_SOURCES - 1,
    SPLIT_SHUFFLE,
    SPLIT_BUCKET_BY,
    SPLIT_LAST,
    SPLIT_LANES,
    SPLIT_SLICES,
    SPLIT_KEYS
};
/* The key that names a source of that kind. */
#define SPLIT_SOURCE(kind) ((size_t)(kind)-1)
enum { SHUFFLE_BLOCK, SHUFFLE_KEYS };

struct draft_shuffle {
    struct fby_place at[SHUFFLE_KEYS];
    int64_t          kind; /* enum fby_shuffle */
    int64_t          block;
};

enum { /* keys of tokens */
    TOKENS_FILES,
    TOKENS_FORMAT,
    TOKENS_TYPE,
    TOKENS_COLUMN,
    TOKENS_LENGTH,
    TOKENS_SHIFT,
    TOKENS_PACK,
    TOKENS_END,
    TOKENS_PAD,
    TOKENS_KEYS
};

struct draft_tokens {
    struct fby_place at[TOKENS_KEYS];
    char             files[FBY_PATH_SIZE];
    int64_t          format; /* enum fby_tokens_format */
    int64_t          type;   /* 0: not said */
    char             column[FBY_NAME_SIZE];
    int64_t          length;
    int64_t          shift;
    int64_t          pack; /* 1: documents */
    int64_t          end;
    int64_t          pad;
};

enum { BUCKET_FIELD, BUCKET_BOUNDS, BUCKET_KEYS };

struct draft_bucket {
    struct fby_place     at[BUCKET_KEYS];
    struct fby_bucket_by by;
};

struct draft_split {
    struct fby_place     at[SPLIT_KEYS];
    struct fby_place     here; /* its name */
    char                 name[FBY_NAME_SIZE];
    char                 pattern[FBY_PATH_SIZE]; /* of its source */
    struct draft_tokens  tokens;
    char                 files[FBY_MAX_FILES][FBY_NAME_SIZE]; /* sorted */
    uint32_t             n_files;
    struct draft_shuffle shuffle;
    struct draft_bucket  bucket;
    int64_t              last;
    int64_t              lanes;
    int64_t              slices;
    enum fby_source_kind kind;
    const struct fby_source_traits *source;   /* of that kind */
    struct fby_location             location; /* absolute, or NAME:path */
};

enum { BAD_DO, BAD_LIMIT, BAD_KEYS };

struct draft_bad_sample {
    struct fby_place at[BAD_KEYS];
    int64_t          what; /* enum fby_bad_sample */
    int64_t          limit;
};

enum {
    WIRE_KEYS    = FBY_FIELD_OUT_DTYPE - FBY_FIELD_WIRE_TYPE,
    OUT_KEYS     = FBY_FIELD_ONE_HOT_CLASSES - FBY_FIELD_OUT_DTYPE,
    ONE_HOT_KEYS = FBY_FIELD_NAME - FBY_FIELD_ONE_HOT_CLASSES
};
/* Keys inside `wire`, `out` and `one_hot`, from 0. */
#define WIRE(key)    (FBY_FIELD_WIRE_##key - FBY_FIELD_WIRE_TYPE)
#define OUT(key)     (FBY_FIELD_OUT_##key - FBY_FIELD_OUT_DTYPE)
#define ONE_HOT(key) (FBY_FIELD_ONE_HOT_##key - FBY_FIELD_ONE_HOT_CLASSES)

struct draft_wire {
    struct fby_place at[WIRE_KEYS];
    int64_t          type; /* 0: not said */
    int64_t          filter;
    int64_t          codec;
};

struct draft_factors {
    uint32_t n; /* 0: not said */
    double   r[FBY_MAX_FACTORS];
};

struct draft_out {
    struct fby_place     at[OUT_KEYS];
    int64_t              dtype; /* 0: not said */
    int64_t              layout;
    struct draft_factors scale;
    struct draft_factors offset;
    int64_t              as;      /* enum fby_as; 0: not said */
    int64_t              longest; /* 1: padded to the batch's longest row */
    struct fby_value     pad;     /* n = 0: not said */
    int64_t              offsets; /* enum fby_type; 0: not said */
};

struct draft_one_hot {
    struct fby_place           at[ONE_HOT_KEYS];
    int64_t                    classes;
    double                     smoothing;
    int64_t                    dtype;
    uint32_t                   only;     /* bit i: split i */
    const struct fby_pipeline *pipeline; /* whose splits `only` names */
};

struct draft_op {
    struct fby_op_use use;  /* occurrence: set when a split is picked */
    uint32_t          only; /* bit i: split i */
    struct fby_place  here; /* its name */
    char              field[FBY_NAME_SIZE]; /* a parameter names it */
    struct fby_place  field_at;
};

enum { NORMALIZE_MEAN, NORMALIZE_STD }; /* parameters */

struct draft_field {
    struct fby_place           at[FBY_FIELD_TOP_KEYS];
    struct fby_place           here; /* its name */
    char                       name[FBY_NAME_SIZE];
    char                       from[FBY_MAX_MAPS][FBY_NAME_SIZE];
    struct fby_place           from_at[FBY_MAX_MAPS];
    uint32_t                   n_from;
    int64_t                    decode;
    int64_t                    dct_scale;
    char                       group[FBY_NAME_SIZE];
    char                       json_key[FBY_NAME_SIZE];
    int64_t                    pick; /* enum fby_pick */
    int64_t                    length;
    struct fby_shape           shape;
    int64_t                    max_length;
    int64_t                    too_long; /* 0: not said */
    int64_t                    classes;
    struct draft_op            ops[FBY_MAX_OPS];
    uint32_t                   n_ops;
    struct draft_wire          wire;
    struct draft_op            device[FBY_MAX_DEVICE];
    uint32_t                   n_device;
    struct draft_out           out;
    struct draft_one_hot       one_hot;
    const struct fby_pipeline *pipeline; /* it is part of */
};

enum {
    TOP_FOREBAY,
    TOP_SPLITS,
    TOP_GLOBAL_BATCH,
    TOP_SEED,
    TOP_ON_BAD_SAMPLE,
    TOP_FIELDS,
    TOP_KEYS
};

struct fby_pipeline {
    struct fby_place        at[TOP_KEYS];
    char                   *file;        /* name for messages, owned */
    const char             *folder;      /* borrowed, while parsing only */
    yaml_node_t            *splits_node; /* of the document, while parsing */
    yaml_node_t            *fields_node;
    int64_t                 version;
    int64_t                 global_batch;
    int64_t                 seed;
    struct draft_bad_sample bad_sample;
    struct draft_split      splits[FBY_MAX_SPLITS];
    size_t                  n_splits;
    struct draft_field      fields[FBY_MAX_FIELDS]; /* in order of names */
    size_t                  n_fields;
};

/* The fields of a file whose splits are read (field.c). */
FBY_CHECKED fby_err fby_draft_fields(
    struct fby_yaml *yaml, struct fby_pipeline *pipeline);

/* `bucket_by: {field: ...}` of a split (draft_bucket.c), likewise. */
FBY_CHECKED fby_err fby_draft_bucket(
    struct fby_yaml *yaml, yaml_node_t *node, void *split);

/* The list under ops of a draft_field, and the one under device (draft_op.c).
 */
FBY_CHECKED fby_err fby_draft_ops(
    struct fby_yaml *yaml, yaml_node_t *node, void *field);
FBY_CHECKED fby_err fby_draft_device(
    struct fby_yaml *yaml, yaml_node_t *node, void *field);

/* Does any split normalise its pictures? */
bool fby_draft_normalizes(const struct draft_field *field);

/* The fields that ops name, once all are read, in order of names. */
FBY_CHECKED fby_err fby_draft_references(
    const struct fby_yaml *yaml, struct fby_pipeline *pipeline);

/* `only: NAME` or a list of them, as bits (draft_op.c). */
FBY_CHECKED fby_err fby_draft_only(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_pipeline *pipeline, uint32_t *out);

/* How a field is decoded that does not say it, and which keys go with that
 * (field_keys.c). */
FBY_CHECKED fby_err fby_draft_field_keys(
    const struct fby_yaml *yaml, struct draft_field *field);

/* Is it a column of NumPy files? */
bool fby_draft_is_column(const struct draft_field *field);

/* The split of that name, NULL for none; as fby_pipeline_split names it
 * (split.c). */
const struct draft_split *fby_draft_split(
    const struct fby_pipeline *self, const char *name);

/* Where in the file the key stands that is at fault, in a split whose bit is
 * `split_bit` (split_field.c). */
struct fby_place fby_draft_place(const struct draft_field *field,
    const struct fby_field_fault *fault, uint32_t split_bit);

/* One field of one split, resolved and checked (split_field.c). `i` is its
 * number in both; the content's source, tokens and such are filled in. */
FBY_CHECKED fby_err fby_draft_fill_field(const struct fby_pipeline *pipeline,
    const struct draft_split *split, size_t i, struct fby_split *out,
    struct fby_why *why);

/* A name that a user chose for a field or split, from its key. */
FBY_CHECKED fby_err fby_draft_name(const struct fby_yaml *yaml,
    const yaml_node_t *key, const char *what, char out[FBY_NAME_SIZE]);

/* The name of a field's key, for errors (field.c). */
const char *fby_draft_field_key(size_t key);

/* Wire types of a file that become a type and more. */
enum { DRAFT_BITS = 1000, DRAFT_YUV420 = 1001 };

/* The words that were never said stand for these. */
enum {
    DEFAULT_LIMIT = 100 /* of on_bad_sample: substitute */
};

#endif
