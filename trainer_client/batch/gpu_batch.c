/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_batch.c - complete the arena of one batch and send it to a GPU.
 *
 * The arena is the memory that is copied to the GPU. Most chunks are there
 * already, as received. Fields that the host must see (such as for digests) are
 * appended now, as raw bytes. Fields that the GPU cannot expand are appended as
 * tensors, which the GPU only copies. Last comes the list of segments, which
 * tells the GPU what to do (expand/segments.h). */
#include <string.h>

#include "trainer_client/batch/make_batch.h"
#include "trainer_client/expand/documents.h"
#include "trainer_client/expand/host.h"
#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/segments.h"

/* One field of the batch. `values`, `ops_plan` and all members below that are
 * offsets in the arena. Offset 0 always holds values of the first field. So in
 * the optional members, `ops_plan` and below, 0 means "not present". */
struct arena_field {
    uint32_t                    index; /* index among the selected fields */
    const struct fby_expansion *plan;
    const struct fby_raw_field *raw_field;
    const uint8_t              *host_raw;    /* in the slot; NULL if in_arena */
    struct fby_ragged_offsets  *row_offsets; /* ragged fields only */
    struct fby_arena_chunk     *chunks;      /* array, of this field */
    bool                        in_arena;    /* the arena has all chunks */
    bool     expanded;    /* by the host: `values` is the tensor */
    uint64_t values;      /* values that the host put into the arena */
    uint64_t value_bytes; /* size of the values */
    uint64_t ops_plan;    /* struct fby_ops_plan */
    uint64_t params;      /* per row: random parameters or flips */
    uint64_t grey_sums;   /* per row: zero, where the GPU sums grey levels */
    uint64_t factors;     /* scales and offsets of normalize */
    uint64_t groups;      /* ragged: for each group of rows (segment.h), the
                           number of entries before it */
};

struct gpu_packer { /* a batch while its arena is completed */
    const struct fby_batch_job  *job;
    const struct fby_setup      *setup;
    const struct fby_raw_layout *layout;
    struct fby_request_slot     *slot;
    uint32_t                     rows;
    uint32_t                     n_fields;
    struct arena_field           fields[FBY_MAX_FIELDS];
};

/* Append bytes to the arena; returns their offset. append_zeros and
 * append_flips return an offset, too. */
static uint64_t append_bytes(
    struct gpu_packer *p, const void *from, uint64_t bytes)
{
    uint64_t offset = fby_request_slot_reserve_bytes(p->slot, bytes);
    memcpy(p->slot->arena + offset, from, bytes);
    return offset;
}

static uint64_t append_zeros(struct gpu_packer *p, uint64_t bytes)
{
    uint64_t offset = fby_request_slot_reserve_bytes(p->slot, bytes);
    memset(p->slot->arena + offset, 0, bytes);
    return offset;
}

/* ---- fields of equally long rows ----------------------------------------- */

static fby_err check_arena_labels(const struct gpu_packer *p,
    const struct arena_field *f, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < f->raw_field->n_chunks && err == FBY_OK; i++) {
        err = fby_check_labels(f->plan, p->slot->arena + f->chunks[i].offset,
            f->chunks[i].bytes / f->plan->raw_bytes, why);
    }
    return err;
}

static fby_err append_equal_rows(
    struct gpu_packer *p, struct arena_field *f, struct fby_error_detail *why)
{
    f->expanded = !fby_segments_can_expand(f->plan);
    if (f->expanded) {
        f->value_bytes = p->rows * f->plan->out_bytes;
        f->values = fby_request_slot_reserve_bytes(p->slot, f->value_bytes);
        return fby_batch_expand_field(
            p->job, f->index, p->slot->arena + f->values, why);
    }
    f->value_bytes = f->raw_field->raw_bytes;
    f->values      = append_bytes(p, f->host_raw, f->value_bytes);
    return fby_check_labels(f->plan, f->host_raw, p->rows, why);
}

