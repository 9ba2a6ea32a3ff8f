/* SPDX-License-Identifier: Apache-2.0 */
/* act.c - carries out the actions of the window, which decides what to request
 * from which worker (a "peer"), and when to open and close connections. */
#include "trainer_client/receive/receiver_state.h"

#include <unistd.h>

#include "common/log.h"
#include "common/plural.h"
#include "trainer_client/receive/sockets.h"

/* The longest frame that a worker may send: a chunk of this stream at the
 * worst-case size of any codec, or a long message. */
static int64_t longest_frame(const struct fby_raw_layout *layout)
{
    size_t longest = FBY_MESSAGE_MAX;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        size_t frame = FBY_CHUNK_PREFIX +
                       fby_codec_largest_bound(layout->fields[i].chunk_bytes);
        longest = frame > longest ? frame : longest;
    }
    return (int64_t)longest;
}

static void connect_peer(struct fby_receiver *r, struct fby_peer *peer)
{
    const char *endpoint = fby_peer_next_endpoint(peer);
    fby_dealer_close(&peer->socket);
    fby_r_keys_forget_route(peer);
    if (endpoint != NULL) {
        peer->socket =
            fby_dealer_open(r->zmq, endpoint, longest_frame(&r->setup->layout));
    }
}

static struct fby_message hello_message(
    const struct fby_receiver *r, uint64_t route)
{
    return (struct fby_message){
        .type = FBY_MSG_HELLO,
        .hello =
            {
                .session     = r->session,
                .route       = {route},
                .version_min = FBY_PROTOCOL_VERSION,
                .version_max = FBY_PROTOCOL_VERSION,
                .features    = FBY_FEATURES,
                .max_bytes   = r->setup->layout.raw_bytes,
                .job         = r->setup->job,
                .rank        = r->setup->rank,
                .host        = r->host,
                .pid         = (uint32_t)getpid(),
            },
    };
}

static struct fby_expected_batch expected_batch(
    const struct fby_receiver *r, const struct fby_action *action)
{
    const struct fby_setup   *setup    = r->setup;
    struct fby_expected_batch expected = {
        .id       = action->id,
        .epoch    = action->epoch,
        .step     = action->step,
        .content  = &setup->split->content,
        .selected = setup->selected,
    };
    fby_order_rank_rows(fby_r_epoch_order(r, action->epoch), action->step,
        setup->rank, setup->world, &expected.first_row, &expected.rows);
    return expected;
}

static struct fby_message request_message(
    const struct fby_receiver *r, const struct fby_expected_batch *expected)
{
    const struct fby_setup *setup   = r->setup;
    struct fby_message      request = {
             .type = FBY_MSG_REQUEST,
             .request =
                 {
                     .session     = r->session,
                     .request     = expected->id,
                     .content     = setup->content_digest,
                     .data        = r->membership.join.data.digest,
                     .fingerprint = r->membership.join.fingerprint.digest,
                     .seed        = setup->seed,
                     .epoch       = expected->epoch,
                     .step        = expected->step,
                     .first_row   = expected->first_row,
                     .rows        = expected->rows,
                     .fields      = setup->selected,
                     .max_bytes   = setup->layout.raw_bytes,
            },
    };
    request.request.n_choices = setup->n_fields;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        const struct fby_field_delivery *delivery =
            &setup->split->delivery.fields[setup->content_index[i]];
        request.request.choices[i] = (struct fby_coding_choice){
            .filter = delivery->filter, .codec = delivery->codec};
    }
    return request;
}

/* Prepare to check and store the answer, unless the window has dropped the
 * request. Returns false if the stream failed. */
static bool begin_answer(
    struct fby_receiver *r, const struct fby_expected_batch *expected)
{
    struct fby_error_detail why    = {""};
    struct fby_r_answer    *answer = fby_r_find_answer(r, expected->id);
    if (answer == NULL) {
        return true;
    }
    fby_request_slot_clear(&answer->slot);
    if (fby_assembly_begin(&answer->assembly, expected, &why) != FBY_OK) {
        fby_r_fail_stream(r, FOREBAY_CONFIG, &why);
        return false;
    }
    return true;
}

