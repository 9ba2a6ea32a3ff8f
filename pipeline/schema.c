/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - read the values of a mapping as its table of keys says. */
#include "pipeline/schema.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/nearest.h"
#include "pipeline/op.h"
#include "pipeline/text.h"

/* ---- words ---- */

fby_err fby_choice_read(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct fby_choice *choices, const char *what, int64_t *out)
{
    const char        *text    = fby_yaml_text(node);
    struct fby_nearest nearest = {.word = text};
    for (const struct fby_choice *c = choices; c->name != NULL; c++) {
        if (fby_yaml_is_given(node) && strcmp(c->name, text) == 0) {
            *out = c->value;
            return FBY_OK;
        }
        fby_nearest_offer(&nearest, c->name);
    }
    const char *one_of = strchr(nearest.known, ',') != NULL ? "one of " : "";
    if (!fby_yaml_is_given(node)) {
        char expects[600];
        snprintf(expects, sizeof(expects), "a %s: %s%s", what, one_of,
            nearest.known);
        return fby_yaml_error_expected(yaml, node, expects);
    }
    if (nearest.best != NULL) {
        return fby_yaml_error(yaml, node,
            "'%s' is not a valid %s; did you mean '%s'? (%s%s)",
            fby_text_show(text).text, what, nearest.best, one_of,
            nearest.known);
    }
    return fby_yaml_error(yaml, node, "'%s' is not a valid %s; use %s%s",
        fby_text_show(text).text, what, one_of, nearest.known);
}

/* ---- texts and numbers ---- */

static fby_err read_text(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct fby_key *key, void *value)
{
    if (!fby_yaml_is_given(node)) {
        return fby_yaml_error_expected(yaml, node, key->expects);
    }
    const char *text   = fby_yaml_text(node);
    size_t      length = strlen(text);
    if (length >= key->size) {
        return fby_yaml_error(yaml, node,
            "expected %s, at most %zu bytes, not %zu", key->expects,
            key->size - 1, length);
    }
    memcpy(value, text, length + 1);
    return FBY_OK;
}

