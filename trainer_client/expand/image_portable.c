/* Images in portable C, channel by channel: each value is looked up in the
 * table of its channel, which holds the result's bits. So every dtype and
 * layout is the same loop with other strides and another width of a value. */
#include "trainer_client/expand/image.h"

struct channel_walk { /* one channel of one image */
    const uint8_t  *in;
    ptrdiff_t       in_step;  /* in values */
    size_t          out_step; /* in values */
    size_t          n;
    const uint32_t *table;
};

static void look_up_8(const struct channel_walk *l, uint8_t *out)
{
    for (size_t i = 0; i < l->n; i++) {
        out[i * l->out_step] =
            (uint8_t)l->table[l->in[(ptrdiff_t)i * l->in_step]];
    }
}

static void look_up_16(const struct channel_walk *l, uint16_t *out)
{
    for (size_t i = 0; i < l->n; i++) {
        out[i * l->out_step] =
            (uint16_t)l->table[l->in[(ptrdiff_t)i * l->in_step]];
    }
}

static void look_up_32(const struct channel_walk *l, uint32_t *out)
{
    for (size_t i = 0; i < l->n; i++) {
        out[i * l->out_step] = l->table[l->in[(ptrdiff_t)i * l->in_step]];
    }
}

static void look_up(const struct channel_walk *l, uint32_t width, void *out)
{
    if (width == 1) {
        look_up_8(l, out);
    } else if (width == 2) {
        look_up_16(l, out);
    } else {
        look_up_32(l, out);
    }
}

void fby_expand_pixels(const struct fby_expansion *plan, const uint8_t *raw,
    size_t first, uint8_t *out)
{
    bool     planar = plan->layout == FBY_LAYOUT_CHW;
    uint32_t width  = fby_type_bytes(plan->to);
    for (uint32_t c = 0; c < plan->channels; c++) {
        struct channel_walk walk = {
            .in       = raw + first * plan->channels + c,
            .in_step  = (ptrdiff_t)plan->channels,
            .out_step = planar ? 1 : plan->channels,
            .n        = plan->pixels - first,
            .table    = plan->table[c],
        };
        size_t at = planar ? (size_t)c * plan->plane + first
                           : first * plan->channels + c;
        look_up(&walk, width, out + at * width);
    }
}

void fby_expand_line(const struct fby_expansion *plan, const uint8_t *raw,
    bool mirrored, size_t first, uint8_t *out)
{
    bool      planar = plan->layout == FBY_LAYOUT_CHW;
    uint32_t  width  = fby_type_bytes(plan->to);
    ptrdiff_t step   = plan->channels;
    size_t    n      = plan->ops.width;
    for (uint32_t c = 0; c < plan->channels; c++) {
        struct channel_walk walk = {
            .in       = raw + (mirrored ? (n - 1) * plan->channels : 0) + c,
            .in_step  = mirrored ? -step : step,
            .out_step = planar ? 1 : plan->channels,
            .n        = n,
            .table    = plan->table[c],
        };
        size_t at = planar ? (size_t)c * plan->pixels + first
                           : first * plan->channels + c;
        look_up(&walk, width, out + at * width);
    }
}

void fby_expand_image_portable(const struct fby_expansion *plan,
    const uint8_t *raw, bool non_temporal, uint8_t *out)
{
    (void)non_temporal;
    fby_expand_pixels(plan, raw, 0, out);
}
