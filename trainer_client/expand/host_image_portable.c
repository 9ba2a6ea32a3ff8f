/* SPDX-License-Identifier: Apache-2.0 */
/* host_image_portable.c - expand images in portable C.
 *
 * The table of a channel has the output bits of each level. So one loop serves
 * all layouts, and all types of the same width. */
#include "trainer_client/expand/host.h"

#include <string.h>

struct channel_pixels { /* consecutive pixels of one channel */
    const uint8_t  *in;
    ptrdiff_t       in_step;  /* bytes from a pixel to the next */
    size_t          out_step; /* values from a pixel to the next */
    size_t          n;        /* pixels */
    const uint32_t *table;
};

#define LOOK_UP(name, type)                                                    \
    static void name(const struct channel_pixels *p, uint8_t *out)             \
    {                                                                          \
        for (size_t i = 0; i < p->n; i++) {                                    \
            type value = (type)p->table[p->in[(ptrdiff_t)i * p->in_step]];     \
            memcpy(                                                            \
                out + i * p->out_step * sizeof(value), &value, sizeof(value)); \
        }                                                                      \
    }
LOOK_UP(look_up_8, uint8_t)
LOOK_UP(look_up_16, uint16_t)
LOOK_UP(look_up_32, uint32_t)
#undef LOOK_UP

/* Expand `n` pixels, which begin at `raw` and are `step` bytes apart. They
 * become the pixels from number `first` on of the picture at `out`. */
static void look_up(const struct fby_expansion *plan, const uint8_t *raw,
    ptrdiff_t step, size_t n, size_t first, uint8_t *out)
{
    bool     planar = plan->layout == FBY_LAYOUT_CHW;
    uint32_t width  = fby_type_bytes(plan->to);
    for (uint32_t c = 0; c < plan->channels; c++) {
        const struct channel_pixels pixels = {
            raw + c, step, planar ? 1 : plan->channels, n, plan->table[c]};
        size_t   first_value = planar ? (size_t)c * plan->plane + first
                                      : first * plan->channels + c;
        uint8_t *start       = out + first_value * width;
        if (width == 1) {
            look_up_8(&pixels, start);
        } else if (width == 2) {
            look_up_16(&pixels, start);
        } else {
            look_up_32(&pixels, start);
        }
    }
}

void fby_expand_pixels(const struct fby_expansion *plan, const uint8_t *raw,
    size_t first, uint8_t *out)
{
    look_up(plan, raw + first * plan->channels, plan->channels,
        plan->pixels - first, first, out);
}

void fby_expand_line(const struct fby_expansion *plan, const uint8_t *raw,
    bool mirrored, size_t first, uint8_t *out)
{
    ptrdiff_t pixel_bytes = plan->channels;
    size_t    n           = plan->ops.width;
    /* A mirrored line is read from its last pixel on, with a negative step. */
    look_up(plan, raw + (mirrored ? (n - 1) * plan->channels : 0),
        mirrored ? -pixel_bytes : pixel_bytes, n, first, out);
}

void fby_expand_image_portable(const struct fby_expansion *plan,
    const uint8_t *raw, bool non_temporal, uint8_t *out)
{
    (void)non_temporal;
    fby_expand_pixels(plan, raw, 0, out);
}

bool fby_levels_are_unchanged(const struct fby_expansion *plan)
{
    bool unchanged = true;
    for (uint32_t c = 0; c < 3; c++) {
        unchanged = unchanged && plan->scale[c] == 1 && plan->offset[c] == 0;
    }
    return unchanged;
}
