/* SPDX-License-Identifier: Apache-2.0 */
/* The hashes that libxxhash makes with its fastest kernels, against those of
 * its portable code, compiled into this test. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"

#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_SCALAR
#include <xxhash.h>

enum { MOST = 5000 };

static uint8_t *new_bytes(void)
{
    uint8_t *bytes = malloc(MOST);
    for (uint32_t i = 0, value = 1; i < MOST; i++) {
        value    = value * UINT32_C(1664525) + UINT32_C(1013904223);
        bytes[i] = (uint8_t)(value >> 24);
    }
    return bytes;
}

static struct fby_checksum expected_sum(const uint8_t *bytes, size_t size)
{
    XXH128_canonical_t  canonical;
    struct fby_checksum sum;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
    memcpy(sum.bytes, canonical.digest, sizeof(sum.bytes));
    return sum;
}

static void every_size_has_its_hash(void **state)
{
    (void)state;
    uint8_t *bytes = new_bytes();
    for (size_t size = 0; size <= MOST; size++) {
        struct fby_checksum sum      = fby_checksum_of(bytes, size);
        struct fby_checksum expected = expected_sum(bytes, size);
        assert_true(fby_xxh3_64(bytes, size) == XXH3_64bits(bytes, size));
        assert_true(fby_checksum_equal(&sum, &expected));
    }
    free(bytes);
}

static void pieces_hash_like_the_whole(void **state)
{
    (void)state;
    uint8_t *bytes = new_bytes();
    for (size_t piece = 1; piece <= MOST; piece += 1 + piece / 3) {
        struct fby_checksum_state pieces;
        memset(&pieces, 0xff, sizeof(pieces));
        fby_checksum_begin(&pieces);
        for (size_t at = 0; at < MOST; at += piece) {
            fby_checksum_add(
                &pieces, bytes + at, piece < MOST - at ? piece : MOST - at);
        }
        struct fby_checksum sum      = fby_checksum_end(&pieces);
        struct fby_checksum expected = expected_sum(bytes, MOST);
        assert_true(fby_checksum_equal(&sum, &expected));
        assert_true(fby_xxh3_64_two(bytes, piece, bytes + piece,
                        MOST - piece) == XXH3_64bits(bytes, MOST));
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_has_its_hash),
        cmocka_unit_test(pieces_hash_like_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
