/* SPDX-License-Identifier: Apache-2.0 */
/* host_ops.c - apply ops of the device (ops.h) that change levels to pictures.
 *
 * A level is the value of one channel of a pixel. A run is up to 256 pixels of
 * one line, in an array for each channel. Each stage of the plan is applied to
 * a whole run, in a loop over an inline function of ops.h. If the ops of a row
 * change contrast, a first pass over the picture computes the mean grey. */
#include "trainer_client/expand/host_picture.h"
#include "trainer_client/expand/ops.h"

enum { RUN = 256 /* pixels */, RGB = 3 /* channels */ };

struct pixel_run { /* n pixels of line y of the output, from column x on */
    uint32_t x, y, n;
    float    level[RGB][RUN]; /* of each channel and pixel */
};

struct picture_row { /* the picture of a row of the batch */
    const struct fby_ops_plan *plan;
    const struct fby_ops_row  *row;
    struct fby_picture         picture;
};

/* ---- levels of a run ----------------------------------------------------- */

static void load_levels(struct picture_row *from, struct pixel_run *run)
{
    /* With mirror_x, fby_picture_pixels returns pixels in reverse order. */
    bool      backwards = from->picture.mirror_x;
    ptrdiff_t step      = backwards ? -RGB : RGB;
    for (uint32_t k = 0; k < run->n;) {
        uint32_t       n = run->n - k; /* the call may reduce it */
        const uint8_t *pixel =
            fby_picture_pixels(&from->picture, run->x + k, run->y, &n);
        pixel += backwards ? (size_t)RGB * (n - 1) : 0;
        for (uint32_t end = k + n; k < end; k++, pixel += step) {
            run->level[0][k] = fby_ops_level_of_byte(pixel[0]);
            run->level[1][k] = fby_ops_level_of_byte(pixel[1]);
            run->level[2][k] = fby_ops_level_of_byte(pixel[2]);
        }
    }
}

static void erase_pixels(const struct picture_row *from, struct pixel_run *run)
{
    for (uint32_t k = 0; k < run->n; k++) {
        bool inside =
            fby_ops_box_contains(&from->row->erase, run->x + k, run->y);
        for (uint32_t c = 0; c < RGB && inside; c++) {
            run->level[c][k] = from->plan->erase_value[c];
        }
    }
}

static void brighten(float factor, struct pixel_run *run)
{
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n; k++) {
            run->level[c][k] = fby_ops_clamp(run->level[c][k] * factor);
        }
    }
}

static void change_contrast(float factor, float grey, struct pixel_run *run)
{
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n; k++) {
            run->level[c][k] = fby_ops_blend(run->level[c][k], grey, factor);
        }
    }
}

static void jitter_each_pixel(uint8_t kind, float factor, struct pixel_run *run)
{
    for (uint32_t k = 0; k < run->n; k++) {
        float rgb[RGB] = {run->level[0][k], run->level[1][k], run->level[2][k]};
        fby_ops_jitter_pixel(kind, factor, 0 /* unused grey */, rgb);
        run->level[0][k] = rgb[0];
        run->level[1][k] = rgb[1];
        run->level[2][k] = rgb[2];
    }
}

/* Apply colour_jitter. With `before_contrast`, stop before contrast and return
 * false; else return true. */
static bool apply_jitter(
    const struct fby_ops_row *row, bool before_contrast, struct pixel_run *run)
{
    for (uint32_t i = 0; i < row->n_jitter; i++) {
        if (row->jitter[i] == FBY_OPS_BRIGHTNESS) {
            brighten(row->factor[i], run);
        } else if (row->jitter[i] != FBY_OPS_CONTRAST) {
            jitter_each_pixel(row->jitter[i], row->factor[i], run);
        } else if (before_contrast) {
            return false;
        } else {
            change_contrast(row->factor[i], row->grey, run);
        }
    }
    return true;
}

static void normalize_levels(
    const struct fby_ops_plan *plan, struct pixel_run *run)
{
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n; k++) {
            run->level[c][k] = fby_ops_normalize_level(
                run->level[c][k], plan->mean[c], plan->std[c]);
        }
    }
}

/* Load a run and apply all stages. With `before_contrast`, apply only the
 * stages before contrast. */
static void compute_levels(
    struct picture_row *from, bool before_contrast, struct pixel_run *run)
{
    bool continues = true;
    load_levels(from, run);
    for (uint32_t s = 0; s < from->plan->n_stages && continues; s++) {
        if (from->plan->stages[s] == FBY_OPS_ERASE) {
            erase_pixels(from, run);
        } else if (from->plan->stages[s] == FBY_OPS_JITTER) {
            continues = apply_jitter(from->row, before_contrast, run);
        } else {
            normalize_levels(from->plan, run);
        }
    }
}

/* ---- all runs of a picture ----------------------------------------------- */

static struct pixel_run first_run(const struct fby_ops_plan *plan)
{
    return (struct pixel_run){.n = plan->width < RUN ? plan->width : RUN};
}

/* Advance to the next run of the picture. Returns false at its end. */
static bool advance_run(const struct fby_ops_plan *plan, struct pixel_run *run)
{
    run->x += run->n;
    if (run->x == plan->width) {
        run->x = 0;
        run->y++;
    }
    uint32_t left = plan->width - run->x;
    run->n        = left < RUN ? left : RUN;
    return run->y < plan->height;
}

