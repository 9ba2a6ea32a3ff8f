/* codec.h - filters and codecs for the payload of a chunk.
 *
 * A filter rearranges bytes so that they compress; a codec shrinks them. Both
 * work on blocks of 64 KiB of raw bytes that know nothing of each other, so
 * blocks can be decoded in parallel, and scratch memory is one block.
 * Decoding trusts nothing: whatever the payload holds, nothing outside the
 * given buffers is read or written, and success means that exactly `raw_size`
 * bytes were made. PROTOCOL.md, "Frames", has the byte tables. */
#ifndef FBY_COMMON_CODEC_CODEC_H
#define FBY_COMMON_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/pipeline/types.h"

enum { FBY_CODEC_BLOCK = 64 << 10 }; /* raw bytes of a block but the last */

/* The largest chunk that a codec takes, raw. */
#define FBY_CODEC_RAW_MAX (UINT32_C(1) << 30)

/* What the filters know of the array; both sides derive it from HEADER. */
struct fby_codec_params {
    uint32_t element_bytes; /* 1, 2, 4 or 8 */
    uint32_t distance;      /* delta: elements back to the predictor, >= 1 */
};

/* distance is the last dimension of arrays of two or more, else 1. */
struct fby_codec_params fby_codec_params_of(
    enum fby_type type, const struct fby_shape *shape);

/* Which filter and codec, of chunks that say so themselves. */
struct fby_coding {
    uint8_t filter; /* enum fby_filter */
    uint8_t codec;  /* enum fby_codec */
};

/* Both numbers are known here. */
bool fby_coding_known(struct fby_coding coding);

/* Memory for the work in between; one a thread. */
struct fby_codec_scratch {
    _Alignas(64) uint8_t block[FBY_CODEC_BLOCK];
};

/* Bytes that encoding `raw_size` bytes can never exceed. */
size_t fby_codec_bound(uint8_t codec, size_t raw_size);

/* A payload being read or written. */
struct fby_bytes_in {
    const uint8_t *data;
    size_t         size;
};
struct fby_bytes_out {
    uint8_t *data;
    size_t   capacity; /* bytes that may be written */
};

/* Encode all of `raw`, 1 to FBY_CODEC_RAW_MAX bytes, into `out`; *size says
 * how many bytes were written. Buffers do not overlap.
 *
 * Thread: any, each with its own `scratch`.
 * Errors: FBY_USAGE  unknown coding or bad params
 *         FBY_FULL   `out` is too small; fby_codec_bound never is. */
struct fby_codec_job {
    struct fby_coding         coding;
    struct fby_codec_params   params;
    struct fby_codec_scratch *scratch;
};
FBY_CHECKED fby_err fby_codec_encode(const struct fby_codec_job *job,
    struct fby_bytes_in raw, struct fby_bytes_out out, size_t *size);

/* Decode `payload` into exactly `raw_size` bytes at `raw`.
 *
 * Thread: any, each with its own `scratch`.
 * Errors: FBY_USAGE  unknown coding or bad params
 *         FBY_PROTO  the payload is not one of `raw_size` bytes; `raw` may
 *                    hold anything. */
FBY_CHECKED fby_err fby_codec_decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size);

/* Try every coding on small patterns and compare filters with known bytes. A
 * process whose test fails must not start. Errors: FBY_SYS, `why` names it. */
FBY_CHECKED fby_err fby_codec_self_test(struct fby_why *why);

#endif
