/* SPDX-License-Identifier: Apache-2.0 */
/* make_batch.c - expand the fields of a batch on the host, or send the batch to
 * the GPU. A field is direct if its tensor holds its raw bytes unchanged. */
#include "trainer_client/batch/make_batch.h"

#include "trainer_client/batch/batch_pool.h"
#include "trainer_client/expand/documents.h"
#include "trainer_client/expand/host.h"
#include "trainer_client/expand/ops_draw.h"

/* Returns the raw bytes of a field in the slot's memory. */
static const uint8_t *raw_of(
    const struct fby_batch_input *input, uint32_t field)
{
    return input->request_slot->memory +
           input->layout->fields[field].slot_offset;
}

/* A chunk of a field: in a kept frame, still encoded, or raw in the slot's
 * memory. */
struct chunk_source {
    struct fby_raw_span  span;
    struct fby_codec_job codec_job;
    struct fby_bytes_in  bytes;
};

static struct chunk_source find_chunk(
    const struct fby_batch_job *job, uint32_t field, uint32_t chunk)
{
    const struct fby_batch_input *input = job->input;
    const struct fby_raw_field   *raw   = &input->layout->fields[field];
    struct fby_kept_chunk        *kept =
        &input->request_slot->kept[raw->first_chunk + chunk];
    struct chunk_source source = {
        .span = fby_layout_chunk_span(input->layout, field, chunk),
        .codec_job =
            {
                .coding  = {FBY_FILTER_NONE, FBY_CODEC_STORE}, /* only copy */
                .params  = fby_layout_codec_params(raw),
                .scratch = job->scratch,
            },
    };
    if (kept->is_kept) {
        const uint8_t *frame = zmq_msg_data(&kept->frame);
        source.codec_job.coding =
            (struct fby_coding){kept->chunk.filter, kept->chunk.codec};
        source.codec_job.is_valid = true;
        source.bytes.data         = frame + FBY_CHUNK_PREFIX;
        source.bytes.size         = kept->chunk.wire_bytes;
    } else {
        source.bytes =
            (struct fby_bytes_in){raw_of(input, field) + source.span.raw_offset,
                source.span.raw_bytes};
    }
    return source;
}

/* The chunk was checked when it was received, so it is valid. */
static fby_err say_changed(const struct fby_expansion *plan, uint32_t chunk,
    struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_PROTO, "field %s: chunk %u changed in memory",
        plan->name, chunk);
}

static fby_err write_direct_field(const struct fby_batch_job *job,
    uint32_t field, struct fby_error_detail *why)
{
    const struct fby_setup     *setup = job->setup;
    const struct fby_expansion *plan  = &setup->expansions[field];
    uint8_t *out = job->input->batch->memory + setup->out_offset[field];
    for (uint32_t i = 0; i < job->input->layout->fields[field].n_chunks; i++) {
        struct chunk_source source = find_chunk(job, field, i);
        /* Digests read the values again. */
        source.codec_job.bypass_cache = plan->bypass_cache && !setup->digests;
        if (setup->device->decode(&source.codec_job, source.bytes,
                out + source.span.raw_offset,
                source.span.raw_bytes) != FBY_OK) {
            return say_changed(plan, i, why);
        }
    }
    return fby_check_labels(plan, out, job->input->batch->rows, why);
}

/* Decode and expand one chunk after the other. */
static fby_err expand_by_chunk(const struct fby_batch_job *job, uint32_t field,
    struct fby_error_detail *why)
{
    const struct fby_setup     *setup = job->setup;
    const struct fby_expansion *plan  = &setup->expansions[field];
    uint8_t *out = job->input->batch->memory + setup->out_offset[field];
    for (uint32_t i = 0; i < job->input->layout->fields[field].n_chunks; i++) {
        const struct chunk_source source = find_chunk(job, field, i);
        const uint8_t            *raw    = source.bytes.data;
        if (source.codec_job.coding.codec != FBY_CODEC_STORE) {
            raw = job->chunk_buffer;
            if (fby_codec_decode(&source.codec_job, source.bytes,
                    job->chunk_buffer, source.span.raw_bytes) != FBY_OK) {
                return say_changed(plan, i, why);
            }
        }
        FBY_TRY(setup->device->expand(plan, raw, source.span.rows,
            out + source.span.first_row * plan->out_bytes, why));
    }
    return FBY_OK;
}

