/* SPDX-License-Identifier: Apache-2.0 */
/* canon.h - the canonical bytes of a content, and their digest.
 *
 * A content is the settings of a split that decide the values of its batches.
 * Pipelines with equal canonical bytes deliver equal values. The decoder checks
 * every rule, encodes the result again and refuses bytes that differ. So one
 * content has one digest. proto/PROTOCOL.md, "Content", is the definition. */
#ifndef FBY_PIPELINE_CANON_H
#define FBY_PIPELINE_CANON_H

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"

enum {
    FBY_CONTENT_FORMAT = 1, /* version of the canonical bytes */
    FBY_ORDER_VERSION  = 1  /* of the order of samples (plan/order.h) */
};

/* Keys of the record of a content that only one kind of source has. */
enum {
    FBY_CONTENT_TOKENS      = 13, /* tokens: how files are cut into sequences */
    FBY_CONTENT_PACKING     = 14, /* tokens: how documents are packed */
    FBY_CONTENT_FILES       = 19, /* list: the columns that hold paths */
    FBY_CONTENT_CLASS_DEPTH = 22  /* folder: levels down to the class folders */
};

/* Append the canonical bytes of a valid content to `out`. */
void fby_content_encode(
    const struct fby_content *content, struct fby_buffer *out);

/* Decode at most FBY_MAX_CONTENT bytes. Keep *out on the heap, because it is
 * large. Errors: FBY_PROTO; `why` names the key; *out is then undefined. */
FBY_CHECKED fby_err fby_content_decode(const void *bytes, size_t size,
    struct fby_content *out, struct fby_error_detail *why);

/* BLAKE2b-256 of the canonical bytes. */
struct fby_digest fby_content_digest(const struct fby_content *content);

#endif
