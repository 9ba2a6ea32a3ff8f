/* SPDX-License-Identifier: Apache-2.0 */
/* Copy what the HTTP pages show, so that they need nothing of the loop. */
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "worker/loop/loop.h"

uint32_t fby_loop_count_sessions(const struct fby_loop *self)
{
    uint32_t n_sessions = 0;
    for (const struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                             = peer->next) {
        n_sessions += peer->has_left ? 0 : 1;
    }
    return n_sessions;
}

struct fby_worker_view *fby_loop_view(const struct fby_loop *self)
{
    struct fby_worker_view   *view   = fby_zalloc(sizeof(*view));
    uint64_t                 *n      = view->numbers;
    struct fby_counter_values values = {0};
    fby_loop_counters_read(self, &values);
    memcpy(n, values.at, sizeof(values.at));
    n[FBY_WORKER_SESSIONS]        = fby_loop_count_sessions(self);
    n[FBY_WORKER_BUDGET_LIMIT]    = self->budget.total;
    n[FBY_WORKER_BUDGET_ENTITLED] = self->budget.entitled;
    n[FBY_WORKER_BUDGET_CHARGED]  = self->budget.charged;
    n[FBY_WORKER_REGISTERED]      = self->registry.server.value != 0;
    n[FBY_WORKER_LEAVING]         = self->leave_until_ns != 0;
    n[FBY_WORKER_HANDSHAKES]      = self->handshakes.failed;
    snprintf(view->server, sizeof(view->server), "%s", self->registry.endpoint);
    return view;
}
