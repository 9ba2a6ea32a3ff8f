/* plan.c - `forebay plan`: print the samples of a batch and the parameters of
 * their ops. It calls the functions that workers use, and decodes nothing. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/position.h"
#include "cli/sampled_params.h"
#include "common/mem.h"
#include "pipeline/device_ops.h"
#include "pipeline/fields/kind.h"
#include "pipeline/sources/traits.h"
#include "worker/plan/rows.h"

enum option_key { KEY_RANK = 0x100, KEY_WORLD, KEY_JSON };

struct plan_options {
    struct fby_local_options local;
    struct fby_position      position;
    uint64_t                 rank, world;
    bool                     json;
};

static const struct argp_option options[] = {
    {"rank", KEY_RANK, "R", 0, "Only the rows of this rank, from 0", 0},
    {"world", KEY_WORLD, "W", 0, "How many ranks there are (default 1)", 0},
    {"json", KEY_JSON, NULL, 0, "Print one JSON object instead of lines", 0},
    {0},
};

static void check_rank(
    const struct argp_state *state, const struct plan_options *o)
{
    if (o->rank >= o->world) {
        argp_error(state, "--rank %" PRIu64 " is not below --world %" PRIu64,
            o->rank, o->world);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): argp's type */
static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct plan_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->local;
        state->child_inputs[1] = &o->position;
        return 0;
    case KEY_RANK:
        o->rank = fby_option_u64(state, "--rank", arg, 0, 65535);
        return 0;
    case KEY_WORLD:
        o->world = fby_option_u64(state, "--world", arg, 1, 65536);
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    case ARGP_KEY_END:
        check_rank(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fby_local_argp, 0, NULL, 0}, {&fby_position_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {options, parse_option, NULL,
    "Print which samples a batch holds, and what is drawn for their ops.\v"
    "An op's line has the part that it cuts out (at x,y and width x height),\n"
    "the size after it and its random values, or '-' if it changes nothing.\n"
    "Ops of the device follow, marked 'device'. With --json, factors and\n"
    "angles are integers in units of 1/65536, lambda of 1/16777216.\n\n"
    "Examples:\n"
    "  forebay plan --pipeline p.yaml --epoch 0 --step 12\n"
    "  forebay plan --pipeline p.yaml --step 3 --rank 1 --world 4 --json",
    children, NULL, NULL};

struct plan_run {
    const struct plan_options *options;
    struct fby_local           local;
    struct fby_order          *order;
    struct fby_position        position;
    uint32_t                   first, rows; /* of the global batch */
    uint64_t                  *samples;     /* of these rows */
    struct fby_sampled_params  sampled;
};

static fby_err choose_rows(struct plan_run *self, struct fby_why *why)
{
    const struct plan_options *o       = self->options;
    uint64_t                   step    = self->position.step;
    const struct fby_content  *content = &self->local.split->content;
    fby_err                    err =
        fby_order_check_world(content->global_batch, (uint32_t)o->world, why);
    if (err == FBY_OK) {
        err = fby_content_check_world(content, (uint32_t)o->world, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    fby_order_rank_rows(self->order, step, (uint32_t)o->rank,
        (uint32_t)o->world, &self->first, &self->rows);
    self->samples = fby_zalloc((size_t)self->rows * sizeof(uint64_t));
    if (self->rows > 0) {
        fby_order_fill(
            self->order, step, self->first, self->rows, self->samples);
    }
    return FBY_OK;
}

/* A step with its name and named values. */
static json_t *step_object(const struct fby_step *step)
{
    json_t *object = json_pack("{s:s}", "step", fby_step_name(step->kind));
    for (unsigned i = 0; fby_step_value_name(step->kind, i) != NULL; i++) {
        json_object_set_new(object, fby_step_value_name(step->kind, i),
            json_integer((json_int_t)step->v[i]));
    }
    return object;
}

static json_t *op_object(
    const struct fby_op_use *use, const struct fby_op_plan *plan)
{
    json_t *steps = json_array();
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        json_array_append_new(steps, step_object(&plan->steps[i]));
    }
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:o}", "op",
        use->op->name, "x", (int)plan->x, "y", (int)plan->y, "w", (int)plan->w,
        "h", (int)plan->h, "out_w", (int)plan->out_w, "out_h", (int)plan->out_h,
        "flip", (int)plan->flip, "steps", steps);
}

