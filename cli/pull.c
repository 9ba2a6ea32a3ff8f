/* pull.c - `forebay pull`: a trainer without a model.
 *
 * It takes batches as a training loop would, through the public header alone,
 * and says how fast they came and where the time went. Without --server it
 * brings its own server and workers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bar.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "common/clock.h"
#include "common/hash.h"
#include "forebay/forebay.h"

enum { TOKEN_SIZE = 512 };

static const int64_t look_ns = FBY_NS_PER_S / 5;

struct pull_options {
    const char      *pipeline;
    const char      *server;
    const char      *split;
    const char      *job;
    const char      *resume;
    const char      *token_file;
    const char      *digests;
    struct fby_words data;
    struct fby_words fields;
    uint64_t         workers;
    uint64_t         threads;
    uint64_t         steps;
    uint64_t         epochs;
    uint64_t         seed;
    uint64_t         rank;
    uint64_t         world;
    uint64_t         token_every;
    uint64_t         window_bytes;
    int64_t          step_ns;
    int64_t          open_timeout_ns;
    bool             has_seed;
    bool             json;
};

enum option_key {
    KEY_PIPELINE = 'p',
    KEY_SPLIT    = 's',
    KEY_WORKERS  = 'w',
    KEY_SERVER   = 0x100,
    KEY_THREADS,
    KEY_STEPS,
    KEY_EPOCHS,
    KEY_SEED,
    KEY_JOB,
    KEY_RANK,
    KEY_WORLD,
    KEY_RESUME,
    KEY_STEP_MS,
    KEY_TOKEN_EVERY,
    KEY_TOKEN_FILE,
    KEY_DIGESTS,
    KEY_DATA,
    KEY_FIELD,
    KEY_WINDOW,
    KEY_OPEN_TIMEOUT,
    KEY_JSON
};

static const struct argp_option options[] = {
    {"pipeline", KEY_PIPELINE, "FILE", 0, "The pipeline file (required)", 0},
    {"split", KEY_SPLIT, "NAME", 0, "The split, where the file has several", 0},
    {"server", KEY_SERVER, "ADDR", 0,
        "Use a running cluster (tcp://HOST:PORT) instead of an own one", 0},
    {"workers", KEY_WORKERS, "N", 0,
        "Worker processes of the own cluster (default 2)", 0},
    {"threads", KEY_THREADS, "N", 0,
        "Threads of each of them (default: the cores shared out)", 0},
    {"data", KEY_DATA, "NAME=DIR", 0,
        "A root that the workers of --server have: a plain path below DIR is "
        "asked for as NAME:path (repeatable)",
        0},
    {NULL, 0, NULL, 0, "How much:", 1},
    {"epochs", KEY_EPOCHS, "N", 0, "End after N epochs in all (default 1)", 1},
    {"steps", KEY_STEPS, "N", 0,
        "End after N steps in all, counted from epoch 0 step 0", 1},
    {"seed", KEY_SEED, "X", 0, "Another seed than the file's", 1},
    {"field", KEY_FIELD, "NAME", 0, "Only this field (repeatable)", 1},
    {"step-ms", KEY_STEP_MS, "X", 0,
        "Hold each batch for X ms, as a training step would", 1},
    {"window", KEY_WINDOW, "SIZE", 0, "Bytes asked for ahead (default 256M)",
        1},
    {"open-timeout-ms", KEY_OPEN_TIMEOUT, "X", 0,
        "Give up opening after X ms (default 60000)", 1},
    {NULL, 0, NULL, 0, "Several ranks, and going on:", 2},
    {"job", KEY_JOB, "ID", 0, "The job, the same for all its ranks", 2},
    {"rank", KEY_RANK, "R", 0, "This rank, from 0 (default 0)", 2},
    {"world", KEY_WORLD, "W", 0, "How many ranks there are (default 1)", 2},
    {"resume", KEY_RESUME, "TOKEN|@FILE", 0,
        "Go on right after the batch that carried this token", 2},
    {"token-file", KEY_TOKEN_FILE, "FILE", 0, "Keep the token in FILE", 2},
    {"token-every", KEY_TOKEN_EVERY, "N", 0,
        "Renew FILE every N steps (default 1)", 2},
    {NULL, 0, NULL, 0, "What is said:", 3},
    {"digests", KEY_DIGESTS, "FILE", 0,
        "Write a line a step: epoch, step, first row, rows, digests", 3},
    {"json", KEY_JSON, NULL, 0, "Print one JSON object instead of a table", 3},
    {0},
};

static void check_options(
    struct argp_state *state, const struct pull_options *o)
{
    if (o->pipeline == NULL) {
        argp_error(state, "--pipeline FILE is required; 'forebay init DIR' "
                          "writes one");
    }
    if (o->world > 1 && o->job == NULL) {
        argp_error(state,
            "--world %" PRIu64 " needs --job ID, the same for "
            "all ranks",
            o->world);
    }
    if (o->world > 1 && o->server == NULL) {
        argp_error(state,
            "--world %" PRIu64 " needs --server ADDR: ranks of "
            "one job share a cluster ('forebay up')",
            o->world);
    }
    if (o->rank >= o->world) {
        argp_error(state, "--rank %" PRIu64 " is not below --world %" PRIu64,
            o->rank, o->world);
    }
    if (o->resume != NULL && o->steps == 0 && o->epochs == 0) {
        argp_error(state, "--resume needs --epochs or --steps: totals, "
                          "counted from epoch 0 step 0");
    }
    if (o->resume != NULL && o->has_seed) {
        argp_error(state, "--seed goes against --resume: the token holds the "
                          "seed");
    }
}

static bool parse_amount(
    int key, const char *arg, struct argp_state *state, struct pull_options *o)
{
    switch (key) {
    case KEY_WORKERS:
        o->workers = fby_option_u64(state, "--workers", arg, 1, 256);
        return true;
    case KEY_THREADS:
        o->threads = fby_option_u64(state, "--threads", arg, 1, 1024);
        return true;
    case KEY_STEPS:
        o->steps = fby_option_u64(state, "--steps", arg, 1, INT64_MAX);
        return true;
    case KEY_EPOCHS:
        o->epochs = fby_option_u64(state, "--epochs", arg, 1, UINT32_MAX);
        return true;
    case KEY_SEED:
        o->seed     = fby_option_u64(state, "--seed", arg, 0, UINT64_MAX);
        o->has_seed = true;
        return true;
    case KEY_RANK:
        o->rank = fby_option_u64(state, "--rank", arg, 0, 65535);
        return true;
    case KEY_WORLD:
        o->world = fby_option_u64(state, "--world", arg, 1, 65536);
        return true;
    case KEY_TOKEN_EVERY:
        o->token_every =
            fby_option_u64(state, "--token-every", arg, 1, UINT32_MAX);
        return true;
    case KEY_STEP_MS:
        o->step_ns = fby_option_ms(state, "--step-ms", arg);
        return true;
    case KEY_OPEN_TIMEOUT:
        o->open_timeout_ns = fby_option_ms(state, "--open-timeout-ms", arg);
        return true;
    case KEY_WINDOW:
        o->window_bytes = fby_option_size(state, "--window", arg);
        return true;
    default:
        return false;
    }
}

static bool parse_name(int key, char *arg, struct pull_options *o)
{
    switch (key) {
    case KEY_PIPELINE:
        o->pipeline = arg;
        return true;
    case KEY_SPLIT:
        o->split = arg;
        return true;
    case KEY_SERVER:
        o->server = arg;
        return true;
    case KEY_JOB:
        o->job = arg;
        return true;
    case KEY_RESUME:
        o->resume = arg;
        return true;
    case KEY_TOKEN_FILE:
        o->token_file = arg;
        return true;
    case KEY_DIGESTS:
        o->digests = arg;
        return true;
    case KEY_DATA:
        fby_words_add(&o->data, arg);
        return true;
    case KEY_FIELD:
        fby_words_add(&o->fields, arg);
        return true;
    case KEY_JSON:
        o->json = true;
        return true;
    default:
        return false;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct pull_options *o = state->input;
    if (key == ARGP_KEY_END) {
        check_options(state, o);
        return 0;
    }
    if (parse_name(key, arg, o) || parse_amount(key, arg, state, o)) {
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {options, parse_option, NULL,
    "Take batches as a trainer would, and say how fast they came.\v"
    "Examples:\n"
    "  forebay pull --pipeline p.yaml\n"
    "  forebay pull --pipeline p.yaml --workers 4 --epochs 3 --json\n"
    "  forebay pull --pipeline p.yaml --token-file t --epochs 9\n"
    "  forebay pull --pipeline p.yaml --resume @t --epochs 9\n"
    "  forebay pull --pipeline p.yaml --server tcp://host:7070 \\\n"
    "      --job run1 --rank 0 --world 2\n"
    "Ctrl-C ends it with the token to go on from (exit code 130).",
    NULL, NULL, NULL};

struct pull { /* one run */
    const struct pull_options *options;
    struct fby_cluster        *cluster;
    struct forebay            *stream;
    struct forebay_info        info;
    struct fby_record          record;
    struct fby_bar             bar;
    int64_t                    start_ns;
    int64_t                    watched_ns;
    int64_t                    warned_ns;
    char                       token[TOKEN_SIZE]; /* to resume from */
};

