/* Blocks in, blocks out. Filtering goes through the scratch block, which stays
 * in the cache; without a filter LZ4 works on the caller's memory directly.
 * What a payload says about itself is never believed beyond its own end. */
#include "common/codec/codec.h"

#include <lz4.h>
#include <string.h>

#include "common/bytes.h"
#include "common/codec/filter.h"

/* lz4: a table of one u32 a block, then the blocks. The top bit of an entry
 * says that the block did not compress and stands as it is. */
enum { ENTRY = 4 };
#define AS_IT_IS UINT32_C(0x80000000)

static size_t blocks_of(size_t raw_size)
{
    return (raw_size + FBY_CODEC_BLOCK - 1) / FBY_CODEC_BLOCK;
}

static size_t block_size(size_t raw_size, size_t block)
{
    size_t left = raw_size - block * FBY_CODEC_BLOCK;
    return left < FBY_CODEC_BLOCK ? left : FBY_CODEC_BLOCK;
}

struct fby_codec_params fby_codec_params_of(
    enum fby_type type, const struct fby_shape *shape)
{
    struct fby_codec_params params = {
        .element_bytes = fby_type_bytes(type), .distance = 1};
    if (shape->n_dims >= 2 && shape->n_dims <= FBY_MAX_DIMS) {
        params.distance = shape->dims[shape->n_dims - 1];
    }
    return params;
}

bool fby_coding_known(struct fby_coding coding)
{
    return coding.filter <= FBY_FILTER_BIT_SHUFFLE &&
           coding.codec <= FBY_CODEC_LZ4;
}

size_t fby_codec_bound(uint8_t codec, size_t raw_size)
{
    return codec == FBY_CODEC_STORE ? raw_size
                                    : raw_size + ENTRY * blocks_of(raw_size);
}

static bool usable(const struct fby_codec_job *job, size_t raw_size)
{
    uint32_t w = job->params.element_bytes;
    return fby_coding_known(job->coding) && raw_size >= 1 &&
           raw_size <= FBY_CODEC_RAW_MAX && job->params.distance >= 1 &&
           (w == 1 || w == 2 || w == 4 || w == 8);
}

/* The block as it is to be compressed: in place when nothing is filtered. */
static const uint8_t *filtered(
    const struct fby_codec_job *job, const uint8_t *raw, size_t size)
{
    if (job->coding.filter == FBY_FILTER_NONE) {
        return raw;
    }
    filter_apply(
        job->coding.filter, job->params, raw, size, job->scratch->block);
    return job->scratch->block;
}

static void store_all(
    const struct fby_codec_job *job, struct fby_bytes_in raw, uint8_t *out)
{
    for (size_t b = 0; b < blocks_of(raw.size); b++) {
        size_t start = b * FBY_CODEC_BLOCK;
        filter_apply(job->coding.filter, job->params, raw.data + start,
            block_size(raw.size, b), out + start);
    }
}

/* One block to `out`, which holds `size` bytes; its table entry. */
static uint32_t compress_block(const uint8_t *block, size_t size, uint8_t *out)
{
    int packed = LZ4_compress_default(
        (const char *)block, (char *)out, (int)size, (int)size - 1);
    if (packed > 0) {
        return (uint32_t)packed;
    }
    memcpy(out, block, size);
    return (uint32_t)size | AS_IT_IS;
}

static size_t compress_all(
    const struct fby_codec_job *job, struct fby_bytes_in raw, uint8_t *out)
{
    size_t blocks = blocks_of(raw.size);
    size_t at     = ENTRY * blocks;
    for (size_t b = 0; b < blocks; b++) {
        size_t         size = block_size(raw.size, b);
        const uint8_t *from =
            filtered(job, raw.data + b * FBY_CODEC_BLOCK, size);
        uint32_t entry = compress_block(from, size, out + at);
        fby_store_le(out + ENTRY * b, entry, ENTRY);
        at += entry & ~AS_IT_IS;
    }
    return at;
}

fby_err fby_codec_encode(const struct fby_codec_job *job,
    struct fby_bytes_in raw, struct fby_bytes_out out, size_t *size)
{
    if (!usable(job, raw.size)) {
        return FBY_USAGE;
    }
    if (out.capacity < fby_codec_bound(job->coding.codec, raw.size)) {
        return FBY_FULL;
    }
    if (job->coding.codec == FBY_CODEC_STORE) {
        store_all(job, raw, out.data);
        *size = raw.size;
        return FBY_OK;
    }
    *size = compress_all(job, raw, out.data);
    return FBY_OK;
}

static fby_err restore_all(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size)
{
    if (payload.size != raw_size) {
        return FBY_PROTO;
    }
    for (size_t b = 0; b < blocks_of(raw_size); b++) {
        size_t start = b * FBY_CODEC_BLOCK;
        filter_undo(job->coding.filter, job->params, payload.data + start,
            block_size(raw_size, b), raw + start);
    }
    return FBY_OK;
}

/* Exactly `size` bytes at `out` from the block that `entry` describes. */
static bool expand_block(
    struct fby_reader *payload, uint32_t entry, uint8_t *out, size_t size)
{
    uint32_t       packed = entry & ~AS_IT_IS;
    const uint8_t *from   = fby_read_bytes(payload, packed);
    if (from == NULL) {
        return false;
    }
    if ((entry & AS_IT_IS) == 0) {
        return LZ4_decompress_safe((const char *)from, (char *)out, (int)packed,
                   (int)size) == (int)size;
    }
    if (packed == size) {
        memcpy(out, from, size);
    }
    return packed == size;
}

static fby_err expand_all(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size)
{
    bool              plain   = job->coding.filter == FBY_FILTER_NONE;
    size_t            blocks  = blocks_of(raw_size);
    struct fby_reader content = fby_reader(payload.data, payload.size);
    struct fby_reader table   = fby_reader(payload.data, payload.size);
    fby_read_bytes(&content, ENTRY * blocks);
    for (size_t b = 0; b < blocks; b++) {
        size_t   size  = block_size(raw_size, b);
        uint8_t *to    = raw + b * FBY_CODEC_BLOCK;
        uint32_t entry = fby_read_u32(&table);
        uint8_t *first = plain ? to : job->scratch->block;
        if (content.bad || !expand_block(&content, entry, first, size)) {
            return FBY_PROTO;
        }
        if (!plain) {
            filter_undo(job->coding.filter, job->params, first, size, to);
        }
    }
    return content.left == 0 ? FBY_OK : FBY_PROTO;
}

fby_err fby_codec_decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size)
{
    if (!usable(job, raw_size)) {
        return FBY_USAGE;
    }
    return job->coding.codec == FBY_CODEC_STORE
               ? restore_all(job, payload, raw, raw_size)
               : expand_all(job, payload, raw, raw_size);
}
