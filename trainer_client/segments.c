#include "trainer_client/segments.h"

#include <string.h>

#include "common/bytes.h"
#include "common/yuv420.h"
#include "trainer_client/expand_documents.h"
#include "trainer_client/expand_pair.h"
#include "trainer_client/expand_rows.h"

bool fby_segments_know(const struct fby_expansion *plan)
{
    switch (plan->kind) {
    case FBY_EXPAND_COPY:
    case FBY_EXPAND_AFFINE:
    case FBY_EXPAND_CAST:
    case FBY_EXPAND_SCALE:
    case FBY_EXPAND_PLANAR:
    case FBY_EXPAND_ONE_HOT:
    case FBY_EXPAND_BITS:
    case FBY_EXPAND_PADDED:
    case FBY_EXPAND_RAGGED:
    case FBY_EXPAND_DENSE:
    case FBY_EXPAND_CSR:
    case FBY_EXPAND_COO:
    case FBY_EXPAND_MIX:
        return true;
    case FBY_EXPAND_OPS:
        return plan->to != FBY_BOOL;
    case FBY_EXPAND_CU_SEQLENS:
    case FBY_EXPAND_POSITIONS:
    case FBY_EXPAND_MASK:
        break;
    }
    return false;
}

bool fby_segments_take_table(const struct fby_expansion *plan, uint32_t rows)
{
    bool tokens =
        plan->kind == FBY_EXPAND_POSITIONS || plan->kind == FBY_EXPAND_MASK;
    return tokens && (uint64_t)rows * plan->shape.dims[0] <= FBY_SEGMENT_MOST;
}

bool fby_segments_gather(const struct fby_expansion *plan)
{
    return plan->kind == FBY_EXPAND_OPS && !plan->ops.plain;
}

uint64_t fby_segments_gathered(const struct fby_expansion *plan)
{
    return (uint64_t)plan->pixels * plan->channels;
}

/* ---- the list ------------------------------------------------------------ */

static uint64_t aligned(uint64_t size)
{
    return (size + FBY_SEGMENT_ALIGN - 1) / FBY_SEGMENT_ALIGN *
           FBY_SEGMENT_ALIGN;
}

static uint32_t per_block(uint32_t kind)
{
    static const uint32_t work[] = {
        [FBY_SEGMENT_COPY]      = FBY_BLOCK_BYTES,
        [FBY_SEGMENT_PIXELS]    = FBY_BLOCK_QUADS,
        [FBY_SEGMENT_TILES]     = 1,
        [FBY_SEGMENT_VALUES]    = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_ONE_HOT]   = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_BITS]      = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_PLANES]    = 1,
        [FBY_SEGMENT_PADDED]    = 1,
        [FBY_SEGMENT_OFFSETS]   = 1,
        [FBY_SEGMENT_MIX]       = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_GREYS]     = 1,
        [FBY_SEGMENT_OPS]       = 1,
        [FBY_SEGMENT_DENSE]     = 1,
        [FBY_SEGMENT_COO]       = 1,
        [FBY_SEGMENT_POSITIONS] = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_MASK]      = FBY_BLOCK_VALUES,
    };
    return work[kind];
}

static void put(struct fby_segments *self, const struct fby_segment *segment)
{
    uint32_t work = per_block(segment->kind);
    if (self->all != NULL) {
        self->all[self->n]             = *segment;
        self->all[self->n].first_block = self->n_blocks;
    }
    uint32_t blocks = (segment->n + work - 1) / work;
    self->n++;
    self->n_blocks += blocks;
    self->blocks[self->pass] += blocks;
}

void fby_segments_pass(struct fby_segments *self, enum fby_pass pass)
{
    self->pass = (uint32_t)pass;
}

/* `n` units of so many bytes in and out and so much work each, in parts that
 * a segment can be told. */
struct units {
    uint64_t n;
    uint64_t in, out;
    uint32_t work;
};

/* The first value or pixel of a part stands where `first` says. */
static void put_cut(struct fby_segments *self, struct fby_segment segment,
    const struct units *units)
{
    uint64_t most  = FBY_SEGMENT_MOST / units->work;
    uint32_t first = segment.first_pixel;
    for (uint64_t done = 0; done < units->n; done += most) {
        uint64_t left = units->n - done;
        segment.n     = (uint32_t)(left < most ? left : most) * units->work;
        if (segment.kind == FBY_SEGMENT_VALUES && segment.channels > 0 &&
            segment.planar == 0) {
            segment.first_pixel = (uint32_t)((first + done) % segment.channels);
        }
        put(self, &segment);
        segment.in += most * units->in;
        segment.out += most * units->out;
        segment.draws += segment.draws != 0 ? most : 0;
    }
}

