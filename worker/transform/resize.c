/* resize.c - weights as fractions of whole numbers, then two passes.
 *
 * Let n be the source's side and m the result's. Source pixel i has its
 * centre at (2i + 1) / 2, result pixel o at (2o + 1) n / (2m) of the source's
 * scale; a triangle of half-width max(1, n/m) stands on o. Multiplied by 2m
 * resp. 2n, its height over i is the whole number
 *     max(n, m) * 2 - |(2i + 1) m - (2o + 1) n|      (0 when negative),
 * so that the weights are exact quotients before they are rounded.
 *
 * No weight is negative and those of one pixel sum to 2^22 (a few units more
 * or less by rounding): a sum of bytes stays well below 2^32. */
#include "worker/transform/resize.h"

#include <stdbool.h>
#include <string.h>

enum {
    FRACTION_BITS = 22,
    HALF          = 1 << (FRACTION_BITS - 1),
    STRIPE        = 512 /* bytes of a row summed at a time: stays in L1 */
};

/* Which source pixels make one result pixel. */
struct reach {
    uint32_t first;
    uint32_t n;
};

/* One axis: for result pixel o, the pixels reaches[o] with the weights that
 * begin at weights[o * most]. */
struct axis {
    const struct reach *reaches;
    const uint32_t     *weights;
    uint32_t            most; /* pixels any result pixel takes */
    uint32_t            n;    /* result pixels */
};

struct sides {
    uint64_t from, to; /* n and m above */
};

static uint64_t distance(const struct sides *s, uint64_t i, uint64_t o)
{
    uint64_t a = (2 * i + 1) * s->to;
    uint64_t b = (2 * o + 1) * s->from;
    return a > b ? a - b : b - a;
}

static uint64_t reach_of_triangle(const struct sides *s)
{
    return 2 * (s->from > s->to ? s->from : s->to);
}

/* The first source pixel under the triangle: the smallest i >= 0 with
 * (2i + 1) m > (2o + 1) n - width. */
static uint64_t first_under(const struct sides *s, uint64_t o)
{
    uint64_t right = (2 * o + 1) * s->from;
    uint64_t width = reach_of_triangle(s) + s->to;
    return right < width ? 0 : (right - width) / (2 * s->to) + 1;
}

static struct reach weigh(const struct sides *s, uint64_t o, uint32_t *weights)
{
    uint64_t width = reach_of_triangle(s);
    uint64_t first = first_under(s, o);
    uint64_t sum   = 0;
    uint32_t n     = 0;
    for (uint64_t i = first; i < s->from; i++) {
        uint64_t away = distance(s, i, o);
        if (away >= width) {
            break;
        }
        weights[n++] = (uint32_t)(width - away);
        sum += width - away;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t scaled = (uint64_t)weights[i] << (FRACTION_BITS + 1);
        weights[i]      = (uint32_t)((scaled + sum) / (2 * sum));
    }
    return (struct reach){(uint32_t)first, n};
}

/* Source pixels under one triangle, at most. */
static uint32_t most_under(uint32_t from, uint32_t to)
{
    return 2 * ((from + to - 1) / to) + 1;
}

static size_t axis_bytes(uint32_t from, uint32_t to)
{
    size_t weights = (size_t)most_under(from, to) * sizeof(uint32_t);
    return to * (sizeof(struct reach) + weights);
}

/* Weights of one axis into `scratch`. */
static fby_err plan_axis(
    struct fby_scratch *scratch, uint32_t from, uint32_t to, struct axis *out)
{
    struct sides sides = {from, to};
    size_t       most  = most_under(from, to);
    fby_err      err   = fby_scratch_need(scratch, axis_bytes(from, to));
    if (err != FBY_OK) {
        return err;
    }
    struct reach *reaches = scratch->memory;
    uint32_t     *weights = (uint32_t *)(reaches + to);
    for (uint32_t o = 0; o < to; o++) {
        reaches[o] = weigh(&sides, o, weights + o * most);
    }
    *out = (struct axis){reaches, weights, (uint32_t)most, to};
    return FBY_OK;
}

static uint8_t to_byte(uint32_t sum)
{
    uint32_t value = sum >> FRACTION_BITS;
    return (uint8_t)(value > 255 ? 255 : value);
}

static void scale_row(const struct axis *axis, const uint8_t *in, uint8_t *out)
{
    for (uint32_t o = 0; o < axis->n; o++) {
        const uint32_t *weight = axis->weights + (size_t)o * axis->most;
        const uint8_t  *pixel  = in + (size_t)axis->reaches[o].first * FBY_RGB;
        uint32_t        sum[FBY_RGB] = {HALF, HALF, HALF};
        for (uint32_t i = 0; i < axis->reaches[o].n; i++) {
            sum[0] += pixel[0] * weight[i];
            sum[1] += pixel[1] * weight[i];
            sum[2] += pixel[2] * weight[i];
            pixel += FBY_RGB;
        }
        out[0] = to_byte(sum[0]);
        out[1] = to_byte(sum[1]);
        out[2] = to_byte(sum[2]);
        out += FBY_RGB;
    }
}

