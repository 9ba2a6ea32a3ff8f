/* One split picked out of a draft: parse.h's fby_pipeline_split. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/check.h"
#include "pipeline/device_ops.h"
#include "pipeline/draft.h"
#include "pipeline/nearest.h"
#include "pipeline/plan/order.h"
#include "pipeline/text.h"

/* ---- content ---- */

static void fill_order(struct fby_content *content,
    const struct fby_pipeline *pipeline, const struct draft_split *split)
{
    content->source        = split->kind;
    content->shuffle       = (enum fby_shuffle)split->shuffle.kind;
    content->last          = (enum fby_last)split->last;
    content->global_batch  = (uint32_t)pipeline->global_batch;
    content->on_bad_sample = (enum fby_bad_sample)pipeline->bad_sample.what;
    content->bucket_by     = split->bucket.by;
    if (split->source->resolve != NULL) {
        split->source->resolve(split, content);
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

static fby_err check_device(const struct fby_pipeline *pipeline,
    const struct draft_split *split, size_t i,
    const struct fby_content *content, struct fby_why *why)
{
    uint32_t               bit   = UINT32_C(1) << (split - pipeline->splits);
    struct fby_field_fault fault = {.key = FBY_FIELD_DEVICE, .has_index = true};
    if (fby_device_ops_check(content, (uint32_t)i, &fault.index, &fault.why) !=
        FBY_OK) {
        return fby_yaml_wrong(why, pipeline->file,
            fby_draft_place(&pipeline->fields[i], &fault, bit),
            "%s (split '%s')", fault.why.text, split->name);
    }
    const struct fby_op_use *pairing = fby_device_pairing(&content->fields[i]);
    if (pairing == NULL) {
        return FBY_OK;
    }
    const struct draft_field *label =
        &pipeline->fields[pairing->params[FBY_PAIR_LABEL].i[0]];
    return label->one_hot.dtype != FBY_U8
               ? FBY_OK
               : fby_yaml_wrong(why, pipeline->file,
                     label->one_hot.at[ONE_HOT(DTYPE)],
                     "dtype u8 cannot hold labels that %s mixes; use f32, f16 "
                     "or bf16",
                     pairing->op->name);
}

static fby_err check_bucket(const struct fby_pipeline *pipeline,
    const struct draft_split *split, struct fby_why *why)
{
    const struct draft_bucket *bucket  = &split->bucket;
    struct fby_nearest         nearest = {.word = bucket->by.field};
    if (bucket->by.n_bounds == 0) {
        return FBY_OK;
    }
    if (split->shuffle.kind == FBY_SHUFFLE_BLOCK) {
        return fby_yaml_wrong(why, pipeline->file, split->at[SPLIT_BUCKET_BY],
            "bucket_by goes with shuffle: full or none; buckets are not cut "
            "into blocks");
    }
    for (size_t i = 0; i < pipeline->n_fields; i++) {
        if (strcmp(pipeline->fields[i].name, bucket->by.field) == 0) {
            return FBY_OK;
        }
        fby_nearest_offer(&nearest, pipeline->fields[i].name);
    }
    return fby_yaml_wrong(why, pipeline->file, bucket->at[BUCKET_FIELD],
        "there is no field '%s'%s%s%s", fby_text_show(bucket->by.field).text,
        nearest.best != NULL ? "; did you mean '" : "",
        nearest.best != NULL ? nearest.best : "",
        nearest.best != NULL ? "'?" : "");
}

static fby_err check_split(const struct fby_pipeline *pipeline,
    const struct draft_split *split, const struct fby_content *content,
    struct fby_why *why)
{
    fby_err err = check_bucket(pipeline, split, why);
    for (size_t i = 0; err == FBY_OK && i < content->n_fields; i++) {
        err = check_device(pipeline, split, i, content, why);
    }
    if (err == FBY_OK && fby_content_check(content, why) != FBY_OK) {
        err = fby_because_in(why, FBY_CONFIG, "%s:%zu:%zu: split '%s'",
            pipeline->file, split->here.line, split->here.column, split->name);
    }
    return err;
}

/* ---- picking ---- */

static fby_err no_such_split(
    const struct fby_pipeline *self, const char *name, struct fby_why *why)
{
    char               known[256] = "";
    struct fby_nearest nearest    = {.word = name != NULL ? name : ""};
    for (size_t i = 0; i < self->n_splits; i++) {
        fby_nearest_offer(&nearest, self->splits[i].name);
        fby_text_list(known, sizeof(known), self->splits[i].name);
    }
    if (name == NULL) {
        return fby_because(why, FBY_USAGE,
            "the pipeline has several splits; say which: %s", known);
    }
    return fby_because(why, FBY_USAGE,
        "the pipeline has no split '%s'%s%s%s; it has %s",
        fby_text_show(name).text,
        nearest.best != NULL ? "; did you mean '" : "",
        nearest.best != NULL ? nearest.best : "",
        nearest.best != NULL ? "'?" : "", known);
}

const struct draft_split *fby_draft_split(
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

fby_err fby_pipeline_split(const struct fby_pipeline *self, const char *name,
    struct fby_split **out, struct fby_why *why)
{
    const struct draft_split *split = fby_draft_split(self, name);
    if (split == NULL) {
        return no_such_split(self, name, why);
    }
    struct fby_split *picked          = fby_zalloc(sizeof(*picked));
    picked->location                  = split->location;
    picked->delivery.bad_sample_limit = (uint32_t)self->bad_sample.limit;
    picked->content.n_fields          = (uint32_t)self->n_fields;
    fill_order(&picked->content, self, split);
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < self->n_fields; i++) {
        err = fby_draft_fill_field(self, split, i, picked, why);
    }
    if (err == FBY_OK) {
        err = check_split(self, split, &picked->content, why);
    }
    if (err != FBY_OK) {
        fby_split_destroy(&picked);
        return err;
    }
    *out = picked;
    return FBY_OK;
}

void fby_split_destroy(struct fby_split **self_p)
{
    free(*self_p);
    *self_p = NULL;
}