static json_t *device_object(const struct fby_sampled_params *sampled,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row)
{
    const struct fby_op *op = field->device[i].op;
    struct fby_op_plan plan = fby_sampled_params_device(sampled, field, i, row);
    json_t            *object = op_object(&field->device[i], &plan);
    if (op->pairs) {
        json_object_set_new(object, "with_row",
            json_integer(
                fby_pair_partner(row.row, sampled->own, sampled->rows)));
    }
    return object;
}

static json_t *field_object(const struct fby_sampled_params *sampled,
    const struct fby_field_content *field, const struct fby_field_plan *plan,
    struct fby_sampled_params_row row)
{
    json_t *device = json_array();
    for (uint32_t i = 0; i < field->n_device; i++) {
        json_array_append_new(device, device_object(sampled, field, i, row));
    }
    json_t *ops = json_array();
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        json_array_append_new(ops, op_object(&field->ops[i], &plan->plans[i]));
    }
    return json_pack("{s:i, s:i, s:o, s:o}", "width", (int)plan->width,
        "height", (int)plan->height, "ops", ops, "device", device);
}

/* Print the ops of a field, one a line, as `show` does under a picture. */
static void print_ops(const struct fby_sampled_params *sampled,
    const struct fby_field_content *field, const struct fby_field_plan *plan,
    struct fby_sampled_params_row row)
{
    struct fby_size size = {plan->width, plan->height};
    printf("    %s %" PRIu32 "x%" PRIu32 "\n", field->name, size.w, size.h);
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        char text[FBY_SAMPLED_PARAMS_TEXT];
        size = fby_sampled_params_text(field, i, &plan->plans[i], size, text);
        printf("        %s\n", text);
    }
    for (uint32_t i = 0; i < field->n_device; i++) {
        char text[FBY_SAMPLED_PARAMS_TEXT];
        fby_sampled_params_device_text(sampled, field, i, row, text);
        printf("        device: %s\n", text);
    }
}

/* Add the sampled parameters of a row's pictures to `fields`, or print them if
 * it is NULL. */
static fby_err describe_fields(struct plan_run *self,
    struct fby_sampled_params_row row, json_t *fields, struct fby_why *why)
{
    const struct fby_content *content = &self->local.split->content;
    fby_err                   err     = FBY_OK;
    for (uint32_t f = 0; f < content->n_fields && err == FBY_OK; f++) {
        const struct fby_field_content *field = &content->fields[f];
        struct fby_field_plan           plan  = {0};
        if (!fby_field_kind(field)->is_picture) {
            continue;
        }
        err = fby_sampled_params_plan(
            &self->sampled, row.sample, field, &plan, why);
        if (err == FBY_OK && fields != NULL) {
            json_object_set_new(fields, field->name,
                field_object(&self->sampled, field, &plan, row));
        } else if (err == FBY_OK) {
            print_ops(&self->sampled, field, &plan, row);
        }
    }
    return err;
}

static bool is_own(const struct plan_run *self, uint32_t i)
{
    return self->first + i < fby_order_rows(self->order, self->position.step);
}

/* ---- The location of a sample ---- */

struct location_text {
    char text[320];
};

static const char *shard_of(const struct plan_run *self, uint64_t sample)
{
    const struct fby_dataset *dataset = self->local.dataset;
    return fby_dataset_shard_name(
        dataset, fby_dataset_shard_of(dataset, sample));
}

static const struct fby_source_traits *source_of(const struct plan_run *self)
{
    return fby_source_traits(self->local.split->content.source);
}

