/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sampled_params.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/device_ops.h"
#include "pipeline/fields/kind.h"

static fby_err plan_member(struct fby_sampled_params *self,
    const struct fby_member *member, const struct fby_field_content *field,
    struct fby_field_plan *out, struct fby_error_detail *why)
{
    if (member->size > self->capacity) {
        self->bytes    = fby_realloc(self->bytes, member->size);
        self->capacity = member->size;
    }
    fby_err err = fby_dataset_read(
        self->local->dataset, member, self->bytes, self->capacity, why);
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

fby_err fby_sampled_params_plan(struct fby_sampled_params *self,
    uint64_t sample, const struct fby_field_content *field,
    struct fby_field_plan *out, struct fby_error_detail *why)
{
    const struct fby_dataset *dataset = self->local->dataset;
    struct fby_member         member;
    fby_err                   err = fby_dataset_find_member(
                          dataset, sample, field->from, field->n_from, &member);
    bool exists = err == FBY_OK;
    if (exists) {
        err = plan_member(self, &member, field, out, why);
    } else {
        fby_error_set(why, err, "field %s: the sample has no %s%s", field->name,
            field->from[0],
            field->n_from > 1 ? " or other member of 'from'" : "");
    }
    if (err != FBY_OK) {
        struct fby_error_detail location = {{0}};
        fby_dataset_describe(
            dataset, sample, exists ? &member : NULL, &location);
        fby_error_prefix(why, err, "%s", location.text);
    }
    return err;
}

void fby_sampled_params_fini(struct fby_sampled_params *self)
{
    free(self->bytes);
    *self = (struct fby_sampled_params){0};
}

/* ---- The text of an op --------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append(
    char out[FBY_SAMPLED_PARAMS_TEXT], const char *format, ...)
{
    size_t  used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, FBY_SAMPLED_PARAMS_TEXT - used, format, args);
    va_end(args);
}

/* Append a value of a step. The values `..._q16` and `..._q24` are in units of
 * 1/2^16 and 1/2^24, and are printed as fractions. */
static void append_value(char out[FBY_SAMPLED_PARAMS_TEXT], const char *name,
    int64_t value, bool with_name)
{
    const char *suffix = strstr(name, "_q");
    size_t length = suffix != NULL ? (size_t)(suffix - name) : strlen(name);
    if (with_name) {
        append(out, " %.*s", (int)length, name);
    }
    if (suffix != NULL) {
        double unit = strcmp(suffix, "_q24") == 0 ? 0x1p24 : 0x1p16;
        append(out, " %.3g", (double)value / unit);
    } else {
        append(out, " %" PRId64, value);
    }
}

/* Returns the word for value `i`, such as "reflect"; NULL if it is a number. */
static const char *value_word(const struct fby_step *step, unsigned i)
{
    return step->kind == FBY_STEP_PAD && i == FBY_PAD_MODE
               ? fby_pad_modes[step->v[i]]
               : NULL;
}

/* True for a value of an affine step without effect: scale 1.0, or 0. */
static bool has_no_effect(const struct fby_step *step, unsigned i)
{
    return step->kind == FBY_STEP_AFFINE &&
           step->v[i] == (i == FBY_AFFINE_SCALE ? 1 << 16 : 0);
}

/* Append the step's name, unless it is the op's, and its values. */
static void append_step(char out[FBY_SAMPLED_PARAMS_TEXT], const char *op_name,
    const struct fby_step *step)
{
    const char *name = fby_step_name(step->kind);
    if (strcmp(name, op_name) != 0) {
        append(out, " %s", name);
    }
    /* The only value of a step is printed without its name. */
    bool with_names = fby_step_value_name(step->kind, 1) != NULL;
    for (unsigned i = 0; fby_step_value_name(step->kind, i) != NULL; i++) {
        const char *word = value_word(step, i);
        if (word != NULL) {
            append(out, " %s", word);
        } else if (!has_no_effect(step, i)) {
            append_value(out, fby_step_value_name(step->kind, i), step->v[i],
                with_names);
        }
    }
}

/* Append " at X,Y", " WxH", " > WxH" and " flipped", as far as they apply. */
static void append_geometry(char out[FBY_SAMPLED_PARAMS_TEXT],
    const struct fby_op_plan *plan, struct fby_size in)
{
    bool cut    = plan->w != in.w || plan->h != in.h;
    bool scaled = plan->out_w != plan->w || plan->out_h != plan->h;
    if (cut) {
        append(out, " at %u,%u", plan->x, plan->y);
    }
    if (cut || scaled) {
        append(out, " %ux%u", plan->w, plan->h);
    }
    if (scaled) {
        append(out, " > %ux%u", plan->out_w, plan->out_h);
    }
    if (plan->flip) {
        append(out, " flipped");
    }
}

/* Write the op's name and what its plan does; "-" if it changes nothing. Only
 * geometric steps change a mask. */
static void describe_plan(const char *op_name, bool is_mask,
    const struct fby_op_plan *plan, struct fby_size in,
    char out[FBY_SAMPLED_PARAMS_TEXT])
{
    bool has_steps = false;
    snprintf(out, FBY_SAMPLED_PARAMS_TEXT, "%s", op_name);
    append_geometry(out, plan, in);
    for (uint32_t k = 0; k < plan->n_steps; k++) {
        if (!is_mask || fby_step_is_geometric(plan->steps[k].kind)) {
            append_step(out, op_name, &plan->steps[k]);
            has_steps = true;
        }
    }
    if (!has_steps && strcmp(out, op_name) == 0) {
        append(out, " -");
    }
}

struct fby_size fby_sampled_params_describe_op(
    const struct fby_field_content *field, uint32_t i,
    const struct fby_op_plan *plan, struct fby_size in,
    char out[FBY_SAMPLED_PARAMS_TEXT])
{
    bool is_mask = fby_field_values(field) == FBY_VALUES_IDS;
    describe_plan(field->ops[i].op->name, is_mask, plan, in, out);
    return fby_op_plan_size(plan);
}

struct fby_op_plan fby_sampled_params_draw(
    const struct fby_sampled_params *self,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row)
{
    const struct fby_device_row device_row = {.seed = self->seed,
        .epoch                                      = self->epoch,
        .step                                       = self->step,
        .row                                        = row.row,
        .sample                                     = row.sample};
    return fby_device_draw_plan(field, i, &device_row);
}

static void describe_device_op(const struct fby_sampled_params *self,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row, char out[FBY_SAMPLED_PARAMS_TEXT])
{
    const struct fby_op *op   = field->device[i].op;
    struct fby_op_plan   plan = fby_sampled_params_draw(self, field, i, row);
    /* Ops of the device cut nothing out: the input has the size of the cut. */
    struct fby_size size = {plan.w, plan.h};
    if (op->plan == NULL) { /* the op draws nothing */
        snprintf(out, FBY_SAMPLED_PARAMS_TEXT, "%s", op->name);
        return;
    }
    describe_plan(op->name, /* is_mask */ false, &plan, size, out);
    if (op->mixes_rows) {
        append(out, " with row %" PRIu32,
            fby_pair_partner(row.row, self->valid_rows, self->rows));
    }
}

void fby_sampled_params_append_lines(const struct fby_sampled_params *self,
    const struct fby_field_content *field, const struct fby_field_plan *plan,
    struct fby_sampled_params_row row, struct fby_words *out)
{
    char            text[FBY_SAMPLED_PARAMS_TEXT];
    char            line[FBY_SAMPLED_PARAMS_TEXT + 16];
    struct fby_size size = {plan->width, plan->height};
    snprintf(line, sizeof(line), "%s %" PRIu32 "x%" PRIu32, field->name, size.w,
        size.h);
    fby_words_add(out, line);
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        size = fby_sampled_params_describe_op(
            field, i, &plan->plans[i], size, text);
        snprintf(line, sizeof(line), "  %s", text);
        fby_words_add(out, line);
    }
    for (uint32_t i = 0; i < field->n_device; i++) {
        describe_device_op(self, field, i, row, text);
        snprintf(line, sizeof(line), "  device: %s", text);
        fby_words_add(out, line);
    }
}
