/* ops.c - pictures with ops of the device, on the host.
 *
 * flip.c handles pictures that only have flips. For others, a run is up to 256
 * pixels of one line, with one array per channel. It goes through one stage
 * after another; each is a loop over an inline function of ops.h. Contrast
 * needs a pass over the picture before, for the mean grey. */
#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/expand/picture.h"

enum { RUN = 256, RGB = 3 };

struct pixel_run { /* pixels of one line of the result */
    uint32_t x, y, n;
    float    level[RGB][RUN];
};

struct source { /* a row of the batch */
    const struct fby_ops_plan *plan;
    const struct fby_ops_row  *row;
    struct fby_picture         picture;
};

/* ---- levels of a run ----------------------------------------------------- */

static void load(struct source *from, struct pixel_run *run)
{
    ptrdiff_t step = from->picture.mirror_x ? -RGB : RGB;
    for (uint32_t k = 0; k < run->n;) {
        uint32_t       n = run->n - k;
        const uint8_t *at =
            fby_picture_pixels(&from->picture, run->x + k, run->y, &n);
        at += step < 0 ? (size_t)RGB * (n - 1) : 0;
        for (uint32_t end = k + n; k < end; k++, at += step) {
            run->level[0][k] = fby_ops_level(at[0]);
            run->level[1][k] = fby_ops_level(at[1]);
            run->level[2][k] = fby_ops_level(at[2]);
        }
    }
}

static void erase(const struct source *from, struct pixel_run *run)
{
    for (uint32_t k = 0; k < run->n; k++) {
        bool in = fby_ops_is_in(&from->row->erase, run->x + k, run->y);
        for (uint32_t c = 0; c < RGB && in; c++) {
            run->level[c][k] = from->plan->value[c];
        }
    }
}

static void brighten(float factor, struct pixel_run *run)
{
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n; k++) {
            run->level[c][k] = fby_ops_limit(run->level[c][k] * factor);
        }
    }
}

static void contrast(float factor, float grey, struct pixel_run *run)
{
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n; k++) {
            run->level[c][k] = fby_ops_blend(run->level[c][k], grey, factor);
        }
    }
}

static void jitter_pixels(uint8_t kind, float factor, struct pixel_run *run)
{
    for (uint32_t k = 0; k < run->n; k++) {
        float rgb[RGB] = {run->level[0][k], run->level[1][k], run->level[2][k]};
        fby_ops_jitter_pixel(kind, factor, 0, rgb);
        run->level[0][k] = rgb[0];
        run->level[1][k] = rgb[1];
        run->level[2][k] = rgb[2];
    }
}

/* False: stopped before contrast. */
static bool jitter(
    const struct fby_ops_row *row, bool to_contrast, struct pixel_run *run)
{
    for (uint32_t i = 0; i < row->n_jitter; i++) {
        if (row->jitter[i] == FBY_OPS_BRIGHTNESS) {
            brighten(row->factor[i], run);
        } else if (row->jitter[i] != FBY_OPS_CONTRAST) {
            jitter_pixels(row->jitter[i], row->factor[i], run);
        } else if (to_contrast) {
            return false;
        } else {
            contrast(row->factor[i], row->grey, run);
        }
    }
    return true;
}

static void normalize(const struct fby_ops_plan *plan, struct pixel_run *run)
{
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n; k++) {
            run->level[c][k] =
                fby_ops_normal(run->level[c][k], plan->mean[c], plan->std[c]);
        }
    }
}

static void make_levels(
    struct source *from, bool to_contrast, struct pixel_run *run)
{
    bool more = true;
    load(from, run);
    for (uint32_t s = 0; s < from->plan->n_stages && more; s++) {
        if (from->plan->stages[s] == FBY_OPS_ERASE) {
            erase(from, run);
        } else if (from->plan->stages[s] == FBY_OPS_JITTER) {
            more = jitter(from->row, to_contrast, run);
        } else {
            normalize(from->plan, run);
        }
    }
}

/* ---- walking a picture --------------------------------------------------- */

static struct pixel_run first_run(const struct fby_ops_plan *plan)
{
    return (struct pixel_run){.n = plan->width < RUN ? plan->width : RUN};
}

/* False: there is no next run. */
static bool next_run(const struct fby_ops_plan *plan, struct pixel_run *run)
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

static bool needs_grey(const struct source *from)
{
    bool needs = false;
    for (uint32_t i = 0; i < from->row->n_jitter; i++) {
        needs = needs || from->row->jitter[i] == FBY_OPS_CONTRAST;
    }
    return needs;
}

static float mean_grey(struct source *from)
{
    uint64_t         sum = 0;
    struct pixel_run run = first_run(from->plan);
    do {
        make_levels(from, true, &run);
        for (uint32_t k = 0; k < run.n; k++) {
            float rgb[RGB] = {
                run.level[0][k], run.level[1][k], run.level[2][k]};
            sum += fby_ops_grey_q24(rgb);
        }
    } while (next_run(from->plan, &run));
    return fby_ops_mean_grey(
        sum, (uint64_t)from->plan->width * from->plan->height);
}

