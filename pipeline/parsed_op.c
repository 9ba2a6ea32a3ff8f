/* SPDX-License-Identifier: Apache-2.0 */
/* parsed_op.c - the lists under `ops` and `device`: each item is the name of an
 * op and a mapping of its parameters. */
#include <stdio.h>
#include <string.h>

#include "pipeline/nearest.h"
#include "pipeline/op_hint.h"
#include "pipeline/parse_state.h"
#include "pipeline/text.h"

/* ---- the key `only`: the splits that use an op or one_hot ---- */

/* Set the bit of the split that `node` names in *split_bits. */
static fby_err add_split_bit(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct fby_pipeline *pipeline,
    uint32_t *split_bits)
{
    if (!fby_yaml_is_given(node)) {
        return fby_yaml_error_expected(yaml, node, "the name of a split");
    }
    const char        *text    = fby_yaml_text(node);
    struct fby_nearest nearest = {.word = text};
    for (size_t i = 0; i < pipeline->n_splits; i++) {
        if (strcmp(pipeline->splits[i].name, text) == 0) {
            *split_bits |= UINT32_C(1) << i;
            return FBY_OK;
        }
        fby_nearest_offer(&nearest, pipeline->splits[i].name);
    }
    return fby_yaml_error(yaml, node, "'%s' is not a split of this file%s",
        fby_text_show(text).text, fby_nearest_hint(&nearest, "splits:").text);
}

fby_err fby_parsed_read_only_key(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_pipeline *pipeline, uint32_t *out)
{
    *out = 0;
    if (fby_yaml_length(node) == 0) {
        return fby_yaml_error(yaml, node, "only: [] names no split");
    }
    for (size_t i = 0; i < fby_yaml_length(node); i++) {
        FBY_TRY(
            add_split_bit(yaml, fby_yaml_item(yaml, node, i), pipeline, out));
    }
    return FBY_OK;
}

/* ---- parameters ---- */

struct op_reader { /* the op whose parameters read_param reads */
    const struct fby_op       *op;
    const struct fby_pipeline *pipeline;
    struct parsed_op          *out;
};

/* Read the name of a field. resolve_reference sets the index of the field. */
static fby_err read_reference(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct fby_param *param,
    struct parsed_op *out)
{
    out->field_pos = fby_yaml_pos(node);
    return fby_yaml_is_given(node)
               ? fby_parsed_read_name(yaml, node, "field", out->field)
               : fby_yaml_error_expected(yaml, node, param->expects);
}

/* Read the value of key `i`: a parameter or, after all parameters, `only`. */
static fby_err read_param(
    struct fby_yaml *yaml, yaml_node_t *value, size_t i, void *target)
{
    struct op_reader *reader = target;
    if (i == reader->op->n_params) {
        return fby_parsed_read_only_key(
            yaml, value, reader->pipeline, &reader->out->split_bits);
    }
    return reader->op->params[i].is_field
               ? read_reference(
                     yaml, value, &reader->op->params[i], reader->out)
               : fby_param_read(yaml, value, &reader->op->params[i],
                     &reader->out->use.params[i]);
}

/* Set the defaults of the parameters that the file leaves out. */
static fby_err set_defaults(const struct fby_yaml *yaml,
    const yaml_node_t *node, const struct op_reader *reader,
    const struct fby_source_pos *key_pos)
{
    for (size_t i = 0; i < reader->op->n_params; i++) {
        const struct fby_param *param = &reader->op->params[i];
        if (fby_pos_is_given(key_pos[i])) {
            continue;
        }
        if (param->min_n > 0 && param->fallback.n == 0) {
            return fby_yaml_error(yaml, node, "%s needs '%s': %s",
                reader->op->name, param->name, param->expects);
        }
        reader->out->use.params[i]      = param->fallback;
        reader->out->use.params[i].real = param->real;
    }
    return FBY_OK;
}

/* Read the mapping `value`, which has the parameters of the op at `name`. All
 * parameters have their defaults if `value` is NULL, empty or null. */
static fby_err read_params(struct fby_yaml *yaml, const yaml_node_t *name,
    yaml_node_t *value, struct op_reader *reader)
{
    uint32_t              n_params = reader->op->n_params;
    const char           *names[FBY_MAX_PARAMS + 1];
    struct fby_source_pos key_pos[FBY_MAX_PARAMS + 1] = {{0}};
    struct fby_yaml_map   map                         = {.names = names,
                                  .n_names                      = n_params + 1,
                                  .key_pos                      = key_pos,
                                  .read                         = read_param,
                                  .target                       = reader};
    for (size_t i = 0; i < n_params; i++) {
        names[i] = reader->op->params[i].name;
    }
    names[n_params]         = "only";
    reader->out->split_bits = ALL_SPLITS;
    if (value != NULL &&
        (!fby_yaml_is_scalar(value) || fby_yaml_is_given(value))) {
        char what[64];
        snprintf(what, sizeof(what), "the op's keys, as {%s: ...}", names[0]);
        FBY_TRY(fby_yaml_read_map(yaml, value, what, &map));
    }
    return set_defaults(yaml, value != NULL ? value : name, reader, key_pos);
}

/* ---- items ---- */

/* An item of a list: `- name: {...}`, or `- name`. */
struct list_item {
    yaml_node_t *name;
    yaml_node_t *value; /* NULL: all defaults */
};

static fby_err read_item(
    struct fby_yaml *yaml, yaml_node_t *node, struct list_item *out)
{
    static const char what[] = "one op, as NAME or NAME: {...}";
    *out                     = (struct list_item){.name = node};
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
               : fby_yaml_error_expected(yaml, out->name, what);
}

