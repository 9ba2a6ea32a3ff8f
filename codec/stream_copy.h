/* SPDX-License-Identifier: Apache-2.0 */
/* stream_copy.h - copy bytes past the cache. */
#ifndef FBY_CODEC_STREAM_COPY_H
#define FBY_CODEC_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Copy `size` bytes that no thread reads soon. The buffers must not overlap. As
 * after memcpy(), a lock or a release store publishes the copy to other
 * threads.
 *
 * Streaming stores neither load the old content of `out` nor evict other data
 * from the cache. memcpy() uses them only for copies as large as most of the
 * last-level cache. */
void fby_stream_copy(uint8_t *out, const uint8_t *in, size_t size);

#endif
