/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - opens the stream: from the first JOIN to the first REQUEST.
 *
 * All known workers get OPEN, and answer with the digest of their dataset. A
 * pinned (required) digest or the most frequent answer decides which dataset
 * the stream uses. Then the window, which decides what to request, starts. It
 * uses the workers with this dataset. The others are set aside (not used). */
#include "trainer_client/receive/receiver_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/plural.h"
#include "common/timer.h"
#include "pipeline/class_names.h"
#include "trainer_client/receive/shard_list_store.h"

/* If answers differ or a worker failed, the dataset is chosen so long after the
 * last answer, because more workers may be registering. */
#define DECIDE_DELAY_NS (300 * FBY_NS_PER_MS)
/* The choice does not wait for a worker that is silent for longer. */
#define SILENT_NS (5 * FBY_NS_PER_S)
/* Delay before OPEN is repeated. */
#define REOPEN_NS (500 * FBY_NS_PER_MS)

/* ---- sending OPEN -------------------------------------------------------- */

void fby_r_open_begin(struct fby_receiver *r)
{
    const struct fby_setup *setup = r->setup;
    gethostname(r->host, FBY_HOST_MAX);
    const struct fby_join join = {
        .session = r->session,
        .job     = setup->job,
        .rank    = setup->rank,
        .world   = setup->world,
        .host    = r->host,
        .pid     = (uint32_t)getpid(),
        .seed    = setup->seed,
        .content = setup->content_digest,
        .epoch   = setup->token.epoch,
        .step    = setup->token.step,
    };
    fby_membership_init(&r->membership, &join,
        fby_scaled_timeout_ns(FBY_NS_PER_S), fby_now_ns());
    if (setup->has_token) {
        const struct fby_maybe_digest data = {
            .known = true, .digest = setup->token.data};
        const struct fby_maybe_digest fingerprint = {
            .known = true, .digest = setup->token.fingerprint};
        fby_err err = fby_dataset_agreement_pin(
            &r->agreement, &data, &fingerprint, "the token", NULL);
        (void)err; /* cannot fail: there is no earlier pin */
    }
    fby_r_tell_no_server(r);
}

void fby_r_tell_no_server(struct fby_receiver *r)
{
    struct fby_error_detail why     = {""};
    const char             *problem = fby_locator_problem(r->locator);
    (void)fby_error_set(&why, FBY_AGAIN, "no answer from the server %s%s%s",
        r->setup->server, problem[0] != '\0' ? ": " : "", problem);
    fby_ready_queue_set_wait_reason(r->ready_queue, why.text);
}

void fby_r_send_open(struct fby_receiver *r, int peer)
{
    struct fby_peer *p                = &r->peers[peer];
    p->open_id                        = (struct fby_open_id){++r->last_open_id};
    p->reopen_at_ns                   = 0;
    p->silent_since_ns                = r->now_ns;
    const struct fby_maybe_digest any = {.known = false};
    const struct fby_message      open = {
             .type = FBY_MSG_OPEN,
             .open =
                 {
                     .session = r->session,
                     .open_id = p->open_id,
                     .content = {r->setup->content.data, r->setup->content.size},
                     .location = r->setup->location.pattern,
                     .data     = p->accepts_any_data ? any : r->agreement.data,
                     .fingerprint =
                    p->accepts_any_data ? any : r->agreement.fingerprint,
                     .classes_location = r->setup->classes.pattern,
            },
    };
    fby_r_send_to_peer(r, peer, &open);
}

void fby_r_set_aside(struct fby_receiver *r, int peer,
    enum fby_r_aside_reason code, const char *text)
{
    struct fby_peer *p = &r->peers[peer];
    fby_warn("WORKER-ASIDE", "%s: %s", p->label, text);
    snprintf(p->refusal, sizeof(p->refusal), "%.255s", text);
    p->is_aside        = true;
    r->last_aside_code = code;
    (void)fby_error_set(&r->last_aside, FBY_STALE, "%s", text);
    (void)fby_error_prefix(&r->last_aside, FBY_STALE, "%s", p->label);
    fby_window_set_aside(r->window, r->now_ns, peer, (int)code);
}

/* ---- answers ------------------------------------------------------------- */

static struct fby_shard_list list_of(const struct fby_candidate *candidate)
{
    return (struct fby_shard_list){
        candidate->samples, candidate->shards, candidate->n_shards};
}

