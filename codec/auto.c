/* SPDX-License-Identifier: Apache-2.0 */
/* Choose the coding (filter and codec) of a field by trials on its chunks. Each
 * candidate is tried; then the best one is used, or chunks are stored (sent as
 * they are); then new trials begin. Only chunks of the current coding are
 * counted, so late reports of encode threads have no effect. */
#include "codec/auto.h"

enum auto_state {
    AUTO_FIXED,  /* one coding for all chunks */
    AUTO_TRYING, /* candidate `current` is measured */
    AUTO_USING,  /* candidate `current` is in use */
    AUTO_STORING /* `pause` chunks are sent as they are, then trials begin */
};

/* Limits in wire bytes per 1000 raw bytes. */
enum {
    WORTH_PERMILLE  = 875, /* a candidate with more is not worth its CPU time */
    ENOUGH_PERMILLE = 500  /* pictures packed to this or less end the trials */
};

static const struct fby_coding stored = {FBY_FILTER_NONE, FBY_CODEC_STORE};

static bool are_codings_equal(struct fby_coding a, struct fby_coding b)
{
    return a.filter == b.filter && a.codec == b.codec;
}

static void enter_state(struct fby_auto *self, enum auto_state state)
{
    self->state      = state;
    self->n_seen     = 0;
    self->raw_bytes  = 0;
    self->wire_bytes = 0;
}

static void begin_trials(struct fby_auto *self)
{
    self->current       = 0;
    self->best          = 0;
    self->best_permille = UINT32_MAX; /* more than any trial has */
    enter_state(self, AUTO_TRYING);
}

/* ---- candidates ---------------------------------------------------------- */

static bool is_requested(
    const struct fby_coding_request *request, struct fby_coding coding)
{
    return (request->filter == FBY_AUTO || request->filter == coding.filter) &&
           (request->codec == FBY_AUTO || request->codec == coding.codec);
}

static bool is_supported(
    const struct fby_coding_request *request, struct fby_coding coding)
{
    return (request->filters >> coding.filter & 1) != 0 &&
           (request->codecs >> coding.codec & 1) != 0;
}

/* True if the coding suits the field and can save bytes. A byte shuffle does
 * not change elements of one byte. */
static bool is_useful(
    const struct fby_coding_request *request, struct fby_coding coding)
{
    return fby_coding_suits(coding, request->params) &&
           (coding.filter != FBY_FILTER_BYTE_SHUFFLE ||
               request->params.element_bytes > 1);
}

/* All codings that compress, in order of CPU cost. */
static const struct fby_coding compressing[] = {
    {FBY_FILTER_PHOTO, FBY_CODEC_PACK},
    {FBY_FILTER_NONE, FBY_CODEC_LZ4},
    {FBY_FILTER_DELTA, FBY_CODEC_LZ4},
    {FBY_FILTER_BYTE_SHUFFLE, FBY_CODEC_LZ4},
    {FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4},
};

static void add_candidates(
    struct fby_auto *self, const struct fby_coding_request *request)
{
    for (size_t i = 0; i < sizeof(compressing) / sizeof(*compressing); i++) {
        struct fby_coding coding = compressing[i];
        if (is_requested(request, coding) && is_useful(request, coding) &&
            is_supported(request, coding)) {
            self->candidates[self->n_candidates++] = coding;
        }
    }
}

bool fby_auto_is_possible(uint8_t filter, uint8_t codec)
{
    const struct fby_coding_request request = {
        .filter = filter, .codec = codec};
    for (int f = 0; f < FBY_N_FILTERS; f++) {
        for (int c = 0; c < FBY_N_CODECS; c++) {
            struct fby_coding coding = {
                .filter = (uint8_t)f, .codec = (uint8_t)c};
            if (is_requested(&request, coding) && fby_coding_is_known(coding)) {
                return true;
            }
        }
    }
    return false;
}

bool fby_auto_suits(const struct fby_coding_request *request)
{
    bool for_pictures =
        request->filter == FBY_FILTER_PHOTO || request->codec == FBY_CODEC_PACK;
    return fby_auto_is_possible(request->filter, request->codec) &&
           (!for_pictures || request->params.channels != 0);
}

