/* SPDX-License-Identifier: Apache-2.0 */
/* expansion.c - the plan of each kind of field, and the shapes of its tensors.
 *
 * Each function plan_... plans one kind of field. It sets the members of the
 * plan, or returns an error if the requested type or layout is impossible. */
#include "trainer_client/expand/expansion.h"

#include <string.h>

#include "common/yuv420.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "proto/layout.h"
#include "trainer_client/expand/ops_draw.h"
#include "trainer_client/expand/ragged_offsets.h"
#include "trainer_client/expand/value.h"

static uint64_t count_elements(const struct fby_shape *shape)
{
    uint64_t n_elements = 1;
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        n_elements *= shape->dims[i];
    }
    return n_elements;
}

static uint64_t raw_bytes_of(const struct fby_field_content *field)
{
    const uint32_t *dims = field->shape.dims;
    return fby_field_is_yuv420(field) ? fby_yuv_bytes(dims[1], dims[0])
                                      : count_elements(&field->shape) *
                                            fby_type_bytes(field->wire_type);
}

/* The arguments of fby_expansion_init. */
struct planning {
    struct fby_expansion            *self;
    const struct fby_field_content  *field;
    const struct fby_field_delivery *delivery;
    struct fby_error_detail         *why;
};

static fby_err refuse(const struct planning *p, const char *reason)
{
    return fby_error_set(
        p->why, FBY_CONFIG, "field %s: %s", p->field->name, reason);
}

static void add_tensor(struct fby_expansion *self, const char *suffix,
    enum fby_type type, uint64_t row_bytes, uint64_t bytes_after_rows)
{
    self->tensors[self->n_tensors++] =
        (struct fby_tensor_plan){suffix, type, row_bytes, bytes_after_rows};
}

/* The bits of `value` in type `to`; integers are rounded and clamped. */
static uint32_t bits_of(enum fby_type to, float value)
{
    const struct fby_number number = {.is_float = true, .f = value};
    return (uint32_t)fby_number_to_bits(number, to);
}

/* ---- pictures and masks -------------------------------------------------- */

/* Set scale and offset of each channel, and what follows from them: the table,
 * and has_ties. They turn level v into (v / 255 - mean) / std, or leave it
 * unchanged. */
static void set_level_table(const struct planning *p)
{
    struct fby_expansion        *self       = p->self;
    const struct fby_rgb8_field *rgb8       = &p->field->as.rgb8;
    bool                         normalized = fby_field_is_normalized(p->field);
    for (uint32_t c = 0; c < FBY_MAX_CHANNELS; c++) {
        bool scaled     = normalized && c < self->channels;
        self->scale[c]  = scaled ? (float)(1.0 / (255.0 * rgb8->std[c])) : 1;
        self->offset[c] = scaled ? (float)(-rgb8->mean[c] / rgb8->std[c]) : 0;
        for (uint32_t v = 0; v < 256 && c < self->channels; v++) {
            float value = fby_affine((float)v, self->scale[c], self->offset[c]);
            self->table[c][v] = bits_of(self->to, value);
            self->has_ties |= (fby_f32_bits(value) & 0xffffU) == 0x8000U;
        }
    }
}

static void set_pixel_counts(const struct planning *p)
{
    struct fby_expansion *self = p->self;
    self->channels             = self->shape.dims[2];
    self->pixels               = self->shape.dims[0] * self->shape.dims[1];
    self->plane                = self->pixels;
}

/* If flips and normalize are the only ops (ops.plain), the table has the value
 * of each level. So any type of up to 4 bytes is possible. */
static fby_err plan_ops(const struct planning *p)
{
    struct fby_expansion *self = p->self;
    self->kind                 = FBY_EXPAND_OPS;
    self->ops_field            = p->field;
    self->ops                  = fby_ops_plan_of(p->field);
    set_pixel_counts(p);
    bool any_type = self->ops.plain;
    if (fby_type_bytes(self->to) > 4 ||
        (!any_type && self->to != FBY_U8 && !fby_type_is_float(self->to))) {
        return refuse(p, "the device's ops make u8, f32, f16 or bf16");
    }
    set_level_table(p);
    return FBY_OK;
}

