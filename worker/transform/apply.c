/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - run the chain of a picture's passes and steps.
 *
 * Some links work in place, others need an output picture. The last link that
 * needs one writes to the caller's picture. The others alternate between two
 * scratch pictures, so that none writes to the picture that it reads. */
#include "worker/transform/apply.h"

#include "worker/transform/steps/steps.h"
#include "worker/transform/transform_private.h"

bool fby_transform_knows_op(uint32_t op_id)
{
    return op_id < FBY_OP_ID_LIMIT && fby_op_by_id(op_id) != NULL;
}

/* ---- planning ------------------------------------------------------------ */

static bool steps_are_known(const struct fby_op_plan *plan)
{
    bool known = plan->n_steps <= FBY_MAX_STEPS;
    for (uint32_t i = 0; known && i < plan->n_steps; i++) {
        known = fby_step_is_known(plan->steps[i].kind);
    }
    return known;
}

static fby_err check_ops_are_known(
    const struct fby_planned_ops *ops, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < ops->n_ops; i++) {
        const struct fby_op *op = ops->uses[i].op;
        if (op == NULL || !fby_transform_knows_op(op->id) ||
            !steps_are_known(&ops->plans[i])) {
            return fby_error_set(why, FBY_USAGE,
                "op %u of the field is unknown to this worker", i);
        }
    }
    return FBY_OK;
}

static void add_link(struct fby_chain *chain, struct fby_chain_link link)
{
    chain->links[chain->n_links++] = link;
    chain->n_outputs += link.needs_output;
}

/* Add the steps of a plan. A mask gets only the geometric ones: the others
 * would change its class ids. */
static void add_steps(struct fby_chain *chain, const struct fby_op_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        const struct fby_step *step = &plan->steps[i];
        struct fby_size        in   = chain->links[chain->n_links - 1].out_size;
        if (chain->channels == FBY_RGB || fby_step_is_geometric(step->kind)) {
            add_link(
                chain, (struct fby_chain_link){.step = *step,
                           .in_size                  = in,
                           .out_size                 = fby_step_size(step, in),
                           .needs_output = fby_step_needs_output(step->kind)});
        }
    }
}

/* Add each pass, followed by the steps of the ops that belong to it. */
static void add_links(struct fby_chain *chain)
{
    for (uint32_t i = 0; i < chain->passes.n; i++) {
        const struct fby_pass *pass = &chain->passes.list[i];
        add_link(chain, (struct fby_chain_link){.pass = pass,
                            .in_size      = {pass->box.w, pass->box.h},
                            .out_size     = {pass->window.w, pass->window.h},
                            .needs_output = true});
        for (uint32_t op = pass->steps_from; op < pass->steps_end; op++) {
            add_steps(chain, &chain->ops.plans[op]);
        }
    }
}

fby_err fby_chain_plan(const struct fby_planned_ops *ops,
    struct fby_chain_input in, const struct fby_image *out,
    struct fby_chain *chain, struct fby_error_detail *why)
{
    uint32_t bad_op     = 0;
    chain->ops          = *ops;
    chain->out          = *out;
    chain->channels     = in.channels;
    chain->ycbcr        = in.ycbcr;
    chain->n_links      = 0;
    chain->n_outputs    = 0;
    chain->outputs_used = 0;
    fby_err err         = check_ops_are_known(ops, why);
    if (err != FBY_OK) {
        return err;
    }
    if (!fby_passes_plan(
            ops->plans, ops->n_ops, in.size, &chain->passes, &bad_op)) {
        return fby_error_set(why, FBY_USAGE,
            "%s: the plan does not fit the op's input picture",
            ops->uses[bad_op].op->name);
    }
    struct fby_size result = chain->passes.result_size;
    if (result.w != out->width || result.h != out->height) {
        return fby_error_set(why, FBY_USAGE,
            "the ops make %u x %u pixels, the field has %u x %u", result.w,
            result.h, out->width, out->height);
    }
    add_links(chain);
    return FBY_OK;
}

/* ---- running ------------------------------------------------------------- */

/* Set *out to the output of the next link that needs one: a scratch picture, or
 * for the last such link the caller's picture. */
