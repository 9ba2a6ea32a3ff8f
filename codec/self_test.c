/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test of the codecs at start-up: known bytes, then a round trip of
 * every coding, with sizes around the borders of blocks and tiles. */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/filter.h"
#include "common/mem.h"
#include "common/simd.h"
#include "common/yuv420.h"

enum {
    MAX_RAW          = 2 * FBY_CODEC_BLOCK + 77, /* the last block is partial */
    PAYLOAD_CAPACITY = 3 * FBY_CODEC_BLOCK
};

struct self_test {
    struct fby_codec_scratch scratch;
    uint8_t                  raw[MAX_RAW];
    uint8_t                  payload[PAYLOAD_CAPACITY];
    uint8_t                  decoded[MAX_RAW];
};

/* Eight u16 as each filter rearranges them, with a distance of 2 elements. The
 * first entry, of FBY_FILTER_NONE, is the input of all filters. */
static const struct {
    uint8_t filter;
    uint8_t out[16];
} examples[] = {
    {FBY_FILTER_NONE, {1, 0, 2, 0, 4, 0, 8, 0, 16, 1, 32, 1, 64, 1, 128, 1}},
    {FBY_FILTER_DELTA, {1, 0, 2, 0, 3, 0, 6, 0, 12, 1, 24, 1, 48, 0, 96, 0}},
    {FBY_FILTER_BYTE_SHUFFLE,
        {1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 1, 1, 1, 1}},
    {FBY_FILTER_BIT_SHUFFLE,
        {1, 2, 4, 8, 16, 32, 64, 128, 0xf0, 0, 0, 0, 0, 0, 0, 0}},
};

static fby_err test_known_bytes(struct fby_error_detail *why)
{
    struct fby_codec_params params = {.element_bytes = 2, .distance = 2};
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        uint8_t out[16];
        filter_apply(
            examples[i].filter, params, examples[0].out, sizeof(out), out);
        if (memcmp(out, examples[i].out, sizeof(out)) != 0) {
            return fby_error_set(why, FBY_SYS,
                "codec self-test: filter %d gives wrong bytes",
                examples[i].filter);
        }
    }
    return FBY_OK;
}

/* The example picture of PROTOCOL.md, "Photo format 1", and its payload. */
enum { PICTURE_W = 7, PICTURE_H = 3 };
static const uint8_t picture[3 * PICTURE_W * PICTURE_H] = {
    4, 3, 2, 5, 4, 3, 6, 5, 4, 7, 6, 5, 8, 7, 6, 9, 8, 7, 10, 9, 8,    /* y 0 */
    5, 4, 3, 6, 5, 4, 7, 6, 5, 8, 7, 6, 9, 8, 7, 10, 9, 8, 11, 10, 9,  /* y 1 */
    5, 4, 3, 6, 5, 4, 7, 6, 5, 8, 7, 6, 9, 8, 7, 10, 9, 8, 12, 11, 10, /* y 2 */
};
static const uint8_t picture_packed[] = {
    1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,             /* table */
    0x23, 0, 0, 0, 0x96, 0x24, 0x09, 0x02, 0, 0, 0, 0x20, 0, 0, /* G */
    0x02, 0, 0, 0, 0x02, 0, 0, 0,                               /* R - G */
    0x01, 0, 0, 0, 0x01, 0, 0, 0, 0, 0, /* B - G, padding */
};

static struct fby_codec_job photo_job(
    struct self_test *test, uint32_t width, uint32_t height, uint32_t channels)
{
    return (struct fby_codec_job){
        .coding  = {.filter = FBY_FILTER_PHOTO, .codec = FBY_CODEC_PACK},
        .params  = {.width = width, .height = height, .channels = channels},
        .scratch = &test->scratch,
    };
}

static fby_err test_known_picture(
    struct self_test *test, struct fby_error_detail *why)
{
    struct fby_codec_job job  = photo_job(test, PICTURE_W, PICTURE_H, 3);
    size_t               size = 0;
    struct fby_bytes_in  raw  = {.data = picture, .size = sizeof(picture)};
    struct fby_bytes_out out  = {
         .data = test->payload, .capacity = PAYLOAD_CAPACITY};
    bool is_same = fby_codec_encode(&job, raw, out, &size) == FBY_OK &&
                   size == sizeof(picture_packed) &&
                   memcmp(out.data, picture_packed, size) == 0;
    return is_same ? FBY_OK
                   : fby_error_set(why, FBY_SYS,
                         "codec self-test: pack (%s) gives wrong bytes",
                         fby_simd_name(fby_simd_level()));
}

/* The first block is smooth, so that it compresses. The rest is noise. */
static void fill_test_bytes(uint8_t *raw)
{
    uint32_t state = 1;
    for (size_t i = 0; i < MAX_RAW; i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        raw[i] =
            i < FBY_CODEC_BLOCK ? (uint8_t)(i / 7) : (uint8_t)(state >> 24);
    }
}

