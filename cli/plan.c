/* plan.c - `forebay plan`: print the samples of a batch and the parameters of
 * their ops. It calls the functions that workers use, and decodes nothing. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/sampled_params.h"
#include "common/mem.h"
#include "pipeline/device_ops.h"
#include "pipeline/fields/kind.h"
#include "pipeline/sources/traits.h"
#include "worker/plan/rows.h"

struct plan_options {
    struct fby_local_options local;
    struct fby_position      position;
    uint32_t                 rank, world;
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
    "Print which samples a batch holds, and what is drawn for their ops.\v"
    "An op's line has the part that it cuts out (at x,y and width x height),\n"
    "the size after it and its random values, or '-' if it changes nothing.\n"
    "Ops of the device follow, marked 'device'. With --json, factors and\n"
    "angles are integers in units of 1/65536, lambda of 1/16777216.\n\n"
    "Examples:\n"
    "  forebay plan --pipeline p.yaml --epoch 0 --step 12\n"
    "  forebay plan --pipeline p.yaml --step 3 --rank 1 --world 4 --json";

static const struct fby_usage usage = {
    .options = options, .finish = check_rank, .help = about};

struct plan_run {
    const struct plan_options *options;
    struct fby_local           local;
    struct fby_order          *order;
    struct fby_position        position;
    uint32_t                   first, rows; /* of the global batch */
    uint64_t                  *samples;     /* of these rows */
    struct fby_sampled_params  sampled;
};

static fby_err choose_rows(struct plan_run *self, struct fby_error_detail *why)
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
        self->order, step, o->rank, o->world, &self->first, &self->rows);
    self->samples = fby_zalloc((size_t)self->rows * sizeof(uint64_t));
    if (self->rows > 0) {
        fby_order_fill_samples(
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
    if (op->mixes_rows) {
        json_object_set_new(object, "with_row",
            json_integer(
                fby_pair_partner(row.row, sampled->valid_rows, sampled->rows)));
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

static void print_ops(const struct fby_sampled_params *sampled,
    const struct fby_field_content *field, const struct fby_field_plan *plan,
    struct fby_sampled_params_row row)
{
    struct fby_words lines = {0};
    fby_sampled_params_lines(sampled, field, plan, row, &lines);
    for (unsigned i = 0; i < lines.n; i++) {
        printf("%s%s\n", i == 0 ? "    " : "      ", lines.words[i]);
    }
    fby_words_fini(&lines);
}

/* Add the sampled parameters of a row's pictures to the object `fields`; NULL:
 * print them. */
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
                field_object(&self->sampled, field, &plan, row));
        } else if (err == FBY_OK) {
            print_ops(&self->sampled, field, &plan, row);
        }
    }
    return err;
}

static bool is_valid(const struct plan_run *self, uint32_t i)
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

/* Set *offset to that of a sequence of tokens in its file; false for other
 * samples. */
static bool find_offset(
    const struct plan_run *self, uint64_t sample, uint64_t *offset)
{
    struct fby_member sequence;
    bool              exists = source_of(self)->has_sequences &&
                  fby_dataset_find_member(self->local.dataset, sample, NULL, 0,
                      &sequence) == FBY_OK;
    if (exists) {
        *offset = sequence.offset;
    }
    return exists;
}

/* The key of a sample; for tokens its file and offset, for columns its row. */
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

static fby_err row_object(struct plan_run *self, uint32_t i, json_t **out,
    struct fby_error_detail *why)
{
    uint64_t           sample = self->samples[i];
    json_t            *fields = json_object();
    struct fby_row_key key;
    uint64_t           offset = 0;
    *out = json_pack("{s:I, s:I, s:s, s:s, s:b, s:o}", "row",
        (json_int_t)self->first + i, "sample", (json_int_t)sample, "shard",
        shard_of(self, sample), "key",
        fby_dataset_key(self->local.dataset, sample, &key), "valid",
        (int)is_valid(self, i), "fields", fields);
    if (*out == NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "sample %" PRIu64 ": its key or its shard's name is not UTF-8",
            sample);
    }
    if (find_offset(self, sample, &offset)) {
        json_object_set_new(*out, "offset", json_integer((json_int_t)offset));
    }
    return describe_fields(self,
        (struct fby_sampled_params_row){self->first + i, sample}, fields, why);
}

