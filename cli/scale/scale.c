/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c - `forebay scale`: print how many workers are wanted, or keep a number
 * of workers at it with a command of the user. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/scale/program.h"
#include "cli/signals.h"
#include "common/clock.h"
#include "common/log.h"

struct scale_options {
    const char *server;
    const char *keys;
    const char *exec;        /* NULL: only print */
    int64_t     every_ns;    /* 0: once */
    int64_t     limit_ns;    /* of one run of `exec` */
    uint32_t    least, most; /* number of workers */
    bool        why, json;
};

#define VALUE(kind, member) FBY_VALUE(kind, struct scale_options, member)
#define SECONDS_OF(member, min, max) \
    FBY_RANGE(FBY_SECONDS, struct scale_options, member, min, max)

static const struct fby_option options[] = {
    {"server", 0, "ADDR", "The server, tcp://HOST:PORT (required)",
        FBY_REQUIRED(FBY_TEXT, struct scale_options, server,
            "the address that 'forebay server' or 'forebay up' prints")},
    {"keys", 0, "PATH",
        "A trainer's key: a key file, or a folder with one (default: the "
        "variable FOREBAY_KEYS)",
        VALUE(FBY_TEXT, keys)},
    {"min", 0, "N", "Never fewer than N (default 0)",
        FBY_RANGE(FBY_NUMBER, struct scale_options, least, 0, 8192)},
    {"max", 0, "N", "Never more than N (default 8192)",
        FBY_RANGE(FBY_NUMBER, struct scale_options, most, 1, 8192)},
    {"why", 0, NULL, "Print the reasons too", VALUE(FBY_FLAG, why)},
    {"json", 0, NULL,
        "Print a line of JSON: workers_wanted, workers, jobs, why",
        VALUE(FBY_FLAG, json)},
    {.help = "To set the number:"},
    {"every", 0, "S", "Ask every S seconds, 1 to 3600, until Ctrl-C",
        SECONDS_OF(every_ns, 1, 3600)},
    {"exec", 0, "CMD",
        "Each time run CMD in a shell, with the number as $1; it must set the "
        "number, also when it did not change. What it prints is printed too",
        VALUE(FBY_TEXT, exec)},
    {"exec-limit", 0, "S",
        "End CMD when it still runs after S seconds (default 60)",
        SECONDS_OF(limit_ns, 1, 3600)},
    {0},
};

static void check_options(const struct argp_state *state, void *values)
{
    const struct scale_options *self = values;
    if (self->exec != NULL && self->exec[0] == '\0') {
        argp_error(state, "--exec: the command is empty");
    }
    if (self->exec != NULL && self->every_ns == 0) {
        argp_error(state, "--exec needs --every, as in --every 15");
    }
    if (self->exec == NULL && self->limit_ns != 0) {
        argp_error(state, "--exec-limit needs --exec");
    }
    if (self->least > self->most) {
        argp_error(state, "--min is above --max");
    }
}

static const struct fby_usage usage = {.options = options,
    .finish                                     = check_options,
    .help = "Print how many workers the trainers of a server need.\v"
            "Examples:\n"
            "  forebay scale --server tcp://10.0.0.1:7070 --why\n"
            "  forebay scale --server tcp://10.0.0.1:7070 --every 15 \\\n"
            "      --exec 'kubectl scale deployment/workers --replicas=$1'\n"
            "More are wanted at once, fewer after 300 s. When the server does\n"
            "not answer, CMD does not run, and the workers stay."};

/* ---- output ---------------------------------------------------------------- */

