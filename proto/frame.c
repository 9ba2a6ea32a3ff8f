/* SPDX-License-Identifier: Apache-2.0 */
/* Write, read and check the 64-byte prefix of a chunk's frame, in the order of
 * the byte table in PROTOCOL.md. Only fby_chunk_is_intact reads the payload, to
 * check the hash of the frame. */
#include "proto/frame.h"

#include <inttypes.h>
#include <string.h>

#include "codec/codec.h"
#include "common/bytes.h"
#include "proto/wire.h"

enum { HASH_OFFSET = 56 }; /* offset in the prefix: hash of all other bytes */

static const uint8_t magic[4] = {'F', 'B', 'Y', 'C'};

void fby_chunk_write_prefix(const struct fby_chunk *chunk, const void *payload,
    uint8_t prefix[FBY_CHUNK_PREFIX])
{
    memcpy(prefix, magic, sizeof(magic));
    prefix[4] = FBY_PROTOCOL_VERSION;
    prefix[5] = chunk->filter;
    prefix[6] = chunk->codec;
    prefix[7] = 0; /* reserved */
    fby_store_le(prefix + 8, chunk->session.value, 8);
    fby_store_le(prefix + 16, chunk->request.value, 8);
    fby_store_le(prefix + 24, chunk->field, 2);
    fby_store_le(prefix + 26, 0, 2); /* reserved */
    fby_store_le(prefix + 28, chunk->number, 4);
    fby_store_le(prefix + 32, chunk->raw_offset, 8);
    fby_store_le(prefix + 40, chunk->raw_bytes, 4);
    fby_store_le(prefix + 44, chunk->wire_bytes, 4);
    fby_store_le(prefix + 48, chunk->raw_hash, 8);
    uint64_t hash =
        fby_xxh3_64_two(prefix, HASH_OFFSET, payload, chunk->wire_bytes);
    fby_store_le(prefix + HASH_OFFSET, hash, 8);
}

/* Read all members of the prefix. Returns false if the frame is too short, or
 * the magic, the version or a reserved byte is wrong. */
static bool read_members(struct fby_reader *r, struct fby_chunk *c)
{
    const uint8_t *found_magic = fby_read_bytes(r, sizeof(magic));
    if (found_magic == NULL || memcmp(found_magic, magic, sizeof(magic)) != 0 ||
        fby_read_u8(r) != FBY_PROTOCOL_VERSION) {
        return false;
    }
    c->filter             = fby_read_u8(r);
    c->codec              = fby_read_u8(r);
    uint8_t reserved_u8   = fby_read_u8(r);
    c->session.value      = fby_read_u64(r);
    c->request.value      = fby_read_u64(r);
    c->field              = fby_read_u16(r);
    uint16_t reserved_u16 = fby_read_u16(r);
    c->number             = fby_read_u32(r);
    c->raw_offset         = fby_read_u64(r);
    c->raw_bytes          = fby_read_u32(r);
    c->wire_bytes         = fby_read_u32(r);
    c->raw_hash           = fby_read_u64(r);
    (void)fby_read_u64(r); /* the hash: fby_chunk_is_intact checks it */
    return !r->bad && reserved_u8 == 0 && reserved_u16 == 0;
}

static fby_err check_sizes(const struct fby_chunk *c, size_t payload_bytes,
    struct fby_error_detail *why)
{
    if (c->raw_bytes == 0 || c->raw_bytes > FBY_CHUNK_BYTES_MAX ||
        c->raw_offset > FBY_BATCH_BYTES_MAX) {
        return fby_error_set(why, FBY_PROTO,
            "chunk: %" PRIu32 " raw bytes at %" PRIu64
            ": expected 1 to %" PRIu32 " bytes, at %" PRIu64 " at most",
            c->raw_bytes, c->raw_offset, FBY_CHUNK_BYTES_MAX,
            FBY_BATCH_BYTES_MAX);
    }
    if (c->wire_bytes != payload_bytes) {
        return fby_error_set(why, FBY_PROTO,
            "chunk: the prefix says %" PRIu32 " bytes of payload, but it has "
            "%zu",
            c->wire_bytes, payload_bytes);
    }
    size_t max_bytes = fby_codec_bound(c->codec, c->raw_bytes);
    /* The codec `store` does not change the size. */
    size_t min_bytes = c->codec == FBY_CODEC_STORE ? max_bytes : 1;
    if (c->wire_bytes < min_bytes || c->wire_bytes > max_bytes) {
        return fby_error_set(why, FBY_PROTO,
            "chunk: %" PRIu32 " bytes of payload for %" PRIu32
            " raw bytes: expected %zu to %zu",
            c->wire_bytes, c->raw_bytes, min_bytes, max_bytes);
    }
    return FBY_OK;
}