/* ---- pictures ------------------------------------------------------------ */

/* The part of its images that a piece holds: whole ones, or lines of one. */
struct part {
    uint32_t images;
    uint32_t first_line, lines;
    uint64_t first_image;
};

/* Some lines of an image that begin at raw byte `in` of it and have `bytes`. */
static void take_lines(const struct fby_expansion *plan, uint64_t in,
    uint64_t bytes, struct part *out)
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

static struct part part_of(
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint64_t    images = piece->raw_bytes / plan->raw_bytes;
    struct part part   = {
          .images      = images > 0 ? (uint32_t)images : 1,
          .first_image = piece->raw_offset / plan->raw_bytes,
    };
    take_lines(
        plan, piece->raw_offset % plan->raw_bytes, piece->raw_bytes, &part);
    return part;
}

static void take_scale(
    const struct fby_expansion *plan, struct fby_segment *segment)
{
    bool affine =
        plan->kind == FBY_EXPAND_AFFINE || plan->kind == FBY_EXPAND_OPS;
    bool scaled = affine || plan->scaled;
    for (uint32_t c = 0; c < FBY_MAX_CHANNELS; c++) {
        bool one           = !affine && plan->channels == 1;
        segment->scale[c]  = scaled ? plan->scale[one ? 0 : c] : 1;
        segment->offset[c] = scaled ? plan->offset[one ? 0 : c] : 0;
    }
}

static struct fby_segment picture_of(const struct fby_expansion *plan,
    const struct fby_piece *piece, const struct part *part)
{
    uint32_t           width   = plan->shape.dims[1];
    struct fby_segment segment = {
        .in          = piece->at,
        .out         = piece->out + part->first_image * plan->out_bytes,
        .image_bytes = plan->out_bytes,
        .from        = plan->from,
        .to          = plan->to,
        .channels    = plan->shape.dims[2],
        .planar      = plan->layout == FBY_LAYOUT_CHW ? 1 : 0,
        .yuv420      = plan->yuv420 ? 1 : 0,
        .width       = width,
        .lines       = part->lines,
        .pixels      = part->lines * width,
        .first_pixel = part->first_line * width,
        .plane       = plan->shape.dims[0] * width,
        .draws       = piece->draws != 0 ? piece->draws + part->first_image : 0,
    };
    take_scale(plan, &segment);
    return segment;
}

static void add_pixels(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct part        part    = part_of(plan, piece);
    struct fby_segment segment = picture_of(plan, piece, &part);
    segment.kind               = FBY_SEGMENT_PIXELS;
    const struct units images  = {
         .n    = part.images,
         .in   = (uint64_t)segment.pixels * segment.channels,
         .out  = plan->out_bytes,
         .work = (segment.pixels + 3) / 4,
    };
    put_cut(self, segment, &images);
}

/* Of the largest tile. */
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

/* Of shared memory. */
static void need(struct fby_segments *self, uint32_t bytes)
{
    self->shared = bytes > self->shared ? bytes : self->shared;
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
    put(self, &segment);
    need(self, planes);
    if (self->all != NULL && piece->packed) {
        need(self, planes + packed_bytes(self->arena + piece->at, segment.n) +
                       FBY_TILE_READ_OVER);
    }
}

static void add_tiles(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct part part = part_of(plan, piece);
    put_tiles(self, picture_of(plan, piece, &part), piece, part.images);
}

/* ---- ops of the device ---------------------------------------------------- */

void fby_segments_add_gathered(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct part        part    = part_of(plan, piece);
    struct fby_segment segment = picture_of(plan, piece, &part);
    segment.inside             = 1;
    segment.draws              = 0; /* it is not mirrored yet */
    if (piece->packed || plan->yuv420) {
        segment.image_bytes = fby_segments_gathered(plan);
        segment.out    = piece->out + part.first_image * segment.image_bytes;
        segment.to     = FBY_U8;
        segment.planar = 0;
        put_tiles(self, segment, piece, part.images);
        return;
    }
    const struct units bytes = {piece->raw_bytes, 1, 1, 1};
    segment.kind             = FBY_SEGMENT_COPY;
    segment.out              = piece->out + piece->raw_offset;
    put_cut(self, segment, &bytes);
}

