/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - a worker's state for one trainer client.
 *
 * It keeps the requested batches, and chooses what to send next. A route is one
 * connection of the client, on which CREDIT confirms received bytes.
 * FBY_MUTANT(name) is false except in a test of the simulator. */
#include "worker/session/session.h"

#include <assert.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/mutant.h"

enum batch_state {
    BATCH_FREE,  /* the entry is not used */
    BATCH_OPEN,  /* requested; fby_session_next has not returned END */
    BATCH_CLOSED /* answered or dropped; its bytes are still charged */
};

struct session_batch {
    enum batch_state          state;
    struct fby_request_id     id;
    uint64_t                  order;  /* lower is sent first */
    uint64_t                  bytes;  /* bytes charged to the budget */
    struct fby_session_chunk *chunks; /* ready chunks, oldest first; borrowed */
    uint32_t                  n_chunks;     /* chunks of the whole batch */
    uint32_t                  n_ready;      /* chunks in `chunks` */
    uint32_t                  n_sent;       /* chunks sent on this route */
    bool                      header_known; /* HEADER can be sent */
    bool                      header_sent;  /* HEADER was sent on this route */
    bool                      all_ready;    /* END can be sent */
};

struct fby_session {
    struct fby_session_config config;
    struct fby_budget        *budget; /* borrowed */
    struct fby_budget_share   share;
    uint64_t                  batch_bytes; /* to be entitled to */
    uint64_t                  route;       /* nonce; 0: none */
    uint64_t                  sent;  /* bytes of chunks sent on this route */
    uint64_t               credited; /* bytes of `sent` that CREDIT confirmed */
    int64_t                heard_ns; /* time of the client's last message */
    int64_t                credit_ns; /* last time that `credited` increased
                                         or was equal to `sent` */
    uint64_t               newest_id; /* highest request id received */
    bool                   leaving;   /* no new requests are accepted */
    struct session_batch  *batches;   /* config.max_batches entries */
    struct fby_request_id *lost; /* ids of LOST to send; max_batches entries */
    uint32_t               n_lost; /* ids in `lost` */
    uint32_t               n_open; /* batches in state BATCH_OPEN */
};

struct fby_session_config fby_session_defaults(void)
{
    return (struct fby_session_config){
        .send_window    = UINT64_C(16) << 20,
        .max_batches    = 64,
        .retry_ns       = 50 * FBY_NS_PER_MS,
        .lease_ns       = 10 * FBY_NS_PER_S,
        .stall_limit_ns = FBY_NS_PER_S,
    };
}

struct fby_session *fby_session_create(const struct fby_session_config *config,
    struct fby_budget *budget, uint64_t batch_bytes, int64_t now_ns)
{
    struct fby_session *self = fby_zalloc(sizeof(*self));
    self->config             = *config;
    self->budget             = budget;
    self->batch_bytes        = batch_bytes;
    self->heard_ns           = now_ns;
    self->batches = fby_zalloc(config->max_batches * sizeof(*self->batches));
    self->lost    = fby_zalloc(config->max_batches * sizeof(*self->lost));
    return self;
}

void fby_session_destroy(struct fby_session **self_p)
{
    struct fby_session *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    assert(self->share.charged == 0);
    fby_budget_leave(self->budget, &self->share);
    free(self->batches);
    free(self->lost);
    free(self);
}

static struct session_batch *batches_end(const struct fby_session *self)
{
    return self->batches + self->config.max_batches;
}

static struct session_batch *find_batch(
    const struct fby_session *self, struct fby_request_id id)
{
    for (struct session_batch *b = self->batches; b < batches_end(self); b++) {
        if (b->state != BATCH_FREE && b->id.value == id.value) {
            return b;
        }
    }
    return NULL;
}

static struct session_batch *find_open(
    const struct fby_session *self, struct fby_request_id id)
{
    struct session_batch *b = find_batch(self, id);
    return b != NULL && b->state == BATCH_OPEN ? b : NULL;
}

static struct session_batch *find_free(const struct fby_session *self)
{
    for (struct session_batch *b = self->batches; b < batches_end(self); b++) {
        if (b->state == BATCH_FREE) {
            return b;
        }
    }
    return NULL;
}

