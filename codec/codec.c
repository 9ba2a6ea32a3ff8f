/* SPDX-License-Identifier: Apache-2.0 */
/* Encode and decode the payload of a chunk, block by block. A filter writes to
 * the scratch block, which stays in the cache; without a filter, LZ4 works on
 * the caller's memory. The decoders check all sizes in a payload against its
 * end. A new codec is an entry of `codecs`, near the end of this file. */
#include "codec/codec.h"

#include <lz4.h>
#include <string.h>

#include "codec/filter.h"
#include "codec/photo.h"
#include "codec/stream_copy.h"
#include "common/bytes.h"
#include "common/yuv420.h"

/* A payload of lz4 is a table of one u32 per block, then the blocks. A table
 * entry is the size of its block in the payload. The top bit of the entry marks
 * a block that did not compress and is stored. */
enum { ENTRY_BYTES = 4 };
#define STORED_BLOCK UINT32_C(0x80000000)

static size_t count_blocks(size_t raw_size)
{
    return (raw_size + FBY_CODEC_BLOCK - 1) / FBY_CODEC_BLOCK;
}

static size_t block_size(size_t raw_size, size_t block_index)
{
    size_t left = raw_size - block_index * FBY_CODEC_BLOCK;
    return left < FBY_CODEC_BLOCK ? left : FBY_CODEC_BLOCK;
}

static size_t raw_bound(size_t raw_size)
{
    return raw_size;
}

static size_t lz4_bound(size_t raw_size)
{
    return raw_size + ENTRY_BYTES * count_blocks(raw_size);
}

_Static_assert(sizeof(struct fby_codec_scratch) >= FBY_PHOTO_SCRATCH_BYTES,
    "the scratch memory is enough for the codec pack");

struct fby_codec_params fby_codec_params_of(
    enum fby_type type, const struct fby_shape *shape)
{
    struct fby_codec_params params = {
        .element_bytes = fby_type_bytes(type), .distance = 1};
    if (shape->n_dims >= 2 && shape->n_dims <= FBY_MAX_DIMS) {
        params.distance = shape->dims[shape->n_dims - 1];
    }
    uint32_t channels = shape->n_dims == 3 ? shape->dims[2] : 0;
    if (type == FBY_U8 && (channels == 1 || channels == 3)) {
        params.height   = shape->dims[0];
        params.width    = shape->dims[1];
        params.channels = channels;
    }
    return params;
}

struct fby_codec_params fby_codec_params_of_yuv420(
    const struct fby_shape *shape)
{
    struct fby_codec_params params = fby_codec_params_of(FBY_U8, shape);
    params.distance                = 1; /* channels are not interleaved */
    params.yuv420                  = params.channels == 3;
    return params;
}

/* The number of lines at the top of a yuv420 picture that have `raw_size` bytes
 * in total; 0 if the bytes are not whole lines. */
static uint64_t count_yuv_lines(uint32_t width, uint64_t raw_size)
{
    uint64_t strip_bytes = fby_yuv_bytes(width, FBY_YUV_LINES);
    uint64_t whole_lines = raw_size / strip_bytes * FBY_YUV_LINES;
    uint64_t rest_bytes  = raw_size % strip_bytes;
    uint32_t rest_lines  = 0;
    while (fby_yuv_bytes(width, rest_lines) < rest_bytes) {
        rest_lines++;
    }
    bool is_whole = fby_yuv_bytes(width, rest_lines) == rest_bytes;
    return is_whole ? whole_lines + rest_lines : 0;
}

static struct fby_pictures make_pictures(
    const struct fby_codec_params *params, uint64_t images, uint64_t height)
{
    return (struct fby_pictures){
        .images = (uint32_t)images,
        .width  = params->width,
        .height = (uint32_t)height,
        .planes = params->channels,
        .yuv420 = params->yuv420,
    };
}

