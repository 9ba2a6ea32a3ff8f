/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.h - strict reading of a YAML file, with libyaml.
 *
 * These functions refuse aliases, anchors, tags, directives, a second document,
 * duplicate keys, numbers such as `12px`, NUL, invalid UTF-8 and deep nesting.
 * An error is one line `FILE:LINE:COL: ...`. */
#ifndef FBY_PIPELINE_YAML_H
#define FBY_PIPELINE_YAML_H

#include <stdbool.h>
#include <yaml.h>

#include "common/err.h"

enum { FBY_YAML_MAX_DEPTH = 16 }; /* nested lists and mappings */

struct fby_source_pos { /* counted from 1; line 0: not in the file */
    size_t line;
    size_t column;
};

static inline bool fby_pos_is_given(struct fby_source_pos pos)
{
    return pos.line > 0;
}

struct fby_yaml {
    yaml_document_t          document;
    const char              *file; /* name for messages, borrowed */
    struct fby_error_detail *why;  /* borrowed; may be NULL */
};

struct fby_yaml_input {
    const char *text;
    size_t      size; /* bytes */
    const char *file; /* name for messages */
};

/* Parse a file; after FBY_OK call fby_yaml_close. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_yaml_open(const struct fby_yaml_input *input,
    struct fby_yaml *out, struct fby_error_detail *why);
void                fby_yaml_close(struct fby_yaml *self);

/* Set `why` to `FILE:LINE:COL: ...` and return FBY_CONFIG. */
fby_err fby_yaml_set_error(struct fby_error_detail *why, const char *file,
    struct fby_source_pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Read the position back from an error that fby_yaml_set_error wrote for `file`.
 * Returns false if `why` has another error. */
bool fby_yaml_error_pos(const struct fby_error_detail *why, const char *file,
    struct fby_source_pos *out);

/* The same as fby_yaml_set_error for an open file: at the position `pos`, or
 * where `node` starts. */
#define fby_yaml_error_at(self, pos, ...) \
    fby_yaml_set_error((self)->why, (self)->file, pos, __VA_ARGS__)
#define fby_yaml_error(self, node, ...) \
    fby_yaml_error_at(self, fby_yaml_pos(node), __VA_ARGS__)

/* Report "expected WHAT, not 'abc'" at `node`; return FBY_CONFIG. */
fby_err fby_yaml_error_expected(
    const struct fby_yaml *self, const yaml_node_t *node, const char *what);

/* The position at which a node starts. */
struct fby_source_pos fby_yaml_pos(const yaml_node_t *node);

/* The text of a scalar, without NUL inside; "" if the node is no scalar. */
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

/* True if the node is a scalar that is neither empty nor null. */
bool fby_yaml_is_given(const yaml_node_t *node);

/* Read a number; return false if the node is not exactly one. An integer is an
 * optional minus and digits without leading zeros. A real number has the syntax
 * of JSON. A quoted scalar is a text, not a number. */
bool fby_yaml_read_integer(const yaml_node_t *node, int64_t *out);
bool fby_yaml_read_real(const yaml_node_t *node, double *out);

/* The length and item `i` of a list. Any other node is its own only item. */
size_t       fby_yaml_length(const yaml_node_t *node);
yaml_node_t *fby_yaml_item(struct fby_yaml *self, yaml_node_t *node, size_t i);

/* The known keys of a mapping, and the function that reads their values. */
struct fby_yaml_map {
    const char *const     *names; /* the keys */
    size_t                 n_names;
    struct fby_source_pos *key_pos; /* out: position of the value of names[i] */
    /* Read the value of names[i] into `target`. */
    fby_err (*read)(
        struct fby_yaml *yaml, yaml_node_t *value, size_t i, void *target);
    void *target;
};

/* Read a mapping that has only known keys, each at most once. `what` describes
 * the mapping in the error for a node that is no mapping. */
FBY_CHECKED fby_err fby_yaml_read_map(struct fby_yaml *self, yaml_node_t *node,
    const char *what, struct fby_yaml_map *map);

/* Read a mapping whose keys the user chose: call `read` for each entry. */
typedef fby_err fby_yaml_entry(
    struct fby_yaml *yaml, yaml_node_t *key, yaml_node_t *value, void *target);
FBY_CHECKED fby_err fby_yaml_read_entries(struct fby_yaml *self,
    yaml_node_t *node, const char *what, fby_yaml_entry *read, void *target);

#endif