static void set_state(
    struct fby_session *self, struct session_batch *b, enum batch_state state)
{
    self->n_open -= b->state == BATCH_OPEN;
    self->n_open += state == BATCH_OPEN;
    b->state = state;
}

/* Close a batch that will not be sent, and queue its LOST message. If the queue
 * is full, the next PONG tells the client: it lists only open batches. */
static void mark_lost(struct fby_session *self, struct session_batch *b)
{
    set_state(self, b, BATCH_CLOSED);
    if (self->n_lost < self->config.max_batches) {
        self->lost[self->n_lost++] = b->id;
    }
}

static void restart_sending(struct session_batch *b)
{
    b->n_sent      = 0;
    b->header_sent = false;
}

/* ---- Messages of the client ---------------------------------------------- */

void fby_session_heard(struct fby_session *self, int64_t now_ns)
{
    self->heard_ns = now_ns;
}

void fby_session_hello(struct fby_session *self, int64_t now_ns, uint64_t route)
{
    fby_session_heard(self, now_ns);
    self->route    = route;
    self->sent     = 0;
    self->credited = 0;
    self->n_lost   = 0; /* the client sees that WELCOME does not list them */
    for (struct session_batch *b = self->batches; b < batches_end(self); b++) {
        if (!FBY_MUTANT(resume_in_the_middle)) {
            restart_sending(b);
        }
    }
}

size_t fby_session_list_open(
    const struct fby_session *self, struct fby_request_id *out, size_t max_ids)
{
    size_t n = 0;
    for (const struct session_batch *b = self->batches; b < batches_end(self);
         b++) {
        if (b->state == BATCH_OPEN && n < max_ids) {
            out[n++] = b->id;
        }
    }
    return n;
}

/* Entitle the session to its largest batch, unless it is entitled already.
 * Errors: FBY_FULL  the budget cannot entitle one more session. */
static fby_err take_share(struct fby_session *self)
{
    return self->share.entitled > 0
               ? FBY_OK
               : fby_budget_join(self->budget, &self->share, self->batch_bytes);
}

static enum fby_session_answer charge_and_open(
    struct fby_session *self, const struct fby_session_request *request)
{
    struct session_batch *b = find_free(self);
    if (request->bytes > self->budget->total) {
        return FBY_SESSION_TOO_LARGE;
    }
    if (take_share(self) != FBY_OK) {
        return FBY_SESSION_NO_SHARE;
    }
    if (b == NULL) {
        return FBY_SESSION_BUSY;
    }
    if (fby_budget_charge(self->budget, &self->share, request->bytes) !=
        FBY_OK) {
        return FBY_SESSION_BUSY;
    }
    *b = (struct session_batch){
        .id = request->id, .order = request->order, .bytes = request->bytes};
    set_state(self, b, BATCH_OPEN);
    return FBY_SESSION_ACCEPT;
}

enum fby_session_answer fby_session_request(struct fby_session *self,
    int64_t now_ns, const struct fby_session_request *request)
{
    fby_session_heard(self, now_ns);
    if (request->id.value <= self->newest_id) {
        return FBY_SESSION_REPEATED;
    }
    self->newest_id = request->id.value;
    return self->leaving ? FBY_SESSION_LOST : charge_and_open(self, request);
}

void fby_session_cancel(
    struct fby_session *self, int64_t now_ns, struct fby_request_id id)
{
    fby_session_heard(self, now_ns);
    fby_session_drop(self, id);
}

fby_err fby_session_credit(
    struct fby_session *self, int64_t now_ns, uint64_t route, uint64_t total)
{
    fby_session_heard(self, now_ns);
    if (route != self->route || self->route == 0) {
        return FBY_OK; /* ignore a CREDIT of an older route */
    }
    if (total > self->sent || total < self->credited) {
        return FBY_PROTO;
    }
    if (total > self->credited && !FBY_MUTANT(ignore_credit)) {
        self->credited  = total;
        self->credit_ns = now_ns;
    }
    return FBY_OK;
}

