/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rows.c - any bytes as a chunk of ragged rows: refused, or rows that
 * become tensors without access beyond the chunk. The first byte chooses the
 * types, the maximum length of a row and the delivered form. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/demand.h"
#include "trainer_client/expand/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 5 };

static struct fby_raw_layout layout_of(const struct fby_field_content *field)
{
    struct fby_raw_layout layout = {.rows = ROWS, .n_fields = 1};
    layout.fields[0] = (struct fby_raw_field){.type = field->wire_type,
        .shape                                      = field->shape,
        .form                                       = FBY_FORM_RAGGED,
        .max_length                                 = field->max_length};
    demand(fby_layout_compute(&layout, NULL) == FBY_OK);
    return layout;
}

static void *room_for(const struct fby_expansion *plan, uint32_t i,
    const struct fby_ragged_offsets *rows)
{
    int64_t  shape[FBY_EXPAND_DIMS];
    int64_t  strides[FBY_EXPAND_DIMS];
    size_t   bytes = fby_type_bytes(plan->tensors[i].type);
    uint32_t n =
        fby_expansion_compute_ragged_shape(plan, i, rows, shape, strides);
    for (uint32_t d = 0; d < n; d++) {
        bytes *= (size_t)shape[d];
    }
    demand(bytes <= plan->tensors[i].row_bytes * ROWS +
                        plan->tensors[i].bytes_after_rows);
    return malloc(bytes);
}

static void expand(const struct fby_field_content *field,
    const struct fby_field_delivery               *delivery,
    const struct fby_ragged_offsets *rows, const uint8_t *raw)
{
    struct fby_expansion *plan             = calloc(1, sizeof(*plan));
    void                 *out[FBY_TENSORS] = {NULL};
    demand(fby_expansion_init(plan, field, delivery, NULL) == FBY_OK);
    for (uint32_t i = 0; i < plan->n_tensors; i++) {
        out[i] = room_for(plan, i, rows);
    }
    demand(fby_device_host.expand_rows(plan, rows, raw, out, NULL) == FBY_OK);
    for (uint32_t i = 0; i < plan->n_tensors; i++) {
        free(out[i]);
    }
    free(plan);
}

static void check_rows(const struct fby_ragged_offsets *rows,
    const struct fby_raw_field *field, uint32_t raw_bytes)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        demand(rows->lengths[i] <= field->max_length);
        demand(
            rows->values[i] + (uint64_t)rows->lengths[i] * field->entry_bytes <=
            raw_bytes);
        total += rows->lengths[i];
    }
    demand(total == rows->total);
}

static void try_rows(const struct fby_field_content *field,
    const struct fby_field_delivery *delivery, const uint8_t *data, size_t size)
{
    struct fby_raw_layout     layout = layout_of(field);
    struct fby_raw_span       span   = fby_layout_chunk_span(&layout, 0, 0);
    struct fby_chunk_sent     sent   = {.raw_bytes = (uint32_t)size};
    struct fby_ragged_offsets rows;
    if (layout.fields[0].n_chunks != 1 || size > span.raw_bytes ||
        size < fby_ragged_lengths_end(&layout.fields[0], ROWS)) {
        return; /* fby_chunk_check_layout() refuses it */
    }
    uint8_t *raw = malloc(size);
    memcpy(raw, data, size);
    const struct fby_ragged_offsets_in in = {
        .name = "rows", .layout = &layout, .raw = raw, .sent = &sent};
    fby_ragged_offsets_init(&rows, ROWS);
    if (fby_ragged_offsets_read(&rows, &in, NULL) == FBY_OK) {
        check_rows(&rows, &layout.fields[0], sent.raw_bytes);
        expand(field, delivery, &rows, raw);
    }
    fby_ragged_offsets_fini(&rows);
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t most[] = {4, 255, 300, 66000};
    uint8_t               pick   = size > 0 ? data[0] : 0;
    bool                  ragged = (pick & 1) != 0;
    uint32_t              length = most[pick >> 1 & 3];

    const struct fby_field_content  field    = {.name = "rows",
            .decode                                   = FBY_DECODE_ARRAY,
            .wire_type  = (enum fby_type)(1 + (pick >> 3 & 7)),
            .shape      = {2, {length, 3}},
            .max_length = length};
    const struct fby_field_delivery delivery = {
        .dtype   = (pick & 64) != 0 ? FBY_F32 : field.wire_type,
        .as      = ragged ? FBY_AS_RAGGED : FBY_AS_PADDED,
        .longest = !ragged,
        .offsets = (pick & 128) != 0 ? FBY_I64 : FBY_I32};
    if (size > 0) {
        try_rows(&field, &delivery, data + 1, size - 1);
    }
    return 0;
}
