/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the bytes of a ragged field as in a slot of the client.
 *
 * They are written byte by byte from the table in PROTOCOL.md, in memory of
 * exactly the size of the field, so that a sanitizer reports reads beyond. */
#ifndef FBY_TESTS_ROWS_H
#define FBY_TESTS_ROWS_H

#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "proto/layout.h"
#include "trainer_client/expand/ragged_offsets.h"

struct rows {
    struct fby_raw_layout  layout;
    uint32_t              *lengths;
    uint8_t              **entries; /* one allocation per row */
    uint8_t               *raw;
    struct fby_chunk_sent *sent;
};

static inline uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*seed >> 8) % below;
}

/* Allocate `n` rows of one field, without entries yet. */
static inline struct rows rows_begin(
    enum fby_type type, struct fby_shape shape, uint32_t n)
{
    struct rows rows      = {.layout = {.rows = n, .n_fields = 1}};
    rows.layout.fields[0] = (struct fby_raw_field){.type = type,
        .shape                                           = shape,
        .form                                            = FBY_FORM_RAGGED,
        .max_length                                      = shape.dims[0]};
    assert_ok(fby_layout_compute(&rows.layout, NULL));
    rows.lengths = calloc(n, sizeof(*rows.lengths));
    rows.entries = calloc(n, sizeof(*rows.entries));
    rows.raw     = calloc(1, rows.layout.fields[0].raw_bytes);
    rows.sent    = calloc(rows.layout.n_chunks, sizeof(*rows.sent));
    return rows;
}

static inline void rows_end(struct rows *rows)
{
    for (uint32_t i = 0; i < rows->layout.rows; i++) {
        free(rows->entries[i]);
    }
    free((void *)rows->entries);
    free(rows->lengths);
    free(rows->raw);
    free(rows->sent);
}

static inline const struct fby_raw_field *rows_field(const struct rows *rows)
{
    return &rows->layout.fields[0];
}

/* Give row `i` `length` entries of random bytes. */
static inline void rows_draw(
    struct rows *rows, uint32_t i, uint32_t length, uint32_t *seed)
{
    size_t bytes     = (size_t)length * rows_field(rows)->entry_bytes;
    rows->lengths[i] = length;
    rows->entries[i] = malloc(bytes + 1);
    for (size_t k = 0; k < bytes; k++) {
        rows->entries[i][k] = (uint8_t)draw(seed, 256);
    }
}

/* The address of the length of row r of chunk 0. */
static inline uint8_t *rows_length(const struct rows *rows, uint32_t r)
{
    return rows->raw + (size_t)r * rows_field(rows)->length_bytes;
}

static inline void rows_write_chunk(struct rows *rows, uint32_t number)
{
    const struct fby_raw_field *field = rows_field(rows);
    struct fby_raw_span span = fby_layout_chunk_span(&rows->layout, 0, number);
    uint8_t            *to   = rows->raw + span.raw_offset;
    for (uint32_t i = 0; i < span.rows; i++) {
        for (uint32_t b = 0; b < field->length_bytes; b++) {
            *to++ = (uint8_t)(rows->lengths[span.first_row + i] >> (8 * b));
        }
    }
    while ((to - rows->raw) % 16 != 0) {
        *to++ = 0;
    }
    for (uint32_t i = 0; i < span.rows; i++) {
        uint32_t row   = span.first_row + i;
        size_t   bytes = (size_t)rows->lengths[row] * field->entry_bytes;
        if (bytes > 0) {
            memcpy(to, rows->entries[row], bytes);
        }
        to += bytes;
    }
    rows->sent[number].raw_bytes =
        (uint32_t)(to - rows->raw - (ptrdiff_t)span.raw_offset);
}

/* Write all chunks as a worker sends them. */
static inline void rows_write(struct rows *rows)
{
    for (uint32_t i = 0; i < rows->layout.n_chunks; i++) {
        rows_write_chunk(rows, i);
    }
}

static inline fby_err rows_read(const struct rows *rows,
    struct fby_ragged_offsets *ragged_offsets, struct fby_error_detail *why)
{
    const struct fby_ragged_offsets_in in = {.name = "words",
        .layout                                    = &rows->layout,
        .raw                                       = rows->raw,
        .sent                                      = rows->sent};
    return fby_ragged_offsets_read(ragged_offsets, &in, why);
}

#endif
