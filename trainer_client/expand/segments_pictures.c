/* SPDX-License-Identifier: Apache-2.0 */
/* segments_pictures.c - segments of pictures and of the ops of the device. */
#include "trainer_client/expand/segments.h"

#include "common/bytes.h"
#include "common/yuv420.h"

/* A segment of the pictures in a piece, or of the lines of one picture. The
 * caller sets the kind. */
static struct fby_segment make_segment(const struct fby_expansion *plan,
    const struct fby_piece *piece, const struct fby_piece_samples *samples)
{
    uint32_t height   = plan->shape.dims[0];
    uint32_t width    = plan->shape.dims[1];
    uint32_t channels = plan->shape.dims[2];
    /* A strip is FBY_YUV_LINES lines in yuv420, and one line otherwise. */
    uint32_t lines_per_strip = plan->yuv420 ? FBY_YUV_LINES : 1;
    uint64_t strip_bytes = plan->yuv420 ? fby_yuv_bytes(width, lines_per_strip)
                                        : (uint64_t)width * channels;
    uint64_t strips      = (samples->raw_bytes + strip_bytes - 1) / strip_bytes;
    uint64_t lines       = strips * lines_per_strip;
    uint32_t first_line =
        (uint32_t)(samples->skipped / strip_bytes) * lines_per_strip;
    uint32_t lines_left = height - first_line; /* the last strip may be cut */
    lines               = lines < lines_left ? lines : lines_left;
    struct fby_segment segment = {
        .in          = piece->at,
        .out         = piece->out + samples->first * plan->out_bytes,
        .image_bytes = plan->out_bytes,
        .from        = plan->from,
        .to          = plan->to,
        .channels    = channels,
        .planar      = plan->layout == FBY_LAYOUT_CHW ? 1 : 0,
        .yuv420      = plan->yuv420 ? 1 : 0,
        .width       = width,
        .lines       = (uint32_t)lines,
        .pixels      = (uint32_t)lines * width,
        .first_pixel = first_line * width,
        .plane       = height * width,
        .params      = piece->params != 0 ? piece->params + samples->first : 0,
    };
    fby_segments_set_scale(plan, &segment);
    return segment;
}

void fby_segments_add_pixels(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct fby_piece_samples samples = fby_segments_samples(plan, piece);
    struct fby_segment       segment = make_segment(plan, piece, &samples);
    segment.kind                     = FBY_SEGMENT_PIXELS;
    fby_segments_append_split(self, segment,
        &(struct fby_segment_units){
            .n         = samples.n,
            .in_bytes  = (uint64_t)segment.pixels * segment.channels,
            .out_bytes = plan->out_bytes,
            .work      = (segment.pixels + 3) / 4, /* quads of pixels */
        });
}

/* ---- tiles --------------------------------------------------------------- */

/* The bytes of the largest packed tile. The payload begins with a table of
 * offsets in units of 16 bytes: tile i lies between offsets i and i + 1. */
static uint32_t largest_tile_bytes(const uint8_t *payload, uint32_t tiles)
{
    struct fby_reader table   = fby_reader(payload, 4 * ((size_t)tiles + 1));
    uint64_t          largest = 0;
    uint32_t          begin   = fby_read_u32(&table);
    for (uint32_t i = 0; i < tiles; i++) {
        uint32_t end   = fby_read_u32(&table);
        uint64_t bytes = end > begin ? 16 * (uint64_t)(end - begin) : 0;
        largest        = bytes > largest ? bytes : largest;
        begin          = end;
    }
    return (uint32_t)(largest < FBY_TILE_PACKED ? largest : FBY_TILE_PACKED);
}

/* The bytes after the unpacked planes: of the largest packed tile with zeros at
 * its end, and later of the sums before runs. */
static uint32_t packed_tile_bytes(const uint8_t *payload, uint32_t tiles)
{
    uint32_t bytes = largest_tile_bytes(payload, tiles) + FBY_TILE_READ_OVER;
    return bytes > FBY_TILE_BEFORE ? bytes : (uint32_t)FBY_TILE_BEFORE;
}

static void append_tiles(struct fby_segments *self, struct fby_segment segment,
    const struct fby_piece *piece, uint32_t images)
{
    uint32_t tiles_across =
        (segment.width + FBY_TILE_COLUMNS - 1) / FBY_TILE_COLUMNS;
    uint32_t tiles_down = (segment.lines + FBY_TILE_ROWS - 1) / FBY_TILE_ROWS;
    uint32_t unpacked_bytes =
        segment.channels * FBY_TILE_ROWS * (uint32_t)FBY_TILE_STRIDE;
    segment.kind  = piece->packed ? FBY_SEGMENT_TILES : FBY_SEGMENT_PLANES;
    segment.bytes = piece->bytes;
    segment.n     = images * tiles_across * tiles_down;
    fby_segments_append(self, &segment);
    fby_segments_reserve_shared(self, unpacked_bytes);
    /* While segments are only counted, the arena is not filled. */
    if (self->segments != NULL && piece->packed) {
        fby_segments_reserve_shared(
            self, unpacked_bytes +
                      packed_tile_bytes(self->arena + piece->at, segment.n));
    }
}

void fby_segments_add_tiles(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct fby_piece_samples samples = fby_segments_samples(plan, piece);
    append_tiles(
        self, make_segment(plan, piece, &samples), piece, (uint32_t)samples.n);
}

/* ---- ops of the device --------------------------------------------------- */

void fby_segments_add_gathered(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct fby_piece_samples samples = fby_segments_samples(plan, piece);
    struct fby_segment       segment = make_segment(plan, piece, &samples);
    segment.out_in_arena             = 1;
    segment.params                   = 0; /* ops flip the picture later */
    if (piece->packed || plan->yuv420) {
        segment.image_bytes = fby_segments_gathered_bytes(plan);
        segment.out         = piece->out + samples.first * segment.image_bytes;
        segment.to          = FBY_U8;
        segment.planar      = 0;
        append_tiles(self, segment, piece, (uint32_t)samples.n);
        return;
    }
    segment.kind = FBY_SEGMENT_COPY;
    segment.out  = piece->out + piece->raw_offset;
    fby_segments_append_split(self, segment,
        &(struct fby_segment_units){
            .n = piece->raw_bytes, .in_bytes = 1, .out_bytes = 1, .work = 1});
}

void fby_segments_add_ops(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_ops_piece *piece)
{
    struct fby_segment segment = {
        .kind =
            self->pass == FBY_PASS_OPS ? FBY_SEGMENT_OPS : FBY_SEGMENT_GREYS,
        .in          = piece->at,
        .out         = piece->out,
        .image_bytes = plan->out_bytes,
        .values      = piece->sums,
        .ops         = piece->plan,
        .params      = piece->params,
        .to          = plan->to,
        .planar      = plan->layout == FBY_LAYOUT_CHW ? 1 : 0,
        .width       = plan->ops.width,
        .pixels      = plan->pixels,
        .parts       = (plan->pixels + FBY_BLOCK_PIXELS - 1) / FBY_BLOCK_PIXELS,
    };
    segment.n = piece->rows * segment.parts;
    fby_segments_append(self, &segment);
}
