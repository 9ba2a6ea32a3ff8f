/* OPEN: a client waits for a load (plan/plan_cache.h), gets its progress, and
 * then the result or the reason of its failure. When a client leaves, its wait
 * ends; a load without a waiter is abandoned. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"
#include "worker/loop/loop.h"

enum { OPENS_OF_A_SESSION = 8 }; /* that may wait; a client needs one */

/* ---- Answers ------------------------------------------------------------- */

static enum fby_open_failed_code open_failed_code(fby_err err)
{
    switch (err) {
    case FBY_PROTO:
        return FBY_OPEN_BAD_CONTENT;
    case FBY_USAGE:
        return FBY_OPEN_BAD_LOCATION;
    case FBY_NOT_FOUND:
        return FBY_OPEN_NOTHING;
    case FBY_CONFIG:
    case FBY_BAD_SAMPLE:
        return FBY_OPEN_BAD_DATA;
    case FBY_FULL:
        return FBY_OPEN_BUSY;
    case FBY_OK:
    case FBY_AGAIN:
    case FBY_TIMEOUT:
    case FBY_STALE:
    case FBY_GONE:
    case FBY_IO:
    case FBY_SYS:
    default:
        return FBY_OPEN_IO;
    }
}

static void send_failed(struct fby_loop *self, struct fby_loop_peer *peer,
    struct fby_open_id id, fby_err err, const struct fby_why *why)
{
    fby_warn("OPEN-FAILED", "for %s: %s", peer->name, why->text);
    fby_loop_send_to_peer(self, peer,
        &(struct fby_message){.type = FBY_MSG_OPEN_FAILED,
            .open_failed            = {.session = peer->id,
                           .open                = id,
                           .code                = open_failed_code(err),
                           .text                = why->text}});
}

static bool differs(
    const struct fby_maybe_digest *expected, const struct fby_digest *here)
{
    return expected->known && !fby_digest_equal(&expected->digest, here);
}

static void send_differs(struct fby_loop *self,
    const struct fby_loop_open           *open,
    const struct fby_dataset_plan        *dataset_plan)
{
    fby_loop_send_to_peer(self, open->peer,
        &(struct fby_message){
            .type = FBY_MSG_OPEN_FAILED,
            .open_failed =
                {
                    .session     = open->peer->id,
                    .open        = open->id,
                    .code        = FBY_OPEN_DIFFERS,
                    .data        = {true, dataset_plan->data_digest},
                    .fingerprint = {true, dataset_plan->fingerprint},
                    .text = differs(&open->data, &dataset_plan->data_digest)
                                ? "the data here is not the "
                                  "data asked for"
                                : "this worker decodes or transforms "
                                  "differently",
                },
        });
}

static struct fby_shard_info *shards_of(
    const struct fby_dataset_plan *dataset_plan)
{
    const struct fby_dataset *dataset = dataset_plan->dataset;
    uint32_t                  n       = fby_dataset_shards(dataset);
    const uint32_t           *samples = fby_dataset_shard_samples(dataset);
    struct fby_shard_info    *shards  = fby_zalloc(n * sizeof(*shards));
    for (uint32_t i = 0; i < n; i++) {
        shards[i] = (struct fby_shard_info){
            .name    = fby_dataset_shard_name(dataset, i),
            .digest  = fby_dataset_shard_digest(dataset, i),
            .samples = samples[i],
        };
    }
    return shards;
}

/* Whether `message` can be encoded: the list of shards may be too long. */
static bool can_be_sent(const struct fby_message *message, struct fby_why *why)
{
    struct fby_buffer frame = {0};
    fby_err           err   = fby_message_encode(message, &frame, why);
    fby_buffer_fini(&frame);
    return err == FBY_OK;
}

static void send_opened(struct fby_loop *self, const struct fby_loop_open *open,
    const struct fby_dataset_plan *dataset_plan)
{
    struct fby_why         why    = {{0}};
    struct fby_shard_info *shards = shards_of(dataset_plan);
    struct fby_message     opened = {
            .type = FBY_MSG_OPENED,
            .opened =
                {
                    .session     = open->peer->id,
                    .open        = open->id,
                    .content     = dataset_plan->content_digest,
                    .data        = dataset_plan->data_digest,
                    .fingerprint = dataset_plan->fingerprint,
                    .samples     = fby_dataset_samples(dataset_plan->dataset),
                    .shards      = shards,
                    .n_shards    = fby_dataset_shards(dataset_plan->dataset),
            },
    };
    if (can_be_sent(&opened, &why)) {
        fby_loop_send_to_peer(self, open->peer, &opened);
    } else {
        (void)fby_because_in(&why, FBY_CONFIG,
            "the list of %" PRIu32 " shards is too long; make fewer shards or "
            "shorten their names",
            fby_dataset_shards(dataset_plan->dataset));
        send_failed(self, open->peer, open->id, FBY_CONFIG, &why);
    }
    free(shards);
}

