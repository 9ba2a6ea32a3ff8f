#include "trainer_client/expand/expansion.h"

#include <string.h>

#include "common/yuv420.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "proto/layout.h"
#include "trainer_client/expand/ops_draw.h"
#include "trainer_client/expand/ragged_offsets.h"
#include "trainer_client/expand/value.h"

static uint64_t elements(const struct fby_shape *shape)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        n *= shape->dims[i];
    }
    return n;
}

static uint64_t raw_bytes_of(const struct fby_field_content *field)
{
    const uint32_t *dims = field->shape.dims;
    return fby_field_is_yuv420(field)
               ? fby_yuv_bytes(dims[1], dims[0])
               : elements(&field->shape) * fby_type_bytes(field->wire_type);
}

/* The bits of `value` in type `to`; integers are rounded and clamped. */
static uint32_t bits_in(enum fby_type to, float value)
{
    switch (to) {
    case FBY_F16:
        return fby_f32_to_f16(value);
    case FBY_BF16:
        return fby_f32_to_bf16(value);
    case FBY_F32:
        return fby_f32_bits(value);
    case FBY_U8:
        return (uint32_t)fby_f32_to_int(value, 0, UINT8_MAX);
    case FBY_U16:
        return (uint32_t)fby_f32_to_int(value, 0, UINT16_MAX);
    case FBY_U32:
        return (uint32_t)fby_f32_to_int(value, 0, UINT32_MAX);
    case FBY_BOOL:
        return (uint32_t)fby_f32_to_int(value, 0, 1);
    case FBY_I32:
    case FBY_I64:
        return (uint32_t)(int32_t)fby_f32_to_int(value, INT32_MIN, INT32_MAX);
    }
    return 0;
}

static void fill_tables(struct fby_expansion *self)
{
    for (uint32_t c = 0; c < self->channels; c++) {
        for (uint32_t v = 0; v < 256; v++) {
            float value = fby_affine((float)v, self->scale[c], self->offset[c]);
            self->table[c][v] = bits_in(self->to, value);
        }
    }
}

static void set_normalisation(
    struct fby_expansion *self, const struct fby_field_content *field)
{
    const struct fby_rgb8_field *rgb8 = &field->as.rgb8;
    for (uint32_t c = 0; c < FBY_MAX_CHANNELS; c++) {
        bool normal     = fby_field_is_normalized(field) && c < self->channels;
        self->scale[c]  = normal ? (float)(1.0 / (255.0 * rgb8->std[c])) : 1;
        self->offset[c] = normal ? (float)(-rgb8->mean[c] / rgb8->std[c]) : 0;
    }
}

/* With flips and normalize only, values come from the table. All other ops work
 * on the levels of a colour. */
static fby_err plan_ops(struct fby_expansion *self,
    const struct fby_field_content *field, struct fby_why *why)
{
    self->kind      = FBY_EXPAND_OPS;
    self->ops_field = field;
    self->ops       = fby_ops_plan_of(field);
    self->channels  = field->shape.dims[2];
    self->pixels    = field->shape.dims[0] * field->shape.dims[1];
    if (fby_type_bytes(self->to) > 4 ||
        (!self->ops.plain && self->to != FBY_U8 && !fby_is_real(self->to))) {
        return fby_because(why, FBY_CONFIG,
            "field %s: the device's ops make u8, f32, f16 or bf16", self->name);
    }
    set_normalisation(self, field);
    fill_tables(self);
    return FBY_OK;
}

