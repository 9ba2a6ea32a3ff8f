/* hash.h - the two hashes of the project.
 *
 * BLAKE2b-256 names things (content, data, fingerprint): a stranger must not
 * be able to make two of one name. XXH3 checks bytes on their way and sums the
 * stream: fast, not secret. Digests are plain byte arrays; an XXH3-128 is
 * stored in its canonical (big-endian) form. */
#ifndef FBY_COMMON_HASH_H
#define FBY_COMMON_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fby_digest { /* BLAKE2b-256 */
    uint8_t bytes[32];
};

struct fby_sum { /* XXH3-128, canonical form */
    uint8_t bytes[16];
};

static inline bool fby_digest_equal(
    const struct fby_digest *a, const struct fby_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static inline bool fby_sum_equal(
    const struct fby_sum *a, const struct fby_sum *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* BLAKE2b-256 without key (RFC 7693), of one buffer. Any thread. */
struct fby_digest fby_digest_of(const void *data, size_t size);

/* The same in pieces; a state lives on the caller's stack. */
struct fby_digest_state {
    _Alignas(64) uint8_t opaque[512];
};
void fby_digest_begin(struct fby_digest_state *state);
void fby_digest_add(
    struct fby_digest_state *state, const void *data, size_t size);
struct fby_digest fby_digest_end(struct fby_digest_state *state);

/* XXH3, seed 0. Any thread. */
uint64_t fby_xxh64(const void *data, size_t size);
/* ... of `a` and `b`, one after the other. */
uint64_t fby_xxh64_two(
    const void *a, size_t a_size, const void *b, size_t b_size);

struct fby_sum fby_sum_of(const void *data, size_t size);

struct fby_sum_state {
    _Alignas(64) uint8_t opaque[640];
};
void fby_sum_begin(struct fby_sum_state *state);
void fby_sum_add(struct fby_sum_state *state, const void *data, size_t size);
struct fby_sum fby_sum_end(const struct fby_sum_state *state);

/* Which libxxhash is used: its version as a number, 802 is 0.8.2, and whether
 * it chooses among kernels for the CPU. */
struct fby_hash_version {
    unsigned number;
    bool     dispatches;
};
struct fby_hash_version fby_hash_version(void);

/* Lower-case hex with NUL: 2 * size + 1 chars into `out`; returns `out`. */
char *fby_hex(const void *data, size_t size, char *out);

#endif
