/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/aead.h"

#include <limits.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

struct fby_aead {
    EVP_CIPHER     *ciphers[FBY_CIPHER_CHACHA + 1]; /* [enum fby_cipher] */
    EVP_CIPHER_CTX *context;
};

fby_err fby_aead_create(struct fby_aead **out)
{
    struct fby_aead *self         = fby_zalloc(sizeof(*self));
    self->context                 = EVP_CIPHER_CTX_new();
    self->ciphers[FBY_CIPHER_AES] = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    self->ciphers[FBY_CIPHER_CHACHA] =
        EVP_CIPHER_fetch(NULL, "ChaCha20-Poly1305", NULL);
    if (sodium_init() < 0 || self->context == NULL ||
        self->ciphers[FBY_CIPHER_AES] == NULL ||
        self->ciphers[FBY_CIPHER_CHACHA] == NULL) {
        fby_aead_destroy(&self);
        return FBY_SYS;
    }
    *out = self;
    return FBY_OK;
}

void fby_aead_destroy(struct fby_aead **self_p)
{
    struct fby_aead *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    EVP_CIPHER_CTX_free(self->context);
    EVP_CIPHER_free(self->ciphers[FBY_CIPHER_AES]);
    EVP_CIPHER_free(self->ciphers[FBY_CIPHER_CHACHA]);
    free(self);
}

/* Set key and nonce, and feed the head and the text. */
static bool transform(struct fby_aead *self, enum fby_cipher cipher,
    const struct fby_key *key, const struct fby_nonce *nonce,
    struct fby_span head, struct fby_span text, uint8_t *out, int encrypt)
{
    EVP_CIPHER_CTX *context = self->context;
    int             n       = 0;
    return head.size <= INT_MAX && text.size <= INT_MAX &&
           EVP_CipherInit_ex2(context, self->ciphers[cipher], key->bytes,
               nonce->bytes, encrypt, NULL) == 1 &&
           EVP_CipherUpdate(context, NULL, &n, head.data, (int)head.size) ==
               1 &&
           (text.size == 0 || EVP_CipherUpdate(context, out, &n, text.data,
                                  (int)text.size) == 1);
}

fby_err fby_aead_seal(struct fby_aead *self, enum fby_cipher cipher,
    const struct fby_key *key, const struct fby_nonce *nonce,
    struct fby_span head, struct fby_span text, uint8_t *out)
{
    int  n    = 0;
    bool done = transform(self, cipher, key, nonce, head, text, out, 1) &&
                EVP_CipherFinal_ex(self->context, out + text.size, &n) == 1 &&
                EVP_CIPHER_CTX_ctrl(self->context, EVP_CTRL_AEAD_GET_TAG,
                    FBY_TAG_BYTES, out + text.size) == 1;
    return done ? FBY_OK : FBY_SYS;
}

fby_err fby_aead_open(struct fby_aead *self, enum fby_cipher cipher,
    const struct fby_key *key, const struct fby_nonce *nonce,
    struct fby_span head, struct fby_span sealed, uint8_t *out)
{
    uint8_t tag[FBY_TAG_BYTES];
    int     n = 0;
    if (sealed.size < FBY_TAG_BYTES) {
        return FBY_PROTO;
    }
    const struct fby_span text = {sealed.data, sealed.size - FBY_TAG_BYTES};
    memcpy(tag, (const uint8_t *)sealed.data + text.size, sizeof(tag));
    bool done = transform(self, cipher, key, nonce, head, text, out, 0) &&
                EVP_CIPHER_CTX_ctrl(self->context, EVP_CTRL_AEAD_SET_TAG,
                    FBY_TAG_BYTES, tag) == 1 &&
                EVP_CipherFinal_ex(self->context, tag /* 0 bytes */, &n) == 1;
    return done ? FBY_OK : FBY_PROTO;
}

enum fby_cipher fby_cipher_preferred(void)
{
    return sodium_runtime_has_aesni() ? FBY_CIPHER_AES : FBY_CIPHER_CHACHA;
}

/* OSSL_PARAM wants pointers that are not const, and does not write to them. */
static OSSL_PARAM octets(const char *key, struct fby_span span)
{
    union {
        const void *from;
        void       *to;
    } data = {.from = span.data};
    return OSSL_PARAM_construct_octet_string(key, data.to, span.size);
}

fby_err fby_derive(struct fby_span secret, struct fby_span salt,
    struct fby_span info, uint8_t *out, size_t size)
{
    char       digest[]     = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        octets(OSSL_KDF_PARAM_KEY, secret),
        octets(OSSL_KDF_PARAM_SALT, salt),
        octets(OSSL_KDF_PARAM_INFO, info),
        OSSL_PARAM_construct_end(),
    };
    EVP_KDF     *kdf     = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf != NULL ? EVP_KDF_CTX_new(kdf) : NULL;
    bool         done =
        context != NULL && EVP_KDF_derive(context, out, size, parameters) == 1;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return done ? FBY_OK : FBY_SYS;
}
