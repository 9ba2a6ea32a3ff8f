/* server.c - messages from the server: joined, refused, list of workers. */
#include "trainer_client/receive/state.h"

#include <string.h>

#include "common/clock.h"
#include "common/log.h"

static void on_joined(struct fby_receiver *r, const struct fby_message *m)
{
    struct fby_why why = {""};
    fby_membership_joined(&r->membership, &m->joined, r->now_ns);
    if (r->opened) {
        return; /* the server compares our digests */
    }
    if (!r->listed) {
        fby_ready_queue_waiting(
            r->ready_queue, "the server knows no worker yet");
    }
    if (fby_dataset_agreement_pin(&r->agreement, &m->joined.data,
            &m->joined.fingerprint, "the job", &why) != FBY_OK) {
        fby_r_fail(r, FOREBAY_CONFIG, &why);
    }
}

/* Whether a refusal ends the stream. Ranks of one job must have the same data.
 * Everything else was agreed on at the first JOIN. A server that refuses it
 * later has lost its state and admitted another session before this one. */
static bool is_fatal(
    const struct fby_receiver *r, enum fby_join_refused_code code)
{
    return !r->opened || code == FBY_JOIN_DATA || code == FBY_JOIN_FINGERPRINT;
}

static void on_refused(struct fby_receiver *r, const struct fby_message *m)
{
    const struct fby_join_refused *refused = &m->join_refused;
    struct fby_why                 why     = {""};
    (void)fby_because(
        &why, FBY_CONFIG, "the server refused: %.400s", refused->text);
    if (is_fatal(r, refused->code)) {
        fby_error("JOIN-REFUSED", "%s", why.text);
        fby_r_fail(r, FOREBAY_CONFIG, &why);
    } else {
        fby_warn("JOIN-REFUSED",
            "%s; going on with the workers known, and asking again", why.text);
        fby_membership_refused(&r->membership, r->now_ns);
    }
}

static void on_join_first(struct fby_receiver *r, const struct fby_message *m)
{
    (void)m;
    fby_membership_join_first(&r->membership, r->now_ns);
}

static void add_worker(
    struct fby_receiver *r, const struct fby_worker_info *info)
{
    int     peer = FBY_NO_PEER;
    fby_err err  = fby_window_peer_add(
         r->window, r->now_ns, info->instance, fby_peer_key(info), &peer);
    if (err == FBY_OK && peer >= r->n_peers) {
        r->n_peers = peer + 1;
    }
    if (err == FBY_OK &&
        (!r->peers[peer].used ||
            !fby_instance_equal(r->peers[peer].instance, info->instance))) {
        fby_peer_set(&r->peers[peer], info);
        fby_info("WORKER-FOUND", "%s", r->peers[peer].label);
    }
    fby_r_run_actions(r);
}

static void unlist_peer(struct fby_receiver *r, int peer)
{
    fby_window_peer_unlist(r->window, r->now_ns, peer);
    fby_r_run_actions(r);
}

static bool is_listed(
    const struct fby_workers *workers, struct fby_instance_id instance)
{
    for (size_t i = 0; i < workers->n_added; i++) {
        if (fby_instance_equal(workers->added[i].instance, instance)) {
            return true;
        }
    }
    return false;
}

static void remove_workers(
    struct fby_receiver *r, const struct fby_workers *workers)
{
    for (int i = 0; i < r->n_peers; i++) {
        const struct fby_peer *p = &r->peers[i];
        bool                   gone =
            p->used && workers->full && !is_listed(workers, p->instance);
        for (size_t j = 0; p->used && j < workers->removed.n && !gone; j++) {
            gone = fby_instance_equal(workers->removed.at[j], p->instance);
        }
        if (gone) {
            unlist_peer(r, i);
        }
    }
}

static void on_workers(struct fby_receiver *r, const struct fby_message *m)
{
    const struct fby_workers *workers = &m->workers;
    if (!fby_membership_workers(&r->membership, workers, r->now_ns)) {
        return;
    }
    for (size_t i = 0; i < workers->n_added; i++) {
        r->listed = true;
        add_worker(r, &workers->added[i]);
    }
    remove_workers(r, workers);
}

static void handle(struct fby_receiver *r, const struct fby_message *m)
{
    static const struct {
        enum fby_message_type type;
        void (*handle)(struct fby_receiver *r, const struct fby_message *m);
    } table[] = {
        {FBY_MSG_JOINED, on_joined},
        {FBY_MSG_JOIN_REFUSED, on_refused},
        {FBY_MSG_JOIN_FIRST, on_join_first},
        {FBY_MSG_WORKERS, on_workers},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].type == m->type) {
            table[i].handle(r, m);
            return;
        }
    }
    r->protocol_errors++;
}

void fby_r_server_frame(struct fby_receiver *r, zmq_msg_t *frame)
{
    struct fby_message message;
    struct fby_why     why = {""};
    if (fby_message_decode(zmq_msg_data(frame), zmq_msg_size(frame), &message,
            &why) != FBY_OK) {
        r->protocol_errors++;
        fby_debug("BAD-MESSAGE", "server: %s", why.text);
        return;
    }
    if (fby_session_equal(fby_message_session(&message), r->session)) {
        handle(r, &message);
    } else {
        r->protocol_errors++;
    }
    fby_message_fini(&message);
}
