/* gpu_batch.c - completes the arena of one batch and sends it to a GPU.
 *
 * Most chunks are in the arena already, as received. Fields that the host must
 * see first (for digests) are added now, as raw bytes. Fields that the GPU
 * cannot expand are added as tensors, which the GPU only copies. The list of
 * segments, which tells the GPU what to do, comes last (expand/segments.h). */
#include <string.h>

#include "trainer_client/batch/make_batch.h"
#include "trainer_client/expand/documents.h"
#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/segments.h"

/* One field while its batch is packed. `values`, `ops_plan`, `params`, ... are
 * offsets in the arena. Offset 0 is always the first field's values, so in the
 * optional members (`ops_plan` and below) 0 means "not present". */
struct packed_field {
    uint32_t                    number; /* index among the selected fields */
    const struct fby_expansion *plan;
    const struct fby_raw_field *raw;
    const uint8_t              *from;        /* raw bytes; NULL: in the arena */
    struct fby_ragged_offsets  *row_offsets; /* ragged fields only */
    struct fby_arena_chunk     *chunks;      /* the field's first chunk */
    bool                        in_arena;    /* the chunks arrived there */
    bool     expanded;  /* `values` is the tensor, expanded by the host */
    uint64_t values;    /* values that the host put into the arena */
    uint64_t bytes;     /* length of `values` */
    uint64_t ops_plan;  /* struct fby_ops_plan */
    uint64_t params;    /* random parameters or flips, per row */
    uint64_t grey_sums; /* zeros; the GPU adds up each row's grey levels */
    uint64_t factors;   /* scales and offsets of normalize */
    uint64_t groups;    /* ragged: for each group of rows (segment.h), the
                           number of entries before it */
};

struct gpu_packing { /* a batch while its arena is completed */
    const struct fby_batch_job  *job;
    const struct fby_setup      *setup;
    const struct fby_raw_layout *layout;
    struct fby_request_slot     *slot;
    uint32_t                     rows;
    uint32_t                     n_fields;
    struct packed_field          fields[FBY_MAX_FIELDS];
};

static uint64_t put_bytes(
    struct gpu_packing *p, const void *from, uint64_t bytes)
{
    uint64_t offset = fby_request_slot_reserve_bytes(p->slot, bytes);
    memcpy(p->slot->arena + offset, from, bytes);
    return offset;
}

static uint64_t put_zeros(struct gpu_packing *p, uint64_t bytes)
{
    uint64_t offset = fby_request_slot_reserve_bytes(p->slot, bytes);
    memset(p->slot->arena + offset, 0, bytes);
    return offset;
}

/* ---- fields of equally long rows ----------------------------------------- */

static fby_err check_arena_labels(const struct gpu_packing *p,
    const struct packed_field *f, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < f->raw->n_chunks && err == FBY_OK; i++) {
        err = fby_segments_check_labels(f->plan,
            p->slot->arena + f->chunks[i].offset,
            f->chunks[i].bytes / f->plan->raw_bytes, why);
    }
    return err;
}

static fby_err put_equal_rows(
    struct gpu_packing *p, struct packed_field *f, struct fby_error_detail *why)
{
    f->expanded = !fby_segments_supported(f->plan);
    if (f->expanded) {
        f->bytes  = p->rows * f->plan->out_bytes;
        f->values = fby_request_slot_reserve_bytes(p->slot, f->bytes);
        return fby_batch_expand_field(
            p->job, f->number, p->slot->arena + f->values, why);
    }
    f->bytes  = f->raw->raw_bytes;
    f->values = put_bytes(p, f->from, f->bytes);
    return f->plan->kind == FBY_EXPAND_ONE_HOT ||
                   f->plan->kind == FBY_EXPAND_MIX
               ? fby_segments_check_labels(f->plan, f->from, p->rows, why)
               : FBY_OK;
}

/* ---- ragged fields ------------------------------------------------------- */

/* True if the field's tensor is computed from document lengths (cu_seqlens,
 * positions, mask) and not copied from its chunks. The host makes it, or a
 * table from which the GPU makes it. */
static bool is_from_documents(const struct packed_field *f)
{
    return f->plan->documents && !fby_segments_supported(f->plan);
}

