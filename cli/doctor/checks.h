/* checks.h - the interface of the checks of `forebay doctor`.
 *
 * A check gathers values, judges them (judge.h) and reports one line or more.
 * Each check runs in its own process with a deadline (trial.h), so a check that
 * crashes, or hangs on a dead network mount, is reported as well. The table of
 * the checks is in doctor.c. */
#ifndef FBY_CLI_DOCTOR_CHECKS_H
#define FBY_CLI_DOCTOR_CHECKS_H

#include "cli/doctor/judge.h"
#include "cli/option.h"
#include "pipeline/types.h"

struct fby_expansion;

enum { FBY_DOCTOR_SIDE = 224 }; /* pixels of the pictures for measurements */

struct fby_doctor_options {
    const char      *server;   /* NULL: none */
    const char      *pipeline; /* NULL: none */
    struct fby_words data;     /* NAME=DIR */
    const char      *root;     /* prefix of /proc and /sys; "" */
};

struct fby_doctor_line {
    char               check[32];
    struct fby_verdict verdict;
};

enum fby_doctor_needs { /* flags: the options that a check needs */
    FBY_DOCTOR_SERVER   = 1,
    FBY_DOCTOR_PIPELINE = 2
};

struct fby_doctor_check {
    const char *name; /* reported when the check itself fails */
    void (*run)(const struct fby_doctor_options *options, int out);
    unsigned              needs; /* enum fby_doctor_needs */
    int                   deadline_ms;
    enum fby_doctor_state late; /* the state reported at the deadline */
};

/* Report one line from a check; `out` is the descriptor that it was given. */
void fby_doctor_report(int out, const char *check, struct fby_verdict verdict);

/* Plan the expansion of rows of 224 x 224 pixels, as a trainer would request
 * them: normalised, as `dtype`, in CHW. False if that is not possible. */
bool fby_doctor_plan_pictures(enum fby_type dtype, struct fby_expansion *out);

/* The checks. Each reports its lines to the descriptor `out`. */
void fby_doctor_versions(const struct fby_doctor_options *options, int out);
void fby_doctor_machine(const struct fby_doctor_options *options, int out);
void fby_doctor_speed(const struct fby_doctor_options *options, int out);
void fby_doctor_gpu(const struct fby_doctor_options *options, int out);
void fby_doctor_sources(const struct fby_doctor_options *options, int out);
void fby_doctor_data(const struct fby_doctor_options *options, int out);
void fby_doctor_cluster(const struct fby_doctor_options *options, int out);
void fby_doctor_stream(const struct fby_doctor_options *options, int out);

#endif
