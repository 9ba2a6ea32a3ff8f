/* SPDX-License-Identifier: Apache-2.0 */
/* The type of tokens by their bytes. */
#include "tests/test.h"

#include "common/bytes.h"
#include "worker/source/tokens/token_type.h"

enum { N_TOKENS = 256 };

/* The type that tokens of `width` bytes below `most` seem to have, if they are read
 * as `declared`, in runs that begin at any token. */
static enum fby_type type_of(
    uint32_t width, uint32_t most, enum fby_type declared)
{
    struct fby_token_bytes found = {.n = 0};
    uint32_t               state = 1;
    for (uint32_t run = 0; run < 3; run++) {
        uint8_t bytes[N_TOKENS * 8] = {0};
        for (uint32_t i = 0; i < N_TOKENS; i++) {
            state       = state * 1664525 + 1013904223;
            uint64_t id = (state >> 8) % most;
            for (uint32_t k = 0; k < width; k++) {
                bytes[i * width + k] = (uint8_t)(id >> 8 * k);
            }
        }
        uint32_t skipped = run * (declared != 0 ? fby_type_bytes(declared) : 8);
        fby_token_bytes_add(
            &found, bytes + skipped, (size_t)N_TOKENS * width - skipped);
    }
    return fby_token_bytes_type(&found, declared);
}

static void tokens_of_their_declared_type_are_right(void **state)
{
    (void)state;
    static const uint32_t most[] = {4, 65, 30000, 50257, 65536};
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
        assert_int_equal(type_of(2, most[i], FBY_U16), 0);
        assert_int_equal(type_of(4, most[i], FBY_U32), 0);
        assert_int_equal(type_of(4, most[i], FBY_I32), 0);
        assert_int_equal(type_of(8, most[i], FBY_I64), 0);
        assert_int_equal(type_of(1, 256, FBY_U8), 0);
    }
    assert_int_equal(type_of(4, 3000000, FBY_U32), 0);
}

static void wider_tokens_are_found(void **state)
{
    (void)state;
    static const uint32_t most[] = {4, 30000, 150000};
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
        assert_int_equal(type_of(4, most[i], FBY_U16), FBY_U32);
        assert_int_equal(type_of(4, most[i], (enum fby_type)0), FBY_U32);
        assert_int_equal(type_of(8, most[i], FBY_U16), FBY_I64);
        assert_int_equal(type_of(8, most[i], FBY_I32), FBY_I64);
    }
}

static void narrower_tokens_are_found(void **state)
{
    (void)state;
    static const uint32_t most[] = {65, 30000, 65536};
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
        assert_int_equal(type_of(2, most[i], FBY_U32), FBY_U16);
        assert_int_equal(type_of(2, most[i], FBY_I64), FBY_U16);
        assert_int_equal(type_of(4, most[i], FBY_I64), FBY_U32);
    }
}

static void a_few_bytes_and_zeros_say_nothing(void **state)
{
    (void)state;
    static const uint8_t   zeros[512] = {0};
    struct fby_token_bytes found      = {.n = 0};
    fby_token_bytes_add(&found, zeros, sizeof(zeros));
    assert_int_equal(fby_token_bytes_type(&found, FBY_U16), 0);
    found = (struct fby_token_bytes){.n = 0};
    fby_token_bytes_add(&found, (const uint8_t *)"\1\0\0\0\1\0\0\0", 8);
    assert_int_equal(fby_token_bytes_type(&found, FBY_U16), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_of_their_declared_type_are_right),
        cmocka_unit_test(wider_tokens_are_found),
        cmocka_unit_test(narrower_tokens_are_found),
        cmocka_unit_test(a_few_bytes_and_zeros_say_nothing),
    };
    return cmocka_run_group_tests_name(
        "worker.source.token_type", tests, NULL, NULL);
}
