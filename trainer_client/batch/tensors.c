/* SPDX-License-Identifier: Apache-2.0 */
/* tensors.c - describe the tensors of a batch as DLPack tensors. */
#include "trainer_client/batch/make_batch.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"

/* A DLPack type: kind, bits of a value, values in an element (here 1). */
static DLDataType dl_type(enum fby_type type)
{
    static const DLDataType types[] = {
        [FBY_U8]   = {kDLUInt, 8, 1},
        [FBY_U16]  = {kDLUInt, 16, 1},
        [FBY_I32]  = {kDLInt, 32, 1},
        [FBY_I64]  = {kDLInt, 64, 1},
        [FBY_F16]  = {kDLFloat, 16, 1},
        [FBY_BF16] = {kDLBfloat, 16, 1},
        [FBY_F32]  = {kDLFloat, 32, 1},
        [FBY_U32]  = {kDLUInt, 32, 1},
        [FBY_BOOL] = {kDLBool, 8, 1},
    };
    return types[type];
}

/* Add a tensor. The caller sets its offset, type and shape. */
static struct fby_tensor *add_tensor(const struct fby_setup *setup,
    struct forebay_batch *batch, const char *name, const char *suffix)
{
    struct fby_tensor *tensor = &batch->tensors[batch->n_tensors++];
    snprintf(tensor->name, sizeof(tensor->name), "%s%s", name, suffix);
    tensor->is_first        = suffix[0] == '\0';
    tensor->has_row_lengths = false;
    tensor->view.shape      = tensor->shape;
    tensor->view.strides    = tensor->strides;
    tensor->view.device =
        (DLDevice){.device_type = setup->cuda != NULL ? kDLCUDA : kDLCPU,
            .device_id          = setup->cuda != NULL ? setup->gpu : 0};
    return tensor;
}

static void add_tensors_of_field(
    const struct fby_setup *setup, struct forebay_batch *batch, uint32_t field)
{
    const struct fby_expansion *plan = &setup->expansions[field];
    if (!fby_expansion_is_ragged(plan)) {
        struct fby_tensor *tensor = add_tensor(setup, batch, plan->name, "");
        tensor->field             = field;
        tensor->offset            = setup->out_offset[field];
        tensor->view.dtype        = dl_type(plan->to);
        tensor->view.ndim         = (int32_t)fby_expansion_compute_shape(
                    plan, batch->rows, tensor->shape, tensor->strides);
        return;
    }
    for (uint32_t i = 0; i < plan->n_tensors; i++) {
        struct fby_tensor *tensor =
            add_tensor(setup, batch, plan->name, plan->tensors[i].suffix);
        tensor->field           = field;
        tensor->has_row_lengths = i == 0 && !plan->documents;
        tensor->offset          = setup->tensor_offset[field][i];
        tensor->view.dtype      = dl_type(plan->tensors[i].type);
        tensor->view.ndim = (int32_t)fby_expansion_compute_ragged_shape(plan, i,
            &batch->row_offsets[field], tensor->shape, tensor->strides);
    }
}

void fby_batch_describe_tensors(
    const struct fby_setup *setup, struct forebay_batch *batch)
{
    batch->n_tensors = 0;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        add_tensors_of_field(setup, batch, i);
    }
    if (setup->split->content.last == FBY_LAST_PAD) { /* has padding rows */
        struct fby_tensor *tensor = add_tensor(setup, batch, "valid", "");
        tensor->field             = FBY_NO_FIELD;
        tensor->offset            = setup->out_offset[setup->n_fields];
        tensor->view.dtype        = dl_type(FBY_BOOL);
        tensor->view.ndim         = 1;
        tensor->shape[0]          = batch->rows;
        tensor->strides[0]        = 1;
    }
}

/* Describe the tensors of a batch of `rows` rows, of which those of ragged
 * fields have `entries` entries in all, and as many documents. */
static struct forebay_batch *describe_example(
    const struct fby_setup *setup, uint32_t rows, uint32_t entries)
{
    struct forebay_batch *batch = fby_zalloc(sizeof(*batch));
    batch->rows                 = rows;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        batch->row_offsets[i] = (struct fby_ragged_offsets){.n = rows,
            .longest                                           = entries,
            .total                                             = entries,
            .documents                                         = entries};
    }
    fby_batch_describe_tensors(setup, batch);
    return batch;
}

uint32_t fby_describe_fields(
    const struct fby_setup *setup, struct fby_tensor out[FBY_MAX_TENSORS])
{
    /* A dimension is constant, or follows the rows, entries or documents one by
     * one. So it varies if it differs between two batches. */
    bool rows_vary          = setup->split->content.last == FBY_LAST_SHORT;
    struct forebay_batch *a = describe_example(setup, setup->max_rows, 1);
    struct forebay_batch *b =
        describe_example(setup, setup->max_rows - (rows_vary ? 1 : 0), 2);
    uint32_t n_tensors = a->n_tensors;
    for (uint32_t i = 0; i < n_tensors; i++) {
        out[i] = a->tensors[i];
        for (int32_t d = 0; d < out[i].view.ndim; d++) {
            bool varies     = out[i].shape[d] != b->tensors[i].shape[d];
            out[i].shape[d] = varies ? -1 : out[i].shape[d];
        }
    }
    free(a);
    free(b);
    return n_tensors;
}
