/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard.h"
#include "tests/test.h"

#include "codec/stream_copy.h"

enum { LINE = 64, MOST = 4 * LINE }; /* bytes */

/* Copy between buffers that end at guard pages. The output is `after` bytes
 * before its guard page; no byte beside the copy may change. */
static void copies(size_t size, size_t after)
{
    uint8_t            right[MOST + 2 * LINE];
    struct fby_guarded in  = fby_guarded_copy(NULL, size);
    struct fby_guarded out = fby_guarded_copy(NULL, LINE + size + after);
    for (size_t i = 0; i < size; i++) {
        in.bytes[i] = (uint8_t)(i + 1);
    }
    memset(out.bytes, 0xa5, out.size);
    memset(right, 0xa5, sizeof(right));
    memcpy(right + LINE, in.bytes, size);
    fby_stream_copy(out.bytes + LINE, in.bytes, size);
    assert_memory_equal(out.bytes, right, out.size);
    fby_guarded_free(&in);
    fby_guarded_free(&out);
}

static void any_size_is_copied_to_any_address(void **state)
{
    (void)state;
    for (size_t size = 0; size < MOST; size++) {
        for (size_t after = 0; after < LINE; after++) {
            copies(size, after);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_size_is_copied_to_any_address),
    };
    return cmocka_run_group_tests_name("codec.stream_copy", tests, NULL, NULL);
}
