/* SPDX-License-Identifier: Apache-2.0 */
/* segments.c - the fields that segments can expand, and the size of a list. */
#include "trainer_client/expand/segments.h"

#include <string.h>

/* The kinds of documents are the last ones of enum fby_expand_kind. */
bool fby_segments_can_expand(const struct fby_expansion *plan)
{
    return plan->kind < FBY_EXPAND_CU_SEQLENS &&
           (plan->kind != FBY_EXPAND_OPS || plan->to != FBY_BOOL);
}

bool fby_segments_accept_table(const struct fby_expansion *plan, uint32_t rows)
{
    bool per_token =
        plan->kind == FBY_EXPAND_POSITIONS || plan->kind == FBY_EXPAND_MASK;
    uint64_t n_tokens = (uint64_t)rows * plan->shape.dims[0];
    return per_token && n_tokens <= FBY_SEGMENT_MAX;
}

bool fby_segments_accept_packed(const struct fby_expansion *plan)
{
    const struct fby_shape *shape = &plan->shape;
    return plan->from == FBY_U8 && shape->n_dims == 3 &&
           !fby_expansion_is_ragged(plan) &&
           (shape->dims[2] == 1 || shape->dims[2] == 3) &&
           plan->kind != FBY_EXPAND_BITS && plan->kind != FBY_EXPAND_ONE_HOT;
}

bool fby_segments_needs_gather(const struct fby_expansion *plan)
{
    return plan->kind == FBY_EXPAND_OPS && !plan->ops.plain;
}

uint64_t fby_segments_gathered_bytes(const struct fby_expansion *plan)
{
    return (uint64_t)plan->pixels * plan->channels;
}

void fby_segments_set_scale(
    const struct fby_expansion *plan, struct fby_segment *segment)
{
    bool affine =
        plan->kind == FBY_EXPAND_AFFINE || plan->kind == FBY_EXPAND_OPS;
    bool scaled = affine || plan->scaled;
    bool single = !affine && plan->channels == 1; /* one scale for all */
    for (uint32_t c = 0; c < FBY_SEGMENT_FACTORS; c++) {
        segment->scale[c]  = scaled ? plan->scale[single ? 0 : c] : 1;
        segment->offset[c] = scaled ? plan->offset[single ? 0 : c] : 0;
    }
}

uint32_t fby_segments_write_factors(
    const struct fby_expansion *plan, float *out)
{
    uint32_t n_scales = plan->channels;
    if (!plan->scaled || n_scales <= FBY_SEGMENT_FACTORS) {
        return 0;
    }
    if (out != NULL) {
        memcpy(out, plan->scale, n_scales * sizeof(*out));
        memcpy(out + n_scales, plan->offset, n_scales * sizeof(*out));
    }
    return 2 * n_scales;
}

static void add_copy(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    (void)plan;
    fby_segments_append_copy(
        self, piece->at, piece->raw_bytes, piece->out + piece->raw_offset);
}

void fby_segments_add(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    static fby_segments_add_fn *const add_fns[] = {
        [FBY_EXPAND_COPY]    = add_copy,
        [FBY_EXPAND_AFFINE]  = fby_segments_add_pixels,
        [FBY_EXPAND_CAST]    = fby_segments_add_values,
        [FBY_EXPAND_SCALE]   = fby_segments_add_values,
        [FBY_EXPAND_PLANAR]  = fby_segments_add_planar,
        [FBY_EXPAND_ONE_HOT] = fby_segments_add_labels,
        [FBY_EXPAND_BITS]    = fby_segments_add_bits,
        [FBY_EXPAND_OPS]     = fby_segments_add_pixels,
        [FBY_EXPAND_MIX]     = fby_segments_add_mixed,
    };
    bool                 tiles = piece->packed || plan->yuv420;
    fby_segments_add_fn *add =
        tiles ? fby_segments_add_tiles : add_fns[plan->kind];
    add(self, plan, piece);
}

