/* codec.h - filters and codecs for the payload of a chunk.
 *
 * A filter rearranges bytes so that they compress better; a codec compresses
 * them. Both work on independent blocks of 64 KiB of raw bytes, so blocks can
 * be decoded in parallel, and scratch memory is one block. Pictures have a
 * coding of their own, photo with pack, which works on tiles (photo.h).
 * Decoding is safe for hostile payloads: it accesses nothing outside the given
 * buffers, and success means that it wrote exactly `raw_size` bytes.
 * PROTOCOL.md, "Frames", has the byte tables. */
#ifndef FBY_CODEC_CODEC_H
#define FBY_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/types.h"

enum { FBY_CODEC_BLOCK = 64 << 10 }; /* raw bytes; the last may be shorter */

/* The most raw bytes of one payload. */
#define FBY_CODEC_RAW_MAX (UINT32_C(1) << 30)

/* Parameters of the filters; both peers derive them from HEADER. */
struct fby_codec_params {
    uint32_t element_bytes; /* 1, 2, 4 or 8 */
    uint32_t distance;      /* delta: elements back to the predictor, >= 1 */
    uint32_t width, height; /* photo: of one picture */
    uint32_t channels;      /* 1 or 3; 0: the rows are not pictures */
    bool     yuv420;        /* 3 planes in the layout of common/yuv420.h */
};

/* The parameters of an array. `distance` is the last dimension of arrays with
 * two or more, else 1. Pictures are arrays of u8 [height, width, 1 or 3]. */
struct fby_codec_params fby_codec_params_of(
    enum fby_type type, const struct fby_shape *shape);

/* The same for pictures [height, width, 3] in planes of yuv420: distance 1. */
struct fby_codec_params fby_codec_params_of_yuv420(
    const struct fby_shape *shape);

/* The filter and codec of a chunk, as its prefix states them. */
struct fby_coding {
    uint8_t filter; /* enum fby_filter */
    uint8_t codec;  /* enum fby_codec */
};

/* Whether this version has both numbers and they can be combined: photo and
 * pack go only with each other. */
bool fby_coding_known(struct fby_coding coding);

/* Whether the coding is known and suits the array: photo is for pictures. */
bool fby_coding_suits(struct fby_coding coding, struct fby_codec_params params);

/* Working memory of one thread. */
struct fby_codec_scratch {
    _Alignas(64) uint8_t block[FBY_CODEC_BLOCK];
};

/* The longest payload that may be sent for `raw_size` bytes. Encoding noise or
 * tiny pictures with pack can exceed it: these are sent stored. */
size_t fby_codec_bound(uint8_t codec, size_t raw_size);

/* Input and output buffers. */
struct fby_bytes_in {
    const uint8_t *data;
    size_t         size;
};
struct fby_bytes_out {
    uint8_t *data;
    size_t   capacity; /* bytes that may be written */
};

struct fby_codec_job {
    struct fby_coding         coding;
    struct fby_codec_params   params;
    struct fby_codec_scratch *scratch;
};

/* The capacity that encoding `raw_size` bytes needs: at least the codec's
 * bound, and many times `raw_size` for pictures of a few pixels. */
size_t fby_codec_room(const struct fby_codec_job *job, size_t raw_size);

/* Encode all of `raw`, 1 to FBY_CODEC_RAW_MAX bytes, into `out`; *size is the
 * length of the payload. Buffers do not overlap. Photo takes whole pictures, or
 * some lines of one.
 *
 * Thread: any, each with its own `scratch`.
 * Errors: FBY_USAGE  unknown coding, bad params or wrong size
 *         FBY_FULL   `out` is smaller than fby_codec_room. */
FBY_CHECKED fby_err fby_codec_encode(const struct fby_codec_job *job,
    struct fby_bytes_in raw, struct fby_bytes_out out, size_t *size);

/* Decode `payload` into exactly `raw_size` bytes at `raw`.
 *
 * Thread: any, each with its own `scratch`.
 * Errors: FBY_USAGE  unknown coding, bad params or wrong size
 *         FBY_PROTO  the payload does not decode to `raw_size` bytes; the
 *                    content of `raw` is undefined. */
FBY_CHECKED fby_err fby_codec_decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size);

/* Whether decoding `payload` to `raw_size` bytes would succeed, without
 * decoding it: exact and cheap for store and pack. For lz4 only the coding and
 * the sizes are checked. */
bool fby_codec_check(const struct fby_codec_job *job,
    struct fby_bytes_in payload, size_t raw_size);

/* Test every coding on small patterns, and filters against known bytes. A
 * process must not start when this fails.
 * Errors: FBY_SYS  `why` names the coding. */
FBY_CHECKED fby_err fby_codec_self_test(struct fby_why *why);

#endif
