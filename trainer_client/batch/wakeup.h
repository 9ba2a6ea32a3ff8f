/* wakeup.h - wake a thread that polls: an eventfd that counts nothing. */
#ifndef FBY_CLIENT_BATCH_WAKEUP_H
#define FBY_CLIENT_BATCH_WAKEUP_H

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct fby_bell {
    int fd; /* to poll for reading; -1: could not be made */
};

static inline struct fby_bell fby_bell_open(void)
{
    return (struct fby_bell){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
}

static inline void fby_bell_close(struct fby_bell *bell)
{
    if (bell->fd >= 0) {
        close(bell->fd);
    }
    bell->fd = -1;
}

/* Any thread; never blocks. A bell that rings already rings on. */
static inline void fby_bell_ring(const struct fby_bell *bell)
{
    const uint64_t one = 1;
    ssize_t        n   = write(bell->fd, &one, sizeof(one));
    (void)n; /* EAGAIN: it rings already */
}

static inline void fby_bell_clear(const struct fby_bell *bell)
{
    uint64_t rung = 0;
    ssize_t  n    = read(bell->fd, &rung, sizeof(rung));
    (void)n; /* EAGAIN: nobody rang */
}

#endif
