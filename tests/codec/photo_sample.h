/* SPDX-License-Identifier: Apache-2.0 */
/* photo_sample.h - pictures and their payloads of photo format 1, each next to
 * an inaccessible page. */
#ifndef FBY_TESTS_CODEC_PHOTO_SAMPLE_H
#define FBY_TESTS_CODEC_PHOTO_SAMPLE_H

#include "tests/guard.h"
#include "tests/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "codec/photo.h"
#include "common/yuv420.h"

/* Kinds of pictures, from easy to hard to compress. */
enum content { EVEN, SMOOTH, NOISE, EXTREMES, N_CONTENTS };

struct sample {
    struct fby_pictures photo;
    size_t              raw_size;
    uint8_t            *raw;
    struct fby_guarded  payload;
};

static inline uint32_t next(uint32_t *state)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return *state >> 16;
}

static inline uint8_t value(enum content content, size_t i, uint32_t *state)
{
    switch (content) {
    case EVEN:
        return 7;
    case SMOOTH:
        return (uint8_t)(i / 5 + next(state) % 4);
    case NOISE:
        return (uint8_t)next(state);
    case EXTREMES:
    case N_CONTENTS:
        break;
    }
    return next(state) % 2 == 0 ? 0 : 255;
}

/* Scratch memory, filled with bytes that a call must not depend on. */
static inline void *scratch(void)
{
    static struct fby_guarded memory;
    if (memory.bytes == NULL) {
        memory = fby_guarded_copy(NULL, FBY_PHOTO_SCRATCH_BYTES);
    }
    memset(memory.bytes, 0xee, FBY_PHOTO_SCRATCH_BYTES);
    return memory.bytes;
}

static inline size_t raw_bytes(const struct fby_pictures *photo)
{
    size_t one = photo->yuv420
                     ? (size_t)fby_yuv_bytes(photo->width, photo->height)
                     : (size_t)photo->width * photo->height * photo->planes;
    return photo->images * one;
}

/* Encode pictures; the old contents of buffers must not matter. */
static inline struct fby_guarded payload_of(
    const struct fby_pictures *photo, const uint8_t *raw)
{
    struct fby_guarded in = fby_guarded_copy(raw, raw_bytes(photo));
    struct fby_guarded out =
        fby_guarded_copy(NULL, fby_photo_encode_capacity(photo));
    memset(out.bytes, 0xa5, out.size);
    size_t size = fby_photo_encode(photo, in.bytes, out.bytes, scratch());
    assert_in_range(size, 1, out.size);
    struct fby_guarded payload = fby_guarded_copy(out.bytes, size);
    fby_guarded_free(&in);
    fby_guarded_free(&out);
    return payload;
}

static inline struct sample encoded(
    struct fby_pictures photo, enum content content)
{
    struct sample s     = {.photo = photo, .raw_size = raw_bytes(&photo)};
    uint32_t      state = photo.width * 31 + photo.height;
    s.raw               = malloc(s.raw_size);
    for (size_t i = 0; i < s.raw_size; i++) {
        s.raw[i] = value(content, i, &state);
    }
    s.payload = payload_of(&photo, s.raw);
    return s;
}

static inline void free_sample(struct sample *s)
{
    free(s->raw);
    fby_guarded_free(&s->payload);
}

static inline bool decodes(const struct sample *s, uint8_t *raw)
{
    return fby_photo_decode(
        &s->photo, s->payload.bytes, s->payload.size, raw, scratch());
}

/* Assert that fby_photo_is_valid() and decoding refuse the payload, and that
 * decoding writes nothing. */
static inline void assert_refused(const struct sample *s)
{
    uint8_t *raw = malloc(s->raw_size);
    memset(raw, 0xa5, s->raw_size);
    assert_false(
        fby_photo_is_valid(&s->photo, s->payload.bytes, s->payload.size));
    assert_false(decodes(s, raw));
    for (size_t i = 0; i < s->raw_size; i++) {
        assert_int_equal(raw[i], 0xa5);
    }
    free(raw);
}

#endif