void fby_segments_add_ops(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece_of_ops *piece)
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
    put(self, &segment);
}

/* All rows in one piece; cut, they go on with the same ids and draws. */
static void add_mixed(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint64_t           rows    = piece->raw_bytes / plan->raw_bytes;
    uint64_t           most    = FBY_SEGMENT_MOST / plan->classes;
    struct fby_segment segment = {
        .kind    = FBY_SEGMENT_MIX,
        .in      = piece->at,
        .draws   = piece->draws,
        .from    = plan->from,
        .to      = plan->to,
        .on      = fby_f32_bits(plan->on_value),
        .off     = fby_f32_bits(plan->off_value),
        .classes = plan->classes,
    };
    for (uint64_t done = 0; done < rows; done += most) {
        uint64_t left = rows - done;
        segment.n     = (uint32_t)(left < most ? left : most) * plan->classes;
        segment.first_row = (uint32_t)done;
        segment.out       = piece->out + done * plan->out_bytes;
        put(self, &segment);
    }
}

/* ---- other arrays -------------------------------------------------------- */

static void add_values(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t           in      = fby_type_bytes(plan->from);
    uint32_t           out     = fby_type_bytes(plan->to);
    uint64_t           first   = piece->raw_offset / in;
    struct fby_segment segment = {
        .kind        = FBY_SEGMENT_VALUES,
        .in          = piece->at,
        .out         = piece->out + first * out,
        .from        = plan->from,
        .to          = plan->to,
        .channels    = plan->scaled ? plan->channels : 0,
        .first_pixel = plan->scaled ? (uint32_t)(first % plan->channels) : 0,
    };
    const struct units values = {piece->raw_bytes / in, in, out, 1};
    take_scale(plan, &segment);
    put_cut(self, segment, &values);
}

/* Whole samples, or some values of one. */
static void add_planar(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t           in      = fby_type_bytes(plan->from);
    uint64_t           sample  = piece->raw_offset / plan->raw_bytes;
    bool               some    = piece->raw_bytes < plan->raw_bytes;
    uint64_t           part    = some ? piece->raw_bytes : plan->raw_bytes;
    struct fby_segment segment = {
        .kind        = FBY_SEGMENT_VALUES,
        .in          = piece->at,
        .out         = piece->out + sample * plan->out_bytes,
        .from        = plan->from,
        .to          = plan->to,
        .channels    = plan->scaled ? plan->channels : 0,
        .planar      = 1,
        .first_pixel = (uint32_t)(piece->raw_offset % plan->raw_bytes / in),
        .plane       = plan->pixels,
        .classes     = plan->shape.dims[2],
    };
    const struct units samples = {
        .n    = some ? 1 : piece->raw_bytes / plan->raw_bytes,
        .in   = part,
        .out  = plan->out_bytes,
        .work = (uint32_t)(part / in),
    };
    take_scale(plan, &segment);
    put_cut(self, segment, &samples);
}

static void add_ids(struct fby_segments *self, const struct fby_expansion *plan,
    const struct fby_piece *piece)
{
    uint64_t           row     = piece->raw_offset / plan->raw_bytes;
    struct fby_segment segment = {
        .kind    = FBY_SEGMENT_ONE_HOT,
        .in      = piece->at,
        .out     = piece->out + row * plan->out_bytes,
        .from    = plan->from,
        .to      = plan->to,
        .on      = plan->on,
        .off     = plan->off,
        .classes = plan->classes,
    };
    const struct units rows = {
        .n    = piece->raw_bytes / plan->raw_bytes,
        .in   = plan->raw_bytes,
        .out  = plan->out_bytes,
        .work = plan->classes,
    };
    put_cut(self, segment, &rows);
}

/* A sample of more values than a segment is told of, in runs of pixels. */
static void put_runs(struct fby_segments *self, struct fby_segment run)
{
    uint32_t bytes = (run.classes + 7) / 8;
    uint32_t most  = FBY_SEGMENT_MOST / run.classes;
    uint32_t left  = run.pixels;
    while (left > 0) {
        run.pixels = left < most ? left : most;
        run.n      = run.pixels * run.classes;
        put(self, &run);
        run.in += (uint64_t)run.pixels * bytes;
        run.first_pixel += run.pixels;
        left -= run.pixels;
    }
}

