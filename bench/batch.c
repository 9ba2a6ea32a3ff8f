/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/batch.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "common/mem.h"

enum { ALIGN = 64, COPIES_BYTES = 64 << 20, MIN_COPIES = 4 };
_Static_assert(
    ALIGN >= (int)FBY_CHUNK_PREFIX, "a prefix fits before a payload");

static const struct fby_coding codings[BENCH_ENCODINGS] = {
    [BENCH_STORE] = {FBY_FILTER_NONE, FBY_CODEC_STORE},
    [BENCH_LZ4]   = {FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4},
    [BENCH_PACK]  = {FBY_FILTER_PHOTO, FBY_CODEC_PACK},
};

static struct fby_codec_scratch scratch; /* used by one thread only */

static size_t round_up_to_align(size_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static struct fby_codec_job codec_job(
    const struct bench_batch *self, struct fby_coding coding)
{
    return (struct fby_codec_job){
        .coding  = coding,
        .params  = fby_layout_codec_params(&self->layout.fields[0]),
        .scratch = &scratch,
    };
}

/* Encode one chunk and append it to the payloads. */
static void append_chunk(
    struct bench_batch *self, struct bench_chunk *chunk, const uint8_t *pixels)
{
    struct fby_bytes_in raw = {
        pixels + chunk->span.raw_offset, chunk->span.raw_bytes};
    struct fby_codec_job job  = codec_job(self, codings[self->encoding]);
    size_t               size = 0;
    chunk->offset   = self->payloads_bytes + ALIGN; /* room for the prefix */
    chunk->raw_hash = fby_xxh3_64(raw.data, raw.size);
    chunk->coding   = job.coding;
    struct fby_bytes_out out = {self->payloads + chunk->offset,
        fby_codec_encode_capacity(&job, raw.size)};
    if (fby_codec_encode(&job, raw, out, &size) != FBY_OK) {
        bench_die("a chunk cannot be encoded");
    }
    if (size > raw.size) { /* store the chunk, as a worker does */
        chunk->coding = codings[BENCH_STORE];
        size          = raw.size;
        memcpy(out.data, raw.data, size);
    }
    chunk->wire_bytes = (uint32_t)size;
    self->wire_bytes += FBY_CHUNK_PREFIX + size;
    self->payloads_bytes = round_up_to_align(chunk->offset + size);
}

void bench_batch_make(struct bench_batch *self, enum bench_encoding encoding,
    const uint8_t *pixels, uint32_t rows, uint32_t side)
{
    struct fby_error_detail why = {{0}};

    *self = (struct bench_batch){
        .encoding = encoding, .layout = {.rows = rows, .n_fields = 1}};
    self->layout.fields[0].type  = FBY_U8;
    self->layout.fields[0].shape = (struct fby_shape){3, {side, side, 3}};
    if (fby_layout_compute(&self->layout, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
    const struct fby_codec_job job      = codec_job(self, codings[encoding]);
    uint32_t                   n_chunks = self->layout.n_chunks;
    size_t                     capacity =
        fby_codec_encode_capacity(&job, self->layout.fields[0].chunk_bytes);
    size_t   chunk_room = ALIGN + round_up_to_align(capacity);
    uint8_t *black = pixels == NULL ? fby_zalloc(self->layout.raw_bytes) : NULL;
    self->chunks   = fby_zalloc(n_chunks * sizeof(*self->chunks));
    self->checksummed = fby_zalloc(n_chunks * sizeof(*self->checksummed));
    self->payloads    = aligned_alloc(ALIGN, n_chunks * chunk_room);
    for (uint32_t i = 0; i < n_chunks; i++) {
        struct bench_chunk *chunk = &self->chunks[i];
        chunk->span               = fby_layout_chunk_span(&self->layout, 0, i);
        append_chunk(self, chunk, pixels != NULL ? pixels : black);
        self->checksummed[i] =
            (struct fby_chunk_sent){chunk->raw_hash, chunk->span.raw_bytes};
    }
    free(black);
}

void bench_batch_free(struct bench_batch *self)
{
    free(self->chunks);
    free(self->checksummed);
    free(self->payloads);
    *self = (struct bench_batch){0};
}

void bench_batch_decode(const struct bench_batch *self,
    const struct bench_chunk *chunk, const uint8_t *payload, uint8_t *raw)
{
    struct fby_codec_job job = codec_job(self, chunk->coding);
    if (fby_codec_decode(&job,
            (struct fby_bytes_in){payload, chunk->wire_bytes},
            raw + chunk->span.raw_offset, chunk->span.raw_bytes) != FBY_OK) {
        bench_die("the codec cannot decode a chunk that it encoded");
    }
}

struct bench_copies bench_batch_copies(const struct bench_batch *self)
{
    size_t n = COPIES_BYTES / self->payloads_bytes;
    n        = n > MIN_COPIES ? n : MIN_COPIES;
    n        = n < BENCH_MAX_COPIES ? n : BENCH_MAX_COPIES;

    struct bench_copies copies = {.n = n};
    copies.memory              = aligned_alloc(ALIGN, n * self->payloads_bytes);
    for (size_t i = 0; i < n; i++) {
        memcpy(copies.memory + i * self->payloads_bytes, self->payloads,
            self->payloads_bytes);
    }
    return copies;
}
