/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - handles messages from the server: answers to JOIN, and lists of
 * workers. */
#include "trainer_client/receive/receiver_state.h"

#include "common/log.h"
#include "common/peer_endpoint.h"

/* The server does not admit the key of this stream, or not for such messages, or
 * it speaks another version of the protocol. */
static void on_refused(
    struct fby_receiver *r, const struct fby_refused *refused)
{
    char                    text[FBY_REFUSAL_SIZE];
    struct fby_error_detail why = {""};
    const char *word = refused->code == FBY_REFUSED_VERSION ? "VERSION-REFUSED"
                                                            : "KEY-REFUSED";
    (void)fby_error_set(&why, FBY_CONFIG, "the server refused: %s",
        fby_refusal_explain(refused, text));
    if (r->opened) {       /* workers admit the ticket until it expires */
        if (!r->refused) { /* as the answer to each RENEW */
            fby_warn(word, "%s", why.text);
        }
        r->refused = true;
        return;
    }
    fby_error(word, "%s", why.text);
    fby_r_fail_stream(r, FOREBAY_CONFIG, &why);
}

static void on_joined(struct fby_receiver *r, const struct fby_joined *joined)
{
    struct fby_error_detail why = {""};
    /* Else it answers a RENEW. */
    bool is_first = r->membership.server.value != joined->server.value;
    fby_membership_joined(&r->membership, joined, r->now_ns);
    r->refused = false;
    fby_locator_set_lease(r->locator, r->membership.lease_ns);
    if (r->opened) {
        return; /* JOIN had the chosen digests, and the server compared them */
    }
    if (is_first && !r->worker_listed) {
        fby_ready_queue_set_wait_reason(
            r->ready_queue, "the server knows no worker yet");
    }
    if (fby_dataset_agreement_pin(&r->agreement, &joined->data,
            &joined->fingerprint, "the job", &why) != FBY_OK) {
        fby_r_fail_stream(r, FOREBAY_CONFIG, &why);
    }
}

/* True if a refusal of JOIN ends the stream. If the stream is open, the server
 * has lost its state, and admitted another session in place of ours. A later
 * JOIN may succeed, so the stream goes on, unless the refusal says that the
 * job's other ranks have other data. */
static bool ends_stream(
    const struct fby_receiver *r, enum fby_join_refused_code code)
{
    return !r->opened || code == FBY_JOIN_DATA || code == FBY_JOIN_FINGERPRINT;
}

static void on_join_refused(
    struct fby_receiver *r, const struct fby_join_refused *refused)
{
    struct fby_error_detail why = {""};
    (void)fby_error_set(
        &why, FBY_CONFIG, "the server refused: %.400s", refused->text);
    if (ends_stream(r, refused->code)) {
        fby_error("JOIN-REFUSED", "%s", why.text);
        fby_r_fail_stream(r, FOREBAY_CONFIG, &why);
    } else {
        fby_warn("JOIN-REFUSED",
            "%s; using the known workers until JOIN succeeds", why.text);
        fby_membership_refused(&r->membership, r->now_ns);
    }
}

static void add_worker(
    struct fby_receiver *r, const struct fby_worker_info *info)
{
    int     peer = FBY_NO_PEER;
    fby_err err  = fby_window_peer_add(r->window, r->now_ns, info->instance,
         fby_peer_endpoints_hash(info), &peer);
    if (err == FBY_OK && peer >= r->n_peers) {
        r->n_peers = peer + 1;
    }
    if (err == FBY_OK &&
        (!r->peers[peer].used ||
            !fby_instance_equal(r->peers[peer].instance, info->instance))) {
        fby_r_keys_clear(&r->peers[peer]);
        fby_peer_assign(&r->peers[peer], info);
        fby_info("WORKER-FOUND", "%s", r->peers[peer].label);
    }
    if (err == FBY_OK) {
        fby_r_keys_set_ticket(r, peer, info);
    }
    fby_r_run_actions(r);
}

/* True if this client may connect to the worker. A server that checks nothing
 * could list files of this machine, or names that ZeroMQ would resolve. */
