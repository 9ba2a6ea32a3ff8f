/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - make a split (its content, location and delivery) from a parsed
 * pipeline file: fby_pipeline_make_split of parse.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/check.h"
#include "pipeline/class_names.h"
#include "pipeline/device_ops.h"
#include "pipeline/nearest.h"
#include "pipeline/parse_state.h"
#include "pipeline/plan/order.h"
#include "pipeline/text.h"

/* ---- the content: the settings that decide the values of the batches ---- */

static void fill_content_except_fields(struct fby_content *content,
    const struct fby_pipeline *pipeline, const struct parsed_split *split)
{
    content->source        = split->kind;
    content->shuffle       = (enum fby_shuffle)split->shuffle.kind;
    content->last          = (enum fby_last)split->last;
    content->global_batch  = (uint32_t)pipeline->global_batch;
    content->on_bad_sample = (enum fby_bad_sample)pipeline->bad_sample.rule;
    content->bucket_by     = split->bucket.by;
    content->excluded      = split->excluded;
    content->class_names   = pipeline->class_names;
    if (split->source->fill_content != NULL) {
        split->source->fill_content(split, content);
    }
    if (content->shuffle == FBY_SHUFFLE_BLOCK) {
        content->block  = (uint32_t)split->shuffle.block;
        content->slices = (uint32_t)split->slices;
        content->lanes  = (uint32_t)split->lanes;
        if (content->slices == 0) {
            content->slices = fby_default_slices(content->global_batch);
        }
        if (content->lanes == 0) {
            content->lanes = fby_default_lanes(content->slices);
        }
    }
}

/* ---- rules that hold for one split ---- */

/* Check the device ops of field `i`, and the label that one of them mixes. */
static fby_err check_device_ops(const struct fby_pipeline *pipeline,
    const struct parsed_split *split, size_t i,
    const struct fby_content *content, struct fby_error_detail *why)
{
    uint32_t               split_bit = fby_parsed_split_bit(pipeline, split);
    struct fby_field_fault fault = {.key = FBY_FIELD_DEVICE, .has_index = true};
    if (fby_device_ops_check(content, (uint32_t)i, &fault.index, &fault.why) !=
        FBY_OK) {
        return fby_yaml_set_error(why, pipeline->file,
            fby_parsed_fault_pos(&pipeline->fields[i], &fault, split_bit),
            "%s (split '%s')", fault.why.text, split->name);
    }
    const struct fby_op_use *mixing_op =
        fby_device_mixing_op(&content->fields[i]);
    if (mixing_op == NULL) {
        return FBY_OK;
    }
    const struct parsed_field *label =
        &pipeline->fields[mixing_op->params[FBY_MIXING_LABEL].i[0]];
    return label->one_hot.dtype != FBY_U8
               ? FBY_OK
               : fby_yaml_set_error(why, pipeline->file,
                     label->one_hot.key_pos[ONE_HOT(DTYPE)],
                     "dtype u8 cannot hold labels that %s mixes; use f32, f16 "
                     "or bf16",
                     mixing_op->op->name);
}

static fby_err check_bucket(const struct fby_pipeline *pipeline,
    const struct parsed_split *split, struct fby_error_detail *why)
{
    const struct parsed_bucket *bucket  = &split->bucket;
    struct fby_nearest          nearest = {.word = bucket->by.field};
    if (bucket->by.n_bounds == 0) {
        return FBY_OK;
    }
    if (split->shuffle.kind == FBY_SHUFFLE_BLOCK) {
        return fby_yaml_set_error(why, pipeline->file,
            split->key_pos[SPLIT_BUCKET_BY],
            "bucket_by needs shuffle: full or none; buckets are not cut "
            "into blocks");
    }
    if (fby_parsed_find_field(pipeline, bucket->by.field, &nearest) != NULL) {
        return FBY_OK;
    }
    return fby_yaml_set_error(why, pipeline->file,
        bucket->key_pos[BUCKET_FIELD], "there is no field '%s'%s",
        fby_text_show(bucket->by.field).text,
        fby_nearest_hint(&nearest, /*otherwise=*/NULL).text);
}

static fby_err check_split(const struct fby_pipeline *pipeline,
    const struct parsed_split *split, const struct fby_content *content,
    struct fby_error_detail *why)
{
    FBY_TRY(check_bucket(pipeline, split, why));
    for (size_t i = 0; i < content->n_fields; i++) {
        FBY_TRY(check_device_ops(pipeline, split, i, content, why));
    }
    return fby_content_check(content, why) == FBY_OK
               ? FBY_OK
               : fby_error_prefix(why, FBY_CONFIG, "%s:%zu:%zu: split '%s'",
                     pipeline->file, split->name_pos.line,
                     split->name_pos.column, split->name);
}

/* ---- the numbering of class folders ---- */

bool fby_parsed_has_class_folders(const struct parsed_split *split)
{
    return split->source->has_classes && split->class_depth > 0;
}

/* Set the error for the split that `split` names. `fault` follows its name. */
static fby_err error_classes_from(const struct fby_pipeline *self,
    const struct parsed_split *split, const char *fault,
    struct fby_error_detail *why)
{
    return fby_yaml_set_error(why, self->file,
        split->key_pos[SPLIT_CLASSES_FROM], "classes_from: split '%s' %s",
        fby_text_show(split->classes_from).text, fault);
}

static fby_err error_no_classes_from(const struct fby_pipeline *self,
    const struct parsed_split *split, struct fby_error_detail *why)
{
    struct fby_nearest nearest = {.word = split->classes_from};
    for (size_t i = 0; i < self->n_splits; i++) {
        fby_nearest_offer(&nearest, self->splits[i].name);
    }
    return fby_yaml_set_error(why, self->file,
        split->key_pos[SPLIT_CLASSES_FROM],
        "classes_from: there is no split '%s'%s",
        fby_text_show(split->classes_from).text,
        fby_nearest_hint(&nearest, "the splits are").text);
}

