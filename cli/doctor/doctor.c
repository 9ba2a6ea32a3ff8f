/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c - `forebay doctor`: report problems of this machine and their fixes.
 *
 * It runs a table of checks one by one, and prints each line on arrival. */
#include "cli/doctor/checks.h"

#include <jansson.h>
#include <string.h>

#include "cli/command.h"
#include "cli/doctor/trial.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "common/utf8.h"

/* Name, function, needed options, deadline in ms, state if late. Checks that
 * load the machine come last. */
static const struct fby_doctor_check checks[] = {
    {"versions", fby_doctor_versions, 0, 10000, FBY_DOCTOR_FAIL},
    {"machine", fby_doctor_machine, 0, 10000, FBY_DOCTOR_FAIL},
    {"sources", fby_doctor_sources, FBY_DOCTOR_NEEDS_PIPELINE, 10000,
        FBY_DOCTOR_FAIL},
    {"data", fby_doctor_data, FBY_DOCTOR_NEEDS_PIPELINE, 20000,
        FBY_DOCTOR_WARN},
    {"server", fby_doctor_cluster, FBY_DOCTOR_NEEDS_SERVER, 20000,
        FBY_DOCTOR_FAIL},
    {"stream", fby_doctor_stream,
        FBY_DOCTOR_NEEDS_SERVER | FBY_DOCTOR_NEEDS_PIPELINE, 20000,
        FBY_DOCTOR_FAIL},
    {"speed", fby_doctor_speed, 0, 10000, FBY_DOCTOR_WARN},
    {"gpu", fby_doctor_gpu, 0, 30000, FBY_DOCTOR_WARN},
};
enum { N_CHECKS = sizeof(checks) / sizeof(checks[0]) };

struct doctor {
    struct fby_doctor_options options;
    bool                      as_json;
    bool                      failed; /* a line has the state FAIL */
    json_t *lines; /* array for --json; NULL: print each line at once */
};

#define DOCTOR(kind, member) FBY_VALUE(kind, struct doctor, member)

static const struct fby_option options[] = {
    {"pipeline", 'p', "FILE",
        "Also check the sources of this pipeline and their data; with "
        "--server, also pull batches of it for at most 3 s",
        DOCTOR(FBY_TEXT, options.pipeline)},
    {"server", 's', "ADDR",
        "Also check this server and each worker that it knows, "
        "tcp://HOST:PORT",
        DOCTOR(FBY_TEXT, options.server)},
    {"keys", 0, "PATH",
        "The trainer's key for --server: a key file, or a folder with one "
        "(default: the variable FOREBAY_KEYS)",
        DOCTOR(FBY_TEXT, options.keys)},
    {"job", 0, "NAME",
        "Join the server under this name, if the key is only for some jobs "
        "(default: a random one)",
        DOCTOR(FBY_TEXT, options.job)},
    {"data", 'd', "NAME=DIR",
        "The directory of the pipeline's NAME:path (repeatable)",
        DOCTOR(FBY_WORDS, options.data)},
    {"json", 0, NULL, "Print one JSON array instead of text",
        DOCTOR(FBY_FLAG, as_json)},
    {0},
};

static void check_options(const struct argp_state *state, void *values)
{
    const struct fby_doctor_options *o    = &((struct doctor *)values)->options;
    const struct fby_words          *data = &o->data;
    if (o->server == NULL && (o->keys != NULL || o->job != NULL)) {
        argp_error(state, "--keys and --job need --server: they are for its "
                          "check");
    }
    for (unsigned i = 0; i < data->n; i++) {
        struct fby_error_detail why = {{0}};
        if (fby_served_check(data->items[i], &why) != FBY_OK) {
            argp_error(state, "%s", why.text);
        }
    }
}

static const struct fby_usage usage = {.options = options,
    .finish                                     = check_options,
    .help =
        "Say what is wrong with this machine for Forebay, and what to do.\v"
        "Prints lines with a state, the name of a check, what was found, and "
        "after an arrow what to do. The state is ok, note (good to know), warn "
        "(slow or unsafe) or FAIL (it will not work). The exit code is 1 if a "
        "check FAILs. No check hangs: each has a deadline.\n\n"
        "Examples:\n"
        "  forebay doctor\n"
        "  forebay doctor --pipeline p.yaml\n"
        "  forebay doctor --server tcp://10.0.0.1:7070 --pipeline p.yaml "
        "--json"};

static void print_line(const struct fby_doctor_line *line)
{
    const struct fby_verdict *verdict = &line->verdict;
    printf("%-4s  %-10s  %s", fby_doctor_state_name(verdict->state),
        line->check, verdict->finding);
    if (verdict->advice[0] != '\0') {
        printf(" -> %s", verdict->advice);
    }
    putchar('\n');
    fflush(stdout);
}

/* Make a JSON string. If the text is not UTF-8, bytes above 127 become `?`. */
static json_t *json_of_text(const char *text)
{
    char clean[sizeof(struct fby_verdict)]; /* longer than each of its texts */
    snprintf(clean, sizeof(clean), "%s", text);
    bool is_utf8 = fby_is_utf8(clean, strlen(clean));
    for (char *byte = clean; !is_utf8 && *byte != '\0'; byte++) {
        if ((unsigned char)*byte >= 0x80) {
            *byte = '?';
        }
    }
    return json_string(clean);
}

static json_t *json_of_line(const struct fby_doctor_line *line)
{
    const struct fby_verdict *verdict = &line->verdict;
    return json_pack("{s:s, s:s, s:o, s:o}", "check", line->check, "state",
        fby_doctor_state_name(verdict->state), "finding",
        json_of_text(verdict->finding), "advice",
        verdict->advice[0] != '\0' ? json_of_text(verdict->advice)
                                   : json_null());
}

static void on_line(void *arg, const struct fby_doctor_line *line)
{
    struct doctor *self = arg;
    self->failed |= line->verdict.state == FBY_DOCTOR_FAIL;
    if (self->lines != NULL) {
        json_array_append_new(self->lines, json_of_line(line));
    } else {
        print_line(line);
    }
}

static void run_checks(struct doctor *self)
{
    struct fby_doctor_listener listener = {on_line, self};
    unsigned                   given    = 0;
    given |= self->options.server != NULL ? FBY_DOCTOR_NEEDS_SERVER : 0U;
    given |= self->options.pipeline != NULL ? FBY_DOCTOR_NEEDS_PIPELINE : 0U;
    for (size_t i = 0; i < N_CHECKS && fby_signals_caught() == 0; i++) {
        bool has_options = (checks[i].needs & ~given) == 0;
        if (has_options) {
            fby_doctor_run_check(&checks[i], &self->options, &listener);
        }
    }
}

static int run(int argc, char **argv)
{
    struct doctor self = {.options = {.root = ""}};
    fby_usage_parse(&usage, argc, argv, &self);
    fby_signals_catch();
    /* Log a wrong FOREBAY_SIMD now, so that not each check logs it. */
    (void)fby_simd_level();
    self.lines = self.as_json ? json_array() : NULL;
    run_checks(&self);
    if (self.lines != NULL) {
        json_dumpf(self.lines, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
        fputc('\n', stdout);
        json_decref(self.lines);
    }
    fby_words_fini(&self.options.data);
    if (fby_signals_caught() != 0) {
        return 128 + fby_signals_caught(); /* as shells do */
    }
    return self.failed ? FBY_EXIT_FAILED : FBY_EXIT_DONE;
}

const struct fby_command fby_command_doctor = {
    .name    = "doctor",
    .summary = "say what is wrong with this machine, and what to do",
    .run     = run,
};
