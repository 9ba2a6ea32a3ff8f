/* worker.c - control messages from workers, passed on to the window. */
#include "trainer_client/receive/state.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"

static void on_welcome(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    const struct fby_welcome       *w       = &m->welcome;
    const struct fby_window_welcome welcome = {
        .instance    = w->instance,
        .route       = w->route.value,
        .send_window = w->send_window,
        .open        = w->open.at,
        .n_open      = w->open.n,
    };
    if (w->version != FBY_PROTOCOL_VERSION) {
        fby_r_set_aside(r, peer, FBY_R_VERSION, "it chose another version");
        return;
    }
    if (!fby_instance_equal(r->peers[peer].instance, w->instance)) {
        r->peers[peer].instance = w->instance; /* restarted at its address */
    }
    r->peers[peer].refusal[0] = '\0';
    fby_window_welcome(r->window, r->now_ns, peer, &welcome);
}

static void on_hello_first(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    (void)m;
    fby_window_hello_first(r->window, r->now_ns, peer);
}

static void on_refused(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    const struct fby_refused *refused = &m->refused;
    struct fby_peer          *p       = &r->peers[peer];
    switch (refused->code) {
    case FBY_REFUSED_FULL:
        snprintf(p->refusal, sizeof(p->refusal), "%.250s", refused->text);
        fby_warn("WORKER-FULL", "%s: %s", p->label, refused->text);
        fby_window_full(r->window, r->now_ns, peer);
        return;
    case FBY_REFUSED_LEAVING:
        fby_window_unreachable(r->window, r->now_ns, peer);
        return;
    case FBY_REFUSED_VERSION:
        fby_r_set_aside(r, peer, FBY_R_VERSION, refused->text);
        return;
    }
}

static void on_pong(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    const struct fby_window_pong pong = {
        .instance = m->pong.instance,
        .seq      = m->pong.sequence,
        .open     = m->pong.open.at,
        .n_open   = m->pong.open.n,
    };
    fby_window_pong(r->window, r->now_ns, peer, &pong);
}

static void on_scanning(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    fby_r_scanning(r, peer, &m->scanning);
}

static void on_opened(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    fby_r_opened(r, peer, &m->opened);
}

static void on_open_failed(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    fby_r_open_failed(r, peer, &m->open_failed);
}

static void on_send_content(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    fby_window_send_content(
        r->window, r->now_ns, peer, m->send_content.request);
}

/* BUSY gives no reason. The worker's log does if its system is the cause. */
static void report_busy(struct fby_receiver *r, int peer)
{
    struct fby_why why = {""};
    if (!r->reported_busy) {
        (void)fby_because(&why, FBY_AGAIN,
            "%s is busy: it has no room, memory or files for a batch now, and "
            "is asked again; if this lasts, its log says why",
            r->peers[peer].label);
        fby_ready_queue_waiting(r->ready_queue, why.text);
        r->reported_busy = true;
    }
}

static void on_busy(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    report_busy(r, peer);
    fby_window_busy(r->window, r->now_ns, peer, m->busy.request,
        (int64_t)m->busy.retry_ms * FBY_NS_PER_MS);
}

static void on_lost(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    fby_window_lost(r->window, r->now_ns, peer, m->lost.request);
}

static void on_cannot(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    const struct fby_cannot *c = &m->cannot;
    if (c->shard[0] != '\0') {
        /* the text names shard or file, sample and offset */
        (void)fby_because(&r->cannot, FBY_BAD_SAMPLE, "%s", c->text);
        (void)fby_because_in(
            &r->cannot, FBY_BAD_SAMPLE, "in %s", r->setup->location.pattern);
    } else {
        (void)fby_because(&r->cannot, FBY_IO, "%s", c->text);
        (void)fby_because_in(&r->cannot, FBY_IO, "%s", r->peers[peer].label);
    }
    fby_warn("WORKER-CANNOT", "%s: %s", r->peers[peer].label, r->cannot.text);
    fby_window_cannot(r->window, r->now_ns, peer, c->request, (int)c->code);
}

static void on_stale(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    const struct fby_stale_data *stale = &m->stale_data;
    char                         text[400];
    if (stale->shard[0] != '\0') {
        snprintf(
            text, sizeof(text), "not as it was opened: %.350s", stale->text);
    } else {
        snprintf(text, sizeof(text), "%.200s", stale->text);
    }
    fby_r_set_aside(r, peer, FBY_R_STALE, text);
}

