/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - the child process of a check sends the lines of its report through
 * a pipe. A line is one write of at most PIPE_BUF bytes, so it is not split. */
#include "cli/doctor/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/signals.h"
#include "common/clock.h"

_Static_assert(
    sizeof(struct fby_doctor_line) <= PIPE_BUF, "a line is one atomic write");

enum { POLL_MS = 100 }; /* longest time until a caught signal is noticed */

enum stop_reason { /* why the parent stops reading */
    STOP_CLOSED,   /* the check ended, and so closed the pipe */
    STOP_LATE,     /* the deadline passed */
    STOP_SIGNAL    /* a signal was caught */
};

void fby_doctor_report(
    int pipe_fd, const char *check, struct fby_verdict verdict)
{
    struct fby_doctor_line line = {.verdict = verdict};
    snprintf(line.check, sizeof(line.check), "%s", check);
    if (write(pipe_fd, &line, sizeof(line)) != (ssize_t)sizeof(line)) {
        _exit(1); /* the parent is gone */
    }
}

/* Run the check in the child process. Does not return. */
static void child_main(const struct fby_doctor_check *check,
    const struct fby_doctor_options *options, int pipe_fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the child ends with its parent */
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    check->run(options, pipe_fd);
    _exit(0);
}

static enum stop_reason read_lines(int pipe_fd, int64_t deadline_ns,
    const struct fby_doctor_listener *listener)
{
    for (;;) {
        struct fby_doctor_line line;
        struct pollfd          item = {.fd = pipe_fd, .events = POLLIN};
        if (fby_signals_caught() != 0) {
            return STOP_SIGNAL;
        }
        if (fby_now_ns() >= deadline_ns) {
            return STOP_LATE;
        }
        if (poll(&item, 1, POLL_MS) <= 0) {
            continue;
        }
        if (read(pipe_fd, &line, sizeof(line)) != (ssize_t)sizeof(line)) {
            return STOP_CLOSED;
        }
        listener->on_line(listener->arg, &line);
    }
}

/* Pass the line "the check itself failed: CAUSE" to the listener. */
__attribute__((format(printf, 4, 5))) static void report_failed(
    const struct fby_doctor_check    *check,
    const struct fby_doctor_listener *listener, enum fby_doctor_state state,
    const char *format, ...)
{
    struct fby_doctor_line line;
    char                   cause[64];
    va_list                args;
    memset(&line, 0, sizeof(line));
    va_start(args, format);
    (void)vsnprintf(cause, sizeof(cause), format, args);
    va_end(args);
    snprintf(line.check, sizeof(line.check), "%s", check->name);
    line.verdict =
        fby_verdict(state, NULL, "the check itself failed: %s", cause);
    listener->on_line(listener->arg, &line);
}

/* Wait for a child that ends by itself, and report a crash or an exit code. */
static void await_child(const struct fby_doctor_check *check,
    const struct fby_doctor_listener *listener, pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        report_failed(check, listener, FBY_DOCTOR_FAIL, "ended by signal %d",
            WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        report_failed(check, listener, FBY_DOCTOR_FAIL, "exit code %d",
            WEXITSTATUS(status));
    }
}

/* End the child process. Report a check that failed or is late. */
static void end_child(const struct fby_doctor_check *check,
    const struct fby_doctor_listener *listener, pid_t child,
    enum stop_reason reason)
{
    if (reason == STOP_CLOSED) {
        await_child(check, listener, child);
        return;
    }
    /* A killed process may stay in a system call for long: do not wait. */
    kill(child, SIGKILL);
    (void)waitpid(child, NULL, WNOHANG);
    if (reason == STOP_LATE) {
        report_failed(check, listener, check->state_if_late,
            "no end within %d s", check->deadline_ms / 1000);
    }
}

void fby_doctor_run_check(const struct fby_doctor_check *check,
    const struct fby_doctor_options                     *options,
    const struct fby_doctor_listener                    *listener)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
        report_failed(check, listener, FBY_DOCTOR_FAIL, "%s", strerror(errno));
        return;
    }
    fflush(NULL); /* so that the child does not repeat buffered text */
    pid_t child = fork();
    if (child == 0) {
        close(pipe_fds[0]);
        child_main(check, options, pipe_fds[1]);
    }
    close(pipe_fds[1]);
    if (child < 0) {
        report_failed(check, listener, FBY_DOCTOR_FAIL, "%s", strerror(errno));
    } else {
        int64_t deadline_ns = fby_now_ns() + check->deadline_ms * FBY_NS_PER_MS;
        end_child(check, listener, child,
            read_lines(pipe_fds[0], deadline_ns, listener));
    }
    close(pipe_fds[0]);
}
