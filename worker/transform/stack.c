/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - decode a field of several masks (decode: maps): each pixel of the
 * result has one bit for each mask, set if the mask's pixel is not 0.
 *
 * The masks are decoded one after another. Each goes through the ops like a
 * field of one mask, with the same random draws as the others. Then its bits
 * are set in the result. */
#include <string.h>

#include "worker/transform/decoders.h"
#include "worker/transform/picture_format.h"
#include "worker/transform/transform_private.h"

/* Return file i, which begins at *next, and move *next to the file after it.
 * An error that follows is about this file. */
static struct fby_picture_file next_file(
    const struct fby_field_job *job, uint32_t i, const uint8_t **next)
{
    if (job->bad_file != NULL) {
        *job->bad_file = i;
    }
    struct fby_picture_file file = {*next, (size_t)job->sizes[i]};
    *next += file.size;
    return file;
}

static fby_err read_head(const struct fby_field_job *job,
    const struct fby_picture_file *file, struct fby_picture_head *out,
    struct fby_error_detail *why)
{
    const struct fby_picture_decoder *decoder = NULL;
    fby_err err = fby_picture_decoder_for(job->field, file, &decoder, why);
    return err == FBY_OK ? decoder->head(file, out, why) : err;
}

/* Check that all masks have the size of the first. */
static fby_err check_sizes(
    const struct fby_field_job *job, struct fby_error_detail *why)
{
    const uint8_t          *next  = job->bytes;
    struct fby_picture_head first = {0};
    for (uint32_t i = 0; i < job->field->n_from; i++) {
        struct fby_picture_file file = next_file(job, i, &next);
        struct fby_picture_head head = {0};
        fby_err                 err  = read_head(job, &file, &head, why);
        if (err != FBY_OK) {
            return fby_error_prefix(why, err, ".%s", job->field->from[i]);
        }
        first = i == 0 ? head : first;
        if (head.width != first.width || head.height != first.height) {
            return fby_error_set(why, FBY_BAD_SAMPLE,
                ".%s has %u x %u pixels, .%s %u x %u; masks of one field have "
                "one size",
                job->field->from[0], first.width, first.height,
                job->field->from[i], head.width, head.height);
        }
    }
    return FBY_OK;
}

/* Set bit number `bit` in the pixels of `dst` where the mask is not 0. The last
 * dimension of the shape is the number of bytes of a pixel. */
static void set_bits(const struct fby_shape *shape, const uint8_t *mask,
    uint32_t bit, uint8_t *dst)
{
    size_t pixels = (size_t)shape->dims[0] * shape->dims[1];
    for (size_t p = 0; p < pixels; p++) {
        unsigned is_set = mask[p] != 0;
        dst[p * shape->dims[2] + bit / 8] |= (uint8_t)(is_set << (bit % 8));
    }
}

static fby_err write_masks(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *mask, uint8_t *dst,
    struct fby_error_detail *why)
{
    const uint8_t *next = job->bytes;
    for (uint32_t i = 0; i < job->field->n_from; i++) {
        struct fby_picture_file file     = next_file(job, i, &next);
        struct fby_field_job    mask_job = *job;
        mask_job.bytes                   = file.bytes;
        mask_job.size                    = file.size;
        fby_err err = fby_picture_write(transform, &mask_job, mask, why);
        if (err != FBY_OK) {
            return fby_error_prefix(why, err, ".%s", job->field->from[i]);
        }
        set_bits(&job->field->shape, mask, i, dst);
    }
    return FBY_OK;
}

/* The memory of the mask is not reserved from the quota, because the field's
 * shape limits it. The next sample reuses this memory, unless it is larger than
 * half of what a thread may keep. */
fby_err fby_stack_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    const uint32_t     *dims = job->field->shape.dims;
    struct fby_scratch *mask = &transform->mask;
    fby_err             err  = check_sizes(job, why);
    if (err != FBY_OK) {
        return err;
    }
    if (fby_scratch_grow(mask, (size_t)dims[0] * dims[1]) != FBY_OK) {
        return fby_error_set(why, FBY_FULL,
            "no memory for a mask of %u x %u pixels", dims[1], dims[0]);
    }
    memset(dst, 0, fby_field_bytes(job->field));
    err = write_masks(transform, job, mask->memory, dst, why);
    if (mask->size_bytes > transform->limits.share / 2) {
        fby_scratch_fini(mask);
    }
    return err;
}
