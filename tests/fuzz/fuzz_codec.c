/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_codec.c - hostile payloads. The first 8 bytes (9 for photo) choose
 * filter, codec, array and raw size; the rest is the payload. The same bytes
 * are also encoded and decoded. */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "common/bytes.h"
#include "common/yuv420.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void there_and_back(
    const struct fby_codec_job *job, const uint8_t *raw, size_t size)
{
    size_t   room   = fby_codec_encode_capacity(job, size);
    uint8_t *packed = malloc(room);
    uint8_t *back   = malloc(size);
    size_t   n      = 0;
    if (fby_codec_encode(job, (struct fby_bytes_in){raw, size},
            (struct fby_bytes_out){packed, room}, &n) != FBY_OK ||
        fby_codec_decode(job, (struct fby_bytes_in){packed, n}, back, size) !=
            FBY_OK ||
        memcmp(raw, back, size) != 0) {
        abort();
    }
    free(packed);
    free(back);
}

static bool is_photo(const struct fby_codec_job *job)
{
    return job->coding.filter == FBY_FILTER_PHOTO;
}

/* Of the array: an element or a channel, a distance or a width, a height. */
static void read_params(struct fby_reader *r, struct fby_codec_job *job)
{
    uint8_t  kind             = fby_read_u8(r);
    uint32_t across           = fby_read_u16(r);
    job->params.element_bytes = 1u << (kind % 4);
    job->params.distance      = 1u + across;
    if (is_photo(job)) {
        job->params.channels = kind % 2 == 0 ? 1 : 3;
        job->params.yuv420   = kind % 4 == 3;
        job->params.width    = 1u + across % 300;
        job->params.height   = 1u + fby_read_u8(r) % 70u;
    }
}

/* Raw bytes of the uppermost lines of a picture. */
static size_t lines_bytes(const struct fby_codec_job *j, size_t lines)
{
    return j->params.yuv420
               ? (size_t)fby_yuv_bytes(j->params.width, (uint32_t)lines)
               : lines * j->params.width * j->params.channels;
}

static size_t read_raw_size(struct fby_reader *r, const struct fby_codec_job *j)
{
    size_t any = (size_t)fby_read_le(r, 3);
    if (!is_photo(j)) {
        return 1 + any % (3 * (size_t)FBY_CODEC_BLOCK);
    }
    size_t height = j->params.height;
    size_t lines  = 1 + any % (2 * height);
    return lines > height ? 2 * lines_bytes(j, height) : lines_bytes(j, lines);
}

/* As many of `size` bytes as can be encoded. */
static size_t whole(const struct fby_codec_job *job, size_t size)
{
    if (!is_photo(job)) {
        return size;
    }
    size_t image = lines_bytes(job, job->params.height);
    size_t lines = 0;
    while (size < image && lines_bytes(job, lines + 1) <= size) {
        lines++;
    }
    return size < image ? lines_bytes(job, lines) : size / image * image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_codec_scratch scratch;
    struct fby_reader               r   = fby_reader(data, size);
    struct fby_codec_job            job = {.scratch = &scratch};
    job.coding.filter                   = fby_read_u8(&r) % FBY_FILTER_PHOTO;
    job.coding.codec                    = fby_read_u8(&r) % FBY_N_CODECS;
    if (!fby_coding_is_known(job.coding)) {
        job.coding.filter = FBY_FILTER_PHOTO;
    }
    if (!fby_coding_is_known(job.coding)) {
        return 0; /* a gap in the numbers of codecs */
    }
    read_params(&r, &job);
    size_t raw_size = read_raw_size(&r, &job);
    if (r.bad || r.left == 0) {
        return 0;
    }
    uint8_t            *raw     = malloc(raw_size);
    struct fby_bytes_in payload = {.data = r.at, .size = r.left};
    fby_err             err = fby_codec_decode(&job, payload, raw, raw_size);
    if (err != FBY_OK && err != FBY_PROTO) {
        abort();
    }
    free(raw);
    size_t usable = whole(&job, r.left);
    if (usable > 0) {
        there_and_back(&job, r.at, usable);
    }
    return 0;
}