fby_err fby_chunk_read_prefix(const void *frame, size_t size,
    struct fby_chunk *out, struct fby_error_detail *why)
{
    struct fby_reader r     = fby_reader(frame, size);
    struct fby_chunk  chunk = {0};
    if (!read_members(&r, &chunk)) {
        return fby_error_set(why, FBY_PROTO,
            "chunk: %zu bytes do not begin with a prefix of version 1", size);
    }
    if (chunk.session.value == 0 || chunk.request.value == 0) {
        return fby_error_set(why, FBY_PROTO, "chunk: session or request is 0");
    }
    struct fby_coding coding = {.filter = chunk.filter, .codec = chunk.codec};
    if (!fby_coding_is_known(coding)) {
        return fby_error_set(why, FBY_PROTO,
            "chunk: filter %d and codec %d are unknown, or cannot be combined",
            coding.filter, coding.codec);
    }
    fby_err err = check_sizes(&chunk, r.left, why);
    if (err == FBY_OK) {
        *out = chunk;
    }
    return err;
}

bool fby_chunk_is_intact(const void *frame, size_t size)
{
    if (size < FBY_CHUNK_PREFIX) {
        return false;
    }
    const uint8_t *prefix  = frame;
    const uint8_t *payload = prefix + FBY_CHUNK_PREFIX;
    uint64_t       hash =
        fby_xxh3_64_two(prefix, HASH_OFFSET, payload, size - FBY_CHUNK_PREFIX);
    return fby_load_le(prefix + HASH_OFFSET, 8) == hash;
}

fby_err fby_chunk_check_layout(const struct fby_chunk *chunk,
    const struct fby_raw_layout *layout, struct fby_error_detail *why)
{
    if (chunk->field >= layout->n_fields ||
        chunk->number >= layout->fields[chunk->field].n_chunks) {
        return fby_error_set(why, FBY_PROTO,
            "chunk %" PRIu32 " of field %d: not in this batch", chunk->number,
            chunk->field);
    }
    const struct fby_raw_field *field = &layout->fields[chunk->field];
    struct fby_coding coding = {.filter = chunk->filter, .codec = chunk->codec};
    if (!fby_coding_suits(coding, fby_layout_codec_params(field))) {
        return fby_error_set(why, FBY_PROTO,
            "chunk %" PRIu32 " of field %d: filter %d and codec %d do not suit "
            "its type and shape",
            chunk->number, chunk->field, chunk->filter, chunk->codec);
    }
    struct fby_raw_span span =
        fby_layout_chunk_span(layout, chunk->field, chunk->number);
    /* A chunk of ragged or sparse rows has at least the lengths of its rows. */
    uint32_t min_bytes = field->form == FBY_FORM_DENSE
                             ? span.raw_bytes
                             : fby_ragged_lengths_end(field, span.rows);
    if (chunk->raw_offset != span.raw_offset || chunk->raw_bytes < min_bytes ||
        chunk->raw_bytes > span.raw_bytes) {
        return fby_error_set(why, FBY_PROTO,
            "chunk %" PRIu32 " of field %d: %" PRIu32 " bytes at %" PRIu64
            ": expected %s%" PRIu32 " at %" PRIu64,
            chunk->number, chunk->field, chunk->raw_bytes, chunk->raw_offset,
            min_bytes < span.raw_bytes ? "at most " : "", span.raw_bytes,
            span.raw_offset);
    }
    return FBY_OK;
}
