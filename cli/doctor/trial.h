/* trial.h - a check in a process of its own, with a deadline.
 *
 * What a check touches may hang where no time-out reaches: a dead network
 * mount, a resolver. As a process it can be given up, and what ends it is
 * told. */
#ifndef FBY_CLI_DOCTOR_TRIAL_H
#define FBY_CLI_DOCTOR_TRIAL_H

#include "cli/doctor/doctor.h"

struct fby_doctor_listener {
    void (*on_line)(void *arg, const struct fby_doctor_line *line);
    void *arg;
};

/* Run it, and hand on each line as it comes; one that ends badly or not in
 * time is a line itself. Returns at once when a signal was caught
 * (cli/signals.h). Main thread, before any other is started. */
void fby_doctor_try(const struct fby_doctor_check *check,
    const struct fby_doctor_options               *options,
    const struct fby_doctor_listener              *listener);

#endif
