/* documents.h - expand lengths of packed documents to what attention and loss
 * need: offsets (cu_seqlens), positions or a mask.
 *
 * A row is a sequence of a fixed number of tokens: its documents, one after
 * another, then padding, which counts as one more document. The value of token
 * `at` follows from its document, which has tokens `first` to `end`: see
 * entries.h. */
#ifndef FBY_CLIENT_EXPAND_DOCUMENTS_H
#define FBY_CLIENT_EXPAND_DOCUMENTS_H

#include "trainer_client/expand/entries.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* Check that each document has at least one token and that a row's documents
 * fit into it. Set rows->documents to their number, padding included.
 * Errors: FBY_PROTO, with the field's name and the row. */
FBY_CHECKED fby_err fby_documents_check(const struct fby_expansion *plan,
    struct fby_ragged_offsets *rows, const uint8_t *raw, struct fby_why *why);

/* Bytes of the tensor; the rows were checked. */
uint64_t fby_documents_bytes(
    const struct fby_expansion *plan, const struct fby_ragged_offsets *rows);

/* Write the table from which a GPU makes positions or a mask: rows->documents
 * entries. An entry is the number of tokens in all rows before the document's
 * end; FBY_DOCUMENT_PADDING (segment.h) marks padding. The rows were checked
 * and have at most FBY_SEGMENT_MAX tokens, 2^30. */
void fby_documents_table(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint32_t *out);
/* The most bytes of such a table of `rows` rows. */
uint64_t fby_documents_table_bytes(
    const struct fby_expansion *plan, uint32_t rows);

/* Make the tensor `out` from the rows at `raw`, on the host. */
void fby_expand_documents(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, void *out);

#endif
