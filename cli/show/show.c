/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - `forebay show`: write one batch as a picture or for Python.
 *
 * The command starts an embedded cluster and receives the batch as a trainer
 * would, by the public header. To receive the requested step first, it makes a
 * token (a position in the epochs) and resumes the stream from it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/show/cells.h"
#include "cli/show/npz.h"
#include "cli/signals.h"
#include "common/clock.h"
#include "common/plural.h"
#include "pipeline/canon.h"
#include "pipeline/text.h"
#include "pipeline/token.h"
#include "proto/layout.h"
#include "worker/transform/fingerprint.h"

enum { SHEET_ROWS = 64 }; /* rows of a sheet without --rows */

static const int64_t poll_ns = FBY_NS_PER_S / 5; /* between signal checks */

struct show_options {
    struct fby_local_options local;
    struct fby_position      position;
    uint32_t                 rows;     /* of --rows; 0: not given */
    bool                     is_sheet; /* true: write a .png; false: an .npz */
    const char              *output;
};

static const struct fby_option options[] = {
    FBY_LOCAL_OPTIONS(struct show_options, local),
    FBY_POSITION_OPTIONS(struct show_options, position),
    {"output", 'o', "FILE", "FILE.png or FILE.npz (required)",
        FBY_REQUIRED(FBY_TEXT, struct show_options, output,
            "give -o FILE.png or -o FILE.npz")},
    {"rows", 0, "R", "Only the first R (default: .png 64, .npz all)",
        FBY_RANGE(FBY_NUMBER, struct show_options, rows, 1, FBY_MAX_BATCH)},
    {0},
};

static void set_output_kind(const struct argp_state *state, void *values)
{
    struct show_options *o = values;
    o->is_sheet            = fby_text_ends_with(o->output, ".png");
    if (!o->is_sheet && !fby_text_ends_with(o->output, ".npz")) {
        argp_error(state,
            "-o %s: the name must end with .png (a contact sheet) or "
            ".npz (the arrays)",
            o->output);
    }
}

static const char about[] =
    "Show one batch as the model will see it.\v"
    "FILE.png is a contact sheet: the pictures without the normalisation, and "
    "under each its row, sample and key, its labels, and its ops with their "
    "random parameters.\n"
    "FILE.npz holds the arrays as they are delivered, for numpy.load: one for "
    "each field, then 'samples' and 'valid'. numpy has no bf16, so the array A "
    "of a bf16 field has the type u2; (A.astype('u4') << 16).view('f4') "
    "converts it to f32. A channels_last array has the shape (n, c, h, w).\n\n"
    "Examples:\n"
    "  forebay show --pipeline p.yaml -o batch.png\n"
    "  forebay show --pipeline p.yaml --epoch 3 --step 12 --rows 16 -o b.png\n"
    "  forebay show --pipeline p.yaml --split val -o batch.npz";

static const struct fby_usage usage = {
    .options = options, .finish = set_output_kind, .help = about};

struct show_run { /* the state of one run of the command */
    const struct show_options *options;
    struct fby_local           local;
    struct fby_position        position; /* of the options, with the seed set */
    uint64_t                   steps_per_epoch;
    struct fby_cluster        *cluster;
    struct forebay            *stream;
    struct forebay_batch      *batch;
};

static fby_err make_token(const struct show_run *self,
    char out[FBY_TOKEN_TEXT_SIZE], struct fby_error_detail *why)
{
    const struct fby_content *content = &self->local.split->content;
    struct fby_token          token   = {
                   .content = fby_content_digest(content),
                   .data    = fby_dataset_digest(self->local.dataset),
                   .seed    = self->position.seed.value,
                   .epoch   = self->position.epoch,
                   .step    = self->position.step,
    };
    fby_err err = fby_fingerprint(content, &token.fingerprint, why);
    if (err == FBY_OK) {
        fby_token_encode(&token, out);
    }
    return err;
}

/* Open a stream of one batch: it resumes at the requested step and ends after
 * this step. The window has room for a batch of any size. */
static fby_err open_stream(struct show_run *self, struct fby_error_detail *why)
{
    char                       token[FBY_TOKEN_TEXT_SIZE];
    struct forebay_output      outputs[FBY_MAX_FIELDS];
    const struct show_options *o              = self->options;
    struct forebay_options     stream_options = forebay_options();
    fby_err                    err            = make_token(self, token, why);
    if (err != FBY_OK) {
        return err;
    }
    stream_options.server        = fby_cluster_server_endpoint(self->cluster);
    stream_options.keys          = fby_cluster_keys(self->cluster);
    stream_options.pipeline_path = o->local.pipeline;
    stream_options.split         = o->local.split;
    stream_options.token         = token;
    stream_options.seed          = self->position.seed.value;
    stream_options.has_seed      = true;
    /* Steps are counted from epoch 0 step 0. */
    stream_options.steps =
        self->position.epoch * self->steps_per_epoch + self->position.step + 1;
    stream_options.roots          = self->local.served_roots.roots;
    stream_options.n_roots        = self->local.served_roots.n_roots;
    stream_options.give_up        = fby_signals_interrupted;
    stream_options.window_batches = 1;
    stream_options.window_bytes   = FBY_BATCH_BYTES_MAX;
    stream_options.max_held_bytes = UINT64_MAX; /* no limit */
    stream_options.outputs        = outputs;
    if (o->is_sheet) {
        stream_options.n_outputs =
            fby_show_outputs(&self->local.split->content, outputs);
    }
    enum forebay_status status = forebay_open(
        &stream_options, why->text, sizeof(why->text), &self->stream);
    return status == FOREBAY_OK ? FBY_OK : FBY_CONFIG;
}

