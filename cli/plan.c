/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - `forebay plan`: print the samples of a batch and the parameters of
 * their ops. It calls the functions that workers use, and decodes no pixels. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/sampled_params.h"
#include "cli/signals.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/device_ops.h"
#include "pipeline/fields/kind.h"
#include "pipeline/sources/traits.h"
#include "worker/plan/rows.h"

struct plan_options {
    struct fby_local_options local;
    struct fby_position      position;
    uint32_t                 rank, world; /* 0 <= rank < world */
    bool                     json;
};

#define NUMBER(member, min, max) \
    FBY_RANGE(FBY_NUMBER, struct plan_options, member, min, max)

static const struct fby_option options[] = {
    FBY_LOCAL_OPTIONS(struct plan_options, local),
    FBY_POSITION_OPTIONS(struct plan_options, position),
    {"rank", 0, "R", "Only the rows of this rank, from 0",
        NUMBER(rank, 0, 65535)},
    {"world", 0, "W", "How many ranks there are (default 1)",
        NUMBER(world, 1, 65536)},
    {"json", 0, NULL, "Print one JSON object instead of lines",
        FBY_VALUE(FBY_FLAG, struct plan_options, json)},
    {0},
};

static void check_rank(const struct argp_state *state, void *values)
{
    const struct plan_options *o = values;
    if (o->rank >= o->world) {
        argp_error(state, "--rank %" PRIu32 " is not below --world %" PRIu32,
            o->rank, o->world);
    }
}

static const char about[] =
    "Print the samples of a batch, and the random parameters of their ops.\v"
    "The line of an op has the area that it cuts out (at x,y, and its size),\n"
    "the size after it and its random values, or '-' if it changes nothing.\n"
    "Ops that the trainer applies follow, marked 'device'. With --json,\n"
    "factors and angles are integers in units of 1/65536, and lambda is in\n"
    "units of 1/16777216.\n\n"
    "Examples:\n"
    "  forebay plan --pipeline p.yaml --epoch 0 --step 12\n"
    "  forebay plan --pipeline p.yaml --step 3 --rank 1 --world 4 --json";

static const struct fby_usage usage = {
    .options = options, .finish = check_rank, .help = about};

struct plan_run { /* the state of one run of the command */
    const struct plan_options *options;
    struct fby_local           local;
    struct fby_order          *order;
    struct fby_position        position; /* of the options, with the seed set */
    uint32_t                   first_row; /* of the rank, in the global batch */
    uint32_t                   n_rows;    /* of the rank */
    uint64_t                  *samples;   /* [i]: of row first_row + i */
    struct fby_sampled_params  sampled;
};

static fby_err find_samples(struct plan_run *self, struct fby_error_detail *why)
{
    const struct plan_options *o       = self->options;
    uint64_t                   step    = self->position.step;
    const struct fby_content  *content = &self->local.split->content;
    fby_err err = fby_order_check_world(content->global_batch, o->world, why);
    if (err == FBY_OK) {
        err = fby_content_check_world(content, o->world, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    fby_order_rank_rows(
        self->order, step, o->rank, o->world, &self->first_row, &self->n_rows);
    self->samples = fby_zalloc((size_t)self->n_rows * sizeof(uint64_t));
    if (self->n_rows > 0) {
        fby_order_fill_samples(
            self->order, step, self->first_row, self->n_rows, self->samples);
    }
    return FBY_OK;
}

/* Returns a step of an op as an object: its name, and its values by name. */
static json_t *op_step_to_json(const struct fby_step *step)
{
    json_t *object = json_pack("{s:s}", "step", fby_step_name(step->kind));
    for (unsigned i = 0; fby_step_value_name(step->kind, i) != NULL; i++) {
        json_object_set_new(object, fby_step_value_name(step->kind, i),
            json_integer((json_int_t)step->v[i]));
    }
    return object;
}

static json_t *op_to_json(
    const struct fby_op_use *use, const struct fby_op_plan *plan)
{
    json_t *steps = json_array();
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        json_array_append_new(steps, op_step_to_json(&plan->steps[i]));
    }
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:o}", "op",
        use->op->name, "x", (int)plan->x, "y", (int)plan->y, "w", (int)plan->w,
        "h", (int)plan->h, "out_w", (int)plan->out_w, "out_h", (int)plan->out_h,
        "flip", (int)plan->flip, "steps", steps);
}

