/* act.c - carries out the actions of the window. */
#include "trainer_client/receive/state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "trainer_client/receive/sockets.h"

typedef void act_fn(struct fby_receiver *r, const struct fby_action *action);

/* The longest frame that a worker may send: a chunk of this stream at the
 * codec's worst-case size, or a long message. */
static int64_t longest_frame(const struct fby_raw_layout *layout)
{
    size_t longest = FBY_MESSAGE_MAX;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        size_t frame = FBY_CHUNK_PREFIX + fby_codec_bound(FBY_CODEC_LZ4,
                                              layout->fields[i].chunk_bytes);
        longest      = frame > longest ? frame : longest;
    }
    return (int64_t)longest;
}

static void act_connect(struct fby_receiver *r, const struct fby_action *action)
{
    struct fby_peer *peer     = &r->peers[action->peer];
    const char      *endpoint = fby_peer_endpoint(peer);
    fby_dealer_close(&peer->socket);
    if (endpoint != NULL) {
        peer->socket =
            fby_dealer_open(r->zmq, endpoint, longest_frame(&r->setup->layout));
    }
}

static void act_hello(struct fby_receiver *r, const struct fby_action *action)
{
    const struct fby_message hello = {
        .type = FBY_MSG_HELLO,
        .hello =
            {
                .session     = r->session,
                .route       = {action->number},
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
    fby_r_to_peer(r, action->peer, &hello);
}

static void act_open(struct fby_receiver *r, const struct fby_action *action)
{
    fby_r_send_open(r, action->peer);
}

static void put_choices(
    const struct fby_setup *setup, struct fby_request *request)
{
    request->n_choices = setup->n_fields;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        const struct fby_field_delivery *delivery =
            &setup->split->delivery.fields[setup->field[i]];
        request->choices[i] = (struct fby_coding_choice){
            .filter = delivery->filter, .codec = delivery->codec};
    }
}

static struct fby_expected_batch expected_of(
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
    fby_order_rank_rows(fby_r_order(r, action->epoch), action->step,
        setup->rank, setup->world, &expected.first_row, &expected.rows);
    return expected;
}

static struct fby_message request_of(
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
    put_choices(setup, &request.request);
    return request;
}

/* Discard what the slot holds for a request that was given up. */
static void clear_slot(struct fby_receiver *r, struct fby_request_id id)
{
    int slot = fby_window_slot(r->window, id);
    if (slot != FBY_NO_SLOT) {
        fby_request_slot_clear(&r->slots[slot]);
    }
}

/* Prepare the assembly of a request; the window may have given it up already.
 * False: the stream failed. */
static bool begin_assembly(
    struct fby_receiver *r, const struct fby_expected_batch *expected)
{
    struct fby_why       why      = {""};
    struct fby_assembly *assembly = fby_r_assembly(r, expected->id);
    if (assembly != NULL &&
        fby_assembly_begin(assembly, expected, &why) != FBY_OK) {
        fby_r_fail(r, FOREBAY_CONFIG, &why);
        return false;
    }
    clear_slot(r, expected->id);
    return true;
}

static void act_request(struct fby_receiver *r, const struct fby_action *action)
{
    struct fby_expected_batch expected = expected_of(r, action);
    struct fby_message        request  = request_of(r, &expected);
    expected.asked                     = fby_request_sum(&request.request);
    if (!begin_assembly(r, &expected)) {
        return;
    }
    if (expected.rows > 0) {
        fby_r_to_peer(r, action->peer, &request);
    } else {
        r->empty[r->n_empty++] =
            (struct fby_r_empty){.peer = action->peer, .id = action->id};
    }
}

static void act_cancel(struct fby_receiver *r, const struct fby_action *action)
{
    const struct fby_message cancel = {.type = FBY_MSG_CANCEL,
        .cancel = {.session = r->session, .request = action->id}};
    fby_r_to_peer(r, action->peer, &cancel);
}

static void act_ping(struct fby_receiver *r, const struct fby_action *action)
{
    const struct fby_message ping = {.type = FBY_MSG_PING,
        .ping = {.session = r->session, .sequence = action->number}};
    fby_r_to_peer(r, action->peer, &ping);
}

static void act_credit(struct fby_receiver *r, const struct fby_action *action)
{
    const struct fby_message credit = {.type = FBY_MSG_CREDIT,
        .credit                              = {.session = r->session,
                                         .route          = {action->route},
                                         .received       = action->number}};
    fby_r_to_peer(r, action->peer, &credit);
}

static void act_bye(struct fby_receiver *r, const struct fby_action *action)
{
    const struct fby_message bye = {
        .type = FBY_MSG_BYE, .bye = {.session = r->session}};
    fby_r_to_peer(r, action->peer, &bye);
}

static void act_close(struct fby_receiver *r, const struct fby_action *action)
{
    fby_dealer_close(&r->peers[action->peer].socket);
}

static void act_unreachable(
    struct fby_receiver *r, const struct fby_action *action)
{
    struct fby_peer         *peer    = &r->peers[action->peer];
    const struct fby_message message = {.type = FBY_MSG_UNREACHABLE,
        .unreachable                          = {.session = r->session,
                                     .instance            = peer->instance,
                                     .text                = peer->label}};
    fby_warn("WORKER-UNREACHABLE", "%s", peer->label);
    if (peer->answer == FBY_PEER_SILENT) {
        peer->answer = FBY_PEER_UNREACHABLE;
    }
    fby_r_to_server(r, &message);
}

static void act_gone(struct fby_receiver *r, const struct fby_action *action)
{
    struct fby_peer *peer = &r->peers[action->peer];
    fby_dealer_close(&peer->socket);
    fby_peer_clear(peer);
}

static uint32_t count_known(const struct fby_receiver *r)
{
    uint32_t n = 0;
    for (int i = 0; i < r->n_peers; i++) {
        n += r->peers[i].used ? 1 : 0;
    }
    return n;
}

/* A worker to name in a message: preferably one that refused with a reason. */
static const struct fby_peer *example_peer(const struct fby_receiver *r)
{
    const struct fby_peer *one = NULL;
    for (int i = 0; i < r->n_peers; i++) {
        const struct fby_peer *p = &r->peers[i];
        if (p->used && (one == NULL || p->refusal[0] != '\0')) {
            one = p;
        }
    }
    return one;
}

static void act_no_workers(
    struct fby_receiver *r, const struct fby_action *action)
{
    (void)action;
    struct fby_why text  = {""};
    uint32_t       known = count_known(r);
    if (r->membership.server.value == 0) {
        (void)fby_because(&text, FBY_AGAIN,
            "no answer from the server %s; is it running, and is that where "
            "it listens?",
            r->setup->server);
    } else if (known == 0) {
        (void)fby_because(&text, FBY_AGAIN,
            "no worker: the server %s has none registered", r->setup->server);
    } else {
        const struct fby_peer *one = example_peer(r);
        (void)fby_because(&text, FBY_AGAIN,
            "no worker: none of %u can be asked now, such as %s%s%s", known,
            one->label, one->refusal[0] != '\0' ? ": " : "", one->refusal);
    }
    r->warned_no_workers = true;
    r->reported_busy     = false;
    fby_warn("NO-WORKERS", "%s", text.text);
    fby_ready_queue_waiting(r->ready_queue, text.text);
}

static void act_fail(struct fby_receiver *r, const struct fby_action *action)
{
    (void)action;
    if (!r->opened) { /* later fby_r_deliver fails after earlier batches */
        fby_r_window_failed(r);
    }
}

static act_fn *const acts[] = {
    [FBY_DO_CONNECT]     = act_connect,
    [FBY_DO_HELLO]       = act_hello,
    [FBY_DO_OPEN]        = act_open,
    [FBY_DO_REQUEST]     = act_request,
    [FBY_DO_CANCEL]      = act_cancel,
    [FBY_DO_PING]        = act_ping,
    [FBY_DO_CREDIT]      = act_credit,
    [FBY_DO_BYE]         = act_bye,
    [FBY_DO_CLOSE]       = act_close,
    [FBY_DO_UNREACHABLE] = act_unreachable,
    [FBY_DO_GONE]        = act_gone,
    [FBY_DO_NO_WORKERS]  = act_no_workers,
    [FBY_DO_FAIL]        = act_fail,
};

static void run_actions(struct fby_receiver *r)
{
    struct fby_action action;
    while (fby_window_next(r->window, &action)) {
        acts[action.kind](r, &action);
    }
}

/* A batch of no rows (`last: short`) is complete without an answer. */
static void answer_empty(struct fby_receiver *r)
{
    const struct fby_r_empty    one = r->empty[--r->n_empty];
    const struct fby_window_end end = {
        .peer = one.peer, .id = one.id, .matches = true};
    (void)fby_window_header(r->window, r->now_ns, one.peer, one.id, 0);
    run_actions(r);
    (void)fby_window_end(r->window, r->now_ns, &end);
    run_actions(r);
}

void fby_r_run_actions(struct fby_receiver *r)
{
    run_actions(r);
    while (r->n_empty > 0) {
        answer_empty(r);
    }
    if (r->warned_no_workers && fby_window_usable(r->window) > 0) {
        r->warned_no_workers = false;
        fby_info(
            "WORKERS-BACK", "%u can be asked", fby_window_usable(r->window));
        fby_ready_queue_waiting(r->ready_queue, "");
    }
}