static fby_err plan_pictures(const struct planning *p)
{
    struct fby_expansion *self = p->self;
    self->kind                 = FBY_EXPAND_AFFINE;
    self->layout               = p->delivery->layout;
    self->yuv420               = fby_field_is_yuv420(p->field);
    set_pixel_counts(p);
    if (self->shape.n_dims != 3 || self->channels < 1 ||
        self->channels > FBY_MAX_CHANNELS || self->from != FBY_U8) {
        return fby_error_set(p->why, FBY_CONFIG,
            "field %s: an image is u8 [h, w, 1 to %d] on the wire", self->name,
            FBY_MAX_CHANNELS);
    }
    if (fby_field_is_normalized(p->field) && !fby_type_is_float(self->to)) {
        return refuse(p, "a normalised image needs dtype f32, f16 or bf16");
    }
    if (p->field->n_device > 0) {
        return plan_ops(p);
    }
    bool interleaved = self->layout != FBY_LAYOUT_CHW || self->channels == 1;
    if (self->to == FBY_U8 && interleaved && !self->yuv420) {
        self->kind = FBY_EXPAND_COPY;
        return FBY_OK;
    }
    if (fby_type_bytes(self->to) > 4 || self->to == FBY_BOOL) {
        return refuse(
            p, "an image cannot be i64 or bool; i32 holds its values");
    }
    set_level_table(p);
    return FBY_OK;
}

/* ---- bits and labels ----------------------------------------------------- */

static fby_err plan_bits(const struct planning *p)
{
    struct fby_expansion   *self  = p->self;
    const struct fby_shape *shape = &self->shape;
    uint32_t                maps  = fby_field_packed_bits(p->field);
    self->kind                    = FBY_EXPAND_BITS;
    self->layout                  = p->delivery->layout;
    self->maps                    = maps;
    if (shape->n_dims == 0 || self->from != FBY_U8 ||
        shape->dims[shape->n_dims - 1] != fby_bytes_of_bits(maps)) {
        return fby_error_set(p->why, FBY_CONFIG,
            "field %s: %u maps are u8 with %u bytes in the last dimension",
            self->name, maps, fby_bytes_of_bits(maps));
    }
    if (!fby_type_is_float(self->to) && self->to != FBY_U8 &&
        self->to != FBY_BOOL) {
        return refuse(p, "bits need dtype u8, bool, f16, bf16 or f32");
    }
    if (self->layout != FBY_LAYOUT_HWC && shape->n_dims != 3) {
        return refuse(p, "only bits of three dimensions have a layout");
    }
    self->pixels    = (uint32_t)(self->raw_bytes / fby_bytes_of_bits(maps));
    self->out_bytes = (uint64_t)self->pixels * maps * fby_type_bytes(self->to);
    self->on        = bits_of(self->to, 1);
    self->off       = bits_of(self->to, 0);
    return FBY_OK;
}

/* Smoothing takes a part of the label's 1 and divides it among all classes. */
static fby_err plan_one_hot(const struct planning *p)
{
    struct fby_expansion         *self  = p->self;
    const struct fby_label_field *label = &p->field->as.label;
    double share = label->classes > 0 ? label->smoothing / label->classes : 0;
    self->kind   = FBY_EXPAND_ONE_HOT;
    if (label->classes == 0 ||
        (!fby_type_is_float(self->to) && self->to != FBY_U8)) {
        return refuse(
            p, "one_hot needs its classes and dtype f32, f16, bf16 or u8");
    }
    if (self->to == FBY_U8 && label->smoothing != 0) {
        return refuse(p, "smoothing needs dtype f32, f16 or bf16");
    }
    self->on        = bits_of(self->to, (float)(1 - label->smoothing + share));
    self->off       = bits_of(self->to, (float)share);
    self->out_bytes = (uint64_t)label->classes * fby_type_bytes(self->to);
    return FBY_OK;
}

/* ---- ragged rows --------------------------------------------------------- */

