#include "worker/source/manifest_lengths.h"

#include <stdlib.h>

#include "common/mem.h"

enum { KEY_LENGTHS = 15 };

void fby_lengths_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    if (shard->lengths == NULL) {
        return;
    }
    size_t   size = (size_t)shard->samples * 4;
    uint8_t *all  = fby_zalloc(size);
    for (uint32_t i = 0; i < shard->samples; i++) {
        fby_store_le(all + (size_t)i * 4, shard->lengths[i], 4);
    }
    fby_record_put_bytes(out, KEY_LENGTHS, all, size);
    free(all);
}

struct fby_span fby_lengths_next(struct fby_record *r)
{
    return fby_record_has(r, KEY_LENGTHS) ? fby_record_bytes(r, KEY_LENGTHS)
                                          : (struct fby_span){0};
}

bool fby_lengths_decode(struct fby_span bytes, struct fby_shard *out)
{
    if (bytes.data == NULL) {
        return true;
    }
    if (bytes.size != (size_t)out->samples * 4) {
        return false;
    }
    struct fby_reader lengths = fby_reader(bytes.data, bytes.size);
    out->lengths = fby_zalloc(out->samples * sizeof(*out->lengths));
    for (uint32_t i = 0; i < out->samples; i++) {
        out->lengths[i] = fby_read_u32(&lengths);
    }
    return true;
}
