/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - self checks of sparse rows: a few values, in order and out of
 * order, in integer and floating-point wire types. */
#include "worker/transform/sparse.h"
#include "worker/transform/self_check/self_check.h"

enum {
    MAX_VALUES  = 3, /* of a row; one case has one more, and is refused */
    INDEX_BYTES = 2, /* of an index into a dense row of 300 values */
    VALUE_BYTES = 4  /* at most, of the wire types below */
};

static const struct sparse_case {
    uint64_t n; /* number of values and indices */
    int64_t  indices[MAX_VALUES + 1];
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

static void check_row(
    struct fby_self_check *check, const struct sparse_case *input)
{
    static const uint8_t values[MAX_VALUES + 1] = {5, 0, 255, 1};
    const struct fby_npy npy                    = {
                           .type     = FBY_NPY_I1,
                           .n_dims   = 1,
                           .n_values = input->n,
                           .data     = values,
    };
    struct sparse_case    copy = *input; /* its indices are overwritten */
    uint8_t               scratch[(MAX_VALUES + 1) * FBY_SPARSE_SCRATCH_BYTES];
    uint8_t               indices[MAX_VALUES * INDEX_BYTES];
    uint8_t               out[MAX_VALUES * VALUE_BYTES];
    uint32_t              length = 0;
    struct fby_sparse_row row    = {copy.indices, &npy, scratch};
    struct fby_field_job  job    = {
            .field = &check->field, .length = &length, .indices = indices};
    if (fby_self_check_add_outcome(
            check, fby_sparse_write(&job, &row, out, NULL))) {
        fby_digest_add_number(&check->hash, length, 4);
        fby_digest_add(&check->hash, indices, (size_t)length * INDEX_BYTES);
        fby_digest_add(&check->hash, out,
            (size_t)length * fby_type_bytes(check->field.wire_type));
    }
}

void fby_self_check_sparse(struct fby_self_check *check)
{
    static const enum fby_type types[] = {FBY_I32, FBY_U8, FBY_F16};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        check->field = (struct fby_field_content){.decode = FBY_DECODE_SPARSE,
            .wire_type                                    = types[t],
            .max_length                                   = MAX_VALUES,
            .shape                                        = {2, {3, 100}}};
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            check_row(check, &cases[i]);
        }
    }
}