/* `list` is the worker's; NULL: it is not known. */
static void describe_mismatch(const struct fby_receiver *r,
    const struct fby_peer *p, const struct fby_shard_list *list,
    struct fby_error_detail *out)
{
    static const struct fby_shard_list_words words = {
        "in the stream", "at the worker"};

    struct fby_error_detail  first     = {""};
    struct fby_shard_list    stream    = list_of(r->dataset);
    const struct fby_digest *data      = &r->agreement.data.digest;
    bool                     same_data = fby_digest_equal(&p->data, data);
    const char              *name   = same_data ? "fingerprint" : "data digest";
    const struct fby_digest *theirs = same_data ? &p->fingerprint : &p->data;
    const struct fby_digest *ours =
        same_data ? &r->agreement.fingerprint.digest : data;
    char their_hex[17]; /* the first 8 bytes of the digest */
    char our_hex[17];
    if (!same_data && list != NULL) {
        fby_shard_list_first_difference(&stream, list, &words, &first);
        (void)fby_error_prefix(&first, FBY_STALE, "; first difference");
    }
    (void)fby_error_set(out, FBY_STALE, "%s %s, the stream has %s%s%s", name,
        fby_hex(theirs->bytes, 8, their_hex), fby_hex(ours->bytes, 8, our_hex),
        first.text, same_data ? FBY_OTHER_BUILD_REMEDY : "");
}

static bool agrees_with_stream(
    const struct fby_receiver *r, const struct fby_peer *p)
{
    return fby_digest_equal(&p->data, &r->agreement.data.digest) &&
           fby_digest_equal(&p->fingerprint, &r->agreement.fingerprint.digest);
}

/* If the worker's answer to OPEN agrees with the stream, use the worker. Set it
 * aside after another answer, and do nothing before its answer. `list` is that
 * of its shards; NULL: it is not known. */
static void use_or_set_aside(
    struct fby_receiver *r, int peer, const struct fby_shard_list *list)
{
    struct fby_peer        *p   = &r->peers[peer];
    struct fby_error_detail why = {""};
    if (p->answer == FBY_PEER_FAILED) {
        fby_r_set_aside(r, peer, FBY_R_OPEN_FAILED, p->failure.text);
    } else if (p->answer == FBY_PEER_OPENED && agrees_with_stream(r, p)) {
        fby_window_opened(r->window, r->now_ns, peer);
    } else if (p->answer == FBY_PEER_OPENED) {
        describe_mismatch(r, p, list, &why);
        fby_r_set_aside(r, peer, FBY_R_DIFFERS, why.text);
    }
}

void fby_r_on_opened(
    struct fby_receiver *r, int peer, const struct fby_opened *opened)
{
    struct fby_peer *p = &r->peers[peer];
    fby_window_heard(r->window, r->now_ns, peer);
    bool was_sent = opened->open_id.value <= r->last_open_id;
    if (!was_sent ||
        !fby_digest_equal(&opened->content, &r->setup->content_digest)) {
        r->protocol_errors++;
        return;
    }
    if (opened->open_id.value != p->open_id.value) {
        return; /* the answer to an older OPEN, from before a reconnect */
    }
    bool has_voted  = p->answer == FBY_PEER_OPENED; /* before a reconnect */
    p->unanswered   = NULL;
    r->worker_spoke = true;
    p->answer       = FBY_PEER_OPENED;
    p->data         = opened->data;
    p->fingerprint  = opened->fingerprint;
    if (r->opened) {
        const struct fby_shard_list list = {
            opened->samples, opened->shards, opened->n_shards};
        use_or_set_aside(r, peer, &list);
    } else if (!has_voted) {
        fby_dataset_agreement_vote(&r->agreement, p->label, opened);
    }
}

/* Tell the waiting trainer why the worker could not open the data yet. */
static void tell_open_failure(struct fby_receiver *r, const struct fby_peer *p)
{
    struct fby_error_detail why = p->failure;
    if (!r->opened) {
        (void)fby_error_prefix(&why, FBY_AGAIN, "%s", p->label);
        fby_ready_queue_set_wait_reason(r->ready_queue, why.text);
    }
}

/* If the data is not that of the stream or of the token, ask for its list of
 * shards, from which the message tells what differs. The answer is no vote,
 * because it does not match. Returns false if this does not apply. */
