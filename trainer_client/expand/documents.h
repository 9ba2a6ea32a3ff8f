/* SPDX-License-Identifier: Apache-2.0 */
/* documents.h - expand lengths of packed documents to offsets (cu_seqlens),
 * positions or a mask, for attention and loss.
 *
 * A row is a sequence of a fixed number of tokens: its documents, one after
 * another, then padding, which counts as one more document. A token's position
 * is its distance from the first token of its document. fby_document_counts
 * (value.h) defines which tokens count in the loss. */
#ifndef FBY_CLIENT_EXPAND_DOCUMENTS_H
#define FBY_CLIENT_EXPAND_DOCUMENTS_H

#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* Check that each document has at least one token and that the documents of a
 * row fit into the row. Set rows->documents to the number of documents, and
 * count the padding of a row as one document.
 * Errors: FBY_PROTO, with the field's name and the row. */
FBY_CHECKED fby_err fby_documents_check(const struct fby_expansion *plan,
    struct fby_ragged_offsets *rows, const uint8_t *raw,
    struct fby_error_detail *why);

/* Returns the bytes of the tensor. The rows were checked. */
uint64_t fby_documents_bytes(
    const struct fby_expansion *plan, const struct fby_ragged_offsets *rows);

/* Write the table from which a GPU computes positions or a mask. Each of its
 * rows->documents entries is the end of a document, counted in tokens over all
 * rows. Entries of padding also have the bit FBY_DOCUMENT_PADDING (segment.h).
 * The rows were checked, and have at most FBY_SEGMENT_MAX tokens. */
void fby_documents_write_table(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint32_t *out);
/* Returns the most bytes that the table can have for `rows` rows. */
uint64_t fby_documents_table_bytes(
    const struct fby_expansion *plan, uint32_t rows);

/* Expand the rows at `raw` to `out` on the host. The rows were checked. */
void fby_expand_documents(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, void *out);

#endif