/* Lengths of documents become one tensor of offsets, positions or a mask. */
static fby_err plan_documents(const struct planning *p)
{
    static const enum fby_expand_kind kinds[] = {
        [FBY_AS_CU_SEQLENS] = FBY_EXPAND_CU_SEQLENS,
        [FBY_AS_POSITIONS]  = FBY_EXPAND_POSITIONS,
        [FBY_AS_MASK]       = FBY_EXPAND_MASK,
    };
    struct fby_expansion *self    = p->self;
    uint32_t              width   = fby_type_bytes(self->to);
    bool                  is_mask = p->delivery->as == FBY_AS_MASK;
    bool index_type               = self->to == FBY_I32 || self->to == FBY_I64;
    bool mask_type                = fby_type_is_float(self->to) || width == 1;
    bool valid_type               = is_mask ? mask_type : index_type;
    if (!self->documents || !valid_type) {
        return refuse(p,
            "cu_seqlens and positions are made of documents, as i32 or i64, "
            "and a mask, as bool, u8, f32, f16 or bf16");
    }
    self->kind = kinds[p->delivery->as];
    self->on   = bits_of(self->to, 1);
    self->off  = bits_of(self->to, 0);
    add_tensor(self, "", self->to, self->out_bytes,
        self->kind == FBY_EXPAND_CU_SEQLENS ? width : 0);
    return FBY_OK;
}

static bool has_valid_offsets(const struct fby_field_delivery *delivery)
{
    return delivery->offsets == FBY_I32 || delivery->offsets == FBY_I64;
}

static fby_err plan_rows(const struct planning *p)
{
    struct fby_expansion            *self     = p->self;
    const struct fby_field_content  *field    = p->field;
    const struct fby_field_delivery *delivery = p->delivery;
    bool                             padded   = delivery->as == FBY_AS_PADDED;
    uint32_t offset_bytes = fby_type_bytes(delivery->offsets);
    self->kind            = padded ? FBY_EXPAND_PADDED : FBY_EXPAND_RAGGED;
    self->max_length      = field->max_length;
    self->entry_bytes     = self->raw_bytes / field->max_length;
    self->longest         = delivery->longest;
    self->offset_type     = delivery->offsets;
    self->documents       = fby_field_values(field) == FBY_VALUES_LENGTHS;
    self->shift           = self->documents ? field->as.documents.shift : 0;
    if (delivery->as >= FBY_AS_CU_SEQLENS && delivery->as <= FBY_AS_MASK) {
        return plan_documents(p);
    }
    bool valid_form = padded || delivery->as == FBY_AS_RAGGED;
    if (!valid_form || delivery->scaled || !has_valid_offsets(delivery)) {
        return refuse(p, "rows of several lengths become padded or ragged "
                         "ones, with offsets i32 or i64");
    }
    if (!fby_type_can_hold(self->to, delivery->pad)) {
        return fby_error_set(p->why, FBY_CONFIG,
            "field %s: pad %g is not a value of its dtype", self->name,
            delivery->pad);
    }
    self->pad = fby_type_is_float(self->to)
                    ? bits_of(self->to, (float)delivery->pad)
                    : (uint64_t)(int64_t)delivery->pad; /* two's complement */
    add_tensor(self, "", self->to, self->out_bytes, 0);
    if (padded) {
        add_tensor(self, ".lengths", FBY_I32, sizeof(int32_t), 0);
    } else {
        add_tensor(
            self, ".offsets", self->offset_type, offset_bytes, offset_bytes);
    }
    return FBY_OK;
}

static void add_sparse_tensors(struct fby_expansion *self)
{
    uint64_t max_entries   = self->max_length;
    uint64_t value_bytes   = max_entries * fby_type_bytes(self->to);
    uint32_t width         = fby_type_bytes(self->offset_type);
    uint32_t n_coordinates = 1 + self->shape.n_dims; /* the row, and its dims */
    if (self->kind == FBY_EXPAND_DENSE) {
        add_tensor(self, "", self->to, self->out_bytes, 0);
    } else if (self->kind == FBY_EXPAND_CSR) {
        add_tensor(self, "", self->to, value_bytes, 0);
        add_tensor(self, ".offsets", self->offset_type, width, width);
        add_tensor(self, ".indices", self->offset_type, max_entries * width, 0);
    } else {
        add_tensor(self, "", self->to, value_bytes, 0);
        add_tensor(self, ".indices", FBY_I64,
            n_coordinates * max_entries * sizeof(int64_t), 0);
    }
}

