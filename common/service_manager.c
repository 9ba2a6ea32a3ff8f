/* SPDX-License-Identifier: Apache-2.0 */
#include "common/service_manager.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"

enum { FRACTION = 4 /* of the manager's time, from one message to the next */ };

/* A path, or with '@' first a name in the abstract namespace. False: neither. */
static bool read_address(
    const char *text, struct sockaddr_un *out, socklen_t *size)
{
    size_t length = strlen(text);
    *out          = (struct sockaddr_un){.sun_family = AF_UNIX};
    if ((text[0] != '/' && text[0] != '@') || length < 2 ||
        length >= sizeof(out->sun_path)) {
        return false;
    }
    memcpy(out->sun_path, text, length);
    if (text[0] == '@') {
        out->sun_path[0] = '\0';
    }
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return true;
}

static int connect_to(const char *text)
{
    struct sockaddr_un address;
    socklen_t          size = 0;
    if (text == NULL || !read_address(text, &address, &size)) {
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, size) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The time of the watchdog, if it is meant for this process; 0: none. */
static int64_t read_watchdog_ns(void)
{
    const char *pid  = getenv("WATCHDOG_PID");
    const char *usec = getenv("WATCHDOG_USEC");
    if (usec == NULL ||
        (pid != NULL && strtoll(pid, NULL, 10) != (long long)getpid())) {
        return 0;
    }
    char     *end = NULL;
    long long us  = strtoll(usec, &end, 10);
    return *end == '\0' && us > 0 && us < INT64_MAX / 1000 ? us * 1000 : 0;
}

struct fby_service_manager fby_service_manager_open(void)
{
    return (struct fby_service_manager){
        .fd        = connect_to(getenv("NOTIFY_SOCKET")),
        .period_ns = read_watchdog_ns() / FRACTION,
    };
}

void fby_service_manager_close(struct fby_service_manager *self)
{
    if (self->fd >= 0) {
        close(self->fd);
        self->fd = -1;
    }
}

void fby_service_manager_hide(void)
{
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void fby_service_manager_tell(
    const struct fby_service_manager *self, const char *state)
{
    if (self->fd >= 0) {
        (void)!send(self->fd, state, strlen(state), MSG_NOSIGNAL);
    }
}

void fby_service_manager_tick(struct fby_service_manager *self, int64_t now_ns)
{
    if (self->period_ns > 0 && now_ns >= self->due_ns) {
        fby_service_manager_tell(self, "WATCHDOG=1");
        self->due_ns = now_ns + self->period_ns;
    }
}
