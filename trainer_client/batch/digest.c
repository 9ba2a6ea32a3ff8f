#include "trainer_client/batch/digest.h"

#include <string.h>

static void add_le(struct fby_sum_state *state, uint64_t value, uint32_t width)
{
    uint8_t bytes[8];
    for (uint32_t i = 0; i < width; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    fby_sum_add(state, bytes, width);
}

/* The row's own length is hashed as its first dimension. */
static void add_ragged(struct fby_sum_state *state,
    const struct fby_digest_field *field, uint32_t row)
{
    uint64_t length = field->rows->lengths[row];
    uint64_t entry  = field->sample_bytes / field->shape.dims[0];
    add_le(state, length, 4);
    for (uint32_t i = 1; i < field->shape.n_dims; i++) {
        add_le(state, field->shape.dims[i], 4);
    }
    fby_sum_add(state, field->raw + field->rows->values[row], length * entry);
}

static void add_dims(struct fby_sum_state *state, const struct fby_shape *shape)
{
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        add_le(state, shape->dims[i], 4);
    }
}

/* In the form that chunks have: length, indices, values. */
static void add_sparse(struct fby_sum_state *state,
    const struct fby_digest_field *field, uint32_t row)
{
    uint64_t length = field->rows->lengths[row];
    add_dims(state, &field->shape);
    add_le(state, length, 4);
    fby_sum_add(state, field->raw + field->rows->indices[row],
        length * field->rows->index_bytes);
    fby_sum_add(state, field->raw + field->rows->values[row],
        length * fby_type_bytes(field->type));
}

static void add_field(struct fby_sum_state *state,
    const struct fby_digest_field *field, uint32_t row)
{
    size_t length = strlen(field->name);
    add_le(state, length, 2);
    fby_sum_add(state, field->name, length);
    add_le(state, (uint64_t)field->type, 1);
    add_le(state, field->shape.n_dims, 1);
    if (field->rows != NULL) {
        if (field->rows->index_bytes > 0) {
            add_sparse(state, field, row);
        } else {
            add_ragged(state, field, row);
        }
        return;
    }
    add_dims(state, &field->shape);
    fby_sum_add(
        state, field->raw + row * field->sample_bytes, field->sample_bytes);
}

struct fby_sum fby_sample_digest(uint64_t sample,
    const struct fby_digest_field *fields, uint32_t n_fields, uint32_t row)
{
    struct fby_sum_state state;
    fby_sum_begin(&state);
    add_le(&state, sample, 8);
    for (uint32_t i = 0; i < n_fields; i++) {
        add_field(&state, &fields[i], row);
    }
    return fby_sum_end(&state);
}

struct fby_sum fby_step_digest(
    uint64_t epoch, uint64_t step, const struct fby_sum *samples, uint32_t rows)
{
    struct fby_sum_state state;
    fby_sum_begin(&state);
    add_le(&state, epoch, 8);
    add_le(&state, step, 8);
    for (uint32_t i = 0; i < rows; i++) {
        fby_sum_add(&state, samples[i].bytes, sizeof(samples[i].bytes));
    }
    return fby_sum_end(&state);
}

/* ---- of a batch ---------------------------------------------------------- */

/* The raw bytes of a field, after it was expanded. */
static const uint8_t *raw_of(const struct fby_setup *setup,
    const struct fby_batch_input *input, uint32_t field)
{
    return fby_setup_is_direct(setup, field)
               ? input->batch->memory + setup->out_offset[field]
               : input->from->memory + input->layout->fields[field].slot_offset;
}

void fby_batch_digest(
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
            .rows = fby_expansion_is_ragged(plan) ? &batch->rows_of[i] : NULL,
        };
    }
    for (uint32_t row = 0; row < batch->rows; row++) {
        batch->digests[row] = fby_sample_digest(
            batch->samples[row], fields, setup->n_fields, row);
    }
    batch->digest =
        fby_step_digest(batch->epoch, batch->step, batch->digests, batch->rows);
    batch->has_digests = true;
}