/* ---- ragged fields ------------------------------------------------------- */

/* True if the field's tensor (cu_seqlens, positions, mask) is computed from
 * document lengths, not from values. The host makes the tensor, or a table of
 * documents from which the GPU makes it. */
static bool is_from_documents(const struct arena_field *f)
{
    return f->plan->documents && !fby_segments_can_expand(f->plan);
}

static void append_documents(struct gpu_packer *p, struct arena_field *f)
{
    f->expanded    = !fby_segments_accept_table(f->plan, p->setup->max_rows);
    f->value_bytes = f->expanded ? fby_documents_bytes(f->plan, f->row_offsets)
                                 : sizeof(uint32_t) * f->row_offsets->documents;
    f->values      = fby_request_slot_reserve_bytes(p->slot, f->value_bytes);
    uint8_t *to    = p->slot->arena + f->values;
    if (f->expanded) {
        fby_expand_documents(f->plan, f->row_offsets, f->host_raw, to);
    } else {
        fby_documents_write_table(
            f->plan, f->row_offsets, f->host_raw, (uint32_t *)(void *)to);
    }
}

/* Append the chunks of a ragged field, each with the size that was sent. */
static void append_chunks(struct gpu_packer *p, struct arena_field *f)
{
    for (uint32_t i = 0; i < f->raw_field->n_chunks; i++) {
        struct fby_raw_span span =
            fby_layout_chunk_span(p->layout, f->index, i);
        uint32_t sent =
            p->job->input->chunks_sent[f->raw_field->first_chunk + i].raw_bytes;
        f->chunks[i].bytes = sent;
        f->chunks[i].offset =
            append_bytes(p, f->host_raw + span.raw_offset, sent);
    }
}

/* Write the tables of groups of all chunks, one after another, at f->groups. If
 * `list` is not NULL, also add the chunks to the list. */
static void write_group_tables(struct gpu_packer *p,
    const struct arena_field *f, struct fby_segments *list)
{
    uint64_t first_entry = 0;
    uint64_t table       = f->groups; /* of this chunk: offset in the arena */
    for (uint32_t i = 0; i < f->raw_field->n_chunks; i++) {
        struct fby_raw_span span =
            fby_layout_chunk_span(p->layout, f->index, i);
        struct fby_ragged_piece piece = {
            .at        = f->chunks[i].offset,
            .groups    = table,
            .first_row = span.first_row,
            .rows      = span.rows,
            .first     = first_entry,
            .total     = f->row_offsets->total,
        };
        memcpy(piece.out, p->setup->tensor_offset[f->index], sizeof(piece.out));
        fby_segments_count_entries(f->row_offsets, &piece,
            (uint64_t *)(void *)(p->slot->arena + table));
        if (list != NULL) {
            fby_segments_add_rows(list, f->plan, f->raw_field,
                fby_expansion_padded_entries(f->plan, f->row_offsets), &piece);
        }
        first_entry += piece.entries;
        table += sizeof(uint64_t) * fby_segments_n_groups(piece.rows);
    }
}

static fby_err read_row_offsets(const struct gpu_packer *p,
    const struct arena_field *f, struct fby_error_detail *why)
{
    const struct fby_ragged_offsets_in in = {
        .name         = f->plan->name,
        .layout       = p->layout,
        .field        = f->index,
        .raw          = f->in_arena ? p->slot->arena : f->host_raw,
        .arena_chunks = f->in_arena ? f->chunks : NULL,
        .sent         = p->job->input->chunks_sent + f->raw_field->first_chunk,
    };
    fby_err err = fby_ragged_offsets_read(f->row_offsets, &in, why);
    return err == FBY_OK && f->plan->documents
               ? fby_documents_check(f->plan, f->row_offsets, in.raw, why)
               : err;
}

