/* The third stage: hash the raw bytes of a chunk and encode them, if requested.
 *
 * The encoded bytes replace the raw ones, so a batch needs no second block of
 * memory. A chunk that would not shrink is stored. The loop writes the chunk's
 * prefix, because it depends on the request that the chunk is sent for. */
#include <string.h>

#include "common/clock.h"
#include "common/hash.h"
#include "worker/stages/stages_state.h"

static const struct fby_coding stored = {FBY_FILTER_NONE, FBY_CODEC_STORE};

/* Returns false when the encoded bytes are more than the raw bytes. Also when
 * the output buffer would exceed FBY_ENCODE_ROOM: for pictures of a few pixels,
 * whose headers are larger than their pixels. */
static bool encode_in_place(struct fby_stages *self, uint32_t thread,
    struct fby_job_chunk *chunk, struct fby_coding coding)
{
    const struct fby_raw_field *field =
        &chunk->job->layout.fields[chunk->field];
    struct fby_memory_block    block;
    size_t                     size = 0;
    const struct fby_codec_job work = {
        .coding  = coding,
        .params  = fby_layout_codec_params(field),
        .scratch = &self->scratch[thread],
    };
    size_t needed = fby_codec_encode_capacity(&work, chunk->raw_bytes);
    if (needed > FBY_ENCODE_ROOM(chunk->raw_bytes) ||
        fby_memory_allocate(self->encode_memory, needed, &block) != FBY_OK) {
        return false;
    }
    fby_err err  = fby_codec_encode(&work,
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
    chunk->raw_hash = fby_xxh64(chunk->payload, chunk->raw_bytes);
    chunk->coding   = chunk->job->coding[chunk->field];
    if ((chunk->coding.filter == stored.filter &&
            chunk->coding.codec == stored.codec) ||
        !encode_in_place(self, thread, chunk, chunk->coding)) {
        chunk->coding     = stored;
        chunk->wire_bytes = chunk->raw_bytes;
    }
}

fby_err fby_encode_chunk(void *context, uint32_t thread, void *item)
{
    struct fby_stages    *self  = context;
    struct fby_job_chunk *chunk = item;
    struct fby_job       *job   = chunk->job;
    int64_t               since = fby_now_ns();
    if (!fby_job_is_aborted(job)) {
        hash_and_encode(self, thread, chunk);
        atomic_fetch_add(&job->encode_ns, (uint64_t)(fby_now_ns() - since));
        fby_stages_post_event(self, job, chunk);
    }
    fby_job_release(&job); /* the reference that queue_chunk added */
    return FBY_OK;
}