/* Rows scaled in x are made as the columns' triangle moves down, and only
 * those it stands on are kept, in a ring. */
struct passes {
    const struct fby_image *in;
    struct axis             x, y;
    uint8_t                *ring;
    uint32_t                n_ring;
    size_t                  row_bytes; /* of a row scaled in x */
    uint32_t                ready;     /* source rows scaled so far */
};

static uint8_t *ring_row(const struct passes *p, uint32_t y)
{
    return p->ring + (y % p->n_ring) * p->row_bytes;
}

static void scale_rows_until(struct passes *p, uint32_t end)
{
    for (; p->ready < end; p->ready++) {
        const uint8_t *row = p->in->pixels + p->ready * p->in->stride;
        if (p->x.n == p->in->width) {
            memcpy(ring_row(p, p->ready), row, p->row_bytes);
        } else {
            scale_row(&p->x, row, ring_row(p, p->ready));
        }
    }
}

/* Bytes [at, at + size) of result row `o`. */
static void blend_stripe(
    const struct passes *p, uint32_t o, size_t at, size_t size, uint8_t *out)
{
    const struct reach *reach   = &p->y.reaches[o];
    const uint32_t     *weights = p->y.weights + (size_t)o * p->y.most;
    uint32_t            sums[STRIPE];
    for (size_t i = 0; i < size; i++) {
        sums[i] = HALF;
    }
    for (uint32_t y = 0; y < reach->n; y++) {
        const uint8_t *row    = ring_row(p, reach->first + y) + at;
        uint32_t       weight = weights[y];
        for (size_t i = 0; i < size; i++) {
            sums[i] += row[i] * weight;
        }
    }
    for (size_t i = 0; i < size; i++) {
        out[i] = to_byte(sums[i]);
    }
}

static void make_rows(struct passes *p, const struct fby_image *out)
{
    for (uint32_t o = 0; o < p->y.n; o++) {
        const struct reach *reach = &p->y.reaches[o];
        uint8_t            *row   = out->pixels + o * out->stride;
        scale_rows_until(p, reach->first + reach->n);
        for (size_t at = 0; at < p->row_bytes; at += STRIPE) {
            size_t left = p->row_bytes - at;
            blend_stripe(p, o, at, left < STRIPE ? left : STRIPE, row + at);
        }
    }
}

static bool side_fits(uint32_t side)
{
    return side >= 1 && side <= FBY_RESIZE_MAX_SIDE;
}

static bool sides_fit(const struct fby_image *image)
{
    return side_fits(image->width) && side_fits(image->height);
}

/* Rows scaled in x that one result row rests on, at most. */
static uint32_t rows_in_ring(uint32_t from, uint32_t to)
{
    uint32_t most = most_under(from, to);
    return most < from ? most : from;
}

static fby_err plan_ring(struct fby_resizer *self, struct passes *p)
{
    p->n_ring   = rows_in_ring(p->in->height, p->y.n);
    size_t size = p->n_ring * p->row_bytes;
    if (size > FBY_RESIZE_MAX_RING_BYTES) {
        return FBY_FULL;
    }
    fby_err err = fby_scratch_need(&self->rows, size);
    p->ring     = self->rows.memory;
    return err;
}

fby_err fby_resize(struct fby_resizer *self, const struct fby_image *in,
    const struct fby_image *out)
{
    struct passes p = {.in = in, .row_bytes = (size_t)out->width * FBY_RGB};
    if (!sides_fit(in) || !sides_fit(out)) {
        return FBY_USAGE;
    }
    fby_err err = plan_axis(&self->weights[0], in->width, out->width, &p.x);
    if (err == FBY_OK) {
        err = plan_axis(&self->weights[1], in->height, out->height, &p.y);
    }
    if (err == FBY_OK) {
        err = plan_ring(self, &p);
    }
    if (err == FBY_OK) {
        make_rows(&p, out);
    }
    return err;
}

struct fby_resize_need fby_resize_need(
    const struct fby_image *in, const struct fby_image *out)
{
    return (struct fby_resize_need){
        .weights = {axis_bytes(in->width, out->width),
            axis_bytes(in->height, out->height)},
        .rows =
            fby_image_bytes(out->width, rows_in_ring(in->height, out->height)),
    };
}

void fby_resizer_fini(struct fby_resizer *self)
{
    fby_scratch_fini(&self->weights[0]);
    fby_scratch_fini(&self->weights[1]);
    fby_scratch_fini(&self->rows);
}
