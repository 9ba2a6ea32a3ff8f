/* SPDX-License-Identifier: Apache-2.0 */
/* Handle REQUEST: a client asks for one batch. A request that cannot be served
 * is answered at once. Any other joins work (a batch that is being made) on the
 * same rows, or starts it. Clients are not trusted: all values are checked. */
#include <string.h>

#include "common/fault.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/loop/loop.h"

struct incoming { /* a REQUEST that is being handled */
    struct fby_loop_peer     *peer;
    const struct fby_request *message;
    struct fby_job_spec       spec;
    struct fby_raw_layout     layout;
    struct fby_coding         coding[FBY_MAX_FIELDS]; /* [requested field] */
    uint64_t bytes; /* to charge for the batch, if it is made */
};

/* ---- Answers ------------------------------------------------------------- */

static void send_cannot(struct fby_loop *self, const struct incoming *in,
    enum fby_cannot_code code, const char *text)
{
    self->counts.cannot++;
    fby_info("CANNOT", "for %s: %s", in->peer->name, text);
    fby_loop_send_to_peer(self, in->peer,
        FBY_MESSAGE(CANNOT, cannot, .session = in->peer->id,
            .request = in->message->request, .code = code, .shard = "",
            .key = "", .text = text));
}

/* Answer a request for which this worker has no plan. `nearest` has the content
 * of the request, but other data or another fingerprint; NULL: none has. */
static void send_no_plan(struct fby_loop *self, const struct incoming *in,
    const struct fby_dataset_plan *nearest)
{
    const struct fby_request *message = in->message;
    if (nearest == NULL) {
        fby_loop_send_to_peer(self, in->peer,
            FBY_MESSAGE(SEND_CONTENT, send_content, .session = in->peer->id,
                .request = message->request, .content = message->content));
    } else if (!fby_digest_equal(&nearest->data_digest, &message->data)) {
        fby_loop_send_to_peer(self, in->peer,
            FBY_MESSAGE(STALE_DATA, stale_data, .session = in->peer->id,
                .request = message->request,
                .data = {true, nearest->data_digest}, .shard = "",
                .text = "the data of this worker is not the data requested"));
    } else {
        fby_loop_send_to_peer(self, in->peer,
            FBY_MESSAGE(WRONG_FINGERPRINT, wrong_fingerprint,
                .session = in->peer->id, .request = message->request,
                .fingerprint = nearest->fingerprint));
    }
}

/* ---- Work ---------------------------------------------------------------- */

static struct fby_loop_work *find_joinable_work(
    struct fby_loop *self, const struct incoming *in)
{
    for (struct fby_loop_work *work = self->works; work != NULL;
         work                       = work->next) {
        if (!fby_job_is_aborted(work->job) &&
            fby_job_matches(work->job, &in->spec) &&
            fby_loop_encoding_suits(in->peer, work->job)) {
            return work;
        }
    }
    return NULL;
}

/* Add the chunks that were ready before this request arrived. */
static void add_ready_chunks(struct fby_loop_request *request)
{
    const struct fby_job *job     = request->work->job;
    struct fby_session   *session = request->peer->session;
    fby_err               err     = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < job->layout.n_chunks; i++) {
        const struct fby_job_chunk *chunk = &job->chunks[i];
        if (chunk->ready) {
            err = fby_session_chunk_ready(session, request->id,
                (struct fby_session_chunk){
                    i, FBY_CHUNK_PREFIX + chunk->wire_bytes});
        }
    }
    if (err == FBY_OK && job->ready_chunks == job->layout.n_chunks) {
        err = fby_session_all_ready(session, request->id);
    }
    if (err != FBY_OK) {
        fby_error("SESSION", "request %llu: %s",
            (unsigned long long)request->id.value, fby_strerror(err));
    }
}

static void start_sending(struct fby_loop_request *request)
{
    if (fby_session_header(request->peer->session, request->id, request->chunks,
            request->work->job->layout.n_chunks) == FBY_OK) {
        add_ready_chunks(request);
    }
}

/* Create a request, and a job that makes its batch. The request comes first: it
 * is the tag of the job's memory, and is freed with that memory. */
