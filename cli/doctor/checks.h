/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - the interface of the checks of `forebay doctor`.
 *
 * A check measures or reads values, turns them into verdicts (judge.h), and
 * reports one line or more. Each check runs in its own process with a deadline
 * (trial.h), so a check that crashes, or hangs on a dead network mount, is
 * reported as well. The table of the checks is in doctor.c. */
#ifndef FBY_CLI_DOCTOR_CHECKS_H
#define FBY_CLI_DOCTOR_CHECKS_H

#include "cli/doctor/judge.h"
#include "cli/option.h"
#include "pipeline/types.h"

struct fby_expansion;

enum { FBY_DOCTOR_PICTURE_SIDE = 224 }; /* pixels; pictures are square */

struct fby_doctor_options {
    const char      *server;   /* tcp://HOST:PORT; NULL: not given */
    const char      *pipeline; /* path of the file; NULL: not given */
    struct fby_words data;     /* NAME=DIR of each --data */
    const char      *keys;     /* the trainer's key (forebay.h); NULL: none */
    const char      *job;      /* the job to join; NULL: a random name */
    const char      *root; /* prefix of /proc and /sys; "" except in tests */
};

struct fby_doctor_line {          /* one line of the report */
    char               check[32]; /* its first word, such as "memory" */
    struct fby_verdict verdict;
};

enum fby_doctor_needs { /* flags: the options that a check needs */
    FBY_DOCTOR_NEEDS_SERVER   = 1,
    FBY_DOCTOR_NEEDS_PIPELINE = 2
};

struct fby_doctor_check {
    const char *name; /* first word of the line if the check itself fails */
    void (*run)(const struct fby_doctor_options *options, int pipe_fd);
    unsigned              needs; /* flags of enum fby_doctor_needs */
    int                   deadline_ms;
    enum fby_doctor_state state_if_late; /* of the line for a late check */
};

/* Send one line to the parent. Ends the process if that has closed the pipe. */
void fby_doctor_report(
    int pipe_fd, const char *check, struct fby_verdict verdict);

/* Plan the expansion (pixels to tensors) of pictures of FBY_DOCTOR_PICTURE_SIDE
 * as a trainer would request it: normalised, as `dtype`, in CHW. Returns false
 * if there is no such plan. */
bool fby_doctor_plan_pictures(enum fby_type dtype, struct fby_expansion *out);

/* The checks. Each sends its lines to the pipe. */
void fby_doctor_versions(const struct fby_doctor_options *options, int pipe_fd);
void fby_doctor_machine(const struct fby_doctor_options *options, int pipe_fd);
void fby_doctor_speed(const struct fby_doctor_options *options, int pipe_fd);
void fby_doctor_gpu(const struct fby_doctor_options *options, int pipe_fd);
void fby_doctor_sources(const struct fby_doctor_options *options, int pipe_fd);
void fby_doctor_data(const struct fby_doctor_options *options, int pipe_fd);
void fby_doctor_cluster(const struct fby_doctor_options *options, int pipe_fd);
void fby_doctor_stream(const struct fby_doctor_options *options, int pipe_fd);

#endif