static fby_err append_ragged_rows(
    struct gpu_packer *p, struct arena_field *f, struct fby_error_detail *why)
{
    uint64_t n_groups = 0;
    fby_err  err      = read_row_offsets(p, f, why);
    if (err != FBY_OK) {
        return err;
    }
    if (is_from_documents(f)) {
        append_documents(p, f);
        return FBY_OK;
    }
    if (!f->in_arena) {
        append_chunks(p, f);
    }
    for (uint32_t i = 0; i < f->raw_field->n_chunks; i++) {
        n_groups += fby_segments_n_groups(
            fby_layout_chunk_span(p->layout, f->index, i).rows);
    }
    f->groups =
        fby_request_slot_reserve_bytes(p->slot, n_groups * sizeof(uint64_t));
    write_group_tables(p, f, NULL); /* add_field_segments makes the list */
    return FBY_OK;
}

/* Append what a ragged field needs in a batch without rows: its offsets, since
 * there are always rows + 1 of them. */
static void append_zero_rows(struct gpu_packer *p, struct arena_field *f)
{
    if (!fby_expansion_is_ragged(f->plan)) {
        return;
    }
    fby_ragged_offsets_clear(f->row_offsets);
    if (is_from_documents(f)) {
        append_documents(p, f);
    } else {
        f->groups = append_zeros(p, sizeof(int64_t)); /* the only offset */
    }
}

/* ---- ops of the device --------------------------------------------------- */

/* Append one byte per row, which says how the picture is flipped. */
static uint64_t append_flips(
    struct gpu_packer *p, const struct fby_ops_row *rows)
{
    uint64_t offset = fby_request_slot_reserve_bytes(p->slot, p->rows);
    for (uint32_t r = 0; r < p->rows; r++) {
        p->slot->arena[offset + r] =
            (uint8_t)((rows[r].mirror_x != 0 ? FBY_MIRROR_X : 0) |
                      (rows[r].mirror_y != 0 ? FBY_MIRROR_Y : 0));
    }
    return offset;
}

static bool any_row_needs_grey(const struct fby_ops_row *rows, uint32_t n)
{
    bool any = false;
    for (uint32_t r = 0; r < n && !any; r++) {
        any = fby_ops_needs_grey(&rows[r]);
    }
    return any;
}

/* Returns the offset of the random parameters that an earlier field with the
 * same ops has appended; 0: none has. */
static uint64_t find_shared_params(
    const struct gpu_packer *p, const struct arena_field *f)
{
    for (uint32_t i = 0; i < f->index; i++) {
        if (p->fields[i].plan->ops_field == f->plan->ops_field) {
            return p->fields[i].params;
        }
    }
    return 0;
}

static void append_row_params(struct gpu_packer *p, struct arena_field *f)
{
    const struct fby_ops_row *rows =
        fby_batch_draw_params(p->job, f->plan->ops_field);
    if (f->plan->kind == FBY_EXPAND_OPS && f->plan->ops.plain) {
        f->params = append_flips(p, rows);
        return;
    }
    f->params = find_shared_params(p, f);
    if (f->params == 0) {
        f->params = append_bytes(p, rows, p->rows * sizeof(*rows));
    }
    if (f->plan->kind == FBY_EXPAND_OPS) {
        f->ops_plan = append_bytes(p, &f->plan->ops, sizeof(f->plan->ops));
        if (any_row_needs_grey(rows, p->rows)) {
            f->grey_sums = append_zeros(p, p->rows * sizeof(uint64_t));
        }
    }
}

/* True if device ops read the pictures directly in the arena, because the host
 * has put them there as interleaved RGB. */
static bool is_rgb_in_arena(const struct arena_field *f)
{
    return fby_segments_needs_gather(f->plan) && !f->plan->yuv420 &&
           !f->in_arena;
}

