/* SPDX-License-Identifier: Apache-2.0 */
/* Handle OPEN, by which a client asks this worker to load a dataset
 * (plan/plan_cache.h). While the client waits, it gets SCANNING with the
 * progress, at the end OPENED or OPEN_FAILED. When a client leaves, its wait
 * ends. A load for which no client waits is abandoned. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "worker/loop/loop.h"

/* Most OPENs that may wait in a session. A correct client has one at a time. */
enum { MAX_SESSION_OPENS = 8 };

/* ---- Answers ------------------------------------------------------------- */

/* Errors that are not listed have code 0 here and become FBY_OPEN_IO. */
static const enum fby_open_failed_code open_failed_codes[] = {
    [FBY_PROTO]      = FBY_OPEN_BAD_CONTENT,
    [FBY_USAGE]      = FBY_OPEN_BAD_LOCATION,
    [FBY_NOT_FOUND]  = FBY_OPEN_NOT_FOUND,
    [FBY_CONFIG]     = FBY_OPEN_BAD_DATA,
    [FBY_BAD_SAMPLE] = FBY_OPEN_BAD_DATA,
    [FBY_FULL]       = FBY_OPEN_BUSY,
    [FBY_SYS]        = FBY_OPEN_IO, /* the highest fby_err: sets the length */
};

static void send_open_failed(struct fby_loop *self, struct fby_loop_peer *peer,
    struct fby_open_id id, fby_err err, const struct fby_error_detail *why)
{
    enum fby_open_failed_code code = open_failed_codes[err];
    /* The client reports the error to the user. */
    fby_info("OPEN-FAILED", "for %s: %s", peer->name, why->text);
    fby_loop_send_to_peer(self, peer,
        FBY_MESSAGE(OPEN_FAILED, open_failed, .session = peer->id,
            .open_id = id, .code = code != 0 ? code : FBY_OPEN_IO,
            .text = why->text));
}

/* True if the client expects a digest other than `found`. */
static bool differs(
    const struct fby_maybe_digest *expected, const struct fby_digest *found)
{
    return expected->known && !fby_digest_equal(&expected->digest, found);
}

static void send_open_differs(struct fby_loop *self,
    const struct fby_loop_open                *open,
    const struct fby_dataset_plan             *dataset_plan)
{
    const char *text = differs(&open->data, &dataset_plan->data_digest)
                           ? "the data of this worker is not the data requested"
                           : "this worker decodes or transforms differently";
    fby_loop_send_to_peer(self, open->peer,
        FBY_MESSAGE(OPEN_FAILED, open_failed, .session = open->peer->id,
            .open_id = open->id, .code = FBY_OPEN_DIFFERS,
            .data        = {true, dataset_plan->data_digest},
            .fingerprint = {true, dataset_plan->fingerprint}, .text = text));
}

static struct fby_shard_info *list_shards(
    const struct fby_dataset_plan *dataset_plan)
{
    const struct fby_dataset *dataset  = dataset_plan->dataset;
    uint32_t                  n_shards = fby_dataset_shard_count(dataset);
    const uint32_t           *samples  = fby_dataset_samples_per_shard(dataset);
    struct fby_shard_info    *shards   = fby_zalloc(n_shards * sizeof(*shards));
    for (uint32_t i = 0; i < n_shards; i++) {
        shards[i] = (struct fby_shard_info){
            .name    = fby_dataset_shard_name(dataset, i),
            .digest  = fby_dataset_shard_digest(dataset, i),
            .samples = samples[i],
        };
    }
    return shards;
}

/* Returns the names of the classes in the form of OPENED; empty if they have
 * none. */
static struct fby_buffer list_classes(const struct fby_dataset *dataset)
{
    struct fby_buffer names = {0};
    for (uint32_t i = 0; i < fby_dataset_class_count(dataset); i++) {
        const char *name = fby_dataset_class_name(dataset, i);
        fby_put_bytes(&names, name, strlen(name) + 1);
    }
    return names;
}

/* True if `message` can be encoded: its lists may be too long. */
static bool can_be_sent(
    const struct fby_message *message, struct fby_error_detail *why)
{
    struct fby_buffer frame = {0};
    fby_err           err   = fby_message_encode(message, &frame, why);
    fby_buffer_fini(&frame);
    return err == FBY_OK;
}

bool fby_loop_fit_opened(
    struct fby_message *message, struct fby_error_detail *why)
{
    bool fits = can_be_sent(message, why);
    if (!fits && message->opened.classes.size > 0) {
        fby_debug("NO-CLASS-NAMES", "the names of classes are not sent: %s",
            why->text);
        message->opened.classes = (struct fby_blob){0};
        fits                    = can_be_sent(message, why);
    }
    return fits;
}

static void send_opened(struct fby_loop *self, const struct fby_loop_open *open,
    const struct fby_dataset_plan *dataset_plan)
{
    struct fby_error_detail why     = {{0}};
    struct fby_shard_info  *shards  = list_shards(dataset_plan);
    struct fby_buffer       classes = list_classes(dataset_plan->dataset);
    struct fby_message     *opened =
        FBY_MESSAGE(OPENED, opened, .session = open->peer->id,
            .open_id = open->id, .content = dataset_plan->content_digest,
            .data        = dataset_plan->data_digest,
            .fingerprint = dataset_plan->fingerprint,
            .samples     = fby_dataset_sample_count(dataset_plan->dataset),
            .shards      = shards,
            .n_shards    = fby_dataset_shard_count(dataset_plan->dataset),
            .classes     = {classes.data, classes.size});
    if (fby_loop_fit_opened(opened, &why)) {
        fby_loop_send_to_peer(self, open->peer, opened);
    } else {
        (void)fby_error_prefix(&why, FBY_CONFIG,
            "the list of %" PRIu32 " shards is too long; make fewer shards or "
            "shorten their names",
            fby_dataset_shard_count(dataset_plan->dataset));
        send_open_failed(self, open->peer, open->id, FBY_CONFIG, &why);
    }
    fby_buffer_fini(&classes);
    free(shards);
}