struct fby_ops_row *fby_batch_draw_params(
    const struct fby_batch_job *job, const struct fby_field_content *ops_field)
{
    const struct forebay_batch *batch     = job->input->batch;
    struct fby_ops_batch        ops_batch = {
               .seed      = job->setup->seed,
               .epoch     = batch->epoch,
               .step      = batch->step,
               .first_row = batch->first_row,
               .rows      = batch->rows,
               .samples   = batch->samples,
    };
    /* `own` becomes the number of rows before the padding. */
    while (ops_batch.own < batch->rows && batch->valid[ops_batch.own] != 0) {
        ops_batch.own++;
    }
    fby_ops_draw(ops_field, &ops_batch, job->params);
    return job->params;
}

/* Expand a ragged field. Called for zero rows too, because offsets always have
 * rows + 1 entries. */
static fby_err expand_ragged(const struct fby_batch_job *job, uint32_t field,
    struct fby_error_detail *why)
{
    const struct fby_setup       *setup            = job->setup;
    const struct fby_batch_input *input            = job->input;
    const struct fby_expansion   *plan             = &setup->expansions[field];
    struct forebay_batch         *batch            = input->batch;
    struct fby_ragged_offsets    *rows             = &batch->row_offsets[field];
    void                         *out[FBY_TENSORS] = {NULL};
    /* If there are no rows, nothing is read from `raw`. */
    const uint8_t *raw = input->request_slot->memory;
    fby_err        err = FBY_OK;
    for (uint32_t i = 0; i < plan->n_tensors; i++) {
        out[i] = batch->memory + setup->tensor_offset[field][i];
    }
    fby_ragged_offsets_clear(rows);
    if (batch->rows > 0) {
        raw                                   = raw_of(input, field);
        const struct fby_ragged_offsets_in in = {
            .name   = plan->name,
            .layout = input->layout,
            .field  = field,
            .raw    = raw,
            .sent =
                input->chunks_sent + input->layout->fields[field].first_chunk,
        };
        err = fby_ragged_offsets_read(rows, &in, why);
    }
    if (err == FBY_OK && plan->documents) {
        err = fby_documents_check(plan, rows, raw, why);
    }
    return err == FBY_OK ? setup->device->expand_rows(plan, rows, raw, out, why)
                         : err;
}

fby_err fby_batch_expand_field(const struct fby_batch_job *job, uint32_t field,
    uint8_t *out, struct fby_error_detail *why)
{
    const struct fby_device    *device = job->setup->device;
    const struct fby_expansion *plan   = &job->setup->expansions[field];
    const uint8_t              *raw    = raw_of(job->input, field);
    uint32_t                    rows   = job->input->batch->rows;
    if (plan->ops_field == NULL) {
        return device->expand(plan, raw, rows, out, why);
    }
    const struct fby_expand_job expand_job = {
        .plan   = plan,
        .raw    = raw,
        .rows   = rows,
        .params = fby_batch_draw_params(job, plan->ops_field),
        .out    = out,
    };
    return device->expand_ops(&expand_job, why);
}

static fby_err expand_on_host(
    const struct fby_batch_job *job, struct fby_error_detail *why)
{
    const struct fby_setup *setup = job->setup;
    struct forebay_batch   *batch = job->input->batch;
    fby_err                 err   = FBY_OK;
    for (uint32_t i = 0; i < setup->n_fields && err == FBY_OK; i++) {
        if (fby_expansion_is_ragged(&setup->expansions[i])) {
            err = expand_ragged(job, i, why);
        } else if (batch->rows > 0 && fby_setup_is_direct(setup, i)) {
            err = write_direct_field(job, i, why);
        } else if (batch->rows > 0 && fby_setup_expands_by_chunk(setup, i)) {
            err = expand_by_chunk(job, i, why);
        } else if (batch->rows > 0) {
            err = fby_batch_expand_field(
                job, i, batch->memory + setup->out_offset[i], why);
        }
    }
    return err;
}

fby_err fby_make_batch(
    const struct fby_batch_job *job, struct fby_error_detail *why)
{
    struct forebay_batch *batch = job->input->batch;
    fby_err err = job->upload != NULL ? fby_gpu_batch_send(job, why)
                                      : expand_on_host(job, why);
    if (err == FBY_OK) {
        fby_batch_describe_tensors(job->setup, batch);
    }
    if (err == FBY_OK &&
        batch->memory != NULL) { /* else the trainer gives it */
        fby_batch_place_tensors(batch, batch->memory);
    }
    return err;
}
