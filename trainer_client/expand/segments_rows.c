/* SPDX-License-Identifier: Apache-2.0 */
/* segments_rows.c - segments of ragged rows, sparse rows and documents. */
#include "trainer_client/expand/segments.h"

#include <string.h>

#include "trainer_client/expand/rows.h"

uint64_t fby_segments_n_groups(uint32_t rows)
{
    return (rows + FBY_BLOCK_ROWS - 1) / FBY_BLOCK_ROWS;
}

void fby_segments_count_entries(const struct fby_ragged_offsets *rows,
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

/* The number of blocks that write all values of a group. */
static uint64_t blocks_per_group(
    const struct fby_segment *segment, const struct fby_ragged_piece *piece)
{
    uint64_t group_rows =
        piece->rows < FBY_BLOCK_ROWS ? piece->rows : (uint32_t)FBY_BLOCK_ROWS;
    return (group_rows * segment->row_values + FBY_BLOCK_VALUES - 1) /
           FBY_BLOCK_VALUES;
}

/* Add rows that have equal lengths in the tensor. A group has `parts` blocks,
 * or one block if `parts` is 0. */
static void add_equal_rows(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece, uint64_t parts)
{
    segment.to    = plan->to;
    segment.parts = parts > 0 ? (uint32_t)parts : 1;
    segment.n   = (uint32_t)fby_segments_n_groups(piece->rows) * segment.parts;
    segment.out = piece->out[0] + (uint64_t)piece->first_row *
                                      segment.row_values *
                                      fby_type_bytes(plan->to);
    fby_segments_append(self, &segment);
}

/* A chunk has at most FBY_CHUNK_BYTES_MAX padded values, so no product
 * overflows. */
static void add_padded(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece)
{
    segment.kind = FBY_SEGMENT_PADDED;
    segment.lengths =
        piece->out[1] + sizeof(int32_t) * (uint64_t)piece->first_row;
    add_equal_rows(
        self, plan, segment, piece, blocks_per_group(&segment, piece));
}

/* Add `n` values that keep their order. If no cast is needed, add a copy. */
static void add_cast(
    struct fby_segments *self, const struct fby_segment *cast, uint64_t n)
{
    uint32_t in_width  = fby_type_bytes((enum fby_type)cast->from);
    uint32_t out_width = fby_type_bytes((enum fby_type)cast->to);
    if (cast->from == cast->to) {
        fby_segments_append_copy(self, cast->in, n * in_width, cast->out);
    } else {
        fby_segments_append_split(self, *cast,
            &(struct fby_segment_units){n, in_width, out_width, 1});
    }
}

/* Add the values of the rows, which begin at offset `values` of the arena. */
static void add_values_of_rows(struct fby_segments *self,
    const struct fby_expansion *plan, uint64_t values,
    const struct fby_ragged_piece *piece)
{
    uint64_t                 entry_values = fby_expansion_entry_values(plan);
    uint32_t                 width        = fby_type_bytes(plan->to);
    const struct fby_segment cast         = {
                .kind = FBY_SEGMENT_VALUES,
                .in   = values,
                .out  = piece->out[0] + piece->first * entry_values * width,
                .from = plan->from,
                .to   = plan->to,
    };
    add_cast(self, &cast, piece->entries * entry_values);
}

static void add_offsets(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece)
{
    segment.kind  = FBY_SEGMENT_OFFSETS;
    segment.to    = plan->offset_type;
    segment.parts = 1;
    segment.n     = (uint32_t)fby_segments_n_groups(piece->rows);
    segment.out   = piece->out[1];
    fby_segments_append(self, &segment);
}

/* ---- sparse rows --------------------------------------------------------- */

/* Add the indices of the entries, in the type of the offsets: i32 or i64. Both
 * can hold an index, which is below 2^31. */
static void add_indices(struct fby_segments *self,
    const struct fby_expansion *plan, uint64_t indices,
    const struct fby_ragged_piece *piece)
{
    static const enum fby_type type_of_width[] = {
        [1] = FBY_U8, [2] = FBY_U16, [4] = FBY_U32};
    const struct fby_segment cast = {
        .kind = FBY_SEGMENT_VALUES,
        .in   = indices,
        .out = piece->out[2] + piece->first * fby_type_bytes(plan->offset_type),
        .from = type_of_width[plan->index_bytes],
        .to   = plan->offset_type,
    };
    add_cast(self, &cast, piece->entries);
}

/* All groups have as many blocks as an average group needs. The blocks of a
 * larger group write more entries each. */
static void add_coordinates(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece)
{
    uint64_t groups = fby_segments_n_groups(piece->rows);
    segment.kind    = FBY_SEGMENT_COO;
    segment.out     = piece->out[1];
    segment.total   = piece->total;
    segment.n_dims  = plan->shape.n_dims;
    segment.parts = 1 + (uint32_t)(piece->entries / groups / FBY_BLOCK_VALUES);
    segment.n     = (uint32_t)groups * segment.parts;
    memcpy(segment.dims, plan->shape.dims, sizeof(segment.dims));
    fby_segments_append(self, &segment);
}

/* The most blocks for the dense rows of a chunk: enough to keep a GPU busy, and
 * one more for every 64 entries. Blocks loop over the dense values, so a
 * large number of these does not make the table of blocks large. */
static uint64_t max_dense_blocks(uint64_t entries)
{
    enum { BUSY_BLOCKS = 512, ENTRIES_PER_BLOCK = 64 };
    return BUSY_BLOCKS + entries / ENTRIES_PER_BLOCK;
}

static void add_dense(struct fby_segments *self,
    const struct fby_expansion *plan, struct fby_segment segment,
    const struct fby_ragged_piece *piece)
{
    segment.kind       = FBY_SEGMENT_DENSE;
    segment.row_values = (uint32_t)fby_dense_values(&plan->shape);
    uint64_t parts     = blocks_per_group(&segment, piece);
    uint64_t max_parts =
        max_dense_blocks(piece->entries) / fby_segments_n_groups(piece->rows);
    parts = parts < max_parts ? parts : max_parts;
    add_equal_rows(self, plan, segment, piece, parts);
}

static void add_sparse(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    struct fby_segment segment, const struct fby_ragged_piece *piece)
{
    /* Sparse rows have their indices where other ragged rows have values. */
    segment.indices = segment.values;
    segment.values  = piece->at + fby_sparse_values_offset(
                                      field, piece->rows, piece->entries);
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

uint64_t fby_segments_max_blocks(
    const struct fby_expansion *plan, const struct fby_ragged_piece *piece)
{
    uint64_t groups = fby_segments_n_groups(piece->rows);
    if (plan->kind == FBY_EXPAND_COO) {
        return groups + piece->entries / FBY_BLOCK_VALUES;
    }
    if (plan->kind == FBY_EXPAND_DENSE) {
        return groups + max_dense_blocks(piece->entries);
    }
    return 0;
}

/* ---- all ragged fields --------------------------------------------------- */

void fby_segments_add_rows(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    uint64_t longest, const struct fby_ragged_piece *piece)
{
    uint32_t entry_values = (uint32_t)fby_expansion_entry_values(plan);
    const struct fby_segment segment = {
        .in           = piece->at,
        .values       = piece->at + fby_ragged_lengths_end(field, piece->rows),
        .groups       = piece->groups,
        .pad          = plan->pad,
        .from         = plan->from,
        .rows         = piece->rows,
        .first_row    = piece->first_row,
        .length_bytes = field->length_bytes,
        .entry        = entry_values,
        .row_values   = (uint32_t)longest * entry_values,
    };
    fby_segments_reserve_shared(self, sizeof(struct fby_group));
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
    fby_segments_append(self, &segment);
}
