/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - handles messages from workers, and reports them to the window. */
#include "trainer_client/receive/receiver_state.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "pipeline/sources/traits.h"

/* A worker divides its room for sealed chunks among all routes, so the window of
 * such a route may become less than WELCOME says, but hardly less than this. */
enum { LEAST_SEALED_WINDOW = 64 * 1024 };

/* The bytes that a worker surely sends on the route of `peer` before CREDIT. */
static uint64_t send_window_of(
    const struct fby_receiver *r, int peer, const struct fby_welcome *welcome)
{
    bool is_divided = fby_r_keys_seal_chunks(r, peer) &&
                      welcome->send_window > LEAST_SEALED_WINDOW;
    return is_divided ? LEAST_SEALED_WINDOW : welcome->send_window;
}

static void on_welcome(
    struct fby_receiver *r, int peer, const struct fby_welcome *welcome)
{
    const struct fby_window_welcome report = {
        .instance    = welcome->instance,
        .route       = welcome->route.value,
        .send_window = send_window_of(r, peer, welcome),
        .open_ids    = welcome->requests.at,
        .n_open      = welcome->requests.n,
    };
    if (welcome->version != FBY_PROTOCOL_VERSION) {
        fby_r_set_aside(
            r, peer, FBY_R_VERSION, "the worker chose another version");
        return;
    }
    if (!fby_instance_equal(r->peers[peer].instance, welcome->instance)) {
        r->peers[peer].instance = welcome->instance; /* it was restarted */
    }
    r->peers[peer].refusal[0] = '\0';
    r->peers[peer].unanswered = NULL;
    fby_r_keys_on_welcome(&r->peers[peer], welcome);
    fby_window_welcome(r->window, r->now_ns, peer, &report);
}

/* The worker may be asked again later. `word` is for the log. */
static void refused_for_now(
    struct fby_receiver *r, int peer, const char *word, const char *text)
{
    struct fby_peer *p = &r->peers[peer];
    snprintf(p->refusal, sizeof(p->refusal), "%.250s", text);
    p->unanswered = NULL;
    fby_warn(word, "%s: %s", p->label, text);
    fby_window_refused_full(r->window, r->now_ns, peer);
}

static void on_refused(
    struct fby_receiver *r, int peer, const struct fby_refused *refused)
{
    char text[FBY_REFUSAL_SIZE];
    (void)fby_refusal_explain(refused, text);
    switch (refused->code) {
    case FBY_REFUSED_FULL:
        refused_for_now(r, peer, "WORKER-FULL", text);
        return;
    case FBY_REFUSED_LEAVING:
        fby_window_unreachable(r->window, r->now_ns, peer);
        return;
    case FBY_REFUSED_VERSION:
        if (r->setup->has_keys) { /* it is not sealed, and may be forged */
            refused_for_now(r, peer, "VERSION-REFUSED", text);
        } else {
            fby_r_set_aside(r, peer, FBY_R_VERSION, text);
        }
        return;
    case FBY_REFUSED_KEY: /* a later ticket may be accepted */
        refused_for_now(r, peer, "KEY-REFUSED", text);
        return;
    }
}

static void on_pong(
    struct fby_receiver *r, int peer, const struct fby_pong *pong)
{
    const struct fby_window_pong report = {
        .instance = pong->instance,
        .sequence = pong->sequence,
        .open_ids = pong->requests.at,
        .n_open   = pong->requests.n,
    };
    fby_window_pong(r->window, r->now_ns, peer, &report);
}

/* Tell the waiting trainer what the worker lacks. An older worker does not say
 * it, so then tell the possible reasons. */
static void on_busy(
    struct fby_receiver *r, int peer, const struct fby_busy *busy)
{
    struct fby_error_detail why = {""};
    if (!r->busy_reported) {
        bool says_why = busy->text[0] != '\0';
        (void)fby_error_set(&why, FBY_AGAIN,
            "%s is busy: %.300s; the request is repeated%s",
            r->peers[peer].label,
            says_why ? busy->text
                     : "it lacks memory, open files or queue space for a batch",
            says_why ? "" : "; if this continues, see its log");
        fby_ready_queue_set_wait_reason(r->ready_queue, why.text);
        r->busy_reported = true;
    }
    fby_window_busy(r->window, r->now_ns, peer, busy->request,
        (int64_t)busy->retry_ms * FBY_NS_PER_MS);
}

/* Keep where `sample` is, for the exception that a trainer gets. */
static void note_bad_sample(struct fby_receiver *r, int peer, const char *shard,
    struct fby_failed_sample sample)
{
    r->bad_sample = sample;
    snprintf(r->bad_sample.shard, sizeof(r->bad_sample.shard), "%s", shard);
    snprintf(r->bad_sample.worker, sizeof(r->bad_sample.worker), "%s",
        r->peers[peer].label);
}

