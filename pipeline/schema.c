#include "pipeline/schema.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/nearest.h"
#include "pipeline/op.h"
#include "pipeline/text.h"

/* ---- words ---- */

/* "a, b, c" */
static void list_words(
    const struct fby_choice *choices, char *out, size_t capacity)
{
    out[0] = '\0';
    for (; choices->name != NULL; choices++) {
        fby_text_list(out, capacity, choices->name);
    }
}

fby_err fby_choice_read(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct fby_choice *choices, const char *what, int64_t *out)
{
    const char *text       = fby_yaml_text(node);
    char        known[200] = "";
    list_words(choices, known, sizeof(known));
    const char *of = strchr(known, ',') != NULL ? "one of " : "";
    if (!fby_yaml_is_given(node)) {
        char expects[240];
        snprintf(expects, sizeof(expects), "a %s: %s%s", what, of, known);
        return fby_yaml_expected(yaml, node, expects);
    }
    struct fby_nearest nearest = {.word = text};
    for (const struct fby_choice *c = choices; c->name != NULL; c++) {
        if (strcmp(c->name, text) == 0) {
            *out = c->value;
            return FBY_OK;
        }
        fby_nearest_offer(&nearest, c->name);
    }
    if (nearest.best != NULL) {
        return fby_yaml_error(yaml, node,
            "'%s' is no %s; did you mean '%s'? (%s%s)",
            fby_text_show(text).text, what, nearest.best, of, known);
    }
    return fby_yaml_error(yaml, node, "'%s' is no %s; use %s%s",
        fby_text_show(text).text, what, of, known);
}

/* ---- texts and numbers ---- */

static fby_err read_text(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct fby_key *key, void *at)
{
    if (!fby_yaml_is_given(node)) {
        return fby_yaml_expected(yaml, node, key->expects);
    }
    const char *text = fby_yaml_text(node);
    size_t      n    = strlen(text);
    if (n >= key->capacity) {
        return fby_yaml_error(yaml, node,
            "expected %s, at most %zu bytes, not %zu", key->expects,
            key->capacity - 1, n);
    }
    memcpy(at, text, n + 1);
    return FBY_OK;
}

/* The word's position in the list. */
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

static bool number_fits(const yaml_node_t *node, const struct fby_param *param,
    struct fby_value *out)
{
    double number = 0;
    if (param->real) {
        bool ok        = fby_yaml_real(node, &number);
        out->r[out->n] = number;
        return ok && number >= param->min && number <= param->max;
    }
    int64_t integer = 0;
    bool    ok = param->words != NULL ? find_word(node, param->words, &integer)
                                      : fby_yaml_integer(node, &integer);
    out->i[out->n] = integer;
    return ok && (double)integer >= param->min && (double)integer <= param->max;
}

/* One number given for all: repeat it. */
static void spread(const struct fby_param *param, struct fby_value *value)
{
    while (param->spread && value->n < param->max_n) {
        value->i[value->n] = value->i[0];
        value->r[value->n] = value->r[0];
        value->n++;
    }
}

fby_err fby_param_read(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_param *param, struct fby_value *out)
{
    bool   list     = fby_yaml_is_list(node);
    size_t n        = list ? fby_yaml_length(node) : 1;
    size_t at_least = param->min_n > 0 ? param->min_n : 1;
    *out            = (struct fby_value){.real = param->real};
    if (n < at_least || n > param->max_n || (list && param->max_n == 1) ||
        (param->spread && n > 1 && n < param->max_n)) {
        return fby_yaml_expected(yaml, node, param->expects);
    }
    for (size_t k = 0; k < n; k++) {
        yaml_node_t *item = list ? fby_yaml_item(yaml, node, k) : node;
        if (!number_fits(item, param, out)) {
            return fby_yaml_expected(yaml, item, param->expects);
        }
        out->n++;
    }
    spread(param, out);
    return FBY_OK;
}

/* ---- keys ---- */

static fby_err read_integer(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct fby_key *key, void *at)
{
    int64_t value = 0;
    if (!fby_yaml_integer(node, &value) || (double)value < key->min ||
        (double)value > key->max) {
        return fby_yaml_expected(yaml, node, key->expects);
    }
    memcpy(at, &value, sizeof(value));
    return FBY_OK;
}

static fby_err read_real(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct fby_key *key, void *at)
{
    double value = 0;
    if (!fby_yaml_real(node, &value) || value < key->min || value > key->max) {
        return fby_yaml_expected(yaml, node, key->expects);
    }
    memcpy(at, &value, sizeof(value));
    return FBY_OK;
}

struct schema_target {
    const struct fby_schema *schema;
    void                    *values;
};

static fby_err read_value(
    struct fby_yaml *yaml, yaml_node_t *node, size_t i, void *opaque)
{
    const struct schema_target *target = opaque;
    const struct fby_key       *key    = &target->schema->keys[i];
    char                       *at     = (char *)target->values + key->offset;
    int64_t                     value  = 0;
    fby_err                     err    = FBY_OK;
    switch (key->kind) {
    case FBY_KEY_INTEGER:
        return read_integer(yaml, node, key, at);
    case FBY_KEY_REAL:
        return read_real(yaml, node, key, at);
    case FBY_KEY_TEXT:
        return read_text(yaml, node, key, at);
    case FBY_KEY_CHOICE:
        err = fby_choice_read(yaml, node, key->choices, key->expects, &value);
        if (err == FBY_OK) {
            memcpy(at, &value, sizeof(value));
        }
        return err;
    case FBY_KEY_OWN:
        return key->read(yaml, node, target->values);
    }
    return FBY_USAGE;
}

static fby_err check_required(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct fby_schema *schema,
    const struct fby_place *places)
{
    for (size_t i = 0; i < schema->n_keys; i++) {
        if (schema->keys[i].required && !fby_is_given(places[i])) {
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
        .places                       = target,
        .read                         = read_value,
        .target                       = &values};
    fby_err             err = fby_yaml_read_map(yaml, node, schema->what, &map);
    return err == FBY_OK ? check_required(yaml, node, schema, target) : err;
}