static fby_err plan_image(struct fby_expansion *self,
    const struct fby_field_content *field, struct fby_why *why)
{
    self->kind     = FBY_EXPAND_AFFINE;
    self->channels = field->shape.dims[2];
    self->pixels   = field->shape.dims[0] * field->shape.dims[1];
    self->plane    = self->pixels;
    self->yuv420   = fby_field_is_yuv420(field);
    if (field->shape.n_dims != 3 || self->channels < 1 ||
        self->channels > FBY_MAX_CHANNELS || self->from != FBY_U8) {
        return fby_because(why, FBY_CONFIG,
            "field %s: an image is u8 [h, w, 1 to %d] on the wire", self->name,
            FBY_MAX_CHANNELS);
    }
    if (fby_field_is_normalized(field) && !fby_is_real(self->to)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: a normalised image needs dtype f32, f16 or bf16",
            self->name);
    }
    if (field->n_device > 0) {
        return plan_ops(self, field, why);
    }
    bool interleaved = self->layout != FBY_LAYOUT_CHW || self->channels == 1;
    if (self->to == FBY_U8 && interleaved && !self->yuv420) {
        self->kind = FBY_EXPAND_COPY;
        return FBY_OK;
    }
    if (fby_type_bytes(self->to) > 4 || self->to == FBY_BOOL) {
        return fby_because(why, FBY_CONFIG,
            "field %s: an image cannot be i64 or bool; i32 holds its values",
            self->name);
    }
    set_normalisation(self, field);
    fill_tables(self);
    return FBY_OK;
}

static fby_err plan_one_hot(struct fby_expansion *self,
    const struct fby_field_content *field, struct fby_why *why)
{
    const struct fby_label_field *label = &field->as.label;
    double share  = label->classes > 0 ? label->smoothing / label->classes : 0;
    self->kind    = FBY_EXPAND_ONE_HOT;
    self->classes = label->classes;
    if (label->classes == 0 || (!fby_is_real(self->to) && self->to != FBY_U8)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: one_hot needs its classes and dtype f32, f16, bf16 or "
            "u8",
            self->name);
    }
    if (self->to == FBY_U8 && label->smoothing != 0) {
        return fby_because(why, FBY_CONFIG,
            "field %s: smoothing needs dtype f32, f16 or bf16", self->name);
    }
    self->on        = bits_in(self->to, (float)(1 - label->smoothing + share));
    self->off       = bits_in(self->to, (float)share);
    self->out_bytes = (uint64_t)label->classes * fby_type_bytes(self->to);
    return FBY_OK;
}

static fby_err plan_scale(struct fby_expansion *self,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    const struct fby_shape *shape = &self->shape;
    uint32_t last  = shape->n_dims > 0 ? shape->dims[shape->n_dims - 1] : 1;
    self->kind     = FBY_EXPAND_SCALE;
    self->scaled   = true;
    self->channels = delivery->channels;
    if (!fby_is_real(self->to)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: scaled values need dtype f32, f16 or bf16", self->name);
    }
    if (self->channels == 0 || self->channels > FBY_MAX_FACTORS ||
        (self->channels > 1 && self->channels != last)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: scale and offset are one number, or one for each "
            "channel",
            self->name);
    }
    for (uint32_t c = 0; c < self->channels; c++) {
        self->scale[c]  = (float)delivery->scale[c];
        self->offset[c] = (float)delivery->offset[c];
    }
    return FBY_OK;
}

static fby_err plan_bits(struct fby_expansion *self,
    const struct fby_field_content *field, struct fby_why *why)
{
    const struct fby_shape *shape = &field->shape;
    self->kind                    = FBY_EXPAND_BITS;
    self->maps                    = fby_field_maps(field);
    if (shape->n_dims == 0 || self->from != FBY_U8 ||
        shape->dims[shape->n_dims - 1] != fby_bits_bytes(self->maps)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: %u maps are u8 with %u bytes in the last dimension",
            self->name, self->maps, fby_bits_bytes(self->maps));
    }
    if (!fby_is_real(self->to) && self->to != FBY_U8 && self->to != FBY_BOOL) {
        return fby_because(why, FBY_CONFIG,
            "field %s: bits need dtype u8, bool, f16, bf16 or f32", self->name);
    }
    if (self->layout != FBY_LAYOUT_HWC && shape->n_dims != 3) {
        return fby_because(why, FBY_CONFIG,
            "field %s: only bits of three dimensions have a layout",
            self->name);
    }
    self->pixels = (uint32_t)(self->raw_bytes / fby_bits_bytes(self->maps));
    self->out_bytes =
        (uint64_t)self->pixels * self->maps * fby_type_bytes(self->to);
    self->on  = bits_in(self->to, 1);
    self->off = bits_in(self->to, 0);
    return FBY_OK;
}

