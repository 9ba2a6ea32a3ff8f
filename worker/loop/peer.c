/* Clients and what they asked for: a peer is one session of one client, an ask
 * one request of it, and the work that makes the batch may have many asks. What
 * is charged stays until its memory is free, also after its peer has left. */
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"
#include "worker/loop/loop.h"

/* What a batch takes beyond its raw bytes: head rooms and rounding to pages. */
static uint64_t with_overhead(uint64_t raw_bytes)
{
    return raw_bytes + raw_bytes / 64 + (64 << 10);
}

/* ---- Peers --------------------------------------------------------------- */

struct peer *fby_loop_peer(
    const struct loop *self, struct fby_session_id session)
{
    struct peer *peer = self->peers;
    while (peer != NULL && !fby_session_equal(peer->id, session)) {
        peer = peer->next;
    }
    return peer;
}

/* What a session is entitled to. One whose batches this worker can never hold
 * is entitled to the least: its requests are answered CANNOT, with both
 * numbers, so that it asks another worker or knows why there is none. */
static uint64_t entitlement(const struct loop *self, uint64_t max_bytes)
{
    bool     small = max_bytes <= self->budget.total;
    uint64_t bytes = small ? with_overhead(max_bytes) : UINT64_MAX;
    return bytes <= self->budget.total ? bytes : with_overhead(0);
}

struct peer *fby_loop_peer_add(
    struct loop *self, const struct fby_hello *hello, struct fby_why *why)
{
    const struct fby_budget *budget  = &self->budget;
    struct fby_session      *session = NULL;
    if (fby_session_create(&self->session_config, &self->budget,
            entitlement(self, hello->max_bytes), self->now_ns,
            &session) != FBY_OK) {
        fby_because(why, FBY_FULL,
            "no room for a session with batches of %llu bytes: %llu of %llu "
            "bytes are promised to others",
            (unsigned long long)hello->max_bytes,
            (unsigned long long)budget->entitled,
            (unsigned long long)budget->total);
        return NULL;
    }
    struct peer *peer = fby_zalloc(sizeof(*peer));
    peer->id          = hello->session;
    peer->session     = session;
    peer->next        = self->peers;
    self->peers       = peer;
    snprintf(peer->name, sizeof(peer->name), "%.40s/%u at %.40s", hello->job,
        hello->rank, hello->host);
    fby_info("CLIENT-NEW", "%s", peer->name);
    return peer;
}

static struct ask *first_open_ask(const struct peer *peer)
{
    struct ask *ask = peer->asks;
    while (ask != NULL && ask->work == NULL) {
        ask = ask->next_of_peer;
    }
    return ask;
}

void fby_loop_peer_bye(struct loop *self, struct peer *peer)
{
    struct ask *ask = NULL;
    fby_session_bye(peer->session);
    fby_loop_opens_forget(self, peer);
    while ((ask = first_open_ask(peer)) != NULL) {
        fby_loop_ask_end(self, ask);
    }
    peer->has_left = true; /* from here on nothing is said to it */
}

void fby_loop_peers_sweep(struct loop *self)
{
    struct peer **link = &self->peers;
    while (*link != NULL) {
        struct peer *peer = *link;
        if (!peer->has_left &&
            fby_session_expired(peer->session, self->now_ns)) {
            fby_warn(
                "CLIENT-SILENT", "%s: nothing heard for too long", peer->name);
            fby_loop_peer_bye(self, peer);
        }
        if (peer->has_left && peer->asks == NULL) {
            *link = peer->next;
            fby_session_destroy(&peer->session);
            free(peer);
        } else {
            link = &peer->next;
        }
    }
}

/* ---- Work ---------------------------------------------------------------- */

struct work *fby_loop_work_of(
    const struct loop *self, const struct fby_job *job)
{
    struct work *work = self->works;
    while (work != NULL && work->job != job) {
        work = work->next;
    }
    return work;
}

static void drop_work(struct loop *self, struct work *work)
{
    struct work **link = &self->works;
    while (*link != work) {
        link = &(*link)->next;
    }
    *link = work->next;
    fby_stages_cancel(self->stages, work->job);
    fby_job_release(&work->job);
    free(work);
}

/* ---- Asks ---------------------------------------------------------------- */

struct ask *fby_loop_ask_add(
    struct peer *peer, const struct fby_request *request, uint32_t n_chunks)
{
    struct ask *ask   = fby_zalloc(sizeof(*ask));
    ask->peer         = peer;
    ask->id           = request->request;
    ask->asked        = fby_request_sum(request);
    ask->chunks       = fby_zalloc(n_chunks * sizeof(*ask->chunks));
    ask->next_of_peer = peer->asks;
    peer->asks        = ask;
    return ask;
}

void fby_loop_ask_join(struct ask *ask, struct work *work)
{
    ask->work         = work;
    ask->next_of_work = work->asks;
    work->asks        = ask;
}

struct ask *fby_loop_ask(const struct peer *peer, struct fby_request_id id)
{
    struct ask *ask = peer->asks;
    while (
        ask != NULL && (ask->work == NULL || !fby_request_equal(ask->id, id))) {
        ask = ask->next_of_peer;
    }
    return ask;
}

void fby_loop_ask_freed(void *context, void *tag)
{
    struct ask  *ask  = tag;
    struct ask **link = &ask->peer->asks;
    (void)context;
    while (*link != ask) {
        link = &(*link)->next_of_peer;
    }
    *link = ask->next_of_peer;
    fby_session_freed(ask->peer->session, ask->id);
    free(ask->chunks);
    free(ask);
}

void fby_loop_ask_end(struct loop *self, struct ask *ask)
{
    struct work *work = ask->work;
    struct ask **link = &work->asks;
    while (*link != ask) {
        link = &(*link)->next_of_work;
    }
    *link     = ask->next_of_work;
    ask->work = NULL;
    if (!ask->charged) {
        fby_loop_ask_freed(self, ask);
    }
    if (work->asks == NULL) {
        drop_work(self, work);
    }
}
