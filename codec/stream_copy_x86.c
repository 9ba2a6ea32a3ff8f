/* SPDX-License-Identifier: Apache-2.0 */
/* With the streaming stores that every x86-64 has, a cache line at a time. */
#include <emmintrin.h>
#include <string.h>

#include "codec/stream_copy.h"

enum { LINE = 64, VECTOR = 16 }; /* bytes */

/* `out` begins a cache line. */
static void stream_line(uint8_t *out, const uint8_t *in)
{
    for (size_t i = 0; i < LINE; i += VECTOR) {
        _mm_stream_si128(
            (void *)(out + i), _mm_loadu_si128((const void *)(in + i)));
    }
}

void fby_stream_copy(uint8_t *out, const uint8_t *in, size_t size)
{
    size_t before = (LINE - (uintptr_t)out % LINE) % LINE; /* the first line */
    size_t head   = before < size ? before : size;
    size_t done   = head;
    memcpy(out, in, head);
    for (; done + LINE <= size; done += LINE) {
        stream_line(out + done, in + done);
    }
    memcpy(out + done, in + done, size - done);
    _mm_sfence();
}
