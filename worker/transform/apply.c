/* apply.c - run the chain of a picture's passes and steps.
 *
 * A link that does not work in place is a move. The last move writes to the
 * caller's memory, the others alternate between two scratch pictures. The first
 * link may get its rows from a decoder, one by one. */
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
                "op %u of the field is unknown to this worker", i);
        }
    }
    return FBY_OK;
}

static void add_link(struct fby_chain *chain, struct fby_chain_link link)
{
    chain->links[chain->n_links++] = link;
    chain->n_moves += link.moves;
}

static void add_step(
    struct fby_chain *chain, uint32_t op, const struct fby_step *step)
{
    struct fby_size in = chain->links[chain->n_links - 1].out;
    add_link(chain, (struct fby_chain_link){.step = *step,
                        .op                       = op,
                        .in                       = in,
                        .out                      = fby_step_size(step, in),
                        .moves = fby_step_moves(step->kind)});
}

/* A mask gets only the geometric steps of its image; ids do not change. */
static void add_steps(struct fby_chain *chain, uint32_t op)
{
    const struct fby_op_plan *plan = &chain->run.plans[op];
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        if (chain->channels == FBY_RGB ||
            fby_step_is_geometric(plan->steps[i].kind)) {
            add_step(chain, op, &plan->steps[i]);
        }
    }
}

static void add_links(struct fby_chain *chain)
{
    for (uint32_t i = 0; i < chain->passes.n; i++) {
        const struct fby_pass *pass = &chain->passes.at[i];
        add_link(chain, (struct fby_chain_link){.pass = pass,
                            .op                       = pass->op,
                            .in    = {pass->box.w, pass->box.h},
                            .out   = {pass->window.w, pass->window.h},
                            .moves = true});
        for (uint32_t op = pass->steps_from; op < pass->steps_end; op++) {
            add_steps(chain, op);
        }
    }
}

fby_err fby_chain_plan(const struct fby_op_run *run, struct fby_source in,
    const struct fby_image *out, struct fby_chain *chain, struct fby_why *why)
{
    uint32_t bad    = 0;
    chain->run      = *run;
    chain->out      = *out;
    chain->channels = in.channels;
    chain->ycbcr    = in.ycbcr;
    chain->n_links  = 0;
    chain->n_moves  = 0;
    chain->moved    = 0;
    fby_err err     = check_known(run, why);
    if (err != FBY_OK) {
        return err;
    }
    if (!fby_passes_plan(
            run->plans, run->n_ops, in.size, &chain->passes, &bad)) {
        return fby_because(why, FBY_USAGE,
            "%s: the plan does not fit the op's input picture",
            run->uses[bad].op->name);
    }
    struct fby_size end = chain->passes.size;
    if (end.w != out->width || end.h != out->height) {
        return fby_because(why, FBY_USAGE,
            "the ops make %u x %u pixels, the field has %u x %u", end.w, end.h,
            out->width, out->height);
    }
    add_links(chain);
    return FBY_OK;
}

/* ---- running ------------------------------------------------------------- */

/* The picture that the next move writes to. */
static fby_err next_output(struct fby_transform *self, struct fby_chain *chain,
    struct fby_size size, struct fby_image *out)
{
    uint32_t move = chain->moved++;
    if (move == chain->n_moves - 1) {
        *out = chain->out;
        return FBY_OK;
    }
    return fby_image_of(&self->made[move % 2], size, chain->channels, out);
}

static void charge(struct fby_transform *self, const struct fby_chain *chain,
    const struct fby_chain_link *link, int64_t ns)
{
    if (chain->run.n_ops > 0) {
        fby_transform_charge(self, chain->run.uses[link->op].op->id, ns);
    }
}

