/* codec.h - filters and codecs for the payload of a chunk.
 *
 * A filter rearranges bytes so that they compress; a codec shrinks them. Both
 * work on blocks of 64 KiB of raw bytes that know nothing of each other, so
 * blocks can be decoded in parallel, and scratch memory is one block. Pictures
 * have a coding of their own, photo and pack, whose blocks are tiles (photo.h).
 * Decoding trusts nothing: whatever the payload holds, nothing outside the
 * given buffers is read or written, and success means that exactly `raw_size`
 * bytes were made. PROTOCOL.md, "Frames", has the byte tables. */
#ifndef FBY_CODEC_CODEC_H
#define FBY_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/types.h"

enum { FBY_CODEC_BLOCK = 64 << 10 }; /* raw bytes of a block but the last */

/* The largest chunk that a codec takes, raw. */
#define FBY_CODEC_RAW_MAX (UINT32_C(1) << 30)

/* What the filters know of the array; both sides derive it from HEADER. */
struct fby_codec_params {
    uint32_t element_bytes; /* 1, 2, 4 or 8 */
    uint32_t distance;      /* delta: elements back to the predictor, >= 1 */
    uint32_t width, height; /* photo: of one picture */
    uint32_t channels;      /* 1 or 3; 0: the rows are no pictures */
    bool     yuv420;        /* the three lie as common/yuv420.h says */
};

/* distance is the last dimension of arrays of two or more, else 1. Pictures
 * are arrays u8 [height, width, 1 or 3]. */
struct fby_codec_params fby_codec_params_of(
    enum fby_type type, const struct fby_shape *shape);

/* The same for pictures [height, width, 3] in planes of yuv420: distance 1. */
struct fby_codec_params fby_codec_params_of_yuv420(
    const struct fby_shape *shape);

/* Which filter and codec, of chunks that say so themselves. */
struct fby_coding {
    uint8_t filter; /* enum fby_filter */
    uint8_t codec;  /* enum fby_codec */
};

/* Both numbers are known here, and go together: photo and pack do so only with
 * each other. */
bool fby_coding_known(struct fby_coding coding);

/* Known, and for such arrays: photo is for pictures. */
bool fby_coding_suits(struct fby_coding coding, struct fby_codec_params params);

/* Memory for the work in between; one a thread. */
struct fby_codec_scratch {
    _Alignas(64) uint8_t block[FBY_CODEC_BLOCK];
};

/* The longest payload that may travel for `raw_size` bytes. Encoding with pack
 * can make longer ones, of noise or of tiny pictures: these travel stored. */
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

struct fby_codec_job {
    struct fby_coding         coding;
    struct fby_codec_params   params;
    struct fby_codec_scratch *scratch;
};

/* Bytes that encoding `raw_size` bytes can touch: at least the codec's bound,
 * and many times `raw_size` for pictures of a few pixels. */
size_t fby_codec_room(const struct fby_codec_job *job, size_t raw_size);

/* Encode all of `raw`, 1 to FBY_CODEC_RAW_MAX bytes, into `out`; *size says
 * how long the payload is. Buffers do not overlap. Photo takes whole pictures,
 * or some lines of one.
 *
 * Thread: any, each with its own `scratch`.
 * Errors: FBY_USAGE  unknown coding, bad params, or `raw` is no pictures
 *         FBY_FULL   `out` is too small; fby_codec_room never is. */
FBY_CHECKED fby_err fby_codec_encode(const struct fby_codec_job *job,
    struct fby_bytes_in raw, struct fby_bytes_out out, size_t *size);

/* Decode `payload` into exactly `raw_size` bytes at `raw`.
 *
 * Thread: any, each with its own `scratch`.
 * Errors: FBY_USAGE  unknown coding, bad params, or no size of pictures
 *         FBY_PROTO  the payload is not one of `raw_size` bytes; `raw` may
 *                    hold anything. */
FBY_CHECKED fby_err fby_codec_decode(const struct fby_codec_job *job,
    struct fby_bytes_in payload, uint8_t *raw, size_t raw_size);

/* Whether decoding `payload` to `raw_size` bytes would succeed, found out
 * without doing it: cheap for what is stored or packed. Of lz4 only the coding
 * and sizes are looked at. */
bool fby_codec_check(const struct fby_codec_job *job,
    struct fby_bytes_in payload, size_t raw_size);

/* Try every coding on small patterns and compare filters with known bytes. A
 * process whose test fails must not start. Errors: FBY_SYS, `why` names it. */
FBY_CHECKED fby_err fby_codec_self_test(struct fby_why *why);

#endif
