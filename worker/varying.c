#include "worker/varying.h"

#include <string.h>

#include "common/bytes.h"

/* The lengths, and zeros up to the values. */
static void write_lengths(const struct fby_raw_field *field,
    const uint32_t *lengths, uint32_t rows, uint8_t *chunk)
{
    uint32_t width = field->length_bytes;
    for (uint32_t i = 0; i < rows; i++) {
        fby_store_le(chunk + (size_t)i * width, lengths[i], width);
    }
    memset(chunk + (size_t)rows * width, 0,
        fby_varying_values(field, rows) - (size_t)rows * width);
}

uint32_t fby_varying_pack(const struct fby_raw_field *field,
    const uint32_t *lengths, uint32_t rows, uint8_t *chunk)
{
    uint8_t *values = chunk + fby_varying_values(field, rows);
    uint8_t *to     = values;
    write_lengths(field, lengths, rows, chunk);
    for (uint32_t i = 0; i < rows; i++) {
        size_t bytes = (size_t)lengths[i] * field->entry_bytes;
        memmove(to, values + i * field->row_bytes, bytes);
        to += bytes;
    }
    return (uint32_t)(to - chunk);
}
