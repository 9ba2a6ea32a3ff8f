#include "trainer_client/expand/documents.h"

#include "trainer_client/expand/cast.h"
#include "trainer_client/expand/segment.h"

static uint64_t length_at(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint64_t row,
    uint32_t document)
{
    const uint8_t *at = raw + rows->values[row] + document * plan->entry_bytes;
    return (uint64_t)fby_number_load(plan->from, at).i;
}

fby_err fby_documents_check(const struct fby_expansion *plan,
    struct fby_ragged_offsets *rows, const uint8_t *raw, struct fby_why *why)
{
    uint64_t length = plan->shape.dims[0];
    rows->documents = rows->total;
    for (uint32_t row = 0; row < rows->n; row++) {
        uint64_t used = 0;
        for (uint32_t i = 0; i < rows->lengths[row]; i++) {
            uint64_t tokens = length_at(plan, rows, raw, row, i);
            if (tokens == 0 || tokens > length - used) {
                return fby_because(why, FBY_PROTO,
                    "field %s: row %u has a document of %llu tokens at token "
                    "%llu of %llu",
                    plan->name, row, (unsigned long long)tokens,
                    (unsigned long long)used, (unsigned long long)length);
            }
            used += tokens;
        }
        rows->documents += used < length ? 1 : 0;
    }
    return FBY_OK;
}

uint64_t fby_documents_bytes(
    const struct fby_expansion *plan, const struct fby_ragged_offsets *rows)
{
    return plan->kind == FBY_EXPAND_CU_SEQLENS
               ? (rows->documents + 1) * fby_type_bytes(plan->to)
               : rows->n * plan->out_bytes;
}

/* A document of a row, or its padding: then `end` is 0. */
struct document {
    uint64_t row;
    uint64_t first;
    uint64_t next;   /* the token after it */
    uint64_t end;    /* the same, or 0 */
    uint64_t number; /* in the batch */
};

static void put_offset(
    const struct fby_expansion *plan, const struct document *one, void *out)
{
    uint64_t offset =
        fby_document_offset(one->row, plan->shape.dims[0], one->first);
    if (plan->to == FBY_I64) {
        ((int64_t *)out)[one->number] = (int64_t)offset;
    } else {
        ((int32_t *)out)[one->number] = (int32_t)offset;
    }
}

static void put_positions(
    const struct fby_expansion *plan, const struct document *one, void *out)
{
    uint64_t row   = one->row * plan->shape.dims[0];
    int64_t *wide  = (int64_t *)out + row;
    int32_t *small = (int32_t *)out + row;
    if (plan->to == FBY_I64) {
        for (uint64_t at = one->first; at < one->next; at++) {
            wide[at] = (int64_t)fby_document_position(at, one->first);
        }
        return;
    }
    for (uint64_t at = one->first; at < one->next; at++) {
        small[at] = (int32_t)fby_document_position(at, one->first);
    }
}

static void put_mask(
    const struct fby_expansion *plan, const struct document *one, void *out)
{
    uint32_t width = fby_type_bytes(plan->to);
    uint8_t *row   = (uint8_t *)out + one->row * plan->out_bytes;
    for (uint64_t at = one->first; at < one->next; at++) {
        bool counts = fby_document_counts(at, one->end, plan->shift);
        fby_number_store(
            row + at * width, counts ? plan->on : plan->off, width);
    }
}

static void put_end(
    const struct fby_expansion *plan, const struct document *one, void *out)
{
    uint64_t end =
        fby_document_offset(one->row, plan->shape.dims[0], one->next);
    ((uint32_t *)out)[one->number] =
        (uint32_t)end | (one->end == 0 ? FBY_DOCUMENT_PADDING : 0);
}

static void put(
    const struct fby_expansion *plan, const struct document *one, void *out)
{
    if (plan->kind == FBY_EXPAND_CU_SEQLENS) {
        put_offset(plan, one, out);
    } else if (plan->kind == FBY_EXPAND_POSITIONS) {
        put_positions(plan, one, out);
    } else {
        put_mask(plan, one, out);
    }
}

typedef void put_fn(
    const struct fby_expansion *plan, const struct document *one, void *out);

/* Call put_one for every document; returns the position after the last one. */
static struct document for_each_document(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, put_fn *put_one,
    void *out)
{
    struct document one = {0};
    for (one.row = 0; one.row < rows->n; one.row++) {
        one.next = 0;
        for (uint32_t i = 0; i < rows->lengths[one.row]; i++) {
            one.first = one.next;
            one.next += length_at(plan, rows, raw, one.row, i);
            one.end = one.next;
            put_one(plan, &one, out);
            one.number++;
        }
        if (one.next < plan->shape.dims[0]) {
            one.first = one.next;
            one.next  = plan->shape.dims[0];
            one.end   = 0;
            put_one(plan, &one, out);
            one.number++;
        }
    }
    return one;
}

void fby_documents_table(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint32_t *out)
{
    (void)for_each_document(plan, rows, raw, put_end, out);
}

uint64_t fby_documents_table_bytes(
    const struct fby_expansion *plan, uint32_t rows)
{
    return sizeof(uint32_t) * rows * ((uint64_t)plan->max_length + 1);
}

void fby_expand_documents(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, void *out)
{
    struct document one = for_each_document(plan, rows, raw, put, out);
    if (plan->kind == FBY_EXPAND_CU_SEQLENS) { /* the end of the last one */
        one.first = 0;
        put_offset(plan, &one, out);
    }
}
