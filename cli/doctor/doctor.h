/* doctor.h - what the checks of `forebay doctor` have in common.
 *
 * A check gathers values, has them judged (judge.h) and says a line or
 * several. Each runs in a process of its own with a deadline (trial.h),
 * so that one that hangs, say on a dead network mount, or dies is itself a
 * finding. A device is one more entry of the table in doctor.c. */
#ifndef FBY_CLI_DOCTOR_H
#define FBY_CLI_DOCTOR_H

#include "cli/doctor/judge.h"
#include "cli/option.h"

struct fby_doctor_options {
    const char      *server;   /* NULL: none */
    const char      *pipeline; /* NULL: none */
    struct fby_words data;     /* NAME=DIR */
    const char      *root;     /* of /proc and /sys: "" */
};

struct fby_doctor_line {
    char               check[32];
    struct fby_verdict verdict;
};

enum fby_doctor_needs {
    FBY_DOCTOR_SERVER   = 1,
    FBY_DOCTOR_PIPELINE = 2 /* bits */
};

struct fby_doctor_check {
    const char *name; /* of what is said when it does not end */
    void (*run)(const struct fby_doctor_options *options, int out);
    unsigned              needs; /* enum fby_doctor_needs */
    int                   deadline_ms;
    enum fby_doctor_state late; /* how grave it is not to end in time */
};

/* Say one line; `out` is what the check was given. */
void fby_doctor_say(
    int out, const char *check, const struct fby_verdict *verdict);

/* The checks, by what they look at. */
void fby_doctor_versions(const struct fby_doctor_options *options, int out);
void fby_doctor_machine(const struct fby_doctor_options *options, int out);
void fby_doctor_speed(const struct fby_doctor_options *options, int out);
void fby_doctor_gpu(const struct fby_doctor_options *options, int out);
void fby_doctor_sources(const struct fby_doctor_options *options, int out);
void fby_doctor_data(const struct fby_doctor_options *options, int out);
void fby_doctor_cluster(const struct fby_doctor_options *options, int out);
void fby_doctor_stream(const struct fby_doctor_options *options, int out);

#endif
