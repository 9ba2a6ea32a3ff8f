/* doctor.c - `forebay doctor`: report problems of this machine and their fixes.
 *
 * It runs a table of checks one by one, and prints their lines as they
 * arrive. */
#include "cli/doctor/doctor.h"

#include "cli/command.h"
#include "cli/doctor/report.h"
#include "cli/doctor/trial.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "pipeline/location.h"

/* Checks that load the machine come last. */
static const struct fby_doctor_check checks[] = {
    {"versions", fby_doctor_versions, 0, 10000, FBY_DOCTOR_FAIL},
    {"machine", fby_doctor_machine, 0, 10000, FBY_DOCTOR_FAIL},
    {"sources", fby_doctor_sources, FBY_DOCTOR_PIPELINE, 10000,
        FBY_DOCTOR_FAIL},
    {"data", fby_doctor_data, FBY_DOCTOR_PIPELINE, 20000, FBY_DOCTOR_WARN},
    {"server", fby_doctor_cluster, FBY_DOCTOR_SERVER, 20000, FBY_DOCTOR_FAIL},
    {"stream", fby_doctor_stream, FBY_DOCTOR_SERVER | FBY_DOCTOR_PIPELINE,
        20000, FBY_DOCTOR_FAIL},
    {"speed", fby_doctor_speed, 0, 10000, FBY_DOCTOR_WARN},
    {"gpu", fby_doctor_gpu, 0, 30000, FBY_DOCTOR_WARN},
};
enum { N_CHECKS = sizeof(checks) / sizeof(checks[0]) };

enum option_key {
    KEY_SERVER   = 's',
    KEY_PIPELINE = 'p',
    KEY_DATA     = 'd',
    KEY_JSON     = 0x100
};

struct doctor {
    struct fby_doctor_options options;
    bool                      as_json;
    bool                      failed;
    json_t                   *lines; /* NULL: they are printed at once */
};

static const struct argp_option options[] = {
    {"server", KEY_SERVER, "ADDR", 0,
        "Also check this server and each worker that it knows, "
        "tcp://HOST:PORT",
        0},
    {"pipeline", KEY_PIPELINE, "FILE", 0,
        "Also look at the sources of this pipeline and what lies in them; with "
        "--server, pull some batches of it for at most 3 s",
        0},
    {"data", KEY_DATA, "NAME=DIR", 0,
        "Where the pipeline's NAME:path lies (repeatable)", 0},
    {"json", KEY_JSON, NULL, 0, "Print one JSON array instead of text", 0},
    {0},
};

static void add_data(struct argp_state *state, struct doctor *self, char *arg)
{
    struct fby_why why = {{0}};
    if (fby_served_check(arg, &why) != FBY_OK) {
        argp_error(state, "%s", why.text);
    }
    fby_words_add(&self->options.data, arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct doctor *self = state->input;
    switch (key) {
    case KEY_SERVER:
        self->options.server = arg;
        return 0;
    case KEY_PIPELINE:
        self->options.pipeline = arg;
        return 0;
    case KEY_DATA:
        add_data(state, self, arg);
        return 0;
    case KEY_JSON:
        self->as_json = true;
        return 0;
    case ARGP_KEY_ARG:
        fby_option_unexpected(state, arg, "--pipeline");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, NULL,
    "Say what is wrong with this machine for Forebay, and what to do.\v"
    "One line a check: ok, note (good to know), warn (slow or unsafe) or FAIL "
    "(it will not work), what was found, and after an arrow what to do. The "
    "exit code is 1 when a check FAILs. No check hangs: each has a deadline.\n"
    "\n"
    "Examples:\n"
    "  forebay doctor\n"
    "  forebay doctor --pipeline p.yaml\n"
    "  forebay doctor --server tcp://10.0.0.1:7070 --pipeline p.yaml --json",
    NULL, NULL, NULL};

static void on_line(void *arg, const struct fby_doctor_line *line)
{
    struct doctor *self = arg;
    self->failed |= line->verdict.state == FBY_DOCTOR_FAIL;
    if (self->lines != NULL) {
        json_array_append_new(self->lines, fby_doctor_object(line));
    } else {
        fby_doctor_print(line, stdout);
        fflush(stdout);
    }
}

static void run_checks(struct doctor *self)
{
    struct fby_doctor_listener listener = {on_line, self};
    unsigned                   given    = 0;
    given |= self->options.server != NULL ? FBY_DOCTOR_SERVER : 0U;
    given |= self->options.pipeline != NULL ? FBY_DOCTOR_PIPELINE : 0U;
    for (size_t i = 0; i < N_CHECKS && fby_signals_caught() == 0; i++) {
        if ((checks[i].needs & ~given) == 0) {
            fby_doctor_run(&checks[i], &self->options, &listener);
        }
    }
}

static int run(int argc, char **argv)
{
    struct doctor self = {.options = {.root = ""}};
    fby_option_parse(&argp, argc, argv, &self);
    fby_signals_catch();
    (void)fby_simd(); /* report a wrong FOREBAY_SIMD once, not in each check */
    self.lines = self.as_json ? json_array() : NULL;
    run_checks(&self);
    if (self.lines != NULL) {
        json_dumpf(self.lines, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
        fputc('\n', stdout);
        json_decref(self.lines);
    }
    fby_words_fini(&self.options.data);
    if (fby_signals_caught() != 0) {
        return 128 + fby_signals_caught();
    }
    return self.failed ? FBY_EXIT_FAILED : FBY_EXIT_DONE;
}

const struct fby_command fby_command_doctor = {
    .name    = "doctor",
    .summary = "say what is wrong with this machine, and what to do",
    .run     = run,
};