static bool request_shard_list(
    struct fby_receiver *r, int peer, const struct fby_open_failed *failed)
{
    struct fby_peer         *p = &r->peers[peer];
    const struct fby_digest *wanted =
        r->opened ? &r->agreement.data.digest : &r->setup->token.data;
    if (p->accepts_any_data || (!r->opened && !r->setup->has_token) ||
        failed->code != FBY_OPEN_DIFFERS || !failed->data.known ||
        fby_digest_equal(&failed->data.digest, wanted)) {
        return false;
    }
    p->accepts_any_data = true;
    fby_r_send_open(r, peer);
    return true;
}

void fby_r_on_open_failed(
    struct fby_receiver *r, int peer, const struct fby_open_failed *failed)
{
    struct fby_peer *p = &r->peers[peer];
    fby_window_heard(r->window, r->now_ns, peer);
    if (failed->open_id.value != p->open_id.value) {
        return;
    }
    p->unanswered   = NULL;
    r->worker_spoke = true;
    (void)fby_error_set(&p->failure, FBY_CONFIG, "%s", failed->text);
    if (failed->code == FBY_OPEN_BUSY || failed->code == FBY_OPEN_IO) {
        p->reopen_at_ns = r->now_ns + fby_scaled_timeout_ns(REOPEN_NS);
        fby_info("OPEN-LATER", "%s: %s", p->label, p->failure.text);
        tell_open_failure(r, p);
        return;
    }
    if (request_shard_list(r, peer, failed)) {
        return;
    }
    p->answer = FBY_PEER_FAILED;
    if (r->opened) {
        if (failed->code == FBY_OPEN_DIFFERS && failed->data.known &&
            failed->fingerprint.known) {
            p->data        = failed->data.digest;
            p->fingerprint = failed->fingerprint.digest;
            describe_mismatch(r, p, NULL, &p->failure);
        }
        use_or_set_aside(r, peer, NULL);
    }
}

void fby_r_on_scanning(
    struct fby_receiver *r, int peer, const struct fby_scanning *scanning)
{
    struct fby_peer *p = &r->peers[peer];
    fby_window_heard(r->window, r->now_ns, peer);
    p->unanswered      = NULL;
    r->worker_spoke    = true;
    p->silent_since_ns = r->now_ns;
    p->scan_done       = scanning->shards_done;
    p->scan_total      = scanning->shards_total;
    /* The reason of an earlier failure stays until the scan has found files. */
    bool failed_before = p->failure.text[0] != '\0' && p->scan_done == 0;
    if (!r->opened && !failed_before) {
        struct fby_error_detail why = {""};
        (void)fby_error_set(&why, FBY_AGAIN, "%s is scanning: %u of %s",
            p->label, p->scan_done, fby_plural(p->scan_total, "shard").text);
        fby_ready_queue_set_wait_reason(r->ready_queue, why.text);
        fby_ready_queue_set_scan_progress(
            r->ready_queue, p->scan_done, p->scan_total);
    }
}

/* ---- choosing the dataset ------------------------------------------------ */

static void store_sample_counts(
    struct fby_receiver *r, const struct fby_candidate *winner)
{
    r->n_samples     = winner->samples;
    r->n_shards      = (uint32_t)winner->n_shards;
    r->shard_samples = fby_zalloc(winner->n_shards * sizeof(*r->shard_samples));
    for (size_t i = 0; i < winner->n_shards; i++) {
        r->shard_samples[i] = winner->shards[i].samples;
    }
}

static void append_class_name(struct fby_receiver *r, const char *name)
{
    r->class_names =
        fby_array_grow(r->class_names, r->n_classes, sizeof(*r->class_names));
    r->class_names[r->n_classes++] = name;
}

/* Store the names that the pipeline lists, else those of the class folders. */
static void store_class_names(
    struct fby_receiver *r, const struct fby_candidate *winner)
{
    const struct fby_content       *content = &r->setup->split->content;
    const struct fby_field_content *label   = fby_class_names_field(content);
    const char *end = winner->classes + winner->classes_size;
    if (label != NULL) {
        struct fby_name_range range = fby_field_names(label);
        for (uint32_t id = 0; id < range.n; id++) {
            append_class_name(
                r, fby_class_name(&content->class_names, range, id));
        }
        return;
    }
    for (const char *name = winner->classes; name < end;
         name += strlen(name) + 1) {
        append_class_name(r, name);
    }
}

void fby_r_write_token(const struct fby_receiver *r, uint64_t epoch,
    uint64_t step, char out[FBY_TOKEN_TEXT_SIZE])
{
    const struct fby_token token = {
        .content     = r->setup->content_digest,
        .data        = r->agreement.data.digest,
        .fingerprint = r->agreement.fingerprint.digest,
        .seed        = r->setup->seed,
        .epoch       = epoch,
        .step        = step,
    };
    fby_token_encode(&token, out);
}