/* The bits of `pad` in type `to`, which can represent it. */
static uint64_t pad_bits(enum fby_type to, double pad)
{
    return fby_is_real(to) ? bits_in(to, (float)pad) : (uint64_t)(int64_t)pad;
}

static void plan_tensors(struct fby_expansion *self)
{
    bool     padded = self->kind == FBY_EXPAND_PADDED;
    uint32_t width  = fby_type_bytes(self->offsets);
    self->n_tensors = 2;
    self->tensors[0] =
        (struct fby_tensor_plan){"", self->to, self->out_bytes, 0};
    self->tensors[1] =
        padded
            ? (struct fby_tensor_plan){".lengths", FBY_I32, sizeof(int32_t), 0}
            : (struct fby_tensor_plan){".offsets", self->offsets, width, width};
}

/* Lengths of documents become one tensor of offsets, positions or a mask. */
static fby_err plan_documents(struct fby_expansion *self,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    static const enum fby_expand_kind kinds[] = {
        [FBY_AS_CU_SEQLENS] = FBY_EXPAND_CU_SEQLENS,
        [FBY_AS_POSITIONS]  = FBY_EXPAND_POSITIONS,
        [FBY_AS_MASK]       = FBY_EXPAND_MASK,
    };
    uint32_t width = fby_type_bytes(self->to);
    bool     mask  = delivery->as == FBY_AS_MASK;
    bool     right = mask ? fby_is_real(self->to) || width == 1
                          : self->to == FBY_I32 || self->to == FBY_I64;
    if (!self->documents || !right) {
        return fby_because(why, FBY_CONFIG,
            "field %s: cu_seqlens and positions are made of documents, as i32 "
            "or i64, and a mask, as bool, u8, f32, f16 or bf16",
            self->name);
    }
    self->kind       = kinds[delivery->as];
    self->on         = bits_in(self->to, 1);
    self->off        = bits_in(self->to, 0);
    self->tensors[0] = (struct fby_tensor_plan){"", self->to, self->out_bytes,
        self->kind == FBY_EXPAND_CU_SEQLENS ? width : 0};
    return FBY_OK;
}

static fby_err plan_rows(struct fby_expansion *self,
    const struct fby_field_content            *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    bool padded       = delivery->as == FBY_AS_PADDED;
    self->kind        = padded ? FBY_EXPAND_PADDED : FBY_EXPAND_RAGGED;
    self->max_length  = field->max_length;
    self->entry_bytes = self->raw_bytes / field->max_length;
    self->longest     = delivery->longest;
    self->offsets     = delivery->offsets;
    self->documents   = fby_field_values(field) == FBY_VALUES_LENGTHS;
    self->shift       = self->documents ? field->as.documents.shift : 0;
    if (delivery->as >= FBY_AS_CU_SEQLENS && delivery->as <= FBY_AS_MASK) {
        return plan_documents(self, delivery, why);
    }
    if ((!padded && delivery->as != FBY_AS_RAGGED) || delivery->scaled ||
        (delivery->offsets != FBY_I32 && delivery->offsets != FBY_I64)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: rows of several lengths become padded or ragged ones, "
            "with offsets i32 or i64",
            self->name);
    }
    if (!fby_type_takes(self->to, delivery->pad)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: pad %g is no value of its dtype", self->name,
            delivery->pad);
    }
    self->pad = pad_bits(self->to, delivery->pad);
    plan_tensors(self);
    return FBY_OK;
}

