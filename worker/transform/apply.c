/* apply.c - the walk over a picture's passes and steps, and the memory that
 * takes.
 *
 * Whatever cannot be done in place is a move: the last one writes to the
 * caller's memory, those before it to two scratch pictures in turn. The first
 * may be fed by a decoder, row by row. */
#include "worker/transform/apply.h"

#include "common/clock.h"
#include "worker/transform/scratch.h"
#include "worker/transform/steps/steps.h"

bool fby_transform_knows(uint32_t op_id)
{
    return op_id < FBY_N_COSTS && fby_op_by_id(op_id) != NULL;
}

/* ---- planning ------------------------------------------------------------ */

static fby_err check_steps(const struct fby_op_plan *plan)
{
    bool known = plan->n_steps <= FBY_MAX_STEPS;
    for (uint32_t i = 0; known && i < plan->n_steps; i++) {
        known = fby_step_is_known(plan->steps[i].kind);
    }
    return known ? FBY_OK : FBY_USAGE;
}

static fby_err check_known(const struct fby_op_run *run, struct fby_why *why)
{
    for (uint32_t i = 0; i < run->n_ops; i++) {
        const struct fby_op *op = run->uses[i].op;
        if (op == NULL || !fby_transform_knows(op->id) ||
            check_steps(&run->plans[i]) != FBY_OK) {
            return fby_because(why, FBY_USAGE,
                "op %u of the field is not one this worker can do", i);
        }
    }
    return FBY_OK;
}

static void add_leg(struct fby_walk *walk, struct fby_leg leg)
{
    walk->legs[walk->n_legs++] = leg;
    walk->n_moves += leg.moves;
}

static void add_step(
    struct fby_walk *walk, uint32_t op, const struct fby_step *step)
{
    struct fby_size in = walk->legs[walk->n_legs - 1].out;
    add_leg(walk, (struct fby_leg){.step = *step,
                      .op                = op,
                      .in                = in,
                      .out               = fby_step_size(step, in),
                      .moves             = fby_step_moves(step->kind)});
}

/* A mask follows its image's geometry and keeps its ids. */
static void add_steps(struct fby_walk *walk, uint32_t op)
{
    const struct fby_op_plan *plan = &walk->run.plans[op];
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        if (walk->channels == FBY_RGB ||
            fby_step_is_geometric(plan->steps[i].kind)) {
            add_step(walk, op, &plan->steps[i]);
        }
    }
}

static void add_legs(struct fby_walk *walk)
{
    for (uint32_t i = 0; i < walk->passes.n; i++) {
        const struct fby_pass *pass = &walk->passes.at[i];
        add_leg(walk, (struct fby_leg){.pass = pass,
                          .op                = pass->op,
                          .in                = {pass->box.w, pass->box.h},
                          .out               = {pass->window.w, pass->window.h},
                          .moves             = true});
        for (uint32_t op = pass->steps_from; op < pass->steps_end; op++) {
            add_steps(walk, op);
        }
    }
}

fby_err fby_walk_plan(const struct fby_op_run *run, struct fby_source in,
    const struct fby_image *out, struct fby_walk *walk, struct fby_why *why)
{
    uint32_t bad   = 0;
    walk->run      = *run;
    walk->out      = *out;
    walk->channels = in.channels;
    walk->ycbcr    = in.ycbcr;
    walk->n_legs   = 0;
    walk->n_moves  = 0;
    walk->moved    = 0;
    fby_err err    = check_known(run, why);
    if (err != FBY_OK) {
        return err;
    }
    if (!fby_passes_plan(
            run->plans, run->n_ops, in.size, &walk->passes, &bad)) {
        return fby_because(why, FBY_USAGE,
            "%s: its plan does not fit the picture it meets",
            run->uses[bad].op->name);
    }
    struct fby_size end = walk->passes.size;
    if (end.w != out->width || end.h != out->height) {
        return fby_because(why, FBY_USAGE,
            "the ops end with %u x %u pixels, the field has %u x %u", end.w,
            end.h, out->width, out->height);
    }
    add_legs(walk);
    return FBY_OK;
}