void fby_auto_init(
    struct fby_auto *self, const struct fby_coding_request *request)
{
    bool auto_filter = request->filter == FBY_AUTO;
    bool auto_codec  = request->codec == FBY_AUTO;
    bool leaves_no_choice =
        request->codec == FBY_CODEC_STORE || (!auto_filter && !auto_codec);
    struct fby_coding fixed = stored; /* used if there is no candidate */
    *self =
        (struct fby_auto){.pause = FBY_AUTO_PAUSE_MIN, .may_store = auto_codec};
    if (leaves_no_choice) {
        struct fby_coding requested = {
            auto_filter ? FBY_FILTER_NONE : request->filter, request->codec};
        fixed = is_supported(request, requested) ? requested : stored;
    } else {
        add_candidates(self, request);
    }
    if (self->n_candidates > 0) {
        begin_trials(self);
    } else {
        self->candidates[0] = fixed;
        enter_state(self, AUTO_FIXED);
    }
}

/* ---- decisions ----------------------------------------------------------- */

struct fby_coding fby_auto_next(const struct fby_auto *self)
{
    return self->state == AUTO_STORING ? stored
                                       : self->candidates[self->current];
}

/* Wire bytes per 1000 raw bytes, of the chunks in this state. */
static uint64_t wire_permille(const struct fby_auto *self)
{
    return self->raw_bytes > 0 ? self->wire_bytes * 1000 / self->raw_bytes
                               : 1000;
}

static void finish_trials(struct fby_auto *self)
{
    self->current = self->best;
    if (self->may_store && self->best_permille > WORTH_PERMILLE) {
        enter_state(self, AUTO_STORING);
        return;
    }
    self->pause  = FBY_AUTO_PAUSE_MIN;
    self->n_used = 0;
    enter_state(self, AUTO_USING);
}

/* True if packing pictures saves so much that no other coding is tried. */
static bool packing_saves_enough(const struct fby_auto *self)
{
    return self->candidates[self->best].filter == FBY_FILTER_PHOTO &&
           self->best_permille <= ENOUGH_PERMILLE;
}

/* Make the tried candidate the best one if its output is smaller by a
 * sixteenth; then try the next candidate, or end the trials. */
static void evaluate_trial(struct fby_auto *self)
{
    uint64_t permille = wire_permille(self);
    if (permille < self->best_permille &&
        16 * permille <= 15 * self->best_permille) {
        self->best          = self->current;
        self->best_permille = permille;
    }
    if (++self->current < self->n_candidates && !packing_saves_enough(self)) {
        enter_state(self, AUTO_TRYING);
        return;
    }
    finish_trials(self);
}

static void evaluate_window(struct fby_auto *self)
{
    if (self->may_store && wire_permille(self) > WORTH_PERMILLE) {
        enter_state(self, AUTO_STORING);
        return;
    }
    self->n_used += self->n_seen;
    if (self->n_used >= FBY_AUTO_USE_MAX) {
        begin_trials(self);
        return;
    }
    enter_state(self, AUTO_USING);
}

static void end_pause(struct fby_auto *self)
{
    uint32_t doubled = 2 * self->pause;
    self->pause = doubled < FBY_AUTO_PAUSE_MAX ? doubled : FBY_AUTO_PAUSE_MAX;
    begin_trials(self);
}

void fby_auto_record(struct fby_auto *self, struct fby_coding coding,
    uint32_t raw_bytes, uint32_t wire_bytes)
{
    if (self->state == AUTO_FIXED ||
        !are_codings_equal(coding, fby_auto_next(self))) {
        return;
    }
    self->n_seen++;
    self->raw_bytes += raw_bytes;
    self->wire_bytes += wire_bytes;
    if (self->state == AUTO_TRYING && self->n_seen == FBY_AUTO_TRIAL) {
        evaluate_trial(self);
    } else if (self->state == AUTO_USING && self->n_seen == FBY_AUTO_WINDOW) {
        evaluate_window(self);
    } else if (self->state == AUTO_STORING && self->n_seen == self->pause) {
        end_pause(self);
    }
}