static fby_err plan_sparse(const struct planning *p)
{
    struct fby_expansion            *self     = p->self;
    const struct fby_field_delivery *delivery = p->delivery;
    bool                             csr      = delivery->as == FBY_AS_CSR;
    bool                             dense    = delivery->as == FBY_AS_DENSE;
    self->kind                                = dense ? FBY_EXPAND_DENSE
                                                : csr ? FBY_EXPAND_CSR
                                                      : FBY_EXPAND_COO;
    self->max_length                          = p->field->max_length;
    self->entry_bytes                         = fby_type_bytes(self->from);
    self->index_bytes = fby_bytes_per_index(&self->shape);
    self->raw_bytes   = self->entry_bytes * self->max_length;
    self->offset_type = delivery->offsets;
    bool valid_form   = dense || csr || delivery->as == FBY_AS_COO;
    bool padded       = delivery->longest || delivery->pad != 0;
    if (!valid_form || padded || delivery->scaled || self->to == FBY_BOOL ||
        !has_valid_offsets(delivery)) {
        return refuse(p, "sparse rows become dense, csr or coo, without "
                         "padding; offsets are i32 or i64");
    }
    if (csr && self->shape.n_dims != 1) {
        return refuse(
            p, "csr needs a shape of one dimension; use coo, or dense");
    }
    add_sparse_tensors(self);
    return FBY_OK;
}

/* ---- other arrays -------------------------------------------------------- */

static fby_err plan_scale(const struct planning *p)
{
    struct fby_expansion   *self  = p->self;
    const struct fby_shape *shape = &self->shape;
    uint32_t last_dim = shape->n_dims > 0 ? shape->dims[shape->n_dims - 1] : 1;
    self->kind        = FBY_EXPAND_SCALE;
    self->scaled      = true;
    self->channels    = p->delivery->channels;
    if (!fby_type_is_float(self->to)) {
        return refuse(p, "scaled values need dtype f32, f16 or bf16");
    }
    if (self->channels == 0 || self->channels > FBY_MAX_FACTORS ||
        (self->channels > 1 && self->channels != last_dim)) {
        return refuse(
            p, "scale and offset are one number, or one for each channel");
    }
    for (uint32_t c = 0; c < self->channels; c++) {
        self->scale[c]  = (float)p->delivery->scale[c];
        self->offset[c] = (float)p->delivery->offset[c];
    }
    return FBY_OK;
}

/* Only CHW of several channels moves values. channels_last has the memory of
 * HWC, with another shape and other strides. */
static fby_err plan_layout(const struct planning *p)
{
    struct fby_expansion   *self   = p->self;
    const struct fby_shape *shape  = &self->shape;
    enum fby_layout         layout = p->delivery->layout;
    if (layout != FBY_LAYOUT_CHW && layout != FBY_LAYOUT_CHANNELS_LAST) {
        return FBY_OK;
    }
    if (shape->n_dims != 3) {
        return refuse(
            p, "only images, and arrays of three dimensions, have a layout");
    }
    self->layout = layout;
    if (layout == FBY_LAYOUT_CHW && shape->dims[2] > 1) {
        self->kind   = FBY_EXPAND_PLANAR;
        self->pixels = shape->dims[0] * shape->dims[1];
    }
    return FBY_OK;
}

static fby_err plan_dense(const struct planning *p)
{
    struct fby_expansion *self = p->self;
    self->kind = self->from == self->to ? FBY_EXPAND_COPY : FBY_EXPAND_CAST;
    if (self->to == FBY_BOOL) {
        return refuse(p, "only bits become bool");
    }
    fby_err err = p->delivery->scaled ? plan_scale(p) : FBY_OK;
    return err == FBY_OK ? plan_layout(p) : err;
}

/* ---- by kind of field ---------------------------------------------------- */

