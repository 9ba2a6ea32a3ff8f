/* behaviour.c - try everything once, hash what comes out. */
#include "worker/transform/behaviour.h"

#include <pthread.h>

#include "common/bytes.h"
#include "worker/transform/trials.h"
#include "worker/transform/workshop.h"

/* ---- what is hashed ---- */

void fby_behaviour_add(
    struct fby_digest_state *hash, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    fby_store_le(bytes, value, width);
    fby_digest_add(hash, bytes, width);
}

fby_err fby_trial_outcome(struct fby_digest_state *hash, fby_err err)
{
    if (err != FBY_OK && err != FBY_BAD_SAMPLE) {
        return err;
    }
    fby_behaviour_add(hash, err != FBY_OK, 1);
    return FBY_OK;
}

void fby_trial_picture(struct fby_digest_state *hash,
    const struct fby_image *image, uint32_t channels)
{
    fby_behaviour_add(hash, image->width, 4);
    fby_behaviour_add(hash, image->height, 4);
    for (uint32_t y = 0; y < image->height; y++) {
        fby_digest_add(hash, image->pixels + y * image->stride,
            (size_t)image->width * channels);
    }
}

/* ---- all of it, once a process ---- */

struct behaviour {
    bool              known;
    struct fby_digest hash;
};

static struct { /* guarded by `lock` */
    pthread_mutex_t  lock;
    bool             ready;
    struct behaviour decoders[FBY_N_DECODERS];
    struct behaviour ops[FBY_N_COSTS];
} tried = {.lock = PTHREAD_MUTEX_INITIALIZER};

static fby_err try_decoder(struct fby_transform *transform,
    enum fby_decoder decoder, struct fby_digest_state *hash)
{
    switch (decoder) {
    case FBY_DECODER_RGB8:
        return fby_try_jpegs(transform, hash);
    case FBY_DECODER_FAITHFUL:
        return fby_try_scale(transform, hash, FBY_DCT_FAITHFUL);
    case FBY_DECODER_FAST:
        return fby_try_scale(transform, hash, FBY_DCT_FAST);
    case FBY_DECODER_LABEL:
        return fby_try_texts(transform, hash, FBY_DECODE_LABEL);
    case FBY_DECODER_NUMBER:
        return fby_try_texts(transform, hash, FBY_DECODE_NUMBER);
    case FBY_DECODER_PNG:
        return fby_try_pngs(transform, hash, FBY_DECODE_RGB8);
    case FBY_DECODER_MASK8:
        return fby_try_pngs(transform, hash, FBY_DECODE_MASK8);
    case FBY_DECODER_ARRAY:
        return fby_try_arrays(transform, hash);
    case FBY_DECODER_PATH:
        return fby_try_paths(transform, hash);
    case FBY_DECODER_BITS:
        return fby_try_bits(transform, hash);
    case FBY_DECODER_TOKENS:
        return fby_try_tokens(transform, hash);
    case FBY_DECODER_PACKED:
        return fby_try_packed(transform, hash);
    case FBY_DECODER_YUV420:
        return fby_try_yuv(transform, hash);
    case FBY_DECODER_RAGGED:
        return fby_try_lengths(transform, hash);
    case FBY_DECODER_SPARSE:
        return fby_try_sparse(hash);
    case FBY_DECODER_JSON_TEXT:
        return fby_try_json_texts(transform, hash);
    case FBY_DECODER_BYTES:
    case FBY_N_DECODERS:
        break;
    }
    return FBY_OK;
}

static fby_err try_decoders(struct fby_transform *transform)
{
    fby_err err = FBY_OK;
    for (int i = 0; i < FBY_N_DECODERS && err == FBY_OK; i++) {
        struct fby_digest_state hash;
        fby_digest_begin(&hash);
        err = try_decoder(transform, (enum fby_decoder)i, &hash);
        tried.decoders[i] =
            (struct behaviour){err == FBY_OK, fby_digest_end(&hash)};
    }
    return err;
}

static fby_err try_ops(struct fby_transform *transform)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < fby_n_ops && err == FBY_OK; i++) {
        struct fby_digest_state hash;
        if (fby_has_trial(fby_ops[i]->id)) {
            fby_digest_begin(&hash);
            err = fby_try_op(transform, &hash, fby_ops[i]);
            tried.ops[fby_ops[i]->id] =
                (struct behaviour){true, fby_digest_end(&hash)};
        }
    }
    return err;
}

static fby_err try_all(void)
{
    struct fby_transform *transform = fby_transform_create(NULL);
    fby_err               err       = try_decoders(transform);
    if (err == FBY_OK) {
        err = try_ops(transform);
    }
    fby_transform_destroy(&transform);
    return err;
}

fby_err fby_behaviours_try(void)
{
    fby_err err = FBY_OK;
    pthread_mutex_lock(&tried.lock);
    if (!tried.ready) {
        err         = try_all();
        tried.ready = err == FBY_OK;
    }
    pthread_mutex_unlock(&tried.lock);
    return err;
}

/* What was tried does not change any more; who asks has called try. */
const struct fby_digest *fby_behaviour_of_decoder(enum fby_decoder decoder)
{
    return tried.decoders[decoder].known ? &tried.decoders[decoder].hash : NULL;
}

const struct fby_digest *fby_behaviour_of_op(uint32_t op_id)
{
    return op_id < FBY_N_COSTS && tried.ops[op_id].known
               ? &tried.ops[op_id].hash
               : NULL;
}
