/* SPDX-License-Identifier: Apache-2.0 */
/* documents.c - check the lengths of packed documents, and expand them to
 * offsets, positions or a mask. */
#include "trainer_client/expand/documents.h"

#include "common/bytes.h"
#include "trainer_client/expand/host.h"
#include "trainer_client/expand/segment.h"
#include "trainer_client/expand/value.h"

/* The number of tokens of document `i` of a row. */
static uint64_t token_count(const struct fby_expansion *plan,
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
    uint64_t row_tokens = plan->shape.dims[0];
    rows->documents     = rows->total; /* each entry is one document */
    for (uint32_t row = 0; row < rows->n; row++) {
        uint64_t used_tokens = 0;
        for (uint32_t i = 0; i < rows->lengths[row]; i++) {
            uint64_t tokens = token_count(plan, rows, raw, row, i);
            if (tokens == 0 || tokens > row_tokens - used_tokens) {
                return fby_error_set(why, FBY_PROTO,
                    "field %s: row %u has a document of %llu tokens at token "
                    "%llu of %llu",
                    plan->name, row, (unsigned long long)tokens,
                    (unsigned long long)used_tokens,
                    (unsigned long long)row_tokens);
            }
            used_tokens += tokens;
        }
        rows->documents += used_tokens < row_tokens ? 1 : 0; /* padding */
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

/* A document or the padding of a row. */
struct document {
    bool     padding;
    uint64_t first;  /* number of the first token, counted over all rows */
    uint64_t end;    /* number of the token after the last one */
    uint64_t number; /* of the document in the batch */
};

static void write_offset(
    const struct fby_expansion *plan, const struct document *doc, void *out)
{
    fby_store_integer(plan->to, out, doc->number, doc->first);
}

/* Stores to `out` cannot change the local copies, so the compiler makes a
 * separate loop for each type. */
static void write_positions(
    const struct fby_expansion *plan, const struct document *doc, void *out)
{
    const enum fby_type to    = plan->to;
    const uint64_t      first = doc->first;
    const uint64_t      count = doc->end - first;
    for (uint64_t i = 0; i < count; i++) {
        fby_store_integer(to, out, first + i, i);
    }
}

static void write_mask(
    const struct fby_expansion *plan, const struct document *doc, void *out)
{
    uint32_t width = fby_type_bytes(plan->to);
    /* With an end of 0, fby_document_counts is false for every token. */
    uint64_t end = doc->padding ? 0 : doc->end;
    for (uint64_t token = doc->first; token < doc->end; token++) {
        bool counts = fby_document_counts(token, end, plan->shift);
        fby_store_le((uint8_t *)out + token * width,
            counts ? plan->on : plan->off, width);
    }
}

static void write_table_entry(
    const struct fby_expansion *plan, const struct document *doc, void *out)
{
    (void)plan;
    ((uint32_t *)out)[doc->number] =
        (uint32_t)doc->end | (doc->padding ? FBY_DOCUMENT_PADDING : 0);
}

typedef void write_document_fn(
    const struct fby_expansion *plan, const struct document *doc, void *out);

/* Call `write_document` for each document and for the padding of each row.
 * Returns an empty document that begins where the last one ends. */
static struct document for_each_document(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    write_document_fn *write_document, void *out)
{
    struct document doc = {0};
    for (uint32_t row = 0; row < rows->n; row++) {
        uint64_t row_end = (row + UINT64_C(1)) * plan->shape.dims[0];
        uint32_t count   = rows->lengths[row];
        /* If tokens are left after the last document, they are padding. */
        for (uint32_t i = 0; i < count || doc.end < row_end; i++) {
            doc.padding = i == count;
            doc.first   = doc.end;
            doc.end     = doc.padding
                              ? row_end
                              : doc.end + token_count(plan, rows, raw, row, i);
            write_document(plan, &doc, out);
            doc.number++;
        }
    }
    doc.first = doc.end;
    return doc;
}

void fby_documents_write_table(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint32_t *out)
{
    (void)for_each_document(plan, rows, raw, write_table_entry, out);
}

uint64_t fby_documents_table_bytes(
    const struct fby_expansion *plan, uint32_t rows)
{
    return sizeof(uint32_t) * rows * ((uint64_t)plan->max_length + 1);
}

void fby_expand_documents(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, void *out)
{
    static write_document_fn *const write_fns[] = {
        [FBY_EXPAND_CU_SEQLENS] = write_offset,
        [FBY_EXPAND_POSITIONS]  = write_positions,
        [FBY_EXPAND_MASK]       = write_mask,
    };
    struct document after_last =
        for_each_document(plan, rows, raw, write_fns[plan->kind], out);
    if (plan->kind == FBY_EXPAND_CU_SEQLENS) {
        write_offset(plan, &after_last, out); /* the end of the last document */
    }
}