static void send_request(
    struct fby_receiver *r, const struct fby_action *action)
{
    struct fby_expected_batch expected = expected_batch(r, action);
    struct fby_message        request  = request_message(r, &expected);
    expected.request_checksum          = fby_request_checksum(&request.request);
    if (!begin_answer(r, &expected)) {
        return;
    }
    if (expected.rows > 0) {
        fby_r_send_to_peer(r, action->peer, &request);
    } else {
        r->empty_requests[r->n_empty_requests++] = (struct fby_r_empty_request){
            .peer = action->peer, .id = action->id};
    }
}

static void report_unreachable(struct fby_receiver *r, struct fby_peer *peer)
{
    const struct fby_message message = {.type = FBY_MSG_UNREACHABLE,
        .unreachable                          = {.session = r->session,
                                     .instance            = peer->instance,
                                     .text                = peer->label}};
    fby_warn("WORKER-UNREACHABLE", "%s", peer->label);
    if (peer->answer == FBY_PEER_NO_ANSWER) {
        peer->answer = FBY_PEER_UNREACHABLE;
    }
    fby_r_send_to_server(r, &message);
}

static const char hello_name[] = "HELLO";
static const char open_name[]  = "OPEN";

/* HELLO or OPEN is sent. Until a worker says more, the waiting trainer is told
 * of the one that was asked last. */
static void note_unanswered(
    struct fby_receiver *r, struct fby_peer *peer, const char *message)
{
    struct fby_error_detail why         = {""};
    bool                    is_repeated = peer->unanswered == message;
    peer->unanswered                    = message;
    if (r->opened || r->worker_spoke || is_repeated) {
        return;
    }
    (void)fby_error_set(&why, FBY_AGAIN,
        "%s has not answered %s yet: see its log, and check that this host "
        "reaches its address",
        peer->label, message);
    fby_ready_queue_set_wait_reason(r->ready_queue, why.text);
}

/* Why the worker accepts no requests; "": not known. */
static const char *refusal_of(const struct fby_peer *p, char out[32])
{
    if (p->refusal[0] != '\0' || p->unanswered == NULL) {
        return p->refusal;
    }
    snprintf(out, 32, "no answer to %s", p->unanswered);
    return out;
}

/* A worker to name in a warning: the last one whose refusal has a reason, or
 * else the first one. NULL: no worker is known. */
static const struct fby_peer *find_example_peer(const struct fby_receiver *r)
{
    const struct fby_peer *found = NULL;
    for (int i = 0; i < r->n_peers; i++) {
        const struct fby_peer *p = &r->peers[i];
        if (p->used && (found == NULL || p->refusal[0] != '\0')) {
            found = p;
        }
    }
    return found;
}

static void warn_no_workers(struct fby_receiver *r)
{
    char                    silence[32];
    struct fby_error_detail text    = {""};
    const struct fby_peer  *example = find_example_peer(r);
    if (r->membership.server.value == 0) {
        const char *problem = fby_locator_problem(r->locator);
        (void)fby_error_set(&text, FBY_AGAIN,
            "no answer from the server %s%s%s; check that it runs and listens "
            "at this address%s",
            r->setup->server, problem[0] != '\0' ? ": " : "", problem,
            r->setup->has_keys
                ? ", and that the key file is of this server"
                : ", and whether it demands keys (--keys, FOREBAY_KEYS)");
    } else if (example == NULL) {
        (void)fby_error_set(&text, FBY_AGAIN,
            "no worker: the server %s has none registered", r->setup->server);
    } else {
        const char *refusal = refusal_of(example, silence);
        (void)fby_error_set(&text, FBY_AGAIN,
            "no worker: none of the %u known accepts requests now, for example "
            "%s%s%s",
            fby_r_count_workers(r), example->label,
            refusal[0] != '\0' ? ": " : "", refusal);
    }
    r->warned_no_workers = true;
    r->busy_reported     = false;
    fby_warn("NO-WORKERS", "%s", text.text);
    fby_ready_queue_set_wait_reason(r->ready_queue, text.text);
}

