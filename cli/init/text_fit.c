/* SPDX-License-Identifier: Apache-2.0 */
/* text_fit.c - masks of another size than their pictures, among the samples
 * that were measured. One of nearly the same aspect ratio is probably the
 * same scene, saved in another size, and is stretched. Any other is probably
 * that of another picture. One with the size of its picture before the EXIF
 * rotation is never stretched. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/text_state.h"
#include "pipeline/text.h"
#include "worker/transform/orient.h"

struct pair { /* a mask and its picture in one sample */
    const struct fby_init_member *picture, *mask;
    size_t                        sample;
};

static struct fby_size size_of(const struct pair *pair)
{
    return pair->picture->sizes[pair->sample];
}

static struct fby_size mask_size_of(const struct pair *pair)
{
    return pair->mask->sizes[pair->sample];
}

static bool differ(const struct pair *pair)
{
    struct fby_size a = size_of(pair);
    struct fby_size b = mask_size_of(pair);
    return a.w != 0 && b.w != 0 && (a.w != b.w || a.h != b.h);
}

/* Do the aspect ratios differ by more than 2 %, and than a pixel by rounding? */
static bool differ_in_aspect(const struct pair *pair)
{
    struct fby_size a     = size_of(pair);
    struct fby_size b     = mask_size_of(pair);
    double          x     = (double)a.h * b.w;
    double          y     = (double)b.h * a.w;
    double          pixel = a.w > a.h ? a.w : a.h;
    return differ(pair) && fabs(x - y) > pixel && fabs(x - y) > 0.02 * x;
}

/* Has the mask the size of the picture before its EXIF rotation? */
static bool has_size_before_rotation(const struct pair *pair)
{
    struct fby_size a = size_of(pair);
    struct fby_size b = mask_size_of(pair);
    return differ(pair) && a.w == b.h && a.h == b.w &&
           fby_orientation_turns(pair->picture->orientations[pair->sample]);
}

/* Find a pair of the image and the mask that `is_wanted`. Returns false if there
 * is none. */
static bool find_pair(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *mask,
    bool (*is_wanted)(const struct pair *pair), struct pair           *out)
{
    for (size_t i = 0; i < data->n_members; i++) {
        *out = (struct pair){.picture = &data->members[i], .mask = mask};
        if (!fby_init_is_same_image(data, image, out->picture)) {
            continue;
        }
        for (; out->sample < FBY_INIT_SIZES; out->sample++) {
            if (is_wanted(out)) {
                return true;
            }
        }
    }
    return false;
}

enum { SIZES_SIZE = 80 };

/* Find a mask of another size than its picture, and write both sizes: "96 x 80
 * pixels, its picture 48 x 40". Returns false if there is none. */
static bool find_other_size(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *mask,
    size_t *sample, char sizes[SIZES_SIZE])
{
    struct pair pair;
    if (!find_pair(data, image, mask, differ, &pair)) {
        return false;
    }
    struct fby_size a = size_of(&pair);
    struct fby_size b = mask_size_of(&pair);
    snprintf(sizes, SIZES_SIZE, "%u x %u pixels, its picture %u x %u", b.w, b.h,
        a.w, a.h);
    *sample = pair.sample;
    return true;
}

void fby_init_append_fit(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image,
    const struct fby_init_member *mask)
{
    char   sizes[SIZES_SIZE];
    size_t sample = 0;
    if (find_other_size(data, image, mask, &sample, sizes)) {
        fby_init_printf(out,
            "    fit: stretch            # sample %zu: the mask has %s\n",
            sample, sizes);
    }
}

void fby_init_append_fit_note(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image,
    const struct fby_init_member *mask)
{
    char   sizes[SIZES_SIZE];
    size_t sample = 0;
    if (find_other_size(data, image, mask, &sample, sizes)) {
        fby_init_printf(out,
            "note: %s: a mask has %s, so masks are stretched (fit: stretch)\n",
            mask->extension, sizes);
    }
}

enum { FILE_SIZE = FBY_SHOWN_SIZE + FBY_NAME_SIZE + 16 };

/* Write the file of the member in the sample: "masks/7.png", "7.mask.png", or in
 * a list "line 7, mask.png". */
static void write_file(const struct fby_init_summary *data, size_t sample,
    const struct fby_init_member *member, char out[FILE_SIZE])
{
    const char *extension = member->extension;
    size_t      n         = strcspn(extension, ".");
    const char *key =
        data->measured_keys != NULL ? data->measured_keys[sample] : "";
    struct fby_shown shown = fby_text_show_begin(key, 32);
    if (data->kind == FBY_SOURCE_PARALLEL) {
        snprintf(out, FILE_SIZE, "%.*s/%s%s", (int)n, extension, shown.text,
            extension + n);
    } else if (data->kind == FBY_SOURCE_LIST) {
        snprintf(out, FILE_SIZE, "line %s, %s", shown.text, extension);
    } else {
        snprintf(out, FILE_SIZE, "%s.%s", shown.text, extension);
    }
}

static fby_err refuse_pair(const struct fby_init_summary *data,
    const struct pair *pair, struct fby_error_detail *why)
{
    struct fby_size a         = size_of(pair);
    struct fby_size b         = mask_size_of(pair);
    bool            is_turned = b.w == a.h && b.h == a.w;
    char            picture[FILE_SIZE];
    char            mask[FILE_SIZE];
    write_file(data, pair->sample, pair->picture, picture);
    write_file(data, pair->sample, pair->mask, mask);
    return fby_error_set(why, FBY_CONFIG,
        "%s has %u x %u pixels, its picture %s %u x %u: %s", mask, b.w, b.h,
        picture, a.w, a.h,
        is_turned
            ? "rotate the masks by the EXIF orientation of the pictures; if "
              "they are masks of other pictures, correct the pairs"
            : "correct the pairs, or, if both show the same scene, give "
              "init --stretch");
}

fby_err fby_init_refuse_sizes(
    const struct fby_init_summary *data, struct fby_error_detail *why)
{
    const struct fby_init_member *image = fby_init_find_image(data);
    struct pair                   pair;
    for (size_t i = 0; image != NULL && i < data->n_members; i++) {
        const struct fby_init_member *mask = &data->members[i];
        if (fby_init_is_mask(data, image, mask) &&
            (find_pair(data, image, mask, has_size_before_rotation, &pair) ||
                (!data->allow_stretch &&
                    find_pair(data, image, mask, differ_in_aspect, &pair)))) {
            return refuse_pair(data, &pair, why);
        }
    }
    return FBY_OK;
}

/* Is the picture turned, and does the size of the mask not tell whether it lies as the
 * picture is stored, or upright? */
static bool may_lie_otherwise(const struct pair *pair)
{
    uint32_t        orientation = pair->picture->orientations[pair->sample];
    struct fby_size a           = size_of(pair);
    return orientation > 1 && (orientation < 5 || a.w == a.h) &&
           mask_size_of(pair).w != 0;
}

void fby_init_append_orientation_note(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image,
    const struct fby_init_member *mask)
{
    struct pair pair;
    char        picture_file[FILE_SIZE];
    char        mask_file[FILE_SIZE];
    if (find_pair(data, image, mask, may_lie_otherwise, &pair)) {
        write_file(data, pair.sample, pair.picture, picture_file);
        write_file(data, pair.sample, pair.mask, mask_file);
        fby_init_printf(out,
            "note: %s has the EXIF orientation %u and is turned upright, but "
            "its mask %s is not: turn such masks, too, unless they are upright "
            "already\n",
            picture_file, pair.picture->orientations[pair.sample], mask_file);
    }
}