static bool round_trips(
    struct self_test *test, struct fby_codec_job *job, size_t raw_size)
{
    size_t               size = 0;
    struct fby_bytes_in  raw  = {.data = test->raw, .size = raw_size};
    struct fby_bytes_out out  = {
         .data = test->payload, .capacity = sizeof(test->payload)};
    memset(test->decoded, 0xa5, raw_size); /* to detect missing writes */
    if (fby_codec_encode(job, raw, out, &size) != FBY_OK) {
        return false;
    }
    struct fby_bytes_in payload = {.data = test->payload, .size = size};
    return fby_codec_decode(job, payload, test->decoded, raw_size) == FBY_OK &&
           memcmp(test->raw, test->decoded, raw_size) == 0;
}

static fby_err test_sizes(struct self_test *test, struct fby_coding coding,
    struct fby_codec_params params, struct fby_error_detail *why)
{
    static const size_t  sizes[] = {1, 15, 4096, FBY_CODEC_BLOCK, MAX_RAW};
    struct fby_codec_job job     = {
            .coding = coding, .params = params, .scratch = &test->scratch};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (!round_trips(test, &job, sizes[i])) {
            return fby_error_set(why, FBY_SYS,
                "codec self-test: filter %d, codec %d: the round trip of %zu "
                "bytes fails",
                coding.filter, coding.codec, sizes[i]);
        }
    }
    return FBY_OK;
}

/* Test all combinations of a filter, a codec and parameters, but not the filter
 * photo, which accepts only pictures. */
static fby_err test_all_but_photo(
    struct self_test *test, struct fby_error_detail *why)
{
    static const struct fby_codec_params params[] = {
        {.element_bytes = 1, .distance = 3},
        {.element_bytes = 2, .distance = 1},
        {.element_bytes = 8, .distance = 4},
    };
    enum { N_PARAMS = sizeof(params) / sizeof(params[0]) };
    const unsigned n_combinations = FBY_N_FILTERS * FBY_N_CODECS * N_PARAMS;
    fby_err        err            = FBY_OK;
    for (unsigned i = 0; err == FBY_OK && i < n_combinations; i++) {
        struct fby_coding coding = {.filter = (uint8_t)(i % FBY_N_FILTERS),
            .codec = (uint8_t)(i / FBY_N_FILTERS % FBY_N_CODECS)};
        if (fby_coding_is_known(coding) && coding.filter != FBY_FILTER_PHOTO) {
            err = test_sizes(
                test, coding, params[i / FBY_N_FILTERS / FBY_N_CODECS], why);
        }
    }
    return err;
}

/* Test round trips of one picture and of two pictures of one size. */
static fby_err test_picture_size(struct self_test *test,
    struct fby_codec_job *job, struct fby_error_detail *why)
{
    const struct fby_codec_params *p = &job->params;
    size_t size = p->yuv420 ? (size_t)fby_yuv_bytes(p->width, p->height)
                            : (size_t)p->width * p->height * p->channels;
    return round_trips(test, job, size) && round_trips(test, job, 2 * size)
               ? FBY_OK
               : fby_error_set(why, FBY_SYS,
                     "codec self-test: pack (%s): the round trip of pictures "
                     "of %u x %u x %u%s fails",
                     fby_simd_name(fby_simd_level()), p->width, p->height,
                     p->channels, p->yuv420 ? " in yuv420" : "");
}

static fby_err test_pictures(
    struct self_test *test, struct fby_error_detail *why)
{
    /* Width, height and channels of a picture. */
    static const uint32_t sizes[][3] = {{1, 1, 3}, {1, 1, 1}, {7, 3, 3},
        {33, 31, 1}, {64, 2, 3}, {224, 65, 3}, {257, 33, 3}, {300, 40, 1}};
    fby_err               err        = test_known_picture(test, why);
    for (size_t i = 0; err == FBY_OK && i < sizeof(sizes) / sizeof(*sizes);
         i++) {
        const uint32_t      *size = sizes[i];
        struct fby_codec_job job  = photo_job(test, size[0], size[1], size[2]);
        err                       = test_picture_size(test, &job, why);
        if (err == FBY_OK && size[2] == 3) {
            job.params.yuv420 = true;
            err               = test_picture_size(test, &job, why);
        }
    }
    return err;
}

fby_err fby_codec_self_test(struct fby_error_detail *why)
{
    struct self_test *test = fby_zalloc(sizeof(*test));
    fill_test_bytes(test->raw);
    fby_err err = test_known_bytes(why);
    if (err == FBY_OK) {
        err = test_all_but_photo(test, why);
    }
    if (err == FBY_OK) {
        err = test_pictures(test, why);
    }
    free(test);
    return err;
}
