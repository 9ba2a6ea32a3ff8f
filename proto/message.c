/* SPDX-License-Identifier: Apache-2.0 */
/* Encode and decode messages (wire.h): the head and its hash here, the body by
 * schema.c, with the schemas of wire.c. All members of the union in struct
 * fby_message have one address, so `&message->hello` stands for any member. */
#include <inttypes.h>
#include <string.h>

#include "common/hash.h"
#include "proto/schema.h"
#include "proto/wire.h"

enum {
    HASH_OFFSET = 8, /* in the head. The hash covers bytes 0-7 and the body */
    UNPACKED_FACTOR = 16 /* heap bytes allowed per byte of a received message */
};

static const uint8_t message_magic[4] = {'F', 'B', 'Y', 'M'};
static const uint8_t chunk_magic[4]   = {'F', 'B', 'Y', 'C'};

const char *fby_message_name(enum fby_message_type type)
{
    const struct schema *schema = schema_of_message(type);
    return schema != NULL ? schema->name : "?";
}

struct fby_session_id fby_message_session(const struct fby_message *message)
{
    /* The messages between worker and server have consecutive numbers. In all
     * others the session is the first member. */
    bool has_session =
        message->type < FBY_MSG_REGISTER || message->type > FBY_MSG_DEREGISTER;
    return has_session ? message->hello.session : (struct fby_session_id){0};
}

enum fby_frame_kind fby_frame_kind(const void *frame, size_t size)
{
    const uint8_t *bytes = frame;
    if (size <= sizeof(message_magic)) { /* the version follows the magic */
        return FBY_FRAME_GARBAGE;
    }
    bool is_message = memcmp(bytes, message_magic, sizeof(message_magic)) == 0;
    bool is_chunk   = memcmp(bytes, chunk_magic, sizeof(chunk_magic)) == 0;
    if (!is_message && !is_chunk) {
        return FBY_FRAME_GARBAGE;
    }
    if (bytes[4] != FBY_PROTOCOL_VERSION) {
        return FBY_FRAME_OTHER_VERSION;
    }
    return is_message ? FBY_FRAME_MESSAGE : FBY_FRAME_CHUNK;
}

static uint64_t hash_message(const uint8_t *frame, size_t size)
{
    return fby_xxh3_64_two(
        frame, HASH_OFFSET, frame + FBY_MESSAGE_HEAD, size - FBY_MESSAGE_HEAD);
}

fby_err fby_message_encode(const struct fby_message *message,
    struct fby_buffer *out, struct fby_error_detail *why)
{
    const struct schema *schema = schema_of_message(message->type);
    if (schema == NULL) {
        return fby_error_set(
            why, FBY_USAGE, "%d is not a message type", (int)message->type);
    }
    if (schema_check(schema, &message->hello, SKIP_TEXTS, why) != FBY_OK) {
        return FBY_USAGE;
    }
    size_t begin = out->size;
    fby_put_bytes(out, message_magic, sizeof(message_magic));
    fby_put_u8(out, FBY_PROTOCOL_VERSION);
    fby_put_u8(out, (uint8_t)message->type);
    fby_put_u16(out, 0); /* reserved */
    fby_put_u64(out, 0); /* the hash, overwritten below */
    schema_pack(schema, &message->hello, out);
    size_t size = out->size - begin;
    if (size > schema->max_bytes) {
        out->size = begin; /* undo all that was appended */
        return fby_error_set(why, FBY_USAGE, "%s: %zu bytes, more than %zu",
            schema->name, size, schema->max_bytes);
    }
    uint8_t *frame = out->data + begin;
    fby_store_le(frame + HASH_OFFSET, hash_message(frame, size), 8);
    return FBY_OK;
}

/* Read and check the head, and find the schema of its message type. Leaves `r`
 * at the body. */
static fby_err read_head(struct fby_reader *r, const struct schema **schema,
    enum fby_message_type *type, struct fby_error_detail *why)
{
    const uint8_t *frame = r->at;
    size_t         size  = r->left;
    if (size < FBY_MESSAGE_HEAD ||
        fby_frame_kind(frame, size) != FBY_FRAME_MESSAGE) {
        return fby_error_set(why, FBY_PROTO,
            "%zu bytes do not begin with a message head of version %d", size,
            FBY_PROTOCOL_VERSION);
    }
    fby_read_bytes(r, sizeof(message_magic) + 1); /* checked: magic, version */
    *type   = (enum fby_message_type)fby_read_u8(r);
    *schema = schema_of_message(*type);
    if (*schema == NULL) {
        return fby_error_set(
            why, FBY_PROTO, "%d is not a message type", (int)*type);
    }
    if (fby_read_u16(r) != 0) {
        return fby_error_set(why, FBY_PROTO,
            "%s: bytes 6 and 7 of the head are not 0", (*schema)->name);
    }
    if (size > (*schema)->max_bytes) {
        return fby_error_set(why, FBY_PROTO, "%s: %zu bytes, more than %zu",
            (*schema)->name, size, (*schema)->max_bytes);
    }
    if (fby_read_u64(r) != hash_message(frame, size)) {
        return fby_error_set(why, FBY_PROTO,
            "%s: damaged in transit: the hash does not match", (*schema)->name);
    }
    return FBY_OK;
}

fby_err fby_message_decode(const void *frame, size_t size,
    struct fby_message *out, struct fby_error_detail *why)
{
    struct fby_reader    r      = fby_reader(frame, size);
    const struct schema *schema = NULL;
    fby_err              err    = read_head(&r, &schema, &out->type, why);
    if (err != FBY_OK) {
        return err;
    }
    /* Zero the union of all message structs. */
    memset(&out->hello, 0,
        offsetof(struct fby_message, owned) -
            offsetof(struct fby_message, hello));
    struct message_arena arena = {.next = out->owned.inline_memory,
        .left                           = sizeof(out->owned.inline_memory),
        .budget = UNPACKED_FACTOR * size + FBY_MESSAGE_SMALL};
    err               = schema_unpack(schema, r, &arena, &out->hello, why);
    out->owned.blocks = arena.blocks;
    if (err != FBY_OK) {
        fby_message_fini(out);
    }
    return err;
}

void fby_message_fini(struct fby_message *message)
{
    arena_free_blocks(&message->owned.blocks);
}

uint64_t fby_request_checksum(const struct fby_request *request)
{
    const struct fby_digest digests[] = {
        request->content, request->data, request->fingerprint};
    uint8_t  bytes[sizeof(digests) + 40]; /* digests, then 40 of numbers */
    uint8_t *numbers = bytes + sizeof(digests);
    memcpy(bytes, digests, sizeof(digests));
    fby_store_le(numbers, request->seed, 8);
    fby_store_le(numbers + 8, request->epoch, 8);
    fby_store_le(numbers + 16, request->step, 8);
    fby_store_le(numbers + 24, request->first_row, 4);
    fby_store_le(numbers + 28, request->rows, 4);
    fby_store_le(numbers + 32, request->fields, 8);
    return fby_xxh3_64(bytes, sizeof(bytes));
}
