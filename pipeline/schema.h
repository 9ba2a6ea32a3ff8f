/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - tables of the keys that a mapping of a pipeline file may have.
 *
 * A schema lists the keys of one mapping: the name, kind and range of each, and
 * the offset of its value in a target struct. The target begins with an array
 * `key_pos`, which has one fby_source_pos for each key of the table: the
 * position of the value in the file, or line 0 if the file has no such key. */
#ifndef FBY_PIPELINE_SCHEMA_H
#define FBY_PIPELINE_SCHEMA_H

#include <stddef.h>

#include "pipeline/types.h"
#include "pipeline/yaml.h"

struct fby_param; /* op.h */
struct fby_schema;

/* A word and its value; a table of words ends with a NULL name. */
struct fby_choice {
    const char *name;
    int64_t     value;
};

enum fby_key_kind {
    FBY_KEY_INTEGER, /* integer within min..max */
    FBY_KEY_REAL,    /* double within min..max */
    FBY_KEY_TEXT,    /* char[size], not empty */
    FBY_KEY_CHOICE,  /* integer: the value of one of `choices` */
    FBY_KEY_NODE,    /* yaml_node_t *: the node itself */
    FBY_KEY_MAP,     /* a struct that `schema` describes */
    FBY_KEY_CUSTOM   /* `read` of the key reads it */
};

struct fby_key {
    const char       *name;
    const char       *expects; /* "an integer, 1 to 64"; choice: "filter" */
    enum fby_key_kind kind;
    bool              required;
    size_t            offset; /* byte offset of the value in the target */
    size_t            size;   /* bytes of the value; an integer has 1, 4 or 8 */
    double            min;
    double            max;
    const struct fby_choice *choices;
    const struct fby_schema *schema;
    fby_err (*read)(struct fby_yaml *yaml, yaml_node_t *node, void *target);
};

/* Members of struct fby_key, by kind; `member` is one of struct `target`. */
#define FBY_KEY_AT(key_name, target, member, text) \
    .name = (key_name), .expects = (text),         \
    .offset = offsetof(struct target, member),     \
    .size   = sizeof(((struct target *)0)->member)
#define FBY_INTEGER(key_name, target, member, low, high, text)           \
    FBY_KEY_AT(key_name, target, member, text), .kind = FBY_KEY_INTEGER, \
                                                .min = (low), .max = (high)
#define FBY_REAL(key_name, target, member, low, high, text)           \
    FBY_KEY_AT(key_name, target, member, text), .kind = FBY_KEY_REAL, \
                                                .min = (low), .max = (high)
#define FBY_TEXT(key_name, target, member, text) \
    FBY_KEY_AT(key_name, target, member, text), .kind = FBY_KEY_TEXT
#define FBY_CHOICE(key_name, target, member, text, words)               \
    FBY_KEY_AT(key_name, target, member, text), .kind = FBY_KEY_CHOICE, \
                                                .choices = (words)
#define FBY_NODE(key_name, target, member, text) \
    .name = (key_name), .expects = (text),       \
    .offset = offsetof(struct target, member), .kind = FBY_KEY_NODE
#define FBY_MAP(key_name, target, member, its_schema)                \
    FBY_KEY_AT(key_name, target, member, NULL), .kind = FBY_KEY_MAP, \
                                                .schema = (its_schema)
#define FBY_READ_BY(key_name, function) \
    .name = (key_name), .kind = FBY_KEY_CUSTOM, .read = (function)

struct fby_schema {
    const char           *what; /* in errors: "a split, {shards: ...}" */
    const struct fby_key *keys;
    size_t                n_keys;
};

enum { FBY_MAX_KEYS = 32 }; /* keys of one schema */

/* Read a mapping into `target`, which holds the defaults on entry.
 * Errors: FBY_CONFIG with FILE:LINE:COL. */
FBY_CHECKED fby_err fby_schema_read(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_schema *schema, void *target);

/* Read one word of `choices`; `what` names their kind in errors ("codec"). */
FBY_CHECKED fby_err fby_choice_read(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct fby_choice *choices, const char *what,
    int64_t *out);

/* Read the value of an op's parameter: a number, a word or a list. */
FBY_CHECKED fby_err fby_param_read(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_param *param, struct fby_value *out);

#endif