/* Integers of the JSON library end at 2^63 - 1; larger seeds are strings. */
static json_t *seed_value(uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed)
                             : json_string(text);
}

static fby_err print_object(struct plan_run *self, struct fby_error_detail *why)
{
    json_t *rows = json_array();
    fby_err err  = FBY_OK;
    for (uint32_t i = 0; i < self->rows && err == FBY_OK; i++) {
        json_t *row = NULL;
        err         = row_object(self, i, &row, why);
        json_array_append_new(rows, row);
    }
    json_t *all = json_pack("{s:o, s:I, s:I, s:I, s:I, s:o}", "seed",
        seed_value(self->position.seed.value), "epoch",
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

static fby_err print_rows(struct plan_run *self, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < self->rows && err == FBY_OK; i++) {
        const struct fby_sampled_params_row row = {
            self->first + i, self->samples[i]};
        printf("row %" PRIu32 "  sample %" PRIu64 "  %s%s\n", row.row,
            row.sample, describe_location(self, row.sample).text,
            is_valid(self, i) ? "" : "  (padding)");
        err = describe_fields(self, row, NULL, why);
    }
    return err;
}

/* The number of rows of the global batch, with padding. */
static uint32_t padded_rows(const struct plan_run *self)
{
    const struct fby_content *content = &self->local.split->content;
    return content->last == FBY_LAST_PAD ? content->global_batch
                                         : self->sampled.valid_rows;
}

/* ---- Checking that the fields' columns and members exist ----------------- */

/* A member that the field needs and that no sample has; NULL: none. */
static const char *find_missing(
    const struct fby_dataset *dataset, const struct fby_field_content *field)
{
    const char *none = NULL;
    for (uint32_t i = 0; i < field->n_from; i++) {
        bool exists = fby_dataset_has_extension(dataset, field->from[i]);
        if (exists && !fby_field_kind(field)->is_stack) {
            return NULL;
        }
        if (!exists && none == NULL) {
            none = field->from[i];
        }
    }
    return none;
}

static fby_err check_members(
    const struct plan_run *self, struct fby_error_detail *why)
{
    const struct fby_dataset *dataset = self->local.dataset;
    const struct fby_content *content = &self->local.split->content;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        const char                     *name =
            fby_field_is_folder_id(field) ? NULL : find_missing(dataset, field);
        if (name != NULL) {
            bool others = field->n_from > 1 && !fby_field_kind(field)->is_stack;
            struct fby_error_detail location = {{0}};
            fby_dataset_describe(dataset, 0, NULL, &location);
            return fby_error_set(why, FBY_CONFIG,
                "field %s: no sample has %s%s; the first is %s", field->name,
                name, others ? " or another member of 'from'" : "",
                location.text);
        }
    }
    return FBY_OK;
}

static fby_err check_fields(
    const struct plan_run *self, struct fby_error_detail *why)
{
    if (!fby_dataset_has_rows(self->local.dataset)) {
        return source_of(self)->has_sequences ? FBY_OK
                                              : check_members(self, why);
    }
    struct fby_rows *rows = NULL;
    fby_err          err  = fby_rows_create(
                  &self->local.split->content, self->local.dataset, &rows, why);
    fby_rows_destroy(&rows);
    return err;
}

static fby_err plan(struct plan_run *self, struct fby_error_detail *why)
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
        self->sampled = (struct fby_sampled_params){.local = &self->local,
            .seed  = self->position.seed.value,
            .epoch = self->position.epoch,
            .step  = self->position.step};
        self->sampled.valid_rows =
            fby_order_rows(self->order, self->position.step);
        self->sampled.rows = padded_rows(self);
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
    struct plan_options     o    = {.world = 1};
    struct plan_run         self = {.options = &o};
    struct fby_error_detail why  = {{0}};
    fby_usage_parse(&usage, argc, argv, &o);
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
