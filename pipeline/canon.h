/* canon.h - content as canonical bytes, and its digest.
 *
 * Two pipelines with equal bytes make equal values. A receiver decodes, which
 * checks every rule, encodes again and refuses a difference, so one content
 * has one digest. proto/PROTOCOL.md, "Content", is the definition. */
#ifndef FBY_PIPELINE_CANON_H
#define FBY_PIPELINE_CANON_H

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"

enum {
    FBY_CONTENT_FORMAT = 1,
    FBY_ORDER_VERSION  = 1 /* of proto/PROTOCOL.md, "Order" */
};

/* Keys of a content that belong to one kind of source: add, never renumber. */
enum {
    FBY_CONTENT_TOKENS  = 13,
    FBY_CONTENT_PACKING = 14, /* of packed documents */
    FBY_CONTENT_FILES   = 19  /* of a list: columns of paths */
};

/* Append the canonical bytes of a valid content to `out`. */
void fby_content_encode(
    const struct fby_content *content, struct fby_buffer *out);

/* At most FBY_MAX_CONTENT bytes.
 * Errors: FBY_PROTO, `why` names the key, and *out means nothing.
 * struct fby_content is large: keep it on the heap. */
FBY_CHECKED fby_err fby_content_decode(const void *bytes, size_t size,
    struct fby_content *out, struct fby_why *why);

/* BLAKE2b-256 of the canonical bytes. */
struct fby_digest fby_content_digest(const struct fby_content *content);

#endif
