/* SPDX-License-Identifier: Apache-2.0 */
/* frames.h - encoding and decoding of messages, and frames as another
 * implementation might write them: with a valid hash and any content. */
#ifndef FBY_TESTS_PROTO_FRAMES_H
#define FBY_TESTS_PROTO_FRAMES_H

#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "common/bytes.h"
#include "common/hash.h"
#include "tests/guard.h"
#include "tests/proto/examples.h"
#include "tests/says.h"

static inline void encode(const struct fby_message *m, struct fby_buffer *out)
{
    struct fby_error_detail why = {{0}};
    if (fby_message_encode(m, out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static inline void decode(
    const struct fby_buffer *frame, struct fby_message *out)
{
    struct fby_error_detail why = {{0}};
    if (fby_message_decode(frame->data, frame->size, out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static inline struct fby_buffer example_frame(enum fby_message_type type)
{
    struct fby_message m;
    struct fby_buffer  frame = {0};
    example(type, &m);
    encode(&m, &frame);
    return frame;
}

/* The error of decoding `frame`; "" if it is accepted. The message is placed
 * before a guard page, in memory that is not zero. */
static inline const char *decode_error(const struct fby_buffer *frame)
{
    static struct fby_error_detail why;
    struct fby_guarded             room =
        fby_guarded_copy(NULL, sizeof(struct fby_message));
    struct fby_message *m = (void *)room.bytes;
    why.text[0]           = '\0';
    memset(m, 0xa5, sizeof(*m));
    fby_err err = fby_message_decode(frame->data, frame->size, m, &why);
    if (err == FBY_OK) {
        assert_string_equal(why.text, "");
        fby_message_fini(m);
    } else {
        assert_int_equal(err, FBY_PROTO);
    }
    fby_guarded_free(&room);
    return why.text;
}

static inline void assert_refused(
    const struct fby_buffer *frame, const char *word)
{
    assert_text_says(decode_error(frame), word);
}

/* A message as another implementation might write it, field by field; `seal`
 * comes last. */

static inline struct fby_buffer head(enum fby_message_type type)
{
    struct fby_buffer b = {0};
    fby_put_bytes(&b, "FBYM\1", 5);
    fby_put_u8(&b, (uint8_t)type);
    fby_put_u16(&b, 0);
    fby_put_u64(&b, 0);
    return b;
}

static inline struct fby_buffer *seal(struct fby_buffer *b)
{
    uint64_t hash = fby_xxh3_64_two(b->data, 8, b->data + 16, b->size - 16);
    fby_store_le(b->data + 8, hash, 8);
    return b;
}

static inline void put_varint(struct fby_buffer *b, uint64_t value)
{
    while (value >= 0x80) {
        fby_put_u8(b, (uint8_t)(value | 0x80));
        value >>= 7;
    }
    fby_put_u8(b, (uint8_t)value);
}

static inline void put_number(
    struct fby_buffer *b, uint32_t field, uint64_t value)
{
    put_varint(b, field << 3);
    put_varint(b, value);
}

static inline void put_id(struct fby_buffer *b, uint32_t field, uint64_t value)
{
    put_varint(b, field << 3 | 1);
    fby_put_u64(b, value);
}

static inline void put_block(
    struct fby_buffer *b, uint32_t field, const void *data, size_t size)
{
    put_varint(b, field << 3 | 2);
    put_varint(b, size);
    fby_put_bytes(b, data, size);
}

/* The error of encoding `m`; "" if it succeeds and the frame decodes. */
static inline const char *encode_error(const struct fby_message *m)
{
    static struct fby_error_detail why;
    struct fby_buffer              frame = {0};
    why.text[0]                          = '\0';
    fby_err err                          = fby_message_encode(m, &frame, &why);
    if (err == FBY_OK) {
        assert_string_equal(decode_error(&frame), "");
    } else {
        assert_int_equal(err, FBY_USAGE);
        assert_int_equal(frame.size, 0);
    }
    fby_buffer_fini(&frame);
    return why.text;
}

#endif