static fby_err start_work(struct fby_loop *self, const struct incoming *in)
{
    struct fby_job          *job = NULL;
    struct fby_error_detail  why = {{0}};
    struct fby_loop_request *request =
        fby_loop_request_add(in->peer, in->message, in->layout.n_chunks);
    fby_err err = fby_job_create(&in->spec, self->arenas, request, &job, &why);
    if (err != FBY_OK) {
        fby_session_drop(in->peer->session, request->id);
        fby_loop_request_free(self, request);
        return err;
    }
    memcpy(job->coding, in->coding, sizeof(job->coding));
    if (!fby_loop_seals_chunks(in->peer)) {
        job->prefix_session = in->peer->id;
        job->prefix_request = request->id;
    }
    struct fby_loop_work *work = fby_zalloc(sizeof(*work));
    work->job                  = job;
    work->next                 = self->works;
    self->works                = work;
    request->charged           = true;
    fby_loop_request_join(request, work);
    fby_stages_start_job(self->stages, job);
    start_sending(request);
    return FBY_OK;
}

static void join_work(struct fby_loop *self, const struct incoming *in,
    struct fby_loop_work *work)
{
    struct fby_loop_request *request =
        fby_loop_request_add(in->peer, in->message, in->layout.n_chunks);
    fby_loop_request_join(request, work);
    self->counts.joined++;
    start_sending(request);
}

/* ---- Admission ----------------------------------------------------------- */

/* The batch with the lowest result is sent first. The upper 24 bits are from
 * the epoch, the lower 40 bits from the step. After 2^24 epochs the results
 * start again, which affects only the order of sending. */
static uint64_t send_order(const struct fby_request *message)
{
    return (message->epoch & 0xffffff) << 40 |
           (message->step & UINT64_C(0xffffffffff));
}

/* Find the peer that must give up a batch for `asking`, or NULL. The peers are
 * not an array. So fby_session_choose_victim gets each of them together with
 * the victim found so far, if any, and chooses one of the two. */
static struct fby_loop_peer *find_victim(
    const struct fby_loop *self, const struct fby_loop_peer *asking)
{
    struct fby_loop_peer *victim = NULL;
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        struct fby_session *const candidates[2] = {
            peer->session, victim != NULL ? victim->session : NULL};
        if (fby_session_choose_victim(candidates, victim != NULL ? 2 : 1,
                asking->session, self->now_ns) == peer->session) {
            victim = peer;
        }
    }
    return victim;
}

/* Drop a batch of another client, to free memory for a retry of `asking`. */
static void make_room(struct fby_loop *self, const struct fby_loop_peer *asking)
{
    struct fby_loop_peer *victim = find_victim(self, asking);
    if (victim == NULL) {
        return;
    }
    struct fby_loop_request *request =
        fby_loop_find_request(victim, fby_session_shed_batch(victim->session));
    if (request != NULL) {
        fby_info("SHED", "a batch of %s", victim->name);
        fby_loop_request_end(self, request);
    }
}

static void send_too_large(struct fby_loop *self, const struct incoming *in)
{
    struct fby_error_detail why;
    fby_error_set(&why, FBY_FULL,
        "the batch takes %llu bytes, this worker has %llu for batches; raise "
        "its --memory or make the batch smaller",
        (unsigned long long)in->bytes, (unsigned long long)self->budget.total);
    send_cannot(self, in, FBY_CANNOT_MEMORY, why.text);
}

static void send_busy(
    struct fby_loop *self, const struct incoming *in, const char *text)
{
    fby_loop_send_busy(self, in->peer, in->message->request, text);
}

static void send_no_share(struct fby_loop *self, const struct incoming *in)
{
    struct fby_error_detail why;
    fby_error_set(&why, FBY_FULL,
        "no room for a session with batches of %llu bytes: %llu of %llu bytes "
        "are reserved for others (--memory)",
        (unsigned long long)in->peer->max_bytes,
        (unsigned long long)self->budget.entitled,
        (unsigned long long)self->budget.total);
    send_busy(self, in, why.text);
}

