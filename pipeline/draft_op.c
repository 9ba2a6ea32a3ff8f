/* The lists under `ops` and `device`: items that name an op and give its
 * parameters, as the op's own table has them. */
#include <stdio.h>
#include <string.h>

#include "pipeline/draft.h"
#include "pipeline/nearest.h"
#include "pipeline/text.h"

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
    const struct fby_op       *op;
    const struct fby_pipeline *pipeline;
    struct draft_op           *out;
};

static fby_err read_reference(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct fby_param *param,
    struct draft_op *out)
{
    out->field_at = fby_yaml_place(node);
    return fby_yaml_is_given(node)
               ? fby_draft_name(yaml, node, "field", out->field)
               : fby_yaml_expected(yaml, node, param->expects);
}

/* The key behind the parameters is `only`. */
static fby_err read_param(
    struct fby_yaml *yaml, yaml_node_t *value, size_t i, void *target)
{
    struct params *p = target;
    if (i == p->op->n_params) {
        return fby_draft_only(yaml, value, p->pipeline, &p->out->only);
    }
    return p->op->params[i].field
               ? read_reference(yaml, value, &p->op->params[i], p->out)
               : fby_param_read(
                     yaml, value, &p->op->params[i], &p->out->use.params[i]);
}

static fby_err fill_in(const struct fby_yaml *yaml, const yaml_node_t *node,
    const struct params *p, const struct fby_place *places)
{
    for (size_t i = 0; i < p->op->n_params; i++) {
        const struct fby_param *param = &p->op->params[i];
        if (fby_is_given(places[i])) {
            continue;
        }
        if (param->min_n > 0 && param->fallback.n == 0) {
            return fby_yaml_error(yaml, node, "%s needs '%s': %s", p->op->name,
                param->name, param->expects);
        }
        p->out->use.params[i]      = param->fallback;
        p->out->use.params[i].real = param->real;
    }
    return FBY_OK;
}

/* `node` is the mapping of parameters, or nothing for all defaults. */
static fby_err read_params(
    struct fby_yaml *yaml, yaml_node_t *node, struct params *p)
{
    uint32_t            n = p->op->n_params;
    const char         *names[FBY_MAX_PARAMS + 1];
    struct fby_place    places[FBY_MAX_PARAMS + 1] = {{0}};
    struct fby_yaml_map map                        = {.names = names,
                               .n_names                      = n + 1,
                               .places                       = places,
                               .read                         = read_param,
                               .target                       = p};
    for (size_t i = 0; i < n; i++) {
        names[i] = p->op->params[i].name;
    }
    names[n]     = "only";
    p->out->only = UINT32_MAX;
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
    p->out->only = UINT32_MAX;
    return fill_in(yaml, item->name, p, nowhere);
}

static fby_err unknown_op(
    const struct fby_yaml *yaml, const yaml_node_t *node, bool device)
{
    const char                 *text = fby_yaml_text(node);
    const char                 *what = device ? "op of the device" : "op";
    const struct fby_op *const *ops  = device ? fby_device_ops : fby_ops;
    size_t                      n    = device ? fby_n_device_ops : fby_n_ops;
    char                        known[512] = "";
    struct fby_nearest          nearest    = {.word = text};
    if ((device ? fby_op_named(text) : fby_device_op_named(text)) != NULL) {
        return fby_yaml_error(yaml, node,
            device ? "'%s' is no op of the device; write it under 'ops'"
                   : "%s is an op of the device; write it under 'device'",
            text);
    }
    for (size_t i = 0; i < n; i++) {
        fby_nearest_offer(&nearest, ops[i]->name);
        fby_text_list(known, sizeof(known), ops[i]->name);
    }
    return fby_yaml_error(yaml, node,
        nearest.best != NULL ? "'%s' is no %s; did you mean '%s'?"
                             : "'%s' is no %s; there are %s",
        fby_text_show(text).text, what,
        nearest.best != NULL ? nearest.best : known);
}