static void add_ops_segments(const struct gpu_packer *p,
    const struct arena_field *f, enum fby_pass pass, struct fby_segments *list)
{
    const struct fby_ops_piece piece = {
        .at = is_rgb_in_arena(f) ? f->values : p->setup->work_offset[f->index],
        .rows   = p->rows,
        .plan   = f->ops_plan,
        .params = f->params,
        .sums   = f->grey_sums,
        .out    = p->setup->out_offset[f->index],
    };
    bool on_gpu =
        fby_segments_needs_gather(f->plan) && fby_segments_can_expand(f->plan);
    /* FBY_PASS_GREYS is only for batches with contrast. */
    bool in_pass = pass == FBY_PASS_OPS || f->grey_sums != 0;
    if (on_gpu && in_pass) {
        fby_segments_add_ops(list, f->plan, &piece);
    }
}

/* ---- the arena's bytes --------------------------------------------------- */

static fby_err append_all_fields(
    struct gpu_packer *p, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < p->n_fields && err == FBY_OK; i++) {
        struct arena_field *f = &p->fields[i];
        if (p->rows == 0) {
            append_zero_rows(p, f);
        } else if (fby_expansion_is_ragged(f->plan)) {
            err = append_ragged_rows(p, f, why);
        } else if (!f->in_arena) {
            err = append_equal_rows(p, f, why);
        } else if (f->plan->classes > 0) {
            err = check_arena_labels(p, f, why);
        }
    }
    return err;
}

/* Append the random parameters, and the scales and offsets of normalize. */
static void append_all_params(struct gpu_packer *p)
{
    for (uint32_t i = 0; i < p->n_fields; i++) {
        struct arena_field *f = &p->fields[i];
        float               factors[2 * FBY_MAX_FACTORS];
        uint32_t n_factors = fby_segments_write_factors(f->plan, factors);
        if (f->plan->ops_field != NULL) {
            append_row_params(p, f);
        }
        if (n_factors > 0) { /* else `factors` stays 0: not present */
            f->factors = append_bytes(p, factors, n_factors * sizeof(float));
        }
    }
}

/* ---- the list of segments ------------------------------------------------ */

/* Add the segments of a piece. They write to the tensor, or to the work memory
 * from which the device ops read. */
static void add_piece_segments(const struct gpu_packer *p,
    const struct arena_field *f, struct fby_piece piece,
    struct fby_segments *list)
{
    piece.params  = f->params;
    piece.factors = f->factors;
    if (fby_segments_needs_gather(f->plan)) {
        piece.out = p->setup->work_offset[f->index];
        fby_segments_add_gathered(list, f->plan, &piece);
    } else {
        piece.out = p->setup->out_offset[f->index];
        fby_segments_add(list, f->plan, &piece);
    }
}

static void add_chunk_segments(const struct gpu_packer *p,
    const struct arena_field *f, struct fby_segments *list)
{
    for (uint32_t i = 0; i < f->raw_field->n_chunks; i++) {
        const struct fby_raw_span span =
            fby_layout_chunk_span(p->layout, f->index, i);
        const struct fby_piece piece = {
            .at         = f->chunks[i].offset,
            .bytes      = f->chunks[i].bytes,
            .packed     = f->chunks[i].packed,
            .raw_offset = span.raw_offset,
            .raw_bytes  = span.raw_bytes,
        };
        add_piece_segments(p, f, piece, list);
    }
}

/* Add the segments of a field whose values the host put into the arena. */
static void add_host_segments(const struct gpu_packer *p,
    const struct arena_field *f, struct fby_segments *list)
{
    uint64_t out = p->setup->out_offset[f->index];
    if (f->expanded) {
        fby_segments_append_copy(list, f->values, f->value_bytes, out);
    } else if (is_from_documents(f)) {
        const struct fby_documents_piece piece = {
            .at        = f->values,
            .rows      = p->rows,
            .documents = (uint32_t)f->row_offsets->documents,
            .out       = out,
        };
        fby_segments_add_documents(list, f->plan, &piece);
    } else if (!is_rgb_in_arena(f)) {
        const struct fby_piece piece = {
            .at = f->values, .raw_bytes = f->value_bytes};
        add_piece_segments(p, f, piece, list);
    }
}

