#include "cli/drawn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"

static fby_err plan_member(struct fby_drawn *self,
    const struct fby_member *member, const struct fby_field_content *field,
    struct fby_field_plan *out, struct fby_why *why)
{
    if (member->size > self->n_bytes) {
        self->bytes   = fby_regrow(self->bytes, member->size);
        self->n_bytes = member->size;
    }
    fby_err err = fby_dataset_read(
        self->local->dataset, member, self->bytes, self->n_bytes, why);
    const struct fby_field_job job = {
        .field  = field,
        .bytes  = self->bytes,
        .size   = member->size,
        .seed   = self->seed,
        .epoch  = self->epoch,
        .sample = member->sample,
    };
    return err == FBY_OK ? fby_field_plan(&job, out, why) : err;
}

fby_err fby_drawn_plan(struct fby_drawn *self, uint64_t sample,
    const struct fby_field_content *field, struct fby_field_plan *out,
    struct fby_why *why)
{
    const struct fby_dataset *dataset = self->local->dataset;
    struct fby_member         member;
    fby_err                   err =
        fby_dataset_find(dataset, sample, field->from, field->n_from, &member);
    if (err != FBY_OK) {
        return fby_because(why, err, "sample %" PRIu64 " (%s) has no %s",
            sample, fby_dataset_key(dataset, sample), field->from[0]);
    }
    err = plan_member(self, &member, field, out, why);
    if (err != FBY_OK) {
        struct fby_why place = {{0}};
        fby_dataset_place(dataset, sample, &member, &place);
        fby_because_in(why, err, "%s", place.text);
    }
    return err;
}

void fby_drawn_fini(struct fby_drawn *self)
{
    free(self->bytes);
    *self = (struct fby_drawn){0};
}

struct fby_size fby_drawn_text(const struct fby_op_use *use,
    const struct fby_op_plan *plan, struct fby_size in,
    char out[FBY_DRAWN_TEXT])
{
    bool cut    = plan->w != in.w || plan->h != in.h;
    bool scaled = plan->out_w != plan->w || plan->out_h != plan->h;
    int  n      = snprintf(out, FBY_DRAWN_TEXT, "%s", use->op->name);
    if (cut) {
        n += snprintf(
            out + n, FBY_DRAWN_TEXT - (size_t)n, " at %u,%u", plan->x, plan->y);
    }
    if (cut || scaled) {
        n += snprintf(
            out + n, FBY_DRAWN_TEXT - (size_t)n, " %ux%u", plan->w, plan->h);
    }
    if (scaled) {
        n += snprintf(out + n, FBY_DRAWN_TEXT - (size_t)n, " > %ux%u",
            plan->out_w, plan->out_h);
    }
    if (plan->flip) {
        n += snprintf(out + n, FBY_DRAWN_TEXT - (size_t)n, " flipped");
    }
    if (!cut && !scaled && !plan->flip) {
        snprintf(out + n, FBY_DRAWN_TEXT - (size_t)n, " -");
    }
    return (struct fby_size){plan->out_w, plan->out_h};
}
