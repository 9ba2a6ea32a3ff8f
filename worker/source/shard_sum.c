#include "worker/source/shard_sum.h"

#include <stdlib.h>

#include "common/mem.h"

enum { PIECE = 1 << 20 /* bytes read at a time */ };

static fby_err add_bytes(struct fby_sum_state *sum,
    const struct fby_object *file, uint8_t *piece, const atomic_bool *stop,
    struct fby_why *why)
{
    fby_err err = FBY_OK;
    size_t  n   = PIECE;
    for (uint64_t at = 0; err == FBY_OK && n == PIECE; at += n) {
        err = fby_object_read_some(file, at, piece, &n, why);
        if (err == FBY_OK && atomic_load(stop)) {
            err = FBY_GONE;
        }
        if (err == FBY_OK) {
            fby_sum_add(sum, piece, n);
        }
    }
    return err;
}

fby_err fby_sum_add_file(struct fby_sum_state *sum,
    const struct fby_object *file, const struct fby_stamp *stamp,
    const atomic_bool *stop, struct fby_why *why)
{
    fby_err err = fby_stamp_check(file, stamp, why);
    if (err != FBY_OK) {
        return err;
    }
    uint8_t *piece = fby_zalloc(PIECE);
    err            = add_bytes(sum, file, piece, stop, why);
    free(piece);
    return err == FBY_OK ? fby_stamp_check(file, stamp, why) : err;
}