static fby_err start_cluster(
    struct pull *self, const struct fby_served *roots, struct fby_why *why)
{
    struct fby_cluster_options cluster = {
        .workers = (unsigned)self->options->workers,
        .threads = (unsigned)self->options->threads,
        .roots   = roots->words.words,
    };
    return fby_cluster_start(&cluster, &self->cluster, why);
}

static void show_scan(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    fprintf(stderr, "looking at the data: %" PRIu64 " of %" PRIu64 " shards\n",
        done, total);
}

static struct forebay_options stream_options(
    const struct pull *self, const struct fby_served *roots)
{
    const struct pull_options *o      = self->options;
    struct forebay_options     stream = forebay_options();
    stream.server =
        self->cluster != NULL ? fby_cluster_server(self->cluster) : o->server;
    stream.pipeline_path   = o->pipeline;
    stream.split           = o->split;
    stream.job             = o->job;
    stream.rank            = (uint32_t)o->rank;
    stream.world           = (uint32_t)o->world;
    stream.seed            = o->seed;
    stream.has_seed        = o->has_seed;
    stream.token           = o->resume != NULL ? self->token : NULL;
    stream.steps           = o->steps;
    stream.epochs          = o->steps + o->epochs == 0 ? 1 : o->epochs;
    stream.fields          = o->fields.words;
    stream.n_fields        = o->fields.n;
    stream.roots           = roots->roots;
    stream.n_roots         = roots->n;
    stream.window_bytes    = o->window_bytes;
    stream.open_timeout_ns = o->open_timeout_ns;
    stream.digests         = true;
    stream.on_scan         = show_scan;
    return stream;
}

