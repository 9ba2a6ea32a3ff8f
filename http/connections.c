/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connections.h"

#include <string.h>

void fby_http_connections_add(
    struct fby_http_connections *self, int fd, int64_t now_ns)
{
    self->list[self->n].fd       = fd;
    self->list[self->n].since_ns = now_ns;
    self->n++;
}

void fby_http_connections_remove(struct fby_http_connections *self, int fd)
{
    for (uint32_t i = 0; i < self->n; i++) {
        if (self->list[i].fd == fd) {
            self->n--;
            memmove(&self->list[i], &self->list[i + 1],
                (self->n - i) * sizeof(self->list[0]));
            return;
        }
    }
}

uint32_t fby_http_connections_due(
    const struct fby_http_connections *self, int64_t now_ns, int64_t limit_ns)
{
    uint32_t n = self->n > FBY_HTTP_CROWDED ? self->n - FBY_HTTP_CROWDED : 0;
    while (n < self->n && now_ns - self->list[n].since_ns >= limit_ns) {
        n++;
    }
    return n;
}
