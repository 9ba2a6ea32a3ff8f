/* apply.c - the table of applies, and the walk over a field's ops.
 *
 * A picture wanders between two scratch buffers, or stays where it is when an
 * op only narrows it (a crop is a view) or mirrors it in place. The last op
 * that scales does so into the caller's memory if nothing is cropped after. */
#include "worker/transform/apply.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "worker/transform/workshop.h"

typedef fby_err (*apply_fn)(struct fby_transform *self,
    const struct fby_op_plan *plan, const struct fby_image *out,
    struct fby_image *picture);

/* Each narrows *picture to the plan's box first; `out` is where new pixels
 * are to be made, of the plan's size. */
static void take_box(const struct fby_op_plan *plan, struct fby_image *picture)
{
    picture->pixels += plan->y * picture->stride + (size_t)plan->x * FBY_RGB;
    picture->width  = plan->w;
    picture->height = plan->h;
}

static fby_err apply_scale(struct fby_transform *self,
    const struct fby_op_plan *plan, const struct fby_image *out,
    struct fby_image *picture)
{
    take_box(plan, picture);
    fby_err err = fby_resize(&self->resizer, picture, out);
    if (err == FBY_OK) {
        *picture = *out;
    }
    return err;
}

static fby_err apply_crop(struct fby_transform *self,
    const struct fby_op_plan *plan, const struct fby_image *out,
    struct fby_image *picture)
{
    (void)self;
    (void)out;
    take_box(plan, picture);
    return FBY_OK;
}

static void mirror_row(uint8_t *row, uint32_t width)
{
    uint8_t *left  = row;
    uint8_t *right = row + (size_t)(width - 1) * FBY_RGB;
    for (; left < right; left += FBY_RGB, right -= FBY_RGB) {
        uint8_t kept[FBY_RGB];
        memcpy(kept, left, FBY_RGB);
        memcpy(left, right, FBY_RGB);
        memcpy(right, kept, FBY_RGB);
    }
}

static fby_err apply_mirror(struct fby_transform *self,
    const struct fby_op_plan *plan, const struct fby_image *out,
    struct fby_image *picture)
{
    (void)self;
    (void)out;
    for (uint32_t y = 0; plan->flip && y < picture->height; y++) {
        mirror_row(picture->pixels + y * picture->stride, picture->width);
    }
    return FBY_OK;
}

static const apply_fn applies[] = {
    [FBY_OP_RANDOM_RESIZED_CROP] = apply_scale,
    [FBY_OP_RESIZE]              = apply_scale,
    [FBY_OP_CENTER_CROP]         = apply_crop,
    [FBY_OP_RANDOM_CROP]         = apply_crop,
    [FBY_OP_HORIZONTAL_FLIP]     = apply_mirror,
};
enum { N_APPLIES = sizeof(applies) / sizeof(applies[0]) };
_Static_assert((int)N_APPLIES <= (int)FBY_N_COSTS, "every op has a cost");

bool fby_transform_knows(uint32_t op_id)
{
    return op_id < N_APPLIES && applies[op_id] != NULL;
}

static bool box_fits(const struct fby_op_plan *plan, const struct fby_image *in)
{
    return plan->w >= 1 && plan->h >= 1 && plan->out_w >= 1 &&
           plan->out_h >= 1 && plan->w <= in->width &&
           plan->x <= in->width - plan->w && plan->h <= in->height &&
           plan->y <= in->height - plan->h;
}

struct walk {
    const struct fby_op_run *run;
    struct fby_image         picture; /* as it is after the ops so far */
    struct fby_image         out;     /* the caller's */
    uint32_t                 n_made;  /* pictures made in scratch */
    struct fby_why          *why;
};

static bool scales(const struct fby_op_run *run, uint32_t i)
{
    return applies[run->uses[i].op->id] == apply_scale;
}

/* After the last op that scales, crops can only narrow: if its picture has the
 * result's size, it is the result but for mirroring. */
static bool makes_result(
    const struct fby_op_run *run, uint32_t i, const struct fby_image *out)
{
    for (uint32_t k = i + 1; k < run->n_ops; k++) {
        if (scales(run, k)) {
            return false;
        }
    }
    return run->plans[i].out_w == out->width &&
           run->plans[i].out_h == out->height;
}

