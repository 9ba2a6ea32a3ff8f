/* picture.c - decode a whole picture. */
#include "worker/transform/picture.h"

#include <string.h>

struct whole_picture {
    struct fby_scratch *scratch;
    struct fby_image    image;
    uint32_t            channels;
    uint32_t            ready; /* rows */
};

static fby_err take_whole(void *arg, const struct fby_picture_head *head,
    struct fby_picture_part *part, struct fby_why *why)
{
    struct whole_picture *whole = arg;
    struct fby_size       size  = {head->width, head->height};
    part->box                   = (struct fby_box){.w = size.w, .h = size.h};
    whole->channels             = head->channels;
    fby_err err =
        fby_image_of(whole->scratch, size, head->channels, &whole->image);
    return err == FBY_OK ? FBY_OK
                         : fby_because(why, err,
                               "no memory for a picture of %u x %u pixels",
                               head->width, head->height);
}

static void copy_rows(void *arg, const struct fby_image *rows)
{
    struct whole_picture *whole = arg;
    for (uint32_t y = 0; y < rows->height; y++) {
        memcpy(whole->image.pixels + whole->ready++ * whole->image.stride,
            rows->pixels + y * rows->stride,
            (size_t)rows->width * whole->channels);
    }
}

fby_err fby_picture_decode(const struct fby_picture_decoder *decoder,
    const struct fby_picture_file *file, struct fby_scratch *whole,
    struct fby_image *out, struct fby_why *why)
{
    struct whole_picture          all        = {.scratch = whole};
    const struct fby_picture_sink sink       = {take_whole, copy_rows, &all};
    struct fby_scratch            scratch[2] = {{0}};
    fby_err err = decoder->stream(file, &sink, scratch, why);
    fby_scratch_fini(&scratch[0]);
    fby_scratch_fini(&scratch[1]);
    if (err == FBY_OK) {
        *out = all.image;
    }
    return err;
}
