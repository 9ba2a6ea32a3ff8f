/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - `forebay server`: keep the list of the workers that are up. */
#include "server/server.h"

#include <string.h>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/signals.h"
#include "cli/variables.h"
#include "common/log.h"

struct server_command {
    struct fby_server_options server;
    const char               *secure; /* "auth" or "full"; NULL: full */
    uint32_t                  parent; /* process id of --parent; 0: none */
};

const struct fby_option fby_server_settings[] = {
    {"listen", 'l', "ADDR",
        "Where to listen (default tcp://127.0.0.1:7070); beyond loopback only "
        "with --keys, or --insecure",
        FBY_VALUE(FBY_TEXT, struct server_command, server.listen)},
    {"http", 0, "ADDR:PORT",
        "Answer HTTP on this numeric address, as 127.0.0.1:9463: /healthz, "
        "/readyz, /metrics, /scale, /api/cluster (default: no HTTP)",
        FBY_VALUE(FBY_TEXT, struct server_command, server.http.listen)},
    {"http-token-file", 0, "PATH",
        "Ask for the token in this file, for all pages but /healthz and "
        "/readyz; required beyond loopback",
        FBY_VALUE(FBY_TEXT, struct server_command, server.http.token_file)},
    {"insecure", 0, NULL,
        "Listen beyond loopback without keys: for trusted networks",
        FBY_VALUE(FBY_FLAG, struct server_command, server.is_insecure)},
    {"ready-fd", 0, "N",
        "Write the endpoint to this descriptor once the server listens",
        FBY_RANGE(
            FBY_NUMBER, struct server_command, server.ready_fd, 0, 1 << 20)},
    {"ready-file", 0, "PATH",
        "Write the endpoint to this file once the server listens; it is "
        "removed at the end",
        FBY_VALUE(FBY_TEXT, struct server_command, server.ready_file)},
    {"keys", 0, "PATH",
        "Admit only keys on a list; PATH is a folder of keys that forebay keys "
        "wrote, or the server's key file",
        FBY_VALUE(FBY_TEXT, struct server_command, server.keys)},
    {"allowed", 0, "PATH",
        "The list of admitted keys (default: allowed in the folder of --keys, "
        "or "
        "beside that key file)",
        FBY_VALUE(FBY_TEXT, struct server_command, server.allowed)},
    {"secure", 0, "auth|full",
        "With keys: seal messages and chunks (full, the default), or messages "
        "only, on networks that are encrypted below Forebay (auth)",
        FBY_VALUE(FBY_TEXT, struct server_command, secure)},
    {"lease", 0, "S",
        "Seconds without a message after which a worker or a trainer counts "
        "as gone, 1 to 3600 (default 10)",
        FBY_RANGE(
            FBY_SECONDS, struct server_command, server.lease_ns, 1, 3600)},
    {"parent", 0, "PID", "",
        FBY_RANGE(FBY_NUMBER, struct server_command, parent, 1, INT32_MAX)},
    {0},
};

static void finish_options(const struct argp_state *state, void *values)
{
    struct server_command *self = values;
    if (self->secure != NULL && strcmp(self->secure, "auth") == 0) {
        self->server.secure = FBY_SECURE_AUTH;
    } else if (self->secure != NULL && strcmp(self->secure, "full") != 0) {
        argp_error(state, "--secure: '%s' is not auth or full", self->secure);
    }
    if (self->server.keys == NULL &&
        (self->secure != NULL || self->server.allowed != NULL)) {
        argp_error(state, "--secure and --allowed need --keys");
    }
}

/* A server that `up` or `pull` started has only the options from there. */
static bool reads_variables(const void *values)
{
    return ((const struct server_command *)values)->parent == 0;
}

static const struct fby_usage usage = {.options = fby_server_settings,
    .reads_variables                            = reads_variables,
    .finish                                     = finish_options,
    .help = "Keep the list of workers that are up, and give it to trainers.\v"
            "Examples:\n"
            "  forebay server\n"
            "  forebay server --listen tcp://10.0.0.1:7070 "
            "--keys keys\n" FBY_VARIABLES_HELP
            "It keeps nothing on disk, and can be restarted at any time."};

static int run(int argc, char **argv)
{
    struct server_command   self = {.server = fby_server_defaults()};
    struct fby_error_detail why  = {{0}};
    fby_signals_block();
    fby_usage_parse(&usage, argc, argv, &self);
    fby_log_init("server", self.parent == 0 ? FBY_LOG_INFO : FBY_LOG_WARN);
    if (reads_variables(&self)) {
        fby_variables_warn_unknown();
    }
    if (fby_child_end_with_parent((pid_t)self.parent) != FBY_OK) {
        return FBY_EXIT_FAILED; /* the parent has ended */
    }
    const struct fby_parent_pipe pipe =
        fby_parent_pipe((pid_t)self.parent, self.server.ready_fd);
    fby_err err = fby_server_run(&self.server, &why);
    return fby_child_end(&pipe, "server", err, &why);
}

const struct fby_command fby_command_server = {
    .name    = "server",
    .summary = "run the server, from which trainers learn of workers",
    .run     = run,
};
