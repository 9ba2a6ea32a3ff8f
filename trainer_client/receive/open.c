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
#include "common/timer.h"

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
    struct fby_error_detail why = {""};
    (void)fby_error_set(
        &why, FBY_AGAIN, "no answer from the server %s", setup->server);
    fby_ready_queue_set_wait_reason(r->ready_queue, why.text);
}

void fby_r_send_open(struct fby_receiver *r, int peer)
{
    struct fby_peer *p            = &r->peers[peer];
    p->open_id                    = (struct fby_open_id){++r->last_open_id};
    p->reopen_at_ns               = 0;
    p->silent_since_ns            = r->now_ns;
    const struct fby_message open = {
        .type = FBY_MSG_OPEN,
        .open =
            {
                .session     = r->session,
                .open_id     = p->open_id,
                .content     = {r->setup->content.data, r->setup->content.size},
                .location    = r->setup->location.pattern,
                .data        = r->agreement.data,
                .fingerprint = r->agreement.fingerprint,
            },
    };
    fby_r_send_to_peer(r, peer, &open);
}

void fby_r_set_aside(struct fby_receiver *r, int peer,
    enum fby_r_aside_reason code, const char *text)
{
    fby_warn("WORKER-ASIDE", "%s: %s", r->peers[peer].label, text);
    (void)fby_error_set(&r->last_aside, FBY_STALE, "%s", text);
    (void)fby_error_prefix(
        &r->last_aside, FBY_STALE, "%s", r->peers[peer].label);
    fby_window_set_aside(r->window, r->now_ns, peer, (int)code);
}

/* ---- answers ------------------------------------------------------------- */

static void describe_mismatch(const struct fby_receiver *r,
    const struct fby_peer *p, struct fby_error_detail *out)
{
    const struct fby_digest *data      = &r->agreement.data.digest;
    bool                     same_data = fby_digest_equal(&p->data, data);
    const char              *name   = same_data ? "fingerprint" : "data digest";
    const struct fby_digest *theirs = same_data ? &p->fingerprint : &p->data;
    const struct fby_digest *ours =
        same_data ? &r->agreement.fingerprint.digest : data;
    char their_hex[17]; /* the first 8 bytes of the digest */
    char our_hex[17];
    (void)fby_error_set(out, FBY_STALE, "%s %s, the stream has %s", name,
        fby_hex(theirs->bytes, 8, their_hex), fby_hex(ours->bytes, 8, our_hex));
}

static bool agrees_with_stream(
    const struct fby_receiver *r, const struct fby_peer *p)
{
    return fby_digest_equal(&p->data, &r->agreement.data.digest) &&
           fby_digest_equal(&p->fingerprint, &r->agreement.fingerprint.digest);
}

/* If the worker's answer to OPEN agrees with the stream, use the worker. Set it
 * aside after another answer, and do nothing before its answer. */
static void use_or_set_aside(struct fby_receiver *r, int peer)
{
    struct fby_peer        *p   = &r->peers[peer];
    struct fby_error_detail why = {""};
    if (p->answer == FBY_PEER_FAILED) {
        fby_r_set_aside(r, peer, FBY_R_OPEN_FAILED, p->failure.text);
    } else if (p->answer == FBY_PEER_OPENED && agrees_with_stream(r, p)) {
        fby_window_opened(r->window, r->now_ns, peer);
    } else if (p->answer == FBY_PEER_OPENED) {
        describe_mismatch(r, p, &why);
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
    bool has_voted = p->answer == FBY_PEER_OPENED; /* before a reconnect */
    p->answer      = FBY_PEER_OPENED;
    p->data        = opened->data;
    p->fingerprint = opened->fingerprint;
    if (r->opened) {
        use_or_set_aside(r, peer);
    } else if (!has_voted) {
        fby_dataset_agreement_vote(&r->agreement, p->label, opened);
    }
}

void fby_r_on_open_failed(
    struct fby_receiver *r, int peer, const struct fby_open_failed *failed)
{
    struct fby_peer *p = &r->peers[peer];
    fby_window_heard(r->window, r->now_ns, peer);
    if (failed->open_id.value != p->open_id.value) {
        return;
    }
    (void)fby_error_set(&p->failure, FBY_CONFIG, "%s", failed->text);
    if (failed->code == FBY_OPEN_BUSY || failed->code == FBY_OPEN_IO) {
        p->reopen_at_ns = r->now_ns + fby_scaled_timeout_ns(REOPEN_NS);
        fby_info("OPEN-LATER", "%s: %s", p->label, p->failure.text);
        return;
    }
    p->answer = FBY_PEER_FAILED;
    if (r->opened) {
        use_or_set_aside(r, peer);
    }
}

void fby_r_on_scanning(
    struct fby_receiver *r, int peer, const struct fby_scanning *scanning)
{
    struct fby_peer *p = &r->peers[peer];
    fby_window_heard(r->window, r->now_ns, peer);
    p->silent_since_ns = r->now_ns;
    p->scan_done       = scanning->shards_done;
    p->scan_total      = scanning->shards_total;
    if (!r->opened) {
        struct fby_error_detail why = {""};
        (void)fby_error_set(&why, FBY_AGAIN, "%s is scanning: %u of %u shards",
            p->label, p->scan_done, p->scan_total);
        fby_ready_queue_set_wait_reason(r->ready_queue, why.text);
        fby_ready_queue_set_scan_progress(
            r->ready_queue, p->scan_done, p->scan_total);
    }
}

/* ---- the plan of the window ---------------------------------------------- */

/* Put the order of an epoch's samples into the cache, unless it is there.
 * Errors: as fby_order_create. */
static fby_err cache_order(
    const struct fby_receiver *r, uint64_t epoch, struct fby_error_detail *why)
{
    size_t             index  = epoch % FBY_R_CACHED_ORDERS;
    struct fby_order **cached = &r->order_cache->order[index];
    if (*cached != NULL && r->order_cache->epoch[index] == epoch) {
        return FBY_OK;
    }
    struct fby_order_spec spec =
        fby_order_spec_of(&r->setup->split->content, r->setup->seed, epoch);
    spec.samples                 = r->n_samples;
    spec.shard_samples           = r->shard_samples;
    spec.n_shards                = r->n_shards;
    r->order_cache->epoch[index] = epoch;
    fby_order_destroy(cached);
    return fby_order_create(&spec, cached, why);
}

/* Cannot fail: start_window created the first epoch's order, and those of other
 * epochs differ from it only in the epoch's number. */
const struct fby_order *fby_r_epoch_order(
    const struct fby_receiver *r, uint64_t epoch)
{
    struct fby_error_detail why = {""};
    if (cache_order(r, epoch, &why) != FBY_OK) {
        fby_error("NO-ORDER", "%s", why.text);
        abort();
    }
    return r->order_cache->order[epoch % FBY_R_CACHED_ORDERS];
}

/* Returns the number of this rank's rows in a step. Sets *first_row. */
static uint32_t count_rank_rows(const struct fby_receiver *r, uint64_t epoch,
    uint64_t step, uint32_t *first_row)
{
    uint32_t rows = 0;
    fby_order_rank_rows(fby_r_epoch_order(r, epoch), step, r->setup->rank,
        r->setup->world, first_row, &rows);
    return rows;
}

static uint64_t batch_bytes(const void *context, uint64_t epoch, uint64_t step)
{
    const struct fby_receiver *r         = context;
    uint32_t                   first_row = 0;
    uint32_t rows  = count_rank_rows(r, epoch, step, &first_row);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->setup->n_fields; i++) {
        bytes += r->setup->expansions[i].raw_bytes * rows;
    }
    return bytes > 0 ? bytes : 1; /* a batch of zero rows counts as 1 byte */
}