static void put_documents(struct gpu_packing *p, struct packed_field *f)
{
    f->expanded = !fby_segments_accept_table(f->plan, p->setup->max_rows);
    f->bytes    = f->expanded ? fby_documents_bytes(f->plan, f->row_offsets)
                              : sizeof(uint32_t) * f->row_offsets->documents;
    f->values   = fby_request_slot_reserve_bytes(p->slot, f->bytes);
    uint8_t *to = p->slot->arena + f->values;
    if (f->expanded) {
        fby_expand_documents(f->plan, f->row_offsets, f->from, to);
    } else {
        fby_documents_table(
            f->plan, f->row_offsets, f->from, (uint32_t *)(void *)to);
    }
}

/* Copy a ragged field's chunks to the arena, each with its size as sent. */
static void put_chunks(struct gpu_packing *p, struct packed_field *f)
{
    for (uint32_t i = 0; i < f->raw->n_chunks; i++) {
        struct fby_raw_span span =
            fby_layout_chunk_span(p->layout, f->number, i);
        uint32_t sent = p->job->input->sent[f->raw->first_chunk + i].raw_bytes;
        f->chunks[i].bytes  = sent;
        f->chunks[i].offset = put_bytes(p, f->from + span.raw_offset, sent);
    }
}

/* Write the table of groups of each chunk, one table after another. If `list`
 * is not NULL, also add the chunks to the list. */
static void write_group_tables(struct gpu_packing *p,
    const struct packed_field *f, struct fby_segments *list)
{
    uint64_t first_entry = 0;
    uint64_t groups      = f->groups;
    for (uint32_t i = 0; i < f->raw->n_chunks; i++) {
        struct fby_raw_span span =
            fby_layout_chunk_span(p->layout, f->number, i);
        struct fby_ragged_piece piece = {
            .at        = f->chunks[i].offset,
            .groups    = groups,
            .first_row = span.first_row,
            .rows      = span.rows,
            .first     = first_entry,
            .total     = f->row_offsets->total,
        };
        memcpy(
            piece.out, p->setup->tensor_offset[f->number], sizeof(piece.out));
        fby_segments_count_entries(f->row_offsets, &piece,
            (uint64_t *)(void *)(p->slot->arena + groups));
        if (list != NULL) {
            fby_segments_add_rows(list, f->plan, f->raw,
                fby_expansion_padded_entries(f->plan, f->row_offsets), &piece);
        }
        first_entry += piece.entries;
        groups += sizeof(uint64_t) * fby_segments_n_groups(piece.rows);
    }
}

static fby_err read_row_offsets(const struct gpu_packing *p,
    const struct packed_field *f, struct fby_error_detail *why)
{
    const struct fby_ragged_offsets_in in = {
        .name         = f->plan->name,
        .layout       = p->layout,
        .field        = f->number,
        .raw          = f->in_arena ? p->slot->arena : f->from,
        .arena_chunks = f->in_arena ? f->chunks : NULL,
        .sent         = p->job->input->sent + f->raw->first_chunk,
    };
    fby_err err = fby_ragged_offsets_read(f->row_offsets, &in, why);
    return err == FBY_OK && f->plan->documents
               ? fby_documents_check(f->plan, f->row_offsets, in.raw, why)
               : err;
}

static fby_err put_ragged_rows(
    struct gpu_packing *p, struct packed_field *f, struct fby_error_detail *why)
{
    uint64_t groups = 0;
    fby_err  err    = read_row_offsets(p, f, why);
    if (err != FBY_OK) {
        return err;
    }
    if (is_from_documents(f)) {
        put_documents(p, f);
        return FBY_OK;
    }
    if (!f->in_arena) {
        put_chunks(p, f);
    }
    for (uint32_t i = 0; i < f->raw->n_chunks; i++) {
        groups += fby_segments_n_groups(
            fby_layout_chunk_span(p->layout, f->number, i).rows);
    }
    f->groups =
        fby_request_slot_reserve_bytes(p->slot, groups * sizeof(uint64_t));
    write_group_tables(p, f, NULL);
    return FBY_OK;
}

/* A ragged field needs its offsets even without rows, since there are always
 * rows + 1 of them. */
static void put_zero_rows(struct gpu_packing *p, struct packed_field *f)
{
    if (!fby_expansion_is_ragged(f->plan)) {
        return;
    }
    fby_ragged_offsets_clear(f->row_offsets);
    if (is_from_documents(f)) {
        put_documents(p, f);
    } else {
        f->groups = put_zeros(p, sizeof(int64_t));
    }
}

/* ---- ops of the device --------------------------------------------------- */

