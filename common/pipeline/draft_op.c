/* The lists under `ops` and `device`: items that name an op and give its
 * parameters, as the op's own table has them. */
#include <stdio.h>
#include <string.h>

#include "common/pipeline/draft.h"
#include "common/pipeline/nearest.h"
#include "common/pipeline/text.h"

/* ---- only ---- */

static fby_err add_split(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct fby_pipeline *pipeline, uint32_t *out)
{
    if (!fby_yaml_is_given(node)) {
        return fby_yaml_expected(yaml, node, "the name of a split");
    }
    const char        *text    = fby_yaml_text(node);
    struct fby_nearest nearest = {.word = text};
    for (size_t i = 0; i < pipeline->n_splits; i++) {
        if (strcmp(pipeline->splits[i].name, text) == 0) {
            *out |= UINT32_C(1) << i;
            return FBY_OK;
        }
        fby_nearest_offer(&nearest, pipeline->splits[i].name);
    }
    return nearest.best != NULL
               ? fby_yaml_error(yaml, node,
                     "'%s' is no split of this file; did you mean '%s'?",
                     fby_text_show(text).text, nearest.best)
               : fby_yaml_error(yaml, node,
                     "'%s' is no split of this file; one is '%s'",
                     fby_text_show(text).text, pipeline->splits[0].name);
}

fby_err fby_draft_only(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_pipeline *pipeline, uint32_t *out)
{
    *out = 0;
    if (!fby_yaml_is_list(node)) {
        return add_split(yaml, node, pipeline, out);
    }
    fby_err err = fby_yaml_length(node) > 0
                      ? FBY_OK
                      : fby_yaml_error(yaml, node, "only: [] names no split");
    for (size_t i = 0; err == FBY_OK && i < fby_yaml_length(node); i++) {
        err = add_split(yaml, fby_yaml_item(yaml, node, i), pipeline, out);
    }
    return err;
}

/* ---- parameters ---- */

struct params { /* an op being read */
    const char                *name;
    const struct fby_param    *table;
    size_t                     n;
    const struct fby_pipeline *pipeline;
    struct fby_value          *values; /* out */
    uint32_t                   only;   /* out */
};

/* The key behind the parameters is `only`. */
static fby_err read_param(
    struct fby_yaml *yaml, yaml_node_t *value, size_t i, void *target)
{
    struct params *p = target;
    return i < p->n ? fby_param_read(yaml, value, &p->table[i], &p->values[i])
                    : fby_draft_only(yaml, value, p->pipeline, &p->only);
}

static fby_err fill_in(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct params *p, const struct fby_place *places)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct fby_param *param = &p->table[i];
        if (places[i].line > 0) {
            continue;
        }
        if (param->min_n > 0 && param->fallback.n == 0) {
            return fby_yaml_error(yaml, node, "%s needs '%s': %s", p->name,
                param->name, param->expects);
        }
        p->values[i]      = param->fallback;
        p->values[i].real = param->real;
    }
    return FBY_OK;
}

/* `node` is the mapping of parameters, or nothing for all defaults. */
static fby_err read_params(
    struct fby_yaml *yaml, yaml_node_t *node, struct params *p)
{
    const char         *names[FBY_MAX_PARAMS + 1];
    struct fby_place    places[FBY_MAX_PARAMS + 1] = {{0}};
    struct fby_yaml_map map                        = {.names = names,
                               .n_names                      = p->n + 1,
                               .places                       = places,
                               .read                         = read_param,
                               .target                       = p};
    for (size_t i = 0; i < p->n; i++) {
        names[i] = p->table[i].name;
    }
    names[p->n] = "only";
    p->only     = UINT32_MAX;
    char    what[64];
    fby_err err = FBY_OK;
    snprintf(what, sizeof(what), "the op's keys, as {%s: ...}", names[0]);
    if (!fby_yaml_is_scalar(node) || fby_yaml_is_given(node)) {
        err = fby_yaml_read_map(yaml, node, what, &map);
    }
    return err == FBY_OK ? fill_in(yaml, node, p, places) : err;
}

/* ---- items ---- */

/* `- name: {...}`, or `- name`. */
struct item {
    yaml_node_t *name;
    yaml_node_t *value; /* NULL: all defaults */
};

static fby_err open_item(
    struct fby_yaml *yaml, yaml_node_t *node, struct item *out)
{
    static const char what[] = "one op, as NAME or NAME: {...}";
    *out                     = (struct item){.name = node};
    if (fby_yaml_is_map(node)) {
        const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
        if (node->data.mapping.pairs.top - pair != 1) {
            return fby_yaml_error(yaml, node,
                "expected one op an item, not %td: begin each with '- '",
                node->data.mapping.pairs.top - pair);
        }
        out->name  = yaml_document_get_node(&yaml->document, pair->key);
        out->value = yaml_document_get_node(&yaml->document, pair->value);
    }
    return fby_yaml_is_given(out->name)
               ? FBY_OK
               : fby_yaml_expected(yaml, out->name, what);
}

