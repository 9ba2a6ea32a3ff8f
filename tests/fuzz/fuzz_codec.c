/* A hostile payload: filter, codec, element size, distance and raw size come
 * from the first 8 bytes, the payload is the rest. Also the way there and
 * back of the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void there_and_back(
    const struct fby_codec_job *job, const uint8_t *raw, size_t size)
{
    size_t   bound  = fby_codec_bound(job->coding.codec, size);
    uint8_t *packed = malloc(bound);
    uint8_t *back   = malloc(size);
    size_t   n      = 0;
    if (fby_codec_encode(job, (struct fby_bytes_in){raw, size},
            (struct fby_bytes_out){packed, bound}, &n) != FBY_OK ||
        fby_codec_decode(job, (struct fby_bytes_in){packed, n}, back, size) !=
            FBY_OK ||
        memcmp(raw, back, size) != 0) {
        abort();
    }
    free(packed);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_codec_scratch scratch;
    struct fby_reader               r   = fby_reader(data, size);
    struct fby_codec_job            job = {.scratch = &scratch};
    job.coding.filter                   = fby_read_u8(&r) % 4;
    job.coding.codec                    = fby_read_u8(&r) % 2;
    job.params.element_bytes            = 1u << (fby_read_u8(&r) % 4);
    job.params.distance                 = 1u + fby_read_u16(&r);
    size_t raw_size = 1 + (size_t)fby_read_le(&r, 3) % (3 * FBY_CODEC_BLOCK);
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
    there_and_back(&job, r.at, r.left);
    return 0;
}
