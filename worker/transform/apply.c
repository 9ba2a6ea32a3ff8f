/* apply.c - the walk over a picture's passes, and the memory that takes.
 *
 * The last pass writes to the caller's memory, those before it to two scratch
 * pictures in turn. The first may be fed by a decoder, row by row. */
#include "worker/transform/apply.h"

#include "common/clock.h"
#include "worker/transform/workshop.h"

/* What an op does is all in its plan, so far: boxes, sizes and mirrors. */
static const bool is_known[] = {
    [FBY_OP_RANDOM_RESIZED_CROP] = true,
    [FBY_OP_RESIZE]              = true,
    [FBY_OP_CENTER_CROP]         = true,
    [FBY_OP_RANDOM_CROP]         = true,
    [FBY_OP_HORIZONTAL_FLIP]     = true,
};
enum { N_KNOWN = sizeof(is_known) / sizeof(is_known[0]) };
_Static_assert((int)N_KNOWN <= (int)FBY_N_COSTS, "every op has a cost");

bool fby_transform_knows(uint32_t op_id)
{
    return op_id < N_KNOWN && is_known[op_id];
}

/* ---- the walk ------------------------------------------------------------ */

static fby_err check_known(const struct fby_op_run *run, struct fby_why *why)
{
    for (uint32_t i = 0; i < run->n_ops; i++) {
        const struct fby_op *op = run->uses[i].op;
        if (op == NULL || !fby_transform_knows(op->id)) {
            return fby_because(why, FBY_USAGE,
                "op %u of the field is not one this worker can do", i);
        }
    }
    return FBY_OK;
}

fby_err fby_walk_plan(const struct fby_op_run *run, struct fby_size in,
    const struct fby_image *out, struct fby_walk *walk, struct fby_why *why)
{
    uint32_t bad = 0;
    *walk        = (struct fby_walk){.run = *run, .out = *out};
    fby_err err  = check_known(run, why);
    if (err != FBY_OK) {
        return err;
    }
    if (!fby_passes_plan(run->plans, run->n_ops, in, &walk->passes, &bad)) {
        return fby_because(why, FBY_USAGE,
            "%s: its plan does not fit the picture it meets",
            run->uses[bad].op->name);
    }
    const struct fby_box *last = &walk->passes.at[walk->passes.n - 1].window;
    if (last->w != out->width || last->h != out->height) {
        return fby_because(why, FBY_USAGE,
            "the ops end with %u x %u pixels, the field has %u x %u", last->w,
            last->h, out->width, out->height);
    }
    return FBY_OK;
}

/* Where pass `i` writes to. */
static fby_err find_room(struct fby_transform *self,
    const struct fby_walk *walk, uint32_t i, struct fby_image *out)
{
    const struct fby_box *window = &walk->passes.at[i].window;
    if (i == walk->passes.n - 1) {
        *out = walk->out;
        return FBY_OK;
    }
    return fby_image_in(&self->made[i % 2], window->w, window->h, out);
}

static void charge_pass(struct fby_transform *self, const struct fby_walk *walk,
    uint32_t i, int64_t ns)
{
    if (walk->run.n_ops > 0) {
        uint32_t op = walk->passes.at[i].op;
        fby_transform_charge(self, walk->run.uses[op].op->id, ns);
    }
}

static struct fby_image part_of(
    const struct fby_image *picture, const struct fby_box *box)
{
    struct fby_image part = *picture;
    part.pixels += box->y * picture->stride + (size_t)box->x * FBY_RGB;
    part.width  = box->w;
    part.height = box->h;
    return part;
}

/* Pass `i` on a picture in memory; *picture becomes its result. */
static fby_err do_pass(struct fby_transform *self, const struct fby_walk *walk,
    uint32_t i, struct fby_image *picture)
{
    const struct fby_pass *pass  = &walk->passes.at[i];
    struct fby_resize_spec spec  = fby_pass_resize(pass, &fby_unscaled);
    struct fby_image       in    = part_of(picture, &pass->box);
    struct fby_image       out   = {0};
    int64_t                began = fby_thread_cpu_ns();
    fby_err                err   = find_room(self, walk, i, &out);
    if (err == FBY_OK) {
        err = fby_resize(&self->resizer, &in, &spec, &out);
    }
    charge_pass(self, walk, i, fby_thread_cpu_ns() - began);
    *picture = out;
    return err;
}

static fby_err do_passes(struct fby_transform *self,
    const struct fby_walk *walk, uint32_t first, struct fby_image picture)
{
    fby_err err = FBY_OK;
    for (uint32_t i = first; err == FBY_OK && i < walk->passes.n; i++) {
        err = do_pass(self, walk, i, &picture);
    }
    return err;
}

fby_err fby_transform_run(struct fby_transform *self,
    const struct fby_op_run *run, struct fby_image in, struct fby_image out,
    struct fby_why *why)
{
    struct fby_walk walk;
    struct fby_size size = {in.width, in.height};
    fby_err         err  = fby_walk_plan(run, size, &out, &walk, why);
    return err == FBY_OK ? do_passes(self, &walk, 0, in) : err;
}

/* ---- fed by a decoder ---------------------------------------------------- */

fby_err fby_walk_begin(struct fby_transform *self, struct fby_walk *walk,
    const struct fby_grain *grain)
{
    struct fby_resize_spec spec = fby_pass_resize(&walk->passes.at[0], grain);
    fby_err                err  = find_room(self, walk, 0, &walk->first);
    walk->first_ns              = 0;
    return err == FBY_OK
               ? fby_resizer_begin(&self->resizer, &spec, &walk->first)
               : err;
}

void fby_walk_rows(struct fby_transform *self, struct fby_walk *walk,
    const struct fby_image *rows)
{
    int64_t began = fby_now_ns();
    for (uint32_t y = 0; y < rows->height; y++) {
        fby_resizer_row(&self->resizer, rows->pixels + y * rows->stride);
    }
    walk->first_ns += fby_now_ns() - began;
}

fby_err fby_walk_end(struct fby_transform *self, struct fby_walk *walk)
{
    charge_pass(self, walk, 0, walk->first_ns);
    return do_passes(self, walk, 1, walk->first);
}

/* ---- memory -------------------------------------------------------------- */

static void at_least(uint64_t *bytes, uint64_t wanted)
{
    *bytes = *bytes > wanted ? *bytes : wanted;
}

void fby_walk_need(const struct fby_walk *walk, const struct fby_grain *grain,
    struct fby_need *need)
{
    for (uint32_t i = 0; i < walk->passes.n; i++) {
        const struct fby_pass *pass = &walk->passes.at[i];
        struct fby_resize_spec spec =
            fby_pass_resize(pass, i == 0 ? grain : &fby_unscaled);
        at_least(&need->resize, fby_resize_bytes(&spec));
        if (i + 1 < walk->passes.n) {
            at_least(&need->made[i % 2],
                fby_image_bytes(pass->window.w, pass->window.h));
        }
    }
}
