/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - `forebay keys`: write, list and remove the keys of a cluster. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/keys/folder.h"
#include "cli/option.h"

struct keys_command {
    const char *words[4]; /* of the command line: add DIR ROLE NAME */
    unsigned    n_words;
    const char *roots, *jobs;
};

enum { KEY_ROOTS = 1000, KEY_JOBS };

static const struct argp_option options[] = {
    {"roots", KEY_ROOTS, "NAME,NAME", 0,
        "A trainer may read only these roots (default: all)", 0},
    {"jobs", KEY_JOBS, "PATTERN", 0,
        "A trainer may join only jobs of these names, as 'a-*' (default: all)",
        0},
    {0},
};

static const char synopsis[] = "init DIR\n"
                               "add DIR worker [NAME]\n"
                               "add DIR trainer NAME\n"
                               "remove DIR NAME\n"
                               "list DIR";

static const char about[] =
    "Write, list and remove the keys of a cluster.\v"
    "Examples:\n"
    "  forebay keys init keys                  the server's key, an empty "
    "list\n"
    "  forebay keys add keys worker            one key for all workers\n"
    "  forebay keys add keys trainer alice --roots in1k --jobs 'alice-*'\n"
    "  forebay server --keys keys\n"
    "  forebay worker --keys keys/worker.key ...\n"
    "  forebay pull --keys keys/trainer-alice.key ...\n"
    "A running server reads the list again when it changes. A user who can "
    "read\n"
    "the folder can act as the server, a worker or a trainer: keep it on the\n"
    "server's host, and give each worker and trainer only its own file.";

static error_t parse_word(int key, char *arg, struct argp_state *state)
{
    struct keys_command *self = state->input;
    switch (key) {
    case KEY_ROOTS:
        self->roots = arg;
        return 0;
    case KEY_JOBS:
        self->jobs = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (self->n_words == sizeof(self->words) / sizeof(self->words[0])) {
            argp_error(state, "'%s' is one word too many", arg);
        }
        self->words[self->n_words++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (self->n_words < 2) {
            argp_error(state, "say what to do, and the folder of the keys");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- actions ------------------------------------------------------------- */

static fby_err init(
    const struct keys_command *self, struct fby_error_detail *why)
{
    const char *dir = self->words[1];
    if (self->n_words != 2) {
        return fby_error_set(why, FBY_USAGE, "give one folder to write");
    }
    FBY_TRY(fby_keys_init(dir, why));
    printf("wrote %s/server.key and %s/allowed, the list of admitted keys\n"
           "next: forebay keys add %s worker\n"
           "      forebay keys add %s trainer NAME\n"
           "      forebay server --keys %s --listen ADDR\n",
        dir, dir, dir, dir, dir);
    return FBY_OK;
}

static fby_err add(
    const struct keys_command *self, struct fby_error_detail *why)
{
    char                path[4096];
    struct fby_keys_new key = {.roots = self->roots, .jobs = self->jobs};
    if (self->n_words < 3 || !fby_role_parse(self->words[2], &key.role) ||
        key.role == FBY_ROLE_SERVER) {
        return fby_error_set(
            why, FBY_USAGE, "say whose key: worker or trainer");
    }
    key.name = self->words[3];
    if (key.name == NULL && key.role == FBY_ROLE_WORKER) {
        key.name = fby_role_name(key.role);
    }
    if (key.name == NULL) {
        return fby_error_set(why, FBY_USAGE,
            "name the trainer: forebay keys add %s trainer NAME",
            self->words[1]);
    }
    if (key.role == FBY_ROLE_WORKER &&
        (key.roots != NULL || key.jobs != NULL)) {
        return fby_error_set(
            why, FBY_USAGE, "--roots and --jobs limit trainers, not workers");
    }
    FBY_TRY(fby_keys_add(self->words[1], &key, path, why));
    printf("wrote %s; it goes to the %s, which takes it with --keys\n", path,
        fby_role_name(key.role));
    return FBY_OK;
}

static fby_err remove_key(
    const struct keys_command *self, struct fby_error_detail *why)
{
    if (self->n_words != 3) {
        return fby_error_set(why, FBY_USAGE, "name the key to remove");
    }
    FBY_TRY(fby_keys_remove(self->words[1], self->words[2], why));
    printf("removed %s: the server refuses it at once, workers within 10 "
           "minutes\n",
        self->words[2]);
    return FBY_OK;
}

static void print_limits(const struct fby_allowed_key *key)
{
    const char *root = key->roots;
    for (size_t i = 0; i < key->n_roots; i++) {
        printf("%s%s", i == 0 ? "  roots " : ",", root);
        root += strlen(root) + 1;
    }
    if (key->jobs != NULL) {
        printf("  jobs %s", key->jobs);
    }
}

static fby_err list(
    const struct keys_command *self, struct fby_error_detail *why)
{
    struct fby_allowed keys = {0};
    FBY_TRY(fby_keys_list(self->words[1], &keys, why));
    for (size_t i = 0; i < keys.n; i++) {
        char text[FBY_KEY_TEXT_SIZE];
        fby_key_write_text(&keys.keys[i].public_key, text);
        printf("%-8s %-16s %.16s", fby_role_name(keys.keys[i].role),
            keys.keys[i].name, text);
        print_limits(&keys.keys[i]);
        putchar('\n');
    }
    if (keys.n == 0) {
        printf("no keys: forebay keys add %s worker\n", self->words[1]);
    }
    fby_allowed_fini(&keys);
    return FBY_OK;
}

struct action {
    const char *name;
    fby_err (*run)(
        const struct keys_command *self, struct fby_error_detail *why);
};

static const struct action actions[] = {
    {"init", init},
    {"add", add},
    {"remove", remove_key},
    {"list", list},
};

static fby_err run_action(
    const struct keys_command *self, struct fby_error_detail *why)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(self->words[0], actions[i].name) == 0) {
            return actions[i].run(self, why);
        }
    }
    return fby_error_set(why, FBY_USAGE,
        "'%s' is unknown; write init, add, remove or list", self->words[0]);
}

static int run(int argc, char **argv)
{
    const struct argp argp = {
        options, parse_word, synopsis, about, NULL, NULL, NULL};
    struct keys_command     self = {0};
    struct fby_error_detail why  = {{0}};
    fby_option_parse(&argp, argc, argv, &self);
    return fby_command_end("keys", run_action(&self, &why), &why);
}

const struct fby_command fby_command_keys = {
    .name    = "keys",
    .summary = "write and list the keys of a cluster beyond one machine",
    .run     = run,
};