void fby_session_bye(struct fby_session *self)
{
    for (struct session_batch *b = self->batches; b < batches_end(self); b++) {
        if (b->state == BATCH_OPEN) {
            set_state(self, b, BATCH_CLOSED);
        }
    }
    self->route   = 0; /* so fby_session_next returns nothing, not even LOST */
    self->leaving = true;
    fby_budget_leave(self->budget, &self->share);
}

/* ---- Batches ------------------------------------------------------------- */

fby_err fby_session_header(struct fby_session *self, struct fby_request_id id,
    struct fby_session_chunk *chunks, uint32_t n_chunks)
{
    struct session_batch *b = find_open(self, id);
    if (b == NULL) {
        return FBY_GONE;
    }
    b->chunks       = chunks;
    b->n_chunks     = n_chunks;
    b->header_known = true;
    return FBY_OK;
}

fby_err fby_session_chunk_ready(struct fby_session *self,
    struct fby_request_id id, struct fby_session_chunk chunk)
{
    struct session_batch *b = find_open(self, id);
    if (b == NULL) {
        return FBY_GONE;
    }
    if (b->n_ready == b->n_chunks) {
        return FBY_USAGE;
    }
    b->chunks[b->n_ready++] = chunk;
    return FBY_OK;
}

fby_err fby_session_all_ready(
    struct fby_session *self, struct fby_request_id id)
{
    struct session_batch *b = find_open(self, id);
    if (b == NULL) {
        return FBY_GONE;
    }
    if (!b->header_known || b->n_ready < b->n_chunks) {
        return FBY_USAGE;
    }
    b->all_ready = true;
    return FBY_OK;
}

void fby_session_drop(struct fby_session *self, struct fby_request_id id)
{
    struct session_batch *b = find_open(self, id);
    if (b != NULL && !FBY_MUTANT(keep_cancelled)) {
        set_state(self, b, BATCH_CLOSED);
    }
}

void fby_session_freed(struct fby_session *self, struct fby_request_id id)
{
    struct session_batch *b = find_batch(self, id);
    if (b == NULL) {
        return;
    }
    if (b->state == BATCH_OPEN) {
        mark_lost(self, b);
    }
    if (!FBY_MUTANT(forget_refund)) {
        fby_budget_refund(self->budget, &self->share, b->bytes);
    }
    set_state(self, b, BATCH_FREE);
}

bool fby_session_is_open(
    const struct fby_session *self, struct fby_request_id id)
{
    return find_open(self, id) != NULL;
}

/* ---- Sending ------------------------------------------------------------- */

/* True if HEADER, a chunk or END of the batch can be sent. */
static bool has_output(const struct session_batch *b)
{
    return b->state == BATCH_OPEN && b->header_known &&
           (!b->header_sent || b->n_sent < b->n_ready || b->all_ready);
}

static struct session_batch *first_with_output(const struct fby_session *self)
{
    struct session_batch *lowest = NULL;
    for (struct session_batch *b = self->batches; b < batches_end(self); b++) {
        if (has_output(b) && (lowest == NULL || b->order < lowest->order)) {
            lowest = b;
        }
    }
    return lowest;
}

/* True if the send window allows a chunk of `wire_bytes`. A chunk larger than
 * the window is allowed once all bytes sent before are credited. After that,
 * `uncredited` exceeds the window. */
static bool fits_window(const struct fby_session *self, uint32_t wire_bytes)
{
    uint64_t uncredited = self->sent - self->credited;
    return uncredited == 0 || FBY_MUTANT(ignore_send_window) ||
           (uncredited <= self->config.send_window &&
               wire_bytes <= self->config.send_window - uncredited);
}

/* Store the next item of a batch that has output. Returns false if the send
 * window does not allow the item. */
static bool next_item_of_batch(struct fby_session *self,
    struct session_batch *b, struct fby_session_item *out)
{
    *out = (struct fby_session_item){.id = b->id};
    if (!b->header_sent) {
        out->kind      = FBY_SEND_HEADER;
        b->header_sent = true;
        return true;
    }
    if (b->n_sent == b->n_ready) { /* all_ready is set: see has_output */
        out->kind = FBY_SEND_END;
        set_state(self, b, BATCH_CLOSED);
        return true;
    }
    struct fby_session_chunk chunk = b->chunks[b->n_sent];
    if (!fits_window(self, chunk.wire_bytes)) {
        return false;
    }
    out->kind       = FBY_SEND_CHUNK;
    out->chunk      = chunk.chunk;
    out->wire_bytes = chunk.wire_bytes;
    b->n_sent++;
    self->sent += chunk.wire_bytes;
    return true;
}

