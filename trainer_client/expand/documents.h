/* documents.h - lengths of packed documents to what attention and loss
 * want of them.
 *
 * Row i of a batch is a sequence of `length` tokens: its documents, one after
 * another, and what fills it up, which counts as one document more. What
 * stands at token `at` of it follows from the document that it is in, which
 * goes from `first` to `end`: see entries.h. */
#ifndef FBY_CLIENT_EXPAND_DOCUMENTS_H
#define FBY_CLIENT_EXPAND_DOCUMENTS_H

#include "trainer_client/expand/entries.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* Every row has documents of at least one token, and not of more than it has
 * room for; counts them, and what fills rows up, to rows->documents.
 * Errors: FBY_PROTO, with the field's name and the row. */
FBY_CHECKED fby_err fby_documents_check(const struct fby_expansion *plan,
    struct fby_ragged_offsets *rows, const uint8_t *raw, struct fby_why *why);

/* Bytes of the tensor of rows that were checked. */
uint64_t fby_documents_bytes(
    const struct fby_expansion *plan, const struct fby_ragged_offsets *rows);

/* For a device that makes positions or a mask of them: of each document, and of
 * what fills a row up, the number of tokens of all rows before its end, with
 * FBY_DOCUMENT_PADDING (segment.h); rows->documents of them, whose rows were
 * checked and have at most FBY_SEGMENT_MAX tokens, 2^30. */
void fby_documents_table(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint32_t *out);
/* Its bytes, of so many rows at most. */
uint64_t fby_documents_table_bytes(
    const struct fby_expansion *plan, uint32_t rows);

/* On the host: that tensor, `out`, from the rows at `raw`. */
void fby_expand_documents(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, void *out);

#endif
