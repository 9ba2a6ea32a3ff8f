/* The choice of a coding: trials -> in use or storing -> trials again. Only
 * chunks of the coding that is asked for now are counted, so answers of encode
 * threads that are late do no harm. */
#include "common/codec/auto.h"

enum auto_state {
    AUTO_FIXED,  /* nothing to decide */
    AUTO_TRYING, /* candidate `at` is measured */
    AUTO_USING,  /* candidate `at` is kept */
    AUTO_STORING /* none is worth it; trials begin again after `pause` */
};

/* Wire bytes of 1000 raw ones above which storing is better. */
enum { WORTH_PERMILLE = 875 };

static const struct fby_coding stored = {FBY_FILTER_NONE, FBY_CODEC_STORE};

static bool same(struct fby_coding a, struct fby_coding b)
{
    return a.filter == b.filter && a.codec == b.codec;
}

static void enter(struct fby_auto *self, enum auto_state state)
{
    self->state      = state;
    self->seen       = 0;
    self->raw_bytes  = 0;
    self->wire_bytes = 0;
}

static void begin_trials(struct fby_auto *self)
{
    self->at            = 0;
    self->best          = 0;
    self->best_permille = UINT64_MAX;
    enter(self, AUTO_TRYING);
}

static void add_candidate(struct fby_auto *self, uint8_t filter)
{
    self->candidates[self->n_candidates++] =
        (struct fby_coding){filter, FBY_CODEC_LZ4};
}

static void add_candidates(
    struct fby_auto *self, uint8_t filter, struct fby_codec_params params)
{
    if (filter != FBY_AUTO) {
        add_candidate(self, filter);
        return;
    }
    add_candidate(self, FBY_FILTER_NONE);
    add_candidate(self, FBY_FILTER_DELTA);
    add_candidate(self, FBY_FILTER_BIT_SHUFFLE);
    if (params.element_bytes > 1) {
        add_candidate(self, FBY_FILTER_BYTE_SHUFFLE);
    }
}

void fby_auto_init(struct fby_auto *self, uint8_t filter, uint8_t codec,
    struct fby_codec_params params)
{
    *self = (struct fby_auto){.pause = FBY_AUTO_PAUSE_MIN};
    if (codec == FBY_CODEC_STORE || (filter != FBY_AUTO && codec != FBY_AUTO)) {
        uint8_t fixed       = filter == FBY_AUTO ? FBY_FILTER_NONE : filter;
        self->candidates[0] = (struct fby_coding){fixed, codec};
        enter(self, AUTO_FIXED);
        return;
    }
    self->may_store = codec == FBY_AUTO;
    add_candidates(self, filter, params);
    begin_trials(self);
}

struct fby_coding fby_auto_ask(const struct fby_auto *self)
{
    return self->state == AUTO_STORING ? stored : self->candidates[self->at];
}

static uint64_t permille(const struct fby_auto *self)
{
    return self->raw_bytes > 0 ? self->wire_bytes * 1000 / self->raw_bytes
                               : 1000;
}

static void end_trials(struct fby_auto *self)
{
    self->at = self->best;
    if (self->may_store && self->best_permille > WORTH_PERMILLE) {
        enter(self, AUTO_STORING);
        return;
    }
    self->pause = FBY_AUTO_PAUSE_MIN;
    self->used  = 0;
    enter(self, AUTO_USING);
}

static void judge_trial(struct fby_auto *self)
{
    if (permille(self) < self->best_permille) {
        self->best          = self->at;
        self->best_permille = permille(self);
    }
    if (++self->at < self->n_candidates) {
        enter(self, AUTO_TRYING);
        return;
    }
    end_trials(self);
}

static void judge_use(struct fby_auto *self)
{
    if (self->may_store && permille(self) > WORTH_PERMILLE) {
        enter(self, AUTO_STORING);
        return;
    }
    self->used += self->seen;
    if (self->used >= FBY_AUTO_TERM) {
        begin_trials(self);
        return;
    }
    enter(self, AUTO_USING);
}

static void end_pause(struct fby_auto *self)
{
    uint32_t next = 2 * self->pause;
    self->pause   = next < FBY_AUTO_PAUSE_MAX ? next : FBY_AUTO_PAUSE_MAX;
    begin_trials(self);
}

void fby_auto_feed(struct fby_auto *self, struct fby_coding coding,
    uint32_t raw_bytes, uint32_t wire_bytes)
{
    if (self->state == AUTO_FIXED || !same(coding, fby_auto_ask(self))) {
        return;
    }
    self->seen++;
    self->raw_bytes += raw_bytes;
    self->wire_bytes += wire_bytes;
    if (self->state == AUTO_TRYING && self->seen == FBY_AUTO_TRIAL) {
        judge_trial(self);
    } else if (self->state == AUTO_USING && self->seen == FBY_AUTO_WINDOW) {
        judge_use(self);
    } else if (self->state == AUTO_STORING && self->seen == self->pause) {
        end_pause(self);
    }
}