static fby_err plan_masks(const struct planning *p)
{
    if (p->delivery->layout == FBY_LAYOUT_HW) { /* the memory is that of hwc */
        p->self->layout = FBY_LAYOUT_HW;
    }
    return p->field->n_device > 0 ? plan_ops(p) : plan_dense(p);
}

static fby_err plan_labels(const struct planning *p)
{
    p->self->classes = p->field->as.label.classes;
    return p->field->as.label.one_hot ? plan_one_hot(p) : plan_dense(p);
}

static fby_err plan_values(const struct planning *p)
{
    return p->field->max_length > 0 ? plan_rows(p) : plan_dense(p);
}

static fby_err plan_arrays(const struct planning *p)
{
    return fby_field_packed_bits(p->field) > 0 ? plan_bits(p) : plan_values(p);
}

typedef fby_err plan_fn(const struct planning *p);

static plan_fn *const plans[] = {
    [FBY_DECODE_RGB8]      = plan_pictures,
    [FBY_DECODE_LABEL]     = plan_labels,
    [FBY_DECODE_NUMBER]    = plan_values,
    [FBY_DECODE_BYTES]     = plan_values,
    [FBY_DECODE_MASK8]     = plan_masks,
    [FBY_DECODE_ARRAY]     = plan_arrays,
    [FBY_DECODE_TEXT]      = plan_rows,
    [FBY_DECODE_SPARSE]    = plan_sparse,
    [FBY_DECODE_MAPS]      = plan_bits,
    [FBY_DECODE_TOKENS]    = plan_values,
    [FBY_DECODE_DOCUMENTS] = plan_rows,
};

fby_err fby_expansion_init(struct fby_expansion *self,
    const struct fby_field_content              *field,
    const struct fby_field_delivery *delivery, struct fby_error_detail *why)
{
    const struct planning p = {self, field, delivery, why};
    bool                  has_row_options =
        delivery->as != 0 || delivery->longest || delivery->offsets != 0;
    *self = (struct fby_expansion){
        .name      = field->name,
        .from      = field->wire_type,
        .to        = delivery->dtype,
        .layout    = FBY_LAYOUT_HWC,
        .shape     = field->shape,
        .raw_bytes = raw_bytes_of(field),
        .out_bytes =
            count_elements(&field->shape) * fby_type_bytes(delivery->dtype),
    };
    if (fby_type_bytes(self->from) == 0 || fby_type_bytes(self->to) == 0) {
        return refuse(&p, "no such dtype");
    }
    if (fby_field_form(field) == FBY_FORM_DENSE && has_row_options) {
        return refuse(&p, "only rows of several lengths have another form");
    }
    if (delivery->layout == FBY_LAYOUT_HW &&
        field->decode != FBY_DECODE_MASK8) {
        return refuse(&p, "only masks (mask8) have the layout hw");
    }
    fby_err err = plans[field->decode](&p);
    if (self->n_tensors == 0) { /* not a ragged field */
        add_tensor(self, "", self->to, self->out_bytes, 0);
    }
    return err;
}

fby_err fby_expansion_set_mix(struct fby_expansion *self,
    const struct fby_field_content                 *label,
    const struct fby_field_content *image, struct fby_error_detail *why)
{
    double smoothing = label->as.label.smoothing;
    double share     = smoothing / label->as.label.classes;
    if (!fby_type_is_float(self->to)) {
        return fby_error_set(why, FBY_CONFIG,
            "field %s: labels that %s mixes need dtype f32, f16 or bf16",
            self->name, image->name);
    }
    self->kind      = FBY_EXPAND_MIX;
    self->ops_field = image;
    self->on_value  = (float)(1 - smoothing + share);
    self->off_value = (float)share;
    return FBY_OK;
}

/* ---- shapes of tensors --------------------------------------------------- */

/* Set the strides of a row-major tensor without gaps. Returns `n_dims`. */
static uint32_t set_row_major(
    uint32_t n_dims, const int64_t *shape, int64_t *strides)
{
    int64_t stride = 1;
    for (uint32_t i = n_dims; i-- > 0;) { /* from the last dimension */
        strides[i] = stride;
        stride *= shape[i];
    }
    return n_dims;
}