struct fby_piece_samples fby_segments_samples(
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    bool partial = piece->raw_bytes < plan->raw_bytes; /* a part of a sample */
    return (struct fby_piece_samples){
        .n         = partial ? 1 : piece->raw_bytes / plan->raw_bytes,
        .first     = piece->raw_offset / plan->raw_bytes,
        .skipped   = piece->raw_offset % plan->raw_bytes,
        .raw_bytes = partial ? piece->raw_bytes : plan->raw_bytes,
    };
}

/* ---- size of the list ---------------------------------------------------- */

/* Count the segments of a ragged field. Returns the bytes of group tables. */
static uint64_t count_ragged_field(struct fby_segments *count,
    const struct fby_raw_layout *layout, const struct fby_expansion *plan,
    uint32_t f)
{
    const struct fby_raw_field *field       = &layout->fields[f];
    uint64_t                    table_bytes = 0;
    fby_segments_append_copy(count, 0, sizeof(int64_t), 0); /* for zero rows */
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        struct fby_raw_span span = fby_layout_chunk_span(layout, f, i);
        const struct fby_ragged_piece piece = {
            .rows    = span.rows,
            .entries = (uint64_t)span.rows * field->max_length,
        };
        fby_segments_add_rows(count, plan, field, field->max_length, &piece);
        count->n_blocks += (uint32_t)fby_segments_max_blocks(plan, &piece);
        table_bytes += fby_segments_n_groups(span.rows) * sizeof(uint64_t);
    }
    return table_bytes;
}

/* Count all segments that a field with equally long rows may need: for the
 * whole field, and for each chunk, raw and packed. */
static void count_even_field(struct fby_segments *count,
    const struct fby_raw_layout *layout, const struct fby_expansion *plan,
    uint32_t f)
{
    struct fby_piece whole  = {.raw_bytes = layout->fields[f].raw_bytes};
    bool             gather = fby_segments_needs_gather(plan);
    fby_segments_add(count, plan, &whole);
    if (gather) {
        const struct fby_ops_piece ops = {.rows = layout->rows};
        fby_segments_add_ops(count, plan, &ops); /* GREYS */
        fby_segments_add_ops(count, plan, &ops); /* OPS */
    }
    for (uint32_t i = 0; i < layout->fields[f].n_chunks; i++) {
        struct fby_raw_span span  = fby_layout_chunk_span(layout, f, i);
        struct fby_piece    piece = {
               .raw_offset = span.raw_offset,
               .raw_bytes  = span.raw_bytes,
        };
        fby_segments_add(count, plan, &piece);
        if (gather) {
            fby_segments_add_gathered(count, plan, &piece);
        }
        piece.packed = fby_segments_accept_packed(plan);
        if (piece.packed) {
            fby_segments_add(count, plan, &piece);
        }
    }
}

uint64_t fby_segments_max_bytes(const struct fby_raw_layout *layout,
    const struct fby_expansion *plans, uint64_t bytes)
{
    struct fby_segments count       = {.arena = NULL};
    uint64_t            other_bytes = FBY_SEGMENT_ALIGN;
    fby_segments_append_copy(&count, 0, bytes, 0);
    for (uint32_t f = 0; f < layout->n_fields; f++) {
        if (fby_segments_accept_table(&plans[f], layout->rows)) {
            const struct fby_documents_piece piece = {.rows = layout->rows};
            fby_segments_add_documents(&count, &plans[f], &piece);
        } else if (!fby_segments_can_expand(&plans[f])) {
            uint64_t max_bytes = plans[f].out_bytes * layout->rows +
                                 plans[f].tensors[0].bytes_after_rows;
            fby_segments_append_copy(&count, 0, max_bytes, 0);
        } else if (fby_expansion_is_ragged(&plans[f])) {
            other_bytes += fby_segments_align_up(
                count_ragged_field(&count, layout, &plans[f], f));
        } else {
            count_even_field(&count, layout, &plans[f], f);
        }
    }
    return other_bytes + fby_segments_align_up(fby_segments_bytes(&count));
}
