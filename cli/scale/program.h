/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a command of the user that sets the number of workers. */
#ifndef FBY_CLI_SCALE_PROGRAM_H
#define FBY_CLI_SCALE_PROGRAM_H

#include <stdint.h>

#include "common/err.h"

/* Run `command` in a shell (/bin/sh), with `number` as $1. It has its own
 * process group. After `limit_ns`, or at a signal (cli/signals.h), the group gets
 * SIGTERM, and SIGKILL 5 s later.
 *
 * Blocks: until the shell has ended. What it leaves in the background goes on.
 * Errors: FBY_CONFIG   it failed; `why` has the exit code or signal
 *         FBY_TIMEOUT  it was ended after limit_ns
 *         FBY_GONE     it was ended because a signal was caught
 *         FBY_SYS      it cannot be started. */
FBY_CHECKED fby_err fby_scale_program_run(const char *command, uint32_t number,
    int64_t limit_ns, struct fby_error_detail *why);

#endif
