/* jpeg_parts.c - decode the whole picture once for each unit, and compare parts
 * with it.
 *
 * The parts do not begin and end at the groups of blocks that the library
 * decodes at a time, since it had errors there. */
#include "worker/transform/self_check/jpeg_parts.h"

#include <string.h>

#include "worker/transform/self_check/probes.h"

/* A part of a picture and its decoded pixels. */
struct decoded_part {
    struct fby_picture_part   part; /* empty box: the whole picture */
    struct fby_picture_head   head;
    struct fby_picture_region region;
    struct fby_scratch        memory;
    struct fby_image          image;
    uint32_t                  ready; /* rows */
};

static fby_err take_head(void *arg, const struct fby_picture_head *head,
    struct fby_picture_part *part, struct fby_why *why)
{
    struct decoded_part *taken = arg;
    (void)why;
    if (taken->part.box.w == 0) {
        taken->part.box = (struct fby_box){.w = head->width, .h = head->height};
    }
    *part         = taken->part;
    taken->head   = *head;
    taken->region = fby_jpeg_region(head, part);
    taken->ready  = 0;
    return fby_image_of(&taken->memory,
        (struct fby_size){taken->region.width, taken->region.height}, FBY_RGB,
        &taken->image);
}

static void take_rows(void *arg, const struct fby_image *rows)
{
    struct decoded_part *taken = arg;
    for (uint32_t y = 0; y < rows->height; y++) {
        memcpy(taken->image.pixels + taken->ready++ * taken->image.stride,
            rows->pixels + y * rows->stride, taken->image.stride);
    }
}

/* The check of one file. */
struct parts_check {
    const struct fby_picture_file *file;
    fby_picture_stream            *decode;
    struct fby_scratch             memory[2];
    struct decoded_part            whole, part;
};

static fby_err decode(
    struct parts_check *check, struct decoded_part *into, struct fby_why *why)
{
    const struct fby_picture_sink sink = {take_head, take_rows, into};
    return check->decode(check->file, &sink, check->memory, why);
}

static bool is_in_whole(
    const struct decoded_part *part, const struct decoded_part *whole)
{
    const struct fby_box *box  = &part->part.box;
    uint32_t              unit = part->part.unit;
    const uint8_t        *at   = whole->image.pixels +
                        box->y / unit * whole->image.stride +
                        (size_t)(box->x / unit) * FBY_RGB;
    bool same = part->ready == part->region.height;
    for (uint32_t y = 0; same && y < part->ready; y++) {
        same = memcmp(part->image.pixels + y * part->image.stride,
                   at + y * whole->image.stride, part->image.stride) == 0;
    }
    return same;
}

/* Box `i` of a picture: at unaligned offsets, with sides of 3/5 to all and 3/4 to all
 * of the rest. */
static struct fby_box box_of(const struct fby_picture_head *head, uint32_t i)
{
    struct fby_box box = {
        .x = head->width * (i % 4) / 7 + (i > 0),
        .y = head->height * (i / 4 % 4) / 6 + (i > 0),
    };
    box.w = (head->width - box.x) * (3 + i % 3) / 5;
    box.h = (head->height - box.y) * (3 + i % 2) / 4;
    box.w = box.w > 0 ? box.w : 1;
    box.h = box.h > 0 ? box.h : 1;
    return box;
}

static fby_err try_part(
    struct parts_check *check, uint32_t i, struct fby_why *why)
{
    check->part.part = (struct fby_picture_part){
        box_of(&check->whole.head, i), check->whole.part.unit, false};
    fby_err err = decode(check, &check->part, why);
    if (err == FBY_OK && !is_in_whole(&check->part, &check->whole)) {
        const struct fby_box *box = &check->part.part.box;

        err = fby_because(why, FBY_USAGE,
            "the installed libjpeg decodes a part of a picture to other "
            "pixels than the whole (%u x %u at %u, %u of %u x %u, 1/%u); "
            "install libjpeg-turbo 2.1 or later",
            box->w, box->h, box->x, box->y, check->whole.head.width,
            check->whole.head.height, check->part.part.unit);
    }
    return err;
}

static fby_err try_unit(
    struct parts_check *check, uint32_t unit, struct fby_why *why)
{
    enum { PARTS = 16 };
    check->whole.part = (struct fby_picture_part){.unit = unit};
    fby_err err       = decode(check, &check->whole, why);
    for (uint32_t i = 0; i < PARTS && err == FBY_OK; i++) {
        err = try_part(check, i, why);
    }
    return err;
}

/* Parts of a picture with another orientation are aligned in the stored rows.
 * With a larger unit they begin elsewhere, so it is checked only in full size.
 */
static uint32_t largest_unit(const struct fby_picture_head *head)
{
    return head->is_scalable && head->orientation == 1 ? 8 : 1;
}

fby_err fby_jpeg_parts_check_file(const struct fby_picture_file *file,
    fby_picture_stream *decode_fn, struct fby_why *why)
{
    struct parts_check check = {.file = file, .decode = decode_fn};
    fby_err            err   = try_unit(&check, 1, why);
    for (uint32_t unit = 2;
         err == FBY_OK && unit <= largest_unit(&check.whole.head); unit *= 2) {
        err = try_unit(&check, unit, why);
    }
    fby_scratch_fini(&check.memory[0]);
    fby_scratch_fini(&check.memory[1]);
    fby_scratch_fini(&check.whole.memory);
    fby_scratch_fini(&check.part.memory);
    return err;
}

fby_err fby_jpeg_parts_check(struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < fby_n_probes && err == FBY_OK; i++) {
        err = fby_jpeg_parts_check_file(&fby_probes[i], fby_jpeg_stream, why);
    }
    return err;
}
