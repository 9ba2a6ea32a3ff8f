/* expand_documents.h - lengths of packed documents to what attention and loss
 * want of them.
 *
 * Row i of a batch is a sequence of `length` tokens: its documents, one after
 * another, and what fills it up, which counts as one document more. What
 * stands at token `at` of it follows from the document that it is in, which
 * goes from `first` to `end`; inline, so that every device is compiled from the
 * same lines. */
#ifndef FBY_CLIENT_EXPAND_DOCUMENTS_H
#define FBY_CLIENT_EXPAND_DOCUMENTS_H

#include "trainer_client/expand.h"
#include "trainer_client/expansion.h"
#include "trainer_client/extents.h"

/* Where a document begins among the tokens of all rows. */
FBY_DEVICE_INLINE uint64_t fby_document_offset(
    uint64_t row, uint64_t length, uint64_t first)
{
    return row * length + first;
}

/* From 0 in each document. */
FBY_DEVICE_INLINE uint64_t fby_document_position(uint64_t at, uint64_t first)
{
    return at - first;
}

/* Whether a token counts in the loss: with targets (`shift` 1) the last one of
 * a document has none. What fills a row up never does: its `end` is 0. */
FBY_DEVICE_INLINE bool fby_document_counts(
    uint64_t at, uint64_t end, uint64_t shift)
{
    return at + shift < end;
}

/* Every row has documents of at least one token, and not of more than it has
 * room for; counts them, and what fills rows up, to rows->documents.
 * Errors: FBY_PROTO, with the field's name and the row. */
FBY_CHECKED fby_err fby_documents_check(const struct fby_expansion *plan,
    struct fby_extents *rows, const uint8_t *raw, struct fby_why *why);

/* Bytes of the tensor of rows that were checked. */
uint64_t fby_documents_bytes(
    const struct fby_expansion *plan, const struct fby_extents *rows);

/* On the host: that tensor, `out`, from the rows at `raw`. */
void fby_expand_documents(const struct fby_expansion *plan,
    const struct fby_extents *rows, const uint8_t *raw, void *out);

#endif