/* The key by which a step prefers a worker; equal if steps read equal data. */
static uint64_t batch_locality(
    const void *context, uint64_t epoch, uint64_t step)
{
    const struct fby_receiver *r         = context;
    uint32_t                   first_row = 0;
    uint32_t                rows  = count_rank_rows(r, epoch, step, &first_row);
    const struct fby_order *order = fby_r_epoch_order(r, epoch);
    return rows > 0 ? fby_order_affinity_key(order, step, first_row) : step;
}

/* The number of steps from epoch 0, step 0 to the end of the stream: the lower
 * limit of the options `steps` and `epochs`, where 0 means no limit. */
static uint64_t count_total_steps(
    const struct fby_setup *setup, uint64_t steps_per_epoch)
{
    uint64_t total = setup->steps != 0 ? setup->steps : UINT64_MAX;
    if (setup->epochs != 0 && setup->epochs <= total / steps_per_epoch) {
        total = setup->epochs * steps_per_epoch; /* cannot overflow */
    }
    return total;
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

static void store_class_names(
    struct fby_receiver *r, const struct fby_candidate *winner)
{
    const char *end = winner->classes + winner->classes_size;
    for (const char *name = winner->classes; name < end;
         name += strlen(name) + 1) {
        r->class_names = fby_array_grow(
            r->class_names, r->n_classes, sizeof(*r->class_names));
        r->class_names[r->n_classes++] = name;
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
    const struct fby_token *token = &r->setup->token;
    fby_err                 err   = cache_order(r, token->epoch, why);
    if (err != FBY_OK) {
        return err;
    }
    uint64_t steps = fby_order_steps(fby_r_epoch_order(r, token->epoch));
    struct fby_window_plan plan = {
        .steps_per_epoch = steps,
        .epoch           = token->epoch,
        .step            = token->step,
        .total           = count_total_steps(r->setup, steps),
        .bytes           = batch_bytes,
        .locality        = batch_locality,
        .context         = r,
    };
    err = fby_window_start(r->window, r->now_ns, &plan, why);
    if (err == FBY_OK) {
        struct forebay_info info;
        fill_info(r, &plan, &info);
        fby_ready_queue_set_wait_reason(r->ready_queue, "");
        fby_ready_queue_set_opened(r->ready_queue, &info);
    }
    return err;
}

static void start_stream(
    struct fby_receiver *r, const struct fby_candidate *winner)
{
    struct fby_error_detail why = {""};
    r->opened                   = true;
    r->agreement.data           = (struct fby_maybe_digest){true, winner->data};
    r->agreement.fingerprint =
        (struct fby_maybe_digest){true, winner->fingerprint};
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
            use_or_set_aside(r, i);
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
    bool    unanimous = r->agreement.n_candidates == 1 && n_failed == 0;
    bool    final     = answered && (unanimous || r->now_ns >= r->decide_at_ns);
    fby_err err =
        fby_dataset_agreement_decide(&r->agreement, final, &winner, &why);
    if (err == FBY_OK) {
        start_stream(r, winner);
    } else if (err != FBY_AGAIN) {
        fby_r_fail_stream(r, FOREBAY_CONFIG, &why);
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
