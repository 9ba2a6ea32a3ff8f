/* The codecs test themselves at start-up: known filtered bytes, then every
 * coding there and back, over sizes around the borders of blocks. */
#include <stdlib.h>
#include <string.h>

#include "common/codec/codec.h"
#include "common/codec/filter.h"
#include "common/mem.h"

enum { LARGEST = 2 * FBY_CODEC_BLOCK + 77 };

struct bench {
    struct fby_codec_scratch scratch;
    uint8_t                  raw[LARGEST];
    uint8_t                  packed[LARGEST + 64];
    uint8_t                  back[LARGEST];
};

/* 16 bytes as eight u16, by each filter, with the elements 2 apart. */
static const struct {
    uint8_t filter;
    uint8_t out[16];
} known[] = {
    {FBY_FILTER_NONE, {1, 0, 2, 0, 4, 0, 8, 0, 16, 1, 32, 1, 64, 1, 128, 1}},
    {FBY_FILTER_DELTA, {1, 0, 2, 0, 3, 0, 6, 0, 12, 1, 24, 1, 48, 0, 96, 0}},
    {FBY_FILTER_BYTE_SHUFFLE,
        {1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 1, 1, 1, 1}},
    {FBY_FILTER_BIT_SHUFFLE,
        {1, 2, 4, 8, 16, 32, 64, 128, 0xf0, 0, 0, 0, 0, 0, 0, 0}},
};

static fby_err test_known(struct fby_why *why)
{
    struct fby_codec_params params = {.element_bytes = 2, .distance = 2};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint8_t out[16];
        filter_apply(known[i].filter, params, known[0].out, sizeof(out), out);
        if (memcmp(out, known[i].out, sizeof(out)) != 0) {
            return fby_because(why, FBY_SYS,
                "codec self-test: filter %d makes other bytes than it should",
                known[i].filter);
        }
    }
    return FBY_OK;
}

/* Half smooth, half noise, so that blocks both compress and do not. */
static void fill(uint8_t *raw)
{
    uint32_t state = 1;
    for (size_t i = 0; i < LARGEST; i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        raw[i] =
            i < FBY_CODEC_BLOCK ? (uint8_t)(i / 7) : (uint8_t)(state >> 24);
    }
}

static bool survives(
    struct bench *bench, struct fby_codec_job *job, size_t raw_size)
{
    size_t               size = 0;
    struct fby_bytes_in  raw  = {.data = bench->raw, .size = raw_size};
    struct fby_bytes_out out  = {
         .data = bench->packed, .capacity = sizeof(bench->packed)};
    memset(bench->back, 0xa5, raw_size);
    if (fby_codec_encode(job, raw, out, &size) != FBY_OK) {
        return false;
    }
    struct fby_bytes_in payload = {.data = bench->packed, .size = size};
    return fby_codec_decode(job, payload, bench->back, raw_size) == FBY_OK &&
           memcmp(bench->raw, bench->back, raw_size) == 0;
}

static fby_err test_sizes(struct bench *bench, struct fby_coding coding,
    struct fby_codec_params params, struct fby_why *why)
{
    static const size_t  sizes[] = {1, 15, 4096, FBY_CODEC_BLOCK, LARGEST};
    struct fby_codec_job job     = {
            .coding = coding, .params = params, .scratch = &bench->scratch};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (!survives(bench, &job, sizes[i])) {
            return fby_because(why, FBY_SYS,
                "codec self-test: filter %d, codec %d: %zu bytes do not "
                "survive",
                coding.filter, coding.codec, sizes[i]);
        }
    }
    return FBY_OK;
}

static fby_err test_all(struct bench *bench, struct fby_why *why)
{
    static const struct fby_codec_params params[] = {{1, 3}, {2, 1}, {8, 4}};
    fby_err                              err      = test_known(why);
    for (unsigned i = 0; err == FBY_OK && i < 3 * 8; i++) {
        struct fby_coding coding = {
            .filter = (uint8_t)(i % 4), .codec = (uint8_t)(i / 4 % 2)};
        err = test_sizes(bench, coding, params[i / 8], why);
    }
    return err;
}

fby_err fby_codec_self_test(struct fby_why *why)
{
    struct bench *bench = fby_zalloc(sizeof(*bench));
    fill(bench->raw);
    fby_err err = test_all(bench, why);
    free(bench);
    return err;
}