/* Wait for the batch. A signal ends the wait with an error. */
static fby_err await_batch(struct show_run *self, struct fby_error_detail *why)
{
    enum forebay_status status = FOREBAY_TIMEOUT;
    while (status == FOREBAY_TIMEOUT && fby_signals_caught() == 0) {
        status = forebay_next(self->stream, poll_ns, NULL, &self->batch);
        fby_cluster_tick(self->cluster, fby_now_ns());
    }
    if (status == FOREBAY_OK) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_GONE, "%s", forebay_error(self->stream));
}

static uint32_t rows_to_write(const struct show_run *self)
{
    uint32_t batch_rows = forebay_batch_rows(self->batch);
    uint32_t limit      = self->options->rows;
    if (limit == 0) { /* without --rows */
        limit = self->options->is_sheet ? SHEET_ROWS : batch_rows;
    }
    return batch_rows < limit ? batch_rows : limit;
}

static fby_err write_sheet(
    struct show_run *self, FILE *file, struct fby_error_detail *why)
{
    char                      title[256];
    struct fby_sheet          sheet   = {.title = title};
    struct fby_sampled_params sampled = {.local = &self->local,
        .seed                                   = self->position.seed.value,
        .epoch                                  = self->position.epoch,
        .step                                   = self->position.step};
    snprintf(title, sizeof(title),
        "epoch %" PRIu64 " step %" PRIu64 " of %" PRIu64 " seed %" PRIu64,
        self->position.epoch, self->position.step, self->steps_per_epoch,
        self->position.seed.value);
    fby_err err =
        fby_show_cells(&sampled, self->batch, rows_to_write(self), &sheet, why);
    if (err == FBY_OK) {
        err = fby_sheet_write(&sheet, file, why);
    }
    fby_sheet_fini(&sheet);
    fby_sampled_params_fini(&sampled);
    return err;
}

static fby_err write_output(struct show_run *self, struct fby_error_detail *why)
{
    const struct show_options *o = self->options;
    struct fby_output          output;
    fby_err                    err = fby_output_open(&output, o->output, why);
    if (err != FBY_OK) {
        return err;
    }
    err = o->is_sheet ? write_sheet(self, output.file, why)
                      : fby_npz_write(
                            self->batch, rows_to_write(self), output.file, why);
    if (err == FBY_IO) {
        fby_error_prefix(why, err, "%s", o->output);
    }
    if (err == FBY_OK) {
        err = fby_signals_check(why);
    }
    if (err == FBY_OK) {
        err = fby_output_finish(&output, why);
    }
    fby_output_close(&output);
    return err;
}

static fby_err prepare(struct show_run *self, struct fby_error_detail *why)
{
    const struct show_options *o     = self->options;
    struct fby_order          *order = NULL;
    fby_err                    err   = fby_output_check(o->output, why);
    if (err == FBY_OK) {
        err = fby_local_open(&self->local, &o->local, why);
    }
    if (err == FBY_OK) {
        err = fby_inputs_check_all(o->output, o->local.pipeline,
            &self->local.served_roots.data_options, why);
    }
    if (err == FBY_OK) {
        err = fby_inputs_check_dataset(o->output, self->local.dataset, why);
    }
    if (err == FBY_OK) {
        err = fby_position_create_order(
            &self->position, &self->local, &order, why);
    }
    if (err == FBY_OK) {
        self->steps_per_epoch = fby_order_steps(order);
    }
    fby_order_destroy(&order);
    return err;
}

static fby_err show(struct show_run *self, struct fby_error_detail *why)
{
    fby_signals_catch();
    fby_err err = prepare(self, why);
    if (err == FBY_OK) {
        const struct fby_cluster_options cluster_options = {.workers = 1,
            .roots = self->local.served_roots.data_options.items,
            .cache = self->options->local.cache};
        err = fby_cluster_start(&cluster_options, &self->cluster, why);
    }
    if (err == FBY_OK) {
        err = open_stream(self, why);
    }
    if (err == FBY_OK) {
        err = await_batch(self, why);
    }
    if (err == FBY_OK) {
        err = write_output(self, why);
    }
    if (err == FBY_OK) {
        printf("wrote %s: %s of epoch %" PRIu64 " step %" PRIu64 "\n",
            fby_show_path(self->options->output).text,
            fby_plural(rows_to_write(self), "row").text, self->position.epoch,
            self->position.step);
    }
    if (err != FBY_OK && fby_signals_caught() != 0) {
        fby_error_set(why, err, "ended by signal");
    }
    forebay_release(&self->batch, NULL);
    forebay_close(&self->stream);
    fby_cluster_stop(&self->cluster);
    fby_local_close(&self->local);
    return err;
}

static int run(int argc, char **argv)
{
    struct show_options     o    = {.rows = 0};
    struct show_run         self = {.options = &o};
    struct fby_error_detail why  = {{0}};
    fby_usage_parse(&usage, argc, argv, &o);
    self.position = o.position;
    fby_err err   = show(&self, &why);
    fby_words_fini(&o.local.data);
    int code = fby_command_end("show", err, &why);
    return fby_signals_caught() != 0 ? 128 + fby_signals_caught() : code;
}

const struct fby_command fby_command_show = {
    .name    = "show",
    .summary = "write a batch as one picture (.png) or as arrays (.npz)",
    .run     = run,
};
