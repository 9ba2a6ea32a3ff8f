/* self_check.h - what decoder_hash.c tries and hashes; for this folder alone.
 *
 * The trials are fixed: built-in files through the decoders, these pictures
 * through each op with fixed parameters and draws, fixed texts through the
 * other decoders. A refusal is a result like any other. All return FBY_FULL
 * when memory is short: the trial then says nothing. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_H

#include "common/hash.h"
#include "worker/transform/apply.h"

/* One byte for the outcome. Want of memory is none: it ends the trial. */
FBY_CHECKED fby_err fby_self_check_outcome(
    struct fby_digest_state *hash, fby_err err);
/* Sides and pixels, of `channels` bytes each. */
void fby_self_check_picture(struct fby_digest_state *hash,
    const struct fby_image *image, uint32_t channels);

/* Each built-in JPEG whole, then cut in half. */
FBY_CHECKED fby_err fby_self_check_jpegs(
    struct fby_transform *transform, struct fby_digest_state *hash);
/* Parts of them, decoded as `scale` says. */
FBY_CHECKED fby_err fby_self_check_scale(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_dct_scale scale);
/* Each built-in PNG as a picture or as a mask, whole, then cut in half. */
FBY_CHECKED fby_err fby_self_check_pngs(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_decode decode);
/* Texts through label or number. */
FBY_CHECKED fby_err fby_self_check_texts(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_decode decode);

/* JSON through number, at keys that are paths, and one of a list. */
FBY_CHECKED fby_err fby_self_check_paths(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Each built-in JPEG and PNG to planes: whole, cut in half, and with ops that
 * paint, for two samples. */
FBY_CHECKED fby_err fby_self_check_yuv(
    struct fby_transform *transform, struct fby_digest_state *hash);
/* NumPy files of one value: each type of theirs in each wire type. */
FBY_CHECKED fby_err fby_self_check_arrays(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* NumPy files of zeros and ones as bits; stacks of the built-in PNGs. */
FBY_CHECKED fby_err fby_self_check_bits(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Sequences of one token: each width of theirs in each wire type. */
FBY_CHECKED fby_err fby_self_check_tokens(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Documents packed into sequences: inputs, targets and lengths. */
FBY_CHECKED fby_err fby_self_check_packed(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Rows of several lengths, some of them too long. */
FBY_CHECKED fby_err fby_self_check_lengths(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Texts in JSON, one of a list, some of them too long. */
FBY_CHECKED fby_err fby_self_check_json_texts(
    struct fby_transform *transform, struct fby_digest_state *hash);

/* Sparse rows of a few values, some of them in no order, or twice. */
FBY_CHECKED fby_err fby_self_check_sparse(struct fby_digest_state *hash);

/* An op, with each of its sets of parameters. */
FBY_CHECKED fby_err fby_self_check_op(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_op *op);
/* Are there parameters to try it with? */
bool fby_has_self_check(uint32_t op_id);

#endif
