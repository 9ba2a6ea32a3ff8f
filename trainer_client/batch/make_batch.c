#include "trainer_client/batch/make_batch.h"

#include "trainer_client/batch/gpu_batch.h"
#include "trainer_client/batch/tensors.h"
#include "trainer_client/expand/documents.h"
#include "trainer_client/expand/ops_draw.h"

/* One batch and the thread that makes it. */
struct making {
    const struct fby_batch_maker *maker;
    const struct fby_batch_input *input;
};

static const uint8_t *raw_of(
    const struct fby_batch_input *input, uint32_t field)
{
    return input->from->memory + input->layout->fields[field].slot_offset;
}

/* ---- fields whose tensor holds the raw bytes ----------------------------- */

/* Decode a chunk into the tensor, from its frame or from the slot. */
static fby_err write_chunk(
    const struct making *making, uint32_t field, uint32_t number)
{
    const struct fby_setup       *setup = making->maker->setup;
    const struct fby_batch_input *input = making->input;
    const struct fby_raw_field   *raw   = &input->layout->fields[field];
    const struct fby_raw_span     span =
        fby_layout_chunk(input->layout, field, number);
    struct fby_kept_chunk *kept = &input->from->kept[raw->first_chunk + number];
    struct fby_codec_job   job  = {
           .params  = fby_layout_params(raw),
           .scratch = making->maker->scratch,
    };
    struct fby_bytes_in bytes = {
        .data = input->from->memory + raw->slot_offset + span.raw_offset,
        .size = span.raw_bytes,
    };
    if (kept->is_kept) {
        const uint8_t *frame = zmq_msg_data(&kept->frame);
        job.coding = (struct fby_coding){kept->chunk.filter, kept->chunk.codec};
        bytes.data = frame + FBY_CHUNK_PREFIX;
        bytes.size = kept->chunk.wire_bytes;
    }
    return setup->device->decode(&job, bytes,
        input->batch->memory + setup->out_offset[field] + span.raw_offset,
        span.raw_bytes);
}

static fby_err write_chunks(
    const struct making *making, uint32_t field, struct fby_why *why)
{
    const struct fby_raw_field *raw = &making->input->layout->fields[field];
    for (uint32_t i = 0; i < raw->n_chunks; i++) {
        if (write_chunk(making, field, i) != FBY_OK) {
            return fby_because(why, FBY_PROTO,
                "field %s: chunk %u changed in memory",
                making->maker->setup->expansions[field].name, i);
        }
    }
    return FBY_OK;
}

/* ---- ops of the device --------------------------------------------------- */

/* Rows before the padding. */
static uint32_t own_rows(const struct forebay_batch *batch)
{
    uint32_t own = 0;
    while (own < batch->rows && batch->valid[own] != 0) {
        own++;
    }
    return own;
}

static struct fby_ops_row *draw_rows(
    const struct making *making, const struct fby_field_content *by)
{
    const struct forebay_batch *batch    = making->input->batch;
    const struct fby_ops_batch  position = {
         .seed      = making->maker->setup->seed,
         .epoch     = batch->epoch,
         .step      = batch->step,
         .first_row = batch->first_row,
         .rows      = batch->rows,
         .own       = own_rows(batch),
         .samples   = batch->samples,
    };
    fby_ops_draw(by, &position, making->maker->draws);
    return making->maker->draws;
}

/* draw_rows as struct fby_gpu_batch_host wants it. */
static const struct fby_ops_row *draw(
    void *context, const struct fby_field_content *by)
{
    return draw_rows(context, by);
}

static fby_err expand_with_ops(
    const struct making *making, uint32_t field, void *out, struct fby_why *why)
{
    const struct fby_setup     *setup = making->maker->setup;
    const struct fby_expansion *plan  = &setup->expansions[field];
    const struct fby_expand_job job   = {
          .plan  = plan,
          .raw   = raw_of(making->input, field),
          .rows  = making->input->batch->rows,
          .draws = draw_rows(making, plan->ops_field),
          .out   = out,
    };
    return setup->device->expand_ops(&job, why);
}

/* ---- the other fields ---------------------------------------------------- */

/* Also for zero rows: offsets always have rows + 1 entries. */
static fby_err expand_ragged(
    const struct making *making, uint32_t field, struct fby_why *why)
{
    const struct fby_setup       *setup            = making->maker->setup;
    const struct fby_batch_input *input            = making->input;
    const struct fby_expansion   *plan             = &setup->expansions[field];
    struct forebay_batch         *batch            = input->batch;
    struct fby_ragged_offsets    *rows             = &batch->rows_of[field];
    void                         *out[FBY_TENSORS] = {NULL};
    const uint8_t                *raw              = input->from->memory;
    fby_err                       err              = FBY_OK;
    for (uint32_t i = 0; i < plan->n_tensors; i++) {
        out[i] = batch->memory + setup->tensor_offset[field][i];
    }
    fby_ragged_offsets_clear(rows);
    if (batch->rows > 0) {
        const struct fby_ragged_offsets_in in = {
            .name   = plan->name,
            .layout = input->layout,
            .field  = field,
            .raw    = raw_of(input, field),
            .sent   = input->sent + input->layout->fields[field].first_chunk,
        };
        raw = in.raw;
        err = fby_ragged_offsets_read(rows, &in, why);
    }
    if (err == FBY_OK && plan->documents) {
        err = fby_documents_check(plan, rows, raw, why);
    }
    return err == FBY_OK ? setup->device->expand_rows(plan, rows, raw, out, why)
                         : err;
}

/* Expand a field of equally long rows whose raw bytes are in the slot. */
static fby_err expand_raw(
    void *context, uint32_t field, uint8_t *out, struct fby_why *why)
{
    const struct making        *making = context;
    const struct fby_setup     *setup  = making->maker->setup;
    const struct fby_expansion *plan   = &setup->expansions[field];
    if (plan->ops_field != NULL) {
        return expand_with_ops(making, field, out, why);
    }
    return setup->device->expand(plan, raw_of(making->input, field),
        making->input->batch->rows, out, why);
}

static fby_err expand_on_host(struct making *making, struct fby_why *why)
{
    const struct fby_setup *setup = making->maker->setup;
    struct forebay_batch   *batch = making->input->batch;
    fby_err                 err   = FBY_OK;
    for (uint32_t i = 0; i < setup->n_fields && err == FBY_OK; i++) {
        if (fby_expansion_is_ragged(&setup->expansions[i])) {
            err = expand_ragged(making, i, why);
        } else if (batch->rows > 0 && fby_setup_is_direct(setup, i)) {
            err = write_chunks(making, i, why);
        } else if (batch->rows > 0) {
            err = expand_raw(
                making, i, batch->memory + setup->out_offset[i], why);
        }
    }
    return err;
}

fby_err fby_make_batch(const struct fby_batch_maker *maker,
    const struct fby_batch_input *input, struct fby_why *why)
{
    fby_err       err    = FBY_OK;
    struct making making = {maker, input};
    if (maker->upload != NULL) {
        const struct fby_gpu_batch_host host = {.setup = maker->setup,
            .expand                                    = expand_raw,
            .draw                                      = draw,
            .context                                   = &making};
        err = fby_gpu_batch_send(maker->upload, &host, input, why);
    } else {
        err = expand_on_host(&making, why);
    }
    if (err == FBY_OK) {
        fby_batch_tensors(maker->setup, input->batch);
    }
    return err;
}