/* Find the word of `node` in `words` and set *out to its index. */
static bool find_word(
    const yaml_node_t *node, const char *const *words, int64_t *out)
{
    const char *text = fby_yaml_is_given(node) ? fby_yaml_text(node) : "";
    for (*out = 0; words[*out] != NULL; ++*out) {
        if (strcmp(words[*out], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Read a number, or the index of a word, to element out->n; do not count it.
 * Return true if the number is valid and in range. */
static bool read_param_number(const yaml_node_t *node,
    const struct fby_param *param, struct fby_value *out)
{
    double number = 0;
    if (param->real) {
        bool ok        = fby_yaml_read_real(node, &number);
        out->r[out->n] = number;
        return ok && number >= param->min && number <= param->max;
    }
    int64_t integer = 0;
    bool    ok = param->words != NULL ? find_word(node, param->words, &integer)
                                      : fby_yaml_read_integer(node, &integer);
    out->i[out->n] = integer;
    return ok && (double)integer >= param->min && (double)integer <= param->max;
}

/* With `broadcast`, repeat a single number for all numbers of the parameter. */
static void spread_number(
    const struct fby_param *param, struct fby_value *value)
{
    while (param->broadcast && value->n < param->max_n) {
        value->i[value->n] = value->i[0];
        value->r[value->n] = value->r[0];
        value->n++;
    }
}

fby_err fby_param_read(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_param *param, struct fby_value *out)
{
    bool   is_list = fby_yaml_is_list(node);
    size_t n       = fby_yaml_length(node);
    size_t min_n   = param->min_n > 0 ? param->min_n : 1;
    *out           = (struct fby_value){.real = param->real};
    /* `broadcast` takes one number or all. */
    bool is_incomplete   = param->broadcast && n > 1 && n < param->max_n;
    bool is_list_for_one = is_list && param->max_n == 1;
    if (n < min_n || n > param->max_n || is_list_for_one || is_incomplete) {
        return fby_yaml_error_expected(yaml, node, param->expects);
    }
    for (; out->n < n; out->n++) {
        yaml_node_t *item = fby_yaml_item(yaml, node, out->n);
        if (!read_param_number(item, param, out)) {
            return fby_yaml_error_expected(yaml, item, param->expects);
        }
    }
    spread_number(param, out);
    return FBY_OK;
}

/* ---- keys ---- */

struct schema_target { /* the `target` of read_value */
    const struct fby_schema *schema;
    void                    *values; /* the struct to fill */
};

/* Write an integer to `member` with the size of the member. */
static void store_integer(
    const struct fby_key *key, int64_t value, void *member)
{
    uint8_t     byte  = (uint8_t)value;
    uint32_t    word  = (uint32_t)value;
    const void *sized = key->size == sizeof(byte)   ? (void *)&byte
                        : key->size == sizeof(word) ? (void *)&word
                                                    : &value;
    memcpy(member, sized, key->size);
}

static fby_err read_number(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct fby_key *key, void *member)
{
    bool    is_real = key->kind == FBY_KEY_REAL;
    int64_t integer = 0;
    double  real    = 0;
    bool    ok      = is_real ? fby_yaml_read_real(node, &real)
                              : fby_yaml_read_integer(node, &integer);
    double  number  = is_real ? real : (double)integer;
    if (!ok || number < key->min || number > key->max) {
        return fby_yaml_error_expected(yaml, node, key->expects);
    }
    if (is_real) {
        memcpy(member, &real, sizeof(real));
    } else {
        store_integer(key, integer, member);
    }
    return FBY_OK;
}

static fby_err read_value(
    struct fby_yaml *yaml, yaml_node_t *node, size_t i, void *opaque)
{
    const struct schema_target *target = opaque;
    const struct fby_key       *key    = &target->schema->keys[i];
    void                       *member = (char *)target->values + key->offset;
    int64_t                     value  = 0;
    switch (key->kind) {
    case FBY_KEY_INTEGER:
    case FBY_KEY_REAL:
        return read_number(yaml, node, key, member);
    case FBY_KEY_TEXT:
        return read_text(yaml, node, key, member);
    case FBY_KEY_CHOICE:
        FBY_TRY(
            fby_choice_read(yaml, node, key->choices, key->expects, &value));
        store_integer(key, value, member);
        return FBY_OK;
    case FBY_KEY_NODE:
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): the pointer is stored */
        memcpy(member, &node, sizeof(node));
        return FBY_OK;
    case FBY_KEY_MAP:
        return fby_schema_read(yaml, node, key->schema, member);
    case FBY_KEY_CUSTOM:
        return key->read(yaml, node, target->values);
    }
    return FBY_USAGE; /* not reached */
}

static fby_err check_required(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct fby_schema *schema,
    const struct fby_source_pos *key_pos)
{
    for (size_t i = 0; i < schema->n_keys; i++) {
        if (schema->keys[i].required && !fby_pos_is_given(key_pos[i])) {
            return fby_yaml_error(yaml, node, "key '%s' is missing here: %s",
                schema->keys[i].name, schema->keys[i].expects);
        }
    }
    return FBY_OK;
}

fby_err fby_schema_read(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_schema *schema, void *target)
{
    const char          *names[FBY_MAX_KEYS];
    struct schema_target values = {.schema = schema, .values = target};
    assert(schema->n_keys <= FBY_MAX_KEYS);
    for (size_t i = 0; i < schema->n_keys; i++) {
        names[i] = schema->keys[i].name;
    }
    struct fby_yaml_map map = {.names = names,
        .n_names                      = schema->n_keys,
        .key_pos                      = target,
        .read                         = read_value,
        .target                       = &values};
    FBY_TRY(fby_yaml_read_map(yaml, node, schema->what, &map));
    return check_required(yaml, node, schema, target);
}
