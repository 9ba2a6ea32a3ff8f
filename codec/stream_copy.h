/* SPDX-License-Identifier: Apache-2.0 */
/* stream_copy.h - copy bytes past the cache. */
#ifndef FBY_CODEC_STREAM_COPY_H
#define FBY_CODEC_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Copy `size` bytes that no thread reads soon. Streaming stores neither load the
 * old content of `out` nor evict other data from the cache, and so cost less
 * than memcpy(), whose own threshold for them is most of the last cache. Other
 * threads see the copy after any later store of this thread. The buffers must
 * not overlap. */
void fby_stream_copy(uint8_t *out, const uint8_t *in, size_t size);

#endif
