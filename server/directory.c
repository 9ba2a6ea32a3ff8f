/* SPDX-License-Identifier: Apache-2.0 */
/* directory.c - creates the directory, and keeps time. workers.c, sessions.c
 * and ranks.c change the tables; lists.c makes the due messages. */
#include "server/directory.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"
#include "server/directory_state.h"

/* ---- create and destroy ---- */

struct fby_directory *fby_directory_create(
    const struct fby_directory_config *config)
{
    struct fby_directory *self = fby_zalloc(sizeof(*self));
    self->config               = *config;
    self->added                = fby_zalloc(MAX_ADDED * sizeof(*self->added));
    return self;
}

void fby_directory_destroy(struct fby_directory **self_p)
{
    struct fby_directory *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    while (self->workers != NULL) {
        fby_directory_remove_worker(self, self->workers);
    }
    while (self->sessions != NULL) {
        fby_directory_remove_session(self, self->sessions);
    }
    free(self->added);
    free(self->added_order);
    free(self);
}

/* ---- time ---- */

void fby_directory_extend_leases(struct fby_directory *self, int64_t gap_ns)
{
    self->asleep_ns += gap_ns;
}

void fby_directory_tick(struct fby_directory *self, int64_t now_ns)
{
    fby_directory_set_time(self, now_ns);
    fby_directory_expire_workers(self);
    fby_directory_expire_sessions(self);
    fby_directory_admit_waiting(self);
}

/* The awake time of the next deadline. */
static int64_t awake_deadline(const struct fby_directory *self)
{
    int64_t lease_ns    = self->config.lease_ns;
    int64_t deadline_ns = fby_directory_lists_deadline(self);
    if (self->worker_leases != NULL) { /* + 1: the first ns after a lease */
        deadline_ns = fby_earlier_ns(
            deadline_ns, self->worker_leases->seen_ns + lease_ns + 1);
    }
    if (self->session_leases != NULL) {
        deadline_ns = fby_earlier_ns(
            deadline_ns, self->session_leases->lease_ns + lease_ns + 1);
    }
    if (self->waits != NULL) {
        deadline_ns =
            fby_earlier_ns(deadline_ns, self->waits->lease_ns + lease_ns);
    }
    return self->vacant != NULL ? self->awake_ns : deadline_ns;
}

int64_t fby_directory_deadline(const struct fby_directory *self)
{
    int64_t deadline_ns = awake_deadline(self);
    return deadline_ns < INT64_MAX ? deadline_ns + self->asleep_ns : INT64_MAX;
}

struct fby_directory_counts fby_directory_counts(
    const struct fby_directory *self)
{
    struct fby_directory_counts counts = self->counts;
    counts.workers                     = HASH_COUNT(self->workers);
    counts.sessions                    = HASH_COUNT(self->sessions);
    counts.jobs                        = HASH_COUNT(self->jobs);
    return counts;
}
