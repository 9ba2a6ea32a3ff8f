/* SPDX-License-Identifier: Apache-2.0 */
/* orders.c - measure a picture field with other orders of its ops, and with
 * decoding at a smaller scale. An op that reduces a picture may save time if it
 * comes before ops that keep the size. The plans of the ops show these ops. */
#include <stdlib.h>
#include <string.h>

#include "cli/lint/measure.h"
#include "cli/progress.h"
#include "common/clock.h"
#include "common/mem.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/plan/geometry.h"

/* Make the values of all samples, and lower *least_ns to the CPU time taken. */
static fby_err make_all(const struct fby_lint_samples *samples, uint32_t f,
    const struct fby_field_content *content, uint8_t *out, int64_t *least_ns)
{
    size_t  bytes    = fby_field_bytes(content);
    int64_t begun_ns = fby_thread_cpu_ns();
    fby_err err      = FBY_OK;
    for (uint32_t i = 0; i < samples->n && err == FBY_OK; i++) {
        err = fby_lint_make_row(samples, f, i, content, out + i * bytes, NULL);
    }
    int64_t ns = fby_thread_cpu_ns() - begun_ns;
    *least_ns  = ns < *least_ns ? ns : *least_ns;
    return err;
}

/* The mean of |a[i] - b[i]|. */
static double mean_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (uint64_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
    }
    return n > 0 ? (double)sum / (double)n : 0;
}

/* Compare field `f` with `changed`, the field with a change. If `changed`
 * refuses a sample, out->succeeded is false; that is not an error. */
static fby_err try_change(const struct fby_lint_samples *samples, uint32_t f,
    const struct fby_field_content *changed, struct fby_lint_trial *out)
{
    const struct fby_field_content *field = fby_lint_field_of(samples, f);
    size_t                          size  = samples->n * fby_field_bytes(field);
    uint8_t                        *changed_values = fby_zalloc(size);
    uint8_t                        *values         = fby_zalloc(size);
    int64_t                         before_ns      = INT64_MAX;
    int64_t                         after_ns       = INT64_MAX;
    fby_err                         err            = FBY_OK;
    for (int i = 0; i < FBY_LINT_ROUNDS && err == FBY_OK; i++) {
        err = make_all(samples, f, field, values, &before_ns);
        if (err == FBY_OK) {
            err = make_all(samples, f, changed, changed_values, &after_ns);
        }
    }
    *out = (struct fby_lint_trial){
        .succeeded  = err == FBY_OK,
        .before_ms  = (double)before_ns / 1e6 / samples->n,
        .after_ms   = (double)after_ns / 1e6 / samples->n,
        .difference = mean_difference(changed_values, values, size),
    };
    free(changed_values);
    free(values);
    return err == FBY_BAD_SAMPLE ? FBY_OK : err;
}

struct op_sizes { /* input and output of each op, over all samples */
    uint64_t in[FBY_MAX_OPS], out[FBY_MAX_OPS]; /* pixels */
    bool     keeps[FBY_MAX_OPS]; /* the op keeps every picture's size */
};

static void add_sizes(const struct fby_field_plan *plan, struct op_sizes *sizes)
{
    struct fby_size in = {plan->width, plan->height};
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        struct fby_size out = fby_op_plan_size(&plan->plans[i]);
        sizes->in[i] += (uint64_t)in.w * in.h;
        sizes->out[i] += (uint64_t)out.w * out.h;
        sizes->keeps[i] &= in.w == out.w && in.h == out.h;
        in = out;
    }
}

static fby_err find_sizes(
    const struct fby_lint_samples *samples, uint32_t f, struct op_sizes *out)
{
    const struct fby_field_content *field = fby_lint_field_of(samples, f);
    fby_err                         err   = FBY_OK;
    *out                                  = (struct op_sizes){0};
    memset(out->keeps, true, sizeof(out->keeps));
    for (uint32_t i = 0; i < samples->n && err == FBY_OK; i++) {
        struct fby_field_plan plan;
        struct fby_field_job  job = fby_lint_row_job(samples, f, i, field);
        err                       = fby_field_plan(&job, &plan, NULL);
        if (err == FBY_OK) {
            add_sizes(&plan, out);
        }
    }
    return err;
}

