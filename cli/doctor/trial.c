/* A line is one write to a pipe of at most PIPE_BUF bytes. Such writes are
 * atomic, so the parent reads whole lines only. */
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

enum { POLL_MS = 100 };

enum check_end { /* why the parent stops reading */
    END_ITSELF,  /* the check ended */
    END_LATE,    /* the deadline passed */
    END_SIGNAL   /* a signal was caught */
};

void fby_doctor_report(int out, const char *check, struct fby_verdict verdict)
{
    struct fby_doctor_line line = {.verdict = verdict};
    snprintf(line.check, sizeof(line.check), "%s", check);
    if (write(out, &line, sizeof(line)) != (ssize_t)sizeof(line)) {
        _exit(1); /* the parent has closed the pipe */
    }
}

/* Run the check in the child process. */
static void child_main(const struct fby_doctor_check *check,
    const struct fby_doctor_options *options, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    check->run(options, out);
    _exit(0);
}

static enum check_end read_lines(
    int in, int64_t until_ns, const struct fby_doctor_listener *listener)
{
    for (;;) {
        struct fby_doctor_line line;
        struct pollfd          item    = {.fd = in, .events = POLLIN};
        int64_t                left_ns = until_ns - fby_now_ns();
        if (fby_signals_caught() != 0) {
            return END_SIGNAL;
        }
        if (left_ns <= 0) {
            return END_LATE;
        }
        if (poll(&item, 1, POLL_MS) <= 0) {
            continue;
        }
        if (read(in, &line, sizeof(line)) != (ssize_t)sizeof(line)) {
            return END_ITSELF;
        }
        listener->on_line(listener->arg, &line);
    }
}

/* Add a line that says that the check itself failed. */
__attribute__((format(printf, 4, 5))) static void report_failed(
    const struct fby_doctor_check    *check,
    const struct fby_doctor_listener *listener, enum fby_doctor_state state,
    const char *format, ...)
{
    struct fby_doctor_line line;
    char                   how[64];
    va_list                args;
    memset(&line, 0, sizeof(line));
    va_start(args, format);
    (void)vsnprintf(how, sizeof(how), format, args);
    va_end(args);
    snprintf(line.check, sizeof(line.check), "%s", check->name);
    line.verdict = fby_verdict(state, NULL, "the check itself failed: %s", how);
    listener->on_line(listener->arg, &line);
}

/* Wait for a child that ends by itself, and report a failure. */
static void report_status(const struct fby_doctor_check *check,
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

static void finish(const struct fby_doctor_check *check,
    const struct fby_doctor_listener *listener, pid_t child, enum check_end end)
{
    if (end == END_ITSELF) {
        report_status(check, listener, child);
        return;
    }
    /* A killed process may stay in a system call for long: do not wait. */
    kill(child, SIGKILL);
    (void)waitpid(child, NULL, WNOHANG);
    if (end == END_LATE) {
        report_failed(check, listener, check->late, "no end within %d s",
            check->deadline_ms / 1000);
    }
}

void fby_doctor_run(const struct fby_doctor_check *check,
    const struct fby_doctor_options               *options,
    const struct fby_doctor_listener              *listener)
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
        int64_t until_ns = fby_now_ns() + check->deadline_ms * FBY_NS_PER_MS;
        finish(check, listener, child,
            read_lines(pipe_fds[0], until_ns, listener));
    }
    close(pipe_fds[0]);
}
