#include "trainer_client/batch/gpu_batch.h"

#include <string.h>

#include "trainer_client/expand/documents.h"
#include "trainer_client/expand/segments.h"

struct host_field { /* a field that the host put into the arena */
    uint64_t at;    /* offset in the arena */
    uint64_t bytes;
    bool     expanded; /* by the host; else raw */
};

struct sampled_params { /* offsets in the arena for a field; 0: none */
    uint64_t plan, rows, sums;
};

/* A batch while it is packed; all uint64_t members are offsets in the arena. */
struct gpu_packing {
    const struct fby_setup          *setup;
    const struct fby_gpu_batch_host *host;
    const struct fby_batch_input    *input;
    struct fby_request_slot         *slot;
    uint64_t                         valid;
    struct host_field                host_fields[FBY_MAX_FIELDS];
    struct sampled_params            sampled[FBY_MAX_FIELDS];
    uint64_t                         factors[FBY_MAX_FIELDS]; /* 0: none */
    uint64_t groups[FBY_MAX_FIELDS]; /* ragged: the table of groups */
};

/* Reserve `bytes` of the arena at a multiple of 16; returns the offset. */
static uint64_t reserve(struct fby_request_slot *slot, uint64_t bytes)
{
    uint64_t at = (slot->used + FBY_SEGMENT_ALIGN - 1) / FBY_SEGMENT_ALIGN *
                  FBY_SEGMENT_ALIGN;
    slot->used = at + bytes;
    return at;
}

static uint32_t rows_of(const struct gpu_packing *p)
{
    return p->input->batch->rows;
}

/* ---- fields that the host sees first ------------------------------------- */

static fby_err check_ids(
    const struct gpu_packing *p, uint32_t field, struct fby_why *why)
{
    const struct fby_expansion *plan = &p->setup->expansions[field];
    const struct fby_raw_field *raw  = &p->input->layout->fields[field];
    fby_err                     err  = FBY_OK;
    for (uint32_t i = 0; i < raw->n_chunks && err == FBY_OK; i++) {
        const struct fby_arena_chunk *chunk =
            &p->slot->arena_chunks[raw->first_chunk + i];
        err = fby_segments_check_ids(plan, p->slot->arena + chunk->offset,
            chunk->bytes / plan->raw_bytes, why);
    }
    return err;
}

static fby_err put_field(
    struct gpu_packing *p, uint32_t field, struct fby_why *why)
{
    const struct fby_expansion *plan       = &p->setup->expansions[field];
    const struct fby_raw_field *raw        = &p->input->layout->fields[field];
    struct host_field          *host_field = &p->host_fields[field];
    const uint8_t              *from       = p->slot->memory + raw->slot_offset;
    host_field->expanded                   = !fby_segments_supported(plan);
    host_field->bytes =
        host_field->expanded ? rows_of(p) * plan->out_bytes : raw->raw_bytes;
    host_field->at = reserve(p->slot, host_field->bytes);
    uint8_t *to    = p->slot->arena + host_field->at;
    if (host_field->expanded) {
        return p->host->expand(p->host->context, field, to, why);
    }
    memcpy(to, from, host_field->bytes);
    return plan->kind == FBY_EXPAND_ONE_HOT || plan->kind == FBY_EXPAND_MIX
               ? fby_segments_check_ids(plan, from, rows_of(p), why)
               : FBY_OK;
}

/* ---- ragged fields ------------------------------------------------------- */

static bool is_ragged(const struct gpu_packing *p, uint32_t field)
{
    return fby_expansion_is_ragged(&p->setup->expansions[field]);
}

/* True for lengths of documents that become cu_seqlens, positions or a mask.
 * The host has read them all, so it makes the tensor, or a table for it. */
static bool is_made_by_host(const struct gpu_packing *p, uint32_t field)
{
    const struct fby_expansion *plan = &p->setup->expansions[field];
    return plan->documents && !fby_segments_supported(plan);
}