/* For a sequence of tokens: its offset in its file. */
static bool find_offset(
    const struct plan_run *self, uint64_t sample, uint64_t *offset)
{
    struct fby_member sequence;
    bool              exists = source_of(self)->has_sequences &&
                  fby_dataset_find(self->local.dataset, sample, NULL, 0,
                      &sequence) == FBY_OK;
    if (exists) {
        *offset = sequence.offset;
    }
    return exists;
}

/* The sample's key; for tokens the file and offset, for columns the row. */
static struct location_text describe_location(
    const struct plan_run *self, uint64_t sample)
{
    struct location_text out;
    struct fby_row_key   row;
    const char *key    = fby_dataset_key(self->local.dataset, sample, &row);
    uint64_t    offset = 0;
    if (find_offset(self, sample, &offset)) {
        snprintf(out.text, sizeof(out.text), "%.256s, offset %" PRIu64,
            shard_of(self, sample), offset);
    } else if (fby_dataset_has_rows(self->local.dataset)) {
        snprintf(out.text, sizeof(out.text), "%s of %.256s", key,
            shard_of(self, sample));
    } else {
        bool list = source_of(self)->has_values;
        snprintf(out.text, sizeof(out.text), "%s%s", list ? "line " : "", key);
    }
    return out;
}

static fby_err row_object(
    struct plan_run *self, uint32_t i, json_t **out, struct fby_why *why)
{
    uint64_t           sample = self->samples[i];
    json_t            *fields = json_object();
    struct fby_row_key key;
    uint64_t           offset = 0;
    *out = json_pack("{s:I, s:I, s:s, s:s, s:b, s:o}", "row",
        (json_int_t)self->first + i, "sample", (json_int_t)sample, "shard",
        shard_of(self, sample), "key",
        fby_dataset_key(self->local.dataset, sample, &key), "valid",
        (int)is_own(self, i), "fields", fields);
    if (*out == NULL) {
        return fby_because(why, FBY_CONFIG,
            "sample %" PRIu64 ": its key or its shard's name is not UTF-8",
            sample);
    }
    if (find_offset(self, sample, &offset)) {
        json_object_set_new(*out, "offset", json_integer((json_int_t)offset));
    }
    return describe_fields(self,
        (struct fby_sampled_params_row){self->first + i, sample}, fields, why);
}

static fby_err print_row(struct plan_run *self, uint32_t i, struct fby_why *why)
{
    uint64_t sample = self->samples[i];
    printf("row %" PRIu32 "  sample %" PRIu64 "  %s%s\n", self->first + i,
        sample, describe_location(self, sample).text,
        is_own(self, i) ? "" : "  (padding)");
    return describe_fields(self,
        (struct fby_sampled_params_row){self->first + i, sample}, NULL, why);
}

/* Integers of the JSON library end at 2^63 - 1; larger seeds are strings. */
static json_t *seed_value(uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed)
                             : json_string(text);
}