static json_t *device_op_to_json(const struct fby_sampled_params *sampled,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row)
{
    const struct fby_op *op   = field->device[i].op;
    struct fby_op_plan   plan = fby_sampled_params_draw(sampled, field, i, row);
    json_t              *object = op_to_json(&field->device[i], &plan);
    if (op->mixes_rows) {
        json_object_set_new(object, "with_row",
            json_integer(
                fby_pair_partner(row.row, sampled->valid_rows, sampled->rows)));
    }
    return object;
}

static json_t *field_to_json(const struct fby_sampled_params *sampled,
    const struct fby_field_content *field, const struct fby_field_plan *plan,
    struct fby_sampled_params_row row)
{
    json_t *device = json_array();
    for (uint32_t i = 0; i < field->n_device; i++) {
        json_array_append_new(
            device, device_op_to_json(sampled, field, i, row));
    }
    json_t *ops = json_array();
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        json_array_append_new(ops, op_to_json(&field->ops[i], &plan->plans[i]));
    }
    return json_pack("{s:i, s:i, s:o, s:o}", "width", (int)plan->width,
        "height", (int)plan->height, "ops", ops, "device", device);
}

static void print_ops(const struct fby_sampled_params *sampled,
    const struct fby_field_content *field, const struct fby_field_plan *plan,
    struct fby_sampled_params_row row)
{
    struct fby_words lines = {0};
    fby_sampled_params_append_lines(sampled, field, plan, row, &lines);
    for (unsigned i = 0; i < lines.n; i++) {
        printf("%s%s\n", i == 0 ? "    " : "      ", lines.items[i]);
    }
    fby_words_fini(&lines);
}

/* Describe the ops on each picture field of `row`. Add them to the JSON object
 * `fields`, or print them if it is NULL. */
static fby_err describe_fields(struct plan_run *self,
    struct fby_sampled_params_row row, json_t *fields,
    struct fby_error_detail *why)
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
                field_to_json(&self->sampled, field, &plan, row));
        } else if (err == FBY_OK) {
            print_ops(&self->sampled, field, &plan, row);
        }
    }
    return err;
}

/* True if row first_row + i is not padding. */
static bool is_valid_row(const struct plan_run *self, uint32_t i)
{
    return self->first_row + i <
           fby_order_rows(self->order, self->position.step);
}

/* ---- The location of a sample ---- */

struct location_text {
    char text[320]; /* a name of up to 256 bytes, and an offset or row */
};

static const char *shard_name_of(const struct plan_run *self, uint64_t sample)
{
    const struct fby_dataset *dataset = self->local.dataset;
    return fby_dataset_shard_name(
        dataset, fby_dataset_shard_of(dataset, sample));
}

static const struct fby_source_traits *source_of(const struct plan_run *self)
{
    return fby_source_traits(self->local.split->content.source);
}

/* True for a sequence of tokens; *offset is then its offset in the file, in
 * bytes. */
static bool find_token_offset(
    const struct plan_run *self, uint64_t sample, uint64_t *offset)
{
    struct fby_member sequence;
    if (!source_of(self)->has_sequences ||
        fby_dataset_find_member(
            self->local.dataset, sample, NULL, 0, &sequence) != FBY_OK) {
        return false;
    }
    *offset = sequence.offset;
    return true;
}

/* Returns the sample's key. For tokens and columns it is a position in a file,
 * for lists the number of a line. */