static struct fby_loop_opened *find_opened(struct fby_loop_peer *peer,
    const struct fby_digest *content, const struct fby_digest *data)
{
    for (size_t i = 0; i < peer->n_opened && i < FBY_LOOP_OPENED_MAX; i++) {
        struct fby_loop_opened *opened = &peer->opened[i];
        if (fby_digest_equal(&opened->content, content) &&
            fby_digest_equal(&opened->data, data)) {
            return opened;
        }
    }
    return NULL;
}

void fby_loop_note_opened(
    struct fby_loop_peer *peer, const struct fby_dataset_plan *plan)
{
    struct fby_loop_opened *opened =
        find_opened(peer, &plan->content_digest, &plan->data_digest);
    if (opened == NULL) {
        opened = &peer->opened[peer->n_opened++ % FBY_LOOP_OPENED_MAX];
    }
    *opened = (struct fby_loop_opened){
        plan->content_digest, plan->data_digest, plan->location};
}

fby_err fby_loop_find_plan(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_request *request, struct fby_dataset_plan **nearest)
{
    const struct fby_loop_opened *opened =
        find_opened(peer, &request->content, &request->data);
    *nearest = NULL;
    if (opened == NULL && peer->seal != NULL) {
        return FBY_NOT_FOUND;
    }
    return fby_plan_cache_find(self->plans, &request->content, &request->data,
        &request->fingerprint, opened != NULL ? &opened->location : NULL,
        nearest);
}

static void send_result(struct fby_loop *self, const struct fby_loop_open *open,
    const struct fby_plan_load_state *state)
{
    if (state->err != FBY_OK) {
        send_open_failed(self, open->peer, open->id, state->err, &state->why);
    } else if (differs(&open->data, &state->dataset_plan->data_digest) ||
               differs(&open->fingerprint, &state->dataset_plan->fingerprint)) {
        send_open_differs(self, open, state->dataset_plan);
    } else {
        fby_loop_note_opened(open->peer, state->dataset_plan);
        send_opened(self, open, state->dataset_plan);
    }
}

/* ---- Waiting ------------------------------------------------------------- */

/* Remove the OPEN *link. `link` is the pointer to it in the list. */
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
    uint32_t n_opens = 0;
    for (const struct fby_loop_open *open = self->opens; open != NULL;
         open                             = open->next) {
        n_opens += open->peer == peer ? 1 : 0;
    }
    return n_opens;
}

void fby_loop_drop_opens(struct fby_loop *self,
    const struct fby_loop_peer *peer, struct fby_open_id id)
{
    struct fby_loop_open **link = &self->opens;
    while (*link != NULL) {
        if ((*link)->peer == peer &&
            (id.value == 0 || fby_open_equal((*link)->id, id))) {
            remove_open(link);
        } else {
            link = &(*link)->next;
        }
    }
}

static fby_err check_roots(const struct fby_loop_peer *peer,
    const struct fby_open *open, struct fby_error_detail *why)
{
    FBY_TRY(fby_loop_check_location(peer, open->location, why));
    return fby_loop_check_location(peer, open->classes_location, why);
}

void fby_loop_on_open(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    const struct fby_open  *open = &message->open;
    struct fby_plan_load   *load = NULL;
    struct fby_error_detail why  = {{0}};
    fby_err                 err  = FBY_OK;
    /* A client may not repeat an id. If it does, only its last OPEN counts. */
    fby_loop_drop_opens(self, peer, open->open_id);
    if (count_opens(self, peer) < MAX_SESSION_OPENS) {
        err = check_roots(peer, open, &why);
        if (err == FBY_OK) {
            err = fby_plan_cache_open(self->plans, open, &load, &why);
        }
    } else {
        err = fby_error_set(&why, FBY_FULL,
            "this session already waits for %d contents to be opened",
            MAX_SESSION_OPENS);
    }
    if (err != FBY_OK) {
        send_open_failed(self, peer, open->open_id, err, &why);
        return;
    }
    struct fby_loop_open *waiting = fby_zalloc(sizeof(*waiting));
    *waiting                      = (struct fby_loop_open){
                             .peer        = peer,
                             .id          = open->open_id,
                             .load        = load,
                             .data        = open->data,
                             .fingerprint = open->fingerprint,
                             .next        = self->opens,
    };
    self->opens = waiting;
}

void fby_loop_answer_ended_opens(struct fby_loop *self)
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

static uint32_t saturate_u32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

void fby_loop_send_progress(struct fby_loop *self)
{
    for (struct fby_loop_open *open = self->opens; open != NULL;
         open                       = open->next) {
        struct fby_plan_load_state state = fby_plan_load_state(open->load);
        /* The load may change `total` after `done` was read. */
        uint64_t done = state.done < state.total ? state.done : state.total;
        fby_loop_send_to_peer(self, open->peer,
            FBY_MESSAGE(SCANNING, scanning, .session = open->peer->id,
                .open_id = open->id, .shards_done = saturate_u32(done),
                .shards_total = saturate_u32(state.total)));
    }
}
