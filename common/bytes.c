/* SPDX-License-Identifier: Apache-2.0 */
/* The growing buffer (bytes.h). Its capacity doubles when it is full. */
#include "common/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"

void fby_buffer_fini(struct fby_buffer *b)
{
    free(b->data);
    *b = (struct fby_buffer){0};
}

uint8_t *fby_put_room(struct fby_buffer *b, size_t size)
{
    if (b->capacity - b->size < size) {
        size_t capacity = b->capacity < 64 ? 64 /* bytes */ : b->capacity;
        while (capacity - b->size < size) {
            capacity *= 2;
        }
        b->data     = fby_realloc(b->data, capacity);
        b->capacity = capacity;
    }
    uint8_t *added = b->data + b->size;
    b->size += size;
    return added;
}

void fby_put_bytes(struct fby_buffer *b, const void *data, size_t size)
{
    if (size > 0) {
        memcpy(fby_put_room(b, size), data, size);
    }
}

void fby_put_u8(struct fby_buffer *b, uint8_t value)
{
    *fby_put_room(b, 1) = value;
}

void fby_put_u16(struct fby_buffer *b, uint16_t value)
{
    fby_store_le(fby_put_room(b, 2), value, 2);
}

void fby_put_u32(struct fby_buffer *b, uint32_t value)
{
    fby_store_le(fby_put_room(b, 4), value, 4);
}

void fby_put_u64(struct fby_buffer *b, uint64_t value)
{
    fby_store_le(fby_put_room(b, 8), value, 8);
}

void fby_put_format(struct fby_buffer *b, const char *format, ...)
{
    char    text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length > 0) {
        size_t size = (size_t)length;
        fby_put_bytes(b, text, size < sizeof(text) ? size : sizeof(text) - 1);
    }
}