static void plan_sparse_tensors(struct fby_expansion *self)
{
    enum { COORDINATE = sizeof(int64_t) };
    uint64_t most        = self->max_length;
    uint64_t values      = most * fby_type_bytes(self->to);
    uint32_t width       = fby_type_bytes(self->offsets);
    uint64_t coordinates = (1 + self->shape.n_dims) * most * COORDINATE;
    if (self->kind == FBY_EXPAND_DENSE) {
        self->n_tensors = 1;
        self->tensors[0] =
            (struct fby_tensor_plan){"", self->to, self->out_bytes, 0};
    } else if (self->kind == FBY_EXPAND_CSR) {
        self->n_tensors  = 3;
        self->tensors[0] = (struct fby_tensor_plan){"", self->to, values, 0};
        self->tensors[1] =
            (struct fby_tensor_plan){".offsets", self->offsets, width, width};
        self->tensors[2] = (struct fby_tensor_plan){
            ".indices", self->offsets, most * width, 0};
    } else {
        self->n_tensors  = 2;
        self->tensors[0] = (struct fby_tensor_plan){"", self->to, values, 0};
        self->tensors[1] =
            (struct fby_tensor_plan){".indices", FBY_I64, coordinates, 0};
    }
}

static fby_err plan_sparse(struct fby_expansion *self,
    const struct fby_field_content              *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    bool csr          = delivery->as == FBY_AS_CSR;
    bool dense        = delivery->as == FBY_AS_DENSE;
    self->kind        = dense ? FBY_EXPAND_DENSE
                        : csr ? FBY_EXPAND_CSR
                              : FBY_EXPAND_COO;
    self->max_length  = field->max_length;
    self->entry_bytes = fby_type_bytes(self->from);
    self->index_bytes = fby_index_bytes(&field->shape);
    self->raw_bytes   = self->entry_bytes * field->max_length;
    self->offsets     = delivery->offsets;
    if ((!dense && !csr && delivery->as != FBY_AS_COO) || delivery->scaled ||
        delivery->longest || delivery->pad != 0 || self->to == FBY_BOOL ||
        (delivery->offsets != FBY_I32 && delivery->offsets != FBY_I64)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: sparse rows become dense, csr or coo, without padding; "
            "offsets are i32 or i64",
            self->name);
    }
    if (csr && self->shape.n_dims != 1) {
        return fby_because(why, FBY_CONFIG,
            "field %s: csr goes with a shape of one dimension; use coo, or "
            "dense",
            self->name);
    }
    plan_sparse_tensors(self);
    return FBY_OK;
}

/* True if a form is requested that only ragged fields have. */
static bool has_form(const struct fby_field_delivery *delivery)
{
    return delivery->as != 0 || delivery->longest || delivery->offsets != 0;
}

/* Only CHW of several channels moves values; channels_last has the memory of
 * HWC. */
static fby_err plan_layout(struct fby_expansion *self,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    const struct fby_shape *shape = &self->shape;
    if (delivery->layout != FBY_LAYOUT_CHW &&
        delivery->layout != FBY_LAYOUT_CHANNELS_LAST) {
        return FBY_OK;
    }
    if (shape->n_dims != 3) {
        return fby_because(why, FBY_CONFIG,
            "field %s: only images, and arrays of three dimensions, have a "
            "layout",
            self->name);
    }
    self->layout = delivery->layout;
    if (self->layout == FBY_LAYOUT_CHW && shape->dims[2] > 1) {
        self->kind   = FBY_EXPAND_PLANAR;
        self->pixels = shape->dims[0] * shape->dims[1];
    }
    return FBY_OK;
}

static fby_err plan_other(struct fby_expansion *self,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    self->kind = self->from == self->to ? FBY_EXPAND_COPY : FBY_EXPAND_CAST;
    if (self->to == FBY_BOOL) {
        return fby_because(
            why, FBY_CONFIG, "field %s: only bits become bool", self->name);
    }
    fby_err err = delivery->scaled ? plan_scale(self, delivery, why) : FBY_OK;
    return err == FBY_OK ? plan_layout(self, delivery, why) : err;
}

/* ---- by kind of field ---------------------------------------------------- */

typedef fby_err plan_fn(struct fby_expansion *self,
    const struct fby_field_content           *field,
    const struct fby_field_delivery *delivery, struct fby_why *why);

