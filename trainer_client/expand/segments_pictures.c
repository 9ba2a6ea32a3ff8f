/* segments_pictures.c - segments of pictures (whole ones, lines of one, packed
 * ones by their tiles) and of the ops of the device. */
#include "trainer_client/expand/segments_list.h"

#include "common/bytes.h"
#include "common/yuv420.h"

/* The images of a piece: whole ones, or some lines of one. */
struct image_range {
    uint32_t images;
    uint32_t first_line, lines;
    uint64_t first_image;
};

/* Set the lines of an image for `bytes` from its raw byte `in` on. */
static void set_lines(const struct fby_expansion *plan, uint64_t in,
    uint64_t bytes, struct image_range *out)
{
    const uint32_t *dims  = plan->shape.dims;
    uint32_t        lines = plan->yuv420 ? FBY_YUV_LINES : 1; /* of a unit */
    uint64_t        unit  = plan->yuv420 ? fby_yuv_bytes(dims[1], lines)
                                         : (uint64_t)dims[1] * dims[2];
    out->first_line       = (uint32_t)(in / unit) * lines;
    uint64_t all          = (bytes + unit - 1) / unit * lines;
    uint32_t left         = dims[0] - out->first_line;
    out->lines            = all < left ? (uint32_t)all : left;
}

static struct image_range range_of(
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint64_t           images = piece->raw_bytes / plan->raw_bytes;
    struct image_range range  = {
         .images      = images > 0 ? (uint32_t)images : 1,
         .first_image = piece->raw_offset / plan->raw_bytes,
    };
    set_lines(
        plan, piece->raw_offset % plan->raw_bytes, piece->raw_bytes, &range);
    return range;
}

static struct fby_segment picture_of(const struct fby_expansion *plan,
    const struct fby_piece *piece, const struct image_range *range)
{
    uint32_t           width   = plan->shape.dims[1];
    struct fby_segment segment = {
        .in          = piece->at,
        .out         = piece->out + range->first_image * plan->out_bytes,
        .image_bytes = plan->out_bytes,
        .from        = plan->from,
        .to          = plan->to,
        .channels    = plan->shape.dims[2],
        .planar      = plan->layout == FBY_LAYOUT_CHW ? 1 : 0,
        .yuv420      = plan->yuv420 ? 1 : 0,
        .width       = width,
        .lines       = range->lines,
        .pixels      = range->lines * width,
        .first_pixel = range->first_line * width,
        .plane       = plan->shape.dims[0] * width,
        .draws = piece->draws != 0 ? piece->draws + range->first_image : 0,
    };
    fby_seglist_set_scale(plan, &segment);
    return segment;
}

void fby_seglist_add_pixels(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct image_range range              = range_of(plan, piece);
    struct fby_segment segment            = picture_of(plan, piece, &range);
    segment.kind                          = FBY_SEGMENT_PIXELS;
    const struct fby_seglist_units images = {
        .n    = range.images,
        .in   = (uint64_t)segment.pixels * segment.channels,
        .out  = plan->out_bytes,
        .work = (segment.pixels + 3) / 4,
    };
    fby_seglist_put_split(self, segment, &images);
}

/* ---- tiles --------------------------------------------------------------- */

/* Bytes of the largest packed tile. */
static uint32_t packed_bytes(const uint8_t *payload, uint32_t tiles)
{
    struct fby_reader table = fby_reader(payload, 4 * ((size_t)tiles + 1));
    uint64_t          most  = 0;
    uint32_t          begin = fby_read_u32(&table);
    for (uint32_t i = 0; i < tiles; i++) {
        uint32_t end   = fby_read_u32(&table);
        uint64_t bytes = end > begin ? 16 * (uint64_t)(end - begin) : 0;
        most           = bytes > most ? bytes : most;
        begin          = end;
    }
    return most < FBY_TILE_PACKED ? (uint32_t)most : (uint32_t)FBY_TILE_PACKED;
}

static void put_tiles(struct fby_segments *self, struct fby_segment segment,
    const struct fby_piece *piece, uint32_t images)
{
    uint32_t planes =
        segment.channels * FBY_TILE_ROWS * (uint32_t)FBY_TILE_STRIDE;
    segment.kind  = piece->packed ? FBY_SEGMENT_TILES : FBY_SEGMENT_PLANES;
    segment.bytes = piece->bytes;
    segment.n     = images * ((segment.width + 255) / 256) *
                ((segment.lines + FBY_TILE_ROWS - 1) / FBY_TILE_ROWS);
    fby_seglist_put(self, &segment);
    fby_seglist_need_shared(self, planes);
    if (self->all != NULL && piece->packed) {
        fby_seglist_need_shared(
            self, planes + packed_bytes(self->arena + piece->at, segment.n) +
                      FBY_TILE_READ_OVER);
    }
}

void fby_seglist_add_tiles(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct image_range range = range_of(plan, piece);
    put_tiles(self, picture_of(plan, piece, &range), piece, range.images);
}

/* ---- ops of the device --------------------------------------------------- */

void fby_segments_add_gathered(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct image_range range   = range_of(plan, piece);
    struct fby_segment segment = picture_of(plan, piece, &range);
    segment.out_in_arena       = 1;
    segment.draws              = 0; /* it is not mirrored yet */
    if (piece->packed || plan->yuv420) {
        segment.image_bytes = fby_segments_gathered_bytes(plan);
        segment.out    = piece->out + range.first_image * segment.image_bytes;
        segment.to     = FBY_U8;
        segment.planar = 0;
        put_tiles(self, segment, piece, range.images);
        return;
    }
    const struct fby_seglist_units bytes = {piece->raw_bytes, 1, 1, 1};
    segment.kind                         = FBY_SEGMENT_COPY;
    segment.out                          = piece->out + piece->raw_offset;
    fby_seglist_put_split(self, segment, &bytes);
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
        .draws       = piece->draws,
        .to          = plan->to,
        .planar      = plan->layout == FBY_LAYOUT_CHW ? 1 : 0,
        .width       = plan->ops.width,
        .pixels      = plan->pixels,
        .parts       = (plan->pixels + FBY_BLOCK_PIXELS - 1) / FBY_BLOCK_PIXELS,
    };
    segment.n = piece->rows * segment.parts;
    fby_seglist_put(self, &segment);
}