static fby_err next_output(struct fby_transform *self, struct fby_chain *chain,
    struct fby_size size, struct fby_image *out)
{
    uint32_t number = chain->outputs_used++;
    if (number == chain->n_outputs - 1) {
        *out = chain->out;
        return FBY_OK;
    }
    return fby_image_alloc(
        &self->results[number % 2], size, chain->channels, out);
}

/* Returns a view of the pixels of `picture` in `box`. */
static struct fby_image crop_view(const struct fby_image *picture,
    const struct fby_box *box, uint32_t channels)
{
    struct fby_image view = *picture;
    view.pixels += box->y * picture->stride + (size_t)box->x * channels;
    view.width  = box->w;
    view.height = box->h;
    return view;
}

/* Scale a mask in memory. The resize gets only the rows that it reads, each
 * from the first column that it reads. */
static void scale_mask(struct fby_nearest_resize *nearest,
    const struct fby_resize_spec *spec, const struct fby_image *in,
    const struct fby_image *out)
{
    struct fby_reach rows = fby_nearest_resize_reach(&spec->y);
    const uint8_t   *first_column =
        in->pixels + fby_nearest_resize_reach(&spec->x).first;
    fby_nearest_resize_begin(nearest, spec, out);
    for (uint32_t i = 0; i < rows.n; i++) {
        fby_nearest_resize_add_row(
            nearest, first_column + (rows.first + i) * in->stride);
    }
}

static fby_err run_pass(struct fby_transform *self,
    const struct fby_chain *chain, const struct fby_pass *pass,
    const struct fby_image *in, const struct fby_image *out)
{
    struct fby_resize_spec spec = fby_pass_resize_spec(pass, &fby_unscaled);
    struct fby_image       view = crop_view(in, &pass->box, chain->channels);
    if (chain->channels == FBY_RGB) {
        return fby_resize(&self->resizer, &view, &spec, out);
    }
    scale_mask(&self->nearest, &spec, &view, out);
    return FBY_OK;
}

static fby_err run_step(struct fby_transform *self,
    const struct fby_chain *chain, const struct fby_chain_link *link,
    const struct fby_image *in, const struct fby_image *out)
{
    fby_err err = fby_scratch_grow(
        &self->step_memory, fby_step_memory_bytes(&link->step, link->in_size));
    if (err == FBY_OK) {
        fby_step_apply(&(struct fby_step_work){&link->step, *in, *out,
            chain->channels, chain->ycbcr, self->step_memory.memory});
    }
    return err;
}

/* Run a link, and replace *picture by its result. */
static fby_err run_link(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_chain_link *link, struct fby_image *picture)
{
    struct fby_image out = *picture;
    fby_err          err = FBY_OK;
    if (link->needs_output) {
        err = next_output(self, chain, link->out_size, &out);
    }
    if (err == FBY_OK) {
        err = link->pass != NULL
                  ? run_pass(self, chain, link->pass, picture, &out)
                  : run_step(self, chain, link, picture, &out);
    }
    *picture = out;
    return err;
}

/* Run the links from number `first` on; `picture` is the input of that link. */
static fby_err run_links_from(struct fby_transform *self,
    struct fby_chain *chain, uint32_t first, struct fby_image picture)
{
    fby_err err = FBY_OK;
    for (uint32_t i = first; err == FBY_OK && i < chain->n_links; i++) {
        err = run_link(self, chain, &chain->links[i], &picture);
    }
    return err;
}

fby_err fby_transform_run_ops(struct fby_transform *self,
    const struct fby_planned_ops *ops, struct fby_image in,
    struct fby_image out, struct fby_error_detail *why)
{
    struct fby_chain       chain;
    struct fby_chain_input form = {
        .size = {in.width, in.height}, .channels = FBY_RGB, .ycbcr = false};
    fby_err err = fby_chain_plan(ops, form, &out, &chain, why);
    return err == FBY_OK ? run_links_from(self, &chain, 0, in) : err;
}

/* ---- rows from a decoder ------------------------------------------------- */