static fby_err plan_pictures(struct fby_expansion *self,
    const struct fby_field_content                *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    self->layout = delivery->layout;
    return plan_image(self, field, why);
}

static fby_err plan_masks(struct fby_expansion *self,
    const struct fby_field_content             *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    return field->n_device > 0 ? plan_ops(self, field, why)
                               : plan_other(self, delivery, why);
}

static fby_err plan_maps(struct fby_expansion *self,
    const struct fby_field_content            *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    self->layout = delivery->layout;
    return plan_bits(self, field, why);
}

static fby_err plan_labels(struct fby_expansion *self,
    const struct fby_field_content              *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    return field->as.label.one_hot ? plan_one_hot(self, field, why)
                                   : plan_other(self, delivery, why);
}

static fby_err plan_values(struct fby_expansion *self,
    const struct fby_field_content              *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    return field->max_length > 0 ? plan_rows(self, field, delivery, why)
                                 : plan_other(self, delivery, why);
}

static fby_err plan_arrays(struct fby_expansion *self,
    const struct fby_field_content              *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    return fby_field_maps(field) > 0 ? plan_maps(self, field, delivery, why)
                                     : plan_values(self, field, delivery, why);
}

static plan_fn *const plans[] = {
    [FBY_DECODE_RGB8]      = plan_pictures,
    [FBY_DECODE_LABEL]     = plan_labels,
    [FBY_DECODE_NUMBER]    = plan_values,
    [FBY_DECODE_BYTES]     = plan_values,
    [FBY_DECODE_MASK8]     = plan_masks,
    [FBY_DECODE_ARRAY]     = plan_arrays,
    [FBY_DECODE_TEXT]      = plan_rows,
    [FBY_DECODE_SPARSE]    = plan_sparse,
    [FBY_DECODE_MAPS]      = plan_maps,
    [FBY_DECODE_TOKENS]    = plan_values,
    [FBY_DECODE_DOCUMENTS] = plan_rows,
};

fby_err fby_expansion_init(struct fby_expansion *self,
    const struct fby_field_content              *field,
    const struct fby_field_delivery *delivery, struct fby_why *why)
{
    *self = (struct fby_expansion){
        .name      = field->name,
        .from      = field->wire_type,
        .to        = delivery->dtype,
        .layout    = FBY_LAYOUT_HWC,
        .shape     = field->shape,
        .raw_bytes = raw_bytes_of(field),
        .out_bytes = elements(&field->shape) * fby_type_bytes(delivery->dtype),
    };
    if (fby_type_bytes(self->from) == 0 || fby_type_bytes(self->to) == 0) {
        return fby_because(
            why, FBY_CONFIG, "field %s: no such dtype", self->name);
    }
    self->n_tensors = 1;
    if (fby_field_form(field) == FBY_FORM_DENSE && has_form(delivery)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: only rows of several lengths have another form",
            self->name);
    }
    return plans[field->decode](self, field, delivery, why);
}

fby_err fby_expansion_mix(struct fby_expansion *self,
    const struct fby_field_content             *label,
    const struct fby_field_content *image, struct fby_why *why)
{
    double smoothing = label->as.label.smoothing;
    double share     = smoothing / label->as.label.classes;
    if (!fby_is_real(self->to)) {
        return fby_because(why, FBY_CONFIG,
            "field %s: labels that %s mixes need dtype f32, f16 or bf16",
            self->name, image->name);
    }
    self->kind      = FBY_EXPAND_MIX;
    self->ops_field = image;
    self->on_value  = (float)(1 - smoothing + share);
    self->off_value = (float)share;
    return FBY_OK;
}

static uint32_t row_by_row(uint32_t n, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    for (uint32_t i = n; i-- > 0;) {
        strides[i] = step;
        step *= shape[i];
    }
    return n;
}

/* The last dimension of the tensor; bits are unpacked. */
static int64_t last_dim(const struct fby_expansion *self)
{
    return self->kind == FBY_EXPAND_BITS
               ? self->maps
               : self->shape.dims[self->shape.n_dims - 1];
}