/* find_pictures (below) for yuv420. */
static bool find_yuv_pictures(const struct fby_codec_params *params,
    size_t raw_size, struct fby_pictures *out)
{
    uint64_t picture_bytes = fby_yuv_bytes(params->width, params->height);
    if (raw_size % picture_bytes == 0) {
        *out = make_pictures(params, raw_size / picture_bytes, params->height);
        return true;
    }
    uint64_t lines =
        raw_size < picture_bytes ? count_yuv_lines(params->width, raw_size) : 0;
    *out = make_pictures(params, 1, lines);
    return lines > 0;
}

/* Set *out to the whole pictures that `raw_size` bytes hold, or to the strip of
 * one picture. Returns false if the bytes can hold neither. */
static bool find_pictures(const struct fby_codec_params *params,
    size_t raw_size, struct fby_pictures *out)
{
    uint64_t line_bytes = (uint64_t)params->width * params->channels;
    if (line_bytes == 0 || params->height == 0 || raw_size == 0) {
        return false;
    }
    if (params->yuv420) {
        return find_yuv_pictures(params, raw_size, out);
    }
    if (raw_size % line_bytes != 0) {
        return false;
    }
    uint64_t lines    = raw_size / line_bytes;
    bool     is_whole = lines % params->height == 0;
    uint64_t images   = is_whole ? lines / params->height : 1;
    *out              = make_pictures(params, images, lines / images);
    return is_whole || lines < params->height;
}

/* ---- encoding ------------------------------------------------------------ */

/* Filter a block to the scratch memory. Returns the filtered block; this is
 * `raw` itself when there is no filter. */
static const uint8_t *filter_block(
    const struct fby_codec_job *job, const uint8_t *raw, size_t size)
{
    if (job->coding.filter == FBY_FILTER_NONE) {
        return raw;
    }
    filter_apply(
        job->coding.filter, job->params, raw, size, job->scratch->block);
    return job->scratch->block;
}

static size_t encode_store(
    const struct fby_codec_job *job, struct fby_bytes_in raw, uint8_t *out)
{
    for (size_t b = 0; b < count_blocks(raw.size); b++) {
        size_t start = b * FBY_CODEC_BLOCK;
        filter_apply(job->coding.filter, job->params, raw.data + start,
            block_size(raw.size, b), out + start);
    }
    return raw.size;
}

/* Compress one block to `out`, which has space for `size` bytes; returns its
 * table entry. */
static uint32_t compress_block(const uint8_t *block, size_t size, uint8_t *out)
{
    int packed =
        LZ4_compress_default((const char *)block, (char *)out, (int)size,
            (int)size - 1); /* capacity: LZ4 returns 0 unless it saves a byte */
    if (packed > 0) {
        return (uint32_t)packed;
    }
    memcpy(out, block, size);
    return (uint32_t)size | STORED_BLOCK;
}

static size_t encode_lz4(
    const struct fby_codec_job *job, struct fby_bytes_in raw, uint8_t *out)
{
    size_t n_blocks = count_blocks(raw.size);
    size_t end      = ENTRY_BYTES * n_blocks;
    for (size_t b = 0; b < n_blocks; b++) {
        size_t         size = block_size(raw.size, b);
        const uint8_t *filtered =
            filter_block(job, raw.data + b * FBY_CODEC_BLOCK, size);
        uint32_t entry = compress_block(filtered, size, out + end);
        fby_store_le(out + ENTRY_BYTES * b, entry, ENTRY_BYTES);
        end += entry & ~STORED_BLOCK;
    }
    return end;
}

static size_t encode_pack(
    const struct fby_codec_job *job, struct fby_bytes_in raw, uint8_t *out)
{
    struct fby_pictures pictures;
    return find_pictures(&job->params, raw.size, &pictures)
               ? fby_photo_encode(&pictures, raw.data, out, job->scratch->block)
               : 0; /* not reached: is_valid_job has checked */
}

/* ---- decoding ------------------------------------------------------------ */

