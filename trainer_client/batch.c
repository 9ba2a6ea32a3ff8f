/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - the functions of the public header that take a batch. A parameter
 * `void *stream` is a CUDA stream. After a fork the child may not use its
 * parent's batches (FOREBAY_FORKED). */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "trainer_client/batch/batch_pool.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC enum forebay_status forebay_release(
    struct forebay_batch **batch_p, void *stream)
{
    struct forebay_batch *batch = *batch_p;
    *batch_p                    = NULL;
    if (batch == NULL) {
        return FOREBAY_OK;
    }
    if (!fby_batch_pool_is_ours(batch->batch_pool)) {
        return FOREBAY_FORKED;
    }
    atomic_store(&batch->stream, stream); /* the last to use the memory */
    fby_batch_unref(batch);
    return FOREBAY_OK;
}

PUBLIC enum forebay_status forebay_batch_await(
    struct forebay_batch *batch, void *stream)
{
    if (!fby_batch_pool_is_ours(batch->batch_pool)) {
        return FOREBAY_FORKED;
    }
    return fby_batch_await(batch, stream, NULL) == FBY_OK ? FOREBAY_OK
                                                          : FOREBAY_SYSTEM;
}

/* Define forebay_batch_<name>(batch), which returns the expression `value`. */
#define ACCESSOR(type, name, value)                                     \
    PUBLIC type forebay_batch_##name(const struct forebay_batch *batch) \
    {                                                                   \
        return value;                                                   \
    }

ACCESSOR(uint64_t, epoch, batch->epoch)
ACCESSOR(uint64_t, step, batch->step)
ACCESSOR(uint32_t, rows, batch->rows)
ACCESSOR(uint32_t, first_row, batch->first_row)
ACCESSOR(const char *, token, batch->token)
ACCESSOR(const uint64_t *, samples, batch->samples)
ACCESSOR(const uint8_t *, valid, batch->valid)
ACCESSOR(const uint8_t *, sample_digests,
    batch->has_digests ? batch->digests[0].bytes : NULL)
ACCESSOR(
    const uint8_t *, digest, batch->has_digests ? batch->digest.bytes : NULL)
ACCESSOR(uint32_t, n_substitutions, batch->n_substituted)
ACCESSOR(uint32_t, n_fields, batch->n_tensors)

PUBLIC const struct forebay_substitution *forebay_batch_substitution(
    const struct forebay_batch *batch, uint32_t i)
{
    return i < batch->n_substituted ? &batch->substituted[i] : NULL;
}

/* ---- tensors ------------------------------------------------------------- */

PUBLIC const char *forebay_batch_field_name(
    const struct forebay_batch *batch, uint32_t i)
{
    return i < batch->n_tensors ? batch->tensors[i].name : NULL;
}

PUBLIC int32_t forebay_batch_field(
    const struct forebay_batch *batch, const char *name)
{
    for (uint32_t i = 0; i < batch->n_tensors; i++) {
        if (strcmp(batch->tensors[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

PUBLIC const DLTensor *forebay_batch_tensor(
    const struct forebay_batch *batch, uint32_t i)
{
    return i < batch->n_tensors ? &batch->tensors[i].view : NULL;
}

PUBLIC enum forebay_status forebay_batch_row_lengths(
    const struct forebay_batch *batch, uint32_t i, uint32_t *shortest,
    uint32_t *longest)
{
    if (i >= batch->n_tensors || !batch->tensors[i].has_row_lengths) {
        return FOREBAY_USAGE;
    }
    const struct fby_ragged_offsets *rows =
        &batch->row_offsets[batch->tensors[i].field];
    *longest  = rows->n > 0 ? rows->longest : 0;
    *shortest = *longest;
    for (uint32_t row = 0; row < rows->n; row++) {
        *shortest =
            rows->lengths[row] < *shortest ? rows->lengths[row] : *shortest;
    }
    return FOREBAY_OK;
}

/* Add a reference to the batch, and return it without const: only its reference
 * count is changed. The union avoids a warning for the cast. */
static struct forebay_batch *add_ref(const struct forebay_batch *batch)
{
    union {
        const struct forebay_batch *as_const;
        struct forebay_batch       *writable;
    } cast = {.as_const = batch};
    fby_batch_ref(cast.writable);
    return cast.writable;
}

/* Drop the reference of an exported tensor. In a forked child do nothing. */
static void drop_ref(void *manager_ctx)
{
    struct forebay_batch *batch = manager_ctx;
    if (fby_batch_pool_is_ours(batch->batch_pool)) {
        fby_batch_unref(batch);
    }
}

static void delete_versioned(DLManagedTensorVersioned *self)
{
    drop_ref(self->manager_ctx);
    free(self);
}

static void delete_legacy(DLManagedTensor *self)
{
    drop_ref(self->manager_ctx);
    free(self);
}

static enum forebay_status check_export(
    const struct forebay_batch *batch, uint32_t i)
{
    if (!fby_batch_pool_is_ours(batch->batch_pool)) {
        return FOREBAY_FORKED;
    }
    return i < batch->n_tensors ? FOREBAY_OK : FOREBAY_USAGE;
}

PUBLIC enum forebay_status forebay_batch_export(
    const struct forebay_batch *batch, uint32_t i, uint32_t max_major,
    DLManagedTensorVersioned **out)
{
    enum forebay_status status = check_export(batch, i);
    if (status == FOREBAY_OK && max_major < DLPACK_MAJOR_VERSION) {
        status = FOREBAY_USAGE;
    }
    if (status == FOREBAY_OK) {
        *out  = fby_zalloc(sizeof(**out));
        **out = (DLManagedTensorVersioned){
            .version     = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
            .manager_ctx = add_ref(batch),
            .deleter     = delete_versioned,
            .dl_tensor   = batch->tensors[i].view,
        };
    }
    return status;
}

PUBLIC enum forebay_status forebay_batch_export_legacy(
    const struct forebay_batch *batch, uint32_t i, DLManagedTensor **out)
{
    enum forebay_status status = check_export(batch, i);
    if (status == FOREBAY_OK) {
        *out  = fby_zalloc(sizeof(**out));
        **out = (DLManagedTensor){
            .dl_tensor   = batch->tensors[i].view,
            .manager_ctx = add_ref(batch),
            .deleter     = delete_legacy,
        };
    }
    return status;
}
