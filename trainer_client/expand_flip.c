/* expand_flip.c - pictures of which flips are all that is drawn, on the host.
 *
 * Where there is a vector kernel, the bytes of a flipped picture are turned
 * round a piece at a time, and go through the kernel of any picture: one piece
 * stays in the cache, and is as many pixels as make the kernel fast, wherever
 * lines end. Else they go through the table from the other end. */
#include <string.h>

#include "trainer_client/device.h"
#include "trainer_client/expand_image.h"

enum { PIECE = 4096 /* pixels */, RGB = 3 };

struct turned {
    struct fby_expansion plan; /* of the pixels that are there */
    fby_expand_image_fn *expand;
    fby_turn_fn         *turn;
    size_t               first; /* of them, in the result */
    uint8_t             *out;   /* of the picture */
    uint8_t              bytes[PIECE * RGB];
};

static void flush(struct turned *self)
{
    bool   planar = self->plan.layout == FBY_LAYOUT_CHW;
    size_t step   = fby_type_bytes(self->plan.to) * (planar ? 1 : (size_t)RGB);
    if (self->plan.pixels > 0) {
        self->expand(
            &self->plan, self->bytes, false, self->out + self->first * step);
    }
    self->first += self->plan.pixels;
    self->plan.pixels = 0;
}

/* One line of the result. */
static void turn_line(struct turned *self, const uint8_t *line, bool mirrored)
{
    uint32_t width = self->plan.ops.width;
    for (uint32_t x = 0; x < width;) {
        uint32_t room = PIECE - self->plan.pixels;
        uint32_t n    = width - x < room ? width - x : room;
        uint8_t *to   = self->bytes + (size_t)self->plan.pixels * RGB;
        if (mirrored) {
            self->turn(line + (size_t)(width - x - n) * RGB, n, to);
        } else {
            memcpy(to, line + (size_t)x * RGB, (size_t)n * RGB);
        }
        x += n;
        self->plan.pixels += n;
        if (self->plan.pixels == PIECE) {
            flush(self);
        }
    }
}

static void turn_picture(struct turned *self, const struct fby_ops_row *row,
    const uint8_t *raw, uint8_t *out)
{
    uint32_t height = self->plan.ops.height;
    size_t   line   = (size_t)self->plan.ops.width * RGB;
    self->first     = 0;
    self->out       = out;
    for (uint32_t y = 0; y < height; y++) {
        uint32_t from = row->mirror_y ? height - 1 - y : y;
        turn_line(self, raw + from * line, row->mirror_x != 0);
    }
    flush(self);
}

static void flip_by_table(const struct fby_expansion *plan,
    const struct fby_ops_row *row, const uint8_t *raw, uint8_t *out)
{
    size_t line = (size_t)plan->ops.width * plan->channels;
    for (uint32_t y = 0; y < plan->ops.height; y++) {
        uint32_t from = row->mirror_y ? plan->ops.height - 1 - y : y;
        fby_expand_line(plan, raw + from * line, row->mirror_x != 0,
            (size_t)y * plan->ops.width, out);
    }
}

void fby_expand_flips(const struct fby_expand_job *job)
{
    const struct fby_expansion *plan = job->plan;
    struct turned               turned;
    turned.plan        = *plan;
    turned.plan.pixels = 0;
    turned.expand      = fby_expand_image_of(fby_simd());
    turned.turn        = plan->channels == RGB ? fby_turn_of(fby_simd()) : NULL;
    for (uint32_t r = 0; r < job->rows; r++) {
        const struct fby_ops_row *row = &job->draws[r];
        const uint8_t *raw = (const uint8_t *)job->raw + r * plan->raw_bytes;
        uint8_t       *out = (uint8_t *)job->out + r * plan->out_bytes;
        if (row->mirror_x == 0 && row->mirror_y == 0) {
            turned.expand(plan, raw, false, out);
        } else if (turned.turn != NULL) {
            turn_picture(&turned, row, raw, out);
        } else {
            flip_by_table(plan, row, raw, out);
        }
    }
}
