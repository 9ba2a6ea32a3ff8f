/* SPDX-License-Identifier: Apache-2.0 */
/* parse_state.h - a parsed pipeline file, from which the splits are made.
 *
 * Private to the parser and to the kinds of fields and sources. Every struct
 * that a schema fills begins with the positions of its keys, see schema.h. A
 * number is 0 if the file does not have its key. */
#ifndef FBY_PIPELINE_PARSE_STATE_H
#define FBY_PIPELINE_PARSE_STATE_H

#include "pipeline/fields/check.h"
#include "pipeline/op.h"
#include "pipeline/parse.h"
#include "pipeline/schema.h"
#include "pipeline/sources/traits.h"

enum { /* keys of a split; the first are those of sources, see SPLIT_SOURCE */
    SPLIT_FILES = FBY_N_SOURCES - 1,
    SPLIT_SHUFFLE,
    SPLIT_BUCKET_BY,
    SPLIT_LAST,
    SPLIT_LANES,
    SPLIT_SLICES,
    SPLIT_CLASS_DEPTH,
    SPLIT_EXCLUDE,
    SPLIT_CLASSES_FROM,
    SPLIT_KEYS
};
/* The key of a source, such as `folder`, by its enum fby_source_kind. */
#define SPLIT_SOURCE(kind) ((size_t)(kind)-1)
enum { SHUFFLE_BLOCK, SHUFFLE_KEYS }; /* keys of `shuffle` */

struct parsed_shuffle {
    struct fby_source_pos key_pos[SHUFFLE_KEYS];
    int64_t               kind;  /* enum fby_shuffle */
    int64_t               block; /* shards in a block */
};