/* Set the error for a name that is not in the table of the op's list. */
static fby_err error_unknown_op(
    const struct fby_yaml *yaml, const yaml_node_t *node, bool on_device)
{
    const char                 *text = fby_yaml_text(node);
    const char                 *what = on_device ? "op of the device" : "op";
    const struct fby_op *const *ops  = on_device ? fby_device_ops : fby_ops;
    size_t             n_ops         = on_device ? fby_n_device_ops : fby_n_ops;
    struct fby_nearest nearest       = {.word = text};
    /* An op of this name may be in the other list. */
    if ((on_device ? fby_op_named(text) : fby_device_op_named(text)) != NULL) {
        return fby_yaml_error(yaml, node,
            on_device ? "'%s' is not an op of the device; write it under 'ops'"
                      : "%s is an op of the device; write it under 'device'",
            text);
    }
    const char *hint = fby_op_hint(text);
    if (hint != NULL) {
        return fby_yaml_error(
            yaml, node, "'%s': %s", fby_text_show(text).text, hint);
    }
    for (size_t i = 0; i < n_ops; i++) {
        fby_nearest_offer(&nearest, ops[i]->name);
    }
    return fby_yaml_error(yaml, node, "'%s' is not an %s%s",
        fby_text_show(text).text, what,
        fby_nearest_hint(&nearest, "there are").text);
}

static fby_err read_op(struct fby_yaml *yaml, yaml_node_t *node,
    const struct fby_pipeline *pipeline, bool on_device, struct parsed_op *out)
{
    struct list_item        item;
    struct fby_error_detail why = {{0}};
    FBY_TRY(read_item(yaml, node, &item));
    const char *name = fby_yaml_text(item.name);
    out->name_pos    = fby_yaml_pos(item.name);
    out->use.op = on_device ? fby_device_op_named(name) : fby_op_named(name);
    if (out->use.op == NULL) {
        return error_unknown_op(yaml, item.name, on_device);
    }
    struct op_reader reader = {
        .op = out->use.op, .pipeline = pipeline, .out = out};
    FBY_TRY(read_params(yaml, item.name, item.value, &reader));
    return fby_op_check(&out->use, &why) == FBY_OK
               ? FBY_OK
               : fby_yaml_error(yaml, item.name, "%s", why.text);
}

static fby_err read_list(struct fby_yaml *yaml, yaml_node_t *node,
    struct parsed_field *field, bool on_device)
{
    struct parsed_op *ops     = on_device ? field->device : field->ops;
    uint32_t         *n_ops   = on_device ? &field->n_device : &field->n_ops;
    int               max_ops = on_device ? FBY_MAX_DEVICE : FBY_MAX_OPS;
    if (!fby_yaml_is_list(node)) {
        return fby_yaml_error_expected(yaml, node,
            on_device ? "a list of ops of the device" : "a list of ops");
    }
    if (fby_yaml_length(node) > (size_t)max_ops) {
        return fby_yaml_error(yaml, node, "%zu ops; a field has at most %d%s",
            fby_yaml_length(node), max_ops, on_device ? " on the device" : "");
    }
    for (; *n_ops < fby_yaml_length(node); (*n_ops)++) {
        FBY_TRY(read_op(yaml, fby_yaml_item(yaml, node, *n_ops),
            field->pipeline, on_device, &ops[*n_ops]));
    }
    return FBY_OK;
}

fby_err fby_parsed_read_ops(
    struct fby_yaml *yaml, yaml_node_t *node, void *field)
{
    return read_list(yaml, node, field, /*on_device=*/false);
}

fby_err fby_parsed_read_device(
    struct fby_yaml *yaml, yaml_node_t *node, void *field)
{
    return read_list(yaml, node, field, /*on_device=*/true);
}

bool fby_parsed_normalizes(const struct parsed_field *field)
{
    bool normalizes = false;
    for (size_t i = 0; i < field->n_device; i++) {
        normalizes = normalizes ||
                     field->device[i].use.op->id == FBY_OP_DEVICE_NORMALIZE;
    }
    return normalizes;
}

/* Set parameter `param` of `op` to the index of the field that it names. */
static fby_err resolve_reference(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, struct parsed_op *op, size_t param)
{
    struct fby_nearest         nearest = {.word = op->field};
    const struct parsed_field *field =
        fby_parsed_find_field(pipeline, op->field, &nearest);
    if (field != NULL) {
        op->use.params[param] =
            (struct fby_value){.n = 1, .i = {field - pipeline->fields}};
        return FBY_OK;
    }
    return fby_yaml_error_at(yaml, op->field_pos,
        "'%s' is not a field of this file%s", op->field,
        fby_nearest_hint(&nearest, /*otherwise=*/NULL).text);
}

/* Only ops of the device have parameters that name fields. */
fby_err fby_parsed_resolve_references(
    const struct fby_yaml *yaml, struct fby_pipeline *pipeline)
{
    for (size_t f = 0; f < pipeline->n_fields; f++) {
        struct parsed_field *field = &pipeline->fields[f];
        for (size_t i = 0; i < field->n_device; i++) {
            struct parsed_op *op = &field->device[i];
            for (size_t k = 0; k < op->use.op->n_params; k++) {
                if (op->use.op->params[k].is_field) {
                    FBY_TRY(resolve_reference(yaml, pipeline, op, k));
                }
            }
        }
    }
    return FBY_OK;
}