/* Put one byte of flips per row. */
static uint64_t put_mirrors(
    struct gpu_packing *p, const struct fby_ops_row *rows)
{
    uint64_t offset = fby_request_slot_reserve_bytes(p->slot, p->rows);
    for (uint32_t r = 0; r < p->rows; r++) {
        p->slot->arena[offset + r] =
            (uint8_t)((rows[r].mirror_x != 0 ? FBY_MIRROR_X : 0) |
                      (rows[r].mirror_y != 0 ? FBY_MIRROR_Y : 0));
    }
    return offset;
}

static bool any_needs_grey(const struct fby_ops_row *rows, uint32_t n)
{
    bool any = false;
    for (uint32_t r = 0; r < n; r++) {
        any = any || fby_ops_needs_grey(&rows[r]);
    }
    return any;
}

/* The offset of the random parameters that were put for an earlier field with
 * the same ops; 0: none. */
static uint64_t find_shared_params(
    const struct gpu_packing *p, const struct packed_field *f)
{
    for (uint32_t i = 0; i < f->number; i++) {
        if (p->fields[i].plan->ops_field == f->plan->ops_field) {
            return p->fields[i].params;
        }
    }
    return 0;
}

static void put_row_params(struct gpu_packing *p, struct packed_field *f)
{
    const struct fby_ops_row *rows =
        fby_batch_draw_params(p->job, f->plan->ops_field);
    if (f->plan->kind == FBY_EXPAND_OPS && f->plan->ops.plain) {
        f->params = put_mirrors(p, rows);
        return;
    }
    f->params = find_shared_params(p, f);
    if (f->params == 0) {
        f->params = put_bytes(p, rows, p->rows * sizeof(*rows));
    }
    if (f->plan->kind == FBY_EXPAND_OPS) {
        f->ops_plan = put_bytes(p, &f->plan->ops, sizeof(f->plan->ops));
        if (any_needs_grey(rows, p->rows)) {
            f->grey_sums = put_zeros(p, p->rows * sizeof(uint64_t));
        }
    }
}

/* True if the ops can read the pictures where the host put them: a field that
 * usually needs a gather, but is already interleaved RGB in the arena. */
static bool is_interleaved_rgb(const struct packed_field *f)
{
    return fby_segments_needs_gather(f->plan) && !f->plan->yuv420 &&
           !f->in_arena;
}

static void add_ops_segments(const struct gpu_packing *p,
    const struct packed_field *f, enum fby_pass pass, struct fby_segments *list)
{
    const struct fby_ops_piece piece = {
        .at     = is_interleaved_rgb(f) ? f->values
                                        : p->setup->work_offset[f->number],
        .rows   = p->rows,
        .plan   = f->ops_plan,
        .params = f->params,
        .sums   = f->grey_sums,
        .out    = p->setup->out_offset[f->number],
    };
    if (fby_segments_needs_gather(f->plan) && fby_segments_supported(f->plan) &&
        (pass == FBY_PASS_OPS || f->grey_sums != 0)) {
        fby_segments_add_ops(list, f->plan, &piece);
    }
}

/* ---- the arena's bytes --------------------------------------------------- */

static fby_err put_all_fields(
    struct gpu_packing *p, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < p->n_fields && err == FBY_OK; i++) {
        struct packed_field *f = &p->fields[i];
        if (p->rows == 0) {
            put_zero_rows(p, f);
        } else if (fby_expansion_is_ragged(f->plan)) {
            err = put_ragged_rows(p, f, why);
        } else if (!f->in_arena) {
            err = put_equal_rows(p, f, why);
        } else if (f->plan->kind == FBY_EXPAND_ONE_HOT) {
            err = check_arena_labels(p, f, why);
        }
    }
    return err;
}

/* Put the random parameters, scales and offsets. */
static void put_all_params(struct gpu_packing *p)
{
    for (uint32_t i = 0; i < p->n_fields; i++) {
        struct packed_field *f = &p->fields[i];
        float                factors[2 * FBY_MAX_FACTORS];
        uint32_t             n = fby_segments_write_factors(f->plan, factors);
        if (f->plan->ops_field != NULL) {
            put_row_params(p, f);
        }
        f->factors = n > 0 ? put_bytes(p, factors, n * sizeof(float)) : 0;
    }
}

/* ---- the list of segments ------------------------------------------------ */

/* Add a piece. Its destination is the tensor, or the work memory from which ops
 * read. */
static void add_piece_segments(const struct gpu_packing *p,
    const struct packed_field *f, struct fby_piece piece,
    struct fby_segments *list)
{
    piece.params  = f->params;
    piece.factors = f->factors;
    if (fby_segments_needs_gather(f->plan)) {
        piece.out = p->setup->work_offset[f->number];
        fby_segments_add_gathered(list, f->plan, &piece);
    } else {
        piece.out = p->setup->out_offset[f->number];
        fby_segments_add(list, f->plan, &piece);
    }
}

