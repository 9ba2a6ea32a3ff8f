/* resize.c - scale row by row, in two passes.
 *
 * A source row is scaled in x when it is passed, and stored in a ring. A result
 * row is made when the last row of its reach is in the ring. An axis that is
 * not scaled is copied. */
#include "worker/transform/resize/resize.h"

#include <string.h>

#include "worker/transform/resize/kernel.h"

_Static_assert((int)RESIZE_SLACK <= (int)FBY_RESIZE_ROW_SLACK,
    "kernels read no further than callers allow");

enum {
    ALIGN     = 64,
    MORE_ROWS = 3 /* entries after a reach, which kernels need */
};

struct fby_resize_spec fby_resize_whole(
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

/* ---- memory -------------------------------------------------------------- */

static size_t aligned(size_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

/* The end offsets of the parts of the memory; each begins where the one before
 * ends. x_plan and y_plan are the kernel's. */
struct parts {
    size_t x, y, x_plan, y_plan, rows, ring, spare;
};

static size_t ring_step(const struct fby_resize_spec *spec)
{
    return aligned((size_t)spec->x.n * FBY_RGB + RESIZE_SLACK);
}

static size_t row_bytes(const struct fby_axis_spec *x)
{
    return (size_t)fby_axis_pixels(x) * FBY_RGB;
}

static struct parts parts_of(
    const struct fby_resize_spec *spec, const struct resize_kernel *kernel)
{
    size_t       n = fby_axis_most(&spec->y);
    struct parts p = {.x = aligned(fby_axis_bytes(&spec->x))};
    p.y            = p.x + aligned(fby_axis_bytes(&spec->y));
    p.x_plan       = p.y + aligned(kernel->x_bytes(&spec->x));
    p.y_plan       = p.x_plan + aligned(kernel->y_bytes(&spec->y));
    p.rows  = p.y_plan + aligned((2 * n + MORE_ROWS) * sizeof(uint8_t *));
    p.ring  = p.rows + n * ring_step(spec);
    p.spare = p.ring + row_bytes(&spec->x) + RESIZE_SLACK;
    return p;
}

uint64_t fby_resize_bytes(const struct fby_resize_spec *spec)
{
    return parts_of(spec, resize_kernel_of(fby_simd())).spare;
}

/* List the ring twice, so that the rows of any reach are contiguous somewhere.
 * A kernel that takes rows in fours reads up to three entries more. */
static void fill_row_table(struct fby_resizer *self)
{
    for (uint32_t i = 0; i < 2 * self->n_ring + MORE_ROWS; i++) {
        self->rows[i] = self->ring + i % self->n_ring * self->ring_step;
    }
}

static void plan(struct fby_resizer *self, const struct fby_resize_spec *spec)
{
    uint8_t     *memory = self->memory.memory;
    struct parts parts  = parts_of(spec, self->kernel);
    self->x             = fby_axis_plan(&spec->x, memory);
    self->y             = fby_axis_plan(&spec->y, memory + parts.x);
    self->x.kernel_plan = memory + parts.y;
    self->y.kernel_plan = memory + parts.x_plan;
    self->rows          = (void *)(memory + parts.y_plan);
    self->ring          = memory + parts.rows;
    self->spare         = memory + parts.ring;
    self->ring_step     = ring_step(spec);
    self->n_ring        = self->y.most;
    self->kernel->x_prepare(&self->x);
    self->kernel->y_prepare(&self->y);
    fill_row_table(self);
}

/* ---- rows ---------------------------------------------------------------- */

static bool is_copy(const struct fby_axis_spec *axis)
{
    return axis->from == axis->to && axis->unit == 1 && !axis->mirror;
}

static void scale_row(
    struct fby_resizer *self, const uint8_t *row, uint8_t *out)
{
    if (is_copy(&self->x.spec)) {
        memcpy(out, row, (size_t)self->x.spec.n * FBY_RGB);
    } else {
        self->kernel->across(&self->x, row, out);
    }
}

static void make_row(struct fby_resizer *self, uint32_t o)
{
    size_t                size  = (size_t)self->out.width * FBY_RGB;
    uint8_t              *out   = self->out.pixels + o * self->out.stride;
    uint32_t              first = self->y.reaches[o].first;
    const uint8_t *const *rows  = self->rows + first % self->n_ring;
    if (is_copy(&self->y.spec)) {
        memcpy(out, rows[0], size);
    } else {
        self->kernel->down(&self->y, o, rows, size, out);
    }
}

void fby_resizer_row(struct fby_resizer *self, const uint8_t *row)
{
    uint32_t here = self->taken++;
    scale_row(self, row, self->ring + here % self->n_ring * self->ring_step);
    for (; self->made < self->y.spec.n; self->made++) {
        const struct fby_reach *reach = &self->y.reaches[self->made];
        if (reach->first + reach->n > self->taken) {
            break;
        }
        make_row(self, self->made);
    }
}

/* ---- whole pictures ------------------------------------------------------ */

static bool axis_fits(const struct fby_axis_spec *axis)
{
    return axis->from >= 1 && axis->from <= FBY_RESIZE_MAX_SIDE &&
           axis->to >= 1 && axis->to <= FBY_RESIZE_MAX_SIDE && axis->n >= 1 &&
           axis->first < axis->to && axis->n <= axis->to - axis->first &&
           axis->unit >= 1 && axis->unit <= 8 && axis->skew < axis->unit;
}

fby_err fby_resizer_begin(struct fby_resizer *self,
    const struct fby_resize_spec *spec, const struct fby_image *out)
{
    if (!axis_fits(&spec->x) || !axis_fits(&spec->y) ||
        spec->x.n != out->width || spec->y.n != out->height) {
        return FBY_USAGE;
    }
    uint64_t bytes = fby_resize_bytes(spec);
    if (bytes > FBY_RESIZE_MAX_BYTES) {
        return FBY_FULL;
    }
    fby_err err = fby_scratch_need(&self->memory, bytes);
    if (err != FBY_OK) {
        return err;
    }
    self->kernel = resize_kernel_of(fby_simd());
    self->out    = *out;
    plan(self, spec);
    self->taken = 0;
    self->made  = 0;
    return FBY_OK;
}

/* Row `y`, or a copy of it if the bytes after it may not be readable. */
static const uint8_t *readable(
    struct fby_resizer *self, const struct fby_image *in, uint32_t y)
{
    const uint8_t *row = in->pixels + y * in->stride;
    if ((in->height - 1 - y) * in->stride >= RESIZE_SLACK) {
        return row;
    }
    memcpy(self->spare, row, (size_t)in->width * FBY_RGB);
    return self->spare;
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
    size_t left = (size_t)self->x.all.first * FBY_RGB;
    for (uint32_t i = 0; i < self->y.all.n; i++) {
        const uint8_t *row = readable(self, in, self->y.all.first + i);
        fby_resizer_row(self, row + left);
    }
    return FBY_OK;
}

void fby_resizer_fini(struct fby_resizer *self)
{
    fby_scratch_fini(&self->memory);
    *self = (struct fby_resizer){0};
}
