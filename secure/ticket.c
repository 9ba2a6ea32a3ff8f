/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/ticket.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/utf8.h"

enum {
    HEAD_BYTES = 8,     /* magic, version, 3 zero bytes */
    ALL_ROOTS  = 0xffff /* in place of the number of roots */
};

static const uint8_t head[HEAD_BYTES] = {'F', 'B', 'Y', 'T', 1, 0, 0, 0};

/* ---- seal ---------------------------------------------------------------- */

static fby_err put_name(struct fby_buffer *out, const char *name)
{
    size_t size = strlen(name);
    if (size > FBY_TICKET_NAME_MAX) {
        return FBY_USAGE;
    }
    fby_put_u8(out, (uint8_t)size);
    fby_put_bytes(out, name, size);
    return FBY_OK;
}

static fby_err put_text(struct fby_buffer *out, const struct fby_ticket *ticket)
{
    if (ticket->n_roots > FBY_TICKET_ROOTS_MAX) {
        return FBY_USAGE;
    }
    fby_put_u64(out, ticket->session.value);
    fby_put_u64(out, (uint64_t)ticket->expiry_ns);
    fby_put_bytes(out, ticket->session_key.bytes, FBY_KEY_BYTES);
    fby_put_u8(out, (uint8_t)ticket->mode);
    FBY_TRY(put_name(out, ticket->job));
    fby_put_u16(out, ticket->all_roots ? ALL_ROOTS : (uint16_t)ticket->n_roots);
    for (size_t i = 0; !ticket->all_roots && i < ticket->n_roots; i++) {
        FBY_TRY(put_name(out, ticket->roots[i]));
    }
    return FBY_OK;
}

static fby_err seal_text(struct fby_aead *aead, const struct fby_key *secret,
    const struct fby_buffer *text, struct fby_buffer *out)
{
    static const uint8_t room[FBY_TAG_BYTES] = {0};
    struct fby_nonce     nonce;
    size_t               begin = out->size;
    if (HEAD_BYTES + FBY_NONCE_BYTES + text->size + FBY_TAG_BYTES >
        FBY_TICKET_MAX) {
        return FBY_USAGE;
    }
    randombytes_buf(nonce.bytes, sizeof(nonce.bytes));
    fby_put_bytes(out, head, sizeof(head));
    fby_put_bytes(out, nonce.bytes, sizeof(nonce.bytes));
    size_t at = out->size;
    fby_put_bytes(out, text->data, text->size);
    fby_put_bytes(out, room, sizeof(room));
    return fby_aead_seal(aead, FBY_CIPHER_AES, secret, &nonce,
        (struct fby_span){out->data + begin, HEAD_BYTES},
        (struct fby_span){out->data + at, text->size}, out->data + at);
}

fby_err fby_ticket_seal(struct fby_aead *aead,
    const struct fby_key *worker_secret, const struct fby_ticket *ticket,
    struct fby_buffer *out)
{
    struct fby_buffer text  = {0};
    size_t            begin = out->size;
    fby_err           err   = put_text(&text, ticket);
    if (err == FBY_OK) {
        err = seal_text(aead, worker_secret, &text, out);
    }
    if (err != FBY_OK) {
        out->size = begin;
    }
    sodium_memzero(text.data, text.size);
    fby_buffer_fini(&text);
    return err;
}

/* ---- open ---------------------------------------------------------------- */

/* Returns NULL if the name is malformed. The caller frees it. */
static const char *read_name(struct fby_reader *r)
{
    size_t         size  = fby_read_u8(r);
    const uint8_t *bytes = fby_read_bytes(r, size);
    if (bytes == NULL || !fby_is_utf8(bytes, size)) {
        return NULL;
    }
    char *name = fby_zalloc(size + 1);
    memcpy(name, bytes, size);
    return name;
}

static fby_err read_roots(struct fby_reader *r, struct fby_ticket *out)
{
    size_t n       = fby_read_u16(r);
    out->all_roots = n == ALL_ROOTS;
    if (out->all_roots) {
        return FBY_OK;
    }
    if (n > FBY_TICKET_ROOTS_MAX) {
        return FBY_PROTO;
    }
    const char **roots = fby_zalloc((n + 1) * sizeof(*roots));
    out->roots         = roots;
    for (; out->n_roots < n; out->n_roots++) {
        roots[out->n_roots] = read_name(r);
        if (roots[out->n_roots] == NULL) {
            return FBY_PROTO;
        }
    }
    return FBY_OK;
}

static fby_err read_text(struct fby_reader *r, struct fby_ticket *out)
{
    out->session.value  = fby_read_u64(r);
    out->expiry_ns      = (int64_t)fby_read_u64(r);
    const uint8_t *key  = fby_read_bytes(r, FBY_KEY_BYTES);
    uint8_t        mode = fby_read_u8(r);
    if (key == NULL || (mode != FBY_SECURE_FULL && mode != FBY_SECURE_AUTH)) {
        return FBY_PROTO;
    }
    memcpy(out->session_key.bytes, key, FBY_KEY_BYTES);
    out->mode = (enum fby_secure_mode)mode;
    out->job  = read_name(r);
    if (out->job == NULL) {
        return FBY_PROTO;
    }
    FBY_TRY(read_roots(r, out));
    return !r->bad && r->left == 0 && out->session.value != 0 ? FBY_OK
                                                              : FBY_PROTO;
}

fby_err fby_ticket_open(struct fby_aead *aead,
    const struct fby_key *worker_secret, struct fby_span sealed,
    struct fby_ticket *out)
{
    struct fby_reader r     = fby_reader(sealed.data, sealed.size);
    const uint8_t    *found = fby_read_bytes(&r, HEAD_BYTES);
    const uint8_t    *nonce = fby_read_bytes(&r, FBY_NONCE_BYTES);
    if (nonce == NULL || sealed.size > FBY_TICKET_MAX ||
        memcmp(found, head, HEAD_BYTES) != 0 || r.left < FBY_TAG_BYTES) {
        return FBY_PROTO;
    }
    struct fby_nonce  used = {{0}};
    uint8_t           text[FBY_TICKET_MAX];
    struct fby_ticket ticket = {0};
    memcpy(used.bytes, nonce, sizeof(used.bytes));
    fby_err err = fby_aead_open(aead, FBY_CIPHER_AES, worker_secret, &used,
        (struct fby_span){found, HEAD_BYTES}, (struct fby_span){r.at, r.left},
        text);
    if (err == FBY_OK) {
        struct fby_reader inner = fby_reader(text, r.left - FBY_TAG_BYTES);
        err                     = read_text(&inner, &ticket);
    }
    sodium_memzero(text, sizeof(text));
    if (err == FBY_OK) {
        *out = ticket;
    } else {
        fby_ticket_fini(&ticket);
    }
    return err;
}

void fby_ticket_fini(struct fby_ticket *self)
{
    for (size_t i = 0; i < self->n_roots; i++) {
        fby_free_text(self->roots[i]);
    }
    union {
        const char *const *roots;
        void              *memory;
    } owned = {.roots = self->roots};
    free(owned.memory);
    fby_free_text(self->job);
    sodium_memzero(&self->session_key, sizeof(self->session_key));
    *self = (struct fby_ticket){0};
}

bool fby_ticket_allows_root(const struct fby_ticket *self, const char *root)
{
    for (size_t i = 0; i < self->n_roots; i++) {
        if (strcmp(self->roots[i], root) == 0) {
            return true;
        }
    }
    return self->all_roots;
}