static bool has_valid_endpoints(
    struct fby_receiver *r, const struct fby_worker_info *info)
{
    struct fby_error_detail why = {""};
    for (size_t i = 0; i < info->endpoints.n; i++) {
        if (fby_peer_endpoint_check(info->endpoints.at[i], &why) != FBY_OK) {
            r->protocol_errors++;
            fby_warn(
                "WORKER-IGNORED", "worker %.100s: %s", info->host, why.text);
            return false;
        }
    }
    return true;
}

static bool adds_worker(
    const struct fby_workers *workers, struct fby_instance_id instance)
{
    for (size_t i = 0; i < workers->n_added; i++) {
        if (fby_instance_equal(workers->added[i].instance, instance)) {
            return true;
        }
    }
    return false;
}

/* True if the list removes the worker, or is full and does not have it. */
static bool is_unlisted(
    const struct fby_workers *workers, struct fby_instance_id instance)
{
    for (size_t i = 0; i < workers->removed.n; i++) {
        if (fby_instance_equal(workers->removed.at[i], instance)) {
            return true;
        }
    }
    return workers->is_complete && !adds_worker(workers, instance);
}

static void remove_unlisted_workers(
    struct fby_receiver *r, const struct fby_workers *workers)
{
    for (int i = 0; i < r->n_peers; i++) {
        const struct fby_peer *p = &r->peers[i];
        if (p->used && is_unlisted(workers, p->instance)) {
            fby_window_peer_unlist(r->window, r->now_ns, i);
            fby_r_run_actions(r);
        }
    }
}

static void on_workers(
    struct fby_receiver *r, const struct fby_workers *workers)
{
    if (!fby_membership_accept_list(&r->membership, workers, r->now_ns)) {
        return;
    }
    for (size_t i = 0; i < workers->n_added; i++) {
        if (has_valid_endpoints(r, &workers->added[i])) {
            r->worker_listed = true;
            add_worker(r, &workers->added[i]);
        }
    }
    remove_unlisted_workers(r, workers);
}

void fby_r_report_invalid(
    struct fby_receiver *r, const char *from, const char *cause)
{
    struct fby_error_detail why = {""};
    (void)fby_error_set(&why, FBY_PROTO,
        "%.260s sent an invalid message: %.150s; if this continues, install "
        "one "
        "version of forebay on all hosts",
        from, cause);
    fby_ready_queue_set_wait_reason(r->ready_queue, why.text);
    r->busy_reported = true;
}

bool fby_r_decode_message(struct fby_receiver *r, zmq_msg_t *frame,
    const char *from, struct fby_message *out)
{
    struct fby_error_detail why = {""};
    if (fby_message_decode(
            zmq_msg_data(frame), zmq_msg_size(frame), out, &why) != FBY_OK) {
        r->protocol_errors++;
        fby_warn("BAD-MESSAGE", "%s: %s", from, why.text);
        fby_r_report_invalid(r, from, why.text);
        return false;
    }
    struct fby_session_id session = fby_message_session(out);
    /* a worker that cannot decode HELLO sends REFUSED without a session */
    bool has_no_session = out->type == FBY_MSG_REFUSED && session.value == 0;
    if (fby_session_equal(session, r->session) || has_no_session) {
        return true;
    }
    r->protocol_errors++;
    fby_message_fini(out);
    return false;
}

void fby_r_on_server_frame(struct fby_receiver *r, zmq_msg_t *frame)
{
    struct fby_message message;
    if (!fby_r_decode_message(r, frame, "server", &message)) {
        return;
    }
    fby_locator_heard(r->locator, r->now_ns);
    switch ((int)message.type) { /* a server may send only these */
    case FBY_MSG_JOINED:
        on_joined(r, &message.joined);
        break;
    case FBY_MSG_JOIN_REFUSED:
        on_join_refused(r, &message.join_refused);
        break;
    case FBY_MSG_REFUSED:
        on_refused(r, &message.refused);
        break;
    case FBY_MSG_JOIN_FIRST:
        fby_membership_join_first(&r->membership, r->now_ns);
        break;
    case FBY_MSG_WORKERS:
        on_workers(r, &message.workers);
        break;
    default:
        r->protocol_errors++;
    }
    fby_message_fini(&message);
}