static void send_result(struct fby_loop *self, const struct fby_loop_open *open,
    const struct fby_plan_load_state *state)
{
    if (state->err != FBY_OK) {
        send_failed(self, open->peer, open->id, state->err, &state->why);
    } else if (differs(&open->data, &state->dataset_plan->data_digest) ||
               differs(&open->fingerprint, &state->dataset_plan->fingerprint)) {
        send_differs(self, open, state->dataset_plan);
    } else {
        send_opened(self, open, state->dataset_plan);
    }
}

/* ---- Waiting ------------------------------------------------------------- */

static void remove_open(struct fby_loop_open **link)
{
    struct fby_loop_open *open = *link;
    *link                      = open->next;
    fby_plan_load_release(&open->load);
    free(open);
}

static uint32_t count_opens(
    const struct fby_loop *self, const struct fby_loop_peer *peer)
{
    uint32_t n = 0;
    for (const struct fby_loop_open *open = self->opens; open != NULL;
         open                             = open->next) {
        n += open->peer == peer ? 1 : 0;
    }
    return n;
}

/* An id that is sent twice, which the protocol forbids, is answered once. */
static void remove_repeated(struct fby_loop *self,
    const struct fby_loop_peer *peer, struct fby_open_id id)
{
    struct fby_loop_open **link = &self->opens;
    while (*link != NULL) {
        if ((*link)->peer == peer && fby_open_equal((*link)->id, id)) {
            remove_open(link);
        } else {
            link = &(*link)->next;
        }
    }
}

void fby_loop_on_open(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_open *open)
{
    struct fby_plan_load *load = NULL;
    struct fby_why        why  = {{0}};
    remove_repeated(self, peer, open->open);
    fby_err err =
        count_opens(self, peer) < OPENS_OF_A_SESSION
            ? fby_plan_cache_open(
                  self->plans, &open->content, open->location, &load, &why)
            : fby_because(&why, FBY_FULL,
                  "this session already waits for %d contents to be opened",
                  OPENS_OF_A_SESSION);
    if (err != FBY_OK) {
        send_failed(self, peer, open->open, err, &why);
        return;
    }
    struct fby_loop_open *waiting = fby_zalloc(sizeof(*waiting));
    *waiting                      = (struct fby_loop_open){
                             .peer        = peer,
                             .id          = open->open,
                             .load        = load,
                             .data        = open->data,
                             .fingerprint = open->fingerprint,
                             .next        = self->opens,
    };
    self->opens = waiting;
}

void fby_loop_opens_ended(struct fby_loop *self)
{
    fby_plan_cache_collect(self->plans);
    struct fby_loop_open **link = &self->opens;
    while (*link != NULL) {
        struct fby_plan_load_state state = fby_plan_load_state((*link)->load);
        if (state.ended) {
            send_result(self, *link, &state);
            remove_open(link);
        } else {
            link = &(*link)->next;
        }
    }
}

static uint32_t capped(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

void fby_loop_opens_progress(struct fby_loop *self)
{
    for (struct fby_loop_open *open = self->opens; open != NULL;
         open                       = open->next) {
        struct fby_plan_load_state state = fby_plan_load_state(open->load);
        uint64_t done = state.done < state.total ? state.done : state.total;
        fby_loop_send_to_peer(self, open->peer,
            &(struct fby_message){.type = FBY_MSG_SCANNING,
                .scanning               = {.session = open->peer->id,
                                  .open             = open->id,
                                  .shards_done      = capped(done),
                                  .shards_total     = capped(state.total)}});
    }
}

void fby_loop_opens_forget(
    struct fby_loop *self, const struct fby_loop_peer *peer)
{
    struct fby_loop_open **link = &self->opens;
    while (*link != NULL) {
        if (peer == NULL || (*link)->peer == peer) {
            remove_open(link);
        } else {
            link = &(*link)->next;
        }
    }
}
