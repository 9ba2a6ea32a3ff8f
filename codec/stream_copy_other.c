/* SPDX-License-Identifier: Apache-2.0 */
/* Without streaming stores. */
#include <string.h>

#include "codec/stream_copy.h"

void fby_stream_copy(uint8_t *out, const uint8_t *in, size_t size)
{
    memcpy(out, in, size);
}
