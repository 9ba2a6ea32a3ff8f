/* documents.c - check documents, and expand them one document at a time. */
#include "trainer_client/expand/documents.h"

#include "common/bytes.h"
#include "trainer_client/expand/host.h"
#include "trainer_client/expand/segment.h"
#include "trainer_client/expand/value.h"

/* The number of tokens of document `i` of a row. */
static uint64_t document_length(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint32_t row,
    uint32_t i)
{
    return fby_element_le(
        raw + rows->values[row], (uint32_t)plan->entry_bytes, i);
}

fby_err fby_documents_check(const struct fby_expansion *plan,
    struct fby_ragged_offsets *rows, const uint8_t *raw,
    struct fby_error_detail *why)
{
    uint64_t length = plan->shape.dims[0];
    rows->documents = rows->total;
    for (uint32_t row = 0; row < rows->n; row++) {
        uint64_t used = 0;
        for (uint32_t i = 0; i < rows->lengths[row]; i++) {
            uint64_t tokens = document_length(plan, rows, raw, row, i);
            if (tokens == 0 || tokens > length - used) {
                return fby_error_set(why, FBY_PROTO,
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

/* A document or the padding of a row. Tokens are counted over all rows. */
struct document {
    bool     padding;
    uint64_t first;  /* the first token */
    uint64_t next;   /* the token after the last one */
    uint64_t number; /* of the document in the batch */
};

static void put_offset(
    const struct fby_expansion *plan, const struct document *doc, void *out)
{
    fby_store_integer(plan->to, out, doc->number, doc->first);
}

/* With local copies the compiler makes a loop for each type, because stores to
 * `out` cannot change them. */
static void put_positions(
    const struct fby_expansion *plan, const struct document *doc, void *out)
{
    const enum fby_type to    = plan->to;
    const uint64_t      first = doc->first;
    const uint64_t      n     = doc->next - first;
    for (uint64_t i = 0; i < n; i++) {
        fby_store_integer(to, out, first + i, i);
    }
}

static void put_mask(
    const struct fby_expansion *plan, const struct document *doc, void *out)
{
    uint32_t width = fby_type_bytes(plan->to);
    uint64_t end   = doc->padding ? 0 : doc->next;
    for (uint64_t at = doc->first; at < doc->next; at++) {
        bool counts = fby_document_counts(at, end, plan->shift);
        fby_store_le(
            (uint8_t *)out + at * width, counts ? plan->on : plan->off, width);
    }
}

static void put_table_entry(
    const struct fby_expansion *plan, const struct document *doc, void *out)
{
    (void)plan;
    ((uint32_t *)out)[doc->number] =
        (uint32_t)doc->next | (doc->padding ? FBY_DOCUMENT_PADDING : 0);
}

typedef void put_fn(
    const struct fby_expansion *plan, const struct document *doc, void *out);

/* Call `put` for all documents and paddings. Returns an empty last one. */
static struct document for_each_document(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, put_fn *put,
    void *out)
{
    struct document doc = {0};
    for (uint32_t row = 0; row < rows->n; row++) {
        uint64_t row_end = (row + UINT64_C(1)) * plan->shape.dims[0];
        uint32_t n       = rows->lengths[row];
        for (uint32_t i = 0; i < n || doc.next < row_end; i++) {
            doc.padding = i == n;
            doc.first   = doc.next;
            doc.next    = doc.padding ? row_end
                                      : doc.next + document_length(
                                                       plan, rows, raw, row, i);
            put(plan, &doc, out);
            doc.number++;
        }
    }
    doc.first = doc.next;
    return doc;
}

void fby_documents_table(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint32_t *out)
{
    (void)for_each_document(plan, rows, raw, put_table_entry, out);
}

uint64_t fby_documents_table_bytes(
    const struct fby_expansion *plan, uint32_t rows)
{
    return sizeof(uint32_t) * rows * ((uint64_t)plan->max_length + 1);
}

void fby_expand_documents(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, void *out)
{
    static put_fn *const puts[] = {
        [FBY_EXPAND_CU_SEQLENS] = put_offset,
        [FBY_EXPAND_POSITIONS]  = put_positions,
        [FBY_EXPAND_MASK]       = put_mask,
    };
    struct document end =
        for_each_document(plan, rows, raw, puts[plan->kind], out);
    if (plan->kind == FBY_EXPAND_CU_SEQLENS) {
        put_offset(plan, &end, out); /* one more offset than documents */
    }
}
