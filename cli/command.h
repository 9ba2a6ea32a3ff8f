/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the interface of a subcommand of `forebay`.
 *
 * Each command is one entry of the table in main.c. It parses its own options
 * with argp, which adds --help and --usage. Its exit code is 0 on success, 1 on
 * failure, 2 for wrong usage, and 128 + n after signal n (130: Ctrl-C). */
#ifndef FBY_CLI_COMMAND_H
#define FBY_CLI_COMMAND_H

#include "common/err.h"

enum fby_exit { FBY_EXIT_DONE = 0, FBY_EXIT_FAILED = 1, FBY_EXIT_USAGE = 2 };

struct fby_command {
    const char *name;
    const char *summary;               /* one line, for `forebay --help` */
    int (*run)(int argc, char **argv); /* argv[0] is "forebay NAME" */
};

/* Return the exit code for `err`. If `err` is an error, first print its cause
 * to standard error as "forebay NAME: CAUSE". */
int fby_command_end(
    const char *name, fby_err err, const struct fby_error_detail *why);

extern const struct fby_command fby_command_doctor;
extern const struct fby_command fby_command_index;
extern const struct fby_command fby_command_init;
extern const struct fby_command fby_command_keys;
extern const struct fby_command fby_command_lint;
extern const struct fby_command fby_command_photos;
extern const struct fby_command fby_command_plan;
extern const struct fby_command fby_command_pull;
extern const struct fby_command fby_command_scale;
extern const struct fby_command fby_command_server;
extern const struct fby_command fby_command_show;
extern const struct fby_command fby_command_up;
extern const struct fby_command fby_command_worker;

#endif
