#include "worker/source/shard_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"

enum { PIECE = 1 << 20 /* bytes read at a time */ };

fby_err fby_stamp_check(
    int fd, const struct fby_stamp *stamp, struct fby_why *why)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return fby_because(why, FBY_IO, "cannot stat: %s", strerror(errno));
    }
    struct fby_stamp now = fby_stamp_of(&st);
    if (st.st_nlink > 0 && fby_stamp_equal(&now, stamp)) {
        return FBY_OK;
    }
    if (now.size == stamp->size) {
        return fby_because(why, FBY_STALE, "%s since it was indexed",
            fby_stamp_change(stamp, &st));
    }
    return fby_because(why, FBY_STALE,
        "%s: %llu bytes when it was indexed, %llu now",
        fby_stamp_change(stamp, &st), (unsigned long long)stamp->size,
        (unsigned long long)now.size);
}

static fby_err add_bytes(struct fby_sum_state *sum, int fd, uint8_t *piece,
    const atomic_bool *stop, struct fby_why *why)
{
    uint64_t at = 0;
    for (;;) {
        ssize_t n = pread(fd, piece, PIECE, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return fby_because(why, FBY_IO, "cannot read: %s", strerror(errno));
        }
        if (n == 0) {
            return FBY_OK;
        }
        if (atomic_load(stop)) {
            return FBY_GONE;
        }
        fby_sum_add(sum, piece, (size_t)n);
        at += (uint64_t)n;
    }
}

fby_err fby_sum_add_file(struct fby_sum_state *sum, int fd,
    const struct fby_stamp *stamp, const atomic_bool *stop, struct fby_why *why)
{
    fby_err err = fby_stamp_check(fd, stamp, why);
    if (err != FBY_OK) {
        return err;
    }
    uint8_t *piece = fby_zalloc(PIECE);
    err            = add_bytes(sum, fd, piece, stop, why);
    free(piece);
    return err == FBY_OK ? fby_stamp_check(fd, stamp, why) : err;
}
