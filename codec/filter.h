/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - rearrange one block of bytes so that it compresses better.
 *
 * A block consists of elements (numbers of one type). Each filter is reversible
 * and accepts blocks of any size. Bytes after the last whole element are copied
 * unchanged. Bit shuffle copies all bytes after the last whole group of 8
 * elements. PROTOCOL.md, "Frames", defines the filters. Internal to codec/. */
#ifndef FBY_CODEC_FILTER_H
#define FBY_CODEC_FILTER_H

#include "codec/coding.h"

/* Filter `size` bytes of `raw` into `out`. The two must not overlap. */
void filter_apply(uint8_t filter, struct fby_codec_params params,
    const uint8_t *raw, size_t size, uint8_t *out);

/* The inverse of filter_apply. */
void filter_undo(uint8_t filter, struct fby_codec_params params,
    const uint8_t *filtered, size_t size, uint8_t *raw);

#endif