/* Where op i makes its pixels: the caller's memory or the scratch buffer that
 * the picture does not lie in. */
static fby_err find_room(struct fby_transform *self, struct walk *walk,
    uint32_t i, struct fby_image *out)
{
    const struct fby_op_plan *plan = &walk->run->plans[i];
    if (makes_result(walk->run, i, &walk->out)) {
        *out = walk->out;
        return FBY_OK;
    }
    struct fby_scratch *scratch = &self->made[walk->n_made++ % 2];
    return fby_image_in(scratch, plan->out_w, plan->out_h, out);
}

static fby_err check_op(const struct walk *walk, uint32_t i)
{
    const struct fby_op      *op   = walk->run->uses[i].op;
    const struct fby_op_plan *plan = &walk->run->plans[i];
    if (op == NULL || !fby_transform_knows(op->id)) {
        return fby_because(walk->why, FBY_USAGE,
            "op %u of the field is not one this worker can do", i);
    }
    if (!box_fits(plan, &walk->picture) ||
        (!scales(walk->run, i) &&
            (plan->w != plan->out_w || plan->h != plan->out_h))) {
        return fby_because(walk->why, FBY_USAGE,
            "%s: its plan does not fit a picture of %u x %u pixels", op->name,
            walk->picture.width, walk->picture.height);
    }
    return FBY_OK;
}

static fby_err check_ops(const struct walk *walk)
{
    struct walk probe = *walk;
    for (uint32_t i = 0; i < walk->run->n_ops; i++) {
        fby_err err = check_op(&probe, i);
        if (err != FBY_OK) {
            return err;
        }
        probe.picture.width  = walk->run->plans[i].out_w;
        probe.picture.height = walk->run->plans[i].out_h;
    }
    if (probe.picture.width != walk->out.width ||
        probe.picture.height != walk->out.height) {
        return fby_because(walk->why, FBY_USAGE,
            "the ops end with %u x %u pixels, the field has %u x %u",
            probe.picture.width, probe.picture.height, walk->out.width,
            walk->out.height);
    }
    return FBY_OK;
}

static fby_err do_op(struct fby_transform *self, struct walk *walk, uint32_t i)
{
    const struct fby_op *op    = walk->run->uses[i].op;
    int64_t              began = fby_thread_cpu_ns();
    struct fby_image     room  = {0};
    fby_err              err =
        scales(walk->run, i) ? find_room(self, walk, i, &room) : FBY_OK;
    if (err == FBY_OK) {
        err =
            applies[op->id](self, &walk->run->plans[i], &room, &walk->picture);
    }
    fby_transform_charge(self, op->id, fby_thread_cpu_ns() - began);
    return err == FBY_OK ? FBY_OK
                         : fby_because(walk->why, err, "%s: %s", op->name,
                               fby_strerror(err));
}

static void copy_rows(const struct fby_image *in, const struct fby_image *out)
{
    for (uint32_t y = 0; y < in->height; y++) {
        memcpy(out->pixels + y * out->stride, in->pixels + y * in->stride,
            (size_t)in->width * FBY_RGB);
    }
}

fby_err fby_transform_run(struct fby_transform *self,
    const struct fby_op_run *run, struct fby_image in, struct fby_image out,
    struct fby_why *why)
{
    struct walk walk = {.run = run, .picture = in, .out = out, .why = why};
    fby_err     err  = check_ops(&walk);
    for (uint32_t i = 0; err == FBY_OK && i < run->n_ops; i++) {
        err = do_op(self, &walk, i);
    }
    if (err == FBY_OK && walk.picture.pixels != out.pixels) {
        copy_rows(&walk.picture, &out);
    }
    return err;
}

/* ---- Memory -------------------------------------------------------------- */

static void at_least(uint64_t *bytes, uint64_t wanted)
{
    *bytes = *bytes > wanted ? *bytes : wanted;
}

