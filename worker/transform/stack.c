/* stack.c - combine several masks of one size into one bit each.
 *
 * Each file is decoded and run through the ops by itself, as a mask of ids. All
 * files get the same draws. Then each pixel becomes one bit, set if it is not
 * 0. So only the part of a file that a crop needs is unpacked. */
#include <string.h>

#include "pipeline/derived.h"
#include "worker/transform/field.h"
#include "worker/transform/picture.h"
#include "worker/transform/scratch.h"

/* The file of member i, which begins at *at; sets *at to the next one. */
static struct fby_picture_file file_of(
    const struct fby_field_job *job, uint32_t i, const uint8_t **at)
{
    struct fby_picture_file file = {*at, (size_t)job->sizes[i]};
    *at += file.size;
    return file;
}

static fby_err read_head(const struct fby_field_job *job,
    const struct fby_picture_file *file, struct fby_picture_head *out,
    struct fby_why *why)
{
    const struct fby_picture_decoder *decoder = NULL;
    fby_err err = fby_picture_decoder_for(job->field, file, &decoder, why);
    return err == FBY_OK ? decoder->head(file, out, why) : err;
}

static fby_err check_sizes(const struct fby_field_job *job, struct fby_why *why)
{
    const uint8_t          *at    = job->bytes;
    struct fby_picture_head first = {0};
    for (uint32_t i = 0; i < job->field->n_from; i++) {
        struct fby_picture_file file = file_of(job, i, &at);
        struct fby_picture_head head = {0};
        fby_err                 err  = read_head(job, &file, &head, why);
        if (err != FBY_OK) {
            return fby_because_in(why, err, ".%s", job->field->from[i]);
        }
        first = i == 0 ? head : first;
        if (head.width != first.width || head.height != first.height) {
            return fby_because(why, FBY_BAD_SAMPLE,
                ".%s has %u x %u pixels, .%s %u x %u; masks of one field have "
                "one size",
                job->field->from[0], first.width, first.height,
                job->field->from[i], head.width, head.height);
        }
    }
    return FBY_OK;
}

static void add_bits(
    const struct fby_image *plane, uint32_t map, uint32_t step, uint8_t *dst)
{
    size_t pixels = (size_t)plane->width * plane->height;
    dst += map / 8;
    for (size_t p = 0; p < pixels; p++) {
        unsigned bit = plane->pixels[p] != 0;
        dst[p * step] |= (uint8_t)(bit << (map % 8));
    }
}

static fby_err write_maps(struct fby_transform *transform,
    const struct fby_field_job *job, const struct fby_image *plane,
    uint8_t *dst, struct fby_why *why)
{
    const uint8_t *at  = job->bytes;
    fby_err        err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < job->field->n_from; i++) {
        struct fby_picture_file file = file_of(job, i, &at);
        struct fby_field_job    one  = *job;
        one.bytes                    = file.bytes;
        one.size                     = file.size;
        err = fby_picture_write(transform, &one, *plane, why);
        if (err != FBY_OK) {
            return fby_because_in(why, err, ".%s", job->field->from[i]);
        }
        add_bits(plane, i, fby_bits_bytes(job->field->as.maps.n), dst);
    }
    return FBY_OK;
}

/* The plane has the size of the field, not of a file, so it is allocated first.
 */
fby_err fby_stack_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    const struct fby_shape *shape = &job->field->shape;
    struct fby_size         size  = {shape->dims[1], shape->dims[0]};
    struct fby_image        plane;
    fby_err                 err = check_sizes(job, why);
    if (err != FBY_OK) {
        return err;
    }
    err = fby_image_of(&transform->plane, size, 1, &plane);
    if (err != FBY_OK) {
        return fby_because(
            why, err, "no memory for a mask of %u x %u pixels", size.w, size.h);
    }
    memset(dst, 0, fby_field_bytes(job->field));
    err = write_maps(transform, job, &plane, dst, why);
    if (transform->plane.size_bytes > transform->limits.share / 2) {
        fby_scratch_fini(&transform->plane);
    }
    return err;
}
