/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - a prepared batch: its chunks are encoded once, before a bench
 * measures. A worker then sends them as if it had just made the batch. */
#ifndef FBY_BENCH_BATCH_H
#define FBY_BENCH_BATCH_H

#include "codec/codec.h"
#include "proto/frame.h"

enum bench_encoding {
    BENCH_STORE,    /* pixels as they are */
    BENCH_LZ4,      /* bit_shuffle, then LZ4 */
    BENCH_PACK,     /* photo format 1: photo filter, then bit packing */
    BENCH_ENCODINGS /* number of encodings */
};

struct bench_chunk {
    size_t            offset; /* position of the payload in `payloads`, bytes */
    struct fby_coding coding; /* store, if encoding would enlarge the chunk */
    struct fby_raw_span span; /* rows and raw bytes of the chunk */
    uint32_t            wire_bytes; /* size of the payload */
    uint64_t            raw_hash;   /* of the pixels before encoding */
};

struct bench_batch {
    enum bench_encoding   encoding;
    struct fby_raw_layout layout; /* one field, of u8 pixels */
    struct bench_chunk   *chunks; /* [layout.n_chunks] */
    struct fby_chunk_sent
            *checksummed;    /* [n_chunks], for the checksum in END */
    uint8_t *payloads;       /* each 64-byte aligned, after its frame prefix */
    size_t   payloads_bytes; /* size of `payloads` */
    uint64_t wire_bytes;     /* size of all frames: prefixes and payloads */
};

/* Encode `rows` pictures of side x side x 3 bytes at `pixels`. If `pixels` is
 * NULL, the pictures are black. */
void bench_batch_make(struct bench_batch *self, enum bench_encoding encoding,
    const uint8_t *pixels, uint32_t rows, uint32_t side);
void bench_batch_free(struct bench_batch *self);

/* Decode `payload`, of `chunk`, to its position in the raw batch at `raw`. */
void bench_batch_decode(const struct bench_batch *self,
    const struct bench_chunk *chunk, const uint8_t *payload, uint8_t *raw);

/* Copies of the payloads. A process sends them in turn, so that the bytes come
 * from memory and not from a cache. */
enum { BENCH_MAX_COPIES = 64 };
struct bench_copies {
    uint8_t *memory; /* n * batch.payloads_bytes */
    size_t   n;      /* number of copies */
};

/* Make copies of 64 MiB in all, at least 4 and at most BENCH_MAX_COPIES. */
struct bench_copies bench_batch_copies(const struct bench_batch *self);

#endif
