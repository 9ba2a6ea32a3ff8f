/* SPDX-License-Identifier: Apache-2.0 */
/* aead.h - authenticated encryption and key derivation, with libcrypto.
 *
 * To seal is to encrypt bytes and append a tag. To open is to check the tag and
 * decrypt. Both also check `head`, bytes that are sent in the clear. A nonce
 * must never be used twice with one key: an attacker who sees two such texts
 * can forge others. docs/security.md says how each user of this file keeps that
 * rule. */
#ifndef FBY_SECURE_AEAD_H
#define FBY_SECURE_AEAD_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { FBY_KEY_BYTES = 32, FBY_NONCE_BYTES = 12, FBY_TAG_BYTES = 16 };

enum fby_cipher {          /* the numbers are part of the protocol */
    FBY_CIPHER_AES    = 1, /* AES-256-GCM */
    FBY_CIPHER_CHACHA = 2  /* ChaCha20-Poly1305 (RFC 8439) */
};

struct fby_key { /* a secret: call sodium_memzero when it is not needed */
    uint8_t bytes[FBY_KEY_BYTES];
};

struct fby_nonce {
    uint8_t bytes[FBY_NONCE_BYTES];
};

struct fby_span {
    const void *data;
    size_t      size; /* bytes */
};

/* Working memory of libcrypto. Thread: one thread at a time. */
struct fby_aead;

/* Errors: FBY_SYS  libcrypto has no such ciphers, or no memory. */
FBY_CHECKED fby_err fby_aead_create(struct fby_aead **out);
/* Accepts a pointer to NULL. */
void fby_aead_destroy(struct fby_aead **self_p);

/* Write text.size + FBY_TAG_BYTES bytes to `out`, which may be text.data.
 * Errors: FBY_SYS  libcrypto failed. */
FBY_CHECKED fby_err fby_aead_seal(struct fby_aead *self, enum fby_cipher cipher,
    const struct fby_key *key, const struct fby_nonce *nonce,
    struct fby_span head, struct fby_span text, uint8_t *out);

/* Write sealed.size - FBY_TAG_BYTES bytes to `out`, which may be sealed.data.
 * After an error the bytes of `out` must not be used.
 * Errors: FBY_PROTO  the tag is wrong, or `sealed` is shorter than a tag. */
FBY_CHECKED fby_err fby_aead_open(struct fby_aead *self, enum fby_cipher cipher,
    const struct fby_key *key, const struct fby_nonce *nonce,
    struct fby_span head, struct fby_span sealed, uint8_t *out);

/* The cipher that is faster on this CPU: AES where it has instructions for it. */
enum fby_cipher fby_cipher_preferred(void);

/* HKDF-SHA256 (RFC 5869): derive `size` <= 8,160 bytes from a secret.
 * Errors: FBY_SYS  libcrypto failed. */
FBY_CHECKED fby_err fby_derive(struct fby_span secret, struct fby_span salt,
    struct fby_span info, uint8_t *out, size_t size);

#endif