static bool has_same_class_folders(
    const struct parsed_split *a, const struct parsed_split *b)
{
    return fby_parsed_has_class_folders(a) && fby_parsed_has_class_folders(b) &&
           a->class_depth == b->class_depth;
}

/* The split that numbers the classes if the key is not given: train, unless it
 * has no class folders at this depth. */
static const struct parsed_split *default_numbering(
    const struct fby_pipeline *self, const struct parsed_split *split)
{
    const struct parsed_split *train = fby_parsed_find_split(self, "train");
    return train != NULL && has_same_class_folders(split, train) ? train
                                                                 : split;
}

/* Follow the keys classes_from, from that of `split` to a split without the key
 * or with its own name in it. */
static fby_err follow_classes_from(const struct fby_pipeline *self,
    const struct parsed_split *split, const struct parsed_split **out,
    struct fby_error_detail *why)
{
    const struct parsed_split *at = split;
    for (size_t i = 0; at->classes_from[0] != '\0'; i++) {
        const struct parsed_split *next =
            fby_parsed_find_split(self, at->classes_from);
        if (next == NULL) {
            return error_no_classes_from(self, at, why);
        }
        if (!has_same_class_folders(at, next)) {
            return error_classes_from(self, at,
                "has no class folders at this split's class_depth; name "
                "another split",
                why);
        }
        if (next == at) {
            break;
        }
        if (i == self->n_splits) {
            return error_classes_from(self, at,
                "takes its classes from this one in turn; remove one of the "
                "keys",
                why);
        }
        at = next;
    }
    *out = at;
    return FBY_OK;
}

/* Find the split whose class folders number those of `split`. If it names a
 * split that takes them from a third one, by the key or by default, that is the
 * third one: an id then means the same class in all of them. If train names
 * such a split, the split numbers itself, not by train. */
static fby_err find_numbering(const struct fby_pipeline *self,
    const struct parsed_split *split, const struct parsed_split **out,
    struct fby_error_detail *why)
{
    FBY_TRY(follow_classes_from(self, split, out, why));
    return (*out)->classes_from[0] != '\0'
               ? FBY_OK
               : follow_classes_from(
                     self, default_numbering(self, *out), out, why);
}

/* Set the location of the class folders that number those of the split. */
static void fill_classes(
    const struct parsed_split *numbering, struct fby_split *out)
{
    bool is_other =
        strcmp(numbering->location.pattern, out->location.pattern) != 0;
    if (is_other && fby_content_is_numbered_by_folders(&out->content)) {
        out->classes = numbering->location;
        snprintf(out->classes_from, sizeof(out->classes_from), "%s",
            numbering->name);
    }
}

/* ---- making a split ---- */

/* Set the error for a name that no split has. */
static fby_err error_no_split(const struct fby_pipeline *self, const char *name,
    struct fby_error_detail *why)
{
    struct fby_nearest nearest = {.word = name != NULL ? name : ""};
    for (size_t i = 0; i < self->n_splits; i++) {
        fby_nearest_offer(&nearest, self->splits[i].name);
    }
    if (name == NULL) {
        return fby_error_set(why, FBY_USAGE,
            "the pipeline has several splits; say which: %s", nearest.known);
    }
    return fby_error_set(why, FBY_USAGE,
        "the pipeline has no split '%s'%s; it has %s", fby_text_show(name).text,
        fby_nearest_hint(&nearest, /*otherwise=*/NULL).text, nearest.known);
}

const struct parsed_split *fby_parsed_find_split(
    const struct fby_pipeline *self, const char *name)
{
    if (name == NULL && self->n_splits == 1) {
        return &self->splits[0];
    }
    const char *wanted = name != NULL ? name : "train";
    for (size_t i = 0; i < self->n_splits; i++) {
        if (strcmp(self->splits[i].name, wanted) == 0) {
            return &self->splits[i];
        }
    }
    return NULL;
}

fby_err fby_pipeline_make_split(const struct fby_pipeline *self,
    const char *name, struct fby_split **out, struct fby_error_detail *why)
{
    const struct parsed_split *split = fby_parsed_find_split(self, name);
    if (split == NULL) {
        return error_no_split(self, name, why);
    }
    const struct parsed_split *numbering = split;
    FBY_TRY(find_numbering(self, split, &numbering, why));
    struct fby_split *result = fby_zalloc(sizeof(*result));
    result->location         = split->location;
    snprintf(result->name, sizeof(result->name), "%s", split->name);
    result->delivery.bad_sample_limit = (uint32_t)self->bad_sample.limit;
    result->content.n_fields          = (uint32_t)self->n_fields;
    fill_content_except_fields(&result->content, self, split);
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < self->n_fields; i++) {
        err = fby_parsed_fill_field(self, split, i, result, why);
    }
    if (err == FBY_OK) {
        err = check_split(self, split, &result->content, why);
    }
    if (err != FBY_OK) {
        fby_split_destroy(&result);
        return err;
    }
    fill_classes(numbering, result);
    *out = result;
    return FBY_OK;
}

void fby_split_destroy(struct fby_split **self_p)
{
    free(*self_p);
    *self_p = NULL;
}

fby_err fby_split_prefix_classes(
    const struct fby_split *self, fby_err err, struct fby_error_detail *why)
{
    return fby_error_prefix(why, err,
        "split %s numbers the classes of %s (classes_from)",
        fby_text_show(self->classes_from).text, fby_text_show(self->name).text);
}
