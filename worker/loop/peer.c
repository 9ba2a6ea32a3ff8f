/* SPDX-License-Identifier: Apache-2.0 */
/* Add, find and end clients and their requests. A peer is one session of one
 * client. The work that makes a batch may have several requests. The request
 * that started it is charged with its memory, and stays until that is free. */
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"
#include "worker/loop/loop.h"

/* An upper limit for the memory of a batch: a 64th more for the prefixes of
 * chunks, and 64 KiB for small batches and for rounding to pages. */
static uint64_t max_batch_memory(uint64_t raw_bytes)
{
    return raw_bytes + raw_bytes / 64 + (64 << 10);
}

/* ---- Peers --------------------------------------------------------------- */

struct fby_loop_peer *fby_loop_find_peer(
    const struct fby_loop *self, struct fby_session_id session)
{
    struct fby_loop_peer *peer = self->peers;
    while (peer != NULL && !fby_session_equal(peer->id, session)) {
        peer = peer->next;
    }
    return peer;
}

/* The bytes of the budget to reserve for a session whose largest batch
 * has `max_bytes`. If that batch exceeds the whole budget, only the smallest
 * entitlement is reserved. Requests that are too large are answered CANNOT
 * later, so that the client asks another worker or reports the reason. */
static uint64_t entitlement(const struct fby_loop *self, uint64_t max_bytes)
{
    uint64_t total = self->budget.total;
    /* After the first test the sum in max_batch_memory cannot overflow. */
    bool fits = max_bytes <= total && max_batch_memory(max_bytes) <= total;
    return max_batch_memory(fits ? max_bytes : 0);
}

struct fby_loop_peer *fby_loop_peer_add(
    struct fby_loop *self, const struct fby_hello *hello)
{
    struct fby_loop_peer *peer = fby_zalloc(sizeof(*peer));
    peer->id                   = hello->session;
    peer->max_bytes            = hello->max_bytes;
    peer->session    = fby_session_create(&self->session_config, &self->budget,
           entitlement(self, hello->max_bytes), self->now_ns);
    peer->outbox_end = &peer->outbox;
    peer->next       = self->peers;
    self->peers      = peer;
    snprintf(peer->name, sizeof(peer->name), "%.40s/%u at %.40s", hello->job,
        hello->rank, hello->host);
    fby_info("CLIENT-NEW", "%s", peer->name);
    return peer;
}

static struct fby_loop_request *find_open_request(
    const struct fby_loop_peer *peer)
{
    struct fby_loop_request *request = peer->requests;
    while (request != NULL && request->work == NULL) {
        request = request->next_of_peer;
    }
    return request;
}

void fby_loop_peer_end(struct fby_loop *self, struct fby_loop_peer *peer)
{
    struct fby_loop_request *request = NULL;
    fby_session_bye(peer->session);
    fby_loop_drop_opens(self, peer, (struct fby_open_id){0});
    while ((request = find_open_request(peer)) != NULL) {
        fby_loop_request_end(self, request);
    }
    fby_loop_outbox_clear(peer);
    peer->has_left = true; /* from now on no message is sent to the peer */
}

void fby_loop_peers_extend_leases(struct fby_loop *self, int64_t gap_ns)
{
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        fby_session_extend_lease(peer->session, gap_ns);
    }
}

void fby_loop_peers_sweep(struct fby_loop *self)
{
    struct fby_loop_peer **link  = &self->peers;
    bool                   freed = false;
    while (*link != NULL) {
        struct fby_loop_peer *peer = *link;
        if (!peer->has_left &&
            fby_session_expired(peer->session, self->now_ns)) {
            fby_warn(
                "CLIENT-SILENT", "%s: no message for too long", peer->name);
            fby_loop_peer_end(self, peer);
        }
        if (!peer->has_left && fby_loop_ticket_expired(self, peer)) {
            fby_warn("TICKET-EXPIRED",
                "%s: its ticket was not renewed; the session ends", peer->name);
            fby_loop_peer_end(self, peer);
        }
        if (peer->has_left && peer->requests == NULL) {
            *link = peer->next;
            fby_session_destroy(&peer->session);
            fby_loop_seal_free(&peer->seal);
            free(peer);
            freed = true;
        } else {
            link = &peer->next;
        }
    }
    if (freed) {
        fby_loop_outbox_share_room(self);
    }
}

/* ---- Work ---------------------------------------------------------------- */

struct fby_loop_work *fby_loop_find_work(
    const struct fby_loop *self, const struct fby_job *job)
{
    struct fby_loop_work *work = self->works;
    while (work != NULL && work->job != job) {
        work = work->next;
    }
    return work;
}

/* Remove work without requests. Its job is cancelled, unless it is complete. */
static void end_work(struct fby_loop *self, struct fby_loop_work *work)
{
    struct fby_loop_work **link = &self->works;
    while (*link != work) {
        link = &(*link)->next;
    }
    *link = work->next;
    fby_stages_cancel_job(self->stages, work->job);
    fby_job_release(&work->job);
    free(work);
}

/* ---- Requests ------------------------------------------------------------ */

struct fby_loop_request *fby_loop_request_add(struct fby_loop_peer *peer,
    const struct fby_request *message, uint32_t n_chunks)
{
    struct fby_loop_request *request = fby_zalloc(sizeof(*request));
    request->peer                    = peer;
    request->id                      = message->request;
    request->request_checksum        = fby_request_checksum(message);
    request->chunks       = fby_zalloc(n_chunks * sizeof(*request->chunks));
    request->next_of_peer = peer->requests;
    peer->requests        = request;
    return request;
}

void fby_loop_request_join(
    struct fby_loop_request *request, struct fby_loop_work *work)
{
    request->work         = work;
    request->next_of_work = work->requests;
    work->requests        = request;
}

struct fby_loop_request *fby_loop_find_request(
    const struct fby_loop_peer *peer, struct fby_request_id id)
{
    struct fby_loop_request *request = peer->requests;
    while (request != NULL &&
           (request->work == NULL || !fby_request_equal(request->id, id))) {
        request = request->next_of_peer;
    }
    return request;
}

void fby_loop_request_free(void *context, void *tag)
{
    struct fby_loop_request  *request = tag;
    struct fby_loop_request **link    = &request->peer->requests;
    (void)context;
    while (*link != request) {
        link = &(*link)->next_of_peer;
    }
    *link = request->next_of_peer;
    fby_session_freed(request->peer->session, request->id);
    free(request->chunks);
    free(request);
}

void fby_loop_request_end(
    struct fby_loop *self, struct fby_loop_request *request)
{
    struct fby_loop_work     *work = request->work;
    struct fby_loop_request **link = &work->requests;
    while (*link != request) {
        link = &(*link)->next_of_work;
    }
    *link         = request->next_of_work;
    request->work = NULL;
    /* A charged request is freed with the memory of its batch. */
    if (!request->charged) {
        fby_loop_request_free(self, request);
    }
    if (work->requests == NULL) {
        end_work(self, work);
    }
}
