/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - resize a mask by the nearest pixel: when a source row arrives,
 * write all result rows that copy it. */
#include "worker/transform/resize/nearest.h"

/* The source pixel that wanted result pixel `o` copies. */
static uint32_t source_pixel(const struct fby_axis_spec *axis, uint32_t o)
{
    /* Counted among all result pixels of the axis, not only the wanted ones. */
    uint64_t position = axis->first + (axis->mirror ? axis->n - 1 - o : o);
    position          = axis->reversed ? axis->to - 1 - position : position;
    uint64_t pixel = (2 * position + 1) * axis->from / (UINT64_C(2) * axis->to);
    return (uint32_t)(axis->reversed ? axis->from - 1 - pixel : pixel);
}

struct fby_reach fby_nearest_resize_reach(const struct fby_axis_spec *axis)
{
    uint32_t first = source_pixel(axis, axis->mirror ? axis->n - 1 : 0);
    uint32_t last  = source_pixel(axis, axis->mirror ? 0 : axis->n - 1);
    return (struct fby_reach){first, last - first + 1};
}

void fby_nearest_resize_begin(struct fby_nearest_resize *self,
    const struct fby_resize_spec *spec, const struct fby_image *out)
{
    *self = (struct fby_nearest_resize){.spec = *spec,
        .out                                  = *out,
        .first_column = fby_nearest_resize_reach(&spec->x).first,
        .next_row     = fby_nearest_resize_reach(&spec->y).first};
}

void fby_nearest_resize_add_row(
    struct fby_nearest_resize *self, const uint8_t *row)
{
    uint32_t y = self->next_row++;
    while (self->rows_out < self->spec.y.n &&
           source_pixel(&self->spec.y, self->rows_out) == y) {
        uint8_t *out = self->out.pixels + self->rows_out++ * self->out.stride;
        for (uint32_t x = 0; x < self->spec.x.n; x++) {
            out[x] = row[source_pixel(&self->spec.x, x) - self->first_column];
        }
    }
}