/* Keep the first of several refusals, for the log (deliver.c). */
static void note_refusal(
    struct fby_receiver *r, int peer, struct fby_request_id request)
{
    const struct fby_r_answer *answer = fby_r_find_answer(r, request);
    fby_debug("WORKER-CANNOT", "%s: %s", r->peers[peer].label, r->cannot.text);
    if (answer == NULL || r->refusal.open) {
        return;
    }
    r->refusal = (struct fby_r_refusal){
        .open  = true,
        .epoch = answer->assembly.expected.epoch,
        .step  = answer->assembly.expected.step,
        .text  = r->cannot,
    };
    (void)fby_error_prefix(
        &r->refusal.text, FBY_IO, "%s", r->peers[peer].label);
}

void fby_r_append_remedy(struct fby_error_detail *why, const char *remedy)
{
    const struct fby_error_detail cause = *why;
    (void)fby_error_set(why, FBY_BAD_SAMPLE, "%s", remedy);
    (void)fby_error_prefix(why, FBY_BAD_SAMPLE, "%s", cause.text);
}

/* True if a clause of the text begins with a verb: what to do. */
static bool has_remedy(const char *text)
{
    static const char *const verbs[] = {"add ", "choose ", "convert ",
        "correct ", "give ", "leave ", "make ", "raise ", "remove ", "rename ",
        "repack ", "replace ", "save ", "say ", "scale ", "set ", "turn ",
        "unpack ", "use ", "write "};
    for (const char *at = strpbrk(text, ":;"); at != NULL;
         at             = strpbrk(at + 1, ":;")) {
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
            if (at[1] == ' ' &&
                strncmp(at + 2, verbs[i], strlen(verbs[i])) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void on_cannot(
    struct fby_receiver *r, int peer, const struct fby_cannot *cannot)
{
    /* Only a bad sample is the same for all workers. */
    bool dataset_is_cause =
        cannot->shard[0] != '\0' && cannot->code == FBY_CANNOT_SAMPLE;
    if (dataset_is_cause) { /* the text names shard, sample and offset */
        (void)fby_error_set(&r->cannot, FBY_BAD_SAMPLE, "%s", cannot->text);
        (void)fby_error_prefix(&r->cannot, FBY_BAD_SAMPLE, "in %s",
            fby_setup_data_name(r->setup).text);
    } else {
        (void)fby_error_set(&r->cannot, FBY_IO, "%s", cannot->text);
        (void)fby_error_prefix(&r->cannot, FBY_IO, "%s", r->peers[peer].label);
    }
    /* The shards of a source of files are no files: name the sample's. */
    bool has_files =
        fby_source_traits(r->setup->split->content.source)->has_files;
    note_bad_sample(r, peer, has_files ? cannot->key : cannot->shard,
        (struct fby_failed_sample){.has_sample = cannot->shard[0] != '\0',
            .sample                            = cannot->sample,
            .offset                            = cannot->offset});
    note_refusal(r, peer, cannot->request);
    if (dataset_is_cause && !has_remedy(cannot->text)) {
        fby_r_append_remedy(&r->cannot,
            "replace it, set on_bad_sample: substitute, or list all bad "
            "samples with forebay lint --pipeline FILE --check");
    }
    fby_window_cannot(
        r->window, r->now_ns, peer, cannot->request, (int)cannot->code);
}

static void on_stale(
    struct fby_receiver *r, int peer, const struct fby_stale_data *stale)
{
    note_bad_sample(r, peer, stale->shard, (struct fby_failed_sample){0});
    fby_r_set_aside(r, peer, FBY_R_STALE, stale->text);
}

static void on_wrong_fingerprint(
    struct fby_receiver *r, int peer, const struct fby_digest *fingerprint)
{
    char text[160];
    char hex[17]; /* the first 8 bytes */
    snprintf(text, sizeof(text),
        "its fingerprint is %s: it runs another build%s",
        fby_hex(fingerprint->bytes, 8, hex), FBY_OTHER_BUILD_REMEDY);
    fby_r_set_aside(r, peer, FBY_R_FINGERPRINT, text);
}

static void on_header(
    struct fby_receiver *r, int peer, const struct fby_header *header)
{
    const struct fby_r_answer *answer   = fby_r_find_answer(r, header->request);
    struct fby_error_detail    why      = {""};
    uint32_t                   n_chunks = 0;
    for (size_t i = 0; i < header->n_fields; i++) {
        n_chunks += header->fields[i].n_chunks;
    }
    if (answer != NULL &&
        fby_assembly_check_header(&answer->assembly, header, &why) != FBY_OK) {
        fby_warn("BAD-HEADER", "%s: %s", r->peers[peer].label, why.text);
        fby_r_report_invalid(r, r->peers[peer].label, why.text);
        snprintf(r->peers[peer].refusal, sizeof(r->peers[peer].refusal),
            "invalid %.200s", why.text); /* until it answers HELLO */
        r->protocol_errors++;
        fby_window_breach(r->window, r->now_ns, peer);
        return;
    }
    if (r->busy_reported) {
        r->busy_reported = false;
        fby_ready_queue_set_wait_reason(r->ready_queue, "");
    }
    (void)fby_window_header(
        r->window, r->now_ns, peer, header->request, n_chunks);
}

static void on_end(struct fby_receiver *r, int peer, const struct fby_end *end)
{
    struct fby_error_detail why    = {""};
    struct fby_r_answer    *answer = fby_r_find_answer(r, end->request);
    struct fby_window_end   report = {
          .peer         = peer,
          .id           = end->request,
          .content_hash = fby_end_content_hash(end),
    };
    if (answer != NULL &&
        fby_window_has_all_chunks(r->window, peer, end->request)) {
        report.matches = fby_assembly_accept_end(&answer->assembly, end, &why);
    }
    if (why.text[0] != '\0') {
        fby_warn("BAD-END", "%s: %s", r->peers[peer].label, why.text);
    }
    (void)fby_window_end(r->window, r->now_ns, &report);
}

/* Handle a message that answers a request. */
static void handle_answer(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    switch ((int)m->type) {
    case FBY_MSG_HEADER:
        on_header(r, peer, &m->header);
        break;
    case FBY_MSG_END:
        on_end(r, peer, &m->end);
        break;
    case FBY_MSG_BUSY:
        on_busy(r, peer, &m->busy);
        break;
    case FBY_MSG_LOST:
        fby_window_lost(r->window, r->now_ns, peer, m->lost.request);
        break;
    case FBY_MSG_CANNOT:
        on_cannot(r, peer, &m->cannot);
        break;
    case FBY_MSG_SEND_CONTENT:
        fby_window_send_content(
            r->window, r->now_ns, peer, m->send_content.request);
        break;
    case FBY_MSG_STALE_DATA:
        on_stale(r, peer, &m->stale_data);
        break;
    case FBY_MSG_WRONG_FINGERPRINT:
        on_wrong_fingerprint(r, peer, &m->wrong_fingerprint.fingerprint);
        break;
    default:
        r->protocol_errors++;
    }
}

static void handle_message(
    struct fby_receiver *r, int peer, const struct fby_message *m)
{
    switch ((int)m->type) { /* a worker may send only these */
    case FBY_MSG_WELCOME:
        on_welcome(r, peer, &m->welcome);
        break;
    case FBY_MSG_HELLO_FIRST:
        if (fby_r_keys_on_hello_first(r, peer, &m->hello_first)) {
            fby_window_hello_first(r->window, r->now_ns, peer);
        }
        break;
    case FBY_MSG_REFUSED:
        on_refused(r, peer, &m->refused);
        break;
    case FBY_MSG_PONG:
        on_pong(r, peer, &m->pong);
        break;
    case FBY_MSG_SCANNING:
        fby_r_on_scanning(r, peer, &m->scanning);
        break;
    case FBY_MSG_OPENED:
        fby_r_on_opened(r, peer, &m->opened);
        break;
    case FBY_MSG_OPEN_FAILED:
        fby_r_on_open_failed(r, peer, &m->open_failed);
        break;
    case FBY_MSG_LEAVE:
        fby_info("WORKER-LEAVES", "%s", r->peers[peer].label);
        fby_window_leave(r->window, r->now_ns, peer);
        break;
    default:
        handle_answer(r, peer, m);
    }
}

void fby_r_on_worker_frame(struct fby_receiver *r, int peer, zmq_msg_t *frame)
{
    struct fby_message message;
    if (!fby_r_keys_open(r, peer, frame)) {
        return;
    }
    if (fby_frame_kind(zmq_msg_data(frame), zmq_msg_size(frame)) ==
        FBY_FRAME_CHUNK) {
        fby_r_on_chunk(r, peer, frame);
        fby_fault_kill_or_stop("client.exit", "client.stop", "chunk");
        return;
    }
    if (fby_r_decode_message(r, frame, r->peers[peer].label, &message)) {
        handle_message(r, peer, &message);
        fby_message_fini(&message);
    }
}
