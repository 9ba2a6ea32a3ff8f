/* One split picked out of a draft: parse.h's fby_pipeline_split. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/pipeline/check.h"
#include "common/pipeline/derived.h"
#include "common/pipeline/device_ops.h"
#include "common/pipeline/draft.h"
#include "common/pipeline/nearest.h"
#include "common/pipeline/text.h"
#include "common/plan/order.h"

/* ---- content ---- */

static void fill_tokens(struct fby_tokens *out, const struct draft_split *split)
{
    const struct draft_tokens *tokens = &split->tokens;
    if (split->kind != FBY_SOURCE_TOKENS) {
        return;
    }
    *out = (struct fby_tokens){
        .format = (enum fby_tokens_format)tokens->format,
        .type   = (enum fby_type)tokens->type,
        .length = (uint32_t)tokens->length,
        .shift  = (uint32_t)tokens->shift,
        .packed = tokens->pack != 0,
        .end    = (uint32_t)tokens->end,
        .pad    = (uint32_t)tokens->pad,
    };
    memcpy(out->column, tokens->column, sizeof(out->column));
}

static void fill_order(struct fby_content *content,
    const struct fby_pipeline *pipeline, const struct draft_split *split)
{
    content->source  = split->kind;
    content->n_files = split->n_files;
    memcpy(content->files, split->files, sizeof(content->files));
    content->shuffle       = (enum fby_shuffle)split->shuffle.kind;
    content->last          = (enum fby_last)split->last;
    content->global_batch  = (uint32_t)pipeline->global_batch;
    content->on_bad_sample = (enum fby_bad_sample)pipeline->bad_sample.what;
    content->bucket_by     = split->bucket.by;
    fill_tokens(&content->tokens, split);
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

/* The ops of this split, numbered among those of their name that are left. */
static void fill_ops(struct fby_field_content *out,
    const struct draft_field *field, uint32_t split_bit)
{
    for (size_t i = 0; i < field->n_ops; i++) {
        if ((field->ops[i].only & split_bit) == 0) {
            continue;
        }
        struct fby_op_use *use = &out->ops[out->n_ops];
        *use                   = field->ops[i].use;
        for (size_t k = 0; k < out->n_ops; k++) {
            use->occurrence += out->ops[k].op == use->op ? 1 : 0;
        }
        out->n_ops++;
    }
}

static void fill_normalize(
    struct fby_field_content *out, const struct draft_op *op)
{
    out->normalize = true;
    for (size_t k = 0; k < 3; k++) {
        out->mean[k] = op->use.params[NORMALIZE_MEAN].r[k];
        out->std[k]  = op->use.params[NORMALIZE_STD].r[k];
    }
}

/* Occurrences count those of the name on the worker, too: an op that stands
 * there and here draws twice. Normalize alone needs no list. */
static void fill_device(struct fby_field_content *out,
    const struct draft_field *field, uint32_t split_bit)
{
    for (size_t i = 0; i < field->n_device; i++) {
        const struct draft_op *from = &field->device[i];
        struct fby_op_use     *use  = &out->device[out->n_device];
        if ((from->only & split_bit) == 0) {
            continue;
        }
        *use = from->use;
        use->occurrence =
            fby_op_count(out->ops, out->n_ops, use->op->name) +
            fby_op_count(out->device, out->n_device, use->op->name);
        if (use->op->id == FBY_OP_DEVICE_NORMALIZE) {
            fill_normalize(out, from);
            memset(use->params, 0, sizeof(use->params));
        }
        out->n_device++;
    }
    if (out->n_device == 1 && out->normalize) {
        memset(&out->device[0], 0, sizeof(out->device[0]));
        out->n_device = 0;
    }
}

static bool has_one_hot(const struct draft_field *field, uint32_t split_bit)
{
    return fby_is_given(field->at[FIELD_ONE_HOT]) &&
           (field->one_hot.only & split_bit) != 0;
}

/* What the split says of its sequences; without a wire type, the smaller one
 * that holds all tokens of theirs. */
static void fill_sequence(struct fby_content *content, size_t i)
{
    struct fby_field_content *out  = &content->fields[i];
    enum fby_type             type = content->tokens.type;
    if (!fby_decode_is_sequence(out->decode)) {
        return;
    }
    fby_field_pack(out, &content->tokens);
    if (out->decode == FBY_DECODE_DOCUMENTS) {
        out->max_length = content->tokens.length;
        out->too_long   = FBY_TOO_LONG_REFUSE;
        out->wire_type  = fby_documents_type(content->tokens.length);
    } else {
        out->length = fby_sequence_length(out, &content->tokens);
    }
    if (out->wire_type == 0) {
        out->wire_type = type == FBY_U8 || type == FBY_U16 ? FBY_U16 : FBY_U32;
    }
    out->shape = fby_field_shape(out);
}

static void fill_field(struct fby_field_content *out,
    const struct draft_field *field, uint32_t split_bit)
{
    memcpy(out->name, field->name, sizeof(out->name));
    memcpy(out->group, field->group, sizeof(out->group));
    memcpy(out->from, field->from, sizeof(out->from));
    memcpy(out->json_key, field->json_key, sizeof(out->json_key));
    out->pick       = (enum fby_pick)field->pick;
    out->n_from     = field->n_from;
    out->decode     = (enum fby_decode)field->decode;
    out->dct_scale  = (enum fby_dct_scale)field->dct_scale;
    out->wire_type  = (enum fby_type)field->wire.type;
    out->yuv420     = field->wire.yuv420;
    out->length     = (uint32_t)field->length;
    out->array      = field->shape;
    out->maps       = (uint32_t)field->maps;
    out->max_length = (uint32_t)field->max_length;
    out->too_long   = (enum fby_too_long)field->too_long;
    out->classes    = (uint32_t)field->classes;
    out->one_hot    = has_one_hot(field, split_bit);
    out->smoothing  = out->one_hot ? field->one_hot.smoothing : 0;
    fill_ops(out, field, split_bit);
    fill_device(out, field, split_bit);
    out->shape = fby_field_shape(out);
}

/* ---- delivery ---- */

/* What was not said is 1 and 0; of what has one number all channels get it. */
static void fill_scale(
    struct fby_field_delivery *out, const struct draft_out *from)
{
    uint32_t n =
        from->scale.n > from->offset.n ? from->scale.n : from->offset.n;
    out->scaled   = n > 0;
    out->channels = n;
    for (uint32_t c = 0; c < n; c++) {
        const struct draft_factors *scale  = &from->scale;
        const struct draft_factors *offset = &from->offset;
        out->scale[c]  = scale->n > 0 ? scale->r[scale->n > 1 ? c : 0] : 1;
        out->offset[c] = offset->n > 0 ? offset->r[offset->n > 1 ? c : 0] : 0;
    }
}

static void fill_delivery(struct fby_field_delivery *out,
    const struct draft_field *field, uint32_t split_bit)
{
    bool one_hot = has_one_hot(field, split_bit);
    out->dtype =
        (enum fby_type)(one_hot ? field->one_hot.dtype : field->out.dtype);
    out->layout = (enum fby_layout)field->out.layout;
    out->filter = (uint8_t)field->wire.filter;
    out->codec  = (uint8_t)field->wire.codec;
    fill_scale(out, &field->out);
    if (field->max_length > 0 || field->decode == FBY_DECODE_DOCUMENTS) {
        out->as      = (enum fby_as)field->out.as;
        out->longest = field->out.longest != 0;
        out->pad     = field->out.pad.n > 0 ? field->out.pad.r[0] : 0;
        out->offsets = (enum fby_type)field->out.offsets;
    }
}

/* ---- rules that hold for one split ---- */

static fby_err check_shape(const struct fby_pipeline *pipeline,
    const struct draft_split *split, size_t i,
    const struct fby_field_content *field, struct fby_why *why)
{
    for (size_t d = 0; d < field->shape.n_dims; d++) {
        if (field->shape.dims[d] == 0) {
            return fby_yaml_wrong(why, pipeline->file, pipeline->fields[i].here,
                "the pictures of field '%s' have no fixed size in split '%s'; "
                "add an op that gives it, such as resize: {size: 224} or "
                "center_crop: {size: 224}",
                field->name, split->name);
        }
    }
    return FBY_OK;
}

/* Every sample would be refused. */
static fby_err check_size(const struct fby_pipeline *pipeline,
    const struct draft_split *split, size_t i,
    const struct fby_field_content *field, struct fby_why *why)
{
    uint32_t h = field->shape.dims[0];
    uint32_t w = field->shape.dims[1];
    if (field->n_ops == 0 || (h <= FBY_MAX_SIDE && w <= FBY_MAX_SIDE &&
                                 (uint64_t)h * w <= FBY_MAX_PIXELS)) {
        return FBY_OK;
    }
    return fby_yaml_wrong(why, pipeline->file, pipeline->fields[i].here,
        "the ops of field '%s' make pictures of %u x %u pixels (width x "
        "height) in split '%s'; a side is at most %d, a picture %d pixels: "
        "make it smaller",
        field->name, w, h, split->name, FBY_MAX_SIDE, FBY_MAX_PIXELS);
}

static const char *source_name(enum fby_source_kind kind)
{
    switch (kind) {
    case FBY_SOURCE_COLUMNS:
        return "columns";
    case FBY_SOURCE_LIST:
        return "rows of a list";
    case FBY_SOURCE_PARALLEL:
        return "parallel folders";
    case FBY_SOURCE_SHARDS:
    case FBY_SOURCE_TOKENS:
    case FBY_SOURCE_FOLDER:
        break;
    }
    return "shards";
}

static fby_err check_folder_label(const struct fby_pipeline *pipeline,
    const struct draft_split *split, size_t i, struct fby_why *why)
{
    const struct draft_field *field = &pipeline->fields[i];
    if (split->kind == FBY_SOURCE_FOLDER ||
        strcmp(field->from[0], "folder") != 0) {
        return FBY_OK;
    }
    return fby_yaml_wrong(why, pipeline->file, field->from_at[0],
        "split '%s' reads %s, which have no class folders; use from: %s",
        split->name, source_name(split->kind),
        split->kind == FBY_SOURCE_SHARDS || split->kind == FBY_SOURCE_PARALLEL
            ? "cls"
            : "COLUMN");
}

static fby_err check_sequence(const struct fby_pipeline *pipeline,
    const struct draft_split *split, size_t i, struct fby_why *why)
{
    const struct draft_field *field  = &pipeline->fields[i];
    bool                      tokens = split->kind == FBY_SOURCE_TOKENS;
    if (tokens != fby_decode_is_sequence((enum fby_decode)field->decode)) {
        return fby_yaml_wrong(why, pipeline->file, field->here,
            tokens ? "split '%s' reads tokens; field '%s' is none: say decode: "
                     "tokens, or leave it out"
                   : "split '%s' does not read tokens, and field '%s' is made "
                     "of them",
            split->name, field->name);
    }
    if (tokens && split->tokens.shift == 0 &&
        fby_wants_targets(field->from[0])) {
        return fby_yaml_wrong(why, pipeline->file, field->from_at[0],
            "split '%s' has no targets; say shift: 1 in its tokens",
            split->name);
    }
    if (tokens && split->tokens.pack != 0 &&
        strcmp(field->from[0], "sequence") == 0) {
        return fby_yaml_wrong(why, pipeline->file, field->from_at[0],
            "split '%s' packs documents, whose targets are not the sequence "
            "one token on; use from: input and from: target",
            split->name);
    }
    if (tokens && split->tokens.pack == 0 &&
        field->decode == FBY_DECODE_DOCUMENTS) {
        return fby_yaml_wrong(why, pipeline->file, field->from_at[0],
            "split '%s' does not pack documents; say pack: documents in its "
            "tokens",
            split->name);
    }
    return FBY_OK;
}

/* Op `k` of those that a split has, as the file says it. */
static const struct draft_op *device_op(
    const struct draft_field *field, uint32_t split_bit, uint32_t k)
{
    const struct draft_op *op = field->device;
    for (;; op++) {
        if ((op->only & split_bit) != 0 && k-- == 0) {
            return op;
        }
    }
}

static fby_err check_device(const struct fby_pipeline *pipeline,
    const struct draft_split *split, size_t i,
    const struct fby_content *content, struct fby_why *why)
{
    uint32_t       bit  = UINT32_C(1) << (split - pipeline->splits);
    uint32_t       at   = 0;
    struct fby_why what = {{0}};
    if (fby_device_ops_check(content, (uint32_t)i, &at, &what) != FBY_OK) {
        return fby_yaml_wrong(why, pipeline->file,
            device_op(&pipeline->fields[i], bit, at)->here, "%s (split '%s')",
            what.text, split->name);
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
                     label->one_hot.at[ONE_HOT_DTYPE],
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
        err = check_sequence(pipeline, split, i, why);
        if (err == FBY_OK) {
            err = check_shape(pipeline, split, i, &content->fields[i], why);
        }
        if (err == FBY_OK) {
            err = check_size(pipeline, split, i, &content->fields[i], why);
        }
        if (err == FBY_OK) {
            err = check_folder_label(pipeline, split, i, why);
        }
        if (err == FBY_OK) {
            err = check_device(pipeline, split, i, content, why);
        }
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

static const struct draft_split *find(
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
    const struct draft_split *split = find(self, name);
    if (split == NULL) {
        return no_such_split(self, name, why);
    }
    struct fby_split *picked          = fby_zalloc(sizeof(*picked));
    uint32_t          bit             = UINT32_C(1) << (split - self->splits);
    picked->location                  = split->location;
    picked->delivery.bad_sample_limit = (uint32_t)self->bad_sample.limit;
    picked->content.n_fields          = (uint32_t)self->n_fields;
    fill_order(&picked->content, self, split);
    for (size_t i = 0; i < self->n_fields; i++) {
        fill_field(&picked->content.fields[i], &self->fields[i], bit);
        fill_sequence(&picked->content, i);
        fill_delivery(&picked->delivery.fields[i], &self->fields[i], bit);
    }
    fby_err err = check_split(self, split, &picked->content, why);
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
