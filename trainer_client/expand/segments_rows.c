/* segments_rows.c - segments of ragged and sparse rows and of documents, and
 * the number of their blocks. */
#include "trainer_client/expand/segments_list.h"

#include <string.h>

#include "trainer_client/expand/rows.h"

uint64_t fby_segments_groups(uint32_t rows)
{
    return (rows + FBY_BLOCK_ROWS - 1) / FBY_BLOCK_ROWS;
}

void fby_segments_count(const struct fby_ragged_offsets *rows,
    struct fby_ragged_piece *piece, uint64_t *groups)
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

/* Blocks for all values of a group of rows with `row_values` each. */
static uint64_t blocks_of(
    const struct fby_segment *segment, const struct fby_ragged_piece *piece)
{
    uint64_t group =
        piece->rows < FBY_BLOCK_ROWS ? piece->rows : (uint32_t)FBY_BLOCK_ROWS;
    return (group * segment->row_values + FBY_BLOCK_VALUES - 1) /
           FBY_BLOCK_VALUES;
}

/* Add rows that are equally long out; a group has `parts` blocks, at least
 * 1. */
static void add_equal_rows(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece, uint64_t parts)
{
    segment.to    = plan->to;
    segment.parts = parts > 0 ? (uint32_t)parts : 1;
    segment.n     = (uint32_t)fby_segments_groups(piece->rows) * segment.parts;
    segment.out   = piece->out[0] + (uint64_t)piece->first_row *
                                      segment.row_values *
                                      fby_type_bytes(plan->to);
    fby_seglist_put(self, &segment);
}

/* A chunk has at most FBY_UNIT_MAX values, padded, so all products fit. */
static void add_padded(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece)
{
    segment.kind = FBY_SEGMENT_PADDED;
    segment.lengths =
        piece->out[1] + sizeof(int32_t) * (uint64_t)piece->first_row;
    add_equal_rows(self, plan, segment, piece, blocks_of(&segment, piece));
}

static void add_values_of_rows(struct fby_segments *self,
    const struct fby_expansion *plan, uint64_t at,
    const struct fby_ragged_piece *piece)
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
    const struct fby_seglist_units values = {
        piece->entries * entry, in, out, 1};
    fby_seglist_set_scale(plan, &segment);
    fby_seglist_put_split(self, segment, &values);
}

/* Add the offsets of the rows. */
static void add_offsets(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece)
{
    segment.kind  = FBY_SEGMENT_OFFSETS;
    segment.to    = plan->offsets;
    segment.parts = 1;
    segment.n     = (uint32_t)fby_segments_groups(piece->rows);
    segment.out   = piece->out[1];
    fby_seglist_put(self, &segment);
}

/* ---- sparse rows --------------------------------------------------------- */

/* Indices are below 2^31, so every type of offsets holds them. */
static void add_indices(struct fby_segments *self,
    const struct fby_expansion *plan, uint64_t at,
    const struct fby_ragged_piece *piece)
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
    const struct fby_seglist_units indices = {
        piece->entries, plan->index_bytes, width, 1};
    fby_seglist_put_split(self, segment, &indices);
}

/* Every group has the blocks that an average group needs. They loop, so one
 * large group does not require blocks that stay idle in the others. */
static void add_coordinates(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece)
{
    uint64_t groups = fby_segments_groups(piece->rows);
    segment.kind    = FBY_SEGMENT_COO;
    segment.out     = piece->out[1];
    segment.total   = piece->total;
    segment.n_dims  = plan->shape.n_dims;
    segment.parts = 1 + (uint32_t)(piece->entries / groups / FBY_BLOCK_VALUES);
    segment.n     = (uint32_t)groups * segment.parts;
    memcpy(segment.dims, plan->shape.dims, sizeof(segment.dims));
    fby_seglist_put(self, &segment);
}

static uint64_t dense_blocks(uint64_t entries)
{
    enum { BUSY = 512, ENTRIES = 64 }; /* blocks; entries per further block */
    return BUSY + entries / ENTRIES;
}

/* Zeros do not cross the bus, so their number does not bound the blocks. There
 * are as many blocks as keep a GPU busy, plus some per entry; they loop. */
static void add_dense(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece)
{
    segment.kind       = FBY_SEGMENT_DENSE;
    segment.row_values = (uint32_t)fby_dense_values(&plan->shape);
    uint64_t parts     = blocks_of(&segment, piece);
    uint64_t most =
        dense_blocks(piece->entries) / fby_segments_groups(piece->rows);
    add_equal_rows(self, plan, segment, piece, parts < most ? parts : most);
}

static void add_sparse(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    struct fby_segment segment, const struct fby_ragged_piece *piece)
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
        add_coordinates(self, plan, segment, piece);
    }
}

uint64_t fby_seglist_max_blocks(
    const struct fby_expansion *plan, const struct fby_ragged_piece *piece)
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

/* ---- all ragged fields --------------------------------------------------- */

void fby_segments_add_rows(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    uint64_t longest, const struct fby_ragged_piece *piece)
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
    fby_seglist_need_shared(self, sizeof(struct fby_group));
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
    const struct fby_expansion *plan, const struct fby_documents_piece *piece)
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
    fby_seglist_put(self, &segment);
}