static struct location_text describe_location(
    const struct plan_run *self, uint64_t sample)
{
    struct location_text out;
    struct fby_row_key   row;
    const char *key    = fby_dataset_key(self->local.dataset, sample, &row);
    uint64_t    offset = 0;
    if (find_token_offset(self, sample, &offset)) {
        snprintf(out.text, sizeof(out.text), "%.256s, offset %" PRIu64,
            shard_name_of(self, sample), offset);
    } else if (fby_dataset_has_rows(self->local.dataset)) {
        snprintf(out.text, sizeof(out.text), "%s of %.256s", key,
            shard_name_of(self, sample));
    } else {
        const char *prefix = source_of(self)->has_values ? "line " : "";
        snprintf(out.text, sizeof(out.text), "%s%s", prefix, key);
    }
    return out;
}

static fby_err row_to_json(struct plan_run *self, uint32_t i, json_t **out,
    struct fby_error_detail *why)
{
    uint64_t           sample = self->samples[i];
    json_t            *fields = json_object();
    struct fby_row_key key;
    uint64_t           offset = 0;
    *out = json_pack("{s:I, s:I, s:s, s:s, s:b, s:o}", "row",
        (json_int_t)self->first_row + i, "sample", (json_int_t)sample, "shard",
        shard_name_of(self, sample), "key",
        fby_dataset_key(self->local.dataset, sample, &key), "valid",
        (int)is_valid_row(self, i), "fields", fields);
    if (*out == NULL) { /* json_pack accepts only UTF-8 */
        return fby_error_set(why, FBY_CONFIG,
            "sample %" PRIu64 ": its key or its shard's name is not UTF-8",
            sample);
    }
    if (find_token_offset(self, sample, &offset)) {
        json_object_set_new(*out, "offset", json_integer((json_int_t)offset));
    }
    return describe_fields(self,
        (struct fby_sampled_params_row){self->first_row + i, sample}, fields,
        why);
}

/* Returns a string if the seed exceeds the integers of the JSON library. */
static json_t *seed_to_json(uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed)
                             : json_string(text);
}

/* Rows are printed until an error or a signal. */
static bool may_go_on(fby_err err)
{
    return err == FBY_OK && fby_signals_caught() == 0;
}

static fby_err print_json(struct plan_run *self, struct fby_error_detail *why)
{
    json_t *rows = json_array();
    fby_err err  = FBY_OK;
    for (uint32_t i = 0; i < self->n_rows && may_go_on(err); i++) {
        json_t *row = NULL;
        err         = row_to_json(self, i, &row, why);
        json_array_append_new(rows, row); /* does nothing if it is NULL */
    }
    json_t *object = json_pack("{s:o, s:I, s:I, s:I, s:I, s:o}", "seed",
        seed_to_json(self->position.seed.value), "epoch",
        (json_int_t)self->position.epoch, "step",
        (json_int_t)self->position.step, "steps_per_epoch",
        (json_int_t)fby_order_steps(self->order), "samples",
        (json_int_t)fby_dataset_sample_count(self->local.dataset), "rows",
        rows);
    if (may_go_on(err)) {
        json_dumpf(object, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(object);
    return err;
}

static fby_err print_rows(struct plan_run *self, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < self->n_rows && may_go_on(err); i++) {
        const struct fby_sampled_params_row row = {
            self->first_row + i, self->samples[i]};
        struct location_text location = describe_location(self, row.sample);
        fby_make_one_line(location.text);
        printf("row %" PRIu32 "  sample %" PRIu64 "  %s%s\n", row.row,
            row.sample, location.text,
            is_valid_row(self, i) ? "" : "  (padding)");
        err = describe_fields(self, row, NULL /* print */, why);
    }
    return err;
}

/* Returns the number of rows of the global batch, including padding. */
static uint32_t count_rows_with_padding(const struct plan_run *self)
{
    const struct fby_content *content = &self->local.split->content;
    return content->last == FBY_LAST_PAD ? content->global_batch
                                         : self->sampled.valid_rows;
}

/* ---- Checking that the fields' columns and members exist ----------------- */

/* Returns a member that the field needs but no sample has; NULL: none is
 * missing. A stack needs all members of its `from`, other kinds any one. */
static const char *find_missing(
    const struct fby_dataset *dataset, const struct fby_field_content *field)
{
    const char *missing = NULL;
    for (uint32_t i = 0; i < field->n_from; i++) {
        bool exists = fby_dataset_has_extension(dataset, field->from[i]);
        if (exists && !fby_field_kind(field)->is_stack) {
            return NULL;
        }
        if (!exists && missing == NULL) {
            missing = field->from[i];
        }
    }
    return missing;
}

static fby_err check_members(
    const struct plan_run *self, struct fby_error_detail *why)
{
    const struct fby_dataset *dataset = self->local.dataset;
    const struct fby_content *content = &self->local.split->content;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        const char                     *missing =
            fby_field_is_folder_id(field) ? NULL : find_missing(dataset, field);
        if (missing != NULL) {
            bool any_suffices =
                field->n_from > 1 && !fby_field_kind(field)->is_stack;
            struct fby_error_detail location = {{0}};
            fby_dataset_describe(dataset, 0, NULL, &location);
            return fby_error_set(why, FBY_CONFIG,
                "field %s: no sample has %s%s; the first is %s", field->name,
                missing, any_suffices ? " or another member of 'from'" : "",
                location.text);
        }
    }
    return FBY_OK;
}