static fby_err print_object(struct plan_run *self, struct fby_why *why)
{
    json_t *rows = json_array();
    fby_err err  = FBY_OK;
    for (uint32_t i = 0; i < self->rows && err == FBY_OK; i++) {
        json_t *row = NULL;
        err         = row_object(self, i, &row, why);
        json_array_append_new(rows, row);
    }
    json_t *all = json_pack("{s:o, s:I, s:I, s:I, s:I, s:o}", "seed",
        seed_value(self->position.seed), "epoch",
        (json_int_t)self->position.epoch, "step",
        (json_int_t)self->position.step, "steps_per_epoch",
        (json_int_t)fby_order_steps(self->order), "samples",
        (json_int_t)fby_dataset_samples(self->local.dataset), "rows", rows);
    if (err == FBY_OK) {
        json_dumpf(all, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(all);
    return err;
}

static fby_err print_rows(struct plan_run *self, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < self->rows && err == FBY_OK; i++) {
        err = print_row(self, i, why);
    }
    return err;
}

static uint32_t all_rows(const struct plan_run *self)
{
    const struct fby_content *content = &self->local.split->content;
    return content->last == FBY_LAST_PAD ? content->global_batch
                                         : self->sampled.own;
}

/* ---- Checking that the fields' columns and members exist ----------------- */

static fby_err check_columns(const struct plan_run *self, struct fby_why *why)
{
    struct fby_rows *rows = NULL;
    fby_err          err  = fby_rows_create(
                  &self->local.split->content, self->local.dataset, &rows, why);
    fby_rows_destroy(&rows);
    return err;
}

static bool needs_all(const struct fby_field_content *field)
{
    return fby_field_kind(field)->is_stack;
}

/* The first member that the field needs and no sample has; NULL: none. */
static const char *find_missing(
    const struct fby_dataset *dataset, const struct fby_field_content *field)
{
    const char *none = NULL;
    for (uint32_t i = 0; i < field->n_from; i++) {
        bool exists = fby_dataset_has(dataset, field->from[i]);
        if (exists && !needs_all(field)) {
            return NULL;
        }
        if (!exists && none == NULL) {
            none = field->from[i];
        }
    }
    return none;
}

static fby_err refuse_missing(const struct fby_dataset *dataset,
    const struct fby_field_content *field, const char *name,
    struct fby_why *why)
{
    bool           others   = field->n_from > 1 && !needs_all(field);
    struct fby_why location = {{0}};
    fby_dataset_place(dataset, 0, NULL, &location);
    return fby_because(why, FBY_CONFIG,
        "field %s: no sample has %s%s; the first is %s", field->name, name,
        others ? " or another member of 'from'" : "", location.text);
}

static fby_err check_members(const struct plan_run *self, struct fby_why *why)
{
    const struct fby_dataset *dataset = self->local.dataset;
    const struct fby_content *content = &self->local.split->content;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        const char                     *name =
            fby_field_is_of_folder(field) ? NULL : find_missing(dataset, field);
        if (name != NULL) {
            return refuse_missing(dataset, field, name, why);
        }
    }
    return FBY_OK;
}

static fby_err check_fields(const struct plan_run *self, struct fby_why *why)
{
    if (fby_dataset_has_rows(self->local.dataset)) {
        return check_columns(self, why);
    }
    return source_of(self)->has_sequences ? FBY_OK : check_members(self, why);
}

static fby_err plan(struct plan_run *self, struct fby_why *why)
{
    const struct plan_options *o = self->options;
    fby_err err                  = fby_local_open(&self->local, &o->local, why);
    if (err == FBY_OK) {
        err = check_fields(self, why);
    }
    if (err == FBY_OK) {
        err =
            fby_position_find(&self->position, &self->local, &self->order, why);
    }
    if (err == FBY_OK) {
        self->sampled      = (struct fby_sampled_params){.local = &self->local,
                 .seed  = self->position.seed,
                 .epoch = self->position.epoch,
                 .step  = self->position.step,
                 .own   = fby_order_rows(self->order, self->position.step)};
        self->sampled.rows = all_rows(self);
        err                = choose_rows(self, why);
    }
    if (err == FBY_OK) {
        err = o->json ? print_object(self, why) : print_rows(self, why);
    }
    fby_order_destroy(&self->order);
    fby_local_close(&self->local);
    free(self->samples);
    fby_sampled_params_fini(&self->sampled);
    return err;
}

static int run(int argc, char **argv)
{
    struct plan_options o    = {.world = 1};
    struct plan_run     self = {.options = &o};
    struct fby_why      why  = {{0}};
    fby_option_parse(&argp, argc, argv, &o);
    self.position = o.position;
    fby_err err   = plan(&self, &why);
    fby_words_fini(&o.local.data);
    return fby_command_end("plan", err, &why);
}

const struct fby_command fby_command_plan = {
    .name    = "plan",
    .summary = "print which samples a batch holds, and what their ops draw",
    .run     = run,
};
