/* SPDX-License-Identifier: Apache-2.0 */
/* decoder_hash.c - run all self checks once, and keep their hashes. */
#include "worker/transform/self_check/decoder_hash.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "pipeline/fields/kind.h"
#include "worker/transform/decoders.h"
#include "worker/transform/self_check/self_check.h"
#include "worker/transform/transform_private.h"

bool fby_self_check_add_outcome(struct fby_self_check *check, fby_err err)
{
    if (err != FBY_OK && err != FBY_BAD_SAMPLE && check->err == FBY_OK) {
        check->err = err;
    }
    fby_digest_add_number(&check->hash, err != FBY_OK, 1);
    return err == FBY_OK && check->err == FBY_OK;
}

void fby_self_check_add_picture(struct fby_self_check *check,
    const struct fby_image *image, uint32_t channels)
{
    fby_digest_add_number(&check->hash, image->width, 4);
    fby_digest_add_number(&check->hash, image->height, 4);
    for (uint32_t y = 0; y < image->height; y++) {
        fby_digest_add(&check->hash, image->pixels + y * image->stride,
            (size_t)image->width * channels);
    }
}

void fby_self_check_decode(
    struct fby_self_check *check, const struct fby_field_job *job)
{
    const struct fby_field_content *field  = job->field;
    size_t                          size   = fby_field_bytes(field);
    uint8_t                        *values = fby_zalloc(size);
    if (fby_self_check_add_outcome(
            check, fby_field_write(check->transform, job, values, NULL))) {
        if (fby_field_values(field) == FBY_VALUES_COLOURS) {
            fby_digest_add_number(&check->hash, field->shape.dims[1], 4);
            fby_digest_add_number(&check->hash, field->shape.dims[0], 4);
        }
        if (job->length != NULL) {
            fby_digest_add_number(&check->hash, *job->length, 4);
            size = (size_t)*job->length * fby_type_bytes(field->wire_type);
        }
        fby_digest_add(&check->hash, values, size);
    }
    free(values);
}

static struct { /* guarded by `lock` */
    pthread_mutex_t   lock;
    bool              computed;
    struct fby_digest decoders[FBY_N_DECODERS];
    struct fby_digest ops[FBY_OP_ID_LIMIT]; /* by op id */
} hashes = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Compute all hashes. The caller holds the lock. */
static fby_err run_self_checks(void)
{
    struct fby_self_check *check = fby_zalloc(sizeof(*check));
    check->transform             = fby_transform_create(NULL);
    for (int i = 0; i < FBY_N_DECODERS; i++) {
        fby_digest_begin(&check->hash);
        if (fby_decoders[i].check != NULL) {
            fby_decoders[i].check(check);
        }
        hashes.decoders[i] = fby_digest_end(&check->hash);
    }
    for (size_t i = 0; i < fby_n_ops; i++) {
        if (fby_self_check_has_op(fby_ops[i]->id)) {
            fby_digest_begin(&check->hash);
            fby_self_check_op(check, fby_ops[i]);
            hashes.ops[fby_ops[i]->id] = fby_digest_end(&check->hash);
        }
    }
    fby_err err = check->err;
    fby_transform_destroy(&check->transform);
    free(check);
    return err;
}

fby_err fby_decoder_hashes_compute(void)
{
    fby_err err = FBY_OK;
    pthread_mutex_lock(&hashes.lock);
    if (!hashes.computed) {
        err             = run_self_checks();
        hashes.computed = err == FBY_OK;
    }
    pthread_mutex_unlock(&hashes.lock);
    return err;
}

/* No lock is needed: the caller has called fby_decoder_hashes_compute, and
 * after that the hashes do not change. */
const struct fby_digest *fby_self_check_hash_of_decoder(uint32_t decoder)
{
    return &hashes.decoders[decoder];
}

const struct fby_digest *fby_self_check_hash_of_op(uint32_t op_id)
{
    return fby_self_check_has_op(op_id) ? &hashes.ops[op_id] : NULL;
}
