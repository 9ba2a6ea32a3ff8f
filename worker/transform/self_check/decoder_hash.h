/* decoder_hash.h - what each decoder and op of this process does, as a hash.
 *
 * Tried once a process, on small files and texts built into it. A hash is
 * BLAKE2b-256 over all outcomes: sizes and values, or the fact of a refusal.
 * proto/PROTOCOL.md, "Fingerprint", lists the trials. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_DECODER_HASH_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_DECODER_HASH_H

#include "common/err.h"
#include "worker/transform/decoders.h"

/* Make the trials, unless they are made. Any thread.
 * Errors: FBY_FULL when memory is short; a later call tries again. */
FBY_CHECKED fby_err fby_decoder_hashes_compute(void);

/* The hash, once fby_decoder_hashes_compute has succeeded; NULL when this worker has
 * no such decoder or op. */
const struct fby_digest *fby_decoder_hash_of_decoder(enum fby_decoder decoder);
const struct fby_digest *fby_decoder_hash_of_op(uint32_t op_id);

/* Add a number to a hash, in `width` bytes, little-endian. */
void fby_decoder_hash_add(
    struct fby_digest_state *hash, uint64_t value, size_t width);

#endif