bool fby_session_next(
    struct fby_session *self, int64_t now_ns, struct fby_session_item *out)
{
    if (self->route == 0) {
        return false;
    }
    if (self->n_lost > 0) {
        *out = (struct fby_session_item){
            .kind = FBY_SEND_LOST, .id = self->lost[--self->n_lost]};
        return true;
    }
    if (self->sent == self->credited) {
        self->credit_ns = now_ns; /* all bytes are credited: not stalled */
    }
    struct session_batch *b = first_with_output(self);
    return b != NULL && next_item_of_batch(self, b, out);
}

void fby_session_set_window(struct fby_session *self, uint64_t bytes)
{
    self->config.send_window = bytes;
}

void fby_session_route_lost(struct fby_session *self)
{
    self->route = 0;
}

/* ---- Memory, time, end --------------------------------------------------- */

/* The open batch with the highest order that has no sent chunk, or NULL. */
static struct session_batch *last_unsent_batch(const struct fby_session *self)
{
    struct session_batch *highest = NULL;
    for (struct session_batch *b = self->batches; b < batches_end(self); b++) {
        if (b->state == BATCH_OPEN && b->n_sent == 0 &&
            (highest == NULL || b->order > highest->order)) {
            highest = b;
        }
    }
    return highest;
}

/* True if the client has no route, or has confirmed no bytes for too long. */
static bool is_stalled(const struct fby_session *self, int64_t now_ns)
{
    return self->route == 0 ||
           (self->sent > self->credited &&
               now_ns - self->credit_ns > self->config.stall_limit_ns);
}

static bool can_be_victim(const struct fby_session *self,
    const struct fby_session *asking, int64_t now_ns)
{
    bool asks_within_entitlement =
        asking != NULL && asking->share.charged < asking->share.entitled;
    return self != asking && fby_budget_surplus(&self->share) > 0 &&
           (asks_within_entitlement || is_stalled(self, now_ns)) &&
           last_unsent_batch(self) != NULL;
}

struct fby_session *fby_session_choose_victim(
    struct fby_session *const *sessions, size_t n,
    const struct fby_session *asking, int64_t now_ns)
{
    struct fby_session *victim = NULL;
    for (size_t i = 0; i < n; i++) {
        struct fby_session *s = sessions[i];
        if (can_be_victim(s, asking, now_ns) &&
            (victim == NULL || fby_budget_surplus(&s->share) >
                                   fby_budget_surplus(&victim->share))) {
            victim = s;
        }
    }
    return victim;
}

struct fby_request_id fby_session_shed_batch(struct fby_session *self)
{
    struct session_batch *b = last_unsent_batch(self);
    if (b == NULL) {
        return (struct fby_request_id){0};
    }
    mark_lost(self, b);
    return b->id;
}

void fby_session_leave(struct fby_session *self)
{
    self->leaving = true;
}

void fby_session_lose_open(struct fby_session *self)
{
    self->leaving = true;
    for (struct session_batch *b = self->batches; b < batches_end(self); b++) {
        if (b->state == BATCH_OPEN) {
            mark_lost(self, b);
        }
    }
}

void fby_session_extend_lease(struct fby_session *self, int64_t gap_ns)
{
    self->heard_ns += gap_ns;
}

bool fby_session_expired(const struct fby_session *self, int64_t now_ns)
{
    return now_ns - self->heard_ns > self->config.lease_ns;
}

struct fby_session_state fby_session_state(const struct fby_session *self)
{
    return (struct fby_session_state){
        .route    = self->route,
        .sent     = self->sent,
        .credited = self->credited,
        .open     = self->n_open,
        .charged  = self->share.charged,
        .entitled = self->share.entitled,
        .leaving  = self->leaving,
    };
}