/* Shape n, c, h, w; channels_last has the memory of HWC. */
static uint32_t planar(
    const struct fby_expansion *self, int64_t *shape, int64_t *strides)
{
    int64_t height = self->shape.dims[0];
    int64_t width  = self->shape.dims[1];
    int64_t depth  = last_dim(self);
    shape[1]       = depth;
    shape[2]       = height;
    shape[3]       = width;
    if (self->layout == FBY_LAYOUT_CHW) {
        return row_by_row(4, shape, strides);
    }
    strides[0] = height * width * depth;
    strides[1] = 1;
    strides[2] = width * depth;
    strides[3] = depth;
    return 4;
}

uint32_t fby_expansion_tensor(const struct fby_expansion *self, uint32_t rows,
    int64_t shape[FBY_EXPAND_DIMS], int64_t strides[FBY_EXPAND_DIMS])
{
    shape[0] = rows;
    if (self->kind == FBY_EXPAND_ONE_HOT || self->kind == FBY_EXPAND_MIX) {
        shape[1] = self->classes;
        return row_by_row(2, shape, strides);
    }
    if (self->layout != FBY_LAYOUT_HWC) {
        return planar(self, shape, strides);
    }
    for (uint32_t i = 0; i < self->shape.n_dims; i++) {
        shape[i + 1] = self->shape.dims[i];
    }
    if (self->shape.n_dims > 0) {
        shape[self->shape.n_dims] = last_dim(self);
    }
    return row_by_row(self->shape.n_dims + 1, shape, strides);
}

uint64_t fby_expansion_padded_to(
    const struct fby_expansion *self, const struct fby_ragged_offsets *rows)
{
    return self->longest ? rows->longest : self->shape.dims[0];
}

/* The tensors are values, offsets, indices; COO has coordinates second. */
static uint32_t sparse_tensor(const struct fby_expansion *self, uint32_t i,
    const struct fby_ragged_offsets *rows, int64_t *shape, int64_t *strides)
{
    if (self->kind == FBY_EXPAND_DENSE) {
        return fby_expansion_tensor(self, rows->n, shape, strides);
    }
    shape[0] = (int64_t)rows->total;
    if (i == 1 && self->kind == FBY_EXPAND_COO) {
        shape[0] = 1 + (int64_t)self->shape.n_dims;
        shape[1] = (int64_t)rows->total;
        return row_by_row(2, shape, strides);
    }
    if (i == 1) {
        shape[0] = (int64_t)rows->n + 1;
    }
    return row_by_row(1, shape, strides);
}

uint32_t fby_expansion_rows_tensor(const struct fby_expansion *self, uint32_t i,
    const struct fby_ragged_offsets *rows, int64_t shape[FBY_EXPAND_DIMS],
    int64_t strides[FBY_EXPAND_DIMS])
{
    if (self->index_bytes > 0) {
        return sparse_tensor(self, i, rows, shape, strides);
    }
    bool     padded = self->kind == FBY_EXPAND_PADDED;
    uint32_t n      = 1;
    shape[0]        = rows->n;
    if (self->kind == FBY_EXPAND_CU_SEQLENS) {
        shape[0] = (int64_t)rows->documents + 1;
        return row_by_row(1, shape, strides);
    }
    if (self->kind == FBY_EXPAND_POSITIONS || self->kind == FBY_EXPAND_MASK) {
        shape[1] = self->shape.dims[0];
        return row_by_row(2, shape, strides);
    }
    if (i > 0) {
        shape[0] += padded ? 0 : 1;
        return row_by_row(1, shape, strides);
    }
    if (padded) {
        shape[n++] = (int64_t)fby_expansion_padded_to(self, rows);
    } else {
        shape[0] = (int64_t)rows->total;
    }
    for (uint32_t d = 1; d < self->shape.n_dims; d++) {
        shape[n++] = self->shape.dims[d];
    }
    return row_by_row(n, shape, strides);
}
