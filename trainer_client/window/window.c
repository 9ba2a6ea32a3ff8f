/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - creation, clock, actions and consumer of the window.
 *
 * The window decides which worker ("peer") is asked for which batch. It has no
 * socket and no thread: its caller reports events and carries out the actions
 * that the window adds. A slot holds one request and the state of its answer.
 * FBY_MUTANT(bug) is true only in a test that must detect this bug. */
#include "trainer_client/window/window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/plural.h"
#include "trainer_client/window/window_state.h"

struct fby_window_config fby_window_defaults(void)
{
    return (struct fby_window_config){
        .max_peers              = 1024,
        .max_peers_before_start = 16,
        .max_hedges_lost        = 3,
        .times =
            {
                .ping            = FBY_NS_PER_S,
                .reach           = 3 * FBY_NS_PER_S,
                .backoff         = FBY_NS_PER_S,
                .backoff_max     = 30 * FBY_NS_PER_S,
                .idle            = 60 * FBY_NS_PER_S,
                .hedge_min       = 20 * FBY_NS_PER_MS,
                .hedge_first     = FBY_NS_PER_S,
                .hedge_period    = 10 * FBY_NS_PER_S,
                .suspect         = 100 * FBY_NS_PER_MS,
                .stall           = 300 * FBY_NS_PER_MS,
                .suspended_after = 500 * FBY_NS_PER_MS,
                .credit          = 50 * FBY_NS_PER_MS,
                .busy_min        = 5 * FBY_NS_PER_MS,
                .warn            = 5 * FBY_NS_PER_S,
            },
    };
}

static fby_err check_config(
    const struct fby_window_config *config, struct fby_error_detail *why)
{
    if (config->max_batches == 0 || config->batch_bytes == 0 ||
        config->max_chunks == 0 || config->max_peers == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "window of %u batches of %llu bytes and %u chunks, %u workers: "
            "each must be at least 1",
            config->max_batches, (unsigned long long)config->batch_bytes,
            config->max_chunks, config->max_peers);
    }
    if (config->batch_bytes > config->max_bytes) {
        return fby_error_set(why, FBY_CONFIG,
            "a batch of %llu bytes does not fit into a window of %llu bytes",
            (unsigned long long)config->batch_bytes,
            (unsigned long long)config->max_bytes);
    }
    return FBY_OK;
}

static void allocate_arrays(struct fby_window *w)
{
    const struct fby_window_config *c = &w->config;

    w->n_slots = (int)c->max_batches + 1;
    w->slots   = fby_zalloc((size_t)w->n_slots * sizeof(*w->slots));
    w->steps   = fby_zalloc(c->max_batches * sizeof(*w->steps));
    w->peers   = fby_zalloc(c->max_peers * sizeof(*w->peers));
    w->audits  = fby_zalloc(FBY_MAX_AUDITS * sizeof(*w->audits));
    /* A bound for the actions of one turn: 6 for a peer that changes its state,
     * 4 for a slot whose request is cancelled and repeated, and a few more. */
    w->max_actions =
        6 * c->max_peers + 4 * (uint32_t)w->n_slots + FBY_MAX_AUDITS + 64;
    w->actions = fby_zalloc(w->max_actions * sizeof(*w->actions));

    /* One allocation holds all bit sets. */
    size_t chunk_words = (c->max_chunks + 63) / 64;
    size_t peer_words  = (c->max_peers + 63) / 64;
    size_t words       = ((size_t)w->n_slots + FBY_MAX_AUDITS) * chunk_words +
                   c->max_batches * peer_words;
    w->bit_sets       = fby_zalloc(words * sizeof(*w->bit_sets));
    uint64_t *bit_set = w->bit_sets;
    for (int i = 0; i < w->n_slots; i++, bit_set += chunk_words) {
        w->slots[i].taken = bit_set;
    }
    for (int i = 0; i < FBY_MAX_AUDITS; i++, bit_set += chunk_words) {
        w->audits[i].taken = bit_set;
    }
    for (uint32_t i = 0; i < c->max_batches; i++, bit_set += peer_words) {
        w->steps[i].refused = bit_set;
    }
}

