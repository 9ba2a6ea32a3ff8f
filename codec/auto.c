/* The states: trials -> in use or storing -> trials again. Only chunks of the
 * current coding are counted, so that late reports of encode threads have no
 * effect. */
#include "codec/auto.h"

enum auto_state {
    AUTO_FIXED,  /* no choice */
    AUTO_TRYING, /* candidate `at` is measured */
    AUTO_USING,  /* candidate `at` is in use */
    AUTO_STORING /* no candidate saves enough; trials follow after `pause` */
};

/* Wire bytes per 1000 raw bytes. Above the first, storing is better. Up to the
 * second, no coding but packing is tried for pictures. */
enum { WORTH_PERMILLE = 875, ENOUGH_PERMILLE = 500 };

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
    self->best_permille = UINT32_MAX;
    enter(self, AUTO_TRYING);
}

/* ---- candidates ---------------------------------------------------------- */

static bool is_asked_for(const struct fby_wish *wish, struct fby_coding coding)
{
    return (wish->filter == FBY_AUTO || wish->filter == coding.filter) &&
           (wish->codec == FBY_AUTO || wish->codec == coding.codec);
}

static bool is_supported(const struct fby_wish *wish, struct fby_coding coding)
{
    return (wish->filters >> coding.filter & 1) != 0 &&
           (wish->codecs >> coding.codec & 1) != 0;
}

/* Byte shuffle of single bytes changes nothing. */
static bool is_useful(const struct fby_wish *wish, struct fby_coding coding)
{
    return fby_coding_suits(coding, wish->params) &&
           (coding.filter != FBY_FILTER_BYTE_SHUFFLE ||
               wish->params.element_bytes > 1);
}

/* All codings that compress, in order of CPU cost. */
static const struct fby_coding all[] = {
    {FBY_FILTER_PHOTO, FBY_CODEC_PACK},
    {FBY_FILTER_NONE, FBY_CODEC_LZ4},
    {FBY_FILTER_DELTA, FBY_CODEC_LZ4},
    {FBY_FILTER_BYTE_SHUFFLE, FBY_CODEC_LZ4},
    {FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4},
};

static void add_candidates(struct fby_auto *self, const struct fby_wish *wish)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (is_asked_for(wish, all[i]) && is_useful(wish, all[i]) &&
            is_supported(wish, all[i])) {
            self->candidates[self->n_candidates++] = all[i];
        }
    }
}

bool fby_auto_possible(uint8_t filter, uint8_t codec)
{
    bool photo = filter == FBY_FILTER_PHOTO || codec == FBY_CODEC_PACK;
    return (filter == FBY_AUTO || filter <= FBY_FILTER_PHOTO) &&
           (codec == FBY_AUTO || codec <= FBY_CODEC_PACK) &&
           (!photo || (filter >= FBY_FILTER_PHOTO && codec >= FBY_CODEC_PACK));
}

bool fby_auto_suits(const struct fby_wish *wish)
{
    bool photo =
        wish->filter == FBY_FILTER_PHOTO || wish->codec == FBY_CODEC_PACK;
    return fby_auto_possible(wish->filter, wish->codec) &&
           (!photo || wish->params.channels != 0);
}

static void fix_coding(struct fby_auto *self, struct fby_coding coding)
{
    self->candidates[0] = coding;
    enter(self, AUTO_FIXED);
}

static void fix_as_asked(struct fby_auto *self, const struct fby_wish *wish)
{
    uint8_t filter = wish->filter == FBY_AUTO ? FBY_FILTER_NONE : wish->filter;
    struct fby_coding asked = {filter, wish->codec};
    fix_coding(self, is_supported(wish, asked) ? asked : stored);
}

void fby_auto_init(struct fby_auto *self, const struct fby_wish *wish)
{
    *self = (struct fby_auto){.pause = FBY_AUTO_PAUSE_MIN};
    if (wish->codec == FBY_CODEC_STORE ||
        (wish->filter != FBY_AUTO && wish->codec != FBY_AUTO)) {
        fix_as_asked(self, wish);
        return;
    }
    add_candidates(self, wish);
    if (self->n_candidates == 0) {
        fix_coding(self, stored);
        return;
    }
    self->may_store = wish->codec == FBY_AUTO;
    begin_trials(self);
}

/* ---- decisions ----------------------------------------------------------- */

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

/* Whether packing pictures saves so much that no other coding is tried. */
static bool is_photo_enough(const struct fby_auto *self)
{
    return self->candidates[self->best].filter == FBY_FILTER_PHOTO &&
           self->best_permille <= ENOUGH_PERMILLE;
}

static void judge_trial(struct fby_auto *self)
{
    uint64_t now = permille(self);
    if (now < self->best_permille && 16 * now <= 15 * self->best_permille) {
        self->best          = self->at;
        self->best_permille = now;
    }
    if (++self->at < self->n_candidates && !is_photo_enough(self)) {
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
