/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - the workers of the directory: register, heartbeat, remove. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/log.h"
#include "common/mem.h"
#include "server/directory_state.h"

/* ---- the order of adding ---- */

/* The index of the first entry whose serial number is above `serial`. */
static uint32_t find_in_order(const struct fby_directory *self, uint64_t serial)
{
    uint32_t low  = 0;
    uint32_t high = self->n_added_order;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (self->added_order[middle].serial > serial) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Drop the entries of removed workers. */
static void compact_order(struct fby_directory *self)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < self->n_added_order; i++) {
        if (self->added_order[i].worker != NULL) {
            self->added_order[n++] = self->added_order[i];
        }
    }
    self->n_added_order = n;
}

/* Append a new worker. Entries of removed workers are dropped only when they
 * are more than half, so the cost for each worker is constant. */
static void append_in_order(
    struct fby_directory *self, struct fby_dir_worker *worker)
{
    if (self->n_added_order / 2 > HASH_COUNT(self->workers)) {
        compact_order(self);
    }
    self->added_order = fby_array_grow(
        self->added_order, self->n_added_order, sizeof(*self->added_order));
    self->added_order[self->n_added_order++] =
        (struct fby_dir_added){worker->serial, worker};
}

size_t fby_directory_collect_added(struct fby_directory *self, uint64_t *serial)
{
    size_t   n = 0;
    uint32_t i = find_in_order(self, *serial);
    for (; i < self->n_added_order && n < MAX_ADDED; i++) {
        const struct fby_dir_worker *w = self->added_order[i].worker;
        if (w != NULL) {
            *serial          = w->serial;
            self->added[n++] = (struct fby_worker_info){
                .instance  = {w->instance},
                .endpoints = {(const char *const *)w->endpoints,
                    w->n_endpoints},
                .host      = w->host,
            };
        }
    }
    if (i == self->n_added_order) {
        *serial = self->last_serial;
    }
    return n;
}

/* ---- the table ---- */

/* Expansions of uthash and utlist:
 * NOLINTBEGIN(bugprone-*,clang-analyzer-*,performance-*,readability-*) */

struct fby_dir_worker *fby_directory_find_worker(
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
    worker->pid                   = registration->pid;
    worker->cores                 = registration->cores;
    worker->n_endpoints           = registration->endpoints.n;
    worker->endpoints = fby_zalloc(registration->endpoints.n * sizeof(char *));
    for (size_t i = 0; i < registration->endpoints.n; i++) {
        worker->endpoints[i] = fby_strdup(registration->endpoints.at[i]);
    }
    HASH_ADD(hh, self->workers, instance, sizeof(worker->instance), worker);
    DL_APPEND(self->worker_leases, worker);
    append_in_order(self, worker);
    return worker;
}

void fby_directory_remove_worker(
    struct fby_directory *self, struct fby_dir_worker *worker)
{
    HASH_DEL(self->workers, worker);
    DL_DELETE(self->worker_leases, worker);
    self->added_order[find_in_order(self, worker->serial - 1)].worker = NULL;
    for (size_t i = 0; i < worker->n_endpoints; i++) {
        free(worker->endpoints[i]);
    }
    free(worker->endpoints);
    free(worker->host);
    free(worker);
}

static void restart_lease(
    struct fby_directory *self, struct fby_dir_worker *worker)
{
    worker->seen_ns = self->awake_ns;
    DL_DELETE(self->worker_leases, worker);
    DL_APPEND(self->worker_leases, worker);
}

/* NOLINTEND(bugprone-*,clang-analyzer-*,performance-*,readability-*) */

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

/* Check that a known worker, which registers again, is the one registered. Each
 * client knows the instances and endpoints of all workers, so they prove
 * nothing. */
static fby_err check_same(const struct fby_directory *self,
    const struct fby_dir_worker                      *worker,
    const struct fby_registration                    *registration,
    const struct fby_routing_id                      *from)
{
    const struct fby_maybe_digest *shown = &registration->secret;
    if (!has_endpoints(worker, &registration->endpoints)) {
        return FBY_GONE;
    }
    if (fby_routing_id_equal(&worker->route, from)) {
        return FBY_OK;
    }
    if (worker->has_secret) {
        return shown->known && sodium_memcmp(shown->digest.bytes,
                                   worker->secret.secret.bytes,
                                   sizeof(shown->digest.bytes)) == 0
                   ? FBY_OK
                   : FBY_GONE;
    }
    return self->awake_ns - worker->seen_ns >= 2 * self->config.heartbeat_ns
               ? FBY_OK
               : FBY_AGAIN;
}

fby_err fby_directory_register(struct fby_directory *self,
    const struct fby_registration                   *registration,
    const struct fby_routing_id *from, int64_t now_ns)
{
    struct fby_dir_worker *worker =
        fby_directory_find_worker(self, registration->instance);
    fby_directory_set_time(self, now_ns);
    if (worker == NULL) {
        if (HASH_COUNT(self->workers) >= self->config.max_workers) {
            return FBY_FULL;
        }
        worker = add_worker(self, registration);
        fby_info("WORKER-NEW", "%s at %s on %s",
            fby_id_text(worker->instance).text,
            worker->n_endpoints > 0 ? worker->endpoints[0] : "?", worker->host);
    } else {
        FBY_TRY(check_same(self, worker, registration, from));
    }
    worker->route = *from;
    restart_lease(self, worker);
    set_secret(worker, registration, now_ns);
    return FBY_OK;
}

/* The worker that registered from this route, or NULL. */
static struct fby_dir_worker *find_registered(const struct fby_directory *self,
    struct fby_instance_id instance, const struct fby_routing_id *from)
{
    struct fby_dir_worker *worker = fby_directory_find_worker(self, instance);
    return worker != NULL && fby_routing_id_equal(&worker->route, from) ? worker
                                                                        : NULL;
}

fby_err fby_directory_heartbeat(struct fby_directory *self,
    const struct fby_heartbeat *heartbeat, const struct fby_routing_id *from,
    int64_t now_ns)
{
    struct fby_dir_worker *worker =
        find_registered(self, heartbeat->instance, from);
    if (worker == NULL) {
        return FBY_NOT_FOUND;
    }
    fby_directory_set_time(self, now_ns);
    restart_lease(self, worker);
    worker->heard         = true;
    worker->sessions      = heartbeat->sessions;
    worker->load_permille = heartbeat->load_permille;
    fby_counter_values_read(
        &worker->counters, heartbeat->counters, heartbeat->n_counters);
    worker->secret.clock_ahead_ns = (int64_t)heartbeat->clock_ns - now_ns;
    return FBY_OK;
}

bool fby_directory_find_secret(const struct fby_directory *self,
    struct fby_instance_id instance, struct fby_dir_secret *out)
{
    const struct fby_dir_worker *worker =
        fby_directory_find_worker(self, instance);
    bool known = worker != NULL && worker->has_secret;
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
    struct fby_dir_worker *worker =
        fby_directory_find_worker(self, report->instance);
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

void fby_directory_expire_workers(struct fby_directory *self)
{
    struct fby_dir_worker *worker = NULL;
    while ((worker = self->worker_leases) != NULL &&
           self->awake_ns - worker->seen_ns > self->config.lease_ns) {
        fby_warn("WORKER-LATE", "%s on %s: no heartbeat for %.1f s",
            fby_id_text(worker->instance).text, worker->host,
            (double)(self->awake_ns - worker->seen_ns) / 1e9);
        fby_directory_remove_worker(self, worker);
        self->counts.expired_workers++;
    }
}