/* Whole samples, or some pixels of one. */
static void add_bits(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t           bytes   = (plan->maps + 7) / 8; /* of a pixel */
    uint64_t           sample  = piece->raw_offset / plan->raw_bytes;
    uint64_t           in      = piece->raw_offset % plan->raw_bytes;
    bool               some    = piece->raw_bytes < plan->raw_bytes;
    uint64_t           part    = some ? piece->raw_bytes : plan->raw_bytes;
    struct fby_segment segment = {
        .kind        = FBY_SEGMENT_BITS,
        .in          = piece->at,
        .out         = piece->out + sample * plan->out_bytes,
        .image_bytes = plan->out_bytes,
        .to          = plan->to,
        .planar      = plan->layout == FBY_LAYOUT_CHW ? 1 : 0,
        .pixels      = (uint32_t)(part / bytes),
        .first_pixel = (uint32_t)(in / bytes),
        .plane       = plan->pixels,
        .on          = plan->on,
        .off         = plan->off,
        .classes     = plan->maps,
    };
    uint64_t           n       = some ? 1 : piece->raw_bytes / plan->raw_bytes;
    uint64_t           values  = (uint64_t)segment.pixels * plan->maps;
    const struct units samples = {n, part, plan->out_bytes, (uint32_t)values};
    if (values <= FBY_SEGMENT_MOST) {
        put_cut(self, segment, &samples);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        put_runs(self, segment);
        segment.in += part;
        segment.out += plan->out_bytes;
    }
}

/* ---- rows of several lengths ---------------------------------------------- */

uint64_t fby_segments_groups(uint32_t rows)
{
    return (rows + FBY_BLOCK_ROWS - 1) / FBY_BLOCK_ROWS;
}

void fby_segments_count(const struct fby_extents *rows,
    struct fby_piece_of_rows *piece, uint64_t *groups)
{
    piece->entries = 0;
    for (uint32_t i = 0; i < piece->rows; i++) {
        if (i % FBY_BLOCK_ROWS == 0) {
            groups[i / FBY_BLOCK_ROWS] = piece->first + piece->entries;
        }
        piece->entries += rows->lengths[piece->first_row + i];
    }
}

static uint32_t entry_of(const struct fby_expansion *plan)
{
    return (uint32_t)(plan->entry_bytes / fby_type_bytes(plan->from));
}

/* Blocks that make each value of a group once, of rows that have `row_values`
 * out. */
static uint64_t blocks_of(
    const struct fby_segment *segment, const struct fby_piece_of_rows *piece)
{
    uint64_t group =
        piece->rows < FBY_BLOCK_ROWS ? piece->rows : (uint32_t)FBY_BLOCK_ROWS;
    return (group * segment->row_values + FBY_BLOCK_VALUES - 1) /
           FBY_BLOCK_VALUES;
}

/* A group is cut into `parts`, or one. */
static void add_even(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_piece_of_rows *piece, uint64_t parts)
{
    segment.to    = plan->to;
    segment.parts = parts > 0 ? (uint32_t)parts : 1;
    segment.n     = (uint32_t)fby_segments_groups(piece->rows) * segment.parts;
    segment.out   = piece->out[0] + (uint64_t)piece->first_row *
                                      segment.row_values *
                                      fby_type_bytes(plan->to);
    put(self, &segment);
}

/* A chunk's values padded are at most FBY_UNIT_MAX: all products fit. */
static void add_padded(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_piece_of_rows *piece)
{
    segment.kind = FBY_SEGMENT_PADDED;
    segment.lengths =
        piece->out[1] + sizeof(int32_t) * (uint64_t)piece->first_row;
    add_even(self, plan, segment, piece, blocks_of(&segment, piece));
}

static void add_values_of_rows(struct fby_segments *self,
    const struct fby_expansion *plan, uint64_t at,
    const struct fby_piece_of_rows *piece)
{
    uint32_t           in      = fby_type_bytes(plan->from);
    uint32_t           out     = fby_type_bytes(plan->to);
    uint32_t           entry   = entry_of(plan);
    struct fby_segment segment = {
        .kind = FBY_SEGMENT_VALUES,
        .in   = at,
        .out  = piece->out[0] + piece->first * entry * out,
        .from = plan->from,
        .to   = plan->to,
    };
    if (plan->from == plan->to) {
        fby_segments_copy(
            self, at, piece->entries * plan->entry_bytes, segment.out);
        return;
    }
    const struct units values = {piece->entries * entry, in, out, 1};
    take_scale(plan, &segment);
    put_cut(self, segment, &values);
}