/* The decoded pixels that the first pass reads, along one axis. */
static struct fby_reach decoded_pixels(
    const struct fby_chain *chain, const struct fby_axis_spec *axis)
{
    return chain->channels == FBY_RGB ? fby_axis_reach(axis)
                                      : fby_nearest_resize_reach(axis);
}

/* The full-size pixels of the axis that the decoded pixels `source` cover, each
 * `unit` of them. The axis is `from` full-size pixels long, and begins `offset`
 * full-size pixels into decoded pixel 0. */
static struct fby_reach full_size_pixels(
    const struct fby_axis_spec *axis, struct fby_reach source)
{
    uint32_t first = source.first * axis->unit;
    uint32_t end   = (source.first + source.n) * axis->unit - axis->offset;
    first          = first > axis->offset ? first - axis->offset : 0;
    end            = end < axis->from ? end : axis->from;
    return (struct fby_reach){first, end - first};
}

struct fby_box fby_chain_source_box(
    const struct fby_chain *chain, const struct fby_source_scale *scale)
{
    const struct fby_pass *pass = &chain->passes.list[0];
    struct fby_resize_spec spec = fby_pass_resize_spec(pass, scale);
    struct fby_reach       x =
        full_size_pixels(&spec.x, decoded_pixels(chain, &spec.x));
    struct fby_reach y =
        full_size_pixels(&spec.y, decoded_pixels(chain, &spec.y));
    return (struct fby_box){
        pass->box.x + x.first, pass->box.y + y.first, x.n, y.n};
}

fby_err fby_chain_begin(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_source_scale *scale)
{
    struct fby_resize_spec spec =
        fby_pass_resize_spec(&chain->passes.list[0], scale);
    fby_err err =
        next_output(self, chain, chain->links[0].out_size, &chain->first_out);
    if (err != FBY_OK) {
        return err;
    }
    if (chain->channels == FBY_RGB) {
        return fby_resizer_begin(&self->resizer, &spec, &chain->first_out);
    }
    fby_nearest_resize_begin(&self->nearest, &spec, &chain->first_out);
    return FBY_OK;
}

static void add_row(struct fby_transform *self, const struct fby_chain *chain,
    const uint8_t *row)
{
    if (chain->channels == FBY_RGB) {
        fby_resizer_add_row(&self->resizer, row);
    } else {
        fby_nearest_resize_add_row(&self->nearest, row);
    }
}

void fby_chain_add_rows(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_image *rows)
{
    for (uint32_t y = 0; y < rows->height; y++) {
        add_row(self, chain, rows->pixels + y * rows->stride);
    }
}

fby_err fby_chain_end(struct fby_transform *self, struct fby_chain *chain)
{
    return run_links_from(self, chain, 1, chain->first_out);
}

/* ---- memory -------------------------------------------------------------- */

static void raise_to(uint64_t *bytes, uint64_t wanted)
{
    *bytes = *bytes > wanted ? *bytes : wanted;
}

/* Raise `need` to the working memory of a link. */
static void raise_link_need(const struct fby_chain *chain,
    const struct fby_chain_link *link, const struct fby_source_scale *scale,
    struct fby_need *need)
{
    if (link->pass == NULL) {
        raise_to(&need->step_memory,
            fby_step_memory_bytes(&link->step, link->in_size));
    } else if (chain->channels == FBY_RGB) {
        struct fby_resize_spec spec = fby_pass_resize_spec(link->pass, scale);
        raise_to(&need->resizer, fby_resize_memory_bytes(&spec));
    }
}

void fby_chain_raise_need(const struct fby_chain *chain,
    const struct fby_source_scale *scale, struct fby_need *need)
{
    uint32_t outputs = 0; /* of the links before link i */
    for (uint32_t i = 0; i < chain->n_links; i++) {
        const struct fby_chain_link *link = &chain->links[i];
        raise_link_need(chain, link, i == 0 ? scale : &fby_unscaled, need);
        /* As in next_output, outputs alternate between two buffers, and the
         * last is the caller's picture. */
        if (link->needs_output && outputs < chain->n_outputs - 1) {
            raise_to(&need->results[outputs % 2], (uint64_t)link->out_size.w *
                                                      link->out_size.h *
                                                      chain->channels);
        }
        outputs += link->needs_output;
    }
}
