/* decoder_hash.c - run all self checks once, and keep their hashes. */
#include "worker/transform/self_check/decoder_hash.h"

#include <pthread.h>

#include "common/bytes.h"
#include "worker/transform/decoders.h"
#include "worker/transform/scratch.h"
#include "worker/transform/self_check/self_check.h"

/* ---- hashing ---- */

void fby_decoder_hash_add(
    struct fby_digest_state *hash, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    fby_store_le(bytes, value, width);
    fby_digest_add(hash, bytes, width);
}

fby_err fby_self_check_outcome(struct fby_digest_state *hash, fby_err err)
{
    if (err != FBY_OK && err != FBY_BAD_SAMPLE) {
        return err;
    }
    fby_decoder_hash_add(hash, err != FBY_OK, 1);
    return FBY_OK;
}

void fby_self_check_picture(struct fby_digest_state *hash,
    const struct fby_image *image, uint32_t channels)
{
    fby_decoder_hash_add(hash, image->width, 4);
    fby_decoder_hash_add(hash, image->height, 4);
    for (uint32_t y = 0; y < image->height; y++) {
        fby_digest_add(hash, image->pixels + y * image->stride,
            (size_t)image->width * channels);
    }
}

/* ---- all self checks, once a process ---- */

struct checked {
    bool              known;
    struct fby_digest hash;
};

static struct { /* guarded by `lock` */
    pthread_mutex_t lock;
    bool            ready;
    struct checked  decoders[FBY_N_DECODERS];
    struct checked  ops[FBY_N_COSTS];
} tried = {.lock = PTHREAD_MUTEX_INITIALIZER};

static fby_err try_decoders(struct fby_transform *transform)
{
    fby_err err = FBY_OK;
    for (int i = 0; i < FBY_N_DECODERS && err == FBY_OK; i++) {
        struct fby_digest_state hash;
        fby_digest_begin(&hash);
        if (fby_decoders[i].try != NULL) {
            err = fby_decoders[i].try(transform, &hash);
        }
        tried.decoders[i] =
            (struct checked){err == FBY_OK, fby_digest_end(&hash)};
    }
    return err;
}

static fby_err try_ops(struct fby_transform *transform)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < fby_n_ops && err == FBY_OK; i++) {
        struct fby_digest_state hash;
        if (fby_has_self_check(fby_ops[i]->id)) {
            fby_digest_begin(&hash);
            err = fby_self_check_op(transform, &hash, fby_ops[i]);
            tried.ops[fby_ops[i]->id] =
                (struct checked){true, fby_digest_end(&hash)};
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

fby_err fby_decoder_hashes_compute(void)
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

/* Read without the lock: after fby_decoder_hashes_compute, which the caller has
 * called, the hashes do not change. */
const struct fby_digest *fby_decoder_hash_of_decoder(enum fby_decoder decoder)
{
    return tried.decoders[decoder].known ? &tried.decoders[decoder].hash : NULL;
}

const struct fby_digest *fby_decoder_hash_of_op(uint32_t op_id)
{
    return op_id < FBY_N_COSTS && tried.ops[op_id].known
               ? &tried.ops[op_id].hash
               : NULL;
}
