/* SPDX-License-Identifier: Apache-2.0 */
/* field.c - sizes of fields, and the writer of picture fields.
 *
 * The decoder of the file format reads the header and calls on_head, which
 * plans the ops and reserves the memory that the picture needs. Then the
 * decoder calls on_rows, which passes rows of pixels to the first op. */
#include "worker/transform/field.h"

#include "common/yuv420.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/plan/draw.h"
#include "worker/transform/apply.h"
#include "worker/transform/decoders.h"
#include "worker/transform/picture_format.h"
#include "worker/transform/transform_private.h"
#include "worker/transform/yuv.h"

size_t fby_field_bytes(const struct fby_field_content *field)
{
    if (fby_field_is_yuv420(field)) {
        return (size_t)fby_yuv_bytes(
            field->shape.dims[1], field->shape.dims[0]);
    }
    size_t bytes = fby_type_bytes(field->wire_type);
    if (fby_field_form(field) == FBY_FORM_SPARSE) {
        return bytes * field->max_length;
    }
    for (uint32_t i = 0; i < field->shape.n_dims && i < FBY_MAX_DIMS; i++) {
        bytes *= field->shape.dims[i];
    }
    return bytes;
}

size_t fby_field_index_bytes(const struct fby_field_content *field)
{
    return fby_field_form(field) == FBY_FORM_SPARSE
               ? (size_t)field->max_length * fby_bytes_per_index(&field->shape)
               : 0;
}

/* ---- planning a picture -------------------------------------------------- */

static struct fby_shape picture_shape(uint32_t width, uint32_t height)
{
    return (struct fby_shape){.n_dims = 3, .dims = {height, width, FBY_RGB}};
}

/* Plan op i for a picture of `shape`, and set `shape` to that of its result. */
static fby_err plan_op(const struct fby_field_job *job, uint32_t i,
    struct fby_shape *shape, struct fby_op_plan *plan,
    struct fby_error_detail *why)
{
    const struct fby_op_use *use = &job->field->ops[i];
    struct fby_draw draw = fby_draw_begin(job->seed, job->epoch, job->sample,
        job->field->group, use->op->name, use->occurrence);
    fby_err         err  = use->op->plan(use, &draw, *shape, plan, why);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_size size = fby_op_plan_size(plan); /* after the steps */
    if ((uint64_t)size.w * size.h > FBY_PICTURE_MAX_PIXELS ||
        (uint64_t)plan->out_w * plan->out_h > FBY_PICTURE_MAX_PIXELS) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "%s makes a picture of %u x %u pixels; at most %llu are allowed",
            use->op->name, size.w, size.h,
            (unsigned long long)FBY_PICTURE_MAX_PIXELS);
    }
    *shape = picture_shape(size.w, size.h);
    return FBY_OK;
}

/* Plan all ops for a picture of out->width x out->height. */
static fby_err plan_ops(const struct fby_field_job *job,
    struct fby_field_plan *out, struct fby_error_detail *why)
{
    struct fby_shape shape = picture_shape(out->width, out->height);
    for (uint32_t i = 0; i < job->field->n_ops; i++) {
        fby_err err = plan_op(job, i, &shape, &out->plans[i], why);
        if (err != FBY_OK) {
            return err;
        }
    }
    out->n_ops                     = job->field->n_ops;
    const struct fby_shape *wanted = &job->field->shape;
    if (shape.dims[0] != wanted->dims[0] || shape.dims[1] != wanted->dims[1]) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "the ops make %u x %u pixels of this picture, the field has %u x "
            "%u",
            shape.dims[1], shape.dims[0], wanted->dims[1], wanted->dims[0]);
    }
    return FBY_OK;
}