/* ---- walking ------------------------------------------------------------- */

/* Where the next move writes to. */
static fby_err find_room(struct fby_transform *self, struct fby_walk *walk,
    struct fby_size size, struct fby_image *out)
{
    uint32_t move = walk->moved++;
    if (move == walk->n_moves - 1) {
        *out = walk->out;
        return FBY_OK;
    }
    return fby_image_of(&self->made[move % 2], size, walk->channels, out);
}

static void charge(struct fby_transform *self, const struct fby_walk *walk,
    const struct fby_leg *leg, int64_t ns)
{
    if (walk->run.n_ops > 0) {
        fby_transform_charge(self, walk->run.uses[leg->op].op->id, ns);
    }
}

static struct fby_image part_of(const struct fby_image *picture,
    const struct fby_box *box, uint32_t channels)
{
    struct fby_image part = *picture;
    part.pixels += box->y * picture->stride + (size_t)box->x * channels;
    part.width  = box->w;
    part.height = box->h;
    return part;
}

static void scale_mask(struct fby_nearest_resize *nearest,
    const struct fby_resize_spec *spec, const struct fby_image *in,
    const struct fby_image *out)
{
    struct fby_reach rows = fby_nearest_resize_reach(&spec->y);
    const uint8_t *row = in->pixels + fby_nearest_resize_reach(&spec->x).first;
    fby_nearest_resize_begin(nearest, spec, out);
    for (uint32_t i = 0; i < rows.n; i++) {
        fby_nearest_resize_row(nearest, row + (rows.first + i) * in->stride);
    }
}

static fby_err do_pass(struct fby_transform *self, const struct fby_walk *walk,
    const struct fby_pass *pass, const struct fby_image *in,
    const struct fby_image *out)
{
    struct fby_resize_spec spec = fby_pass_resize(pass, &fby_unscaled);
    struct fby_image       part = part_of(in, &pass->box, walk->channels);
    if (walk->channels == FBY_RGB) {
        return fby_resize(&self->resizer, &part, &spec, out);
    }
    scale_mask(&self->nearest, &spec, &part, out);
    return FBY_OK;
}

static fby_err do_step(struct fby_transform *self, const struct fby_walk *walk,
    const struct fby_leg *leg, const struct fby_image *in,
    const struct fby_image *out)
{
    fby_err err =
        fby_scratch_need(&self->steps, fby_step_bytes(&leg->step, leg->in));
    if (err == FBY_OK) {
        fby_step_do(&(struct fby_step_work){&leg->step, *in, *out,
            walk->channels, walk->ycbcr, self->steps.memory});
    }
    return err;
}

/* *picture becomes the leg's result. */
static fby_err do_leg(struct fby_transform *self, struct fby_walk *walk,
    const struct fby_leg *leg, struct fby_image *picture)
{
    struct fby_image out   = *picture;
    int64_t          began = fby_thread_cpu_ns();
    fby_err          err   = FBY_OK;
    if (leg->moves) {
        err = find_room(self, walk, leg->out, &out);
    }
    if (err == FBY_OK) {
        err = leg->pass != NULL ? do_pass(self, walk, leg->pass, picture, &out)
                                : do_step(self, walk, leg, picture, &out);
    }
    charge(self, walk, leg, fby_thread_cpu_ns() - began);
    *picture = out;
    return err;
}

static fby_err do_legs(struct fby_transform *self, struct fby_walk *walk,
    uint32_t first, struct fby_image picture)
{
    fby_err err = FBY_OK;
    for (uint32_t i = first; err == FBY_OK && i < walk->n_legs; i++) {
        err = do_leg(self, walk, &walk->legs[i], &picture);
    }
    return err;
}

fby_err fby_transform_run(struct fby_transform *self,
    const struct fby_op_run *run, struct fby_image in, struct fby_image out,
    struct fby_why *why)
{
    struct fby_walk   walk;
    struct fby_source source = {{in.width, in.height}, FBY_RGB, false};
    fby_err           err    = fby_walk_plan(run, source, &out, &walk, why);
    return err == FBY_OK ? do_legs(self, &walk, 0, in) : err;
}

