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
    if (member->size > self->n_bytes) {
        self->bytes   = fby_realloc(self->bytes, member->size);
        self->n_bytes = member->size;
    }
    fby_err err = fby_dataset_read(
        self->local->dataset, member, self->bytes, self->n_bytes, why);
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

/* ---- An op as text ------------------------------------------------------- */

static void append(char out[FBY_SAMPLED_PARAMS_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(char out[FBY_SAMPLED_PARAMS_TEXT], const char *format, ...)
{
    size_t  used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, FBY_SAMPLED_PARAMS_TEXT - used, format, args);
    va_end(args);
}

/* Values whose name ends with _q16 are in units of 1/65536, those with _q24 in
 * units of 1/2^24. */
static void append_value(char out[FBY_SAMPLED_PARAMS_TEXT], const char *name,
    int64_t value, bool named)
{
    const char *suffix = strstr(name, "_q");
    double      one    = suffix != NULL && suffix[2] == '2' ? 0x1p24 : 0x1p16;
    int         n = (int)(suffix != NULL ? suffix - name : (long)strlen(name));
    if (named) {
        append(out, " %.*s", n, name);
    }
    if (suffix != NULL) {
        append(out, " %.3g", (double)value / one);
    } else {
        append(out, " %" PRId64, value);
    }
}

/* The word for a value that is an enumeration ("reflect"), else NULL. */
static const char *value_word(const struct fby_step *step, unsigned i)
{
    return step->kind == FBY_STEP_PAD && i == FBY_PAD_MODE
               ? fby_pad_modes[step->v[i]]
               : NULL;
}

/* True for a value of an affine step that has no effect. */
static bool is_identity(const struct fby_step *step, unsigned i)
{
    return step->kind == FBY_STEP_AFFINE &&
           step->v[i] == (i == FBY_AFFINE_SCALE ? 65536 : 0);
}

static void append_step(char out[FBY_SAMPLED_PARAMS_TEXT], const char *op,
    const struct fby_step *step)
{
    const char *name = fby_step_name(step->kind);
    if (strcmp(name, op) != 0) {
        append(out, " %s", name);
    }
    bool several = fby_step_value_name(step->kind, 1) != NULL;
    for (unsigned i = 0; fby_step_value_name(step->kind, i) != NULL; i++) {
        const char *word = value_word(step, i);
        if (word != NULL) {
            append(out, " %s", word);
        } else if (!is_identity(step, i)) {
            append_value(
                out, fby_step_value_name(step->kind, i), step->v[i], several);
        }
    }
}

static void append_boxes(char out[FBY_SAMPLED_PARAMS_TEXT],
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

static void put_text(const char *op, bool mask, const struct fby_op_plan *plan,
    struct fby_size in, char out[FBY_SAMPLED_PARAMS_TEXT])
{
    bool idle = true;
    snprintf(out, FBY_SAMPLED_PARAMS_TEXT, "%s", op);
    append_boxes(out, plan, in);
    for (uint32_t k = 0; k < plan->n_steps; k++) {
        if (!mask || fby_step_is_geometric(plan->steps[k].kind)) {
            append_step(out, op, &plan->steps[k]);
            idle = false;
        }
    }
    if (idle && strcmp(out, op) == 0) {
        append(out, " -");
    }
}

struct fby_size fby_sampled_params_text(const struct fby_field_content *field,
    uint32_t i, const struct fby_op_plan *plan, struct fby_size in,
    char out[FBY_SAMPLED_PARAMS_TEXT])
{
    put_text(field->ops[i].op->name, fby_field_values(field) == FBY_VALUES_IDS,
        plan, in, out);
    return fby_op_plan_size(plan);
}

struct fby_op_plan fby_sampled_params_device(
    const struct fby_sampled_params *self,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row)
{
    const struct fby_device_row position = {.seed = self->seed,
        .epoch                                    = self->epoch,
        .step                                     = self->step,
        .row                                      = row.row,
        .sample                                   = row.sample};
    return fby_device_plan(field, i, &position);
}

static void device_text(const struct fby_sampled_params *self,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row, char out[FBY_SAMPLED_PARAMS_TEXT])
{
    const struct fby_op *op   = field->device[i].op;
    struct fby_op_plan   plan = fby_sampled_params_device(self, field, i, row);
    struct fby_size      size = {plan.w, plan.h};
    if (op->plan == NULL) {
        snprintf(out, FBY_SAMPLED_PARAMS_TEXT, "%s", op->name);
        return;
    }
    put_text(op->name, false, &plan, size, out);
    if (op->mixes_rows) {
        append(out, " with row %" PRIu32,
            fby_pair_partner(row.row, self->valid_rows, self->rows));
    }
}

void fby_sampled_params_lines(const struct fby_sampled_params *self,
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
        size = fby_sampled_params_text(field, i, &plan->plans[i], size, text);
        snprintf(line, sizeof(line), "  %s", text);
        fby_words_add(out, line);
    }
    for (uint32_t i = 0; i < field->n_device; i++) {
        device_text(self, field, i, row, text);
        snprintf(line, sizeof(line), "  device: %s", text);
        fby_words_add(out, line);
    }
}