/* Where each row begins. */
static void add_offsets(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_piece_of_rows *piece)
{
    segment.kind  = FBY_SEGMENT_OFFSETS;
    segment.to    = plan->offsets;
    segment.parts = 1;
    segment.n     = (uint32_t)fby_segments_groups(piece->rows);
    segment.out   = piece->out[1];
    put(self, &segment);
}

/* They are below 2^31. */
static void add_indices(struct fby_segments *self,
    const struct fby_expansion *plan, uint64_t at,
    const struct fby_piece_of_rows *piece)
{
    static const enum fby_type types[] = {
        [1] = FBY_U8, [2] = FBY_U16, [4] = FBY_U32};
    uint32_t           width   = fby_type_bytes(plan->offsets);
    struct fby_segment segment = {
        .kind = FBY_SEGMENT_VALUES,
        .in   = at,
        .out  = piece->out[2] + piece->first * width,
        .from = types[plan->index_bytes],
        .to   = plan->offsets,
    };
    const struct units indices = {piece->entries, plan->index_bytes, width, 1};
    put_cut(self, segment, &indices);
}

/* Blocks for the mean of the groups: they take turns, so that a group of many
 * values asks for no table of blocks that others leave empty. */
static void add_places(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_piece_of_rows *piece)
{
    uint64_t groups = fby_segments_groups(piece->rows);
    segment.kind    = FBY_SEGMENT_COO;
    segment.out     = piece->out[1];
    segment.total   = piece->total;
    segment.n_dims  = plan->shape.n_dims;
    segment.parts = 1 + (uint32_t)(piece->entries / groups / FBY_BLOCK_VALUES);
    segment.n     = (uint32_t)groups * segment.parts;
    memcpy(segment.dims, plan->shape.dims, sizeof(segment.dims));
    put(self, &segment);
}

static uint64_t dense_blocks(uint64_t entries)
{
    enum { BUSY = 512, ENTRIES = 64 }; /* blocks; entries of a block more */
    return BUSY + entries / ENTRIES;
}

/* The zeros of a row are no bytes that cross the bus: its blocks are no more
 * than keep a GPU busy, or what its values are worth, and take turns. */
static void add_dense(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_piece_of_rows *piece)
{
    segment.kind       = FBY_SEGMENT_DENSE;
    segment.row_values = (uint32_t)fby_dense_values(&plan->shape);
    uint64_t parts     = blocks_of(&segment, piece);
    uint64_t most =
        dense_blocks(piece->entries) / fby_segments_groups(piece->rows);
    add_even(self, plan, segment, piece, parts < most ? parts : most);
}

static void add_sparse(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    struct fby_segment segment, const struct fby_piece_of_rows *piece)
{
    segment.indices = segment.values;
    segment.values =
        piece->at + fby_sparse_values(field, piece->rows, piece->entries);
    segment.index_bytes = plan->index_bytes;
    if (plan->kind == FBY_EXPAND_DENSE) {
        add_dense(self, plan, segment, piece);
        return;
    }
    add_values_of_rows(self, plan, segment.values, piece);
    if (plan->kind == FBY_EXPAND_CSR) {
        add_offsets(self, plan, segment, piece);
        add_indices(self, plan, segment.indices, piece);
    } else {
        add_places(self, plan, segment, piece);
    }
}

void fby_segments_add_rows(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    uint64_t longest, const struct fby_piece_of_rows *piece)
{
    const struct fby_segment segment = {
        .in           = piece->at,
        .values       = piece->at + fby_varying_values(field, piece->rows),
        .groups       = piece->groups,
        .pad          = plan->pad,
        .from         = plan->from,
        .rows         = piece->rows,
        .first_row    = piece->first_row,
        .length_bytes = field->length_bytes,
        .entry        = entry_of(plan),
        .row_values   = (uint32_t)longest * entry_of(plan),
    };
    need(self, sizeof(struct fby_group));
    if (plan->index_bytes > 0) {
        add_sparse(self, plan, field, segment, piece);
    } else if (plan->kind == FBY_EXPAND_PADDED) {
        add_padded(self, plan, segment, piece);
    } else {
        add_values_of_rows(self, plan, segment.values, piece);
        add_offsets(self, plan, segment, piece);
    }
}