static void run_action(struct fby_receiver *r, const struct fby_action *action)
{
    const struct fby_session_id session = r->session;
    struct fby_message          message = {0}; /* sent after the switch */
    switch (action->kind) {
    case FBY_DO_CONNECT:
        connect_peer(r, &r->peers[action->peer]);
        return;
    case FBY_DO_OPEN:
        note_unanswered(r, &r->peers[action->peer], open_name);
        fby_r_send_open(r, action->peer);
        return;
    case FBY_DO_REQUEST:
        send_request(r, action);
        return;
    case FBY_DO_CLOSE:
        fby_dealer_close(&r->peers[action->peer].socket);
        return;
    case FBY_DO_UNREACHABLE:
        report_unreachable(r, &r->peers[action->peer]);
        return;
    case FBY_DO_GONE:
        fby_dealer_close(&r->peers[action->peer].socket);
        fby_r_keys_clear(&r->peers[action->peer]);
        fby_peer_clear(&r->peers[action->peer]);
        return;
    case FBY_DO_WARN_NO_WORKERS:
        warn_no_workers(r);
        return;
    case FBY_DO_FAIL:
        /* In an open stream fby_r_deliver_batches reports the failure, once the
         * batches before the failed step are delivered. */
        if (!r->opened) {
            fby_r_on_window_failure(r);
        }
        return;
    case FBY_DO_HELLO:
        note_unanswered(r, &r->peers[action->peer], hello_name);
        message = hello_message(r, action->number);
        if (r->aead != NULL) {
            fby_r_keys_send_hello(r, action->peer, &message);
            return;
        }
        break;
    case FBY_DO_CANCEL:
        message.type   = FBY_MSG_CANCEL;
        message.cancel = (struct fby_cancel){session, action->id};
        break;
    case FBY_DO_PING:
        message.type = FBY_MSG_PING;
        message.ping = (struct fby_ping){session, action->number};
        break;
    case FBY_DO_CREDIT:
        message.type = FBY_MSG_CREDIT;
        message.credit =
            (struct fby_credit){session, {action->route}, action->number};
        break;
    case FBY_DO_BYE:
        message.type = FBY_MSG_BYE;
        message.bye  = (struct fby_bye){session};
        break;
    }
    fby_r_send_to_peer(r, action->peer, &message);
}

/* Carry out the window's actions, but do not answer requests for zero rows. */
static void run_pending_actions(struct fby_receiver *r)
{
    struct fby_action action;
    while (fby_window_next_action(r->window, &action)) {
        run_action(r, &action);
    }
}

/* Tell the window that a request for zero rows is answered. With `last: short`
 * in the pipeline, this rank may have no rows in the last batch of an epoch. */
static void answer_empty_request(struct fby_receiver *r)
{
    const struct fby_r_empty_request request =
        r->empty_requests[--r->n_empty_requests];
    const struct fby_window_end end = {
        .peer = request.peer, .id = request.id, .matches = true};
    (void)fby_window_header(r->window, r->now_ns, request.peer, request.id, 0);
    run_pending_actions(r);
    (void)fby_window_end(r->window, r->now_ns, &end);
    run_pending_actions(r);
}

void fby_r_run_actions(struct fby_receiver *r)
{
    run_pending_actions(r);
    while (r->n_empty_requests > 0) { /* an answer may add further ones */
        answer_empty_request(r);
    }
    if (r->warned_no_workers && fby_window_n_usable_peers(r->window) > 0) {
        r->warned_no_workers = false;
        fby_info("WORKERS-BACK", "requests go to %s again",
            fby_plural(fby_window_n_usable_peers(r->window), "worker").text);
        fby_ready_queue_set_wait_reason(r->ready_queue, "");
    }
}
