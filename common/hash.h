/* hash.h - the two hashes of the project.
 *
 * BLAKE2b-256 identifies content, data and fingerprints: it is collision
 * resistant also against an attacker. XXH3 finds transmission errors and
 * compares streams: it is fast, and not cryptographic. Digests are plain byte
 * arrays; an XXH3-128 is stored in its canonical (big-endian) form. */
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

struct fby_digest_state {
    _Alignas(64) uint8_t opaque[512];
};

/* The same in pieces: begin, add any number of times, end. A state owns no
 * memory; after `end` it has to begin again. */
void fby_digest_begin(struct fby_digest_state *state);
void fby_digest_add(
    struct fby_digest_state *state, const void *data, size_t size);
struct fby_digest fby_digest_end(struct fby_digest_state *state);

/* XXH3-64, seed 0, of one buffer. Any thread. */
uint64_t fby_xxh64(const void *data, size_t size);

/* XXH3-64, seed 0, of `a` followed by `b`. */
uint64_t fby_xxh64_two(
    const void *a, size_t a_size, const void *b, size_t b_size);

/* XXH3-128, seed 0, of one buffer. Any thread. */
struct fby_sum fby_sum_of(const void *data, size_t size);

struct fby_sum_state {
    _Alignas(64) uint8_t opaque[640];
};

/* The same in pieces. A state owns no memory; `end` does not change it. */
void fby_sum_begin(struct fby_sum_state *state);
void fby_sum_add(struct fby_sum_state *state, const void *data, size_t size);
struct fby_sum fby_sum_end(const struct fby_sum_state *state);

struct fby_hash_version {
    unsigned number;     /* 802 is 0.8.2 */
    bool     dispatches; /* it selects a kernel for the CPU at run time */
};

/* The libxxhash in use. */
struct fby_hash_version fby_hash_version(void);

/* Write lower-case hex and a NUL, 2 * size + 1 chars, to `out`; returns it. */
char *fby_hex(const void *data, size_t size, char *out);

#endif
