/* decoder_hash.h - what each decoder and op of this process does, as a hash.
 *
 * Tried once a process, on small files and texts built into it. A hash is
 * BLAKE2b-256 over all outcomes: sizes and values, or the fact of a refusal.
 * proto/PROTOCOL.md, "Fingerprint", lists the trials. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_DECODER_HASH_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_DECODER_HASH_H

#include "common/err.h"
#include "common/hash.h"

/* What can be tried by itself. A picture field is made of several. */
enum fby_decoder {
    FBY_DECODER_RGB8,     /* JPEG, whole */
    FBY_DECODER_FAITHFUL, /* parts of it, by dct_scale */
    FBY_DECODER_FAST,
    FBY_DECODER_LABEL,
    FBY_DECODER_NUMBER,
    FBY_DECODER_BYTES,
    FBY_DECODER_PNG, /* pictures */
    FBY_DECODER_MASK8,
    FBY_DECODER_ARRAY,
    FBY_DECODER_BITS,
    FBY_DECODER_PATH, /* into JSON */
    FBY_DECODER_TOKENS,
    FBY_DECODER_YUV420, /* pictures to planes */
    FBY_DECODER_PACKED, /* documents in sequences, and their lengths */
    FBY_DECODER_RAGGED, /* rows of several lengths, of every decoder */
    FBY_DECODER_SPARSE,
    FBY_DECODER_JSON_TEXT,
    FBY_N_DECODERS
};

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
