/* SPDX-License-Identifier: Apache-2.0 */
/* wakeup.h - wake a thread that polls descriptors, with an eventfd. */
#ifndef FBY_COMMON_WAKEUP_H
#define FBY_COMMON_WAKEUP_H

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct fby_wakeup {
    int fd; /* eventfd to poll for reading; -1: none */
};

/* Create a wakeup; `fd` of the result is -1 when the system refuses. */
static inline struct fby_wakeup fby_wakeup_open(void)
{
    return (struct fby_wakeup){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
}

/* Close the descriptor, if there is one. */
static inline void fby_wakeup_close(struct fby_wakeup *wakeup)
{
    if (wakeup->fd >= 0) {
        close(wakeup->fd);
    }
    wakeup->fd = -1;
}

/* Make the descriptor readable. Several calls before a clear count as one.
 * Thread: any. Blocks: never. */
static inline void fby_wakeup_send(const struct fby_wakeup *wakeup)
{
    const uint64_t one = 1;
    ssize_t        n   = write(wakeup->fd, &one, sizeof(one));
    (void)n; /* EAGAIN: already woken */
}

/* Make the descriptor unreadable until the next send. Thread: the one that
 * polls. */
static inline void fby_wakeup_clear(const struct fby_wakeup *wakeup)
{
    uint64_t count = 0;
    ssize_t  n     = read(wakeup->fd, &count, sizeof(count));
    (void)n; /* EAGAIN: not woken */
}

#endif
