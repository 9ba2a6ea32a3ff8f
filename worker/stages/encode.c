/* The third stage: hash the raw bytes of a chunk and encode them, if requested.
 *
 * The encoded bytes replace the raw ones, so a batch needs no second memory. A
 * chunk that would not shrink is stored. The loop writes the chunk's prefix,
 * because it depends on the request that the chunk is sent for. */
#include <string.h>

#include "common/clock.h"
#include "common/hash.h"
#include "worker/stages/state.h"

static const struct fby_coding stored = {FBY_FILTER_NONE, FBY_CODEC_STORE};

/* False: the encoded bytes need more space than the raw ones, or encoding needs
 * more memory than FBY_ENCODE_ROOM allows, as for pictures of a few pixels. */
static bool encode_in_place(struct fby_stages *self, uint32_t thread,
    struct fby_job_chunk *chunk, struct fby_coding coding)
{
    const struct fby_raw_field *field =
        &chunk->job->layout.fields[chunk->field];
    struct fby_memory_block    block;
    size_t                     size = 0;
    const struct fby_codec_job work = {
        .coding  = coding,
        .params  = fby_layout_params(field),
        .scratch = &self->scratch[thread],
    };
    size_t room = fby_codec_room(&work, chunk->raw_bytes);
    if (room > FBY_ENCODE_ROOM(chunk->raw_bytes) ||
        fby_memory_take(self->encode_memory, room, &block) != FBY_OK) {
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
    fby_memory_give(self->encode_memory, &block);
    return fits;
}

static bool is_stored(struct fby_coding coding)
{
    return coding.filter == FBY_FILTER_NONE && coding.codec == FBY_CODEC_STORE;
}

static void encode(
    struct fby_stages *self, uint32_t thread, struct fby_job_chunk *chunk)
{
    chunk->raw_hash = fby_xxh64(chunk->payload, chunk->raw_bytes);
    chunk->coding   = chunk->job->coding[chunk->field];
    if (is_stored(chunk->coding) ||
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
    if (fby_job_is_working(job)) {
        encode(self, thread, chunk);
        atomic_fetch_add(&job->encode_ns, (uint64_t)(fby_now_ns() - since));
        fby_stages_post(self, job, chunk);
    }
    fby_job_release(&job);
    return FBY_OK;
}