/* What op i needs; as find_room and fby_resize take it. */
static void need_of_op(const struct fby_op_run *run, uint32_t i,
    const struct fby_image *out, uint32_t *n_made, struct fby_need *need)
{
    const struct fby_op_plan *plan = &run->plans[i];
    const struct fby_image    from = {.width = plan->w, .height = plan->h};
    const struct fby_image to = {.width = plan->out_w, .height = plan->out_h};
    struct fby_resize_need resize = fby_resize_need(&from, &to);
    at_least(&need->resize.weights[0], resize.weights[0]);
    at_least(&need->resize.weights[1], resize.weights[1]);
    at_least(&need->resize.rows, resize.rows);
    if (!makes_result(run, i, out)) {
        at_least(&need->made[(*n_made)++ % 2],
            fby_image_bytes(plan->out_w, plan->out_h));
    }
}

void fby_transform_need(const struct fby_op_run *run,
    const struct fby_image *out, struct fby_need *need)
{
    uint32_t n_made = 0;
    for (uint32_t i = 0; i < run->n_ops; i++) {
        if (fby_transform_knows(run->uses[i].op->id) && scales(run, i)) {
            need_of_op(run, i, out, &n_made, need);
        }
    }
}

struct fby_transform *fby_transform_create(
    const struct fby_transform_limits *limits)
{
    const struct fby_transform_limits none = {.share = UINT64_MAX};
    struct fby_transform             *self = fby_zalloc(sizeof(*self));
    self->limits                           = limits != NULL ? *limits : none;
    return self;
}

static void give_back(struct fby_transform *self)
{
    for (int i = 0; i < 2; i++) {
        fby_scratch_fini(&self->decoded[i]);
        fby_scratch_fini(&self->made[i]);
    }
    fby_resizer_fini(&self->resizer);
}

static uint64_t held(const struct fby_scratch *scratch, uint64_t needed)
{
    return scratch->size_bytes > needed ? scratch->size_bytes : needed;
}

/* Bytes it holds once `need` was taken. */
static uint64_t held_with(
    const struct fby_transform *self, const struct fby_need *need)
{
    const struct fby_resizer *resizer = &self->resizer;

    uint64_t bytes = need->libraries;
    for (int i = 0; i < 2; i++) {
        bytes += held(&self->decoded[i], need->decoded[i]) +
                 held(&self->made[i], need->made[i]) +
                 held(&resizer->weights[i], need->resize.weights[i]);
    }
    return bytes + held(&resizer->rows, need->resize.rows);
}

static fby_err borrow(
    struct fby_transform *self, uint64_t bytes, struct fby_why *why)
{
    struct fby_allowance *allowance = self->limits.allowance;
    uint64_t              share     = self->limits.share;
    fby_err               err = fby_allowance_take(allowance, bytes - share);
    if (err == FBY_OK) {
        self->borrowed = bytes - share;
    } else if (err == FBY_FULL) {
        fby_because(why, err,
            "decoding it takes %llu bytes, this worker has %llu for that; "
            "raise "
            "its --memory",
            (unsigned long long)bytes,
            (unsigned long long)(share + fby_allowance_limit(allowance)));
    }
    return err;
}

fby_err fby_transform_reserve(struct fby_transform *self,
    const struct fby_need *need, struct fby_why *why)
{
    uint64_t bytes = held_with(self, need);
    if (bytes > self->limits.share) {
        give_back(self);
        bytes = held_with(self, need);
    }
    return bytes > self->limits.share ? borrow(self, bytes, why) : FBY_OK;
}

void fby_transform_rest(struct fby_transform *self)
{
    const struct fby_need nothing = {0};
    if (held_with(self, &nothing) > self->limits.share) {
        give_back(self);
    }
    if (self->borrowed > 0) {
        fby_allowance_give(self->limits.allowance, self->borrowed);
        self->borrowed = 0;
    }
}

void fby_transform_destroy(struct fby_transform **self_p)
{
    if (*self_p != NULL) {
        give_back(*self_p);
        free(*self_p);
        *self_p = NULL;
    }
}

/* ---- Costs --------------------------------------------------------------- */

void fby_transform_charge(
    struct fby_transform *self, uint32_t op_id, int64_t cpu_ns)
{
    self->costs[op_id].calls++;
    self->costs[op_id].cpu_ns += cpu_ns;
}

struct fby_cost fby_transform_cost(
    const struct fby_transform *self, uint32_t op_id)
{
    return op_id < FBY_N_COSTS ? self->costs[op_id] : (struct fby_cost){0};
}
