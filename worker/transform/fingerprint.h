/* fingerprint.h - what this worker's decoders and ops actually do.
 *
 * Two workers may be asked for rows of one batch only if they make the same
 * bytes. So each tries its decoders and ops on a few small files built into
 * it and hashes what comes out: another library, a broken SIMD path or a
 * changed op shows as another fingerprint, an unused op does not.
 * proto/PROTOCOL.md, "Fingerprint", is the definition. */
#ifndef FBY_WORKER_TRANSFORM_FINGERPRINT_H
#define FBY_WORKER_TRANSFORM_FINGERPRINT_H

#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"

/* The fingerprint of what `content` uses. A few milliseconds at the first
 * call of a process, then microseconds. Any thread.
 * Errors: FBY_FULL when memory is short; FBY_USAGE when the content names an
 *         op or decoder that this worker does not have. */
FBY_CHECKED fby_err fby_fingerprint(const struct fby_content *content,
    struct fby_digest *out, struct fby_why *why);

#endif
