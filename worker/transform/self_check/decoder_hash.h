/* SPDX-License-Identifier: Apache-2.0 */
/* decoder_hash.h - a hash of the results of each decoder and op.
 *
 * A self check runs a decoder or an op on small built-in files and texts. A
 * hash is BLAKE2b-256 over all outcomes of a self check: sizes and values, or
 * the fact that an input was refused. proto/PROTOCOL.md, "Fingerprint", lists
 * the inputs. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_DECODER_HASH_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_DECODER_HASH_H

#include "common/err.h"
#include "common/hash.h"

/* Run the self checks and compute the hashes, unless done before. Any thread.
 * Errors: FBY_FULL when memory is short; a later call tries again. */
FBY_CHECKED fby_err fby_decoder_hashes_compute(void);

/* The hash of a decoder (enum fby_decoder), or of an op; NULL for an op that
 * this worker does not have. Call after fby_decoder_hashes_compute has
 * succeeded. Any thread. */
const struct fby_digest *fby_self_check_hash_of_decoder(uint32_t decoder);
const struct fby_digest *fby_self_check_hash_of_op(uint32_t op_id);

#endif
