#include "pipeline/plan/key.h"

#include "common/bytes.h"

void fby_key_add(struct fby_digest_state *state, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    fby_store_le(bytes, value, width);
    fby_digest_add(state, bytes, width);
}

void fby_key_add_name(struct fby_digest_state *state, const char *name)
{
    size_t length = strlen(name);
    fby_key_add(state, length, 2);
    fby_digest_add(state, name, length);
}

void fby_key_end(struct fby_digest_state *state, uint32_t key[2])
{
    struct fby_digest digest = fby_digest_end(state);
    struct fby_reader bytes  = fby_reader(digest.bytes, sizeof(digest.bytes));
    key[0]                   = fby_read_u32(&bytes);
    key[1]                   = fby_read_u32(&bytes);
}
