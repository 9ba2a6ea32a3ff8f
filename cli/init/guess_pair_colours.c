/* SPDX-License-Identifier: Apache-2.0 */
/* guess_pair_colours.c - which of some folders has only pictures with fewer colours
 * than those of the others: masks, sketches and alpha mattes beside photos.
 *
 * The pixels decide, because many masks are stored with three channels. Those of
 * a JPEG file differ a little from what was stored. */
#include <stdlib.h>

#include "cli/init/guess_members.h"
#include "cli/init/guess_pairs.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/transform/picture_format.h"

enum {
    MAX_FILE   = 64 << 20, /* bytes of a picture that is looked at */
    MAX_PIXELS = 64 << 20, /* the same in pixels */
    TOLERANCE  = 16        /* of JPEG, in a channel */
};

enum colours { UNKNOWN, TWO_GREYS, GREYS, COLOURS };

struct seen_pixels {
    bool    has_colours;
    bool    has_greys; /* others than those of `least` and `most` */
    uint8_t least, most;
};

static int distance(int a, int b)
{
    return abs(a - b);
}

static void look_at_pixel(const uint8_t *rgb, struct seen_pixels *seen)
{
    seen->has_colours = seen->has_colours ||
                        distance(rgb[0], rgb[1]) > TOLERANCE ||
                        distance(rgb[1], rgb[2]) > TOLERANCE;
    seen->has_greys =
        seen->has_greys || (distance(rgb[1], seen->least) > TOLERANCE &&
                               distance(rgb[1], seen->most) > TOLERANCE);
}

static void look_at_image(
    const struct fby_image *image, struct seen_pixels *out)
{
    out->least = UINT8_MAX;
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = image->pixels + y * image->stride;
        for (uint32_t x = 0; x < image->width; x++) {
            uint8_t grey = row[3 * x + 1];
            out->least   = grey < out->least ? grey : out->least;
            out->most    = grey > out->most ? grey : out->most;
        }
    }
    for (uint32_t y = 0; y < image->height; y++) {
        for (uint32_t x = 0; x < image->width; x++) {
            look_at_pixel(
                image->pixels + y * image->stride + (size_t)3 * x, out);
        }
    }
}

static enum colours colours_of(const struct fby_picture_file *file)
{
    static const struct fby_field_content field = {
        .decode = FBY_DECODE_RGB8, .from = {"jpg", "png", "webp"}, .n_from = 3};
    const struct fby_picture_decoder *decoder;
    struct fby_scratch                memory  = {.memory = NULL};
    struct fby_image                  image   = {.height = 0};
    struct seen_pixels                seen    = {.has_colours = false};
    struct fby_picture_head           head    = {.width = 0};
    enum colours                      colours = UNKNOWN;
    if (fby_picture_decoder_for(&field, file, &decoder, NULL) == FBY_OK &&
        decoder->head(file, &head, NULL) == FBY_OK &&
        (uint64_t)head.width * head.height <= MAX_PIXELS &&
        fby_picture_decode(decoder, file, &memory, &image, NULL) == FBY_OK) {
        look_at_image(&image, &seen);
        colours = seen.has_colours ? COLOURS
                  : seen.has_greys ? GREYS
                                   : TWO_GREYS;
    }
    fby_scratch_fini(&memory);
    return colours;
}

/* The colours of the picture at `path`. A palette of ids has them only by name. */
static enum colours read_colours(const struct fby_root *root, const char *path)
{
    struct fby_object object;
    struct fby_stamp  stamp;
    enum colours      colours = UNKNOWN;
    if (fby_object_open_stamped(root, path, &object, &stamp, NULL) != FBY_OK) {
        return UNKNOWN;
    }
    if (stamp.size <= MAX_FILE) {
        uint8_t *data = fby_zalloc((size_t)stamp.size + 1); /* + 1: not 0 */
        const struct fby_picture_file file = {data, (size_t)stamp.size};
        if (fby_object_read(&object, 0, data, (size_t)stamp.size, NULL) ==
            FBY_OK) {
            colours = colours_of(&file);
        }
        free(data);
    }
    fby_object_close(&object);
    return colours == COLOURS && fby_guess_may_be_ids(root, path) ? GREYS
                                                                  : colours;
}

/* The most colours of a file in the folder; UNKNOWN: one cannot be read. */
static enum colours most_colours(const struct fby_search *search,
    const char *path, const struct fby_paired_files *files)
{
    enum colours most = TWO_GREYS;
    for (uint32_t i = 0; most != UNKNOWN && i < files->n; i++) {
        char         below[FBY_PATH_SIZE];
        enum colours colours = UNKNOWN;
        if (fby_path_join(path, files->paths[i], below, NULL) == FBY_OK) {
            colours = read_colours(search->root, below);
        }
        most = colours == UNKNOWN || colours > most ? colours : most;
    }
    return files->n > 0 ? most : UNKNOWN;
}

bool fby_guess_has_plain_folder(const struct fby_search *search,
    const char *path, const struct fby_paired_files *folders, uint32_t n)
{
    enum colours least   = COLOURS;
    uint32_t     n_least = 0;
    for (uint32_t i = 0; i < n; i++) {
        enum colours colours = most_colours(search, path, &folders[i]);
        if (colours == UNKNOWN) {
            return false;
        }
        n_least = colours < least ? 1 : n_least + (colours == least ? 1 : 0);
        least   = colours < least ? colours : least;
    }
    return n_least == 1;
}