static void add_chunk_segments(const struct gpu_packing *p,
    const struct packed_field *f, struct fby_segments *list)
{
    for (uint32_t i = 0; i < f->raw->n_chunks; i++) {
        const struct fby_raw_span span =
            fby_layout_chunk_span(p->layout, f->number, i);
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
static void add_host_segments(const struct gpu_packing *p,
    const struct packed_field *f, struct fby_segments *list)
{
    uint64_t out = p->setup->out_offset[f->number];
    if (f->expanded) {
        fby_segments_append_copy(list, f->values, f->bytes, out);
    } else if (is_from_documents(f)) {
        const struct fby_documents_piece piece = {
            .at        = f->values,
            .rows      = p->rows,
            .documents = (uint32_t)f->row_offsets->documents,
            .out       = out,
        };
        fby_segments_add_documents(list, f->plan, &piece);
    } else if (!is_interleaved_rgb(f)) {
        const struct fby_piece piece = {.at = f->values, .raw_bytes = f->bytes};
        add_piece_segments(p, f, piece, list);
    }
}

static void add_field_segments(struct gpu_packing *p,
    const struct packed_field *f, struct fby_segments *list)
{
    /* This tensor exists even in a batch without rows. */
    bool documents = is_from_documents(f);
    bool has_rows  = p->rows > 0 && !documents;
    if (has_rows && fby_expansion_is_ragged(f->plan)) {
        write_group_tables(p, f, list);
    } else if (has_rows && f->in_arena) {
        add_chunk_segments(p, f, list);
    } else if (has_rows || documents) {
        add_host_segments(p, f, list);
    } else if (f->plan->kind == FBY_EXPAND_RAGGED ||
               f->plan->kind == FBY_EXPAND_CSR) {
        /* Zero rows: the offsets have one entry, which is 0. */
        fby_segments_append_copy(list, f->groups,
            fby_type_bytes(f->plan->offsets),
            p->setup->tensor_offset[f->number][1]);
    }
}

/* Put the list of segments after the values. Returns the arena's used bytes. */
static uint64_t put_segment_list(
    struct gpu_packing *p, struct fby_segments *list)
{
    uint64_t valid = put_bytes(p, p->job->input->batch->valid, p->rows);
    fby_segments_begin(list, p->slot->arena, p->slot->used);
    for (uint32_t i = 0; i < p->n_fields; i++) {
        add_field_segments(p, &p->fields[i], list);
    }
    fby_segments_append_copy(
        list, valid, p->rows, p->setup->out_offset[p->n_fields]);
    for (int pass = FBY_PASS_GREYS; pass < FBY_PASSES; pass++) {
        fby_segments_begin_pass(list, (enum fby_pass)pass);
        for (uint32_t i = 0; i < p->n_fields && p->rows > 0; i++) {
            add_ops_segments(p, &p->fields[i], (enum fby_pass)pass, list);
        }
    }
    return fby_segments_finish(list);
}

static void begin_packing(
    struct gpu_packing *p, const struct fby_batch_job *job)
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
        struct packed_field *f = &p->fields[i];
        f->number              = i;
        f->plan                = &p->setup->expansions[i];
        f->raw                 = &p->layout->fields[i];
        f->row_offsets         = &input->batch->rows_of[i];
        f->chunks              = p->slot->arena_chunks + f->raw->first_chunk;
        f->in_arena            = fby_setup_uploads_as_received(p->setup, i);
        if (!f->in_arena) {
            f->from = p->slot->memory + f->raw->slot_offset;
        }
    }
}

fby_err fby_gpu_batch_send(
    const struct fby_batch_job *job, struct fby_error_detail *why)
{
    const struct fby_batch_input *input = job->input;
    struct fby_segments           list;
    struct gpu_packing            p;
    begin_packing(&p, job);
    fby_err err = put_all_fields(&p, why);
    if (err != FBY_OK) {
        return err;
    }
    if (p.rows > 0) {
        put_all_params(&p);
    }
    uint64_t                          bytes = put_segment_list(&p, &list);
    const struct fby_gpu_upload_batch batch = {
        .epoch = input->batch->epoch,
        .step  = input->batch->step,
        .arena = input->slot,
        .bytes = bytes,
        .list  = list.list,
        .out   = input->batch->out,
    };
    return fby_gpu_upload_submit(job->upload, &batch, why);
}
