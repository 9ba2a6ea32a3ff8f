/* SPDX-License-Identifier: Apache-2.0 */
/* seek.c - continues the stream at another step.
 *
 * Slots that the consumer holds are not affected. Chunks that are still being
 * decoded keep their slot in use until they are done. FBY_MUTANT(bug) is true
 * only in a test that must detect this bug. */
#include <assert.h>

#include "trainer_client/window/window_state.h"

static void drop_all_steps(struct fby_window *w)
{
    for (uint64_t position = w->cursor; position < w->window_end; position++) {
        const struct window_step *step = fby_w_step(w, position);
        struct window_slot       *main = &w->slots[step->main_slot];
        if (main->state != SLOT_READY || !FBY_MUTANT(leak_at_seek)) {
            fby_w_drop_slot(w, main);
        }
        if (step->hedge_slot != FBY_NO_SLOT) {
            fby_w_drop_slot(w, &w->slots[step->hedge_slot]);
        }
    }
}

/* A step that all workers refused, or that always arrived damaged, may not be
 * requested again. Other failures concern all steps. */
static void drop_failure(struct fby_window *w)
{
    enum fby_window_cause cause = w->failure.cause;
    if (cause == FBY_CAUSE_CANNOT || cause == FBY_CAUSE_CORRUPT) {
        w->failure = (struct fby_window_failure){.cause = FBY_CAUSE_NONE};
        w->fail_at = UINT64_MAX;
    } else if (cause != FBY_CAUSE_NONE) {
        w->fail_at = 0;
    }
}

void fby_window_seek(
    struct fby_window *self, int64_t now_ns, uint64_t epoch, uint64_t step)
{
    assert(self->started && step < self->plan.steps_per_epoch);
    fby_w_set_now(self, now_ns);
    drop_all_steps(self);
    fby_w_audits_drop(self);
    drop_failure(self);
    self->cursor     = epoch * self->plan.steps_per_epoch + step;
    self->window_end = self->cursor;
    self->taken_ns   = self->now;
}
