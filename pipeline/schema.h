/* schema.h - tables that say what the mappings of a pipeline file may hold.
 *
 * A schema lists the keys of one mapping: name, kind, range, and where the
 * value goes in a target struct. The target begins with one fby_place a key,
 * in the order of the table, so that "was it given" and "where" are one
 * question, and later checks can point at the place. */
#ifndef FBY_PIPELINE_SCHEMA_H
#define FBY_PIPELINE_SCHEMA_H

#include <stddef.h>

#include "pipeline/types.h"
#include "pipeline/yaml.h"

struct fby_param; /* op.h */

/* One of several words; a table of them ends with a NULL name. */
struct fby_choice {
    const char *name;
    int64_t     value;
};

enum fby_key_kind {
    FBY_KEY_INTEGER, /* int64_t within min..max */
    FBY_KEY_REAL,    /* double within min..max */
    FBY_KEY_TEXT,    /* char[capacity], not empty */
    FBY_KEY_CHOICE,  /* int64_t: the value of a word */
    FBY_KEY_OWN      /* read by a function of its own */
};

struct fby_key {
    const char       *name;
    const char       *expects; /* "an integer, 1 to 64"; choice: "filter" */
    enum fby_key_kind kind;
    bool              required;
    size_t            offset; /* of the value in the target */
    double            min;
    double            max;
    size_t            capacity; /* of a text, with NUL */
    const struct fby_choice *choices;
    fby_err (*read)(struct fby_yaml *yaml, yaml_node_t *node, void *target);
};

struct fby_schema {
    const char           *what; /* "a split, {shards: ..., ...}" */
    const struct fby_key *keys;
    size_t                n_keys;
};

enum { FBY_MAX_KEYS = 32 }; /* of one schema */

/* Read a mapping into `target`, whose values hold their defaults before.
 * Errors: FBY_CONFIG with FILE:LINE:COL. */
FBY_CHECKED fby_err fby_schema_read(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_schema *schema, void *target);

/* One word of `choices`; `what` names their kind in errors ("codec"). */
FBY_CHECKED fby_err fby_choice_read(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct fby_choice *choices, const char *what,
    int64_t *out);

/* An op's parameter: a number, or a list of them. */
FBY_CHECKED fby_err fby_param_read(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_param *param, struct fby_value *out);

#endif
