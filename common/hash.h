/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - the two hashes of the project.
 *
 * BLAKE2b-256 is used where a hash identifies something, for example the data
 * of a dataset: an attacker cannot find collisions. XXH3 is fast but not
 * cryptographic; it detects transmission errors and compares streams of
 * batches. An XXH3-128 is stored in its canonical (big-endian) form. */
#ifndef FBY_COMMON_HASH_H
#define FBY_COMMON_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fby_digest { /* BLAKE2b-256 */
    uint8_t bytes[32];
};

struct fby_checksum { /* XXH3-128, canonical form */
    uint8_t bytes[16];
};

static inline bool fby_digest_equal(
    const struct fby_digest *a, const struct fby_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static inline bool fby_checksum_equal(
    const struct fby_checksum *a, const struct fby_checksum *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* The BLAKE2b-256 of one buffer, without a key (RFC 7693). Any thread. */
struct fby_digest fby_digest_of(const void *data, size_t size);

struct fby_digest_state {
    _Alignas(64) uint8_t opaque[512]; /* a state of libsodium */
};

/* The digest of several buffers: begin, add any number of times, end. A state
 * owns no memory. After `end`, a new digest needs `begin` first. */
void fby_digest_begin(struct fby_digest_state *state);
void fby_digest_add(
    struct fby_digest_state *state, const void *data, size_t size);
/* Add a number as `width` <= 8 bytes, little-endian. */
void fby_digest_add_number(
    struct fby_digest_state *state, uint64_t value, size_t width);
struct fby_digest fby_digest_end(struct fby_digest_state *state);

/* XXH3-64, seed 0, of one buffer. Any thread. */
uint64_t fby_xxh3_64(const void *data, size_t size);

/* XXH3-64, seed 0, of `a` followed by `b`. */
uint64_t fby_xxh3_64_two(
    const void *a, size_t a_size, const void *b, size_t b_size);

/* XXH3-128, seed 0, of one buffer. Any thread. */
struct fby_checksum fby_checksum_of(const void *data, size_t size);

struct fby_checksum_state {
    _Alignas(64) uint8_t opaque[640]; /* a state of libxxhash */
};

/* The checksum of several buffers: begin, add any number of times, end. A state
 * owns no memory. `end` does not change it, so more buffers can be added. */
void fby_checksum_begin(struct fby_checksum_state *state);
void fby_checksum_add(
    struct fby_checksum_state *state, const void *data, size_t size);
struct fby_checksum fby_checksum_end(const struct fby_checksum_state *state);

struct fby_hash_version {
    unsigned number;     /* 802 is 0.8.2 */
    bool     dispatches; /* the library chooses code for the CPU at run time */
};

/* The version of the libxxhash in use. */
struct fby_hash_version fby_hash_version(void);

/* Write the `size` bytes at `data` as lower-case hex to `out`, with a NUL:
 * 2 * size + 1 characters. Returns `out`. */
char *fby_hex(const void *data, size_t size, char *out);

#endif