enum { /* keys of `tokens` */
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

struct parsed_tokens {
    struct fby_source_pos key_pos[TOKENS_KEYS];
    char                  files[FBY_PATH_SIZE];
    struct fby_tokens     content;
};

enum { BUCKET_FIELD, BUCKET_BOUNDS, BUCKET_KEYS }; /* keys of `bucket_by` */

struct parsed_bucket {
    struct fby_source_pos key_pos[BUCKET_KEYS];
    struct fby_bucket_by  by;
};

struct parsed_split {
    struct fby_source_pos key_pos[SPLIT_KEYS];
    struct fby_source_pos name_pos;
    char                  name[FBY_NAME_SIZE];
    char                 pattern[FBY_PATH_SIZE]; /* value of the source's key */
    struct parsed_tokens tokens;
    char     files[FBY_MAX_FILES][FBY_NAME_SIZE]; /* columns of paths, sorted */
    uint32_t n_files;
    struct parsed_shuffle           shuffle;
    struct parsed_bucket            bucket;
    int64_t                         last;        /* enum fby_last */
    int64_t                         lanes;       /* 0: the default */
    int64_t                         slices;      /* 0: the default */
    int64_t                         class_depth; /* 0: no classes */
    enum fby_source_kind            kind;
    const struct fby_source_traits *source;     /* the traits of `kind` */
    struct fby_location             location;   /* `pattern`, absolute */
    char                exclude[FBY_PATH_SIZE]; /* path, made absolute */
    struct fby_excluded excluded;               /* what that file says */
    char classes_from[FBY_NAME_SIZE]; /* the split that numbers the classes; "":
                                         the default */
};

enum { BAD_DO, BAD_LIMIT, BAD_KEYS }; /* keys of `on_bad_sample` */

struct parsed_bad_sample {
    struct fby_source_pos key_pos[BAD_KEYS];
    int64_t               rule;  /* enum fby_bad_sample */
    int64_t               limit; /* bad samples allowed */
};

enum {
    WIRE_KEYS    = FBY_FIELD_OUT_DTYPE - FBY_FIELD_WIRE_TYPE,
    OUT_KEYS     = FBY_FIELD_ONE_HOT_CLASSES - FBY_FIELD_OUT_DTYPE,
    ONE_HOT_KEYS = FBY_FIELD_WHOLE - FBY_FIELD_ONE_HOT_CLASSES
};
/* The index of a key inside `wire`, `out` or `one_hot`, from 0. */
#define WIRE(key)    (FBY_FIELD_WIRE_##key - FBY_FIELD_WIRE_TYPE)
#define OUT(key)     (FBY_FIELD_OUT_##key - FBY_FIELD_OUT_DTYPE)
#define ONE_HOT(key) (FBY_FIELD_ONE_HOT_##key - FBY_FIELD_ONE_HOT_CLASSES)

struct parsed_wire {
    struct fby_source_pos key_pos[WIRE_KEYS];
    int64_t type;   /* enum fby_type, PARSED_BITS or PARSED_YUV420 */
    uint8_t filter; /* enum fby_filter or FBY_AUTO */
    uint8_t codec;  /* enum fby_codec or FBY_AUTO */
};

struct parsed_factors {
    uint32_t n; /* 0: not given; 1: for all channels; else one for each */
    double   values[FBY_MAX_FACTORS];
};

struct parsed_out {
    struct fby_source_pos     key_pos[OUT_KEYS];
    struct fby_field_delivery delivery; /* without scale, filter and codec */
    struct parsed_factors     scale;
    struct parsed_factors     offset;
};

struct parsed_one_hot {
    struct fby_source_pos      key_pos[ONE_HOT_KEYS];
    int64_t                    classes;
    double                     smoothing;
    int64_t                    dtype;
    uint32_t                   split_bits; /* bit i: used by split i */
    const struct fby_pipeline *pipeline;   /* its splits; borrowed */
};

struct parsed_op {
    struct fby_op_use     use; /* `occurrence` is set when a split is made */
    uint32_t              split_bits; /* bit i: used by split i */
    struct fby_source_pos name_pos;
    char field[FBY_NAME_SIZE]; /* the field that a parameter names */
    struct fby_source_pos field_pos;
};

/* Indices of the parameters of the op normalize. */
enum { NORMALIZE_MEAN, NORMALIZE_STD };

struct parsed_field {
    struct fby_source_pos      key_pos[FBY_FIELD_TOP_KEYS];
    struct fby_source_pos      name_pos;
    char                       name[FBY_NAME_SIZE];
    char                       from[FBY_MAX_MAPS][FBY_NAME_SIZE];
    struct fby_source_pos      from_pos[FBY_MAX_MAPS];
    uint32_t                   n_from;
    int64_t                    decode;    /* enum fby_decode */
    int64_t                    dct_scale; /* enum fby_dct_scale */
    char                       group[FBY_NAME_SIZE];
    char                       json_key[FBY_NAME_SIZE];
    int64_t                    pick; /* enum fby_pick */
    int64_t                    length;
    struct fby_shape           shape;
    int64_t                    max_length;
    int64_t                    too_long; /* enum fby_too_long */
    int64_t                    fit;      /* enum fby_fit */
    int64_t                    classes;
    struct fby_name_range      names; /* in `class_names` */
    struct parsed_op           ops[FBY_MAX_OPS];
    uint32_t                   n_ops;
    struct parsed_wire         wire;
    struct parsed_op           device[FBY_MAX_DEVICE];
    uint32_t                   n_device;
    struct parsed_out          out;
    struct parsed_one_hot      one_hot;
    const struct fby_pipeline *pipeline;    /* owns the field */
    struct fby_class_names    *class_names; /* of the pipeline */
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
    struct fby_source_pos key_pos[TOP_KEYS];
    char                 *file; /* name for messages, owned */
    /* The next three are borrowed, and NULL after parsing. */
    const char              *folder; /* for relative paths */
    yaml_node_t             *splits_node;
    yaml_node_t             *fields_node;
    int64_t                  version;
    int64_t                  global_batch;
    int64_t                  seed;
    struct parsed_bad_sample bad_sample;
    struct parsed_split      splits[FBY_MAX_SPLITS];
    size_t                   n_splits;
    struct parsed_field      fields[FBY_MAX_FIELDS]; /* sorted by name */
    size_t                   n_fields;
    struct fby_class_names   class_names; /* of all fields */
};

#define ALL_SPLITS UINT32_MAX /* split_bits of all splits */
/* The bit of a split in split_bits. */
static inline uint32_t fby_parsed_split_bit(
    const struct fby_pipeline *pipeline, const struct parsed_split *split)
{
    return UINT32_C(1) << (split - pipeline->splits);
}

/* Read the fields of a file, after its splits (field.c). */
FBY_CHECKED fby_err fby_parsed_read_fields(
    struct fby_yaml *yaml, struct fby_pipeline *pipeline);

/* Read the key `names` of a parsed_field: a list, or the path of a file
 * (parsed_names.c). */
FBY_CHECKED fby_err fby_parsed_read_names(
    struct fby_yaml *yaml, yaml_node_t *node, void *field);

/* Read the list under ops or device of a parsed_field (parsed_op.c). */
FBY_CHECKED fby_err fby_parsed_read_ops(
    struct fby_yaml *yaml, yaml_node_t *node, void *field);
FBY_CHECKED fby_err fby_parsed_read_device(
    struct fby_yaml *yaml, yaml_node_t *node, void *field);

/* True if the field is normalised in any split (parsed_op.c). */
bool fby_parsed_normalizes(const struct parsed_field *field);

/* Replace the field names in parameters of ops by indices. All fields must be
 * read and sorted (parsed_op.c). */
FBY_CHECKED fby_err fby_parsed_resolve_references(
    const struct fby_yaml *yaml, struct fby_pipeline *pipeline);

/* Read the key `only`, which names one split or a list of splits. Set bit i of
 * *out for split i (parsed_op.c). */
FBY_CHECKED fby_err fby_parsed_read_only_key(struct fby_yaml *yaml,
    yaml_node_t *node, const struct fby_pipeline *pipeline, uint32_t *out);

/* Set the defaults of `group` and `decode`, and check that all keys belong to
 * the kind of the field (field_keys.c). */
FBY_CHECKED fby_err fby_parsed_complete_field(
    const struct fby_yaml *yaml, struct parsed_field *field);

/* True if the field is a column of NumPy files (field_keys.c). */
bool fby_parsed_is_column(const struct parsed_field *field);

struct fby_nearest;
/* Find a field by name; NULL if there is none. If `nearest` is not NULL, the
 * names that differ are offered to it, for a "did you mean" (lines.c). */
const struct parsed_field *fby_parsed_find_field(
    const struct fby_pipeline *self, const char *name,
    struct fby_nearest *nearest);

/* Find a split by name; NULL if there is none. A `name` of NULL means the
 * only split, or else `train` (split.c). */
const struct parsed_split *fby_parsed_find_split(
    const struct fby_pipeline *self, const char *name);

/* True for a folder with class folders. */
bool fby_parsed_has_class_folders(const struct parsed_split *split);

/* The position in the file of a fault of the field. For an op, fault->index
 * counts only ops of the split with the bit `split_bit` (split_field.c). */
struct fby_source_pos fby_parsed_fault_pos(const struct parsed_field *field,
    const struct fby_field_fault *fault, uint32_t split_bit);

/* Set content and delivery of field `i` of `out`, and check them. The other
 * members of the content must be set (split_field.c). */
FBY_CHECKED fby_err fby_parsed_fill_field(const struct fby_pipeline *pipeline,
    const struct parsed_split *split, size_t i, struct fby_split *out,
    struct fby_error_detail *why);

/* Read the name of a `what` ("field") into `out` (parse.c). */
FBY_CHECKED fby_err fby_parsed_read_name(const struct fby_yaml *yaml,
    const yaml_node_t *key, const char *what, char out[FBY_NAME_SIZE]);

/* The name of a key of fields in the file, for errors (field.c). */
const char *fby_parsed_key_name(size_t key);

/* Values of parsed_wire.type that are no enum fby_type. */
enum { PARSED_BITS = 1000, PARSED_YUV420 = 1001 };

#endif