/* True if the op drops more than an eighth of the pixels. */
static bool reduces_size(const struct op_sizes *sizes, uint32_t op)
{
    return sizes->out[op] < sizes->in[op] - sizes->in[op] / 8;
}

/* Move op `from` to the lower index `to`. */
static void move_op(struct fby_field_content *field, uint32_t from, uint32_t to)
{
    struct fby_op_use moved = field->ops[from];
    memmove(&field->ops[to + 1], &field->ops[to],
        (from - to) * sizeof(field->ops[0]));
    field->ops[to] = moved;
}

/* True if the ops of `changed` still make the shape of `field`. */
static bool has_shape_of(const struct fby_field_content *changed,
    const struct fby_field_content                      *field)
{
    struct fby_shape shape = fby_field_shape(changed);
    return memcmp(shape.dims, field->shape.dims, sizeof(shape.dims)) == 0;
}

/* List the moves of op `from` across the preceding ops that keep the size, the
 * shortest move first. `changed` is scratch memory. */
static void list_moves(const struct op_sizes *sizes, uint32_t from,
    struct fby_field_content *changed, struct fby_lint_field *out)
{
    const struct fby_field_content *field = out->content;
    for (uint32_t to = from;
         to > 0 && sizes->keeps[to - 1] && out->n_moves < FBY_LINT_MOVES;
         to--) {
        *changed = *field;
        move_op(changed, from, to - 1);
        /* Ops with one name keep their order, on which their draws depend. */
        if (field->ops[to - 1].op == field->ops[from].op ||
            !has_shape_of(changed, field)) {
            break;
        }
        out->moves[out->n_moves++] =
            (struct fby_lint_move){.from = from, .to = to - 1};
    }
}

static fby_err try_moves(const struct fby_lint_samples *samples, uint32_t f,
    struct fby_field_content *changed, struct fby_lint_field *out)
{
    struct fby_progress_line line = fby_progress_begin();
    fby_err                  err  = FBY_OK;
    for (uint32_t i = 0; i < out->n_moves && err == FBY_OK; i++) {
        struct fby_lint_move *move = &out->moves[i];
        *changed                   = *out->content;
        move_op(changed, move->from, move->to);
        err = try_change(samples, f, changed, &move->trial);
        fby_progress_show_count(
            &line, "trying other orders", i + 1, out->n_moves);
    }
    fby_progress_end(&line);
    return err;
}

static fby_err try_orders(const struct fby_lint_samples *samples, uint32_t f,
    struct fby_lint_field *out)
{
    struct op_sizes           sizes;
    struct fby_field_content *changed = fby_zalloc(sizeof(*changed));
    fby_err                   err     = find_sizes(samples, f, &sizes);
    for (uint32_t i = 1; i < out->content->n_ops && err == FBY_OK; i++) {
        if (reduces_size(&sizes, i)) {
            list_moves(&sizes, i, changed, out);
        }
    }
    if (err == FBY_OK) {
        err = try_moves(samples, f, changed, out);
    }
    free(changed);
    return err;
}

static fby_err try_scale(const struct fby_lint_samples *samples, uint32_t f,
    struct fby_lint_field *out)
{
    if (!fby_field_has_colours(out->content) ||
        out->content->as.rgb8.dct_scale != FBY_DCT_OFF) {
        return FBY_OK;
    }
    struct fby_field_content *changed =
        fby_memdup(out->content, sizeof(*out->content));
    changed->as.rgb8.dct_scale = FBY_DCT_FAITHFUL;
    fby_err err                = try_change(samples, f, changed, &out->scale);
    free(changed);
    return err;
}

fby_err fby_lint_measure_trials(const struct fby_lint_samples *samples,
    uint32_t f, struct fby_lint_field *out)
{
    if (!fby_field_kind(out->content)->is_picture) {
        return FBY_OK;
    }
    fby_err err = try_scale(samples, f, out);
    return err == FBY_OK ? try_orders(samples, f, out) : err;
}
