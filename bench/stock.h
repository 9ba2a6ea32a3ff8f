/* stock.h - a prepared batch: its chunks, encoded once.
 *
 * A bench sends it as a worker sends a batch that it has just made. A bare
 * decoder measures the cost of decoding alone. */
#ifndef FBY_BENCH_STOCK_H
#define FBY_BENCH_STOCK_H

#include "codec/codec.h"
#include "proto/frame.h"

struct bench_chunk {
    size_t              at; /* offset in `payloads`; 64-byte aligned */
    struct fby_coding   coding;
    struct fby_raw_span span;
    uint32_t            wire_bytes; /* of the payload */
    uint64_t            raw_hash;
};

struct bench_stock {
    struct fby_coding      coding; /* requested; a chunk may be stored */
    struct fby_raw_layout  layout; /* of one field, u8 */
    struct bench_chunk    *chunks; /* layout.n_chunks */
    struct fby_chunk_sent *sent;   /* layout.n_chunks */
    uint8_t               *payloads;
    size_t                 bytes; /* of `payloads`, with space for prefixes */
    uint64_t               wire_bytes; /* of all frames */
};

/* Encode `rows` pictures of side x side x 3 bytes at `pixels`. */
void bench_stock_make(struct bench_stock *self, struct fby_coding coding,
    const uint8_t *pixels, uint32_t rows, uint32_t side);
void bench_stock_free(struct bench_stock *self);

/* Decode the payload of a chunk into the batch at `raw`. */
void bench_stock_decode(const struct bench_stock *self,
    const struct bench_chunk *encoded, const uint8_t *payload, uint8_t *raw);

#endif