fby_err fby_field_plan(const struct fby_field_job *job,
    struct fby_field_plan *out, struct fby_error_detail *why)
{
    *out = (struct fby_field_plan){0};
    if (!fby_field_kind(job->field)->is_picture) {
        return FBY_OK;
    }
    size_t size = job->sizes != NULL ? (size_t)job->sizes[0] : job->size;
    struct fby_picture_file           file = {job->bytes, size};
    struct fby_picture_head           head = {0};
    const struct fby_picture_decoder *decoder;
    fby_err err = fby_picture_decoder_for(job->field, &file, &decoder, why);
    if (err == FBY_OK) {
        err = decoder->head(&file, &head, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    out->width  = head.width;
    out->height = head.height;
    return plan_ops(job, out, why);
}

/* ---- pictures ------------------------------------------------------------ */

/* A picture that is being decoded: the argument of on_head and on_rows. */
struct picture_work {
    struct fby_transform             *transform;
    const struct fby_field_job       *job;
    const struct fby_picture_decoder *decoder;
    struct fby_image                  out; /* the caller's picture */
    struct fby_chain                  chain;
};

/* A picture may be decoded smaller if it is then still at least this many times
 * as wide and high as its result; 0: never. */
static uint32_t min_oversize(const struct fby_field_content *field)
{
    if (!fby_field_has_colours(field)) {
        return 0;
    }
    switch (field->as.rgb8.dct_scale) {
    case FBY_DCT_FAITHFUL:
        return 2;
    case FBY_DCT_FAST:
        return 1;
    case FBY_DCT_OFF:
        break;
    }
    return 0;
}

/* The box of the first pass, and the unit at which to decode it: one decoded
 * pixel stands for unit x unit pixels. */
static struct fby_picture_part wanted_part(
    const struct picture_work *work, const struct fby_picture_head *head)
{
    const struct fby_pass *pass     = &work->chain.passes.list[0];
    uint32_t               oversize = min_oversize(work->job->field);
    return (struct fby_picture_part){
        .box   = pass->box,
        .unit  = oversize > 0 && head->is_scalable
                     ? fby_pass_largest_unit(pass, oversize)
                     : 1,
        .ycbcr = work->chain.ycbcr,
    };
}

/* Reserve the memory to decode this part and to run the links. */
static fby_err reserve_memory(struct picture_work *work,
    const struct fby_picture_head *head, const struct fby_picture_part *part,
    const struct fby_source_scale *scale, struct fby_error_detail *why)
{
    struct fby_picture_need decoder = work->decoder->need(head, part);
    struct fby_need         need    = {
                   .decoded       = {decoder.scratch[0], decoder.scratch[1]},
                   .library_bytes = head->library_bytes,
    };
    fby_chain_raise_need(&work->chain, scale, &need);
    if (fby_field_is_yuv420(work->job->field)) {
        need.before_yuv = fby_image_bytes(work->out.width, work->out.height);
    }
    return fby_transform_reserve(work->transform, &need, why);
}

/* Begin the chain. For yuv420 its result gets a buffer, because the conversion
 * to planes needs the whole result. */
static fby_err begin_chain(
    struct picture_work *work, const struct fby_source_scale *scale)
{
    fby_err err = FBY_OK;
    if (fby_field_is_yuv420(work->job->field)) {
        struct fby_size size = {work->out.width, work->out.height};

        err = fby_image_alloc(
            &work->transform->before_yuv, size, FBY_RGB, &work->chain.out);
    }
    return err == FBY_OK ? fby_chain_begin(work->transform, &work->chain, scale)
                         : err;
}

/* Plan the ops, reserve the memory, and begin the first pass. */
static fby_err on_head(void *arg, const struct fby_picture_head *head,
    struct fby_picture_part *part, struct fby_error_detail *why)
{
    struct picture_work  *work = arg;
    struct fby_field_plan plan = {.width = head->width, .height = head->height};
    if (work->job->picture_size != NULL) {
        *work->job->picture_size = (struct fby_size){head->width, head->height};
    }
    fby_err err = plan_ops(work->job, &plan, why);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_planned_ops ops = {
        work->job->field->ops, plan.plans, plan.n_ops};
    struct fby_chain_input in = {
        .size     = {head->width, head->height},
        .channels = head->channels,
        .ycbcr    = fby_field_is_yuv420(work->job->field) && head->is_ycbcr,
    };
    err = fby_chain_plan(&ops, in, &work->out, &work->chain, why);
    if (err != FBY_OK) {
        return err;
    }
    /* The chain counts decoded pixels from the corner of the pass's whole box.
     * So `scale` is computed before the box is reduced to the pixels that the
     * pass reads. */
    *part                            = wanted_part(work, head);
    struct fby_picture_region region = work->decoder->region(head, part);
    struct fby_source_scale   scale  = {
           part->unit, region.offset_x, region.offset_y};
    part->box = fby_chain_source_box(&work->chain, &scale);
    err       = reserve_memory(work, head, part, &scale, why);
    return err == FBY_OK ? begin_chain(work, &scale) : err;
}

static void on_rows(void *arg, const struct fby_image *rows)
{
    struct picture_work *work = arg;
    fby_chain_add_rows(work->transform, &work->chain, rows);
}

/* Run the links after the first pass, and convert a yuv420 result to planes. */
static fby_err end_chain(struct picture_work *work, uint8_t *dst)
{
    const struct fby_image *result = &work->chain.out;
    fby_err                 err = fby_chain_end(work->transform, &work->chain);
    if (err == FBY_OK && fby_field_is_yuv420(work->job->field)) {
        if (!work->chain.ycbcr) {
            fby_yuv_from_rgb(
                result->pixels, (size_t)result->width * result->height);
        }
        fby_yuv_write_planes(result, dst);
    }
    return err;
}

fby_err fby_picture_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    const uint32_t *dims    = job->field->shape.dims;
    bool            is_mask = fby_field_values(job->field) == FBY_VALUES_IDS;
    size_t          stride  = (size_t)dims[1] * (is_mask ? 1 : FBY_RGB);
    struct picture_work work; /* large, so not zeroed; on_head sets `chain` */
    work.transform = transform;
    work.job       = job;
    work.out       = (struct fby_image){dst, stride, dims[1], dims[0]};
    const struct fby_picture_sink sink = {on_head, on_rows, &work};
    const struct fby_picture_file file = {job->bytes, job->size};

    fby_err err =
        fby_picture_decoder_for(job->field, &file, &work.decoder, why);
    if (err != FBY_OK) {
        return err;
    }
    err = work.decoder->stream(&file, &sink, transform->decoded, why);
    if (err == FBY_OK) {
        err = end_chain(&work, dst);
    }
    fby_transform_release(transform);
    return err;
}