fby_err fby_window_create(const struct fby_window_config *config,
    int64_t now_ns, struct fby_window **out, struct fby_error_detail *why)
{
    fby_err err = check_config(config, why);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_window *w = fby_zalloc(sizeof(*w));
    w->config            = *config;
    w->random_state      = config->seed;
    w->last_caller_ns    = now_ns;
    w->no_peer_since_ns  = now_ns;
    w->fail_at           = UINT64_MAX;
    allocate_arrays(w);
    *out = w;
    return FBY_OK;
}

void fby_window_destroy(struct fby_window **self_p)
{
    struct fby_window *w = *self_p;
    if (w == NULL) {
        return;
    }
    *self_p = NULL;
    free(w->slots);
    free(w->steps);
    free(w->peers);
    free(w->audits);
    free(w->bit_sets);
    free(w->actions);
    free(w);
}

fby_err fby_window_start(struct fby_window *self, int64_t now_ns,
    const struct fby_window_plan *plan, struct fby_error_detail *why)
{
    fby_w_set_now(self, now_ns);
    if (plan->step >= plan->steps_per_epoch) {
        return fby_error_set(why, FBY_CONFIG,
            "step %llu: an epoch has %s, counted from 0",
            (unsigned long long)plan->step,
            fby_plural(plan->steps_per_epoch, "step").text);
    }
    if (plan->epoch > (FBY_MAX_POSITION - plan->step) / plan->steps_per_epoch) {
        return fby_error_set(why, FBY_CONFIG,
            "epoch %llu is too large: its steps cannot be counted",
            (unsigned long long)plan->epoch);
    }
    self->plan       = *plan;
    self->cursor     = plan->epoch * plan->steps_per_epoch + plan->step;
    self->window_end = self->cursor;
    self->taken_ns   = self->now;
    self->started    = true;
    return FBY_OK;
}

/* ---- Clock ----------------------------------------------------------------
 * If the caller sleeps long past its deadline (for example in a suspended
 * machine), the time since the last event is subtracted from all later times.
 * Otherwise timers would expire before the messages that wait in the sockets
 * are read. */

void fby_w_set_now(struct fby_window *w, int64_t now_ns)
{
    int64_t last_ns   = w->last_caller_ns;
    int64_t passed_ns = now_ns > last_ns ? now_ns - last_ns : 0;
    int64_t planned_ns =
        w->last_deadline_ns > last_ns ? w->last_deadline_ns - last_ns : 0;
    bool was_suspended =
        passed_ns - planned_ns > w->config.times.suspended_after;
    if (was_suspended && !FBY_MUTANT(ignore_gap)) {
        w->slept_ns += passed_ns;
        w->counters.gaps++;
    }
    w->last_caller_ns += passed_ns;
    w->now = w->last_caller_ns - w->slept_ns;
}

int64_t fby_window_deadline(struct fby_window *self)
{
    int64_t due = fby_earlier_ns(
        fby_w_peers_deadline(self), fby_w_requests_deadline(self));
    self->last_deadline_ns = due == FBY_W_NEVER ? due : due + self->slept_ns;
    return self->last_deadline_ns;
}

void fby_window_tick(struct fby_window *self, int64_t now_ns)
{
    fby_w_set_now(self, now_ns);
    if (self->stopped) {
        return;
    }
    fby_w_peers_tick(self);
    fby_w_requests_tick(self);
}

