/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - codec jobs, and decoding in buffers next to inaccessible pages. */
#ifndef FBY_TESTS_CODEC_JOBS_H
#define FBY_TESTS_CODEC_JOBS_H

#include "tests/guard.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "common/yuv420.h"

static struct fby_codec_scratch scratch;

static inline struct fby_codec_job job(uint8_t filter, uint8_t codec)
{
    return (struct fby_codec_job){.coding = {filter, codec},
        .params                           = {.element_bytes = 2, .distance = 3},
        .scratch                          = &scratch};
}

static inline struct fby_codec_job photo_job(
    uint32_t width, uint32_t height, uint32_t channels)
{
    struct fby_codec_job j = job(FBY_FILTER_PHOTO, FBY_CODEC_PACK);
    j.params.width         = width;
    j.params.height        = height;
    j.params.channels      = channels;
    return j;
}

static inline struct fby_codec_job yuv_job(uint32_t width, uint32_t height)
{
    struct fby_codec_job j = photo_job(width, height, 3);
    j.params.yuv420        = true;
    return j;
}

/* Decode `payload` to exactly `size` bytes, which are copied to `raw` unless
 * `raw` is NULL. Accesses beyond the end of either buffer fault. Asserts that
 * fby_codec_can_decode() agrees; for lz4 it checks only the sizes. */
static inline fby_err decode(const struct fby_codec_job *j, const void *payload,
    size_t payload_size, uint8_t *raw, size_t size)
{
    struct fby_guarded  in   = fby_guarded_copy(payload, payload_size);
    struct fby_guarded  out  = fby_guarded_copy(NULL, size);
    struct fby_bytes_in from = {in.bytes, in.size};

    fby_err err  = fby_codec_decode(j, from, out.bytes, size);
    bool    good = fby_codec_can_decode(j, from, size);
    bool    lz4  = j->coding.codec == FBY_CODEC_LZ4;
    bool    fits = payload_size <= fby_codec_bound(j->coding.codec, size);
    assert_true(good || err != FBY_OK || (lz4 && !fits));
    assert_true(!good || err == FBY_OK || lz4);
    if (raw != NULL) {
        memcpy(raw, out.bytes, size);
    }
    fby_guarded_free(&in);
    fby_guarded_free(&out);
    return err;
}

#endif