static fby_err read_op(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_pipeline *pipeline, bool device, struct draft_op *out)
{
    struct item    item;
    struct fby_why why = {{0}};
    fby_err        err = open_item(yaml, node, &item);
    if (err != FBY_OK) {
        return err;
    }
    const char *name = fby_yaml_text(item.name);
    out->here        = fby_yaml_place(item.name);
    out->use.op      = device ? fby_device_op_named(name) : fby_op_named(name);
    if (out->use.op == NULL) {
        return unknown_op(yaml, item.name, device);
    }
    struct params p = {.op = out->use.op, .pipeline = pipeline, .out = out};
    err             = read_item_params(yaml, &item, &p);
    return err != FBY_OK || fby_op_check(&out->use, &why) == FBY_OK
               ? err
               : fby_yaml_error(yaml, item.name, "%s", why.text);
}

static fby_err read_list(struct fby_yaml *yaml, yaml_node_t *node,
    struct draft_field *field, bool device)
{
    struct draft_op *ops  = device ? field->device : field->ops;
    uint32_t        *n    = device ? &field->n_device : &field->n_ops;
    int              most = device ? FBY_MAX_DEVICE : FBY_MAX_OPS;
    if (!fby_yaml_is_list(node)) {
        return fby_yaml_expected(yaml, node,
            device ? "a list of ops of the device" : "a list of ops");
    }
    if (fby_yaml_length(node) > (size_t)most) {
        return fby_yaml_error(yaml, node, "%zu ops; a field has at most %d%s",
            fby_yaml_length(node), most, device ? " on the device" : "");
    }
    fby_err err = FBY_OK;
    for (; err == FBY_OK && *n < fby_yaml_length(node); (*n)++) {
        err = read_op(yaml, fby_yaml_item(yaml, node, *n), field->pipeline,
            device, &ops[*n]);
    }
    return err;
}

fby_err fby_draft_ops(struct fby_yaml *yaml, yaml_node_t *node, void *field)
{
    return read_list(yaml, node, field, false);
}

fby_err fby_draft_device(struct fby_yaml *yaml, yaml_node_t *node, void *field)
{
    return read_list(yaml, node, field, true);
}

bool fby_draft_normalizes(const struct draft_field *field)
{
    bool normalizes = false;
    for (size_t i = 0; i < field->n_device; i++) {
        normalizes = normalizes ||
                     field->device[i].use.op->id == FBY_OP_DEVICE_NORMALIZE;
    }
    return normalizes;
}

/* The field that `op` names, as its position. */
static fby_err refer(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, struct draft_op *op, size_t param)
{
    struct fby_nearest nearest = {.word = op->field};
    for (size_t i = 0; i < pipeline->n_fields; i++) {
        if (strcmp(pipeline->fields[i].name, op->field) == 0) {
            op->use.params[param] =
                (struct fby_value){.n = 1, .i = {(int64_t)i}};
            return FBY_OK;
        }
        fby_nearest_offer(&nearest, pipeline->fields[i].name);
    }
    return fby_yaml_wrong(yaml->why, yaml->file, op->field_at,
        "'%s' is no field of this file%s%s%s", op->field,
        nearest.best != NULL ? "; did you mean '" : "",
        nearest.best != NULL ? nearest.best : "",
        nearest.best != NULL ? "'?" : "");
}

static fby_err refer_all(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, struct draft_op *op)
{
    fby_err err = FBY_OK;
    for (size_t k = 0; k < op->use.op->n_params && err == FBY_OK; k++) {
        if (op->use.op->params[k].field) {
            err = refer(yaml, pipeline, op, k);
        }
    }
    return err;
}

fby_err fby_draft_references(
    const struct fby_yaml *yaml, struct fby_pipeline *pipeline)
{
    fby_err err = FBY_OK;
    for (size_t f = 0; f < pipeline->n_fields; f++) {
        struct draft_field *field = &pipeline->fields[f];
        for (size_t i = 0; i < field->n_device && err == FBY_OK; i++) {
            err = refer_all(yaml, pipeline, &field->device[i]);
        }
    }
    return err;
}