static fby_err decode_store(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size)
{
    if (payload.size != raw_size) {
        return FBY_PROTO;
    }
    if (job->bypass_cache && job->coding.filter == FBY_FILTER_NONE) {
        fby_stream_copy(raw, payload.data, raw_size);
        return FBY_OK;
    }
    for (size_t b = 0; b < count_blocks(raw_size); b++) {
        size_t start = b * FBY_CODEC_BLOCK;
        filter_undo(job->coding.filter, job->params, payload.data + start,
            block_size(raw_size, b), raw + start);
    }
    return FBY_OK;
}

/* Decompress the next block of `payload`, whose table entry is `entry`, to
 * exactly `size` bytes at `out`. */
static bool decompress_block(
    struct fby_reader *payload, uint32_t entry, uint8_t *out, size_t size)
{
    uint32_t       packed_size = entry & ~STORED_BLOCK;
    const uint8_t *packed      = fby_read_bytes(payload, packed_size);
    if (packed == NULL) {
        return false;
    }
    if ((entry & STORED_BLOCK) == 0) {
        return LZ4_decompress_safe((const char *)packed, (char *)out,
                   (int)packed_size, (int)size) == (int)size;
    }
    if (packed_size == size) {
        memcpy(out, packed, size);
    }
    return packed_size == size;
}

static fby_err decode_lz4(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size)
{
    bool              is_unfiltered = job->coding.filter == FBY_FILTER_NONE;
    size_t            n_blocks      = count_blocks(raw_size);
    struct fby_reader blocks        = fby_reader(payload.data, payload.size);
    struct fby_reader table         = fby_reader(payload.data, payload.size);
    fby_read_bytes(&blocks, ENTRY_BYTES * n_blocks); /* skip the table */
    for (size_t b = 0; b < n_blocks; b++) {
        size_t   size     = block_size(raw_size, b);
        uint8_t *dest     = raw + b * FBY_CODEC_BLOCK;
        uint32_t entry    = fby_read_u32(&table);
        uint8_t *unpacked = is_unfiltered ? dest : job->scratch->block;
        if (blocks.bad || !decompress_block(&blocks, entry, unpacked, size)) {
            return FBY_PROTO;
        }
        if (!is_unfiltered) {
            filter_undo(job->coding.filter, job->params, unpacked, size, dest);
        }
    }
    return blocks.left == 0 ? FBY_OK : FBY_PROTO;
}

static fby_err decode_pack(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size)
{
    struct fby_pictures pictures;
    if (!find_pictures(&job->params, raw_size, &pictures) ||
        (!job->is_valid &&
            !fby_photo_is_valid(&pictures, payload.data, payload.size))) {
        return FBY_PROTO;
    }
    if (job->bypass_cache) {
        fby_photo_stream_valid(
            &pictures, payload.data, payload.size, raw, job->scratch->block);
    } else {
        fby_photo_decode_valid(
            &pictures, payload.data, payload.size, raw, job->scratch->block);
    }
    return FBY_OK;
}

/* ---- validation without decoding ----------------------------------------- */

static bool is_store_valid(const struct fby_codec_job *job,
    struct fby_bytes_in payload, size_t raw_size)
{
    (void)job;
    return payload.size == raw_size;
}

static bool is_lz4_valid(const struct fby_codec_job *job,
    struct fby_bytes_in payload, size_t raw_size)
{
    (void)job;
    return payload.size <= lz4_bound(raw_size);
}

static bool is_pack_valid(const struct fby_codec_job *job,
    struct fby_bytes_in payload, size_t raw_size)
{
    struct fby_pictures pictures;
    return find_pictures(&job->params, raw_size, &pictures) &&
           fby_photo_is_valid(&pictures, payload.data, payload.size);
}

/* ---- the table of codecs ------------------------------------------------- */

