/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/aead.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

#include "tests/test.h"

static void from_hex(const char *hex, uint8_t *out, size_t size)
{
    size_t n = 0;
    assert_int_equal(
        sodium_hex2bin(out, size, hex, strlen(hex), NULL, &n, NULL), 0);
    assert_int_equal(n, size);
}

static void assert_hex(const uint8_t *bytes, size_t size, const char *hex)
{
    char text[256];
    assert_true(2 * size < sizeof(text));
    assert_string_equal(sodium_bin2hex(text, sizeof(text), bytes, size), hex);
}

struct vector {
    enum fby_cipher cipher;
    const char     *key, *nonce, *head, *text, *sealed;
};

/* Test case 16 of McGrew and Viega, "The Galois/Counter Mode of Operation". */
static const struct vector gcm = {FBY_CIPHER_AES,
    "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
    "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
    "76fc6ece0f4e1768cddf8853bb2d551b"};

static void aes_gives_the_published_bytes(void **state)
{
    (void)state;
    struct fby_aead *aead = NULL;
    struct fby_key   key;
    struct fby_nonce nonce;
    uint8_t          head[20];
    uint8_t          text[60];
    uint8_t          sealed[76];
    uint8_t          opened[60];
    from_hex(gcm.key, key.bytes, sizeof(key.bytes));
    from_hex(gcm.nonce, nonce.bytes, sizeof(nonce.bytes));
    from_hex(gcm.head, head, sizeof(head));
    from_hex(gcm.text, text, sizeof(text));
    assert_int_equal(fby_aead_create(&aead), FBY_OK);
    const struct fby_span clear = {head, sizeof(head)};
    assert_int_equal(fby_aead_seal(aead, gcm.cipher, &key, &nonce, clear,
                         (struct fby_span){text, sizeof(text)}, sealed),
        FBY_OK);
    assert_hex(sealed, sizeof(sealed), gcm.sealed);
    assert_int_equal(fby_aead_open(aead, gcm.cipher, &key, &nonce, clear,
                         (struct fby_span){sealed, sizeof(sealed)}, opened),
        FBY_OK);
    assert_memory_equal(opened, text, sizeof(text));
    fby_aead_destroy(&aead);
}

/* libsodium has an implementation of its own, also for RFC 8439. */
static void both_ciphers_equal_libsodium(void **state)
{
    (void)state;
    struct fby_aead *aead = NULL;
    struct fby_key   key;
    struct fby_nonce nonce;
    uint8_t          head[16];
    uint8_t          text[1000];
    uint8_t          ours[1016];
    uint8_t          theirs[1016];
    assert_int_equal(fby_aead_create(&aead), FBY_OK);
    for (size_t size = 0; size <= sizeof(text); size += 1 + size / 3) {
        unsigned long long n = 0;
        randombytes_buf(key.bytes, sizeof(key.bytes));
        randombytes_buf(nonce.bytes, sizeof(nonce.bytes));
        randombytes_buf(head, sizeof(head));
        randombytes_buf(text, sizeof(text));
        crypto_aead_chacha20poly1305_ietf_encrypt(theirs, &n, text, size, head,
            sizeof(head), NULL, nonce.bytes, key.bytes);
        assert_int_equal(fby_aead_seal(aead, FBY_CIPHER_CHACHA, &key, &nonce,
                             (struct fby_span){head, sizeof(head)},
                             (struct fby_span){text, size}, ours),
            FBY_OK);
        assert_memory_equal(ours, theirs, size + FBY_TAG_BYTES);
        if (crypto_aead_aes256gcm_is_available() == 0) {
            continue;
        }
        crypto_aead_aes256gcm_encrypt(theirs, &n, text, size, head,
            sizeof(head), NULL, nonce.bytes, key.bytes);
        assert_int_equal(fby_aead_seal(aead, FBY_CIPHER_AES, &key, &nonce,
                             (struct fby_span){head, sizeof(head)},
                             (struct fby_span){text, size}, ours),
            FBY_OK);
        assert_memory_equal(ours, theirs, size + FBY_TAG_BYTES);
    }
    fby_aead_destroy(&aead);
}

static fby_err open_changed(struct fby_aead *aead, enum fby_cipher cipher,
    const uint8_t *bytes /* head 4, then sealed 24 */, size_t size)
{
    static const struct fby_key key   = {{1}};
    const struct fby_nonce      nonce = {{2}};
    uint8_t                     out[64];
    return fby_aead_open(aead, cipher, &key, &nonce,
        (struct fby_span){bytes, 4}, (struct fby_span){bytes + 4, size}, out);
}

static void a_changed_or_cut_text_does_not_open(void **state)
{
    (void)state;
    static const struct fby_key key   = {{1}};
    const struct fby_nonce      nonce = {{2}};
    struct fby_aead            *aead  = NULL;
    assert_int_equal(fby_aead_create(&aead), FBY_OK);
    for (int c = FBY_CIPHER_AES; c <= FBY_CIPHER_CHACHA; c++) {
        enum fby_cipher cipher    = (enum fby_cipher)c;
        uint8_t         bytes[28] = {9, 8, 7, 6, 'a', 'b', 'c', 'd', 'e', 'f'};
        assert_int_equal(fby_aead_seal(aead, cipher, &key, &nonce,
                             (struct fby_span){bytes, 4},
                             (struct fby_span){bytes + 4, 8}, bytes + 4),
            FBY_OK);
        assert_int_equal(open_changed(aead, cipher, bytes, 24), FBY_OK);
        for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
            bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
            assert_int_equal(open_changed(aead, cipher, bytes, 24), FBY_PROTO);
            bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        for (size_t size = 0; size < 24; size++) {
            assert_int_equal(
                open_changed(aead, cipher, bytes, size), FBY_PROTO);
        }
    }
    fby_aead_destroy(&aead);
}

/* RFC 5869, appendix A.1. */
static void keys_are_derived_as_published(void **state)
{
    (void)state;
    uint8_t secret[22];
    uint8_t salt[13];
    uint8_t info[10];
    uint8_t out[42];
    memset(secret, 0x0b, sizeof(secret));
    from_hex("000102030405060708090a0b0c", salt, sizeof(salt));
    from_hex("f0f1f2f3f4f5f6f7f8f9", info, sizeof(info));
    assert_int_equal(
        fby_derive((struct fby_span){secret, sizeof(secret)},
            (struct fby_span){salt, sizeof(salt)},
            (struct fby_span){info, sizeof(info)}, out, sizeof(out)),
        FBY_OK);
    assert_hex(out, sizeof(out),
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
        "34007208d5b887185865");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aes_gives_the_published_bytes),
        cmocka_unit_test(both_ciphers_equal_libsodium),
        cmocka_unit_test(a_changed_or_cut_text_does_not_open),
        cmocka_unit_test(keys_are_derived_as_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
