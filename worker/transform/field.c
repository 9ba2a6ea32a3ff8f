/* field.c - a picture is planned from its size, then decoded and run through
 * its ops; the other decoders are in scalar.c.
 *
 * The plans are made twice over the same code, from the header for
 * `forebay plan` and from the decoded picture here: the sides agree, since
 * both come from the file's own head. */
#include "worker/transform/field.h"

#include "common/clock.h"
#include "common/plan/draw.h"
#include "worker/transform/jpeg.h"
#include "worker/transform/scalar.h"
#include "worker/transform/workshop.h"

size_t fby_field_bytes(const struct fby_field_content *field)
{
    size_t bytes = fby_type_bytes(field->wire_type);
    for (uint32_t i = 0; i < field->shape.n_dims && i < FBY_MAX_DIMS; i++) {
        bytes *= field->shape.dims[i];
    }
    return bytes;
}

static struct fby_shape picture_shape(uint32_t width, uint32_t height)
{
    return (struct fby_shape){.n_dims = 3, .dims = {height, width, FBY_RGB}};
}

static fby_err plan_op(const struct fby_field_job *job, uint32_t i,
    struct fby_shape *shape, struct fby_op_plan *plan, struct fby_why *why)
{
    const struct fby_op_use *use = &job->field->ops[i];
    struct fby_draw draw = fby_draw_begin(job->seed, job->epoch, job->sample,
        job->field->group, use->op->name, use->occurrence);
    fby_err         err  = use->op->plan(use, &draw, *shape, plan, why);
    if (err != FBY_OK) {
        return err;
    }
    if ((uint64_t)plan->out_w * plan->out_h > FBY_JPEG_MAX_PIXELS) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "%s makes a picture of %u x %u pixels; at most %llu are allowed",
            use->op->name, plan->out_w, plan->out_h,
            (unsigned long long)FBY_JPEG_MAX_PIXELS);
    }
    *shape = picture_shape(plan->out_w, plan->out_h);
    return FBY_OK;
}

/* The plans of all ops for a picture of out->width x out->height. */
static fby_err plan_ops(const struct fby_field_job *job,
    struct fby_field_plan *out, struct fby_why *why)
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
        return fby_because(why, FBY_BAD_SAMPLE,
            "the ops make a picture of %u x %u pixels of this one, the field "
            "has %u x %u",
            shape.dims[1], shape.dims[0], wanted->dims[1], wanted->dims[0]);
    }
    return FBY_OK;
}

fby_err fby_field_plan(const struct fby_field_job *job,
    struct fby_field_plan *out, struct fby_why *why)
{
    *out = (struct fby_field_plan){0};
    if (job->field->decode != FBY_DECODE_RGB8) {
        return FBY_OK;
    }
    struct fby_jpeg_file file = {job->bytes, job->size};
    fby_err err = fby_jpeg_size(&file, &out->width, &out->height, why);
    return err == FBY_OK ? plan_ops(job, out, why) : err;
}

static fby_err decode(struct fby_transform *transform,
    const struct fby_field_job *job, struct fby_image *out, struct fby_why *why)
{
    struct fby_jpeg_file file  = {job->bytes, job->size};
    int64_t              began = fby_thread_cpu_ns();
    fby_err err = fby_jpeg_decode(&file, transform->decoded, out, why);
    fby_transform_charge(
        transform, FBY_COST_DECODE, fby_thread_cpu_ns() - began);
    return err;
}

static fby_err write_picture(struct fby_transform *transform,
    const struct fby_field_job *job, struct fby_image out, struct fby_why *why)
{
    struct fby_image picture = {0};
    fby_err          err     = decode(transform, job, &picture, why);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_field_plan plan = {
        .width = picture.width, .height = picture.height};
    err = plan_ops(job, &plan, why);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_op_run run = {job->field->ops, plan.plans, plan.n_ops};
    return fby_transform_run(transform, &run, picture, out, why);
}

static struct fby_image picture_at(
    uint8_t *dst, const struct fby_field_content *field)
{
    uint32_t height = field->shape.dims[0];
    uint32_t width  = field->shape.dims[1];
    return (struct fby_image){dst, (size_t)width * FBY_RGB, width, height};
}

fby_err fby_field_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    fby_err err;
    switch (job->field->decode) {
    case FBY_DECODE_RGB8:
        err = write_picture(transform, job, picture_at(dst, job->field), why);
        fby_transform_rest(transform);
        return err;
    case FBY_DECODE_LABEL:
        return fby_label_write(job, dst, why);
    case FBY_DECODE_NUMBER:
        return fby_number_write(job, dst, why);
    case FBY_DECODE_BYTES:
        return fby_bytes_write(job, dst, why);
    }
    return fby_because(why, FBY_USAGE, "no decoder has the number %d",
        (int)job->field->decode);
}
