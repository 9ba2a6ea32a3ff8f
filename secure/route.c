/* SPDX-License-Identifier: Apache-2.0 */
/* FBY_MUTANT(name) is false except in a test of the simulator. */
#include "secure/route.h"

#include <sodium.h>
#include <string.h>

#include "common/bytes.h"
#include "common/fault.h"
#include "common/mutant.h"

enum {
    SEAL_VERSION      = 1,
    MAGIC_BYTES       = 4, /* then the version */
    CLEAR_OFFSET      = 5,
    GENERATION_OFFSET = 6,
    COUNT_OFFSET      = 8,
    SESSION_OFFSET    = 16
};

static const uint8_t magic[MAGIC_BYTES] = {'F', 'B', 'Y', 'S'};

/* The bytes that a key may seal. Tests set fewer (common/fault.h). */
static uint64_t max_key_bytes(void)
{
    return (uint64_t)fby_fault_param("secure.key", "bytes", INT64_C(64) << 30);
}

/* ---- keys ---------------------------------------------------------------- */

fby_err fby_lanes_derive(
    const struct fby_route_secrets *secrets, struct fby_lanes *out)
{
    static const char label[] = "forebay route 1";
    uint8_t           salt[2 * FBY_ROUTE_NONCE];
    uint8_t           keys[2 * FBY_KEY_BYTES];
    struct fby_buffer info = {0};
    memcpy(salt, secrets->worker_nonce.bytes, FBY_ROUTE_NONCE);
    memcpy(
        salt + FBY_ROUTE_NONCE, secrets->client_nonce.bytes, FBY_ROUTE_NONCE);
    fby_put_bytes(&info, label, strlen(label));
    fby_put_u8(&info, (uint8_t)secrets->cipher);
    fby_put_u8(&info, (uint8_t)secrets->mode);
    fby_put_u64(&info, secrets->session.value);
    fby_put_u64(&info, secrets->worker.value);
    fby_err err =
        fby_derive((struct fby_span){secrets->session_key.bytes, FBY_KEY_BYTES},
            (struct fby_span){salt, sizeof(salt)},
            (struct fby_span){info.data, info.size}, keys, sizeof(keys));
    fby_buffer_fini(&info);
    if (err == FBY_OK) {
        const struct fby_lane lane = {
            .session = secrets->session, .cipher = secrets->cipher};
        *out = (struct fby_lanes){lane, lane};
        memcpy(out->to_worker.key.bytes, keys, FBY_KEY_BYTES);
        memcpy(out->to_client.key.bytes,
            keys + (FBY_MUTANT(one_key) ? 0 : FBY_KEY_BYTES), FBY_KEY_BYTES);
    }
    sodium_memzero(keys, sizeof(keys));
    return err;
}

static fby_err derive_next_key(struct fby_lane *lane)
{
    static const char label[] = "forebay next key 1";
    struct fby_key    next;
    FBY_TRY(fby_derive((struct fby_span){lane->key.bytes, FBY_KEY_BYTES},
        (struct fby_span){"", 0}, (struct fby_span){label, strlen(label)},
        next.bytes, sizeof(next.bytes)));
    lane->key       = next;
    lane->key_bytes = 0;
    lane->generation++;
    sodium_memzero(&next, sizeof(next));
    return FBY_OK;
}

/* ---- places -------------------------------------------------------------- */

fby_err fby_lane_next(struct fby_lane *self, size_t size, struct fby_seal *out)
{
    if (self->key_bytes + size > max_key_bytes()) {
        if (self->generation == UINT16_MAX) {
            return FBY_GONE;
        }
        FBY_TRY(derive_next_key(self));
    }
    *out = (struct fby_seal){
        self->session, self->key, self->cipher, self->generation, self->count};
    self->key_bytes += size;
    self->count += FBY_MUTANT(repeat_count) && self->count == 5 ? 0 : 1;
    return FBY_OK;
}

bool fby_is_sealed_frame(const void *frame, size_t size)
{
    const uint8_t *bytes = frame;
    return size >= FBY_SEAL_BYTES && memcmp(bytes, magic, MAGIC_BYTES) == 0 &&
           bytes[MAGIC_BYTES] == SEAL_VERSION &&
           (bytes[CLEAR_OFFSET] == 0 ||
               (bytes[CLEAR_OFFSET] == FBY_SEAL_CLEAR &&
                   size >= FBY_SEAL_BYTES + FBY_SEAL_CLEAR));
}

struct fby_session_id fby_sealed_session(const void *frame)
{
    const uint8_t *bytes = frame;
    return (struct fby_session_id){fby_load_le(bytes + SESSION_OFFSET, 8)};
}

fby_err fby_lane_accept(
    struct fby_lane *self, const void *frame, size_t size, struct fby_seal *out)
{
    const uint8_t *bytes = frame;
    if (!fby_is_sealed_frame(frame, size) ||
        fby_load_le(bytes + COUNT_OFFSET, 8) != self->count ||
        fby_sealed_session(frame).value != self->session.value) {
        return FBY_PROTO;
    }
    struct fby_lane next = *self;
    fby_err         err  = fby_lane_next(&next, size - FBY_SEAL_BYTES, out);
    if (err == FBY_GONE ||
        (err == FBY_OK &&
            fby_load_le(bytes + GENERATION_OFFSET, 2) != out->generation)) {
        err = FBY_PROTO;
    }
    if (err == FBY_OK) {
        *self = next;
    }
    sodium_memzero(&next, sizeof(next));
    return err;
}

/* ---- frames -------------------------------------------------------------- */

static void write_head(
    const struct fby_seal *seal, size_t n_clear, uint8_t *head)
{
    memcpy(head, magic, MAGIC_BYTES);
    head[MAGIC_BYTES]  = SEAL_VERSION;
    head[CLEAR_OFFSET] = (uint8_t)n_clear;
    fby_store_le(head + GENERATION_OFFSET, seal->generation, 2);
    fby_store_le(head + COUNT_OFFSET, seal->count, 8);
    fby_store_le(head + SESSION_OFFSET, seal->session.value, 8);
}

static struct fby_nonce make_nonce(const struct fby_seal *seal)
{
    struct fby_nonce nonce = {{0}};
    fby_store_le(nonce.bytes, seal->count, 8);
    return nonce;
}

fby_err fby_seal_frame(struct fby_aead *aead, const struct fby_seal *seal,
    struct fby_span clear, struct fby_span text, uint8_t *out)
{
    const struct fby_nonce nonce  = make_nonce(seal);
    const size_t           n_head = FBY_SEAL_HEAD + clear.size;
    write_head(seal, clear.size, out);
    if (clear.size > 0) {
        memcpy(out + FBY_SEAL_HEAD, clear.data, clear.size);
    }
    return fby_aead_seal(aead, seal->cipher, &seal->key, &nonce,
        (struct fby_span){out, n_head}, text, out + n_head);
}

fby_err fby_open_frame(struct fby_aead *aead, const struct fby_seal *seal,
    uint8_t *frame, size_t size)
{
    const struct fby_nonce nonce  = make_nonce(seal);
    const size_t           n_head = FBY_SEAL_HEAD + frame[CLEAR_OFFSET];
    return fby_aead_open(aead, seal->cipher, &seal->key, &nonce,
        (struct fby_span){frame, n_head},
        (struct fby_span){frame + n_head, size - n_head}, frame + n_head);
}