static void fill_info(const struct fby_receiver *r,
    const struct fby_window_plan *plan, struct forebay_info *info)
{
    const struct fby_setup   *setup   = r->setup;
    const struct fby_content *content = &setup->split->content;
    bool has_valid = content->last == FBY_LAST_PAD; /* a tensor `valid` */

    *info = (struct forebay_info){
        .samples         = r->n_samples,
        .steps_per_epoch = plan->steps_per_epoch,
        .global_batch    = content->global_batch,
        .n_fields        = setup->n_tensors + (has_valid ? 1 : 0),
        .seed            = setup->seed,
        .first_epoch     = plan->epoch,
        .first_step      = plan->step,
        .end_step        = plan->total,
        .batch_bytes     = setup->out_bytes,
        .n_classes       = r->n_classes,
    };
    fby_r_write_token(r, plan->epoch, plan->step, info->first_token);
    snprintf(info->device, sizeof(info->device),
        setup->cuda != NULL ? "cuda:%d" : "host", setup->gpu);
    fby_hex(setup->content_digest.bytes, 32, info->content_digest);
    fby_hex(r->agreement.data.digest.bytes, 32, info->data_digest);
    fby_hex(r->agreement.fingerprint.digest.bytes, 32, info->fingerprint);
    snprintf(info->job, sizeof(info->job), "%s", setup->job);
}

static fby_err start_window(
    struct fby_receiver *r, struct fby_error_detail *why)
{
    struct fby_window_plan plan;
    FBY_TRY(fby_r_make_plan(r, &plan, why));
    fby_err err = fby_window_start(r->window, r->now_ns, &plan, why);
    if (err == FBY_OK) {
        struct forebay_info info;
        fill_info(r, &plan, &info);
        fby_ready_queue_set_wait_reason(r->ready_queue, "");
        fby_ready_queue_set_opened(r->ready_queue, &info);
    }
    return err;
}

/* Use or set aside a worker that answered before the choice of the dataset. */
static void use_early_worker(struct fby_receiver *r, int peer)
{
    const struct fby_peer      *p = &r->peers[peer];
    const struct fby_candidate *answer =
        fby_dataset_agreement_find(&r->agreement, &p->data, &p->fingerprint);
    const struct fby_shard_list list =
        answer != NULL ? list_of(answer) : (struct fby_shard_list){0};
    use_or_set_aside(r, peer, answer != NULL ? &list : NULL);
}

static void start_stream(
    struct fby_receiver *r, const struct fby_candidate *winner)
{
    struct fby_error_detail why = {""};
    r->opened                   = true;
    r->agreement.data           = (struct fby_maybe_digest){true, winner->data};
    r->agreement.fingerprint =
        (struct fby_maybe_digest){true, winner->fingerprint};
    r->dataset = winner;
    store_sample_counts(r, winner);
    store_class_names(r, winner);
    fby_membership_pin(
        &r->membership, &winner->data, &winner->fingerprint, r->now_ns);
    if (start_window(r, &why) != FBY_OK) {
        fby_r_fail_stream(r, FOREBAY_CONFIG, &why);
        return;
    }
    for (int i = 0; i < r->n_peers; i++) {
        if (r->peers[i].used) {
            use_early_worker(r, i);
            fby_r_run_actions(r);
        }
    }
}

/* True if the choice of the dataset must wait for this worker's answer: the
 * worker is connected, and has not been silent for SILENT_NS. */
static bool is_awaited(const struct fby_receiver *r, const struct fby_peer *p)
{
    bool connected = p->used && p->socket != NULL;
    bool silent =
        p->silent_since_ns != 0 &&
        r->now_ns - p->silent_since_ns > fby_scaled_timeout_ns(SILENT_NS);
    return connected && p->answer == FBY_PEER_NO_ANSWER && !silent;
}

/* True if at least one worker has answered OPEN or is unreachable, and no other
 * answer is awaited. Adds the number of OPEN_FAILED answers to *n_failed. */
static bool all_answered(const struct fby_receiver *r, uint32_t *n_failed)
{
    uint32_t n_answered = 0;
    for (int i = 0; i < r->n_peers; i++) {
        const struct fby_peer *p = &r->peers[i];
        if (is_awaited(r, p)) {
            return false;
        }
        n_answered += p->used && p->answer != FBY_PEER_NO_ANSWER;
        *n_failed += p->used && p->answer == FBY_PEER_FAILED;
    }
    return n_answered > 0;
}

