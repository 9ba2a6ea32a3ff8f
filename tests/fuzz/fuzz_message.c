/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_message.c - any bytes as a control message, unchanged and with a valid
 * hash. A message that decodes must encode to one that decodes too. */
#include "tests/fuzz/sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *data, size_t size)
{
    struct fby_message      first;
    struct fby_message      second;
    struct fby_error_detail why;
    struct fby_buffer       frame = {0};
    if (fby_message_decode(data, size, &first, &why) != FBY_OK) {
        return;
    }
    if (fby_message_encode(&first, &frame, &why) != FBY_OK ||
        fby_message_decode(frame.data, frame.size, &second, &why) != FBY_OK ||
        second.type != first.type) {
        abort();
    }
    fby_message_fini(&second);
    fby_message_fini(&first);
    fby_buffer_fini(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *frame = sealed(data, size);
    check(data, size);
    check(frame, size);
    free(frame);
    return 0;
}
