/* server.c - `forebay server`: run the directory of a cluster. */
#include "server/server.h"

#include "cli/child.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/signals.h"
#include "common/log.h"

enum option_key { KEY_LISTEN = 'l', KEY_READY_FD = 0x100, KEY_PARENT };

struct server_command {
    struct fby_server_options server;
    pid_t                     parent;
};

static const struct argp_option options[] = {
    {"listen", KEY_LISTEN, "ADDR", 0,
        "Where to listen (default tcp://127.0.0.1:7070); beyond loopback it "
        "says what that exposes",
        0},
    {"ready-fd", KEY_READY_FD, "N", 0,
        "Write the endpoint to this descriptor once it listens", 0},
    {"parent", KEY_PARENT, "PID", OPTION_HIDDEN, "End with this process", 0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct server_command *self = state->input;
    switch (key) {
    case KEY_LISTEN:
        self->server.listen = arg;
        return 0;
    case KEY_READY_FD:
        self->server.ready_fd =
            (int)fby_option_u64(state, "--ready-fd", arg, 0, 1 << 20);
        return 0;
    case KEY_PARENT:
        self->parent =
            (pid_t)fby_option_u64(state, "--parent", arg, 1, INT32_MAX);
        return 0;
    case ARGP_KEY_ARG:
        fby_option_unexpected(state, arg, NULL);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, NULL,
    "Keep the list of workers that are up, and give it to trainers.\v"
    "Examples:\n"
    "  forebay server\n"
    "  forebay server --listen tcp://10.0.0.1:7070\n"
    "It keeps nothing on disk: kill it and start it again at will.",
    NULL, NULL, NULL};

static int run(int argc, char **argv)
{
    struct server_command self = {.server = fby_server_defaults()};
    struct fby_why        why  = {{0}};
    fby_signals_block();
    fby_option_parse(&argp, argc, argv, &self);
    fby_log_init("server", self.parent == 0 ? FBY_LOG_INFO : FBY_LOG_WARN);
    if (fby_child_follow(self.parent) != FBY_OK) {
        return FBY_EXIT_FAILED;
    }
    fby_err err = fby_server_run(&self.server, &why);
    return fby_command_end("server", err, &why);
}

const struct fby_command fby_command_server = {
    .name    = "server",
    .summary = "run the directory that workers and trainers meet at",
    .run     = run,
};