static float compute_mean_grey(struct picture_row *from)
{
    uint64_t         sum = 0;
    struct pixel_run run = first_run(from->plan);
    do {
        compute_levels(from, FBY_OPS_BEFORE_CONTRAST, &run);
        for (uint32_t k = 0; k < run.n; k++) {
            float rgb[RGB] = {
                run.level[0][k], run.level[1][k], run.level[2][k]};
            sum += fby_ops_grey_q24(rgb);
        }
    } while (advance_run(from->plan, &run));
    return fby_ops_mean_grey(
        sum, (uint64_t)from->plan->width * from->plan->height);
}

/* ---- mixing of two rows -------------------------------------------------- */

static void mix_levels(const struct fby_ops_row *row,
    const struct pixel_run *other, struct pixel_run *run)
{
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n; k++) {
            run->level[c][k] = fby_ops_mix(run->level[c][k], other->level[c][k],
                row->share, row->partner_share);
        }
    }
}

static void copy_box(const struct fby_ops_row *row,
    const struct pixel_run *other, struct pixel_run *run)
{
    for (uint32_t k = 0; k < run->n; k++) {
        bool inside = fby_ops_box_contains(&row->cut, run->x + k, run->y);
        for (uint32_t c = 0; c < RGB && inside; c++) {
            run->level[c][k] = other->level[c][k];
        }
    }
}

static void mix_partner(const struct picture_row *own,
    struct picture_row *partner, struct pixel_run *run)
{
    const struct fby_ops_box *box   = &own->row->cut;
    struct pixel_run          other = {.x = run->x, .y = run->y, .n = run->n};
    bool line_has_box = run->y >= box->top && run->y < box->bottom;
    if (own->row->pair == FBY_OPS_MIXUP) {
        compute_levels(partner, FBY_OPS_ALL_STAGES, &other);
        mix_levels(own->row, &other, run);
    } else if (own->row->pair == FBY_OPS_CUTMIX && line_has_box) {
        compute_levels(partner, FBY_OPS_ALL_STAGES, &other);
        copy_box(own->row, &other, run);
    }
}

/* ---- store --------------------------------------------------------------- */

static void store_u8(const float *level, uint32_t n, size_t step, uint8_t *out)
{
    for (uint32_t k = 0; k < n; k++) {
        out[k * step] = (uint8_t)fby_f32_to_int(level[k], 0, UINT8_MAX);
    }
}

#define STORE(name, type, convert)                                         \
    static void name(                                                      \
        const float *level, uint32_t n, size_t step, uint8_t *out)         \
    {                                                                      \
        for (uint32_t k = 0; k < n; k++) {                                 \
            type value = convert(level[k]);                                \
            memcpy(out + k * step * sizeof(value), &value, sizeof(value)); \
        }                                                                  \
    }
STORE(store_f32, uint32_t, fby_f32_bits)
STORE(store_f16, uint16_t, fby_f32_to_f16)
STORE(store_bf16, uint16_t, fby_f32_to_bf16)
#undef STORE

static void store_levels(
    enum fby_type to, const float *level, uint32_t n, size_t step, uint8_t *out)
{
    if (to == FBY_U8) {
        store_u8(level, n, step, out);
    } else if (to == FBY_F32) {
        store_f32(level, n, step, out);
    } else if (to == FBY_F16) {
        store_f16(level, n, step, out);
    } else {
        store_bf16(level, n, step, out);
    }
}

/* Store the run. Levels without normalize are first scaled in place. */
static void store_run(
    const struct fby_expansion *plan, struct pixel_run *run, uint8_t *out)
{
    bool   planar = plan->layout == FBY_LAYOUT_CHW;
    size_t width  = fby_type_bytes(plan->to);
    size_t pixel  = (size_t)run->y * plan->ops.width + run->x;
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n && !plan->ops.normalized; k++) {
            run->level[c][k] = fby_ops_scale_to_255(run->level[c][k]);
        }
        size_t index =
            planar ? (size_t)c * plan->pixels + pixel : pixel * RGB + c;
        store_levels(plan->to, run->level[c], run->n, planar ? 1 : RGB,
            out + index * width);
    }
}

/* ---- rows ---------------------------------------------------------------- */

static void init_row(
    const struct fby_expand_job *job, uint32_t r, struct picture_row *out)
{
    const uint8_t *raw = job->raw;
    out->plan          = &job->plan->ops;
    out->row           = &job->params[r];
    fby_picture_init(
        &out->picture, job->plan, out->row, raw + r * job->plan->raw_bytes);
}

void fby_expand_level_ops(const struct fby_expand_job *job)
{
    uint8_t           *out = job->out;
    struct picture_row own;
    struct picture_row partner;
    /* Mean greys are computed first, because any row may be a partner. */
    for (uint32_t r = 0; r < job->rows; r++) {
        init_row(job, r, &own);
        if (fby_ops_needs_grey(own.row)) {
            job->params[r].grey = compute_mean_grey(&own);
        }
    }
    for (uint32_t r = 0; r < job->rows; r++) {
        init_row(job, r, &own);
        init_row(job, own.row->partner, &partner);
        struct pixel_run run = first_run(own.plan);
        do {
            compute_levels(&own, FBY_OPS_ALL_STAGES, &run);
            mix_partner(&own, &partner, &run);
            store_run(job->plan, &run, out + r * job->plan->out_bytes);
        } while (advance_run(own.plan, &run));
    }
}