static void make_documents(struct gpu_packing *p, uint32_t field,
    const struct fby_ragged_offsets *rows)
{
    const struct fby_expansion *plan       = &p->setup->expansions[field];
    const struct fby_raw_field *raw        = &p->input->layout->fields[field];
    const uint8_t              *from       = p->slot->memory + raw->slot_offset;
    struct host_field          *host_field = &p->host_fields[field];
    host_field->expanded = !fby_segments_accept_table(plan, p->setup->max_rows);
    host_field->bytes    = host_field->expanded
                               ? fby_documents_bytes(plan, rows)
                               : sizeof(uint32_t) * rows->documents;
    host_field->at       = reserve(p->slot, host_field->bytes);
    uint8_t *to          = p->slot->arena + host_field->at;
    if (host_field->expanded) {
        fby_expand_documents(plan, rows, from, to);
    } else {
        fby_documents_table(plan, rows, from, (uint32_t *)(void *)to);
    }
}

/* Copy chunks that the host saw first to the arena, as long as they are. */
static void put_chunks(struct gpu_packing *p, uint32_t field)
{
    const struct fby_raw_field *raw  = &p->input->layout->fields[field];
    const uint8_t              *from = p->slot->memory + raw->slot_offset;
    for (uint32_t i = 0; i < raw->n_chunks; i++) {
        struct fby_arena_chunk *chunk =
            &p->slot->arena_chunks[raw->first_chunk + i];
        struct fby_raw_span span = fby_layout_chunk(p->input->layout, field, i);
        chunk->bytes  = p->input->sent[raw->first_chunk + i].raw_bytes;
        chunk->offset = reserve(p->slot, chunk->bytes);
        memcpy(p->slot->arena + chunk->offset, from + span.raw_offset,
            chunk->bytes);
    }
}

static struct fby_ragged_piece piece_of(
    const struct gpu_packing *p, uint32_t field, uint32_t chunk)
{
    const struct fby_raw_field *raw = &p->input->layout->fields[field];
    const struct fby_raw_span   span =
        fby_layout_chunk(p->input->layout, field, chunk);
    struct fby_ragged_piece piece = {
        .at        = p->slot->arena_chunks[raw->first_chunk + chunk].offset,
        .first_row = span.first_row,
        .rows      = span.rows,
    };
    memcpy(piece.out, p->setup->tensor_offset[field], sizeof(piece.out));
    return piece;
}

/* Write the table of groups of each piece, one after another. With a list, also
 * add the pieces to it. */
static void for_each_piece(
    struct gpu_packing *p, uint32_t field, struct fby_segments *list)
{
    const struct fby_expansion      *plan  = &p->setup->expansions[field];
    const struct fby_raw_field      *raw   = &p->input->layout->fields[field];
    const struct fby_ragged_offsets *rows  = &p->input->batch->rows_of[field];
    uint64_t                         first = 0;
    uint64_t                         at    = p->groups[field];
    for (uint32_t i = 0; i < raw->n_chunks; i++) {
        struct fby_ragged_piece piece = piece_of(p, field, i);
        piece.groups                  = at;
        piece.first                   = first;
        piece.total                   = rows->total;
        fby_segments_count(
            rows, &piece, (uint64_t *)(void *)(p->slot->arena + at));
        if (list != NULL) {
            fby_segments_add_rows(
                list, plan, raw, fby_expansion_padded_to(plan, rows), &piece);
        }
        first += piece.entries;
        at += sizeof(uint64_t) * fby_segments_groups(piece.rows);
    }
}

