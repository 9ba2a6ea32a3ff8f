/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg_parts.c - check that libjpeg decodes parts of pictures correctly: decode
 * the whole picture once for each unit (1, 2, 4 or 8 pixels become one), and
 * compare parts with it.
 *
 * The parts begin and end within the groups of blocks that the library decodes
 * at a time, because the library had errors there. */
#include "worker/transform/self_check/jpeg_parts.h"

#include <string.h>

#include "worker/transform/self_check/probes.h"

/* The check of one file. */
struct parts_check {
    const struct fby_picture_file *file;
    struct fby_decoded_part        whole, part;
};

/* True if all rows of the part were delivered, with the pixels of `whole`.
 * There are no gaps between rows, so a stride is the bytes of a row. */
static bool equals_whole(
    const struct fby_decoded_part *part, const struct fby_decoded_part *whole)
{
    const struct fby_box *box    = &part->part.box;
    uint32_t              unit   = part->part.unit;
    const uint8_t        *corner = whole->image.pixels +
                            box->y / unit * whole->image.stride +
                            (size_t)(box->x / unit) * FBY_RGB;
    bool is_equal = part->n_ready == part->region.height;
    for (uint32_t y = 0; is_equal && y < part->n_ready; y++) {
        is_equal =
            memcmp(part->image.pixels + y * part->image.stride,
                corner + y * whole->image.stride, part->image.stride) == 0;
    }
    return is_equal;
}

/* Choose box `i` of a picture. Its offsets vary. Its width is 3/5, 4/5 or all
 * of the pixels after its offset, its height 3/4 or all of the rows below. */
static struct fby_box choose_box(
    const struct fby_picture_head *head, uint32_t i)
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

static fby_err check_part(
    struct parts_check *check, uint32_t i, struct fby_error_detail *why)
{
    check->part.part =
        (struct fby_picture_part){.box = choose_box(&check->whole.head, i),
            .unit                      = check->whole.part.unit};
    fby_err err = fby_picture_decode_part(&check->part, check->file, why);
    if (err == FBY_OK && !equals_whole(&check->part, &check->whole)) {
        const struct fby_box *box = &check->part.part.box;

        err = fby_error_set(why, FBY_USAGE,
            "the installed libjpeg decodes a part of a picture to other "
            "pixels than the whole (%u x %u at %u, %u of %u x %u, 1/%u); "
            "install libjpeg-turbo 2.1 or later",
            box->w, box->h, box->x, box->y, check->whole.head.width,
            check->whole.head.height, check->part.part.unit);
    }
    return err;
}

static fby_err check_unit(
    struct parts_check *check, uint32_t unit, struct fby_error_detail *why)
{
    enum { PARTS = 16 };
    check->whole.part = (struct fby_picture_part){.unit = unit};
    fby_err err = fby_picture_decode_part(&check->whole, check->file, why);
    for (uint32_t i = 0; i < PARTS && err == FBY_OK; i++) {
        err = check_part(check, i, why);
    }
    return err;
}

/* The largest unit to check. A picture that is stored turned or mirrored is
 * checked only at full size: with a larger unit, its decoded pixels are counted
 * from another edge, so a part has other pixels than the whole. */
static uint32_t largest_unit(const struct fby_picture_head *head)
{
    return head->is_scalable && head->orientation == 1 ? 8 : 1;
}

fby_err fby_jpeg_parts_check_file(const struct fby_picture_file *file,
    const struct fby_picture_decoder *decoder, struct fby_error_detail *why)
{
    struct parts_check check = {
        .file = file, .whole.decoder = decoder, .part.decoder = decoder};
    fby_err err = check_unit(&check, 1, why);
    for (uint32_t unit = 2;
         err == FBY_OK && unit <= largest_unit(&check.whole.head); unit *= 2) {
        err = check_unit(&check, unit, why);
    }
    fby_scratch_fini(&check.whole.memory);
    fby_scratch_fini(&check.part.memory);
    return err;
}

fby_err fby_jpeg_parts_check(struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < fby_n_jpeg_probes && err == FBY_OK; i++) {
        err = fby_jpeg_parts_check_file(
            &fby_jpeg_probes[i], &fby_jpeg_picture, why);
    }
    return err;
}