static void on_fingerprint(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    char text[120];
    char hex[17];
    snprintf(text, sizeof(text), "its fingerprint is %s, another build",
        fby_hex(m->wrong_fingerprint.fingerprint.bytes, 8, hex));
    fby_r_set_aside(r, peer, FBY_R_FINGERPRINT, text);
}

static void on_header(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    const struct fby_header   *header   = &m->header;
    const struct fby_assembly *assembly = fby_r_assembly(r, header->request);
    struct fby_why             why      = {""};
    uint32_t                   n_chunks = 0;
    for (size_t i = 0; i < header->n_fields; i++) {
        n_chunks += header->fields[i].n_chunks;
    }
    if (assembly != NULL &&
        fby_assembly_header(assembly, header, &why) != FBY_OK) {
        fby_warn("BAD-HEADER", "%s: %s", r->peers[peer].label, why.text);
        r->protocol_errors++;
        fby_window_proto(r->window, r->now_ns, peer);
        return;
    }
    if (r->reported_busy) {
        r->reported_busy = false;
        fby_ready_queue_waiting(r->ready_queue, "");
    }
    (void)fby_window_header(
        r->window, r->now_ns, peer, header->request, n_chunks);
}

static void on_end(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    const struct fby_end *e        = &m->end;
    struct fby_why        why      = {""};
    struct fby_assembly  *assembly = fby_r_assembly(r, e->request);
    struct fby_window_end end      = {
             .peer    = peer,
             .id      = e->request,
             .content = fby_end_content(e),
    };
    if (assembly != NULL && fby_window_has_all(r->window, peer, e->request)) {
        end.matches = fby_assembly_end(assembly, e, &why);
    }
    if (why.text[0] != '\0') {
        fby_warn("BAD-END", "%s: %s", r->peers[peer].label, why.text);
    }
    (void)fby_window_end(r->window, r->now_ns, &end);
}

static void on_leave(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    (void)m;
    fby_info("WORKER-LEAVES", "%s", r->peers[peer].label);
    fby_window_leave(r->window, r->now_ns, peer);
}

static void handle(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    static const struct {
        enum fby_message_type type;
        void (*handle)(
            struct fby_receiver *r, int peer, const struct fby_message *m);
    } table[] = {
        {FBY_MSG_END, on_end},
        {FBY_MSG_HEADER, on_header},
        {FBY_MSG_PONG, on_pong},
        {FBY_MSG_BUSY, on_busy},
        {FBY_MSG_LOST, on_lost},
        {FBY_MSG_WELCOME, on_welcome},
        {FBY_MSG_HELLO_FIRST, on_hello_first},
        {FBY_MSG_REFUSED, on_refused},
        {FBY_MSG_SCANNING, on_scanning},
        {FBY_MSG_OPENED, on_opened},
        {FBY_MSG_OPEN_FAILED, on_open_failed},
        {FBY_MSG_SEND_CONTENT, on_send_content},
        {FBY_MSG_CANNOT, on_cannot},
        {FBY_MSG_STALE_DATA, on_stale},
        {FBY_MSG_WRONG_FINGERPRINT, on_fingerprint},
        {FBY_MSG_LEAVE, on_leave},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].type == m->type) {
            table[i].handle(r, peer, m);
            return;
        }
    }
    r->protocol_errors++;
}

static bool is_ours(const struct fby_receiver *r, const struct fby_message *m)
{
    struct fby_session_id session = fby_message_session(m);
    return fby_session_equal(session, r->session) ||
           (m->type == FBY_MSG_REFUSED && session.value == 0);
}

void fby_r_worker_frame(struct fby_receiver *r, int peer, zmq_msg_t *frame)
{
    struct fby_message message;
    struct fby_why     why  = {""};
    const void        *data = zmq_msg_data(frame);
    size_t             size = zmq_msg_size(frame);
    if (fby_frame_kind(data, size) == FBY_FRAME_CHUNK) {
        fby_r_chunk(r, peer, frame);
        fby_fault_end("client.exit", "client.stop", "chunk");
        return;
    }
    if (fby_message_decode(data, size, &message, &why) != FBY_OK) {
        r->protocol_errors++;
        fby_debug("BAD-MESSAGE", "%s: %s", r->peers[peer].label, why.text);
        return;
    }
    if (is_ours(r, &message)) {
        handle(r, peer, &message);
    } else {
        r->protocol_errors++;
    }
    fby_message_fini(&message);
}
