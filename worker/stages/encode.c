/* SPDX-License-Identifier: Apache-2.0 */
/* encode.c - the last of the stages fetch, transform and encode: hash the raw
 * bytes of a chunk, compress them if the job's coding says so, and write the
 * prefix of its message, with a hash of the encoded bytes.
 *
 * The encoded bytes replace the raw ones, so a batch needs no second block of
 * memory. A chunk that would become larger is sent as it is. */
#include <string.h>

#include "common/clock.h"
#include "common/hash.h"
#include "worker/stages/stages_state.h"

static const struct fby_coding not_encoded = {FBY_FILTER_NONE, FBY_CODEC_STORE};

/* Replace the raw bytes of the chunk by encoded ones. Returns false, and leaves
 * the raw bytes, if the encoded ones would be more, or if the output buffer
 * cannot be allocated or would exceed FBY_MAX_ENCODE_BUFFER. Only pictures of a
 * few pixels exceed it, because their headers are larger than their pixels. */
static bool encode_in_place(struct fby_stages *self, uint32_t thread,
    struct fby_job_chunk *chunk, struct fby_coding coding)
{
    const struct fby_raw_field *field =
        &chunk->job->layout.fields[chunk->field];
    struct fby_memory_block    block;
    size_t                     size      = 0;
    const struct fby_codec_job codec_job = {
        .coding  = coding,
        .params  = fby_layout_codec_params(field),
        .scratch = &self->encode_scratch[thread],
    };
    size_t capacity = fby_codec_encode_capacity(&codec_job, chunk->raw_bytes);
    if (capacity > FBY_MAX_ENCODE_BUFFER(chunk->raw_bytes) ||
        fby_memory_allocate(self->encode_memory, capacity, &block) != FBY_OK) {
        return false;
    }
    fby_err err  = fby_codec_encode(&codec_job,
         (struct fby_bytes_in){chunk->payload, chunk->raw_bytes},
         (struct fby_bytes_out){block.data, block.size}, &size);
    bool    fits = err == FBY_OK && size <= chunk->raw_bytes;
    if (fits) {
        memcpy(chunk->payload, block.data, size);
        chunk->wire_bytes = (uint32_t)size;
    }
    fby_memory_free(self->encode_memory, &block);
    return fits;
}

static void hash_and_encode(
    struct fby_stages *self, uint32_t thread, struct fby_job_chunk *chunk)
{
    chunk->raw_hash     = fby_xxh3_64(chunk->payload, chunk->raw_bytes);
    chunk->coding       = chunk->job->coding[chunk->field];
    bool wants_encoding = chunk->coding.filter != not_encoded.filter ||
                          chunk->coding.codec != not_encoded.codec;
    if (!wants_encoding ||
        !encode_in_place(self, thread, chunk, chunk->coding)) {
        chunk->coding     = not_encoded;
        chunk->wire_bytes = chunk->raw_bytes;
    }
    if (chunk->job->prefix_request.value != 0) {
        fby_job_chunk_write_prefix(
            chunk, chunk->job->prefix_session, chunk->job->prefix_request);
    }
}

static void encode_chunk(
    struct fby_stages *self, uint32_t thread, struct fby_job_chunk *chunk)
{
    struct fby_job *job          = chunk->job;
    int64_t         begin_ns     = fby_now_ns();
    int64_t         begin_cpu_ns = fby_thread_cpu_ns();
    if (!fby_job_is_aborted(job)) {
        hash_and_encode(self, thread, chunk);
        atomic_fetch_add(&job->encode_ns, (uint64_t)(fby_now_ns() - begin_ns));
        int64_t cpu_ns = fby_thread_cpu_ns() - begin_cpu_ns;
        atomic_fetch_add(&job->cpu_ns, (uint64_t)cpu_ns);
        fby_backlog_charge(self->backlog, job, cpu_ns);
        fby_stages_post_event(self, job, chunk);
    }
    fby_job_release(&job); /* held by queue_chunk in transform_row.c */
}

fby_err fby_encode_one(void *context, uint32_t thread, void *item)
{
    struct fby_stages      *self = context;
    struct fby_encode_item *work = item;
    if (work->run == NULL) {
        encode_chunk(self, thread, item);
    } else {
        work->run(work, thread);
        fby_wakeup_send(&self->wakeup);
    }
    return FBY_OK;
}
