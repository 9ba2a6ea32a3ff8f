/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - little-endian numbers: a bounded reader and a growing buffer.
 *
 * A reader that runs out of bytes becomes bad and stays bad. So a caller can
 * read all values and then check `bad` once. Reads from a bad reader return 0
 * or NULL. */
#ifndef FBY_COMMON_BYTES_H
#define FBY_COMMON_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fby_reader {
    const uint8_t *at;   /* next byte to read */
    size_t         left; /* bytes still to read */
    bool           bad;  /* a read went beyond the end */
};

static inline struct fby_reader fby_reader(const void *data, size_t size)
{
    return (struct fby_reader){.at = data, .left = size};
}

/* Consume `size` bytes. Returns a pointer to them; NULL if fewer are left. */
static inline const uint8_t *fby_read_bytes(struct fby_reader *r, size_t size)
{
    if (r->bad || size > r->left) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *bytes = r->at;
    r->at += size;
    r->left -= size;
    return bytes;
}

/* Load the little-endian number in the `width` <= 8 bytes at `bytes`. */
static inline uint64_t fby_load_le(const uint8_t *bytes, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

/* Consume `width` <= 8 bytes and return them as a little-endian number. */
static inline uint64_t fby_read_le(struct fby_reader *r, size_t width)
{
    const uint8_t *bytes = fby_read_bytes(r, width);
    return bytes != NULL ? fby_load_le(bytes, width) : 0;
}

static inline uint8_t fby_read_u8(struct fby_reader *r)
{
    return (uint8_t)fby_read_le(r, 1);
}
static inline uint16_t fby_read_u16(struct fby_reader *r)
{
    return (uint16_t)fby_read_le(r, 2);
}
static inline uint32_t fby_read_u32(struct fby_reader *r)
{
    return (uint32_t)fby_read_le(r, 4);
}
static inline uint64_t fby_read_u64(struct fby_reader *r)
{
    return fby_read_le(r, 8);
}

/* A growing buffer. Not for the data of batches, because a failed allocation
 * aborts the process. Initialise with {0}; release with fby_buffer_fini. */
struct fby_buffer {
    uint8_t *data;
    size_t   size;     /* bytes written */
    size_t   capacity; /* bytes allocated */
};

/* Free the memory and reset `b` to {0}. */
void fby_buffer_fini(struct fby_buffer *b);

/* Append `size` bytes that have no value yet; returns a pointer to them, valid
 * until more is appended. */
uint8_t *fby_put_room(struct fby_buffer *b, size_t size);
/* Append `size` bytes, or one number in little-endian order. */
void fby_put_bytes(struct fby_buffer *b, const void *data, size_t size);
void fby_put_u8(struct fby_buffer *b, uint8_t value);
void fby_put_u16(struct fby_buffer *b, uint16_t value);
void fby_put_u32(struct fby_buffer *b, uint32_t value);
void fby_put_u64(struct fby_buffer *b, uint64_t value);
/* Append formatted text, without its NUL, at most 511 bytes of it. */
void fby_put_format(struct fby_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Write the low `width` <= 8 bytes of `value` to `out`, little-endian. */
static inline void fby_store_le(uint8_t *out, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

#endif
