/* batch.c - the functions of the public header that take a batch. */
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
    atomic_store(&batch->stream, stream);
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

PUBLIC uint64_t forebay_batch_epoch(const struct forebay_batch *batch)
{
    return batch->epoch;
}

PUBLIC uint64_t forebay_batch_step(const struct forebay_batch *batch)
{
    return batch->step;
}

PUBLIC uint32_t forebay_batch_rows(const struct forebay_batch *batch)
{
    return batch->rows;
}

PUBLIC uint32_t forebay_batch_first_row(const struct forebay_batch *batch)
{
    return batch->first_row;
}

PUBLIC const char *forebay_batch_token(const struct forebay_batch *batch)
{
    return batch->token;
}

PUBLIC const uint64_t *forebay_batch_samples(const struct forebay_batch *batch)
{
    return batch->samples;
}

PUBLIC const uint8_t *forebay_batch_valid(const struct forebay_batch *batch)
{
    return batch->valid;
}

PUBLIC uint32_t forebay_batch_n_substitutions(const struct forebay_batch *batch)
{
    return batch->n_substituted;
}

PUBLIC const struct forebay_substitution *forebay_batch_substitution(
    const struct forebay_batch *batch, uint32_t i)
{
    return i < batch->n_substituted ? &batch->substituted[i] : NULL;
}

PUBLIC const uint8_t *forebay_batch_sample_digests(
    const struct forebay_batch *batch)
{
    return batch->has_digests ? batch->digests[0].bytes : NULL;
}

PUBLIC const uint8_t *forebay_batch_digest(const struct forebay_batch *batch)
{
    return batch->has_digests ? batch->digest.bytes : NULL;
}

/* ---- tensors ------------------------------------------------------------- */

PUBLIC uint32_t forebay_batch_n_fields(const struct forebay_batch *batch)
{
    return batch->n_tensors;
}

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

/* Take a reference. The count is not part of the batch's value, so a const
 * batch will do. */
static struct forebay_batch *take_ref(const struct forebay_batch *batch)
{
    union {
        const struct forebay_batch *from;
        struct forebay_batch       *to;
    } same = {.from = batch};
    fby_batch_ref(same.to);
    return same.to;
}

/* Drop the reference of an exported tensor; nothing in a forked child. */
static void drop_ref(void *batch)
{
    struct forebay_batch *held = batch;
    if (fby_batch_pool_is_ours(held->batch_pool)) {
        fby_batch_unref(held);
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
    if (status != FOREBAY_OK) {
        return status;
    }
    DLManagedTensorVersioned *tensor = fby_zalloc(sizeof(*tensor));

    *tensor = (DLManagedTensorVersioned){
        .version     = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
        .manager_ctx = take_ref(batch),
        .deleter     = delete_versioned,
        .dl_tensor   = batch->tensors[i].view,
    };
    *out = tensor;
    return FOREBAY_OK;
}

PUBLIC enum forebay_status forebay_batch_export_legacy(
    const struct forebay_batch *batch, uint32_t i, DLManagedTensor **out)
{
    enum forebay_status status = check_export(batch, i);
    if (status != FOREBAY_OK) {
        return status;
    }
    DLManagedTensor *tensor = fby_zalloc(sizeof(*tensor));
    *tensor                 = (DLManagedTensor){
                        .dl_tensor   = batch->tensors[i].view,
                        .manager_ctx = take_ref(batch),
                        .deleter     = delete_legacy,
    };
    *out = tensor;
    return FOREBAY_OK;
}