static void print_json(const struct fby_ask_answer *answer)
{
    json_t *reasons = json_array();
    for (unsigned i = 0; i < answer->reasons.n; i++) {
        json_array_append_new(reasons, json_string(answer->reasons.items[i]));
    }
    json_t *line = json_pack("{s:i, s:i, s:i, s:o}", "workers_wanted",
        (int)answer->wanted, "workers", (int)answer->workers, "jobs",
        (int)answer->jobs, "why", reasons);
    json_dumpf(line, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    putchar('\n');
    json_decref(line);
}

/* Print the answer. A failed write is an error, unless there is a command to
 * run. */
static fby_err print_answer(const struct scale_options *self,
    const struct fby_ask_answer *answer, struct fby_error_detail *why)
{
    if (self->json) {
        print_json(answer);
    } else {
        printf("%" PRIu32 "\n", answer->wanted);
        for (unsigned i = 0; self->why && i < answer->reasons.n; i++) {
            printf("  %s\n", answer->reasons.items[i]);
        }
    }
    bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
    clearerr(stdout);
    return failed && self->exec == NULL
               ? fby_error_set(why, FBY_IO, "cannot write the number: %s",
                     strerror(errno))
               : FBY_OK;
}

/* ---- asking ---------------------------------------------------------------- */

enum { ANSWER_S = 10, LIMIT_S = 60 };

/* Ask once, print, and run the command. */
static fby_err scale_once(const struct scale_options *self, struct fby_ask *ask,
    struct fby_error_detail *why)
{
    struct fby_ask_answer answer = {.wanted = 0};
    FBY_TRY(fby_ask_workers(
        ask, fby_now_ns() + ANSWER_S * FBY_NS_PER_S, true, &answer, why));
    fby_ask_limit(&answer, self->least, self->most);
    fby_err err = print_answer(self, &answer, why);
    if (err == FBY_OK && self->exec != NULL) {
        int64_t limit_ns =
            self->limit_ns > 0 ? self->limit_ns : LIMIT_S * FBY_NS_PER_S;
        err = fby_scale_program_run(self->exec, answer.wanted, limit_ns, why);
        if (err != FBY_OK) {
            (void)fby_error_prefix(why, err, "--exec %.200s", self->exec);
        }
    }
    fby_words_fini(&answer.reasons);
    return err;
}

/* Failures but FBY_IO are logged: the next time may succeed. */
static fby_err scale_until_signal(const struct scale_options *self,
    struct fby_ask *ask, struct fby_error_detail *error)
{
    int64_t due_ns = fby_now_ns();
    while (fby_signals_caught() == 0) {
        struct fby_error_detail why = {""};
        fby_err                 err = scale_once(self, ask, &why);
        if (err == FBY_IO) {
            *error = why;
            return err;
        }
        if (err != FBY_OK && err != FBY_GONE) {
            fby_warn("SCALE-FAILED",
                "%s; the workers stay, and it is tried "
                "again",
                why.text);
        }
        due_ns          = due_ns + self->every_ns > fby_now_ns()
                              ? due_ns + self->every_ns
                              : fby_now_ns();
        int64_t left_ns = due_ns - fby_now_ns();
        fby_signals_wait(left_ns > 0 ? (int)(left_ns / FBY_NS_PER_MS) + 1 : 0);
    }
    return FBY_OK;
}

static fby_err open_ask(const struct scale_options *self, struct fby_ask **out,
    struct fby_error_detail *why)
{
    struct fby_key_file key  = {0};
    const char         *path = fby_key_path_of_trainer(self->keys);
    if (path == NULL) {
        return fby_ask_open(self->server, NULL, out, why);
    }
    fby_err err = fby_key_file_load(path, FBY_ROLE_TRAINER, &key, why);
    if (err == FBY_OK) {
        err = fby_ask_open(self->server, &key, out, why);
    }
    sodium_memzero(&key, sizeof(key));
    return err;
}

static int run(int argc, char **argv)
{
    struct scale_options    values = {.most = 8192};
    struct fby_error_detail why    = {{0}};
    struct fby_ask         *ask    = NULL;
    fby_usage_parse(&usage, argc, argv, &values);
    fby_signals_catch();
    signal(SIGPIPE, SIG_IGN); /* print_answer judges a failed write */
    fby_err err = open_ask(&values, &ask, &why);
    if (err == FBY_OK && values.every_ns > 0) {
        err = scale_until_signal(&values, ask, &why);
    } else if (err == FBY_OK) {
        err = scale_once(&values, ask, &why);
    }
    fby_ask_close(&ask);
    return err == FBY_GONE ? 128 + fby_signals_caught()
                           : fby_command_end("scale", err, &why);
}

const struct fby_command fby_command_scale = {
    .name    = "scale",
    .summary = "print how many workers are wanted, or keep their number there",
    .run     = run,
};