/* Set the shape to rows, channels, height, width. The memory of channels_last
 * has the order rows, height, width, channels. */
static uint32_t set_channels_first(const struct fby_expansion *self,
    int64_t channels, int64_t *shape, int64_t *strides)
{
    int64_t height = self->shape.dims[0];
    int64_t width  = self->shape.dims[1];
    shape[1]       = channels;
    shape[2]       = height;
    shape[3]       = width;
    if (self->layout == FBY_LAYOUT_CHW) {
        return set_row_major(4, shape, strides);
    }
    strides[0] = height * width * channels;
    strides[1] = 1;
    strides[2] = width * channels;
    strides[3] = channels;
    return 4;
}

/* Stores to tensors of at least this size bypass the cache. */
enum { BYPASS_CACHE_BYTES = 8 << 20 };

void fby_expansion_set_max_rows(struct fby_expansion *self, uint32_t rows)
{
    self->bypass_cache = rows * self->out_bytes >= BYPASS_CACHE_BYTES;
}

uint32_t fby_expansion_compute_shape(const struct fby_expansion *self,
    uint32_t rows, int64_t shape[FBY_EXPAND_DIMS],
    int64_t strides[FBY_EXPAND_DIMS])
{
    uint32_t n_dims = self->shape.n_dims; /* without the rows */
    shape[0]        = rows;
    if (self->kind == FBY_EXPAND_ONE_HOT || self->kind == FBY_EXPAND_MIX) {
        shape[1] = self->classes;
        return set_row_major(2, shape, strides);
    }
    for (uint32_t i = 0; i < n_dims; i++) {
        shape[i + 1] = self->shape.dims[i];
    }
    if (self->layout == FBY_LAYOUT_HW) {
        return set_row_major(n_dims, shape, strides); /* without the channel */
    }
    if (self->kind == FBY_EXPAND_BITS) {
        shape[n_dims] = self->maps; /* instead of the bytes of these bits */
    }
    return self->layout == FBY_LAYOUT_HWC
               ? set_row_major(n_dims + 1, shape, strides)
               : set_channels_first(self, shape[n_dims], shape, strides);
}

uint64_t fby_expansion_padded_entries(
    const struct fby_expansion *self, const struct fby_ragged_offsets *rows)
{
    return self->longest ? rows->longest : self->shape.dims[0];
}

uint32_t fby_expansion_compute_ragged_shape(const struct fby_expansion *self,
    uint32_t i, const struct fby_ragged_offsets *rows,
    int64_t shape[FBY_EXPAND_DIMS], int64_t strides[FBY_EXPAND_DIMS])
{
    enum fby_expand_kind kind   = self->kind;
    bool                 padded = kind == FBY_EXPAND_PADDED;
    uint32_t             n_dims = 1;
    if (kind == FBY_EXPAND_DENSE || kind == FBY_EXPAND_POSITIONS ||
        kind == FBY_EXPAND_MASK) {
        return fby_expansion_compute_shape(self, rows->n, shape, strides);
    }
    shape[0] = (int64_t)rows->total; /* csr and coo: a value for each entry */
    if (kind == FBY_EXPAND_CU_SEQLENS) {
        shape[0] = (int64_t)rows->documents + 1;
    } else if (i == 1 && kind == FBY_EXPAND_COO) { /* coordinates */
        shape[0]        = 1 + (int64_t)self->shape.n_dims;
        shape[n_dims++] = (int64_t)rows->total;
    } else if (i == 1) { /* lengths, or offsets */
        shape[0] = (int64_t)rows->n + (padded ? 0 : 1);
    } else if (padded || kind == FBY_EXPAND_RAGGED) {
        if (padded) {
            shape[0]        = rows->n;
            shape[n_dims++] = (int64_t)fby_expansion_padded_entries(self, rows);
        }
        for (uint32_t d = 1; d < self->shape.n_dims; d++) {
            shape[n_dims++] = self->shape.dims[d];
        }
    }
    return set_row_major(n_dims, shape, strides);
}
