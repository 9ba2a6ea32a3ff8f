#include "trainer_client/parcel.h"

#include <string.h>

#include "trainer_client/segments.h"

struct whole { /* a field that the host put into the arena */
    uint64_t at;
    uint64_t bytes;
    bool     expanded;
};

struct parcel {
    const struct fby_setup       *setup;
    const struct fby_parcel_host *host;
    const struct fby_unpack_task *task;
    struct fby_slot              *slot;
    uint64_t                      valid; /* where it lies */
    struct whole                  whole[FBY_MAX_FIELDS];
};

/* Room for `bytes` at a multiple of 16. */
static uint64_t take_room(struct fby_slot *slot, uint64_t bytes)
{
    uint64_t at = (slot->used + FBY_SEGMENT_ALIGN - 1) / FBY_SEGMENT_ALIGN *
                  FBY_SEGMENT_ALIGN;
    slot->used = at + bytes;
    return at;
}

static uint32_t rows_of(const struct parcel *p)
{
    return p->task->batch->rows;
}

/* ---- what the host has to do --------------------------------------------- */

static fby_err check_ids(
    const struct parcel *p, uint32_t field, struct fby_why *why)
{
    const struct fby_expansion *plan = &p->setup->expansions[field];
    const struct fby_raw_field *raw  = &p->task->layout->fields[field];
    fby_err                     err  = FBY_OK;
    for (uint32_t i = 0; i < raw->n_chunks && err == FBY_OK; i++) {
        const struct fby_place *place = &p->slot->places[raw->first_chunk + i];
        err = fby_segments_check_ids(plan, p->slot->arena + place->at,
            place->bytes / plan->raw_bytes, why);
    }
    return err;
}

static fby_err put_field(struct parcel *p, uint32_t field, struct fby_why *why)
{
    const struct fby_expansion *plan  = &p->setup->expansions[field];
    const struct fby_raw_field *raw   = &p->task->layout->fields[field];
    struct whole               *whole = &p->whole[field];
    const uint8_t              *from  = p->slot->memory + raw->slot_offset;
    whole->expanded                   = !fby_segments_know(plan);
    whole->bytes =
        whole->expanded ? rows_of(p) * plan->out_bytes : raw->raw_bytes;
    whole->at   = take_room(p->slot, whole->bytes);
    uint8_t *to = p->slot->arena + whole->at;
    if (whole->expanded) {
        return p->host->expand(p->host->context, field, to, why);
    }
    memcpy(to, from, whole->bytes);
    return plan->kind == FBY_EXPAND_ONE_HOT
               ? fby_segments_check_ids(plan, from, rows_of(p), why)
               : FBY_OK;
}

static fby_err put_fields(struct parcel *p, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < p->setup->n_fields && err == FBY_OK; i++) {
        if (!fby_setup_is_compact(p->setup, i)) {
            err = put_field(p, i, why);
        } else if (p->setup->expansions[i].kind == FBY_EXPAND_ONE_HOT) {
            err = check_ids(p, i, why);
        }
    }
    p->valid = take_room(p->slot, rows_of(p));
    memcpy(p->slot->arena + p->valid, p->task->batch->valid, rows_of(p));
    return err;
}

/* ---- the list ------------------------------------------------------------ */

static void list_chunks(
    const struct parcel *p, uint32_t field, struct fby_segments *list)
{
    const struct fby_raw_field *raw = &p->task->layout->fields[field];
    for (uint32_t i = 0; i < raw->n_chunks; i++) {
        const struct fby_place *place = &p->slot->places[raw->first_chunk + i];
        const struct fby_raw_span span =
            fby_layout_chunk(p->task->layout, field, i);
        const struct fby_piece piece = {
            .at         = place->at,
            .bytes      = place->bytes,
            .packed     = place->packed,
            .raw_offset = span.raw_offset,
            .raw_bytes  = span.raw_bytes,
            .out        = p->setup->out_offset[field],
        };
        fby_segments_add(list, &p->setup->expansions[field], &piece);
    }
}

static void list_whole(
    const struct parcel *p, uint32_t field, struct fby_segments *list)
{
    const struct whole    *whole = &p->whole[field];
    const struct fby_piece piece = {
        .at        = whole->at,
        .raw_bytes = whole->bytes,
        .out       = p->setup->out_offset[field],
    };
    if (whole->expanded) {
        fby_segments_copy(list, whole->at, whole->bytes, piece.out);
    } else {
        fby_segments_add(list, &p->setup->expansions[field], &piece);
    }
}

static uint64_t list_all(const struct parcel *p, struct fby_segments *list)
{
    fby_segments_begin(list, p->slot->arena, p->slot->used);
    for (uint32_t i = 0; i < p->setup->n_fields && rows_of(p) > 0; i++) {
        if (fby_setup_is_compact(p->setup, i)) {
            list_chunks(p, i, list);
        } else {
            list_whole(p, i, list);
        }
    }
    fby_segments_copy(
        list, p->valid, rows_of(p), p->setup->out_offset[p->setup->n_fields]);
    return fby_segments_finish(list);
}

fby_err fby_parcel_send(struct fby_feed *feed,
    const struct fby_parcel_host *host, const struct fby_unpack_task *task,
    struct fby_why *why)
{
    struct fby_segments list;
    struct parcel       p = {
              .setup = host->setup, .host = host, .task = task, .slot = task->from};
    fby_err err = rows_of(&p) > 0 ? put_fields(&p, why) : FBY_OK;
    if (err != FBY_OK) {
        return err;
    }
    const struct fby_feed_batch batch = {
        .epoch = task->batch->epoch,
        .step  = task->batch->step,
        .arena = (uint32_t)task->slot,
        .bytes = list_all(&p, &list),
        .list  = list.list,
        .out   = task->batch->out,
    };
    return fby_feed_submit(feed, &batch, why);
}