static fby_err check_fields(
    const struct plan_run *self, struct fby_error_detail *why)
{
    if (source_of(self)->has_sequences) {
        return FBY_OK; /* tokens have neither members nor columns */
    }
    if (!fby_dataset_has_rows(self->local.dataset)) {
        return check_members(self, why);
    }
    struct fby_rows *rows = NULL; /* creating them checks the columns */
    fby_err          err  = fby_rows_create(
                  &self->local.split->content, self->local.dataset, &rows, why);
    fby_rows_destroy(&rows);
    return err;
}

static fby_err print_plan(struct plan_run *self, struct fby_error_detail *why)
{
    const struct plan_options *o = self->options;
    fby_err err                  = fby_local_open(&self->local, &o->local, why);
    if (err == FBY_OK) {
        err = check_fields(self, why);
    }
    if (err == FBY_OK) {
        err = fby_position_create_order(
            &self->position, &self->local, &self->order, why);
    }
    if (err == FBY_OK) {
        self->sampled = (struct fby_sampled_params){.local = &self->local,
            .seed  = self->position.seed.value,
            .epoch = self->position.epoch,
            .step  = self->position.step};
        self->sampled.valid_rows =
            fby_order_rows(self->order, self->position.step);
        self->sampled.rows = count_rows_with_padding(self);
        err                = find_samples(self, why);
    }
    if (err == FBY_OK) {
        err = o->json ? print_json(self, why) : print_rows(self, why);
    }
    fby_order_destroy(&self->order);
    fby_local_close(&self->local);
    free(self->samples);
    fby_sampled_params_fini(&self->sampled);
    return err;
}

static int run(int argc, char **argv)
{
    struct plan_options     values = {.world = 1};
    struct plan_run         self   = {.options = &values};
    struct fby_error_detail why    = {{0}};
    fby_usage_parse(&usage, argc, argv, &values);
    fby_signals_catch();
    self.position = values.position;
    fby_err err   = print_plan(&self, &why);
    fby_words_fini(&values.local.data);
    if (fby_signals_caught() != 0) {
        return 128 + fby_signals_caught();
    }
    return fby_command_end("plan", err, &why);
}

const struct fby_command fby_command_plan = {
    .name    = "plan",
    .summary = "print the samples of a batch, and the parameters of their ops",
    .run     = run,
};
