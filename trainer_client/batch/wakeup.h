/* wakeup.h - wake a polling thread (eventfd). */
#ifndef FBY_CLIENT_BATCH_WAKEUP_H
#define FBY_CLIENT_BATCH_WAKEUP_H

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct fby_wakeup {
    int fd; /* to poll for reading; -1: could not be made */
};

/* Check fd of the result. */
static inline struct fby_wakeup fby_wakeup_open(void)
{
    return (struct fby_wakeup){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
}

static inline void fby_wakeup_close(struct fby_wakeup *wakeup)
{
    if (wakeup->fd >= 0) {
        close(wakeup->fd);
    }
    wakeup->fd = -1;
}

/* Make the fd readable. Any thread; never blocks. Two sends before a clear wake
 * once. */
static inline void fby_wakeup_send(const struct fby_wakeup *wakeup)
{
    const uint64_t one = 1;
    ssize_t        n   = write(wakeup->fd, &one, sizeof(one));
    (void)n; /* EAGAIN: already woken */
}

/* Make the fd unreadable again; called by the polling thread. */
static inline void fby_wakeup_clear(const struct fby_wakeup *wakeup)
{
    uint64_t count = 0;
    ssize_t  n     = read(wakeup->fd, &count, sizeof(count));
    (void)n; /* EAGAIN: not woken */
}

#endif
