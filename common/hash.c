/* SPDX-License-Identifier: Apache-2.0 */
/* BLAKE2b-256 comes from libsodium, XXH3 from libxxhash. FBY_XXH_DISPATCH is 1
 * if libxxhash can choose its AVX2 and AVX-512 code at run time. The hashes are
 * the same, three to ten times as fast. */
#include "common/hash.h"

#include <sodium.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#if FBY_XXH_DISPATCH
#include <xxh_x86dispatch.h>
#endif

#include "common/bytes.h"

struct fby_digest fby_digest_of(const void *data, size_t size)
{
    struct fby_digest digest;
    crypto_generichash(digest.bytes, sizeof(digest.bytes), data, size, NULL, 0);
    return digest;
}

static crypto_generichash_state *blake2b(struct fby_digest_state *state)
{
    _Static_assert(sizeof(crypto_generichash_state) <= sizeof(state->opaque),
        "a BLAKE2b state fits");
    return (crypto_generichash_state *)(void *)state->opaque;
}

void fby_digest_begin(struct fby_digest_state *state)
{
    crypto_generichash_init(blake2b(state), NULL, 0, sizeof(struct fby_digest));
}

void fby_digest_add(
    struct fby_digest_state *state, const void *data, size_t size)
{
    crypto_generichash_update(blake2b(state), data, size);
}

void fby_digest_add_number(
    struct fby_digest_state *state, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    fby_store_le(bytes, value, width);
    fby_digest_add(state, bytes, width);
}

struct fby_digest fby_digest_end(struct fby_digest_state *state)
{
    struct fby_digest digest;
    crypto_generichash_final(
        blake2b(state), digest.bytes, sizeof(digest.bytes));
    return digest;
}

uint64_t fby_xxh3_64(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

uint64_t fby_xxh3_64_two(
    const void *a, size_t a_size, const void *b, size_t b_size)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, a, a_size);
    XXH3_64bits_update(&state, b, b_size);
    return XXH3_64bits_digest(&state);
}

static struct fby_checksum to_checksum(XXH128_hash_t hash)
{
    XXH128_canonical_t  canonical; /* big-endian */
    struct fby_checksum checksum;
    XXH128_canonicalFromHash(&canonical, hash);
    memcpy(checksum.bytes, canonical.digest, sizeof(checksum.bytes));
    return checksum;
}

struct fby_checksum fby_checksum_of(const void *data, size_t size)
{
    return to_checksum(XXH3_128bits(data, size));
}

static XXH3_state_t *xxh3_state(struct fby_checksum_state *state)
{
    _Static_assert(
        sizeof(XXH3_state_t) <= sizeof(state->opaque), "an XXH3 state fits");
    return (XXH3_state_t *)(void *)state->opaque;
}

void fby_checksum_begin(struct fby_checksum_state *state)
{
    memset(state, 0, sizeof(*state));
    XXH3_128bits_reset(xxh3_state(state));
}

void fby_checksum_add(
    struct fby_checksum_state *state, const void *data, size_t size)
{
    XXH3_128bits_update(xxh3_state(state), data, size);
}

struct fby_checksum fby_checksum_end(const struct fby_checksum_state *state)
{
    return to_checksum(
        XXH3_128bits_digest((const XXH3_state_t *)(const void *)state->opaque));
}

struct fby_hash_version fby_hash_version(void)
{
    return (struct fby_hash_version){
        .number = XXH_versionNumber(), .dispatches = FBY_XXH_DISPATCH};
}

char *fby_hex(const void *data, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t    *bytes    = data;
    for (size_t i = 0; i < size; i++) {
        out[2 * i]     = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 0x0f];
    }
    out[2 * size] = '\0';
    return out;
}