static void fail_with_open_error(struct fby_receiver *r)
{
    struct fby_error_detail why = {""};
    for (int i = 0; i < r->n_peers; i++) {
        const struct fby_peer *p = &r->peers[i];
        if (p->used && p->answer == FBY_PEER_FAILED) {
            (void)fby_error_set(
                &why, FBY_CONFIG, "%s: %s", p->failure.text, p->label);
            fby_r_fail_stream(r, FOREBAY_CONFIG, &why);
            return;
        }
    }
}

static void send_due_opens(struct fby_receiver *r)
{
    for (int i = 0; i < r->n_peers; i++) {
        struct fby_peer *p = &r->peers[i];
        if (p->reopen_at_ns != 0 && p->reopen_at_ns <= r->now_ns) {
            fby_r_send_open(r, i);
        }
    }
}

/* Describe how the data of `now` differs from that with the digest `then`. */
static void describe_data_change(const struct fby_setup *setup,
    const struct fby_digest *then, const struct fby_candidate *now,
    struct fby_error_detail *out)
{
    struct fby_shard_list   list   = list_of(now);
    struct fby_error_detail change = {""};
    fby_shard_list_describe(setup->cache_dir, then, &list, &change);
    (void)fby_error_set(out, FBY_CONFIG,
        "%.350s, at %.80s: bring the data back, or start a new run without "
        "the state",
        change.text, now->worker);
}

void fby_receiver_store_shard_list(const struct fby_receiver *self)
{
    struct fby_shard_list list = list_of(self->dataset);
    fby_shard_list_store(self->setup->cache_dir, &self->dataset->data, &list);
}

void fby_receiver_describe_data_change(const struct fby_receiver *self,
    const struct fby_digest *then, struct fby_error_detail *out)
{
    describe_data_change(self->setup, then, self->dataset, out);
}

/* Fail the stream, because no dataset can be chosen. */
static void fail_choice(struct fby_receiver *r, struct fby_error_detail *why)
{
    const struct fby_setup     *setup = r->setup;
    const struct fby_candidate *found =
        fby_dataset_agreement_mismatch(&r->agreement);
    if (setup->has_token && found != NULL &&
        !fby_digest_equal(&found->data, &setup->token.data)) {
        describe_data_change(setup, &setup->token.data, found, why);
    }
    fby_r_fail_stream(r, FOREBAY_CONFIG, why);
}

/* The number of different answers; those that match no pin count as one. */
static uint32_t n_answers(const struct fby_dataset_agreement *agreement)
{
    return agreement->n_candidates + agreement->has_mismatch;
}

/* Start the stream if a dataset can be chosen now. Fail it if none can be. */
static void decide_dataset(struct fby_receiver *r)
{
    const struct fby_candidate *winner   = NULL;
    struct fby_error_detail     why      = {""};
    uint32_t                    n_failed = 0;
    bool                        answered = all_answered(r, &n_failed);
    if (!answered) {
        r->decide_at_ns = 0; /* the delay begins after the last answer */
    } else if (r->decide_at_ns == 0) {
        r->decide_at_ns = r->now_ns + fby_scaled_timeout_ns(DECIDE_DELAY_NS);
    }
    bool    unanimous = n_answers(&r->agreement) == 1 && n_failed == 0;
    bool    final     = answered && (unanimous || r->now_ns >= r->decide_at_ns);
    fby_err err =
        fby_dataset_agreement_decide(&r->agreement, final, &winner, &why);
    if (err == FBY_OK) {
        start_stream(r, winner);
    } else if (err != FBY_AGAIN) {
        fail_choice(r, &why);
    } else if (final && n_failed > 0) { /* no worker could open the data */
        fail_with_open_error(r);
    }
}

void fby_r_open_tick(struct fby_receiver *r)
{
    send_due_opens(r);
    if (!r->opened && !r->finished && r->membership.server.value != 0) {
        decide_dataset(r);
    }
}

int64_t fby_r_open_deadline(const struct fby_receiver *r)
{
    bool    deciding = !r->opened && !r->finished && r->decide_at_ns != 0;
    int64_t due_ns   = deciding ? r->decide_at_ns : INT64_MAX;
    for (int i = 0; i < r->n_peers; i++) {
        if (r->peers[i].reopen_at_ns != 0) {
            due_ns = fby_earlier_ns(due_ns, r->peers[i].reopen_at_ns);
        }
    }
    return due_ns;
}