static fby_err open_stream(
    struct pull *self, const struct fby_served *roots, struct fby_why *why)
{
    struct forebay_options stream = stream_options(self, roots);
    enum forebay_status    status =
        forebay_open(&stream, why->text, sizeof(why->text), &self->stream);
    if (status != FOREBAY_OK) {
        return FBY_CONFIG;
    }
    self->info.struct_size = sizeof(self->info);
    forebay_info(self->stream, &self->info);
    return FBY_OK;
}

static uint64_t steps_to_do(const struct forebay_info *info)
{
    uint64_t first =
        info->first_epoch * info->steps_per_epoch + info->first_step;
    if (info->end_step == UINT64_MAX) {
        return 0;
    }
    return info->end_step > first ? info->end_step - first : 0;
}

static struct forebay_stats read_stats(const struct pull *self)
{
    struct forebay_stats stats = {.struct_size = sizeof(stats)};
    forebay_stats(self->stream, &stats);
    return stats;
}

static void show_bar(struct pull *self, int64_t now_ns)
{
    struct forebay_stats stats = read_stats(self);
    struct fby_bar_state state = {
        .steps   = stats.steps,
        .total   = steps_to_do(&self->info),
        .images  = stats.images,
        .wait_ns = stats.wait_ns,
    };
    fby_bar_show(&self->bar, &state, now_ns);
}

/* What `next` waits for, every few seconds at most. */
static void say_waiting(struct pull *self, int64_t now_ns)
{
    const char *text = forebay_error(self->stream);
    if (text[0] != '\0' && now_ns - self->warned_ns > 3 * FBY_NS_PER_S) {
        self->warned_ns = now_ns;
        fby_bar_end(&self->bar);
        fprintf(stderr, "forebay pull: waiting: %s\n", text);
    }
}

static void hold_batch(const struct pull *self)
{
    int64_t until_ns = fby_now_ns() + self->options->step_ns;
    int64_t left_ns  = self->options->step_ns;
    while (left_ns > 0 && fby_signals_caught() == 0) {
        fby_signals_wait((int)((left_ns + FBY_NS_PER_MS - 1) / FBY_NS_PER_MS));
        left_ns = until_ns - fby_now_ns();
    }
}