/* ---- fed by a decoder ---------------------------------------------------- */

static struct fby_reach reach_of(
    const struct fby_walk *walk, const struct fby_axis_spec *axis)
{
    return walk->channels == FBY_RGB ? fby_axis_reach(axis)
                                     : fby_nearest_resize_reach(axis);
}

/* The steps of an axis that pixels cover. */
static struct fby_reach steps_under(
    const struct fby_axis_spec *axis, struct fby_reach pixels)
{
    uint32_t first = pixels.first * axis->unit;
    uint32_t end   = (pixels.first + pixels.n) * axis->unit - axis->skew;
    first          = first > axis->skew ? first - axis->skew : 0;
    end            = end < axis->from ? end : axis->from;
    return (struct fby_reach){first, end - first};
}

struct fby_box fby_walk_part(
    const struct fby_walk *walk, const struct fby_grain *grain)
{
    const struct fby_pass *pass = &walk->passes.at[0];
    struct fby_resize_spec spec = fby_pass_resize(pass, grain);
    struct fby_reach       x    = steps_under(&spec.x, reach_of(walk, &spec.x));
    struct fby_reach       y    = steps_under(&spec.y, reach_of(walk, &spec.y));
    return (struct fby_box){
        pass->box.x + x.first, pass->box.y + y.first, x.n, y.n};
}

fby_err fby_walk_begin(struct fby_transform *self, struct fby_walk *walk,
    const struct fby_grain *grain)
{
    struct fby_resize_spec spec = fby_pass_resize(&walk->passes.at[0], grain);
    fby_err err    = find_room(self, walk, walk->legs[0].out, &walk->first);
    walk->first_ns = 0;
    if (err == FBY_OK && walk->channels == FBY_RGB) {
        err = fby_resizer_begin(&self->resizer, &spec, &walk->first);
    } else {
        fby_nearest_resize_begin(&self->nearest, &spec, &walk->first);
    }
    return err;
}

static void take_row(
    struct fby_transform *self, const struct fby_walk *walk, const uint8_t *row)
{
    if (walk->channels == FBY_RGB) {
        fby_resizer_row(&self->resizer, row);
    } else {
        fby_nearest_resize_row(&self->nearest, row);
    }
}

void fby_walk_rows(struct fby_transform *self, struct fby_walk *walk,
    const struct fby_image *rows)
{
    int64_t began = fby_now_ns();
    for (uint32_t y = 0; y < rows->height; y++) {
        take_row(self, walk, rows->pixels + y * rows->stride);
    }
    walk->first_ns += fby_now_ns() - began;
}

fby_err fby_walk_end(struct fby_transform *self, struct fby_walk *walk)
{
    charge(self, walk, &walk->legs[0], walk->first_ns);
    return do_legs(self, walk, 1, walk->first);
}

/* ---- memory -------------------------------------------------------------- */

static void at_least(uint64_t *bytes, uint64_t wanted)
{
    *bytes = *bytes > wanted ? *bytes : wanted;
}

static void need_of_leg(const struct fby_walk *walk, const struct fby_leg *leg,
    const struct fby_grain *grain, struct fby_need *need)
{
    if (leg->pass == NULL) {
        at_least(&need->steps, fby_step_bytes(&leg->step, leg->in));
    } else if (walk->channels == FBY_RGB) {
        struct fby_resize_spec spec = fby_pass_resize(leg->pass, grain);
        at_least(&need->resize, fby_resize_bytes(&spec));
    }
}

void fby_walk_need(const struct fby_walk *walk, const struct fby_grain *grain,
    struct fby_need *need)
{
    uint32_t move = 0;
    for (uint32_t i = 0; i < walk->n_legs; i++) {
        const struct fby_leg *leg = &walk->legs[i];
        need_of_leg(walk, leg, i == 0 ? grain : &fby_unscaled, need);
        move += leg->moves;
        if (leg->moves && move < walk->n_moves) {
            at_least(&need->made[(move - 1) % 2],
                (uint64_t)leg->out.w * leg->out.h * walk->channels);
        }
    }
}
