/* command.h - a subcommand of `forebay`: one file, one entry in the table.
 *
 * A command reads its own options with argp (so --help and --usage work
 * everywhere), does its work, and returns the exit code: 0 done, 1 failed,
 * 2 wrong usage, 128 + n ended by signal n (130: Ctrl-C). */
#ifndef FBY_CLI_COMMAND_H
#define FBY_CLI_COMMAND_H

#include "common/err.h"

enum fby_exit { FBY_EXIT_DONE = 0, FBY_EXIT_FAILED = 1, FBY_EXIT_USAGE = 2 };

struct fby_command {
    const char *name;
    const char *summary;               /* one line, for `forebay --help` */
    int (*run)(int argc, char **argv); /* argv[0] is "forebay NAME" */
};

/* How a command ends: its exit code for `err`, and on an error the reason on
 * standard error. */
int fby_command_end(const char *name, fby_err err, const struct fby_why *why);

extern const struct fby_command fby_command_doctor;
extern const struct fby_command fby_command_index;
extern const struct fby_command fby_command_init;
extern const struct fby_command fby_command_lint;
extern const struct fby_command fby_command_photos;
extern const struct fby_command fby_command_plan;
extern const struct fby_command fby_command_pull;
extern const struct fby_command fby_command_server;
extern const struct fby_command fby_command_show;
extern const struct fby_command fby_command_up;
extern const struct fby_command fby_command_worker;

#endif