static fby_err put_rows(
    struct gpu_packing *p, uint32_t field, struct fby_why *why)
{
    const struct fby_raw_field *raw     = &p->input->layout->fields[field];
    struct fby_ragged_offsets  *rows    = &p->input->batch->rows_of[field];
    bool                        compact = fby_setup_is_compact(p->setup, field);
    uint64_t                    groups  = 0;
    struct fby_ragged_offsets_in in     = {
            .name         = p->setup->expansions[field].name,
            .layout       = p->input->layout,
            .field        = field,
            .raw          = p->slot->arena,
            .arena_chunks = p->slot->arena_chunks + raw->first_chunk,
            .sent         = p->input->sent + raw->first_chunk,
    };
    if (!compact) {
        in.raw          = p->slot->memory + raw->slot_offset;
        in.arena_chunks = NULL;
    }
    fby_err err = fby_ragged_offsets_read(rows, &in, why);
    if (err == FBY_OK && p->setup->expansions[field].documents) {
        err = fby_documents_check(
            &p->setup->expansions[field], rows, in.raw, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    if (is_made_by_host(p, field)) {
        make_documents(p, field, rows);
        return FBY_OK;
    }
    if (!compact) {
        put_chunks(p, field);
    }
    for (uint32_t i = 0; i < raw->n_chunks; i++) {
        groups += fby_segments_groups(
            fby_layout_chunk(p->input->layout, field, i).rows);
    }
    p->groups[field] = reserve(p->slot, groups * sizeof(uint64_t));
    for_each_piece(p, field, NULL);
    return FBY_OK;
}

/* Also for zero rows: offsets always have rows + 1 entries. */
static void put_no_rows(struct gpu_packing *p)
{
    for (uint32_t i = 0; i < p->setup->n_fields; i++) {
        struct fby_ragged_offsets *rows = &p->input->batch->rows_of[i];
        if (is_made_by_host(p, i)) {
            fby_ragged_offsets_clear(rows);
            make_documents(p, i, rows);
        } else if (is_ragged(p, i)) {
            fby_ragged_offsets_clear(rows);
            p->groups[i] = reserve(p->slot, sizeof(int64_t));
            memset(p->slot->arena + p->groups[i], 0, sizeof(int64_t));
        }
    }
}

/* ---- ops of the device --------------------------------------------------- */

/* Flips only need one byte per row. */
static uint64_t put_mirrors(
    struct gpu_packing *p, const struct fby_ops_row *rows)
{
    uint64_t at = reserve(p->slot, rows_of(p));
    for (uint32_t r = 0; r < rows_of(p); r++) {
        p->slot->arena[at + r] =
            (uint8_t)((rows[r].mirror_x != 0 ? FBY_MIRROR_X : 0) |
                      (rows[r].mirror_y != 0 ? FBY_MIRROR_Y : 0));
    }
    return at;
}

static bool any_contrast(const struct fby_ops_row *rows, uint32_t n)
{
    bool any = false;
    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t i = 0; i < rows[r].n_jitter; i++) {
            any = any || rows[r].jitter[i] == FBY_OPS_CONTRAST;
        }
    }
    return any;
}

static uint64_t put_bytes(
    struct gpu_packing *p, const void *from, uint64_t bytes)
{
    uint64_t at = reserve(p->slot, bytes);
    memcpy(p->slot->arena + at, from, bytes);
    return at;
}

/* The rows that an earlier field with the same ops has put; 0: none. */
static uint64_t sampled_before(const struct gpu_packing *p, uint32_t field)
{
    const struct fby_expansion *plans = p->setup->expansions;
    for (uint32_t i = 0; i < field; i++) {
        if (plans[i].ops_field == plans[field].ops_field) {
            return p->sampled[i].rows;
        }
    }
    return 0;
}

static void put_sampled(struct gpu_packing *p, uint32_t field)
{
    const struct fby_expansion *plan    = &p->setup->expansions[field];
    struct sampled_params      *sampled = &p->sampled[field];
    uint32_t                    n       = rows_of(p);
    const struct fby_ops_row   *rows =
        p->host->draw(p->host->context, plan->ops_field);
    if (plan->kind == FBY_EXPAND_OPS && plan->ops.plain) {
        sampled->rows = put_mirrors(p, rows);
        return;
    }
    sampled->rows = sampled_before(p, field);
    if (sampled->rows == 0) {
        sampled->rows = put_bytes(p, rows, n * sizeof(*rows));
    }
    if (plan->kind == FBY_EXPAND_OPS) {
        sampled->plan = put_bytes(p, &plan->ops, sizeof(plan->ops));
    }
    if (plan->kind == FBY_EXPAND_OPS && any_contrast(rows, n)) {
        sampled->sums = reserve(p->slot, n * sizeof(uint64_t));
        memset(p->slot->arena + sampled->sums, 0, n * sizeof(uint64_t));
    }
}

