/* filter.h - rearrange one block so that it compresses better.
 *
 * Each filter is a pure bijection on blocks of any size: bytes beyond the last
 * whole element (bit shuffle: the last whole group of 8) are copied unchanged.
 * PROTOCOL.md, "Frames", defines the filters byte by byte. Internal to codec/.
 */
#ifndef FBY_CODEC_FILTER_H
#define FBY_CODEC_FILTER_H

#include "codec/codec.h"

/* Filter `size` bytes of `raw` into `out`, which does not overlap it. */
void filter_apply(uint8_t filter, struct fby_codec_params params,
    const uint8_t *raw, size_t size, uint8_t *out);

/* The inverse: `in` is a filtered block. */
void filter_undo(uint8_t filter, struct fby_codec_params params,
    const uint8_t *in, size_t size, uint8_t *raw);

#endif
