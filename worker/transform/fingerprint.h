/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.h - a hash of the results of this worker's decoders and ops.
 *
 * Two workers may serve rows of one batch only if they make the same bytes. So
 * each worker runs its decoders and ops on small built-in files and hashes the
 * results. If a library version, a broken SIMD path or a changed op gives other
 * results, it gives another fingerprint. Ops that the pipeline does not use do
 * not count. proto/PROTOCOL.md, "Fingerprint", is the definition. */
#ifndef FBY_WORKER_TRANSFORM_FINGERPRINT_H
#define FBY_WORKER_TRANSFORM_FINGERPRINT_H

#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"

/* The fingerprint of the decoders and ops that `content` uses. Takes a few
 * milliseconds at the first call of a process, then microseconds. Any thread.
 * Errors: FBY_FULL when memory is short; FBY_USAGE when the content names an
 *         op or decoder that this worker does not have. */
FBY_CHECKED fby_err fby_fingerprint(const struct fby_content *content,
    struct fby_digest *out, struct fby_error_detail *why);

#endif
