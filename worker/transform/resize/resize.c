/* SPDX-License-Identifier: Apache-2.0 */
/* resize.c - scale row by row, in two passes.
 *
 * A source row is scaled in x when it arrives, and stored in a ring buffer. A
 * result row is computed as soon as the ring has all rows of its reach (the
 * source rows it depends on). An axis that keeps its size is copied. */
#include "worker/transform/resize/resize.h"

#include <string.h>

#include "worker/transform/resize/kernel.h"

_Static_assert((int)RESIZE_SLACK <= (int)FBY_RESIZE_ROW_SLACK,
    "kernels read no further than callers allow");

enum {
    ALIGN      = 64, /* bytes: each part of the memory begins at a multiple */
    EXTRA_ROWS = 3   /* pointers that kernels read after those of a reach */
};

/* A unit of 1 means that the source was decoded at its full size. */
struct fby_resize_spec fby_resize_spec_whole(
    const struct fby_image *in, const struct fby_image *out)
{
    return (struct fby_resize_spec){
        .x = {.from = in->width, .to = out->width, .n = out->width, .unit = 1},
        .y = {.from = in->height,
            .to     = out->height,
            .n      = out->height,
            .unit   = 1},
    };
}

static size_t aligned(size_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

/* The offsets of the parts of a resizer's memory, and the size of all parts.
 * The axis data of x (reaches and weights) are at 0. */
struct layout {
    size_t y_axis, x_plan, y_plan, ring_rows, ring, row_copy, size;
};

static size_t ring_stride(const struct fby_resize_spec *spec)
{
    return aligned((size_t)spec->x.n * FBY_RGB + RESIZE_SLACK);
}

static size_t row_bytes(const struct fby_axis_spec *x)
{
    return (size_t)fby_axis_pixels(x) * FBY_RGB;
}

static struct layout layout_of(
    const struct fby_resize_spec *spec, const struct resize_kernel *kernel)
{
    size_t        ring_n = fby_axis_max_reach(&spec->y);
    struct layout layout = {.y_axis = aligned(fby_axis_memory_bytes(&spec->x))};
    layout.x_plan    = layout.y_axis + aligned(fby_axis_memory_bytes(&spec->y));
    layout.y_plan    = layout.x_plan + aligned(kernel->x_plan_bytes(&spec->x));
    layout.ring_rows = layout.y_plan + aligned(kernel->y_plan_bytes(&spec->y));
    layout.ring      = layout.ring_rows +
                  aligned((2 * ring_n + EXTRA_ROWS) * sizeof(uint8_t *));
    layout.row_copy = layout.ring + ring_n * ring_stride(spec);
    layout.size     = layout.row_copy + row_bytes(&spec->x) + RESIZE_SLACK;
    return layout;
}

uint64_t fby_resize_memory_bytes(const struct fby_resize_spec *spec)
{
    return layout_of(spec, resize_kernel_for(fby_simd_level())).size;
}

/* List all rows of the ring twice. Then the rows of a reach are adjacent in the
 * list even if the reach continues at the start of the ring. A kernel that
 * reads four rows at a time reads up to EXTRA_ROWS entries more. */
static void list_ring_rows(struct fby_resizer *self)
{
    for (uint32_t i = 0; i < 2 * self->n_ring + EXTRA_ROWS; i++) {
        self->ring_rows[i] = self->ring + i % self->n_ring * self->ring_stride;
    }
}

/* Divide self->memory into parts, and fill those that depend only on `spec`. */
static void plan_memory(
    struct fby_resizer *self, const struct fby_resize_spec *spec)
{
    uint8_t      *memory = self->memory.memory;
    struct layout layout = layout_of(spec, self->kernel);
    self->x              = fby_axis_plan(&spec->x, memory);
    self->y              = fby_axis_plan(&spec->y, memory + layout.y_axis);
    self->x.kernel_plan  = memory + layout.x_plan;
    self->y.kernel_plan  = memory + layout.y_plan;
    self->ring_rows      = (void *)(memory + layout.ring_rows);
    self->ring           = memory + layout.ring;
    self->row_copy       = memory + layout.row_copy;
    self->ring_stride    = ring_stride(spec);
    self->n_ring         = self->y.max_reach;
    self->kernel->x_write_plan(&self->x);
    self->kernel->y_write_plan(&self->y);
    list_ring_rows(self);
}

/* True if the pixels of the axis are copied as they are. */
static bool keeps_pixels(const struct fby_axis_spec *axis)
{
    return axis->from == axis->to && axis->unit == 1 && !axis->mirror;
}

static void scale_source_row(
    struct fby_resizer *self, const uint8_t *row, uint8_t *out)
{
    if (keeps_pixels(&self->x.spec)) {
        memcpy(out, row, (size_t)self->x.spec.n * FBY_RGB);
    } else {
        self->kernel->scale_x(&self->x, row, out);
    }
}

/* Compute result row `o`. */
static void write_row(struct fby_resizer *self, uint32_t o)
{
    size_t                size  = (size_t)self->out.width * FBY_RGB;
    uint8_t              *out   = self->out.pixels + o * self->out.stride;
    uint32_t              first = self->y.reaches[o].first;
    const uint8_t *const *rows  = self->ring_rows + first % self->n_ring;
    if (keeps_pixels(&self->y.spec)) {
        memcpy(out, rows[0], size);
    } else {
        self->kernel->scale_y(&self->y, o, rows, size, out);
    }
}

void fby_resizer_add_row(struct fby_resizer *self, const uint8_t *row)
{
    uint32_t i = self->rows_in++;
    scale_source_row(
        self, row, self->ring + i % self->n_ring * self->ring_stride);
    for (; self->rows_out < self->y.spec.n; self->rows_out++) {
        const struct fby_reach *reach = &self->y.reaches[self->rows_out];
        if (reach->first + reach->n > self->rows_in) {
            break; /* more source rows are needed */
        }
        write_row(self, self->rows_out);
    }
}

static bool is_valid_axis(const struct fby_axis_spec *axis)
{
    bool sides_fit = axis->from >= 1 && axis->from <= FBY_RESIZE_MAX_SIDE &&
                     axis->to >= 1 && axis->to <= FBY_RESIZE_MAX_SIDE;
    bool wanted_fit = axis->n >= 1 && axis->first < axis->to &&
                      axis->n <= axis->to - axis->first;
    bool unit_fits =
        axis->unit >= 1 && axis->unit <= 8 && axis->offset < axis->unit;
    return sides_fit && wanted_fit && unit_fits;
}

fby_err fby_resizer_begin(struct fby_resizer *self,
    const struct fby_resize_spec *spec, const struct fby_image *out)
{
    if (!is_valid_axis(&spec->x) || !is_valid_axis(&spec->y) ||
        spec->x.n != out->width || spec->y.n != out->height) {
        return FBY_USAGE;
    }
    uint64_t bytes = fby_resize_memory_bytes(spec);
    if (bytes > FBY_RESIZE_MAX_BYTES) {
        return FBY_FULL;
    }
    fby_err err = fby_scratch_grow(&self->memory, bytes);
    if (err != FBY_OK) {
        return err;
    }
    self->kernel = resize_kernel_for(fby_simd_level());
    self->out    = *out;
    plan_memory(self, spec);
    self->rows_in  = 0;
    self->rows_out = 0;
    return FBY_OK;
}

/* Return row `y` of `in` with RESIZE_SLACK readable bytes after it. The last
 * rows of the picture lack these bytes, and are copied. */
static const uint8_t *row_with_slack(
    struct fby_resizer *self, const struct fby_image *in, uint32_t y)
{
    const uint8_t *row = in->pixels + y * in->stride;
    if ((in->height - 1 - y) * in->stride >= RESIZE_SLACK) {
        return row;
    }
    memcpy(self->row_copy, row, (size_t)in->width * FBY_RGB);
    return self->row_copy;
}

fby_err fby_resize(struct fby_resizer *self, const struct fby_image *in,
    const struct fby_resize_spec *spec, const struct fby_image *out)
{
    if (fby_axis_pixels(&spec->x) != in->width ||
        fby_axis_pixels(&spec->y) != in->height) {
        return FBY_USAGE;
    }
    fby_err err = fby_resizer_begin(self, spec, out);
    if (err != FBY_OK) {
        return err;
    }
    size_t first_pixel = (size_t)self->x.used.first * FBY_RGB;
    for (uint32_t i = 0; i < self->y.used.n; i++) {
        const uint8_t *row = row_with_slack(self, in, self->y.used.first + i);
        fby_resizer_add_row(self, row + first_pixel);
    }
    return FBY_OK;
}

void fby_resizer_fini(struct fby_resizer *self)
{
    fby_scratch_fini(&self->memory);
    *self = (struct fby_resizer){0};
}
