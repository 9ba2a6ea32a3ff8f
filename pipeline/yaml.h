/* yaml.h - a YAML file as a document of nodes that are read strictly.
 *
 * libyaml parses; this file refuses what makes configurations surprising:
 * aliases, anchors, tags, directives, a second document, keys twice, numbers
 * that are not wholly numbers, texts with NUL or bad UTF-8, deep nesting. All
 * errors end as one line `FILE:LINE:COL: ...`. */
#ifndef FBY_PIPELINE_YAML_H
#define FBY_PIPELINE_YAML_H

#include <stdbool.h>
#include <yaml.h>

#include "common/err.h"

enum {
    FBY_YAML_MAX_DEPTH = 16 /* lists and mappings within each other */
};

struct fby_place { /* both from 1; line 0: not in the file */
    size_t line;
    size_t column;
};

static inline bool fby_is_given(struct fby_place place)
{
    return place.line > 0;
}

struct fby_yaml {
    yaml_document_t document;
    const char     *file; /* name for messages, borrowed */
    struct fby_why *why;  /* borrowed; may be NULL */
};

struct fby_yaml_input {
    const char *text;
    size_t      size;
    const char *file;
};

/* Parse; release with fby_yaml_close after FBY_OK. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_yaml_open(const struct fby_yaml_input *input,
    struct fby_yaml *out, struct fby_why *why);
void                fby_yaml_close(struct fby_yaml *self);

/* Write `FILE:LINE:COL: ...` into `why` and return FBY_CONFIG. */
fby_err fby_yaml_wrong(struct fby_why *why, const char *file,
    struct fby_place at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same at a node. */
fby_err fby_yaml_error(const struct fby_yaml *self, const yaml_node_t *node,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "expected WHAT, not 'abc'" at a node. */
fby_err fby_yaml_expected(
    const struct fby_yaml *self, const yaml_node_t *node, const char *what);

struct fby_place fby_yaml_place(const yaml_node_t *node);

/* The text of a scalar (never NULL, without NUL inside); "" of other nodes. */
const char *fby_yaml_text(const yaml_node_t *node);

static inline bool fby_yaml_is_scalar(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE;
}
static inline bool fby_yaml_is_list(const yaml_node_t *node)
{
    return node->type == YAML_SEQUENCE_NODE;
}
static inline bool fby_yaml_is_map(const yaml_node_t *node)
{
    return node->type == YAML_MAPPING_NODE;
}

/* A scalar that says something: not empty, not null. */
bool fby_yaml_is_given(const yaml_node_t *node);

/* False when the scalar is not wholly such a number. Integers: digits without
 * leading zero, perhaps a minus. Reals: as in JSON. Quoted is text. */
bool fby_yaml_integer(const yaml_node_t *node, int64_t *out);
bool fby_yaml_real(const yaml_node_t *node, double *out);

size_t       fby_yaml_length(const yaml_node_t *list);
yaml_node_t *fby_yaml_item(
    struct fby_yaml *self, const yaml_node_t *list, size_t i);

/* What a mapping may hold, and who reads the values. */
struct fby_yaml_map {
    const char *const *names;
    size_t             n_names;
    struct fby_place  *places; /* n_names of them: where each key stands */
    /* The value of names[i]. */
    fby_err (*read)(
        struct fby_yaml *yaml, yaml_node_t *value, size_t i, void *target);
    void *target;
};

/* Read a mapping: every key is one of the names and stands there once.
 * `what` is what is expected when the node is no mapping. */
FBY_CHECKED fby_err fby_yaml_read_map(struct fby_yaml *self, yaml_node_t *node,
    const char *what, struct fby_yaml_map *map);

/* Read a mapping whose keys the user chose. `read` gets the key's node. */
typedef fby_err fby_yaml_entry(
    struct fby_yaml *yaml, yaml_node_t *key, yaml_node_t *value, void *target);
FBY_CHECKED fby_err fby_yaml_read_entries(struct fby_yaml *self,
    yaml_node_t *node, const char *what, fby_yaml_entry *read, void *target);

#endif