/* Called when the arena is not empty, so that no offset is 0. */
static void put_all_sampled(struct gpu_packing *p)
{
    for (uint32_t i = 0; i < p->setup->n_fields; i++) {
        if (p->setup->expansions[i].ops_field != NULL) {
            put_sampled(p, i);
        }
    }
}

/* True if the host has put a field's pictures into the arena as interleaved
 * RGB: then they are gathered already. */
static bool is_gathered(const struct gpu_packing *p, uint32_t field)
{
    const struct fby_expansion *plan = &p->setup->expansions[field];
    return fby_segments_needs_gather(plan) && !plan->yuv420 &&
           !fby_setup_is_compact(p->setup, field);
}

static void list_ops(const struct gpu_packing *p, uint32_t field,
    enum fby_pass pass, struct fby_segments *list)
{
    const struct fby_expansion  *plan    = &p->setup->expansions[field];
    const struct sampled_params *sampled = &p->sampled[field];
    const struct fby_ops_piece   piece   = {
            .at    = is_gathered(p, field) ? p->host_fields[field].at
                                           : p->setup->work_offset[field],
            .rows  = rows_of(p),
            .plan  = sampled->plan,
            .draws = sampled->rows,
            .sums  = sampled->sums,
            .out   = p->setup->out_offset[field],
    };
    if (fby_segments_needs_gather(plan) && fby_segments_supported(plan) &&
        (pass == FBY_PASS_OPS || sampled->sums != 0)) {
        fby_segments_add_ops(list, plan, &piece);
    }
}

static void list_passes(const struct gpu_packing *p, struct fby_segments *list)
{
    for (int pass = FBY_PASS_GREYS; pass < FBY_PASSES; pass++) {
        fby_segments_pass(list, (enum fby_pass)pass);
        for (uint32_t i = 0; i < p->setup->n_fields && rows_of(p) > 0; i++) {
            list_ops(p, i, (enum fby_pass)pass, list);
        }
    }
}

/* ---- scales and offsets -------------------------------------------------- */

static void put_factors(struct gpu_packing *p, uint32_t field)
{
    float    factors[2 * FBY_MAX_FACTORS];
    uint32_t n = fby_segments_factors(&p->setup->expansions[field], factors);
    p->factors[field] = n > 0 ? put_bytes(p, factors, n * sizeof(float)) : 0;
}

/* ---- the arena's bytes --------------------------------------------------- */

static fby_err put_fields(struct gpu_packing *p, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < p->setup->n_fields && err == FBY_OK; i++) {
        if (is_ragged(p, i)) {
            err = put_rows(p, i, why);
        } else if (!fby_setup_is_compact(p->setup, i)) {
            err = put_field(p, i, why);
        } else if (p->setup->expansions[i].kind == FBY_EXPAND_ONE_HOT) {
            err = check_ids(p, i, why);
        }
    }
    if (err == FBY_OK) {
        put_all_sampled(p);
    }
    for (uint32_t i = 0; i < p->setup->n_fields; i++) {
        put_factors(p, i);
    }
    p->valid = reserve(p->slot, rows_of(p));
    memcpy(p->slot->arena + p->valid, p->input->batch->valid, rows_of(p));
    return err;
}

/* ---- the list of segments ------------------------------------------------ */

/* Add a piece that goes to its tensor, or to the memory where ops read it. */
static void list_piece(const struct gpu_packing *p, uint32_t field,
    struct fby_piece piece, struct fby_segments *list)
{
    const struct fby_expansion *plan = &p->setup->expansions[field];
    piece.draws                      = p->sampled[field].rows;
    piece.factors                    = p->factors[field];
    if (fby_segments_needs_gather(plan)) {
        piece.out = p->setup->work_offset[field];
        fby_segments_add_gathered(list, plan, &piece);
    } else {
        piece.out = p->setup->out_offset[field];
        fby_segments_add(list, plan, &piece);
    }
}