/* splitmix64, with its published constants */
uint64_t fby_w_random(struct fby_window *w)
{
    w->random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = w->random_state;
    z          = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- Actions ------------------------------------------------------------- */

struct fby_action *fby_w_add_action(
    struct fby_window *w, enum fby_action_kind kind, int peer)
{
    assert(w->n_actions < w->max_actions); /* the caller takes all each turn */
    uint32_t index = (w->first_action + w->n_actions) % w->max_actions;
    struct fby_action *action = &w->actions[index];
    w->n_actions++;
    *action =
        (struct fby_action){.kind = kind, .peer = peer, .slot = FBY_NO_SLOT};
    return action;
}

bool fby_window_next_action(struct fby_window *self, struct fby_action *out)
{
    if (self->n_actions == 0) {
        return false;
    }
    *out               = self->actions[self->first_action];
    self->first_action = (self->first_action + 1) % self->max_actions;
    self->n_actions--;
    return true;
}

struct fby_request_id fby_w_new_id(struct fby_window *w)
{
    if (FBY_MUTANT(repeat_id) && w->newest_id % 8 == 7) {
        return (struct fby_request_id){w->newest_id};
    }
    return (struct fby_request_id){++w->newest_id};
}

void fby_w_fail(struct fby_window *w, const struct fby_window_failure *failure,
    uint64_t position)
{
    bool is_first = w->failure.cause == FBY_CAUSE_NONE;
    /* A difference puts all steps in doubt, so it fails the stream at once. */
    uint64_t fail_at = failure->cause == FBY_CAUSE_DIFFERENT ? 0 : position;
    if (fail_at >= w->fail_at) {
        return; /* the stream already fails at this step or before it */
    }
    w->fail_at = fail_at;
    w->failure = *failure;
    if (w->started) {
        w->failure.epoch = position / w->plan.steps_per_epoch;
        w->failure.step  = position % w->plan.steps_per_epoch;
    }
    if (is_first) {
        fby_w_add_action(w, FBY_DO_FAIL, failure->peer);
    }
}

const struct fby_window_failure *fby_window_failure(
    const struct fby_window *self)
{
    return self->failure.cause == FBY_CAUSE_NONE ? NULL : &self->failure;
}

/* ---- Slots and the consumer ---------------------------------------------- */

void fby_w_set_slot_state(
    struct fby_window *w, struct window_slot *slot, enum slot_state state)
{
    if (slot->state == SLOT_FREE) {
        w->n_used++;
        w->used_bytes += slot->bytes;
    }
    if (state == SLOT_FREE) {
        w->n_used--;
        w->used_bytes -= slot->bytes;
    }
    slot->state = state;
}

static void hand_to_consumer(struct fby_window *w, struct window_slot *slot,
    struct fby_window_batch *out)
{
    *out = (struct fby_window_batch){
        .epoch = w->cursor / w->plan.steps_per_epoch,
        .step  = w->cursor % w->plan.steps_per_epoch,
        .slot  = (int)(slot - w->slots),
        .id    = slot->id,
        .peer  = slot->peer,
    };
    fby_w_set_slot_state(w, slot, SLOT_HELD);
    fby_w_note_consumer_took(w);
    bool is_last_of_epoch = out->step + 1 == w->plan.steps_per_epoch;
    w->cursor += FBY_MUTANT(skip_at_border) && is_last_of_epoch ? 2 : 1;
    w->counters.delivered++;
}

fby_err fby_window_take(
    struct fby_window *self, int64_t now_ns, struct fby_window_batch *out)
{
    fby_w_set_now(self, now_ns);
    if (self->cursor >= self->fail_at) {
        return FBY_IO;
    }
    if (self->stopped) {
        return FBY_GONE;
    }
    if (fby_w_stream_is_over(self)) {
        return fby_w_has_open_audit(self) ? FBY_AGAIN : FBY_GONE;
    }
    fby_w_note_consumer_waits(self);
    if (self->cursor >= self->window_end) {
        return FBY_AGAIN;
    }
    struct window_slot *slot = fby_w_main_slot(self, self->cursor);
    if (slot->state != SLOT_READY) {
        return FBY_AGAIN;
    }
    hand_to_consumer(self, slot, out);
    return FBY_OK;
}

void fby_window_release(struct fby_window *self, int64_t now_ns, int slot)
{
    fby_w_set_now(self, now_ns);
    assert(slot >= 0 && slot < self->n_slots);
    assert(self->slots[slot].state == SLOT_HELD);
    fby_w_set_slot_state(self, &self->slots[slot], SLOT_FREE);
}

/* ---- State and counters -------------------------------------------------- */

struct fby_window_counters fby_window_counters(const struct fby_window *self)
{
    return self->counters;
}

uint32_t fby_window_n_usable_peers(const struct fby_window *self)
{
    uint32_t n_usable = 0;
    for (int i = 0; i < self->n_peers; i++) {
        const struct window_peer *peer = &self->peers[i];
        n_usable += peer->state == PEER_READY && !peer->suspect;
    }
    return n_usable;
}

uint32_t fby_window_n_ready(const struct fby_window *self)
{
    uint64_t position = self->cursor;
    while (position < self->window_end &&
           fby_w_main_slot(self, position)->state == SLOT_READY) {
        position++;
    }
    return (uint32_t)(position - self->cursor);
}

int64_t fby_window_hedge_after(const struct fby_window *self)
{
    return fby_w_hedge_after(self, self->config.batch_bytes);
}

uint64_t fby_window_used_bytes(const struct fby_window *self)
{
    return self->used_bytes;
}