static void add_field_segments(struct gpu_packer *p,
    const struct arena_field *f, struct fby_segments *list)
{
    bool has_offsets =
        f->plan->kind == FBY_EXPAND_RAGGED || f->plan->kind == FBY_EXPAND_CSR;
    if (is_from_documents(f)) { /* also without rows */
        add_host_segments(p, f, list);
        return;
    }
    if (p->rows == 0) {
        if (has_offsets) { /* one entry, which is 0 */
            fby_segments_append_copy(list, f->groups,
                fby_type_bytes(f->plan->offset_type),
                p->setup->tensor_offset[f->index][1]);
        }
    } else if (fby_expansion_is_ragged(f->plan)) {
        write_group_tables(p, f, list);
    } else if (f->in_arena) {
        add_chunk_segments(p, f, list);
    } else {
        add_host_segments(p, f, list);
    }
}

/* Append the list of segments. Returns the number of arena bytes in use. */
static uint64_t append_segment_list(
    struct gpu_packer *p, struct fby_segments *list)
{
    uint64_t valid = append_bytes(p, p->job->input->batch->valid, p->rows);
    fby_segments_begin(list, p->slot->arena, p->slot->used);
    for (uint32_t i = 0; i < p->n_fields; i++) {
        add_field_segments(p, &p->fields[i], list);
    }
    fby_segments_append_copy(
        list, valid, p->rows, p->setup->out_offset[p->n_fields]);
    /* All segments so far belong to the first pass, FBY_PASS_EXPAND. */
    for (int pass = FBY_PASS_GREYS; pass < FBY_PASSES; pass++) {
        fby_segments_begin_pass(list, (enum fby_pass)pass);
        for (uint32_t i = 0; i < p->n_fields && p->rows > 0; i++) {
            add_ops_segments(p, &p->fields[i], (enum fby_pass)pass, list);
        }
    }
    return fby_segments_finish(list);
}

static void init_packer(struct gpu_packer *p, const struct fby_batch_job *job)
{
    const struct fby_batch_input *input = job->input;
    memset(p, 0, sizeof(*p));
    p->job      = job;
    p->setup    = job->setup;
    p->layout   = input->layout;
    p->slot     = input->request_slot;
    p->rows     = input->batch->rows;
    p->n_fields = job->setup->n_fields;
    for (uint32_t i = 0; i < p->n_fields; i++) {
        struct arena_field *f = &p->fields[i];
        f->index              = i;
        f->plan               = &p->setup->expansions[i];
        f->raw_field          = &p->layout->fields[i];
        f->row_offsets        = &input->batch->row_offsets[i];
        f->chunks   = p->slot->arena_chunks + f->raw_field->first_chunk;
        f->in_arena = fby_setup_uploads_as_received(p->setup, i);
        if (!f->in_arena) {
            f->host_raw = p->slot->memory + f->raw_field->slot_offset;
        }
    }
}

fby_err fby_gpu_batch_send(
    const struct fby_batch_job *job, struct fby_error_detail *why)
{
    const struct fby_batch_input *input = job->input;
    struct fby_segments           list;
    struct gpu_packer             p;
    init_packer(&p, job);
    fby_err err = append_all_fields(&p, why);
    if (err != FBY_OK) {
        return err;
    }
    if (p.rows > 0) {
        append_all_params(&p);
    }
    uint64_t                          bytes = append_segment_list(&p, &list);
    const struct fby_gpu_upload_batch batch = {
        .epoch = input->batch->epoch,
        .step  = input->batch->step,
        .arena = input->slot,
        .bytes = bytes,
        .list  = list.list,
        .out   = input->batch->output,
    };
    return fby_gpu_upload_submit(job->upload, &batch, why);
}