static void list_substitutions(struct pull *self, struct forebay_batch *batch)
{
    for (uint32_t i = 0; i < forebay_batch_n_substitutions(batch); i++) {
        const struct forebay_substitution *s =
            forebay_batch_substitution(batch, i);
        fby_bar_end(&self->bar);
        fprintf(stderr,
            "substituted: epoch %" PRIu64 " step %" PRIu64 " row %" PRIu32
            ": sample %" PRIu64 " by %" PRIu64 ": %s\n",
            forebay_batch_epoch(batch), forebay_batch_step(batch), s->row,
            s->sample, s->substitute, s->cause);
    }
}

static void look_around(struct pull *self)
{
    int64_t now_ns = fby_now_ns();
    show_bar(self, now_ns);
    if (self->cluster != NULL && now_ns - self->watched_ns > FBY_NS_PER_S) {
        self->watched_ns = now_ns;
        fby_cluster_watch(self->cluster, now_ns);
    }
}

static fby_err take_batches(struct pull *self, struct fby_why *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK && fby_signals_caught() == 0) {
        struct forebay_batch *batch = NULL;
        enum forebay_status   status =
            forebay_next(self->stream, look_ns, NULL, &batch);
        look_around(self);
        if (status == FOREBAY_TIMEOUT) {
            say_waiting(self, fby_now_ns());
            continue;
        }
        if (status == FOREBAY_END) {
            return FBY_OK;
        }
        if (status != FOREBAY_OK) {
            return fby_because(
                why, FBY_GONE, "%s", forebay_error(self->stream));
        }
        list_substitutions(self, batch);
        hold_batch(self);
        err = fby_record_batch(&self->record, batch, why);
        forebay_release(&batch, NULL);
    }
    return err;
}

static void report(struct pull *self)
{
    struct fby_report result = {
        .stats   = read_stats(self),
        .seconds = (double)(fby_now_ns() - self->start_ns) / 1e9,
        .token   = self->record.token,
    };
    uint8_t sum[16];
    if (forebay_stream_digest(self->stream, sum) == FOREBAY_OK) {
        fby_hex(sum, sizeof(sum), result.digest);
    }
    if (self->options->json) {
        fby_report_json(&result, stdout);
    } else {
        fby_report_table(&result, stdout);
    }
}

static fby_err run_stream(struct pull *self, struct fby_why *why)
{
    const struct pull_options *o = self->options;
    fby_signals_catch();
    self->start_ns = fby_now_ns();
    self->bar      = fby_bar_begin(self->start_ns);
    fby_err err    = fby_record_open(
           &self->record, o->digests, o->token_file, o->token_every, why);
    if (err == FBY_OK) {
        err = take_batches(self, why);
    }
    fby_bar_end(&self->bar);
    if (err == FBY_OK) {
        err = fby_record_close(&self->record, why);
    }
    if (self->record.steps > 0 || err == FBY_OK) {
        report(self);
    }
    return err;
}

static fby_err pull(struct pull *self, struct fby_why *why)
{
    const struct pull_options *o     = self->options;
    struct fby_served          roots = {0};
    fby_err                    err   = FBY_OK;
    if (o->resume != NULL) {
        err = fby_record_read_token(o->resume, self->token, TOKEN_SIZE, why);
    }
    if (err == FBY_OK) {
        err = fby_served_collect(
            &roots, &o->data, o->server == NULL ? o->pipeline : NULL, why);
    }
    if (err == FBY_OK && o->server == NULL) {
        err = start_cluster(self, &roots, why);
    }
    if (err == FBY_OK) {
        err = open_stream(self, &roots, why);
    }
    if (err == FBY_OK) {
        err = run_stream(self, why);
    }
    forebay_close(&self->stream);
    fby_cluster_stop(&self->cluster);
    fby_served_fini(&roots);
    return err;
}

static int run(int argc, char **argv)
{
    struct pull_options o    = {.workers = 2, .world = 1, .token_every = 1};
    struct pull         self = {.options = &o};
    struct fby_why      why  = {{0}};
    fby_option_parse(&argp, argc, argv, &o);
    fby_err err = pull(&self, &why);
    if (err != FBY_OK) {
        fprintf(stderr, "forebay pull: %s\n", why.text);
    } else if (fby_signals_caught() != 0) {
        fprintf(stderr,
            "forebay pull: ended by signal; go on with\n"
            "  --resume %s\n",
            self.record.token);
    }
    free(o.data.words);
    free(o.fields.words);
    if (err != FBY_OK) {
        return FBY_EXIT_FAILED;
    }
    return fby_signals_caught() != 0 ? 128 + fby_signals_caught()
                                     : FBY_EXIT_DONE;
}

const struct fby_command fby_command_pull = {
    .name    = "pull",
    .summary = "take batches as a trainer would, and measure",
    .run     = run,
};