static fby_err read_item_params(
    struct fby_yaml *yaml, const struct item *item, struct params *p)
{
    if (item->value != NULL) {
        return read_params(yaml, item->value, p);
    }
    static const struct fby_place nowhere[FBY_MAX_PARAMS];
    p->only = UINT32_MAX;
    return fill_in(yaml, item->name, p, nowhere);
}

static const char normalize[] = "normalize";

static fby_err unknown_op(const struct fby_yaml *yaml, const yaml_node_t *node)
{
    const char        *text       = fby_yaml_text(node);
    char               known[512] = "";
    struct fby_nearest nearest    = {.word = text};
    if (strcmp(text, normalize) == 0) {
        return fby_yaml_error(yaml, node,
            "normalize is an op of the device; write it under 'device'");
    }
    for (size_t i = 0; i < fby_n_ops; i++) {
        fby_nearest_offer(&nearest, fby_ops[i]->name);
        fby_text_list(known, sizeof(known), fby_ops[i]->name);
    }
    if (nearest.best != NULL) {
        return fby_yaml_error(yaml, node, "'%s' is no op; did you mean '%s'?",
            fby_text_show(text).text, nearest.best);
    }
    return fby_yaml_error(yaml, node, "'%s' is no op; there are %s",
        fby_text_show(text).text, known);
}

static fby_err read_op(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_pipeline *pipeline, struct draft_op *out)
{
    struct item item;
    fby_err     err = open_item(yaml, node, &item);
    if (err != FBY_OK) {
        return err;
    }
    const struct fby_op *op = fby_op_named(fby_yaml_text(item.name));
    if (op == NULL) {
        return unknown_op(yaml, item.name);
    }
    struct params  p   = {.name = op->name,
           .table               = op->params,
           .n                   = op->n_params,
           .pipeline            = pipeline,
           .values              = out->use.params};
    struct fby_why why = {{0}};
    out->use.op        = op;
    out->here          = fby_yaml_place(item.name);
    err                = read_item_params(yaml, &item, &p);
    out->only          = p.only;
    if (err == FBY_OK && fby_op_check(&out->use, &why) != FBY_OK) {
        err = fby_yaml_error(yaml, item.name, "%s", why.text);
    }
    return err;
}

fby_err fby_draft_ops(
    struct fby_yaml *yaml, yaml_node_t *node, struct draft_field *field)
{
    if (!fby_yaml_is_list(node)) {
        return fby_yaml_expected(yaml, node, "a list of ops");
    }
    if (fby_yaml_length(node) > FBY_MAX_OPS) {
        return fby_yaml_error(yaml, node, "%zu ops; a field has at most %d",
            fby_yaml_length(node), FBY_MAX_OPS);
    }
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < fby_yaml_length(node); i++) {
        err = read_op(yaml, fby_yaml_item(yaml, node, i), field->pipeline,
            &field->ops[i]);
        field->n_ops++;
    }
    return err;
}

/* ---- device ---- */

static const struct fby_param normalize_params[NORMALIZE_PARAMS] = {
    [NORMALIZE_MEAN] = {.name = "mean",
        .expects              = "one or three numbers, -1000000 to 1000000",
        .real                 = true,
        .spread               = true,
        .min_n                = 1,
        .max_n                = 3,
        .min                  = -FBY_NORMALIZE_MAX,
        .max                  = FBY_NORMALIZE_MAX},
    [NORMALIZE_STD]  = {.name = "std",
         .expects             = "one or three numbers, 0.000001 to 1000000",
         .real                = true,
         .spread              = true,
         .min_n               = 1,
         .max_n               = 3,
         .min                 = 1 / FBY_NORMALIZE_MAX,
         .max                 = FBY_NORMALIZE_MAX},
};

static fby_err read_normalize(
    struct fby_yaml *yaml, yaml_node_t *node, struct draft_field *field)
{
    struct draft_normalize *out = &field->normalize;
    struct item             item;
    fby_err                 err = open_item(yaml, node, &item);
    if (err != FBY_OK) {
        return err;
    }
    const char *text = fby_yaml_text(item.name);
    if (strcmp(text, normalize) != 0) {
        return fby_yaml_error(yaml, item.name,
            "'%s' is no op of the device; %s", fby_text_show(text).text,
            fby_op_named(text) != NULL ? "write it under 'ops'"
                                       : "there is normalize");
    }
    if (out->given) {
        return fby_yaml_error(
            yaml, item.name, "a field is normalised at most once");
    }
    struct params p = {.name = normalize,
        .table               = normalize_params,
        .n                   = NORMALIZE_PARAMS,
        .pipeline            = field->pipeline,
        .values              = out->params};
    err             = read_item_params(yaml, &item, &p);
    out->given      = true;
    out->only       = p.only;
    return err;
}

fby_err fby_draft_device(
    struct fby_yaml *yaml, yaml_node_t *node, struct draft_field *field)
{
    if (!fby_yaml_is_list(node)) {
        return fby_yaml_expected(yaml, node, "a list of ops of the device");
    }
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < fby_yaml_length(node); i++) {
        err = read_normalize(yaml, fby_yaml_item(yaml, node, i), field);
    }
    return err;
}
