/* SPDX-License-Identifier: Apache-2.0 */
/* coding.h - the filter and codec of a chunk, their parameters and buffers.
 *
 * A filter rearranges the bytes of a chunk, and a codec compresses them
 * (codec.h). The two together are the coding of the chunk. */
#ifndef FBY_CODEC_CODING_H
#define FBY_CODEC_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/types.h"

/* Parameters of the filters. Both peers derive them from the message HEADER. */
struct fby_codec_params {
    uint32_t element_bytes; /* 1, 2, 4 or 8 */
    uint32_t distance;      /* delta: element i minus element i - distance */
    uint32_t width, height; /* photo: size of one picture in pixels */
    uint32_t channels;      /* photo: 1 or 3; 0 if the rows are not pictures */
    bool     yuv420; /* photo: pictures are stored as in common/yuv420.h */
};

/* The parameters for a field whose rows have this type and shape. If the shape
 * has two or more dimensions, `distance` is the last one, so that delta
 * subtracts a value of the same channel or column; else it is 1. Rows of u8
 * [height, width, 1 or 3] are pictures. */
struct fby_codec_params fby_codec_params_of(
    enum fby_type type, const struct fby_shape *shape);

/* The parameters for pictures [height, width, 3] that are stored as yuv420. */
struct fby_codec_params fby_codec_params_of_yuv420(
    const struct fby_shape *shape);

/* The filter and codec of a chunk, as in the chunk's prefix (PROTOCOL.md). */
struct fby_coding {
    uint8_t filter; /* enum fby_filter */
    uint8_t codec;  /* enum fby_codec */
};

/* True if this version has the filter and the codec, and they can be combined:
 * photo goes only with pack, and pack only with photo. */
bool fby_coding_is_known(struct fby_coding coding);

/* True if the coding is known and suits a field with these parameters: photo is
 * for pictures only. */
bool fby_coding_suits(struct fby_coding coding, struct fby_codec_params params);

struct fby_bytes_in { /* an input buffer */
    const uint8_t *data;
    size_t         size;
};
struct fby_bytes_out { /* an output buffer */
    uint8_t *data;
    size_t   capacity; /* bytes that may be written */
};

#endif