static struct fby_image crop(const struct fby_image *picture,
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

static fby_err do_pass(struct fby_transform *self,
    const struct fby_chain *chain, const struct fby_pass *pass,
    const struct fby_image *in, const struct fby_image *out)
{
    struct fby_resize_spec spec = fby_pass_resize(pass, &fby_unscaled);
    struct fby_image       part = crop(in, &pass->box, chain->channels);
    if (chain->channels == FBY_RGB) {
        return fby_resize(&self->resizer, &part, &spec, out);
    }
    scale_mask(&self->nearest, &spec, &part, out);
    return FBY_OK;
}

static fby_err do_step(struct fby_transform *self,
    const struct fby_chain *chain, const struct fby_chain_link *link,
    const struct fby_image *in, const struct fby_image *out)
{
    fby_err err =
        fby_scratch_need(&self->steps, fby_step_bytes(&link->step, link->in));
    if (err == FBY_OK) {
        fby_step_do(&(struct fby_step_work){&link->step, *in, *out,
            chain->channels, chain->ycbcr, self->steps.memory});
    }
    return err;
}

/* Replace *picture by the link's result. */
static fby_err do_link(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_chain_link *link, struct fby_image *picture)
{
    struct fby_image out   = *picture;
    int64_t          began = fby_thread_cpu_ns();
    fby_err          err   = FBY_OK;
    if (link->moves) {
        err = next_output(self, chain, link->out, &out);
    }
    if (err == FBY_OK) {
        err = link->pass != NULL
                  ? do_pass(self, chain, link->pass, picture, &out)
                  : do_step(self, chain, link, picture, &out);
    }
    charge(self, chain, link, fby_thread_cpu_ns() - began);
    *picture = out;
    return err;
}

static fby_err do_links(struct fby_transform *self, struct fby_chain *chain,
    uint32_t first, struct fby_image picture)
{
    fby_err err = FBY_OK;
    for (uint32_t i = first; err == FBY_OK && i < chain->n_links; i++) {
        err = do_link(self, chain, &chain->links[i], &picture);
    }
    return err;
}

fby_err fby_transform_run(struct fby_transform *self,
    const struct fby_op_run *run, struct fby_image in, struct fby_image out,
    struct fby_why *why)
{
    struct fby_chain  chain;
    struct fby_source source = {{in.width, in.height}, FBY_RGB, false};
    fby_err           err    = fby_chain_plan(run, source, &out, &chain, why);
    return err == FBY_OK ? do_links(self, &chain, 0, in) : err;
}

/* ---- rows from a decoder ------------------------------------------------- */

static struct fby_reach reach_of(
    const struct fby_chain *chain, const struct fby_axis_spec *axis)
{
    return chain->channels == FBY_RGB ? fby_axis_reach(axis)
                                      : fby_nearest_resize_reach(axis);
}

/* The steps of an axis that source pixels cover (weights.h). */
static struct fby_reach steps_under(
    const struct fby_axis_spec *axis, struct fby_reach pixels)
{
    uint32_t first = pixels.first * axis->unit;
    uint32_t end   = (pixels.first + pixels.n) * axis->unit - axis->skew;
    first          = first > axis->skew ? first - axis->skew : 0;
    end            = end < axis->from ? end : axis->from;
    return (struct fby_reach){first, end - first};
}

struct fby_box fby_chain_part(
    const struct fby_chain *chain, const struct fby_grain *grain)
{
    const struct fby_pass *pass = &chain->passes.at[0];
    struct fby_resize_spec spec = fby_pass_resize(pass, grain);
    struct fby_reach       x = steps_under(&spec.x, reach_of(chain, &spec.x));
    struct fby_reach       y = steps_under(&spec.y, reach_of(chain, &spec.y));
    return (struct fby_box){
        pass->box.x + x.first, pass->box.y + y.first, x.n, y.n};
}

fby_err fby_chain_begin(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_grain *grain)
{
    struct fby_resize_spec spec = fby_pass_resize(&chain->passes.at[0], grain);
    fby_err err = next_output(self, chain, chain->links[0].out, &chain->first);
    chain->first_ns = 0;
    if (err == FBY_OK && chain->channels == FBY_RGB) {
        err = fby_resizer_begin(&self->resizer, &spec, &chain->first);
    } else {
        fby_nearest_resize_begin(&self->nearest, &spec, &chain->first);
    }
    return err;
}

static void take_row(struct fby_transform *self, const struct fby_chain *chain,
    const uint8_t *row)
{
    if (chain->channels == FBY_RGB) {
        fby_resizer_row(&self->resizer, row);
    } else {
        fby_nearest_resize_row(&self->nearest, row);
    }
}

void fby_chain_rows(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_image *rows)
{
    int64_t began = fby_now_ns();
    for (uint32_t y = 0; y < rows->height; y++) {
        take_row(self, chain, rows->pixels + y * rows->stride);
    }
    chain->first_ns += fby_now_ns() - began;
}

fby_err fby_chain_end(struct fby_transform *self, struct fby_chain *chain)
{
    charge(self, chain, &chain->links[0], chain->first_ns);
    return do_links(self, chain, 1, chain->first);
}

/* ---- memory -------------------------------------------------------------- */

static void raise_to(uint64_t *bytes, uint64_t wanted)
{
    *bytes = *bytes > wanted ? *bytes : wanted;
}

static void need_of_link(const struct fby_chain *chain,
    const struct fby_chain_link *link, const struct fby_grain *grain,
    struct fby_need *need)
{
    if (link->pass == NULL) {
        raise_to(&need->steps, fby_step_bytes(&link->step, link->in));
    } else if (chain->channels == FBY_RGB) {
        struct fby_resize_spec spec = fby_pass_resize(link->pass, grain);
        raise_to(&need->resize, fby_resize_bytes(&spec));
    }
}

void fby_chain_need(const struct fby_chain *chain,
    const struct fby_grain *grain, struct fby_need *need)
{
    uint32_t move = 0;
    for (uint32_t i = 0; i < chain->n_links; i++) {
        const struct fby_chain_link *link = &chain->links[i];
        need_of_link(chain, link, i == 0 ? grain : &fby_unscaled, need);
        move += link->moves;
        if (link->moves && move < chain->n_moves) {
            raise_to(&need->made[(move - 1) % 2],
                (uint64_t)link->out.w * link->out.h * chain->channels);
        }
    }
}