static void admit(struct fby_loop *self, const struct incoming *in)
{
    struct fby_loop_work            *work   = find_joinable_work(self, in);
    const struct fby_session_request wanted = {
        .id    = in->message->request,
        .order = send_order(in->message),
        .bytes = work == NULL ? in->bytes : 0,
    };
    switch (fby_session_request(in->peer->session, self->now_ns, &wanted)) {
    case FBY_SESSION_ACCEPT:
        self->counts.requests++;
        if (work != NULL) {
            join_work(self, in, work);
        } else if (start_work(self, in) != FBY_OK) {
            send_busy(self, in, "no memory for a batch");
        }
        break;
    case FBY_SESSION_BUSY:
        make_room(self, in->peer);
        send_busy(self, in, "its memory for batches (--memory) is in use");
        break;
    case FBY_SESSION_NO_SHARE:
        send_no_share(self, in);
        break;
    case FBY_SESSION_TOO_LARGE:
        send_too_large(self, in);
        break;
    case FBY_SESSION_LOST:
        fby_loop_send_lost(self, in->peer, in->message->request);
        break;
    case FBY_SESSION_REPEATED:
    default:
        self->counts.out_of_place++;
        break;
    }
}

/* The most bytes of a sealed chunk of the batch. */
static uint64_t largest_sealed(const struct fby_raw_layout *layout)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        uint32_t bytes = fby_layout_chunk_span(layout, i, 0).raw_bytes;
        largest        = bytes > largest ? bytes : largest;
    }
    return (uint64_t)largest + FBY_CHUNK_PREFIX + FBY_SEAL_BYTES;
}

/* A sealed chunk that is larger than the room for copies is charged with the
 * rest. Otherwise batches could take all memory that its copy needs, and none of
 * them could be sent. */
static uint64_t bytes_to_charge(
    const struct fby_loop *self, const struct fby_raw_layout *layout)
{
    uint64_t bytes  = fby_job_arena_bytes(layout);
    uint64_t sealed = self->keys != NULL ? largest_sealed(layout) : 0;
    return bytes + (sealed > self->copy_bytes ? sealed - self->copy_bytes : 0);
}

/* If the bits of all fields are set, return 0, which also means all fields. So
 * equal requests share work. */
static uint64_t normalize_fields(
    const struct fby_content *content, uint64_t fields)
{
    uint64_t all_bits = (UINT64_C(1) << content->n_fields) - 1;
    return fields == all_bits ? 0 : fields;
}

/* Set in->layout, and check all but the budget. Returns false if a check failed
 * and CANNOT was sent. */
static bool lay_out_or_refuse(struct fby_loop *self, struct incoming *in)
{
    const struct fby_request *message = in->message;
    struct fby_error_detail   why     = {{0}};
    if (fby_job_layout(&in->spec, &in->layout, &why) != FBY_OK ||
        fby_loop_encoding_check(message, &in->layout, &why) != FBY_OK) {
        send_cannot(self, in, FBY_CANNOT_REQUEST, why.text);
        return false;
    }
    if (in->layout.raw_bytes > message->max_bytes) {
        fby_error_set(&why, FBY_FULL,
            "the batch takes %llu bytes, the client has room for %llu",
            (unsigned long long)in->layout.raw_bytes,
            (unsigned long long)message->max_bytes);
        send_cannot(self, in, FBY_CANNOT_FIT, why.text);
        return false;
    }
    return true;
}

/* Answer BUSY or LOST and return true if fault injection demands it. */
static bool refuse_by_fault(struct fby_loop *self, const struct incoming *in)
{
    if (fby_fault_takes_effect("worker.busy", "request")) {
        send_busy(self, in, "a fault is injected");
        return true;
    }
    if (fby_fault_takes_effect("worker.lost", "request")) {
        fby_loop_send_lost(self, in->peer, in->message->request);
        return true;
    }
    return false;
}

void fby_loop_on_request(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *received)
{
    const struct fby_request *message = &received->request;
    struct incoming           in      = {.peer = peer, .message = message};
    struct fby_dataset_plan  *plan    = NULL;
    if (refuse_by_fault(self, &in)) {
        return;
    }
    if (fby_loop_find_plan(self, peer, message, &plan) != FBY_OK) {
        send_no_plan(self, &in, plan);
        return;
    }
    in.spec = (struct fby_job_spec){
        .dataset_plan = plan,
        .seed         = message->seed,
        .epoch        = message->epoch,
        .step         = message->step,
        .first_row    = message->first_row,
        .rows         = message->rows,
        .fields       = normalize_fields(&plan->content, message->fields),
    };
    if (lay_out_or_refuse(self, &in)) {
        in.bytes = bytes_to_charge(self, &in.layout);
        fby_loop_encoding_choose(peer, message, &in.layout, in.coding);
        admit(self, &in);
    }
}
