/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - the workers of the directory: register, heartbeat, remove. */
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "server/directory_state.h"

/* NOLINTBEGIN(bugprone-*,performance-*,readability-*): uthash's expansions */

static struct fby_dir_worker *find_worker(
    const struct fby_directory *self, struct fby_instance_id instance)
{
    struct fby_dir_worker *worker = NULL;
    HASH_FIND(
        hh, self->workers, &instance.value, sizeof(instance.value), worker);
    return worker;
}

static struct fby_dir_worker *add_worker(
    struct fby_directory *self, const struct fby_registration *registration)
{
    struct fby_dir_worker *worker = fby_zalloc(sizeof(*worker));
    worker->instance              = registration->instance.value;
    worker->serial                = ++self->last_serial;
    worker->host                  = fby_strdup(registration->host);
    worker->n_endpoints           = registration->endpoints.n;
    worker->endpoints = fby_zalloc(registration->endpoints.n * sizeof(char *));
    for (size_t i = 0; i < registration->endpoints.n; i++) {
        worker->endpoints[i] = fby_strdup(registration->endpoints.at[i]);
    }
    HASH_ADD(hh, self->workers, instance, sizeof(worker->instance), worker);
    return worker;
}

void fby_directory_remove_worker(
    struct fby_directory *self, struct fby_dir_worker *worker)
{
    HASH_DEL(self->workers, worker);
    for (size_t i = 0; i < worker->n_endpoints; i++) {
        free(worker->endpoints[i]);
    }
    free(worker->endpoints);
    free(worker->host);
    free(worker);
}

/* NOLINTEND(bugprone-*,performance-*,readability-*) */

static bool has_endpoints(
    const struct fby_dir_worker *worker, const struct fby_name_list *endpoints)
{
    bool same = worker->n_endpoints == endpoints->n;
    for (size_t i = 0; same && i < endpoints->n; i++) {
        same = strcmp(worker->endpoints[i], endpoints->at[i]) == 0;
    }
    return same;
}

static void set_secret(struct fby_dir_worker *worker,
    const struct fby_registration *registration, int64_t now_ns)
{
    worker->has_secret = registration->secret.known;
    worker->secret     = (struct fby_dir_secret){
            .secret         = registration->secret.digest,
            .clock_ahead_ns = (int64_t)registration->clock_ns - now_ns,
    };
}

fby_err fby_directory_register(struct fby_directory *self,
    const struct fby_registration                   *registration,
    const struct fby_routing_id *from, int64_t now_ns)
{
    struct fby_dir_worker *worker = find_worker(self, registration->instance);
    if (worker == NULL) {
        if (HASH_COUNT(self->workers) >= self->config.max_workers) {
            return FBY_FULL;
        }
        worker = add_worker(self, registration);
        fby_info("WORKER-NEW", "%s at %s on %s",
            fby_id_text(worker->instance).text,
            worker->n_endpoints > 0 ? worker->endpoints[0] : "?", worker->host);
    } else if (!has_endpoints(worker, &registration->endpoints)) {
        return FBY_GONE;
    }
    worker->route   = *from;
    worker->seen_ns = now_ns;
    set_secret(worker, registration, now_ns);
    return FBY_OK;
}

/* The worker that registered from this route, or NULL. */
static struct fby_dir_worker *find_registered(const struct fby_directory *self,
    struct fby_instance_id instance, const struct fby_routing_id *from)
{
    struct fby_dir_worker *worker = find_worker(self, instance);
    return worker != NULL && fby_routing_id_equal(&worker->route, from) ? worker
                                                                        : NULL;
}

fby_err fby_directory_heartbeat(struct fby_directory *self,
    struct fby_instance_id instance, const struct fby_routing_id *from,
    int64_t now_ns)
{
    struct fby_dir_worker *worker = find_registered(self, instance, from);
    if (worker == NULL) {
        return FBY_NOT_FOUND;
    }
    worker->seen_ns = now_ns;
    return FBY_OK;
}

void fby_directory_set_clock(struct fby_directory *self,
    struct fby_instance_id instance, uint64_t clock_ns, int64_t now_ns)
{
    struct fby_dir_worker *worker = find_worker(self, instance);
    if (worker != NULL) {
        worker->secret.clock_ahead_ns = (int64_t)clock_ns - now_ns;
    }
}

bool fby_directory_find_secret(const struct fby_directory *self,
    struct fby_instance_id instance, struct fby_dir_secret *out)
{
    const struct fby_dir_worker *worker = find_worker(self, instance);
    bool                         known  = worker != NULL && worker->has_secret;
    if (known) {
        *out = worker->secret;
    }
    return known;
}

void fby_directory_deregister(struct fby_directory *self,
    struct fby_instance_id instance, const struct fby_routing_id *from)
{
    struct fby_dir_worker *worker = find_registered(self, instance, from);
    if (worker != NULL) {
        fby_info("WORKER-LEFT", "%s on %s", fby_id_text(instance.value).text,
            worker->host);
        fby_directory_remove_worker(self, worker);
    }
}

void fby_directory_report_unreachable(struct fby_directory *self,
    const struct fby_unreachable *report, int64_t now_ns)
{
    struct fby_dir_worker *worker = find_worker(self, report->instance);
    if (worker == NULL ||
        fby_directory_find_session(self, report->session) == NULL) {
        return;
    }
    self->counts.unreachable++;
    if (worker->unreachable_ns == 0 ||
        now_ns - worker->unreachable_ns > self->config.lease_ns) {
        worker->unreachable_ns = now_ns;
        fby_warn("WORKER-UNREACHABLE",
            "%s on %s: a client cannot connect to it",
            fby_id_text(worker->instance).text, worker->host);
    }
}

void fby_directory_expire_workers(struct fby_directory *self, int64_t now_ns)
{
    struct fby_dir_worker *next = NULL;
    for (struct fby_dir_worker *worker = self->workers; worker != NULL;
         worker                        = next) {
        next = worker->hh.next; /* read before `worker` may be freed */
        if (now_ns - worker->seen_ns > self->config.lease_ns) {
            fby_warn("WORKER-LATE", "%s on %s: no heartbeat for %.1f s",
                fby_id_text(worker->instance).text, worker->host,
                (double)(now_ns - worker->seen_ns) / 1e9);
            fby_directory_remove_worker(self, worker);
            self->counts.expired_workers++;
        }
    }
}