struct codec {
    bool needs_photo; /* true: only with filter photo; false: with others */
    size_t (*bound)(size_t raw_size); /* see fby_codec_bound */
    size_t (*encode)(
        const struct fby_codec_job *job, struct fby_bytes_in raw, uint8_t *out);
    fby_err (*decode)(const struct fby_codec_job *job,
        struct fby_bytes_in payload, uint8_t *raw, size_t raw_size);
    bool (*is_valid)(const struct fby_codec_job *job,
        struct fby_bytes_in payload, size_t raw_size);
};

static const struct codec codecs[FBY_N_CODECS] = {
    [FBY_CODEC_STORE] = {false, raw_bound, encode_store, decode_store,
        is_store_valid},
    [FBY_CODEC_LZ4]  = {false, lz4_bound, encode_lz4, decode_lz4, is_lz4_valid},
    [FBY_CODEC_PACK] = {true, raw_bound, encode_pack, decode_pack,
        is_pack_valid},
};

bool fby_coding_is_known(struct fby_coding coding)
{
    return coding.codec < FBY_N_CODECS &&
           codecs[coding.codec].encode != NULL && /* no gap in the numbers */
           coding.filter < FBY_N_FILTERS &&
           codecs[coding.codec].needs_photo ==
               (coding.filter == FBY_FILTER_PHOTO);
}

bool fby_coding_suits(struct fby_coding coding, struct fby_codec_params params)
{
    return fby_coding_is_known(coding) &&
           (coding.filter != FBY_FILTER_PHOTO || params.channels != 0);
}

size_t fby_codec_bound(uint8_t codec, size_t raw_size)
{
    return codecs[codec].bound(raw_size);
}

size_t fby_codec_largest_bound(size_t raw_size)
{
    size_t largest = raw_size;
    for (int i = 0; i < FBY_N_CODECS; i++) {
        size_t bound = codecs[i].bound != NULL ? codecs[i].bound(raw_size) : 0;
        largest      = bound > largest ? bound : largest;
    }
    return largest;
}

size_t fby_codec_encode_capacity(
    const struct fby_codec_job *job, size_t raw_size)
{
    struct fby_pictures pictures;
    return job->coding.codec == FBY_CODEC_PACK &&
                   find_pictures(&job->params, raw_size, &pictures)
               ? fby_photo_encode_capacity(&pictures)
               : fby_codec_bound(job->coding.codec, raw_size);
}

static bool are_params_valid(const struct fby_codec_job *job, size_t raw_size)
{
    struct fby_pictures pictures;
    uint32_t            w = job->params.element_bytes;
    if (job->coding.codec == FBY_CODEC_PACK) {
        return (job->params.channels == 1 || job->params.channels == 3) &&
               find_pictures(&job->params, raw_size, &pictures);
    }
    return job->params.distance >= 1 && (w == 1 || w == 2 || w == 4 || w == 8);
}

static bool is_valid_job(const struct fby_codec_job *job, size_t raw_size)
{
    return fby_coding_is_known(job->coding) && raw_size >= 1 &&
           raw_size <= FBY_CODEC_RAW_MAX && are_params_valid(job, raw_size);
}

fby_err fby_codec_encode(const struct fby_codec_job *job,
    struct fby_bytes_in raw, struct fby_bytes_out out, size_t *size)
{
    if (!is_valid_job(job, raw.size)) {
        return FBY_USAGE;
    }
    if (out.capacity < fby_codec_encode_capacity(job, raw.size)) {
        return FBY_FULL;
    }
    *size = codecs[job->coding.codec].encode(job, raw, out.data);
    return FBY_OK;
}

fby_err fby_codec_decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size)
{
    return is_valid_job(job, raw_size)
               ? codecs[job->coding.codec].decode(job, payload, raw, raw_size)
               : FBY_USAGE;
}

bool fby_codec_can_decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, size_t raw_size)
{
    return is_valid_job(job, raw_size) &&
           codecs[job->coding.codec].is_valid(job, payload, raw_size);
}
