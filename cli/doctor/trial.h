/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - run a check in a child process with a deadline.
 *
 * A check may hang in a system call that has no timeout, for example on a dead
 * network mount or in a resolver. The parent process then kills the child
 * process. The parent also reports a check that crashes. */
#ifndef FBY_CLI_DOCTOR_TRIAL_H
#define FBY_CLI_DOCTOR_TRIAL_H

#include "cli/doctor/checks.h"

/* The receiver of a check's lines. */
struct fby_doctor_listener {
    void (*on_line)(void *arg, const struct fby_doctor_line *line);
    void *arg;
};

/* Run `check`, and pass each of its lines to `listener` on arrival. If the
 * check crashes or exceeds its deadline, one more line says so. When a signal
 * is caught (cli/signals.h), kills the check and returns without such a line.
 * Thread: main thread, before others start (forks). Blocks: until the
 * deadline. */
void fby_doctor_run_check(const struct fby_doctor_check *check,
    const struct fby_doctor_options                     *options,
    const struct fby_doctor_listener                    *listener);

#endif
