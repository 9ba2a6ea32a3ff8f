/* SPDX-License-Identifier: Apache-2.0 */
/* client_stream.h - checks of the values of each sample of a stream, and of the
 * digest of the stream, which faults of workers must not change. */
#ifndef FBY_TESTS_CLIENT_STREAM_H
#define FBY_TESTS_CLIENT_STREAM_H

#include "tests/trainer_client/rig.h"

enum { SIZE = 16, STEPS = 12 };

struct digest {
    uint8_t bytes[16];
};

/* Deliver `steps` batches and close. */
static inline struct digest stream_digest(struct rig *rig, int steps)
{
    struct digest digest;
    rig_open(rig);
    rig_skip(rig, steps);
    assert_int_equal(
        forebay_stream_digest(rig->stream, digest.bytes), FOREBAY_OK);
    forebay_close(&rig->stream);
    return digest;
}

static inline struct digest digest_without_faults(void)
{
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){0});
    struct digest digest = stream_digest(&rig, STEPS);
    rig_end(&rig);
    return digest;
}

static inline void assert_same(const struct digest *a, const struct digest *b)
{
    assert_memory_equal(a->bytes, b->bytes, sizeof(a->bytes));
}

static inline void check_values(const struct forebay_batch *batch)
{
    const uint64_t *samples = forebay_batch_samples(batch);
    const DLTensor *image   = forebay_batch_tensor(batch, 0);
    const DLTensor *label   = forebay_batch_tensor(batch, 1);
    const uint8_t  *pixels  = image->data;
    const int64_t  *ids     = label->data;
    assert_int_equal(image->ndim, 4);
    assert_int_equal(image->shape[0], RIG_BATCH);
    assert_int_equal(image->shape[1], SIZE);
    assert_int_equal(image->strides[0], SIZE * SIZE * 3);
    assert_int_equal(label->ndim, 1);
    assert_int_equal(label->dtype.bits, 64);
    for (uint32_t row = 0; row < RIG_BATCH; row++) {
        assert_int_equal(ids[row], samples[row] % 10);
        for (uint32_t i = 0; i < SIZE * SIZE * 3; i++) {
            assert_int_equal(pixels[row * SIZE * SIZE * 3 + i],
                (uint8_t)(samples[row] * 31 + i));
        }
    }
}

#endif