void fby_segments_add_documents(struct fby_segments *self,
    const struct fby_expansion                      *plan,
    const struct fby_piece_of_documents             *piece)
{
    bool                     mask    = plan->kind == FBY_EXPAND_MASK;
    const struct fby_segment segment = {
        .kind      = mask ? FBY_SEGMENT_MASK : FBY_SEGMENT_POSITIONS,
        .in        = piece->at,
        .out       = piece->out,
        .n         = piece->rows * plan->shape.dims[0],
        .to        = plan->to,
        .on        = plan->on,
        .off       = plan->off,
        .documents = piece->documents,
        .shift     = plan->shift,
    };
    put(self, &segment);
}

/* ---- any ------------------------------------------------------------------ */

void fby_segments_copy(
    struct fby_segments *self, uint64_t from, uint64_t bytes, uint64_t out)
{
    const struct fby_segment segment = {
        .kind = FBY_SEGMENT_COPY, .in = from, .out = out};
    put_cut(self, segment, &(struct units){bytes, 1, 1, 1});
}

void fby_segments_add(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    if (piece->packed || plan->yuv420) {
        add_tiles(self, plan, piece);
        return;
    }
    switch (plan->kind) {
    case FBY_EXPAND_COPY:
        fby_segments_copy(
            self, piece->at, piece->raw_bytes, piece->out + piece->raw_offset);
        break;
    case FBY_EXPAND_AFFINE:
        add_pixels(self, plan, piece);
        break;
    case FBY_EXPAND_CAST:
    case FBY_EXPAND_SCALE:
        add_values(self, plan, piece);
        break;
    case FBY_EXPAND_PLANAR:
        add_planar(self, plan, piece);
        break;
    case FBY_EXPAND_ONE_HOT:
        add_ids(self, plan, piece);
        break;
    case FBY_EXPAND_BITS:
        add_bits(self, plan, piece);
        break;
    case FBY_EXPAND_OPS:
        add_pixels(self, plan, piece);
        break;
    case FBY_EXPAND_MIX:
        add_mixed(self, plan, piece);
        break;
    case FBY_EXPAND_PADDED: /* fby_segments_add_rows */
    case FBY_EXPAND_RAGGED:
    case FBY_EXPAND_DENSE:
    case FBY_EXPAND_CSR:
    case FBY_EXPAND_COO:
    case FBY_EXPAND_CU_SEQLENS:
    case FBY_EXPAND_POSITIONS:
    case FBY_EXPAND_MASK:
        break;
    }
}

/* ---- begin and end ------------------------------------------------------- */

void fby_segments_begin(
    struct fby_segments *self, uint8_t *arena, uint64_t used)
{
    *self     = (struct fby_segments){.arena = arena, .list = aligned(used)};
    self->all = (struct fby_segment *)(void *)(arena + self->list +
                                               sizeof(struct fby_segment_list));
}

static uint64_t list_bytes(const struct fby_segments *self)
{
    return sizeof(struct fby_segment_list) +
           self->n * (uint64_t)sizeof(struct fby_segment) +
           self->n_blocks * (uint64_t)sizeof(uint32_t);
}

uint64_t fby_segments_finish(struct fby_segments *self)
{
    const struct fby_segment_list list = {
        .n_segments = self->n,
        .blocks     = {self->blocks[0], self->blocks[1], self->blocks[2]},
        .shared     = self->shared,
    };
    uint32_t *owner = (uint32_t *)(void *)(self->all + self->n);
    memcpy(self->arena + self->list, &list, sizeof(list));
    for (uint32_t i = 0; i < self->n; i++) {
        uint32_t end =
            i + 1 < self->n ? self->all[i + 1].first_block : self->n_blocks;
        for (uint32_t b = self->all[i].first_block; b < end; b++) {
            owner[b] = i;
        }
    }
    return self->list + list_bytes(self);
}

bool fby_segments_take_packed(const struct fby_expansion *plan)
{
    const struct fby_shape *shape = &plan->shape;
    return plan->from == FBY_U8 && shape->n_dims == 3 &&
           !fby_expansion_varies(plan) &&
           (shape->dims[2] == 1 || shape->dims[2] == 3) &&
           plan->kind != FBY_EXPAND_BITS && plan->kind != FBY_EXPAND_ONE_HOT;
}

/* Blocks of a sparse chunk of so many rows, or fewer: of fewer they may be
 * more than of all. */
