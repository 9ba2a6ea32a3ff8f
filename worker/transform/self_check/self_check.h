/* self_check.h - the self checks that decoder_hash.c hashes. Internal to
 * worker/transform.
 *
 * Their input is fixed: built-in files for the decoders of pictures, these
 * pictures with fixed parameters and draws for the ops, fixed texts for the
 * other decoders. A refused input is a result and is hashed. Each function adds
 * its outcomes to `hash`.
 *
 * Errors: FBY_FULL when memory is short; the hash is then useless. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_H

#include "common/hash.h"
#include "worker/transform/apply.h"

/* Add one byte for an outcome: 0 for FBY_OK, 1 for FBY_BAD_SAMPLE. Any other
 * error is no outcome: it is returned. */
FBY_CHECKED fby_err fby_self_check_outcome(
    struct fby_digest_state *hash, fby_err err);

/* Add the sides and pixels of a picture, `channels` bytes a pixel. */
void fby_self_check_picture(struct fby_digest_state *hash,
    const struct fby_image *image, uint32_t channels);

/* Decode each built-in JPEG whole, then its first half. */
FBY_CHECKED fby_err fby_self_check_jpegs(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Decode parts of the built-in JPEGs with that dct_scale. */
FBY_CHECKED fby_err fby_self_check_scale(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_dct_scale scale);

/* Decode each built-in PNG as a picture or as a mask, whole, then its first
 * half. */
FBY_CHECKED fby_err fby_self_check_pngs(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_decode decode);

/* Decode texts as label or number. */
FBY_CHECKED fby_err fby_self_check_texts(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_decode decode);

/* Decode numbers of JSON at keys that are paths, and picks from a list. */
FBY_CHECKED fby_err fby_self_check_paths(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Decode each built-in JPEG and PNG to yuv420: whole, its first half, and with
 * ops that paint, for two samples. */
FBY_CHECKED fby_err fby_self_check_yuv(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Convert NumPy files of one value: each NumPy type to each wire type. */
FBY_CHECKED fby_err fby_self_check_arrays(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Pack NumPy files of zeros and ones to bits; stack the built-in PNGs. */
FBY_CHECKED fby_err fby_self_check_bits(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Convert sequences of one token: each width to each wire type. */
FBY_CHECKED fby_err fby_self_check_tokens(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Decode packed documents: inputs, targets and lengths. */
FBY_CHECKED fby_err fby_self_check_packed(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Decode ragged rows, some of them too long. */
FBY_CHECKED fby_err fby_self_check_lengths(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Decode texts of JSON, picks from a list, some of them too long. */
FBY_CHECKED fby_err fby_self_check_json_texts(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Write sparse rows of a few values, some unordered or with duplicates. */
FBY_CHECKED fby_err fby_self_check_sparse(struct fby_digest_state *hash);

/* Run an op with each of its sets of parameters. */
FBY_CHECKED fby_err fby_self_check_op(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_op *op);

/* Is the op known here, with parameters to check it? */
bool fby_has_self_check(uint32_t op_id);

#endif
