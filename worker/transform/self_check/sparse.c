/* sparse.c - self checks of sparse rows: a few values, ordered and unordered,
 * in integer and real wire types. */
#include <string.h>

#include "worker/transform/self_check/decoder_hash.h"
#include "worker/transform/self_check/self_check.h"
#include "worker/transform/sparse.h"

enum { MOST = 3 /* values of a row */ };

static const struct sparse_case {
    uint64_t n;
    int64_t  at[MOST + 1];
} cases[] = {
    {0, {0}},
    {1, {0}},
    {1, {299}},
    {1, {300}},
    {1, {-1}},
    {2, {7, 8}},
    {3, {256, 0, 255}},
    {2, {4, 4}},
    {3, {9, 1, 9}},
    {4, {0, 1, 2, 3}},
};

static fby_err try_row(struct fby_digest_state *hash,
    const struct fby_field_content *field, const struct sparse_case *one)
{
    static const uint8_t values[MOST + 1] = {5, 0, 255, 1};
    const struct fby_npy npy              = {
                     .type   = FBY_NPY_I1,
                     .n_dims = 1,
                     .values = one->n,
                     .data   = values,
    };
    int64_t               at[MOST + 1];
    uint8_t               spare[(MOST + 1) * FBY_SPARSE_SPARE];
    uint8_t               indices[MOST * 2];
    uint8_t               out[MOST * 4];
    uint32_t              length = 0;
    struct fby_sparse_row row    = {at, &npy, spare};
    struct fby_field_job  job    = {
            .field = field, .length = &length, .indices = indices};
    memcpy(at, one->at, sizeof(at));
    fby_err err    = fby_sparse_write(&job, &row, out, NULL);
    fby_err broken = fby_self_check_outcome(hash, err);
    if (err == FBY_OK) {
        fby_decoder_hash_add(hash, length, 4);
        fby_digest_add(hash, indices, (size_t)length * 2);
        fby_digest_add(
            hash, out, (size_t)length * fby_type_bytes(field->wire_type));
    }
    return broken;
}

fby_err fby_self_check_sparse(struct fby_digest_state *hash)
{
    static const enum fby_type types[] = {FBY_I32, FBY_U8, FBY_F16};
    fby_err                    err     = FBY_OK;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        struct fby_field_content field = {.decode = FBY_DECODE_SPARSE,
            .wire_type                            = types[t],
            .max_length                           = MOST,
            .shape                                = {2, {3, 100}}};
        size_t                   n     = sizeof(cases) / sizeof(cases[0]);
        for (size_t i = 0; i < n && err == FBY_OK; i++) {
            err = try_row(hash, &field, &cases[i]);
        }
    }
    return err;
}
