/* stock.h - batches that lie ready: one batch's chunks, encoded once.
 *
 * What a worker has in hand when it begins to send, without what it took to
 * make it. Beside it the bare inverse, for what decoding alone costs. */
#ifndef FBY_BENCH_STOCK_H
#define FBY_BENCH_STOCK_H

#include "codec/codec.h"
#include "proto/frame.h"

struct bench_block {        /* one chunk */
    size_t              at; /* of its payload in `payloads`; 64-byte aligned */
    struct fby_coding   coding;
    struct fby_raw_span span;
    uint32_t            wire_bytes; /* of the payload */
    uint64_t            raw_hash;
};

struct bench_stock {
    struct fby_coding      coding; /* asked for */
    struct fby_raw_layout  layout; /* of one field, u8 */
    struct bench_block    *blocks; /* layout.n_chunks */
    struct fby_chunk_sent *sent;   /* of them */
    uint8_t               *payloads;
    size_t                 bytes; /* of `payloads`, room before each chunk */
    uint64_t               wire_bytes; /* of all frames */
};

/* `rows` pictures of side x side x 3 bytes at `pixels`. */
void bench_stock_make(struct bench_stock *self, struct fby_coding coding,
    const uint8_t *pixels, uint32_t rows, uint32_t side);
void bench_stock_free(struct bench_stock *self);

/* Decode a block's payload, which lies at `payload`, into its place in the
 * batch at `raw`. */
void bench_stock_decode(const struct bench_stock *self,
    const struct bench_block *block, const uint8_t *payload, uint8_t *raw);

#endif