/* ---- two rows ------------------------------------------------------------ */

static void mix(const struct fby_ops_row *row, const struct pixel_run *other,
    struct pixel_run *run)
{
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n; k++) {
            run->level[c][k] = fby_ops_mix(
                run->level[c][k], other->level[c][k], row->share, row->rest);
        }
    }
}

static void cut(const struct fby_ops_row *row, const struct pixel_run *other,
    struct pixel_run *run)
{
    for (uint32_t k = 0; k < run->n; k++) {
        bool in = fby_ops_is_in(&row->cut, run->x + k, run->y);
        for (uint32_t c = 0; c < RGB && in; c++) {
            run->level[c][k] = other->level[c][k];
        }
    }
}

static void mix_partner(
    const struct source *own, struct source *partner, struct pixel_run *run)
{
    struct pixel_run other = {.x = run->x, .y = run->y, .n = run->n};
    if (own->row->pair == FBY_OPS_MIXUP) {
        make_levels(partner, false, &other);
        mix(own->row, &other, run);
    } else if (own->row->pair == FBY_OPS_CUTMIX &&
               run->y >= own->row->cut.top && run->y < own->row->cut.bottom) {
        make_levels(partner, false, &other);
        cut(own->row, &other, run);
    }
}

/* ---- out ----------------------------------------------------------------- */

static void put_u8(const float *level, uint32_t n, size_t step, uint8_t *out)
{
    for (uint32_t k = 0; k < n; k++) {
        out[k * step] = (uint8_t)fby_f32_to_int(level[k], 0, UINT8_MAX);
    }
}

#define PUT(name, type, convert)                                           \
    static void name(                                                      \
        const float *level, uint32_t n, size_t step, uint8_t *out)         \
    {                                                                      \
        for (uint32_t k = 0; k < n; k++) {                                 \
            type value = convert(level[k]);                                \
            memcpy(out + k * step * sizeof(value), &value, sizeof(value)); \
        }                                                                  \
    }
PUT(put_f32, uint32_t, fby_f32_bits)
PUT(put_f16, uint16_t, fby_f32_to_f16)
PUT(put_bf16, uint16_t, fby_f32_to_bf16)
#undef PUT

static void put(
    enum fby_type to, const float *level, uint32_t n, size_t step, uint8_t *out)
{
    if (to == FBY_U8) {
        put_u8(level, n, step, out);
    } else if (to == FBY_F32) {
        put_f32(level, n, step, out);
    } else if (to == FBY_F16) {
        put_f16(level, n, step, out);
    } else {
        put_bf16(level, n, step, out);
    }
}

/* Levels that are not normalised are delivered as 0 to 255. */
static void store(
    const struct fby_expansion *plan, struct pixel_run *run, uint8_t *out)
{
    bool   planar = plan->layout == FBY_LAYOUT_CHW;
    size_t width  = fby_type_bytes(plan->to);
    size_t pixel  = (size_t)run->y * plan->ops.width + run->x;
    for (uint32_t c = 0; c < RGB; c++) {
        for (uint32_t k = 0; k < run->n && !plan->ops.normalized; k++) {
            run->level[c][k] = fby_ops_byte(run->level[c][k]);
        }
        size_t at = planar ? (size_t)c * plan->pixels + pixel : pixel * RGB + c;
        put(plan->to, run->level[c], run->n, planar ? 1 : RGB,
            out + at * width);
    }
}

/* ---- rows ---------------------------------------------------------------- */

static void begin_row(
    const struct fby_expand_job *job, uint32_t r, struct source *out)
{
    const uint8_t *raw = job->raw;
    out->plan          = &job->plan->ops;
    out->row           = &job->draws[r];
    fby_picture_init(
        &out->picture, job->plan, out->row, raw + r * job->plan->raw_bytes);
}

static void level_rows(const struct fby_expand_job *job)
{
    uint8_t      *out = job->out;
    struct source own;
    struct source partner;
    for (uint32_t r = 0; r < job->rows; r++) {
        begin_row(job, r, &own);
        if (needs_grey(&own)) {
            job->draws[r].grey = mean_grey(&own);
        }
    }
    for (uint32_t r = 0; r < job->rows; r++) {
        begin_row(job, r, &own);
        begin_row(job, own.row->partner, &partner);
        struct pixel_run run = first_run(own.plan);
        do {
            make_levels(&own, false, &run);
            mix_partner(&own, &partner, &run);
            store(job->plan, &run, out + r * job->plan->out_bytes);
        } while (next_run(own.plan, &run));
    }
}

void fby_expand_ops_host(const struct fby_expand_job *job)
{
    if (job->plan->ops.plain) {
        fby_expand_flips(job);
    } else {
        level_rows(job);
    }
}
