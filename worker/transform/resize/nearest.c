#include "worker/transform/resize/nearest.h"

/* The source pixel of result pixel `o`. */
static uint32_t source_of(const struct fby_axis_spec *axis, uint32_t o)
{
    uint64_t at       = axis->first + (axis->mirror ? axis->n - 1 - o : o);
    uint64_t position = axis->reversed ? axis->to - 1 - at : at;
    uint64_t pixel = (2 * position + 1) * axis->from / (UINT64_C(2) * axis->to);
    return (uint32_t)(axis->reversed ? axis->from - 1 - pixel : pixel);
}

struct fby_reach fby_nearest_resize_reach(const struct fby_axis_spec *axis)
{
    uint32_t a = source_of(axis, axis->mirror ? axis->n - 1 : 0);
    uint32_t b = source_of(axis, axis->mirror ? 0 : axis->n - 1);
    return (struct fby_reach){a, b - a + 1};
}

void fby_nearest_resize_begin(struct fby_nearest_resize *self,
    const struct fby_resize_spec *spec, const struct fby_image *out)
{
    *self = (struct fby_nearest_resize){.spec = *spec,
        .out                                  = *out,
        .left = fby_nearest_resize_reach(&spec->x).first,
        .row  = fby_nearest_resize_reach(&spec->y).first};
}

void fby_nearest_resize_row(struct fby_nearest_resize *self, const uint8_t *row)
{
    uint32_t here = self->row++;
    while (self->made < self->spec.y.n &&
           source_of(&self->spec.y, self->made) == here) {
        uint8_t *out = self->out.pixels + self->made++ * self->out.stride;
        for (uint32_t x = 0; x < self->spec.x.n; x++) {
            out[x] = row[source_of(&self->spec.x, x) - self->left];
        }
    }
}
