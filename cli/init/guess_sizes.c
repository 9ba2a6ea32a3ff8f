/* SPDX-License-Identifier: Apache-2.0 */
/* guess_sizes.c - the sizes of the pictures and masks of the first samples, and
 * the ids of the masks. A mask of another size than its picture needs `fit:
 * stretch`; one of 0 and 255 is probably meant as 0 and 1. An array of the size of
 * its picture belongs to the pixels of all of it. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/init/guess_members.h"
#include "cli/init/names.h"
#include "common/mem.h"
#include "worker/transform/picture_format.h"

enum { MAX_FILE = 64 << 20 }; /* bytes of a picture that is measured */

bool fby_guess_has_masks(const struct fby_guess_split *split)
{
    uint32_t pictures = 0;
    uint32_t ids      = 0;
    for (uint32_t i = 0; i < split->n_members; i++) {
        bool is_picture = fby_init_is_picture(&split->members[i]);
        pictures += is_picture ? 1 : 0;
        ids += is_picture && split->members[i].may_be_ids ? 1 : 0;
    }
    return ids > 0 && pictures > 1;
}

bool fby_guess_is_picture_file(const struct fby_root *root, const char *path)
{
    static const struct fby_field_content field = {
        .decode = FBY_DECODE_RGB8, .from = {"jpg", "png", "webp"}, .n_from = 3};
    const struct fby_picture_decoder *decoder;
    struct fby_object                 object;
    uint8_t                           head[32] = {0};
    size_t                            n        = sizeof(head);
    if (fby_object_open(root, path, &object, NULL) != FBY_OK) {
        return false;
    }
    fby_err err = fby_object_read_some(&object, 0, head, &n, NULL);
    fby_object_close(&object);
    const struct fby_picture_file file = {head, n};
    return err == FBY_OK &&
           fby_picture_decoder_for(&field, &file, &decoder, NULL) == FBY_OK;
}

/* The size of the upright picture in a file, and its orientation; {0, 0}: it is
 * none. */
static struct fby_size size_of_picture(
    const struct fby_picture_file *file, uint32_t *orientation)
{
    static const struct fby_field_content field = {
        .decode = FBY_DECODE_RGB8, .from = {"jpg", "png", "webp"}, .n_from = 3};
    const struct fby_picture_decoder *decoder;
    struct fby_picture_head           head = {0};
    if (fby_picture_decoder_for(&field, file, &decoder, NULL) != FBY_OK ||
        decoder->head(file, &head, NULL) != FBY_OK) {
        return (struct fby_size){0, 0};
    }
    *orientation = head.orientation;
    return (struct fby_size){head.width, head.height};
}

/* Note which ids are in the mask in a file, if it can be decoded. */
static void read_ids(
    const struct fby_picture_file *file, struct fby_init_member *member)
{
    static const struct fby_field_content field = {
        .decode = FBY_DECODE_MASK8, .from = {"png"}, .n_from = 1};
    const struct fby_picture_decoder *decoder;
    struct fby_scratch                memory = {.memory = NULL};
    struct fby_image                  mask   = {.height = 0};
    if (fby_picture_decoder_for(&field, file, &decoder, NULL) != FBY_OK ||
        fby_picture_decode(decoder, file, &memory, &mask, NULL) != FBY_OK) {
        mask.height = 0;
    }
    for (uint32_t y = 0; y < mask.height; y++) {
        for (uint32_t x = 0; x < mask.width; x++) {
            uint8_t id      = mask.pixels[y * mask.stride + x];
            member->has_255 = member->has_255 || id == 255;
            member->has_other_ids =
                member->has_other_ids || (id != 0 && id != 255);
        }
    }
    fby_scratch_fini(&memory);
}

/* The size of the picture in member `m`, and its orientation. Reads its ids, too, if
 * it may have some. */
static struct fby_size read_member(const struct fby_shard *shard, uint32_t m,
    const struct fby_member_opener *opener, struct fby_init_member *member,
    uint32_t *orientation)
{
    struct fby_size        size  = {0, 0};
    struct fby_member_file file  = {.offset = 0};
    size_t                 bytes = (size_t)shard->member_bytes[m];
    if (shard->member_bytes[m] > MAX_FILE ||
        opener->open(opener->arg, shard, m, &file, NULL) != FBY_OK) {
        return size;
    }
    uint8_t *data = fby_zalloc(bytes + 1); /* + 1: not 0 */
    if (fby_object_read(&file.object, file.offset, data, bytes, NULL) ==
        FBY_OK) {
        const struct fby_picture_file picture = {data, bytes};
        size = size_of_picture(&picture, orientation);
        if (member->may_be_ids) {
            read_ids(&picture, member);
        }
    }
    free(data);
    fby_object_close(&file.object);
    return size;
}

/* Measure the pictures of sample `i` of the shard. */
static void read_sample(struct fby_guess_split *split,
    const struct fby_shard *shard, uint32_t i,
    const struct fby_member_opener *opener)
{
    for (uint32_t m = shard->first_member[i]; m < shard->first_member[i + 1];
         m++) {
        struct fby_init_member *member =
            fby_guess_find_member(split, fby_shard_suffix(shard, m));
        if (member != NULL && !fby_shard_is_value(shard, m) &&
            fby_init_is_picture(member)) {
            member->sizes[i] =
                read_member(shard, m, opener, member, &member->orientations[i]);
        }
    }
}

/* Has each sample arrays, which may have the sizes of the pictures? */
static bool has_arrays(const struct fby_guess_split *split)
{
    uint32_t i = 0;
    while (i < split->n_members &&
           !fby_init_has_type(split->members[i].extension, "npy")) {
        i++;
    }
    return i < split->n_members;
}

void fby_guess_read_sizes(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener)
{
    bool has_masks = fby_guess_has_masks(split);
    if (has_masks) {
        fby_guess_check_masks(split, shard, opener);
    }
    if (!has_masks && !has_arrays(split)) {
        return;
    }
    if (split->sizes_read) {
        return;
    }
    split->sizes_read = true;
    for (uint32_t i = 0; i < shard->n_samples && i < FBY_INIT_SIZES; i++) {
        snprintf(split->measured_keys[i], sizeof(split->measured_keys[i]), "%s",
            fby_shard_key(shard, i));
        read_sample(split, shard, i, opener);
    }
}