static uint64_t most_blocks(
    const struct fby_expansion *plan, const struct fby_piece_of_rows *piece)
{
    uint64_t groups = fby_segments_groups(piece->rows);
    if (plan->kind == FBY_EXPAND_COO) {
        return groups + piece->entries / FBY_BLOCK_VALUES;
    }
    if (plan->kind == FBY_EXPAND_DENSE) {
        return groups + dense_blocks(piece->entries);
    }
    return 0;
}

/* Bytes of the tables of groups, where rows vary. */
static uint64_t count_rows(struct fby_segments *count,
    const struct fby_raw_layout *layout, const struct fby_expansion *plan,
    uint32_t f)
{
    const struct fby_raw_field *field  = &layout->fields[f];
    uint64_t                    tables = 0;
    fby_segments_copy(count, 0, sizeof(int64_t), 0); /* of no rows */
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        struct fby_raw_span            span  = fby_layout_chunk(layout, f, i);
        const struct fby_piece_of_rows piece = {
            .rows    = span.rows,
            .entries = (uint64_t)span.rows * field->max_length,
        };
        fby_segments_add_rows(count, plan, field, field->max_length, &piece);
        count->n_blocks += (uint32_t)most_blocks(plan, &piece);
        tables += fby_segments_groups(span.rows) * sizeof(uint64_t);
    }
    return tables;
}

static void count_chunks(struct fby_segments *count,
    const struct fby_raw_layout *layout, const struct fby_expansion *plan,
    uint32_t f)
{
    struct fby_piece whole  = {.raw_bytes = layout->fields[f].raw_bytes};
    bool             gather = fby_segments_gather(plan);
    fby_segments_add(count, plan, &whole);
    if (gather) {
        const struct fby_piece_of_ops ops = {.rows = layout->rows};
        fby_segments_add_ops(count, plan, &ops);
        fby_segments_add_ops(count, plan, &ops);
    }
    for (uint32_t i = 0; i < layout->fields[f].n_chunks; i++) {
        struct fby_raw_span span  = fby_layout_chunk(layout, f, i);
        struct fby_piece    piece = {
               .raw_offset = span.raw_offset,
               .raw_bytes  = span.raw_bytes,
        };
        fby_segments_add(count, plan, &piece);
        if (gather) {
            fby_segments_add_gathered(count, plan, &piece);
        }
        piece.packed = fby_segments_take_packed(plan);
        if (piece.packed) {
            fby_segments_add(count, plan, &piece);
        }
    }
}

uint64_t fby_segments_room(const struct fby_raw_layout *layout,
    const struct fby_expansion *plans, uint64_t bytes)
{
    struct fby_segments count = {.arena = NULL};
    uint64_t            more  = FBY_SEGMENT_ALIGN;
    fby_segments_copy(&count, 0, bytes, 0);
    for (uint32_t f = 0; f < layout->n_fields; f++) {
        if (fby_segments_take_table(&plans[f], layout->rows)) {
            const struct fby_piece_of_documents piece = {.rows = layout->rows};
            fby_segments_add_documents(&count, &plans[f], &piece);
        } else if (!fby_segments_know(&plans[f])) {
            uint64_t most = plans[f].out_bytes * layout->rows +
                            plans[f].tensors[0].more_bytes;
            fby_segments_copy(&count, 0, most, 0);
        } else if (fby_expansion_varies(&plans[f])) {
            more += aligned(count_rows(&count, layout, &plans[f], f));
        } else {
            count_chunks(&count, layout, &plans[f], f);
        }
    }
    return more + aligned(list_bytes(&count));
}

/* ---- ids ----------------------------------------------------------------- */

static int64_t id_at(enum fby_type type, const uint8_t *raw, uint64_t i)
{
    uint32_t width = fby_type_bytes(type);
    uint64_t bits  = 0;
    for (uint32_t b = 0; b < width; b++) {
        bits |= (uint64_t)raw[i * width + b] << (8 * b);
    }
    return fby_number_of(type, bits).i;
}

fby_err fby_segments_check_ids(const struct fby_expansion *plan,
    const uint8_t *raw, uint64_t rows, struct fby_why *why)
{
    for (uint64_t i = 0; i < rows; i++) {
        int64_t id = id_at(plan->from, raw, i);
        if (id < 0 || id >= (int64_t)plan->classes) {
            return fby_because(why, FBY_PROTO,
                "field %s: label %lld is not one of 0 to %u", plan->name,
                (long long)id, plan->classes - 1);
        }
    }
    return FBY_OK;
}
