/* segments.c - which fields segments can express, by which kind, and the size
 * of their list. */
#include "trainer_client/expand/segments.h"

#include <string.h>

#include "trainer_client/expand/segments_list.h"

bool fby_segments_supported(const struct fby_expansion *plan)
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

bool fby_segments_accept_table(const struct fby_expansion *plan, uint32_t rows)
{
    bool tokens =
        plan->kind == FBY_EXPAND_POSITIONS || plan->kind == FBY_EXPAND_MASK;
    return tokens && (uint64_t)rows * plan->shape.dims[0] <= FBY_SEGMENT_MAX;
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

void fby_seglist_set_scale(
    const struct fby_expansion *plan, struct fby_segment *segment)
{
    bool affine =
        plan->kind == FBY_EXPAND_AFFINE || plan->kind == FBY_EXPAND_OPS;
    bool scaled = affine || plan->scaled;
    for (uint32_t c = 0; c < FBY_SEGMENT_FACTORS; c++) {
        bool one           = !affine && plan->channels == 1;
        segment->scale[c]  = scaled ? plan->scale[one ? 0 : c] : 1;
        segment->offset[c] = scaled ? plan->offset[one ? 0 : c] : 0;
    }
}

uint32_t fby_segments_factors(const struct fby_expansion *plan, float *out)
{
    uint32_t n = plan->channels;
    if (!plan->scaled || n <= FBY_SEGMENT_FACTORS) {
        return 0;
    }
    if (out != NULL) {
        memcpy(out, plan->scale, n * sizeof(*out));
        memcpy(out + n, plan->offset, n * sizeof(*out));
    }
    return 2 * n;
}

void fby_segments_add(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    if (piece->packed || plan->yuv420) {
        fby_seglist_add_tiles(self, plan, piece);
        return;
    }
    switch (plan->kind) {
    case FBY_EXPAND_COPY:
        fby_segments_copy(
            self, piece->at, piece->raw_bytes, piece->out + piece->raw_offset);
        break;
    case FBY_EXPAND_AFFINE:
        fby_seglist_add_pixels(self, plan, piece);
        break;
    case FBY_EXPAND_CAST:
    case FBY_EXPAND_SCALE:
        fby_seglist_add_values(self, plan, piece);
        break;
    case FBY_EXPAND_PLANAR:
        fby_seglist_add_planar(self, plan, piece);
        break;
    case FBY_EXPAND_ONE_HOT:
        fby_seglist_add_ids(self, plan, piece);
        break;
    case FBY_EXPAND_BITS:
        fby_seglist_add_bits(self, plan, piece);
        break;
    case FBY_EXPAND_OPS:
        fby_seglist_add_pixels(self, plan, piece);
        break;
    case FBY_EXPAND_MIX:
        fby_seglist_add_mixed(self, plan, piece);
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

/* ---- size of the list ---------------------------------------------------- */

/* Count a ragged field's segments; returns the bytes of its tables of
 * groups. */
static uint64_t count_rows(struct fby_segments *count,
    const struct fby_raw_layout *layout, const struct fby_expansion *plan,
    uint32_t f)
{
    const struct fby_raw_field *field  = &layout->fields[f];
    uint64_t                    tables = 0;
    fby_segments_copy(count, 0, sizeof(int64_t), 0); /* for zero rows */
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        struct fby_raw_span           span  = fby_layout_chunk(layout, f, i);
        const struct fby_ragged_piece piece = {
            .rows    = span.rows,
            .entries = (uint64_t)span.rows * field->max_length,
        };
        fby_segments_add_rows(count, plan, field, field->max_length, &piece);
        count->n_blocks += (uint32_t)fby_seglist_max_blocks(plan, &piece);
        tables += fby_segments_groups(span.rows) * sizeof(uint64_t);
    }
    return tables;
}

static void count_chunks(struct fby_segments *count,
    const struct fby_raw_layout *layout, const struct fby_expansion *plan,
    uint32_t f)
{
    struct fby_piece whole  = {.raw_bytes = layout->fields[f].raw_bytes};
    bool             gather = fby_segments_needs_gather(plan);
    fby_segments_add(count, plan, &whole);
    if (gather) {
        const struct fby_ops_piece ops = {.rows = layout->rows};
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
        piece.packed = fby_segments_accept_packed(plan);
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
        if (fby_segments_accept_table(&plans[f], layout->rows)) {
            const struct fby_documents_piece piece = {.rows = layout->rows};
            fby_segments_add_documents(&count, &plans[f], &piece);
        } else if (!fby_segments_supported(&plans[f])) {
            uint64_t most = plans[f].out_bytes * layout->rows +
                            plans[f].tensors[0].more_bytes;
            fby_segments_copy(&count, 0, most, 0);
        } else if (fby_expansion_is_ragged(&plans[f])) {
            more +=
                fby_seglist_aligned(count_rows(&count, layout, &plans[f], f));
        } else {
            count_chunks(&count, layout, &plans[f], f);
        }
    }
    return more + fby_seglist_aligned(fby_seglist_bytes(&count));
}
