/* SPDX-License-Identifier: Apache-2.0 */
/* passes.c - merge ops into passes: the crops, mirrors and the scaling of a
 * pass become one box, one size and one window. */
#include "worker/transform/passes.h"

static struct fby_box whole_box(struct fby_size size)
{
    return (struct fby_box){.w = size.w, .h = size.h};
}

/* A pass that copies the whole picture. */
static struct fby_pass copy_pass(struct fby_size in)
{
    return (struct fby_pass){
        .box = whole_box(in), .to = in, .window = whole_box(in)};
}

static bool pass_scales(const struct fby_pass *pass)
{
    return pass->to.w != pass->box.w || pass->to.h != pass->box.h;
}

/* True if the box of the plan is inside a picture of size `in`, and neither the
 * box nor its scaled size is empty. */
static bool plan_fits(const struct fby_op_plan *plan, struct fby_size in)
{
    return plan->w >= 1 && plan->h >= 1 && plan->out_w >= 1 &&
           plan->out_h >= 1 && plan->w <= in.w && plan->x <= in.w - plan->w &&
           plan->h <= in.h && plan->y <= in.h - plan->h;
}

/* Crop the result of the pass to the plan's box. The window is mirrored last.
 * So if the pass mirrors, the box is counted from the window's right side. */
static void crop_pass(struct fby_pass *pass, const struct fby_op_plan *plan)
{
    struct fby_box *window = &pass->window;
    window->x += pass->mirror ? window->w - plan->x - plan->w : plan->x;
    window->y += plan->y;
    window->w = plan->w;
    window->h = plan->h;
    if (!pass_scales(pass)) { /* then the box itself can be cropped */
        pass->box.x += window->x;
        pass->box.y += window->y;
        pass->box.w  = window->w;
        pass->box.h  = window->h;
        pass->to     = (struct fby_size){window->w, window->h};
        pass->window = whole_box(pass->to);
    }
}

static bool plan_scales(const struct fby_op_plan *plan)
{
    return plan->out_w != plan->w || plan->out_h != plan->h;
}

/* True if the plan crops, scales or mirrors a picture of size `in`. */
static bool plan_reshapes(const struct fby_op_plan *plan, struct fby_size in)
{
    return plan->w != in.w || plan->h != in.h || plan_scales(plan) ||
           plan->flip;
}

/* Add the crop, scaling and mirror of a plan to the pass. */
static void add_geometry(struct fby_pass *pass, const struct fby_op_plan *plan)
{
    crop_pass(pass, plan);
    if (plan_scales(plan)) {
        pass->to       = (struct fby_size){plan->out_w, plan->out_h};
        pass->window   = whole_box(pass->to);
        pass->reversed = pass->mirror;
    }
    pass->mirror = pass->mirror != plan->flip; /* two mirrors cancel out */
}

static bool has_steps(const struct fby_pass *pass)
{
    return pass->steps_end > pass->steps_from;
}

/* True if the plan, on a picture of size `in`, needs a new pass. */
static bool needs_new_pass(const struct fby_pass *pass,
    const struct fby_op_plan *plan, struct fby_size in)
{
    return plan_reshapes(plan, in) &&
           (has_steps(pass) || (plan_scales(plan) && pass_scales(pass)));
}

static void add_steps(
    struct fby_pass *pass, const struct fby_op_plan *plan, uint32_t op)
{
    if (plan->n_steps > 0) {
        pass->steps_from = has_steps(pass) ? pass->steps_from : op;
        pass->steps_end  = op + 1;
    }
}

bool fby_passes_plan(const struct fby_op_plan *plans, uint32_t n_ops,
    struct fby_size in, struct fby_passes *out, uint32_t *bad_op)
{
    struct fby_size  size = in; /* of the picture before op i */
    struct fby_pass *pass = &out->list[0];
    *pass                 = copy_pass(size);
    out->n                = 1;
    for (uint32_t i = 0; i < n_ops; i++) {
        const struct fby_op_plan *plan = &plans[i];
        if (!plan_fits(plan, size)) {
            *bad_op = i;
            return false;
        }
        if (needs_new_pass(pass, plan, size)) {
            pass  = &out->list[out->n++];
            *pass = copy_pass(size);
        }
        if (!has_steps(pass)) { /* otherwise the plan changes no geometry */
            add_geometry(pass, plan);
        }
        add_steps(pass, plan, i);
        size = fby_op_plan_size(plan);
    }
    out->result_size = size;
    return true;
}

/* Scale `from` pixels to `to`, of which [first, first + n) are wanted. */
static struct fby_axis_spec axis_spec(
    uint32_t from, uint32_t to, uint32_t first, uint32_t n)
{
    return (struct fby_axis_spec){
        .from = from, .to = to, .first = first, .n = n, .unit = 1};
}

const struct fby_source_scale fby_unscaled = {.unit = 1};

struct fby_resize_spec fby_pass_resize_spec(
    const struct fby_pass *pass, const struct fby_source_scale *scale)
{
    struct fby_resize_spec spec = {
        .x = axis_spec(pass->box.w, pass->to.w, pass->window.x, pass->window.w),
        .y = axis_spec(pass->box.h, pass->to.h, pass->window.y, pass->window.h),
    };
    spec.x.mirror   = pass->mirror;
    spec.x.reversed = pass->reversed;
    spec.x.unit     = scale->unit;
    spec.x.offset   = scale->offset_x;
    spec.y.unit     = scale->unit;
    spec.y.offset   = scale->offset_y;
    return spec;
}

uint32_t fby_pass_largest_unit(const struct fby_pass *pass, uint32_t oversize)
{
    uint64_t min_w = (uint64_t)oversize * pass->to.w;
    uint64_t min_h = (uint64_t)oversize * pass->to.h;
    uint32_t unit  = 8; /* the largest that a decoder offers */
    while (unit > 1 &&
           (pass->box.w / unit < min_w || pass->box.h / unit < min_h)) {
        unit /= 2;
    }
    return unit;
}