static void list_chunks(
    const struct gpu_packing *p, uint32_t field, struct fby_segments *list)
{
    const struct fby_raw_field *raw = &p->input->layout->fields[field];
    for (uint32_t i = 0; i < raw->n_chunks; i++) {
        const struct fby_arena_chunk *chunk =
            &p->slot->arena_chunks[raw->first_chunk + i];
        const struct fby_raw_span span =
            fby_layout_chunk(p->input->layout, field, i);
        const struct fby_piece piece = {
            .at         = chunk->offset,
            .bytes      = chunk->bytes,
            .packed     = chunk->packed,
            .raw_offset = span.raw_offset,
            .raw_bytes  = span.raw_bytes,
        };
        list_piece(p, field, piece, list);
    }
}

static void list_documents(
    const struct gpu_packing *p, uint32_t field, struct fby_segments *list)
{
    const struct host_field         *host_field = &p->host_fields[field];
    const struct fby_documents_piece piece      = {
             .at        = host_field->at,
             .rows      = rows_of(p),
             .documents = (uint32_t)p->input->batch->rows_of[field].documents,
             .out       = p->setup->out_offset[field],
    };
    if (host_field->expanded) {
        fby_segments_copy(list, host_field->at, host_field->bytes, piece.out);
    } else {
        fby_segments_add_documents(list, &p->setup->expansions[field], &piece);
    }
}

static void list_host_field(
    const struct gpu_packing *p, uint32_t field, struct fby_segments *list)
{
    const struct host_field *host_field = &p->host_fields[field];
    const struct fby_piece   piece      = {
               .at = host_field->at, .raw_bytes = host_field->bytes};
    if (host_field->expanded) {
        fby_segments_copy(list, host_field->at, host_field->bytes,
            p->setup->out_offset[field]);
    } else if (!is_gathered(p, field)) {
        list_piece(p, field, piece, list);
    }
}

/* With zero rows only offsets have an entry, which is 0. */
static void list_no_rows(const struct gpu_packing *p, struct fby_segments *list)
{
    for (uint32_t i = 0; i < p->setup->n_fields; i++) {
        const struct fby_expansion *plan = &p->setup->expansions[i];
        if (plan->kind == FBY_EXPAND_RAGGED || plan->kind == FBY_EXPAND_CSR) {
            fby_segments_copy(list, p->groups[i], fby_type_bytes(plan->offsets),
                p->setup->tensor_offset[i][1]);
        } else if (is_made_by_host(p, i)) {
            list_documents(p, i, list);
        }
    }
}

static void list_fields(struct gpu_packing *p, struct fby_segments *list)
{
    for (uint32_t i = 0; i < p->setup->n_fields; i++) {
        if (is_made_by_host(p, i)) {
            list_documents(p, i, list);
        } else if (is_ragged(p, i)) {
            for_each_piece(p, i, list);
        } else if (fby_setup_is_compact(p->setup, i)) {
            list_chunks(p, i, list);
        } else {
            list_host_field(p, i, list);
        }
    }
}

static uint64_t list_all(struct gpu_packing *p, struct fby_segments *list)
{
    fby_segments_begin(list, p->slot->arena, p->slot->used);
    if (rows_of(p) > 0) {
        list_fields(p, list);
    } else {
        list_no_rows(p, list);
    }
    fby_segments_copy(
        list, p->valid, rows_of(p), p->setup->out_offset[p->setup->n_fields]);
    list_passes(p, list);
    return fby_segments_finish(list);
}

fby_err fby_gpu_batch_send(struct fby_gpu_upload *upload,
    const struct fby_gpu_batch_host *host, const struct fby_batch_input *input,
    struct fby_why *why)
{
    struct fby_segments list;
    struct gpu_packing  p = {
         .setup = host->setup,
         .host  = host,
         .input = input,
         .slot  = input->from,
    };
    fby_err err = FBY_OK;
    if (rows_of(&p) > 0) {
        err = put_fields(&p, why);
    } else {
        put_no_rows(&p);
    }
    if (err != FBY_OK) {
        return err;
    }
    uint64_t                          bytes = list_all(&p, &list);
    const struct fby_gpu_upload_batch batch = {
        .epoch = input->batch->epoch,
        .step  = input->batch->step,
        .arena = input->slot,
        .bytes = bytes,
        .list  = list.list,
        .out   = input->batch->out,
    };
    return fby_gpu_upload_submit(upload, &batch, why);
}
