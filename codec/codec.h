/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - filters and codecs for the payload of a chunk.
 *
 * A filter rearranges bytes so that they compress better. A codec compresses
 * them. Both work on independent blocks of 64 KiB of raw bytes, so that blocks
 * can be decoded in parallel and a thread needs scratch memory for one block.
 * Pictures have a coding of their own: the filter photo with the codec pack. It
 * works on tiles of a picture (photo.h) instead of blocks. Decoding is safe for
 * hostile payloads: it accesses nothing outside the given buffers, and success
 * means that it wrote exactly `raw_size` bytes. PROTOCOL.md, "Frames", has the
 * byte tables. */
#ifndef FBY_CODEC_CODEC_H
#define FBY_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/coding.h"
#include "common/err.h"

enum { FBY_CODEC_BLOCK = 64 << 10 }; /* raw bytes; the last may be shorter */

/* The largest number of raw bytes in one payload. */
#define FBY_CODEC_RAW_MAX (UINT32_C(1) << 30)

/* Working memory of one thread. */
struct fby_codec_scratch {
    _Alignas(64) uint8_t block[FBY_CODEC_BLOCK];
};

/* The size limit of a payload that `codec` makes from `raw_size` raw bytes. The
 * codec pack exceeds the limit for noise or tiny pictures. The caller must not
 * send such a payload, but the raw bytes, stored. */
size_t fby_codec_bound(uint8_t codec, size_t raw_size);

/* The largest fby_codec_bound of all codecs. */
size_t fby_codec_largest_bound(size_t raw_size);

struct fby_codec_job { /* how to encode or decode one payload */
    struct fby_coding         coding;
    struct fby_codec_params   params;
    struct fby_codec_scratch *scratch;
    bool is_valid; /* decoding: fby_codec_can_decode has accepted the payload,
                      so the codec pack does not check it again */
    /* Decoding: no thread reads the raw bytes soon, so pictures and stored
     * bytes go past the cache where possible. */
    bool bypass_cache;
};

/* The output capacity in bytes that encoding `raw_size` bytes needs. It is at
 * least the codec's bound. For pictures of a few pixels it is many times
 * `raw_size`, because their tiles are padded. */
size_t fby_codec_encode_capacity(
    const struct fby_codec_job *job, size_t raw_size);

/* Encode all of `raw`, 1 to FBY_CODEC_RAW_MAX bytes, into `out`, and set *size
 * to the length of the payload. The buffers must not overlap. With the filter
 * photo, `raw` must be whole pictures, or consecutive lines of one picture.
 *
 * Thread: any, each with its own `scratch`.
 * Errors: FBY_USAGE  unknown coding, bad params or bad raw size
 *         FBY_FULL   `out` is smaller than fby_codec_encode_capacity. */
FBY_CHECKED fby_err fby_codec_encode(const struct fby_codec_job *job,
    struct fby_bytes_in raw, struct fby_bytes_out out, size_t *size);

/* Decode `payload` into exactly `raw_size` bytes at `raw`.
 *
 * Thread: any, each with its own `scratch`.
 * Errors: FBY_USAGE  unknown coding, bad params or bad raw size
 *         FBY_PROTO  the payload does not decode to `raw_size` bytes; the
 *                    content of `raw` is undefined. */
FBY_CHECKED fby_err fby_codec_decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size);

/* True if `payload` can be decoded to `raw_size` bytes, without decoding it.
 * The answer is exact for store and pack. For lz4 only the coding and the sizes
 * are checked, so decoding may still fail. */
bool fby_codec_can_decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, size_t raw_size);

/* Test every coding on small patterns, and every filter against known bytes.
 * The caller must not start its process when this test fails.
 * Errors: FBY_SYS  `why` names the coding. */
FBY_CHECKED fby_err fby_codec_self_test(struct fby_error_detail *why);

#endif
