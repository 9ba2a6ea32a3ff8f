/* batch.h - a prepared batch: its chunks are encoded once, before a bench
 * measures. A worker sends them as if it had just made the batch. */
#ifndef FBY_BENCH_BATCH_H
#define FBY_BENCH_BATCH_H

#include "codec/codec.h"
#include "proto/frame.h"

enum bench_encoding {
    BENCH_STORE,
    BENCH_LZ4,  /* after bit_shuffle */
    BENCH_PACK, /* photo format 1 */
    BENCH_ENCODINGS
};

struct bench_chunk {
    size_t              offset; /* bytes, of the payload in `payloads` */
    struct fby_coding   coding; /* a chunk that would grow is stored */
    struct fby_raw_span span;
    uint32_t            wire_bytes; /* of the payload */
    uint64_t            raw_hash;
};

struct bench_batch {
    enum bench_encoding    encoding;
    struct fby_raw_layout  layout; /* of one field, u8 */
    struct bench_chunk    *chunks; /* [layout.n_chunks] */
    struct fby_chunk_sent *sent;   /* the same, for the checksum in END */
    uint8_t *payloads;   /* each 64-byte aligned, with a prefix before it */
    size_t   bytes;      /* size of `payloads` */
    uint64_t wire_bytes; /* of all frames: prefixes and payloads */
};

/* Encode `rows` pictures of side x side x 3 bytes at `pixels`; NULL: black
 * pictures. */
void bench_batch_make(struct bench_batch *self, enum bench_encoding encoding,
    const uint8_t *pixels, uint32_t rows, uint32_t side);
void bench_batch_free(struct bench_batch *self);

/* Decode the payload of a chunk into the batch at `raw`. */
void bench_batch_decode(const struct bench_batch *self,
    const struct bench_chunk *chunk, const uint8_t *payload, uint8_t *raw);

/* Copies of the payloads, which a process sends one after the other, so that
 * the bytes come from memory and not from a cache. */
enum { BENCH_MAX_COPIES = 64 };
struct bench_copies {
    uint8_t *memory; /* n * batch.bytes */
    size_t   n;
};

/* Make copies of 64 MiB in all, at least 4 and at most BENCH_MAX_COPIES. */
struct bench_copies bench_batch_copies(const struct bench_batch *self);

#endif
