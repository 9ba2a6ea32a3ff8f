/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - hash the rows of a batch field by field, as PROTOCOL.md, "Digests
 * of the stream", defines it. Numbers are hashed as little-endian bytes. */
#include "trainer_client/batch/digest.h"

#include <string.h>

#include "common/bytes.h"

static void add_number(
    struct fby_checksum_state *state, uint64_t value, uint32_t n_bytes)
{
    uint8_t bytes[8];
    fby_store_le(bytes, value, n_bytes);
    fby_checksum_add(state, bytes, n_bytes);
}

/* Add the dimensions and then the values of a row. The first dimension of a
 * ragged row is its length. For a sparse row, the dimensions are those of the
 * field, and its length and its indices come before its values. */
static void add_values(struct fby_checksum_state *state,
    const struct fby_digest_field *field, uint32_t row)
{
    const struct fby_ragged_offsets *rows  = field->rows;
    const struct fby_shape          *shape = &field->shape;
    bool           sparse = rows != NULL && rows->index_bytes > 0;
    bool           ragged = rows != NULL && !sparse;
    uint64_t       length = rows != NULL ? rows->lengths[row] : 0;
    uint64_t       bytes  = field->sample_bytes;
    const uint8_t *values =
        field->raw + (rows != NULL ? rows->values[row] : row * bytes);
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        add_number(state, ragged && i == 0 ? length : shape->dims[i], 4);
    }
    if (sparse) {
        add_number(state, length, 4);
        fby_checksum_add(
            state, field->raw + rows->indices[row], length * rows->index_bytes);
        bytes = length * fby_type_bytes(field->type);
    } else if (ragged) {
        uint32_t max_length = shape->dims[0];
        bytes               = length * (bytes / max_length);
    }
    fby_checksum_add(state, values, bytes);
}

static void add_field(struct fby_checksum_state *state,
    const struct fby_digest_field *field, uint32_t row)
{
    size_t length = strlen(field->name);
    add_number(state, length, 2);
    fby_checksum_add(state, field->name, length);
    add_number(state, (uint64_t)field->type, 1);
    add_number(state, field->shape.n_dims, 1);
    add_values(state, field, row);
}

struct fby_checksum fby_sample_digest(uint64_t sample,
    const struct fby_digest_field *fields, uint32_t n_fields, uint32_t row)
{
    struct fby_checksum_state state;
    fby_checksum_begin(&state);
    add_number(&state, sample, 8);
    for (uint32_t i = 0; i < n_fields; i++) {
        add_field(&state, &fields[i], row);
    }
    return fby_checksum_end(&state);
}

struct fby_checksum fby_step_digest(uint64_t epoch, uint64_t step,
    const struct fby_checksum *samples, uint32_t rows)
{
    struct fby_checksum_state state;
    fby_checksum_begin(&state);
    add_number(&state, epoch, 8);
    add_number(&state, step, 8);
    for (uint32_t i = 0; i < rows; i++) {
        fby_checksum_add(&state, samples[i].bytes, sizeof(samples[i].bytes));
    }
    return fby_checksum_end(&state);
}

/* ---- the digests of a batch ---------------------------------------------- */

/* Returns the raw bytes of a field. If the field is direct, its tensor holds
 * them, because its chunks were decoded straight there. */
static const uint8_t *raw_of(const struct fby_setup *setup,
    const struct fby_batch_input *input, uint32_t field)
{
    return fby_setup_is_direct(setup, field)
               ? input->batch->memory + setup->out_offset[field]
               : input->request_slot->memory +
                     input->layout->fields[field].slot_offset;
}

void fby_batch_compute_digests(
    const struct fby_setup *setup, const struct fby_batch_input *input)
{
    struct fby_digest_field fields[FBY_MAX_FIELDS];
    struct forebay_batch   *batch = input->batch;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        const struct fby_expansion *plan = &setup->expansions[i];

        fields[i] = (struct fby_digest_field){
            .name         = plan->name,
            .type         = plan->from,
            .shape        = plan->shape,
            .raw          = raw_of(setup, input, i),
            .sample_bytes = plan->raw_bytes,
        };
        if (fby_expansion_is_ragged(plan)) {
            fields[i].rows = &batch->row_offsets[i];
        }
    }
    for (uint32_t row = 0; row < batch->rows; row++) {
        batch->digests[row] = fby_sample_digest(
            batch->samples[row], fields, setup->n_fields, row);
    }
    batch->digest =
        fby_step_digest(batch->epoch, batch->step, batch->digests, batch->rows);
    batch->has_digests = true;
}
